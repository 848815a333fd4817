"""Erosion: a text that is far less careful than its earlier versions were, though each step looked small.

How careful a text is, is counted: words of care in a sentence, more when it is firm (always, never, before), less when
it is soft (usually, where possible), nothing when it waives. Only a fall is a sign; what was never careful cannot fall.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from .fold import plain
from .lexicon import Hit, tokens_of
from .reading import Reading

ENOUGH: Final = 1.4  # a version that was less careful than this had nothing to lose
STEPWISE: Final = 0.45  # what must be left of it
KEPT: Final = 0.15  # of the longer words, in a text that is the other one changed
WORN: Final = 0.5
_STEM: Final = 5
_LEAST: Final = 0.2
_ANY_LANGUAGE: Final = ("guarded", "approval", "protect", "refuse", "boss", "neg")
MOST_VERSIONS: Final = 8


def is_eroded(content: str, earlier: Sequence[str]) -> bool:
    """Whether too little is left of the care that an earlier version took, where each text goes on from the one before.

    It takes at least two earlier versions: a text that is written anew is new, not worn away; unless those before it
    were already worn, one by one, to half of what they were.
    """
    versions = [text for text in dict.fromkeys(earlier) if text.strip()][-MOST_VERSIONS:]
    chain = _chain([*versions, content])[1:]
    if len(chain) >= 2:
        strongest = max(map(carefulness, chain))
        return strongest >= ENOUGH and carefulness(content) < STEPWISE * strongest
    worn = [carefulness(version) for version in _chain(versions)]
    if len(worn) <= 2 or worn[0] > WORN * max(worn):
        return False
    return max(worn) >= ENOUGH and carefulness(content) <= worn[0]


def _chain(versions: Sequence[str]) -> list[str]:
    """The last version and those before it, newest first, as far back as each goes on from the one before."""
    chain = list(versions[-1:])
    for version in reversed(versions[:-1]):
        if not _is_edit(chain[-1], version):
            break
        chain.append(version)
    return chain


def _is_edit(content: str, version: str) -> bool:
    """Whether a text goes on from another: some of its words are still there."""
    old, new = ({word[:_STEM] for word in tokens_of(plain(text)).words if len(word) > 3} for text in (version, content))
    return len(old & new) >= max(1, KEPT * min(len(old), len(new)))


def carefulness(text: str) -> float:
    """How much care a text takes, and how firmly."""
    reading = Reading(plain(text))
    return sum(_of_sentence(found) for found in reading.by)


def _of_sentence(found: dict[str, list[Hit]]) -> float:
    names = ("care",) if "care" in found else _ANY_LANGUAGE
    care = {hit.first for name in names for hit in found.get(name, ())}
    firm, soft, waived = (len({hit.first for hit in found.get(name, ())}) for name in ("firm", "soft", "waived"))
    return min(len(care), 3) * max(1 + 0.5 * min(firm, 3) - 0.5 * soft - 1.5 * waived, _LEAST)
