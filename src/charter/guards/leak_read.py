"""A text as the leak guard reads it: its words, and its letters without anything between them.

Letters are folded so far that disguises vanish: look-alikes, case, accents, and the digits people write for letters. A
Han character counts as three letters and a Kana or Hangul one as two, so one length means the same in every script.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import accumulate, pairwise
from typing import Final

from .fold import plain, skeleton
from .lexicon import tokens_of

_KEPT: Final = 65_536  # characters whose spelling is remembered
_ALIKE: Final = str.maketrans("013456789l2", "oieasgtbgiz")
_ESCAPED: Final = re.compile(r"\\[nrt]")
_VOWELS: Final = dict.fromkeys(map(ord, "aeiouyаеиоуыэюяіїєωηαεοιυ"))


class _Spelling(dict[int, str]):
    """A table for `str.translate`: letters and digits as often as they count, nothing for the rest; it fills itself."""

    def __missing__(self, code: int) -> str:
        char = chr(code)
        spelling = char * _width(char) if char.isalnum() else ""
        if len(self) < _KEPT:
            self[code] = spelling
        return spelling


def _width(char: str) -> int:
    if "\u3400" <= char <= "\u9fff" or char >= "\U00020000":
        return 3
    return 2 if "\u3040" <= char <= "\u30ff" or "\uac00" <= char <= "\ud7a3" else 1


_SPELLING: Final = _Spelling()


@lru_cache(maxsize=32_768)
def spelled(folded: str) -> str:
    """The letters and digits of a folded text, each as often as it counts; marks that are vowels do not count."""
    return folded.translate(_SPELLING)


def letters_of(folded: str) -> str:
    """The letters of a folded text, as they are compared."""
    return folded.translate(_SPELLING).translate(_ALIKE)


@dataclass(frozen=True, slots=True)
class Reading:
    """Words with their places in the folded text, and all letters with the place of each word among them."""

    words: Sequence[str] = field(repr=False)
    starts: Sequence[int] = field(repr=False)
    ends: Sequence[int] = field(repr=False)
    letters: str = field(repr=False)
    spelled: str = field(repr=False)  # the same, digits being digits
    offsets: Sequence[int] = field(repr=False)  # one for each word, and the end

    @property
    def parts(self) -> list[str]:
        """The letters of each word."""
        return [self.letters[start:end] for start, end in pairwise(self.offsets)]

    def word_at(self, offset: int) -> int:
        """The word a letter belongs to."""
        return min(bisect_right(self.offsets, offset) - 1, len(self.words) - 1)

    def between(self, start: int, end: int) -> tuple[int, int]:
        """The characters of the folded text that letters `start` to `end` come from, whole words."""
        return self.starts[self.word_at(start)], self.ends[self.word_at(max(start, end - 1))]


def fold(text: str) -> str:
    """The text as it is compared; a line break written as an escape is one."""
    return fold_plain(plain(text))


def fold_plain(text: str) -> str:
    """The same for a text that is plain."""
    folded = text if text.isascii() else skeleton(text)
    return _ESCAPED.sub("\n ", folded) if "\\" in folded else folded


def read(folded: str) -> Reading:
    """A text that was folded."""
    words, starts, ends = tokens_of(folded)
    pieces = words if folded.isascii() and "'" not in folded else [spelled(word) for word in words]
    whole = "".join(pieces)
    return Reading(words, starts, ends, whole.translate(_ALIKE), whole, places(pieces))


def leaders(folded: str, starts: Sequence[int], ends: Sequence[int]) -> list[int]:
    """The words that stand first between two spaces: `long` of "long-term", `save` of "save_memory"."""
    gaps = (folded[end:start] for end, start in zip(ends, starts[1:], strict=False))
    return (
        [0, *(at for at, gap in enumerate(gaps, 1) if not gap or not gap.isprintable() or " " in gap)] if starts else []
    )


def places(parts: Iterable[str]) -> list[int]:
    """Where each part begins when all are written together, and where the last one ends."""
    return [0, *accumulate(map(len, parts))]


def bare_parts(text: str) -> list[str]:
    """The letters of each word of a plain text without vowels, and without the marks that are vowels elsewhere.

    Vowels go before look-alikes are folded: a Cyrillic и looks like a consonant then.
    """
    return [_bare(word) for word in tokens_of(_ESCAPED.sub("\n ", plain(text))).words]


def consonants(written: str) -> str:
    """The same for Latin letters without anything between them."""
    return written.translate(_VOWELS).translate(_ALIKE)


@lru_cache(maxsize=16_384)
def _bare(word: str) -> str:
    left = word.translate(_VOWELS)
    if not left.isascii():
        left = skeleton("".join(char for char in left if char.isalnum()))
    return letters_of(left)
