"""An agent is a charter with a model, a store and tools; all of them come in through ports."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Protocol

from .acting import InTurn, Layered
from .amend import Guard
from .core.dialogue import Reply, ToolCall
from .core.policy import Actor, ChannelPolicy, Verdict
from .core.ports import Approver, Part, Provider, Reads, Store, Tool
from .core.records import Approval, Author
from .core.state import State
from .guards import check_message, check_update
from .screening import History, Leaks, ReplyGuard

if TYPE_CHECKING:
    from .core.assemble import Assembly
    from .core.incoming import Incoming

DRAWN: Final = 64  # ids
LEASE_NS: Final = 15 * 60 * 10**9  # of a turn nobody keeps alive; longer than any turn may take


class Speaking(Layered, Protocol):
    """What a turn needs of a charter."""

    @property
    def name(self) -> str: ...

    @property
    def version(self) -> str: ...

    @property
    def channels(self) -> Mapping[str, ChannelPolicy]: ...

    @property
    def autonomous(self) -> str: ...

    @property
    def refusal(self) -> str: ...

    @property
    def silence(self) -> str: ...

    @property
    def one_at_a_time(self) -> bool: ...

    @property
    def talks(self) -> bool: ...

    def choose_mode(self, incoming: Incoming, mode: str | None = None) -> str: ...

    def read(self, incoming: Incoming, *, mode: str, world: Any, also: tuple[Part, ...]) -> Reads | None: ...

    def assemble(self, incoming: Incoming, *, mode: str, world: Any, reads: Reads | None) -> Assembly: ...

    def with_tools(self, tools: Sequence[Tool], native: bool, store: Store) -> Any:
        """The charter's world with these tools in it."""


@dataclass(frozen=True, slots=True)
class Parsed:
    """A reply apart: its words, the calls in them, and, when those could not be read, why and how to ask once more."""

    text: str = field(repr=False)
    calls: tuple[ToolCall, ...] = ()
    problem: str = ""
    again: str = ""


class Watch(Protocol):
    """Who looks on while a turn goes; `stopped` ends it."""

    def moved(self, state: State) -> None: ...

    def text(self, part: str) -> None: ...

    def called(self, call: ToolCall, verdict: Verdict) -> None: ...

    def answered(self, call: ToolCall, text: str) -> None: ...

    def stopped(self) -> bool: ...


class Unwatched:
    """Nobody looks on."""

    def moved(self, state: State) -> None: ...

    def text(self, part: str) -> None: ...

    def called(self, call: ToolCall, verdict: Verdict) -> None: ...

    def answered(self, call: ToolCall, text: str) -> None: ...

    def stopped(self) -> bool:
        return False


class Nobody:
    """There is no person to ask: every call that needs one waits."""

    by = Author(Actor.OPERATOR)

    def ask(self, wanted: Approval) -> Verdict:
        return Verdict("ask", "TOOL_NEEDS_APPROVAL", "a person has to approve this call; it waits for one")


def may_approve(by: Author, user: str) -> bool:
    """Whether this is a person who may say yes to a call made for this user: an operator, or that very user."""
    return bool(by.name) and (by.actor is Actor.OPERATOR or (by.actor is Actor.USER and by.name == user))


@dataclass(frozen=True, slots=True)
class Guards:
    """The gates over words: what is asked, what is answered, what is written. Each gives a Verdict."""

    message: Callable[[str, History], Verdict] = lambda text, history: check_message(text, history=history)
    reply: ReplyGuard = field(default_factory=Leaks)
    update: Guard = check_update


def no_tools(_: InTurn) -> Mapping[str, Tool]:
    return {}


def read_plainly(reply: Reply, _: Sequence[str]) -> Parsed:
    """The calls a provider hands over beside the text."""
    return Parsed(reply.text, reply.calls)


def unheard(_: str, __: Mapping[str, Any]) -> None:
    """Nobody keeps a log."""


def new_id() -> str:
    """An id that sorts by time."""
    try:
        chance = _drawn.pop()
    except IndexError:
        many = os.urandom(6 * DRAWN).hex()
        _drawn.extend([many[at : at + 12] for at in range(12, len(many), 12)])
        chance = many[:12]
    return f"{time.time_ns():016x}{chance}"


_drawn: Final[list[str]] = []  # from the system, many at once: to ask it is a call into the kernel
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_drawn.clear)  # no two processes draw the same


@dataclass(frozen=True, repr=False)
class Agent:
    """A charter with a model, a store and tools. `tools` makes them anew for each turn, so that whoever they act for
    is closed over; `read_calls` finds the calls in a reply; `keep` holds a turn's lease while it runs, by its id."""

    name: str
    charter: Speaking
    store: Store
    provider: Provider
    tools: Callable[[InTurn], Mapping[str, Tool]] = no_tools
    approver: Approver = field(default_factory=Nobody)
    guards: Guards = field(default_factory=Guards)
    read_calls: Callable[[Reply, Sequence[str]], Parsed] = read_plainly
    skills: Callable[[str], str | None] = lambda _: None
    note: Callable[[str, Mapping[str, Any]], None] = unheard
    clock: Callable[[], int] = time.time_ns
    new_id: Callable[[], str] = new_id
    max_reply_tokens: int = 1024
    key: bytes | None = None
    lease_ns: int = LEASE_NS
    keep: Callable[[str], AbstractContextManager[object]] = nullcontext

    def __repr__(self) -> str:
        return f"Agent({self.name!r}, {self.charter.name!r}, {self.provider.name!r})"
