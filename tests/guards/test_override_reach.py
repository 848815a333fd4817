"""N-08: how many words may stand between what belongs together: where "…" is, so many other words are put."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from charter.guards.fold import plain
from charter.guards.override_rules import marks_of
from charter.guards.reading import Reading

from .sights import sights

pytestmark = pytest.mark.requirement("N-08", "S0-09")
MOST = 18  # words that are put there
GAP = "…"


def seen(text: str) -> Iterator[str]:
    """Each kind of mark, and how many words stand there when it is seen."""
    before, after = text.split(GAP)
    counts: dict[str, list[int]] = {}
    for count in range(MOST + 1):
        reading = Reading(plain(f"{before}{'really ' * count}{after}"))
        for kind in sorted({f"{mark.code} {'+'.join(mark.factors)}" for mark in marks_of(reading)}):
            counts.setdefault(kind, []).append(count)
    return (f"{kind}: {_runs(found)}" for kind, found in counts.items())


def _runs(counts: list[int]) -> str:
    """Numbers as people write them: "0 to 3, 7"."""
    heads = [count for count in counts if count - 1 not in counts]
    tails = [count for count in counts if count + 1 not in counts]
    return ", ".join(
        str(head) if head == tail else f"{head} to {tail}" for head, tail in zip(heads, tails, strict=True)
    )


def test_words_between_do_not_hide_what_belongs_together_until_there_are_too_many() -> None:
    written, found = sights("reach", seen)
    assert found == written
