"""N-08: what each rule of overrides sees in a sentence, and what it leaves alone in the one that is nearly the same."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from charter.guards.fold import plain
from charter.guards.override_rules import marks_of
from charter.guards.reading import Reading

from .sights import names, sights

pytestmark = pytest.mark.requirement("N-08", "S0-09")


def seen(text: str) -> Iterator[str]:
    """Each mark: its code (? where a person is only asked), what met, and the words that it marks."""
    reading = Reading(plain(text))
    for mark in marks_of(reading):
        grave = "!" if mark.weight > 1 else "?"
        yield f"{mark.code}{grave} {'+'.join(mark.factors)}: {reading.text[mark.start : mark.end]}"


@pytest.mark.parametrize("name", [name for name in names() if name.startswith("override")])
def test_the_rules_see_what_is_written_below_each_sentence(name: str) -> None:
    written, found = sights(name, seen)
    assert found == written
