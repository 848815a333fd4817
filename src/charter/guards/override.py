"""A writable layer may not lift what stands above it: the plain refusals of S0-09, not yet measured."""

from __future__ import annotations

import re

from ..core.policy import Verdict

_ABOVE = r"(?:layers?\s*#?\s*[0-5]\b|(?:constitution|sealed\s+layers?|safety\s+rules|non-?harm)\b)"
_LIFT = r"(?:ignor|overrid|disregard|bypass|supersed|replac|suspend|disabl|forget|outrank)(?:e|es|s|ed|ing|den)?"
_OVERRIDE = re.compile(rf"\b{_LIFT}\s+(?:\w+\s+){{0,3}}?{_ABOVE}", re.IGNORECASE)
_NEGATED = re.compile(r"\b(?:never|not|cannot|can't|don't|do\s+not|must\s+not|nor)\s+(?:\w+\s+){0,2}$", re.IGNORECASE)


def plain_refusals(target: str, content: str) -> Verdict:
    """Denies a text that says to ignore or override a sealed layer, unless it says never to."""
    for found in _OVERRIDE.finditer(content):
        if not _NEGATED.search(content, max(0, found.start() - 60), found.start()):
            return Verdict("deny", "LAYER_OVERRIDE", f"{target}: a writable layer may not lift a sealed one")
    return Verdict("allow")
