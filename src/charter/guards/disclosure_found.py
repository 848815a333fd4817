"""A request that was found: which rule saw it, whose text it wants, and the words that were its factors."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from .lexicon import Hit

ACTS: Final = ("verb", "part", "ask", "exact")
NAMES: Final = ("hard", "hard_yours", "soft", "soft_yours")


@dataclass(frozen=True, slots=True)
class Found:
    """A request: the rule that saw it and the hits that were its factors."""

    rule: str
    whose: str
    hits: tuple[tuple[str, Hit], ...] = field(repr=False)


def found(rule: str, whose: str, act: Hit, name: Hit, owner: Hit | None) -> Found:
    hits = [("verb" if act.category not in ACTS else act.category, act), ("name", name)]
    if owner is not None:
        hits.append(("whose", owner))
    return Found(rule, whose, tuple(hits))
