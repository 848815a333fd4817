"""Every seam to the world, on one page: the core asks through these and imports nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from .text import Facts


class Template(Protocol):
    """A layer's wording, compiled. Values are encoded before they reach it."""

    @property
    def starts(self) -> frozenset[str]:
        """Names of the slots that stand at the start of a line."""

    @property
    def headings(self) -> tuple[str, ...]:
        """Heading lines the template writes; one that ends with a space goes on with a value."""

    @property
    def quick(self) -> Callable[[Facts], str | None]:
        """The fast way to the same bytes, for a template of text and slots with plain values; else None."""

    def render(self, values: Mapping[str, object]) -> str:
        """The text with encoded values in place; a name without a value is an error."""


class Counter(Protocol):
    """Counts tokens of UTF-8 text; `name` goes into the manifest."""

    @property
    def name(self) -> str: ...

    def __call__(self, data: bytes) -> int: ...


# ── what a store holds ────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class StoredLayer:
    """One version of a layer that can change (S0-03)."""

    layer_id: str
    content: str = field(repr=False)
    updated_at_ns: int
    updated_by_turn: str
    version: int


@dataclass(frozen=True, slots=True)
class InboxMessage:
    """A message that waits for a turn."""

    id: str
    sender: str
    body: str = field(repr=False)
    received_at_ns: int = 0


@dataclass(frozen=True, slots=True)
class ConversationEntry:
    """One exchange: a message and the reply that was sent for it (S0-12)."""

    inbox_message_id: str
    sender_body: str = field(repr=False)
    agent_reply: str = field(repr=False)
    turn_id: str
    timestamp_ns: int


@dataclass(frozen=True, slots=True)
class ConversationLog:
    """What was said with one sender, oldest first."""

    sender: str
    entries: tuple[ConversationEntry, ...]
    last_activity_ns: int


@dataclass(frozen=True, slots=True)
class Memory:
    """A note with the day it was made."""

    id: str
    text: str = field(repr=False)
    day: str


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool as a model is told of it; `left` is how often it may still be called this turn."""

    name: str
    description: str = field(default="", repr=False)
    parameters: Mapping[str, Any] = field(default_factory=dict, repr=False)
    left: int | None = None


class Store(Protocol):
    """What a turn reads. Every key has its owner in it, so no call can reach another's rows."""

    def layer(self, agent: str, layer_id: str) -> StoredLayer | None: ...

    def staged(self, agent: str) -> Sequence[InboxMessage]: ...

    def conversation(self, agent: str, sender: str) -> ConversationLog | None: ...

    def recent(self, agent: str, user: str, limit: int) -> Sequence[Memory]: ...

    def recall(self, agent: str, user: str, query: str, limit: int) -> Sequence[Memory]: ...

    def instructions(self, agent: str, user: str) -> str: ...

    def timezone(self, user: str) -> str | None: ...


class Vitals(Protocol):
    """How the agent is doing: one call, plain values."""

    def read(self) -> Mapping[str, str | int | float]: ...
