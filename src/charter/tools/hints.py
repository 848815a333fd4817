"""A type hint is a contract in two forms: the JSON schema a model is shown, and the check its values must pass.

Hints that are understood: str, int, float, bool, None, Literal, Enum, list[T], dict[str, T], unions, dataclasses and
TypedDicts of these, and Annotated[T, "what it is"]. Anything else is refused when the tool is defined.
"""

from __future__ import annotations

import dataclasses
import enum
import math
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from ..core.errors import BadValue


class Unfit(Exception):
    """A value that does not fit; says where and what was expected, never what was given."""

    def __init__(self, expected: str, where: str = "") -> None:
        super().__init__(f"{where}: {expected}" if where else expected)
        self.expected = expected
        self.where = where

    def inside(self, step: str) -> Unfit:
        """The same, seen from one step further out."""
        joined = step + self.where if self.where.startswith("[") else f"{step}.{self.where}" if self.where else step
        return Unfit(self.expected, joined)


@dataclass(frozen=True, slots=True)
class Kind:
    """A hint understood: its schema, its check, and its name in an error."""

    schema: Mapping[str, Any] = field(repr=False)
    read: Callable[[Any], Any] = field(repr=False)
    expected: str = ""


@dataclass(frozen=True, slots=True)
class Entry:
    """One key of an object."""

    kind: Kind
    required: bool = True


def kind_of(hint: Any, where: str, inside: tuple[Any, ...] = ()) -> Kind:
    """The contract of a hint; BadValue names the place of one that is not understood."""
    origin = get_origin(hint)
    if origin in (typing.Required, typing.NotRequired):
        return kind_of(get_args(hint)[0], where, inside)
    if origin is Annotated:
        return _described(kind_of(get_args(hint)[0], where, inside), hint.__metadata__)
    if hint is None or (isinstance(hint, type) and hint in _SIMPLE):
        return _SIMPLE[hint]
    if origin is Literal:
        return _choice([(value, value) for value in get_args(hint)], where)
    if isinstance(hint, type) and issubclass(hint, enum.Enum):
        return _choice([(member.value, member) for member in hint], where)
    if origin is list:
        return _list(kind_of(get_args(hint)[0], f"{where}[…]", inside))
    if origin is dict and get_args(hint)[0] is str:
        return _dict(kind_of(get_args(hint)[1], f"{where}[…]", inside))
    if origin in (Union, types.UnionType):
        return _union([kind_of(option, where, inside) for option in get_args(hint)])
    if typing.is_typeddict(hint) or (dataclasses.is_dataclass(hint) and isinstance(hint, type)):
        return _record(hint, where, inside)
    raise BadValue(where, "a hint no schema is made for; use str, int, float, bool, Literal, Enum, list, dict[str, …]")


def _described(kind: Kind, metadata: Sequence[Any]) -> Kind:
    said = next((text for text in metadata if isinstance(text, str)), "")
    return Kind({**kind.schema, "description": " ".join(said.split())}, kind.read, kind.expected) if said else kind


# ── single values ─────────────────────────────────────────────────────────────────────────────────────────────────


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise Unfit("expected text")
    try:
        value.encode()
    except UnicodeEncodeError:  # half a surrogate pair cannot be stored or sent, and the error would show the text
        raise Unfit("expected text without broken characters") from None
    return value


def _whole(value: Any) -> int:
    if isinstance(value, bool) or not (isinstance(value, int) or (isinstance(value, float) and value.is_integer())):
        raise Unfit("expected a whole number")
    return int(value)


def _number(value: Any) -> float:
    try:
        number = float(value) if isinstance(value, int | float) and not isinstance(value, bool) else math.nan
    except OverflowError:
        number = math.nan
    if not math.isfinite(number):
        raise Unfit("expected a number")
    return number


def _switch(value: Any) -> bool:
    if not isinstance(value, bool):
        raise Unfit("expected true or false")
    return value


def _nothing(value: Any) -> None:
    if value is not None:
        raise Unfit("expected null")


_SIMPLE: dict[Any, Kind] = {
    str: Kind({"type": "string"}, _text, "text"),
    int: Kind({"type": "integer"}, _whole, "a whole number"),
    float: Kind({"type": "number"}, _number, "a number"),
    bool: Kind({"type": "boolean"}, _switch, "true or false"),
    types.NoneType: Kind({"type": "null"}, _nothing, "null"),
    None: Kind({"type": "null"}, _nothing, "null"),
}
_NAMES = {str: "string", int: "integer", float: "number", bool: "boolean", types.NoneType: "null"}


def _choice(options: Sequence[tuple[Any, Any]], where: str) -> Kind:
    """One of a few values; true is not 1 here."""
    kinds = {type(value) for value, _ in options}
    if not options or not kinds <= set(_NAMES):
        raise BadValue(where, "choices are text, numbers, true, false or None")
    means = {(type(value), value): meant for value, meant in options}
    expected = "one of: " + ", ".join(str(value) for value, _ in options)

    def read(value: Any) -> Any:
        try:
            return means[type(value), value]
        except (KeyError, TypeError):
            raise Unfit(f"expected {expected}") from None

    schema: dict[str, Any] = {"enum": [value for value, _ in options]}
    return Kind({"type": _NAMES[kinds.pop()], **schema} if len(kinds) == 1 else schema, read, expected)


# ── several values ────────────────────────────────────────────────────────────────────────────────────────────────


def _list(item: Kind) -> Kind:
    def read(value: Any) -> list[Any]:
        if not isinstance(value, list | tuple):
            raise Unfit("expected a list")
        return [_inside(item, inner, f"[{number}]") for number, inner in enumerate(value)]

    return Kind({"type": "array", "items": item.schema}, read, "a list")


def _dict(item: Kind) -> Kind:
    def read(value: Any) -> dict[str, Any]:
        if not isinstance(value, Mapping):
            raise Unfit("expected an object")
        return {_inside(_SIMPLE[str], key, "[…]"): _inside(item, inner, "[…]") for key, inner in value.items()}

    return Kind({"type": "object", "additionalProperties": item.schema}, read, "an object")


def _union(options: Sequence[Kind]) -> Kind:
    """The first option that fits."""
    expected = " or ".join(option.expected for option in options)

    def read(value: Any) -> Any:
        for option in options:
            try:
                return option.read(value)
            except Unfit:
                continue
        raise Unfit(f"expected {expected}")

    return Kind({"anyOf": [option.schema for option in options]}, read, expected)


def _record(hint: Any, where: str, inside: tuple[Any, ...]) -> Kind:
    if hint in inside:
        raise BadValue(where, f"{hint.__name__} contains itself; a schema has an end")
    hints = resolved(hint, where)
    if typing.is_typeddict(hint):  # where hints are text, __required_keys__ does not know of NotRequired
        loose = {name for name, of in hints.items() if get_origin(of) is typing.NotRequired}
        required = {*hint.__required_keys__} - loose
    else:
        fields = [f for f in dataclasses.fields(hint) if f.init]
        hints = {f.name: hints[f.name] for f in fields}
        missing = dataclasses.MISSING
        required = {f.name for f in fields if f.default is missing and f.default_factory is missing}
    deeper = (*inside, hint)
    entries = {name: Entry(kind_of(of, f"{where}.{name}", deeper), name in required) for name, of in hints.items()}
    return object_kind(entries, hint)


def object_kind(entries: Mapping[str, Entry], make: Callable[..., Any] = dict) -> Kind:
    """An object with these keys and no other."""
    names = ", ".join(entries)
    schema = {
        "type": "object",
        "properties": {name: entry.kind.schema for name, entry in entries.items()},
        "required": [name for name, entry in entries.items() if entry.required],
        "additionalProperties": False,
    }

    def read(value: Any) -> Any:
        if not isinstance(value, Mapping):
            raise Unfit("expected an object")
        if lost := [name for name, entry in entries.items() if entry.required and name not in value]:
            raise Unfit(f"missing: {', '.join(lost)}")
        if others := sum(name not in entries for name in value):
            takes = f"takes {names}" if names else "takes nothing"
            raise Unfit(f"{takes}; {others} unknown {'name was' if others == 1 else 'names were'} given")
        values = {name: _inside(entry.kind, value[name], name) for name, entry in entries.items() if name in value}
        try:
            return make(**values)
        except (TypeError, ValueError):  # a dataclass that checks itself; its words may hold the value
            raise Unfit("these values do not go together") from None

    return Kind(schema, read, f"an object with {names}" if names else "an empty object")


def _inside(kind: Kind, value: Any, step: str) -> Any:
    try:
        return kind.read(value)
    except Unfit as error:
        raise error.inside(step) from None


def resolved(thing: Any, where: str) -> dict[str, Any]:
    """The hints of a function or class; names that mean nothing there are an error that says so."""
    try:
        return typing.get_type_hints(thing, include_extras=True)
    except (NameError, TypeError, AttributeError):
        problem = "its hints name what is not there at run time; import it outside TYPE_CHECKING"
        raise BadValue(where, problem) from None
