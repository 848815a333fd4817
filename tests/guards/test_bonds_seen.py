"""N-08: what the bonds see in a sentence, and what they leave alone in the one that is nearly the same."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from charter.guards.bonds import bonds
from charter.guards.fold import plain
from charter.guards.reading import Reading

from .sights import sights

pytestmark = pytest.mark.requirement("N-08", "S1-06")


def seen(text: str) -> Iterator[str]:
    """Each mark: its code, what met, and the words that it marks."""
    reading = Reading(plain(text))
    for mark in bonds(reading):
        met = "+".join(factor.removeprefix("stance ") for factor in mark.factors)
        yield f"{mark.code} {met}: {reading.text[mark.start : mark.end]}"


def test_the_bonds_see_what_is_written_below_each_sentence() -> None:
    written, found = sights("bonds", seen)
    assert found == written
