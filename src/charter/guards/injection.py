"""The names by which other rooms know what `files` finds."""

from __future__ import annotations

from .files import find_spans, quarantine
from .finding import Span
from .hidden import find_hidden

__all__ = ["Span", "find_hidden", "find_spans", "quarantine"]
