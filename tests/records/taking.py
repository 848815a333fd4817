"""What these tests share: an agent with a scripted model whose clock a test sets, and its turns read back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from typing import Any

from charter.agent import Agent
from charter.amend import Edit, amend
from charter.app import toolbox
from charter.charter import Charter
from charter.core.dialogue import Reply, ToolCall, Usage
from charter.core.incoming import Incoming
from charter.core.keyring import KeyRing, key_id
from charter.core.policy import Actor
from charter.core.records import Author
from charter.folder import load
from charter.kept import Kept, read_back
from charter.replay import Replay, replay
from charter.stores.memory import MemoryStore
from charter.stores.store import SqlStore
from charter.testing import ScriptedProvider
from charter.turn import take_turn

KEY = b"k" * 32
RING = KeyRing(((key_id(KEY), KEY),))
START = 1_772_116_200 * 10**9  # 2026-02-26 14:30:00 UTC
MO = Author(Actor.OPERATOR, "mo")


@dataclass
class Clock:
    """The time, as a test says."""

    now: int = START

    def __call__(self) -> int:
        return self.now

    def goes_on(self, seconds: float) -> None:
        self.now += int(seconds * 10**9)


@dataclass
class Taking:
    """An agent that takes turns, and everything a replay of them needs."""

    agent: Agent
    clock: Clock

    @property
    def store(self) -> SqlStore:
        return self.agent.store  # type: ignore[return-value]

    @property
    def charter(self) -> Charter:
        """The charter with the tools the agent has, as the commands load it."""
        charter: Any = self.agent.charter
        acting: Any = None
        tools = [replace(tool.spec, left=tool.policy.max_per_turn) for tool in self.agent.tools(acting).values()]
        return charter.within(tools=tools)  # type: ignore[no-any-return]

    def turn(self, text: str = "", *, seconds: float = 61, **more: Any) -> Kept:
        """One turn, some time after the last, as its record is read back from the store."""
        self.clock.goes_on(seconds)
        incoming = Incoming(**{"channel": "web", "sender": "ana", "user": "ana", "text": text, **more})
        if not text:
            incoming = replace(incoming, sender="", user="")
        return self.kept(take_turn(self.agent, incoming).id)

    def kept(self, turn: str) -> Kept:
        return read_back(self.store.turn(self.agent.name, turn))

    def replay(self, kept: Kept, **world: Any) -> Replay:
        return replay(self.store, self.charter.within(**world), kept)

    def amend(self, layer: str, text: str, *, user: str = "", seconds: float = 1) -> int:
        """The next version of a layer, by the operator or its user."""
        self.clock.goes_on(seconds)
        charter: Any = self.agent.charter
        head = self.store.head(charter.stored(layer, user=user)[1])
        version = head.version if head else int(bool(charter.shipped(layer)))
        by = Author(Actor.USER, user) if user else MO
        edit = Edit(layer, text, version, user=user)
        return amend(self.store, charter, edit, by=by, at_ns=self.clock.now).version  # type: ignore[union-attr]


def taking(
    target: str | Path,
    *script: Any,
    store: SqlStore | None = None,
    world: dict[str, Any] | None = None,
    tools: Callable[..., Any] | None = None,
    provider: dict[str, Any] | None = None,
    key: bytes = KEY,
    **more: Any,
) -> Taking:
    """An agent of this charter whose model says the script, then the number of the call."""
    clock, numbers = Clock(), count(1)
    charter = replace(load(target, **(world or {})), key=key)
    lines = [*script, *(f"Answer {number}." for number in range(40 - len(script)))]
    agent = Agent(
        charter.agent(), charter, store or MemoryStore(RING),
        ScriptedProvider(lines, **{"model": "scripted-70b", **(provider or {})}),
        tools=tools or toolbox(charter), key=key, clock=clock,
        new_id=lambda: f"{clock.now:016x}{next(numbers):012x}", **more,
    )  # fmt: skip
    return Taking(agent, clock)


def said(text: str, *calls: ToolCall, cost: tuple[int, int, int | None] = (100, 10, None)) -> Reply:
    """A reply of the model with its calls, and what it cost."""
    return Reply(text, calls, Usage(*cost), "tools" if calls else "end")


def call(name: str, arguments: str, number: int = 1) -> ToolCall:
    return ToolCall(f"call_{number}", name, arguments)


def unproved(found: Replay) -> dict[str, str]:
    """What is not proved, and why."""
    return {proof.what: proof.reason for proof in (*found.layers, *found.whole) if not proof.proved}
