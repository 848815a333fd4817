"""Words that mean much the same are of one kind, so that what was learned of one is known of the other."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Final

from .kept import Met

_BEGINNING: Final = 5  # letters, where endings are not those of English
_SHORT: Final = 3  # letters that a stem keeps
_LONGEST: Final = 40  # letters of a word that are looked at
_ENDINGS: Final = tuple(
    "ations ation ingly edly ments ment ions ion ings ing ies ied ers er ed es ly s e y".split()
)  # the longest first


def _stem(word: str) -> str:
    """A word without its ending: English ones by rule, others cut."""
    if not word.isascii():
        return word[:_BEGINNING]
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _SHORT:
            return word[: -len(ending)]
    return word[:_LONGEST]


stem: Final = Met(_stem, 1 << 15).__getitem__


def kinds_of(word: str) -> tuple[str, ...]:
    """The kinds a word is of (`words/kin/en.tsv`), whatever its form."""
    return kinds_by_stem().get(stem(word), ())


@cache
def kinds_by_stem() -> dict[str, tuple[str, ...]]:
    """Stem → the kinds of its words."""
    found: dict[str, tuple[str, ...]] = {}
    table = files(__package__).joinpath("words", "kin", "en.tsv").read_text(encoding="utf-8")
    for line in table.splitlines():
        if not line.startswith("#"):
            kind, _, words = line.partition("\t")
            for one in dict.fromkeys(map(stem, words.split())):
                found[one] = (*found.get(one, ()), kind)
    return found
