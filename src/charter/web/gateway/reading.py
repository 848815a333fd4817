"""A request is read strictly: what is wrong is named by its parameter, and nothing that matters is passed over."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Final, NoReturn

import msgspec

from ...core.carried import CHOICE
from ...core.errors import BadValue
from ...core.ports import ToolSpec
from ...tools import contained

Body = Mapping[str, Any]
TOOLS: Final = 128
STOPS: Final = 16
TOOL_NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")
_PLAIN: Final = re.compile(r"[A-Za-z0-9_.]{1,64}")
_NOTHING: Final = (None, False, "", 0)
_KINDS: Final = {str: "a text", bool: "true or false", int: "a whole number", float: "a number", list: "a list"}


def body_of(data: bytes) -> dict[str, Any]:
    """The object in a request's bytes."""
    try:
        found = msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise BadValue("body", "not JSON that can be read") from None
    if not isinstance(found, dict):
        raise BadValue("body", "a request is a JSON object")
    return found


def only(body: Body, known: Collection[str], *, where: str = "") -> None:
    """Refuses a parameter that is neither read nor harmless, unless it says nothing."""
    for name, value in body.items():
        if name not in known and value not in _NOTHING and value != [] and value != {}:
            unsupported(where + (name if _PLAIN.fullmatch(name) else f"<{len(name)} characters>"))


def unsupported(where: str) -> NoReturn:
    raise BadValue(where, "not supported here; leave it out")


def only_one(body: Body, name: str, value: Any, *, where: str = "") -> None:
    """Refuses a parameter that is given and is not this."""
    if body.get(name) not in (None, value):
        raise BadValue(f"{where}{name}", "only its default is supported here; leave it out")


def text(body: Body, name: str, default: str | None = None, *, where: str = "") -> str:
    found = _typed(body, name, str, where)
    if found is None and default is None:
        raise BadValue(f"{where}{name}", "is needed, and is a text")
    return plain(default if found is None else found, f"{where}{name}")  # type: ignore[arg-type]


def plain(found: str, where: str) -> str:
    """A text that can be kept."""
    if "\0" in found:
        raise BadValue(where, "holds a NUL character, which no text may")
    return found


def flag(body: Body, name: str) -> bool:
    return bool(_typed(body, name, bool, ""))


def items(body: Body, name: str, *, where: str = "") -> list[Any]:
    return _typed(body, name, list, where) or []


def table(value: Any, where: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise BadValue(where, "is an object")
    return value


def whole(body: Body, *names: str) -> int | None:
    """The first of these that is given: a number of tokens."""
    for name in names:
        found = _typed(body, name, int, "")
        if found is not None:
            if found < 1:
                raise BadValue(name, "is at least 1")
            return int(found)
    return None


def _typed(body: Body, name: str, kind: type, where: str) -> Any:
    found = body.get(name)
    right = isinstance(found, (int, float) if kind is float else kind) and (kind is bool or not isinstance(found, bool))
    if found is not None and not right:
        raise BadValue(f"{where}{name}", f"is {_KINDS[kind]}")
    return found


# ── options ───────────────────────────────────────────────────────────────────────────────────────────────────────

_RANGES: Final = {
    "temperature": (float, 0, 2),
    "top_p": (float, 0, 1),
    "top_k": (int, 0, 100_000),
    "seed": (int, -(2**63), 2**63 - 1),
    "presence_penalty": (float, -2, 2),
    "frequency_penalty": (float, -2, 2),
}


def options(body: Body, names: Sequence[str], *, stop: str = "") -> dict[str, Any]:
    """The sampling values among these that the caller set, in their ranges; `stop` names its list of texts."""
    found: dict[str, Any] = {}
    for name in names:
        kind, low, high = _RANGES[name]
        value = _typed(body, name, kind, "")
        if value is not None:
            if not low <= value <= high:
                raise BadValue(name, f"is between {low} and {high}")
            found[name] = value
    stops = body.get(stop) if stop else None
    if stops:
        stops = [stops] if isinstance(stops, str) else stops
        if not isinstance(stops, list) or len(stops) > STOPS or not all(isinstance(one, str) and one for one in stops):
            raise BadValue(stop, f"is a text or a list of at most {STOPS} texts")
        found["stop"] = [plain(one, stop) for one in stops]
    return found


# ── tools ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def tool(name: Any, description: Any, schema: Any, *, where: str) -> ToolSpec:
    """A tool of the caller's; what it says of itself is text of others, and is made harmless."""
    if not isinstance(name, str) or not TOOL_NAME.fullmatch(name):
        raise BadValue(f"{where}.name", "has 1 to 64 letters, digits, _ and -")
    if not isinstance(description, str | None):
        raise BadValue(f"{where}.description", "is a text")
    try:
        parameters = contained.schema({} if schema is None else schema)
    except contained.Uncontained as error:
        raise BadValue(where, str(error)) from None
    return ToolSpec(name, contained.words(description or ""), parameters)


def few(given: list[Any]) -> list[Any]:
    if len(given) > TOOLS:
        raise BadValue("tools", f"at most {TOOLS}; there are {len(given)}")
    return given


def chosen(tools: Sequence[ToolSpec], choice: str, name: str = "") -> tuple[tuple[ToolSpec, ...], dict[str, Any]]:
    """What a caller's choice among its tools comes to: which are offered, and the option that goes with it."""
    if choice == "none":
        return (), {}
    if choice == "auto" or not tools:
        return tuple(tools), {}
    if name and name not in {tool.name for tool in tools}:
        raise BadValue("tool_choice", "names a tool that is not among the tools")
    return tuple(tools), {CHOICE: name}


def chosen_in(
    body: Body, tools: Sequence[ToolSpec], named: Callable[[Any], str]
) -> tuple[tuple[ToolSpec, ...], dict[str, Any]]:
    """The same of a body in one of OpenAI's forms; `named` reads the tool a choice names, which stands elsewhere in
    each."""
    choice, name = body.get("tool_choice") or "auto", ""
    if not isinstance(choice, str):
        name, choice = named(choice), "required"
    if choice not in ("auto", "none", "required"):
        unsupported("tool_choice")
    offered, option = chosen(tools, choice, name)
    one_by_one = {"parallel_tool_calls": False} if offered and body.get("parallel_tool_calls") is False else {}
    return offered, {**option, **one_by_one}
