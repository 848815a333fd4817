"""N-08: which request the rules see in a sentence, whose text it wants, and which they leave alone beside it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from charter.guards.disclosure_about import Past
from charter.guards.disclosure_rules import find
from charter.guards.disclosure_scene import read
from charter.guards.fold import plain

from .sights import names, sights

pytestmark = pytest.mark.requirement("N-08", "S1-06")


def seen(text: str) -> Iterator[str]:
    """The rule, whose text it is, and the words of each factor; also after advice, where that makes a difference."""
    fresh, advised = _seen(text, "none"), _seen(text, "advice")
    if fresh:
        yield fresh
    if advised != fresh:
        yield f"after advice: {advised or 'nothing'}"


def _seen(text: str, past: Past) -> str:
    scene = read(plain(text))
    found = find(scene, past=past)
    if found is None:
        return ""
    factors = "; ".join(f"{name}: {scene.text[hit.start : hit.end]}" for name, hit in found.hits)
    return f"{found.rule}, {found.whose}. {factors}"


@pytest.mark.parametrize("name", [name for name in names() if name.startswith("disclosure")])
def test_the_rules_see_what_is_written_below_each_sentence(name: str) -> None:
    written, found = sights(name, seen)
    assert found == written
