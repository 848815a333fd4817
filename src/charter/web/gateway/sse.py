"""Server-sent events: one object, one event, one blank line."""

from __future__ import annotations

from typing import Any

from ...written import ascii_json


def event(data: dict[str, Any], name: str = "") -> bytes:
    """An event with this data; a name goes on a line of its own before it."""
    return (b"event: %s\n" % name.encode() if name else b"") + b"data: " + ascii_json(data) + b"\n\n"


DONE = b"data: [DONE]\n\n"
