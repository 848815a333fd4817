"""Erosion: a text that is far less careful than its earlier versions were, though each step looked small.

How careful a text is, is counted: words of care in a sentence, more when it is firm (always, never, before), less when
it is soft (usually, where possible), nothing when it waives. Only a fall is a sign; what was never careful cannot fall.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from .fold import plain
from .lexicon import Hit
from .reading import Reading

ENOUGH: Final = 2.4  # a version that was less careful than this had nothing to lose
STEPWISE, AT_ONCE = 0.45, 0.2  # what must be left of it, over several versions or over one
_LEAST: Final = 0.2
_ANY_LANGUAGE: Final = ("guarded", "approval", "protect", "refuse", "boss", "neg")
MOST_VERSIONS: Final = 8


def is_eroded(content: str, earlier: Sequence[str]) -> bool:
    """Whether too little is left of the care that the most careful earlier version took."""
    versions = [text for text in earlier if text.strip()][-MOST_VERSIONS:]
    if not versions:
        return False
    strongest = max(map(carefulness, versions))
    left = STEPWISE if len(versions) > 1 else AT_ONCE
    return strongest >= ENOUGH and carefulness(content) < left * strongest


def carefulness(text: str) -> float:
    """How much care a text takes, and how firmly."""
    reading = Reading(plain(text))
    return sum(_of_sentence(found) for found in reading.by)


def _of_sentence(found: dict[str, list[Hit]]) -> float:
    names = ("care",) if "care" in found else _ANY_LANGUAGE
    care = {hit.first for name in names for hit in found.get(name, ())}
    firm, soft, waived = (len({hit.first for hit in found.get(name, ())}) for name in ("firm", "soft", "waived"))
    return min(len(care), 3) * max(1 + 0.5 * min(firm, 3) - 0.5 * soft - 1.5 * waived, _LEAST)
