"""The one place that knows which time zones exist."""

from __future__ import annotations

from zoneinfo import ZoneInfo

from .core.errors import BadValue


def time_zone(name: str) -> ZoneInfo:
    """An IANA time zone; anything else is an error, not UTC."""
    try:
        return ZoneInfo(name)
    except (ValueError, OSError, KeyError):  # ZoneInfoNotFoundError is a KeyError
        pass
    raise BadValue("timezone", "not an IANA time zone; use a name such as Europe/Berlin")
