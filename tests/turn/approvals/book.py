"""What people said yes to, kept apart from the product and sharing no code with it: it says what may be executed."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from threading import Lock
from typing import Any

Call = tuple[str, str, str, str]  # agent, user, tool, arguments


def call_of(agent: str, user: str, tool: str, arguments: str | dict[str, Any]) -> Call:
    """A call as people tell it from another: the order of its arguments does not count, the kind of a value does."""
    found = json.loads(arguments) if isinstance(arguments, str) else arguments
    return agent, user, tool, repr(_plain(found))


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return sorted((name, _plain(one)) for name, one in value.items())
    return [_plain(one) for one in value] if isinstance(value, list) else value


@dataclass
class Book:
    """Every yes that was given and not used up, with the time it ends; and what was wrong so far."""

    given: dict[Call, list[int]] = field(default_factory=dict)
    executed: Counter[str] = field(default_factory=Counter)
    said: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    lock: Any = field(default_factory=Lock)

    def yes(self, call: Call, until_ns: int) -> None:
        """A person said yes."""
        with self.lock:
            self.given.setdefault(call, []).append(until_ns)
            self.said["given"] += 1

    def holds(self, call: Call, now_ns: int) -> int:
        """How many executions of this call people have said yes to and are left, now."""
        with self.lock:
            return sum(now_ns < until for until in self.given.get(call, ()))

    def used(self, call: Call, now_ns: int, what: str = "executed") -> None:
        """The call was made, or its approval was used up; exactly one yes must stand behind it."""
        with self.lock:
            left = [until for until in self.given.get(call, ()) if now_ns < until]
            if not left:
                self.wrong.append(f"{what} without a yes: {call[2]} for {call[1]} of {call[0]}")
                return
            self.given[call].remove(left[0])
            self.executed[what] += 1

    def expect(self, call: Call, now_ns: int, *, allowed: bool) -> None:
        """The gate has spoken; it must say what this book says."""
        if allowed != bool(self.holds(call, now_ns)):
            self.wrong.append(f"{'allowed' if allowed else 'denied'}: {call[2]} for {call[1]} of {call[0]}")
