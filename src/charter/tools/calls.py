"""What a value that a model wrote means as a call of a tool, under any of the names models use for its parts."""

from __future__ import annotations

from typing import Any, Final, Literal, NamedTuple

from .loose import Unreadable, read

Flaw = Literal["no_tool", "bad_arguments"]

_NAME: Final = ("tool", "name", "tool_name", "function")
_ARGUMENTS: Final = ("arguments", "parameters", "args", "input", "params")
_WRAPPERS: Final = ("function", "tool_call", "function_call")
_BESIDE: Final = frozenset({"id", "type", "call_id"})


class NoCall(Exception):
    """A value that means no call; `flaw` says why."""

    def __init__(self, flaw: Flaw) -> None:
        super().__init__(flaw)
        self.flaw: Flaw = flaw


class Call(NamedTuple):
    """A call as it was meant; `form` is how close to the format it was written."""

    name: str
    arguments: dict[str, Any]
    form: Literal["exact", "like", "flat"]

    def __repr__(self) -> str:
        return f"Call({self.name!r}, {len(self.arguments)} arguments)"


def calls_of(value: Any) -> list[Call]:
    """The calls a value stands for, one or more; else NoCall."""
    if isinstance(value, dict) and isinstance(value.get("tool_calls"), list):
        value = value["tool_calls"]
    if isinstance(value, list) and value:
        return [call for inner in value for call in calls_of(inner)]
    if not isinstance(value, dict):
        raise NoCall("no_tool")
    wrapped = next((value[key] for key in _WRAPPERS if isinstance(value.get(key), dict)), value)
    return [_call(wrapped)]


def _call(value: dict[str, Any]) -> Call:
    named = next((key for key in _NAME if isinstance(value.get(key), str)), "")
    given = next((key for key in _ARGUMENTS if key in value), "")
    if not named or (named == "name" and _is_definition(value)):
        raise NoCall("no_tool")
    rest = {key: inner for key, inner in value.items() if key != named and key not in _BESIDE}
    arguments = _arguments(value[given]) if given else rest
    exact = (named, given) == ("tool", "arguments")
    return Call(value[named].strip(), arguments, "exact" if exact else "like" if given else "flat")


def _is_definition(value: dict[str, Any]) -> bool:
    """Whether it says what a tool is, as tools are listed, and calls nothing."""
    schema = value.get("parameters")
    return "description" in value or (isinstance(schema, dict) and isinstance(schema.get("properties"), dict))


def _arguments(given: Any) -> dict[str, Any]:
    """An object, the same written as a string, or nothing at all."""
    if given is None or (isinstance(given, str) and not given.strip()):
        return {}
    found = read_arguments(given) if isinstance(given, str) else given
    if not isinstance(found, dict):
        raise NoCall("bad_arguments")
    return found


def read_arguments(text: str) -> dict[str, Any] | None:
    """Arguments as a model wrote them, loosely; None when they are not one whole object."""
    try:
        found = read(text)
    except Unreadable:
        return None
    whole = not found.missing and not text[found.end :].strip()
    return found.value if whole and isinstance(found.value, dict) else None
