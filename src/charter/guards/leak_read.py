"""A text as the leak guard reads it: its words, and its letters without anything between them.

Letters are folded so far that disguises vanish: look-alikes, case, accents, and the digits people write for letters. A
Han character counts as three letters and a Kana or Hangul one as two, so one length means the same in every script.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import accumulate
from typing import Final

from .fold import plain, skeleton
from .lexicon import apart, tokens_in, tokens_of

_ALIKE: Final = tuple(zip("013456789l2", "oieasgtbgiz", strict=True))
_UNMASKED: Final = str.maketrans(dict(_ALIKE))
_BETWEEN: Final = re.compile(r"[\W_][\W_]*+")
_BLOCKS: Final = re.compile(r"([\u3400-\u9fff\U00020000-\U0003ffff]+)|[\u3040-\u30ff\uac00-\ud7a3]+")
_BLOCK: Final = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3\U00020000-\U0003ffff]")
_BEYOND: Final = re.compile(r"[^\x00-\x7f]+(?:[ ,.-]{1,2}[^\x00-\x7f]+)*+")
_ESCAPED: Final = re.compile(r"\\[nrt]")
_VOWELS: Final = re.compile("[aeiouyаеиоуыэюяіїєωηαεοιυ]+")


def spelled(folded: str) -> str:
    """The letters and digits of a folded text, each as often as it counts; marks that are vowels do not count."""
    bare = _BETWEEN.sub("", "".join(folded.split()))
    return bare if bare.isascii() or _BLOCK.search(bare) is None else _BLOCKS.sub(_widened, bare)


def _widened(found: re.Match[str]) -> str:
    times = 2 if found[1] is None else 3
    return "".join([char * times for char in found.group()])


_spelled = lru_cache(maxsize=32_768)(spelled)  # for words, which come again


def letters_of(folded: str) -> str:
    """The letters of a folded text, as they are compared."""
    return _unmasked(spelled(folded))


def _unmasked(letters: str) -> str:
    if letters.isascii():
        return letters.translate(_UNMASKED)
    for digit, letter in _ALIKE:  # much faster than a table, for a text that is not all ASCII
        letters = letters.replace(digit, letter)
    return letters


@dataclass(frozen=True)
class Reading:
    """Words with their places in the folded text, and all letters with the place of each word among them."""

    words: Sequence[str] = field(repr=False)
    starts: Sequence[int] = field(repr=False)
    ends: Sequence[int] = field(repr=False)
    letters: str = field(repr=False)
    spelled: str = field(repr=False)  # the same, digits being digits
    offsets: Sequence[int] = field(repr=False)  # one for each word, and the end
    pieces: Sequence[str] = field(repr=False, default=())  # of `spelled`, one for each word
    leading: Sequence[int] = field(repr=False, default=())  # words that stand first between two spaces

    @cached_property
    def parts(self) -> list[str]:
        """The letters of each word."""
        return _unmasked(" ".join(self.pieces)).split(" ") if self.pieces else []

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
    folded = _BEYOND.sub(lambda found: skeleton(found.group()), text)
    return _ESCAPED.sub("\n ", folded) if "\\" in folded else folded


def read(folded: str) -> Reading:
    """A text that was folded."""
    parts = apart(folded)
    words, starts, ends = tokens_in(parts)
    pieces = words if folded.isascii() and "'" not in folded else [*map(_spelled, words)]
    whole = "".join(pieces)
    return Reading(words, starts, ends, _unmasked(whole), whole, places(pieces), pieces, leaders(parts))


def leaders(parts: Sequence[str]) -> list[int]:
    """The words that stand first between two spaces: `long` of "long-term", `save` of "save_memory"."""
    gaps = enumerate(parts[2:-1:2], 1)
    later = [at for at, gap in gaps if gap == " " or not gap or not gap.isprintable() or " " in gap]
    return [0, *later] if len(parts) > 1 else []


def places(parts: Iterable[str]) -> list[int]:
    """Where each part begins when all are written together, and where the last one ends."""
    return [0, *accumulate(map(len, parts))]


def bare_parts(plain: str) -> list[str]:
    """The letters of each word of a plain text without vowels, and without the marks that are vowels elsewhere.

    Vowels go before look-alikes are folded: a Cyrillic и looks like a consonant then.
    """
    return [*map(_bare, tokens_of(_ESCAPED.sub("\n ", plain)).words)]


def consonants(written: str) -> str:
    """The same for Latin letters without anything between them."""
    return _unmasked(_VOWELS.sub("", written))


@lru_cache(maxsize=16_384)
def _bare(word: str) -> str:
    left = _VOWELS.sub("", word)
    if not left.isascii():
        left = skeleton("".join(char for char in left if char.isalnum()))
    return letters_of(left)
