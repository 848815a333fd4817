"""What the tests of turns share: an agent of a shipped charter with a scripted model, and someone who looks on."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from charter.acting import InTurn
from charter.agent import Agent
from charter.app import toolbox
from charter.core.dialogue import Reply, ToolCall, Usage
from charter.core.incoming import Incoming
from charter.core.policy import Verdict
from charter.core.ports import Tool
from charter.core.state import State
from charter.folder import load
from charter.stores.memory import MemoryStore
from charter.testing import ScriptedProvider

KEY = b"k" * 32
CHARTERS = ("sovereign", "contract", "workspace", "gateway", "assistant")
AT = "2026-02-26T14:30:00+00:00"
MODEL = "scripted-70b"


@dataclass
class Looking:
    """Keeps what someone who looks on would see."""

    states: list[State] = field(default_factory=list)
    parts: list[str] = field(default_factory=list)
    calls: list[tuple[str, str]] = field(default_factory=list)
    answers: list[str] = field(default_factory=list)

    def moved(self, state: State) -> None:
        self.states.append(state)

    def text(self, part: str) -> None:
        self.parts.append(part)

    def called(self, call: ToolCall, verdict: Verdict) -> None:
        self.calls.append((call.name, verdict.code))

    def answered(self, call: ToolCall, text: str) -> None:
        self.answers.append(text)

    def stopped(self) -> bool:
        return False


def said(text: str, *calls: ToolCall) -> Reply:
    """A reply of the model, with what it cost."""
    return Reply(text, calls, Usage(100, 10, 60), "tools" if calls else "end")


def call(name: str, arguments: str = "{}", number: int = 1) -> ToolCall:
    return ToolCall(f"call_{number}", name, arguments)


def agent_of(
    name: str,
    provider: ScriptedProvider,
    *,
    store: Any = None,
    tools: Callable[[InTurn], Mapping[str, Tool]] | None = None,
    world: Mapping[str, Any] | None = None,
    **more: Any,
) -> Agent:
    """An agent of a shipped charter, with the built-in tools the charter names."""
    charter = replace(load(name, **(world or {})), key=KEY)
    return Agent(
        charter.agent(), charter, store or MemoryStore(), provider, tools=tools or toolbox(charter), key=KEY, **more
    )


def scripted(*lines: Any, **options: Any) -> ScriptedProvider:
    return ScriptedProvider(lines, **{"model": MODEL, **options})


def from_ana(text: str, **more: Any) -> Incoming:
    """A message of a user on the web."""
    return Incoming(**{"channel": "web", "sender": "ana", "user": "ana", "text": text, "at": AT, **more})


def from_operator(text: str, **more: Any) -> Incoming:
    """A message of the operator at the terminal."""
    return from_ana(text, **{"channel": "terminal", "sender": "root", "user": "root", "operator": True, **more})
