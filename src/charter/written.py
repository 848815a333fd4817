"""JSON as hashes have it, without spaces; made the quick way where it comes to the very same bytes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

import msgspec

from .core.wire import canonical

SIMPLE: Final = frozenset({str, int, bool, type(None)})
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


def canonical_json(body: Mapping[str, Any], known: bytes = b"", /) -> bytes:
    """A body as `core.wire.canonical` writes it.

    What comes to the `known` bytes is that very body, for a value of JSON is written in one way; but for what is no
    number, which msgspec writes as null.
    """
    try:
        data = _sorted.encode(body)
        same = data == known and b"null" not in data
        return data if same or _alike(body) else canonical(body)
    except (UnicodeEncodeError, OverflowError, TypeError, RecursionError):  # what is no JSON at all fails there too
        return canonical(body)


def _alike(body: Mapping[str, Any]) -> bool:
    """Whether both ways write this alike: JSON's own types, keys that are text, numbers without an exponent.

    It is looked at level by level, and a text, which most of a body is, only where it stands.
    """
    level: list[Any] = [body]
    while level:
        deeper: list[Any] = []
        for value in level:
            kind = type(value)
            if kind is dict:
                for name, inner in value.items():
                    if type(name) is not str:
                        return False
                    if type(inner) is not str:
                        deeper.append(inner)
            elif kind is list or kind is tuple:
                deeper += value
            elif kind not in SIMPLE and (kind is not float or _quick.encode(value).decode() != repr(value)):
                return False
        level = deeper
    return True
