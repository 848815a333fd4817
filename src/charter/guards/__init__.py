"""Guards: text in, a verdict out; pure, and they need no configuration."""

from .disclosure import check_message
from .finding import Finding, Sign, Span
from .leak import Screen, scan_call, scan_reply
from .override import Context, check_update

__all__ = [
    "Context",
    "Finding",
    "Screen",
    "Sign",
    "Span",
    "check_message",
    "check_update",
    "scan_call",
    "scan_reply",
]
