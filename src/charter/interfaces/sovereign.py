"""The entry points of the sovereign design (seed 000), each one call into the same engine."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache
from typing import Any

from ..core.assemble import Section, Settings, assemble, fill
from ..core.incoming import Incoming, moment, sender_key
from ..core.ports import Reads, Store, ToolSpec, Wanted
from ..core.records import ConversationLog, InboxMessage
from ..core.text import Facts, Structure
from ..sources import World
from ..sources.vitals import StaticVitals
from ..stores.memory import MemoryStore
from .loaded import loaded


class DynamicContext(str):
    """Layer 10 as the engine rendered it: every outside value in it is framed already."""

    __slots__ = ()


def build_dynamic_context(
    snapshot: Mapping[str, Any] | None = None,
    staged_messages: Iterable[InboxMessage] = (),
    *,
    store: Store | None = None,
    tools: Sequence[ToolSpec] | None = None,
    at: datetime | str | None = None,
    compact: bool = False,
) -> DynamicContext:
    """Layer 10 for this moment: state, messages that wait, what was said before with their senders, notes, tools.

    `snapshot` holds the vitals (cycles_balance, burn_per_hour, base_wallet, eth_balance, turn_number, state).
    """
    charter = loaded("sovereign")
    given = _Staged(store or _empty(), tuple(staged_messages))
    world = World(store=given, tools=tools, vitals=StaticVitals(snapshot) if snapshot is not None else None)
    incoming = Incoming(channel="inbox", at=moment(at) or datetime.now(UTC))
    mode = "compact" if compact else "full"
    *_, (section, _) = charter.gather(incoming, mode=mode, world=world)
    return DynamicContext(fill(section.layer.template, section.facts, charter.stack.structure))


def assemble_system_prompt(dynamic_context: str, *, store: Store | None = None, soul: str = "") -> str:
    """All eleven layers with this text as layer 10."""
    return _sovereign(dynamic_context, "full", store, soul)


def assemble_system_prompt_compact(dynamic_context: str, *, store: Store | None = None, soul: str = "") -> str:
    """Layers 0, 1, 5 and 10 whole, the others a line each."""
    return _sovereign(dynamic_context, "compact", store, soul)


def _sovereign(dynamic_context: str, mode: str, store: Store | None, soul: str) -> str:
    charter = loaded("sovereign")
    world = World(store=store, given={"soul": soul})
    sections = [s for s, _ in charter.gather(Incoming(channel="inbox", at=0), mode=mode, world=world)]
    situation = charter.stack.layers[-1]
    told = Told(str(dynamic_context), contained=isinstance(dynamic_context, DynamicContext))
    layers = (*charter.stack.layers[:-1], replace(situation, template=told))
    stack = replace(charter.stack, layers=layers)
    sections[-1] = Section(layers[-1], {})
    limits = replace(charter.limits, shed=tuple(step for step in charter.limits.shed if step.layer != situation.id))
    return assemble(stack, sections, mode=mode, settings=Settings(charter.name, charter.version, limits)).reveal()


class Told:
    """A layer's text that a program hands in whole: contained already, or an operator's Markdown."""

    __slots__ = ("_text",)
    starts: frozenset[str] = frozenset()
    headings: tuple[str, ...] = ()

    def __init__(self, text: str, *, contained: bool) -> None:
        stack = loaded("sovereign").stack
        titles = Structure([layer.title for layer in stack.layers], stack.joiner)
        self._text = text if contained else titles.escape(text)

    def quick(self, facts: Facts) -> str:
        return self._text

    def render(self, values: Mapping[str, object]) -> str:
        return self._text


class _Staged:
    """A store in which these messages wait besides what the other store holds."""

    def __init__(self, inner: Store, messages: tuple[InboxMessage, ...]) -> None:
        self._inner = inner
        self._messages = tuple(replace(message, sender=sender_key(message.sender)) for message in messages)

    def for_turn(self, want: Wanted) -> Reads:
        senders = {message.sender for message in self._messages}
        return _StagedReads(self._inner, self._inner.for_turn(want), self._messages, senders)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


class _StagedReads:
    """What a turn reads, with these messages and what was said before with their senders."""

    def __init__(self, store: Store, reads: Reads, messages: tuple[InboxMessage, ...], senders: set[str]) -> None:
        self._store, self._reads, self._messages, self._senders = store, reads, messages, senders

    def staged(self, agent: str) -> Sequence[InboxMessage]:
        return (*self._reads.staged(agent), *self._messages)

    def waiting(self, agent: str) -> int:
        return self._reads.waiting(agent) + len(self._messages)

    def conversation(self, agent: str, sender: str) -> ConversationLog | None:
        return (self._store if sender in self._senders else self._reads).conversation(agent, sender)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._reads, name)


@cache
def _empty() -> MemoryStore:
    return MemoryStore()
