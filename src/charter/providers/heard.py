"""What a model said, put together from parts: whole at the end, or an error; never half a reply."""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ..core.dialogue import Reply, Stop, ToolCall, Usage


class Odd(Exception):
    """An answer of another shape than its format has; says which part in a fixed phrase, never what stood there."""


class ErrorAnswer(Exception):
    """An error where an answer should be; `body` is read to know which, and never shown."""

    def __init__(self, body: object, status_code: int = 200, response: object = None) -> None:
        super().__init__()
        self.body = body
        self.status_code = status_code
        self.response = response


class Heard:
    """A reply in the making. `say` gives back what may be passed on, which is the text but for what no one can keep:
    half a character waits for its other half, and one that never comes is replaced."""

    __slots__ = ("_calls", "_held", "_texts", "refused", "stop", "usage")

    def __init__(self) -> None:
        self._texts: list[str] = []
        self._held = ""
        self._calls: dict[object, _Call] = {}
        self.usage = Usage()
        self.stop: Stop | None = None
        self.refused = False

    def say(self, text: str) -> str:
        """Adds a part of the text."""
        text = self._held + text
        self._held = text[-1:] if "\ud800" <= text[-1:] <= "\udbff" else ""
        part = kept(text.removesuffix(self._held) if self._held else text)
        self._texts.append(part)
        return part

    def call(self, key: object, *, name: str = "", call_id: str = "", arguments: str = "") -> None:
        """Adds to the call with this key what became known of it; arguments come piece by piece."""
        call = self._calls.setdefault(key, _Call())
        call.name = call.name or name
        call.id = call.id or call_id
        call.arguments.append(arguments)

    def whole_arguments(self, key: object, arguments: str) -> None:
        """The arguments of a call at once, instead of the pieces so far."""
        self._calls.setdefault(key, _Call()).arguments[:] = [arguments]

    def key_for(self, place: object, call_id: str) -> object:
        """The key of the call a piece belongs to: servers say its place, its id, or neither after the first piece."""
        if place is None:
            return f"id {call_id}" if call_id else next(reversed(self._calls), "first")
        there = self._calls.get(place)
        return f"id {call_id}" if there and call_id and there.id not in ("", call_id) else place

    @property
    def silent(self) -> bool:
        """Whether no text has come so far."""
        return not any(self._texts)

    def end(self) -> str:
        """The last of the text; after it the reply is whole, or it is Odd."""
        rest = kept(self._held)
        self._texts.append(rest)
        if self.stop is None:
            raise Odd("it ended in the middle")
        if self.stop == "tools" and not self._calls:
            raise Odd("it announces calls and makes none")
        if not all(call.name for call in self._calls.values()):
            raise Odd("a call names no tool")
        return rest

    def reply(self, calls_before: int = 0) -> Reply:
        """The whole reply."""
        made = [ToolCall(kept(c.id), kept(c.name), kept("".join(c.arguments)) or "{}") for c in self._calls.values()]
        calls = numbered(made, calls_before)
        stop: Stop = self.stop or "end"
        if self.refused:
            stop = "refused"
        elif calls and stop == "end":
            stop = "tools"
        return Reply("".join(self._texts), calls, self.usage, stop)


class _Call:
    __slots__ = ("arguments", "id", "name")

    def __init__(self) -> None:
        self.id = ""
        self.name = ""
        self.arguments: list[str] = []


def numbered(calls: Sequence[ToolCall], before: int = 0) -> tuple[ToolCall, ...]:
    """The calls, each with an id of its own: one that has none, or another's, is numbered on from those made before."""
    given = {call.id for call in calls}
    used: set[str] = set()
    out = []
    for number, call in enumerate(calls, before + 1):
        call_id = call.id
        if not call_id or call_id in used:
            names = (f"call_{free}" for free in itertools.count(number))
            call_id = next(name for name in names if name not in given and name not in used)
        used.add(call_id)
        out.append(replace(call, id=call_id))
    return tuple(out)


def calls_in(payload: Mapping[str, Any]) -> int:
    """How many calls stand in a body's conversation already."""
    said = payload.get("messages") or payload.get("input") or ()
    blocks = [block for one in said if isinstance(one.get("content"), list) for block in one["content"]]
    kinds = [one.get("type") for one in (*said, *blocks)]
    calls = sum(len(one.get("tool_calls") or ()) for one in said)
    return calls + kinds.count("function_call") + kinds.count("tool_use")


def kept(text: str) -> str:
    """Text that every store and channel can hold: half a character that stays alone, and NUL, are replaced."""
    if text.isascii() and "\0" not in text:
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").replace("\0", "\ufffd")


# ── reading JSON of which nothing is certain ──────────────────────────────────────────────────────────────────────


def mapping(value: object, what: str) -> Mapping[str, Any]:
    """The value, which must be an object."""
    if not isinstance(value, Mapping):
        raise Odd(f"{what} is not an object")
    return value


def items(value: object, what: str) -> Sequence[Any]:
    """The value, which must be an array; null is an empty one."""
    if value is None:
        return ()
    if not isinstance(value, list):
        raise Odd(f"{what} is not an array")
    return value


def text(value: object, what: str) -> str:
    """The value, which must be a string; null is an empty one."""
    if value is None:
        return ""
    if not isinstance(value, str):
        raise Odd(f"{what} is not a string")
    return value


def count(value: object, what: str) -> int:
    """The value, which must be a count; null is none."""
    if value is None:
        return 0
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise Odd(f"{what} is not a count")
    return value


def arguments(value: object) -> str:
    """A call's arguments as JSON text: as it came, or written from the object some servers send."""
    if isinstance(value, Mapping | list):
        return json.dumps(value, ensure_ascii=False)
    return text(value, "a call's arguments")


def refuse_error(body: Mapping[str, Any]) -> None:
    """Raises when an answer says that it is an error, though its status says it is none."""
    if body.get("error"):
        raise ErrorAnswer(body)


def stop_of(value: object, known: Mapping[str, Stop]) -> Stop:
    """Why the model stopped, in our words; a reason nobody knows is no end."""
    if not isinstance(value, str) or value not in known:
        raise Odd("it ended for an unknown reason")
    return known[value]
