"""What a server says of its tools is text of others: words are made harmless, and of a schema the known part stays."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from ..core.text import shorten, spoken

WORDS_CHARS: Final = 1_024
SCHEMA_CHARS: Final = 16_000
CHOICE_CHARS: Final = 200
DEPTH: Final = 12

_CONTROLS: Final = re.compile(r"[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f]")
_KEY: Final = re.compile(r"[A-Za-z0-9_.$-]{1,64}")
_TYPES: Final = frozenset({"object", "array", "string", "number", "integer", "boolean", "null"})
_REFERENCE: Final = re.compile(r"#/(?:\$defs|definitions)/[A-Za-z0-9_.-]{1,64}")


class Uncontained(Exception):
    """A schema that cannot be shown; says what is wrong with it and nothing of what it says."""


def words(text: str) -> str:
    """A description on one line, without controls, tags, fences and chat tokens, at most 1,024 characters long."""
    line = " ".join(_CONTROLS.sub("", text).split())
    return shorten(spoken(shorten(line, WORDS_CHARS)), WORDS_CHARS)


def schema(given: object) -> dict[str, Any]:
    """The schema of a tool's arguments, as far as it is known to be harmless; else Uncontained."""
    if not isinstance(given, Mapping):
        raise Uncontained("its schema is not an object")
    kept = {"type": "object", "properties": {}, **_schema(given, DEPTH)}
    if kept["type"] != "object":
        raise Uncontained("its arguments are not an object")
    if len(json.dumps(kept)) > SCHEMA_CHARS:
        raise Uncontained(f"its schema is longer than {SCHEMA_CHARS:,} characters")
    return kept


def _schema(given: object, depth: int) -> Any:
    """Keywords that are not listed go: titles, defaults, examples, patterns and comments only carry words."""
    if isinstance(given, bool):
        return given
    if not isinstance(given, Mapping) or depth == 0:
        raise Uncontained("its schema is malformed or too deep")
    out: dict[str, Any] = {}
    for keyword, keep in _KEEP.items():
        if keyword in given and (kept := keep(given[keyword], depth - 1)) is not None:
            out[keyword] = kept
    return out


def _type(given: object, depth: int) -> Any:
    named = given if isinstance(given, list) else [given]
    if not all(isinstance(name, str) and name in _TYPES for name in named):
        raise Uncontained("its schema names an unknown type")
    return given


def _words(given: object, depth: int) -> str | None:
    return words(given) if isinstance(given, str) else None


def _named(given: object, depth: int) -> dict[str, Any]:
    if not isinstance(given, Mapping) or not all(isinstance(key, str) and _KEY.fullmatch(key) for key in given):
        raise Uncontained("its arguments have names that are not plain")
    return {key: _schema(inner, depth) for key, inner in given.items()}


def _names(given: object, depth: int) -> list[str]:
    if not isinstance(given, list) or not all(isinstance(key, str) and _KEY.fullmatch(key) for key in given):
        raise Uncontained("its arguments have names that are not plain")
    return given


def _several(given: object, depth: int) -> list[Any]:
    if not isinstance(given, list):
        raise Uncontained("its schema is malformed or too deep")
    return [_schema(inner, depth) for inner in given]


def _choices(given: object, depth: int) -> list[Any] | None:
    """Choices have to stay as they are, so they stay only when nothing in them needs to be made harmless."""
    if not isinstance(given, list):
        raise Uncontained("its schema is malformed or too deep")
    return given if all(_is_harmless(choice) for choice in given) else None


def _is_harmless(value: object) -> bool:
    if isinstance(value, str):
        return len(value) <= CHOICE_CHARS and "\n" not in value and spoken(value) == value
    return value is None or isinstance(value, bool | int | float)


def _number(given: object, depth: int) -> float | None:
    return given if isinstance(given, int | float) and not isinstance(given, bool) else None


def _reference(given: object, depth: int) -> str:
    if not isinstance(given, str) or not _REFERENCE.fullmatch(given):
        raise Uncontained("its schema refers to something outside itself")
    return given


_KEEP: Final[Mapping[str, Callable[[object, int], Any]]] = {
    "type": _type,
    "description": _words,
    "properties": _named,
    "required": _names,
    "additionalProperties": _schema,
    "items": _schema,
    "enum": _choices,
    **dict.fromkeys(("anyOf", "oneOf", "allOf"), _several),
    **dict.fromkeys(("$defs", "definitions"), _named),
    "$ref": _reference,
    **dict.fromkeys(("minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems"), _number),
}
