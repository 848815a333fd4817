"""A room to talk in: an agent with a script, a terminal that is a string, a person who types what the test says."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from rich.console import Console

from charter.agent import Agent, no_tools
from charter.channels.terminal import Terminal
from charter.commands import chat
from charter.core.dialogue import Reply, ToolCall, Usage
from charter.core.incoming import Incoming
from charter.core.policy import Actor, ToolClass, ToolPolicy
from charter.core.ports import Tool, ToolSpec
from charter.core.records import Author
from charter.folder import load
from charter.stores.memory import MemoryStore
from charter.testing.scripted import Script, ScriptedProvider

MO = Author(Actor.OPERATOR, "mo")
Line = str | type[BaseException]
AT = 1_772_116_200 * 10**9  # 2026-02-26T14:30:00Z


def made(*script: Script, charter: str = "assistant", **parts: Any) -> Agent:
    """An agent that says what the script says; its ids count up and its clock stands still."""
    loaded = load(charter)
    ids = iter(f"{number:028x}" for number in range(1, 10_000))
    given: dict[str, Any] = {
        "store": MemoryStore(), "clock": lambda: AT, "new_id": lambda: next(ids), "tools": no_tools, **parts,
    }  # fmt: skip
    return Agent(loaded.agent(), loaded, provider=ScriptedProvider(script), **given)


def calls(name: str, arguments: str = "{}", text: str = "") -> Reply:
    """A reply that calls a tool."""
    return Reply(text, (ToolCall("call_1", name, arguments),), Usage(100, 5), "tools")


def tool(name: str, answer: Callable[[Mapping[str, Any]], str], kind: ToolClass = ToolClass.EXECUTE) -> Any:
    """The tools of an agent that has this one."""
    made = Tool(ToolSpec(name, "A tool."), ToolPolicy(name, kind), answer, inside=True)
    return lambda _: {name: made}


def keeping(done: list[Any]) -> Callable[[Mapping[str, Any]], str]:
    """A tool that keeps what it was called with."""

    def call(arguments: Mapping[str, Any]) -> str:
        done.append(arguments)
        return "done"

    return call


class Typed:
    """A person's lines, then the end of them; a line that is an exception is raised instead."""

    def __init__(
        self, lines: Iterable[str | type[BaseException]], answers: Iterable[str | type[BaseException]]
    ) -> None:
        self._lines, self._answers = iter(lines), iter(answers)
        self.history: list[str] = []
        self.asked: list[str] = []

    def message(self, prompt: str) -> str:
        return self._next(self._lines)

    def answer(self, prompt: str) -> str:
        self.asked.append(prompt)
        return self._next(self._answers)

    def _next(self, said: Any) -> str:
        line = next(said, EOFError)
        if isinstance(line, str):
            return line
        raise line


def talk(
    agent: Agent, *lines: Line, answers: Sequence[Line] = (), yes_to: Sequence[str] = (), user: str = "mo"
) -> str:  # fmt: skip
    """What a terminal shows when a person types these lines."""
    out = io.StringIO()
    typed: Any = Typed(lines, answers)
    terminal = Terminal(Console(file=out, width=200, highlight=False), MO, read=typed.answer, yes_to=yes_to)
    object.__setattr__(agent, "approver", terminal)
    chat.talk(agent, Incoming(channel="terminal", sender=user, user=user, operator=True), terminal, typed)
    return out.getvalue()
