"""JSON as hashes have it, without spaces; made the quick way where it comes to the very same bytes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

import msgspec

from .core.wire import canonical

DELETE: Final = b"\x7f"  # the one ASCII character that the standard library escapes and msgspec does not

_quick: Final = msgspec.json.Encoder()
_sorted: Final = msgspec.json.Encoder(order="sorted")
_slow: Final = json.JSONEncoder(separators=(",", ":"))


def ascii_json(value: Any) -> bytes:
    """The JSON of texts, whole numbers, and lists of them, non-ASCII escaped."""
    try:
        data = _quick.encode(value)
    except (UnicodeEncodeError, OverflowError):  # half a character, a number of more than 64 bits
        data = DELETE
    return data if data.isascii() and DELETE not in data else _slow.encode(value).encode()


def canonical_json(body: Mapping[str, Any]) -> bytes:
    """A body as `core.wire.canonical` writes it."""
    try:
        data = _sorted.encode(body)
        return data if _alike(body) else canonical(body)
    except (UnicodeEncodeError, OverflowError, TypeError, RecursionError):  # what is no JSON at all fails there too
        return canonical(body)


def _alike(value: object) -> bool:
    """Whether both ways write this alike: JSON's own types, keys that are text, numbers without an exponent."""
    kind = type(value)
    if kind is dict:
        for name, inner in value.items():  # type: ignore[attr-defined]
            if type(name) is not str or (type(inner) is not str and not _alike(inner)):
                return False
        return True
    if kind is list or kind is tuple:
        return all(map(_alike, value))  # type: ignore[call-overload]
    if kind is float:
        return _quick.encode(value).decode() == repr(value)
    return kind is str or kind is int or kind is bool or value is None
