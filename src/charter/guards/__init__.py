"""Guards: text in, a verdict out; pure, and they need no configuration."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .disclosure import check_message
    from .files import pin, quarantine, scan_file
    from .finding import Finding, Sign, Span
    from .leak import Screen, scan_call, scan_reply
    from .override import Context, check_update

__all__ = [
    "Context", "Finding", "Screen", "Sign", "Span", "check_message", "check_update", "pin", "quarantine",
    "scan_call", "scan_file", "scan_reply",
]  # fmt: skip

_HOMES = {
    "Context": "override", "Finding": "finding", "Screen": "leak", "Sign": "finding", "Span": "finding",
    "check_message": "disclosure", "check_update": "override", "pin": "files",
    "quarantine": "files", "scan_call": "leak", "scan_file": "files", "scan_reply": "leak",
}  # fmt: skip


def __getattr__(name: str) -> Any:
    """A guard is imported when it is first used: who only reads a file needs no word tables."""
    if name not in _HOMES:
        raise AttributeError(f"module 'charter.guards' has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(f".{_HOMES[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
