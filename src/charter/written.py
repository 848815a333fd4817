"""JSON as hashes have it: no spaces, non-ASCII escaped; made the quick way where it comes to the very same bytes."""

from __future__ import annotations

import json
from typing import Any, Final

import msgspec

DELETE: Final = b"\x7f"  # the one ASCII character that the standard library escapes and msgspec does not

_quick: Final = msgspec.json.Encoder()
_slow: Final = json.JSONEncoder(separators=(",", ":"))


def ascii_json(value: Any) -> bytes:
    """The JSON of texts, whole numbers, and lists of them."""
    try:
        data = _quick.encode(value)
    except (UnicodeEncodeError, OverflowError):  # half a character, a number of more than 64 bits
        data = DELETE
    return data if data.isascii() and DELETE not in data else _slow.encode(value).encode()
