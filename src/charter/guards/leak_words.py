"""How much a word gives away: words every text is made of say little, rare words, names and numbers say much."""

from __future__ import annotations

from collections.abc import Collection
from functools import cache, lru_cache
from typing import Final

from .fold import skeleton
from .lexicon import Lexicon, read_tables

FUNCTION: Final = 1.0  # bits of a word that carries grammar
COMMON: Final = 2.6  # of a word everyone uses
RARE: Final = 6.5
_ENDINGS: Final = ("'s", "ing", "ed", "ies", "es", "s", "ly", "er", "al", "d", "r")
_HAN: Final = 2.4  # of one Han character, which is about half a word


@cache
def _table(category: str) -> frozenset[str]:
    lines = (line for table in read_tables("leak").values() for line in table.get(category, ()))
    return frozenset(word for line in lines for word in skeleton(line).split())


@cache
def lexicon(category: str) -> Lexicon:
    """The phrases of one category, of every language, as `skeleton` spells them."""
    return Lexicon(
        {
            language: {category: [skeleton(pattern) for pattern in table.get(category, ())]}
            for language, table in read_tables("leak").items()
        }
    )


def _known(word: str, among: Collection[str]) -> bool:
    """Whether the word, or what is left of it without an ending, is in the table."""
    if word in among:
        return True
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            stem = word[: -len(ending)]
            if (
                stem in among
                or stem + "e" in among
                or stem + "y" in among
                or (stem[-1] == stem[-2] and stem[:-1] in among)
            ):
                return True
    return False


@lru_cache(maxsize=65_536)
def weigh(word: str) -> float:
    """The bits of one folded word."""
    if word in _table("function"):
        return FUNCTION
    if word.isdecimal():
        return (1.0, 2.0, 3.0, 4.5, 6.0, 7.0)[min(len(word), 6) - 1]
    if is_block(word):
        return _HAN if word > "\u3100" else 1.2
    if len(word) == 1:
        return FUNCTION
    if _known(word, _table("common")):
        return COMMON
    size = letters_in(word)
    if size <= 3:
        return 3.0
    return min(RARE, 4.0 + 0.5 * (size - 3)) if not any(map(str.isdecimal, word)) else RARE + 1


def letters_in(word: str) -> int:
    """How many letters a word has; marks that are vowels do not count."""
    return len(word) if word.isascii() else sum(map(str.isalnum, word))


def is_block(word: str) -> bool:
    """Whether the word is one character of a script that writes no spaces."""
    return len(word) == 1 and (
        "\u3040" <= word <= "\u9fff" or "\u0e00" <= word <= "\u0eff" or "\u1000" <= word <= "\u17ff"
    )


@lru_cache(maxsize=65_536)
def stem(word: str) -> str:
    """The word without a common ending; only ever compared with another stem."""
    for ending in ("ings", "ing", "ies", "ied", "es", "ed", "s", "e", "y", "ly"):
        if word.endswith(ending) and len(word) - len(ending) >= 4:
            return word[: -len(ending)]
    return word
