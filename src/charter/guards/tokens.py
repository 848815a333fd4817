"""The words of a folded text and where they stand in it, whatever its script.

Han, Kana and Thai write no spaces, so there every character is a word of its own.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import accumulate
from typing import Final, NamedTuple

_LONG: Final = 200  # characters of a text whose words are kept for a while
_ALONE: Final = (
    r"\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    r"\uff66-\uff9f\U00020000-\U0003ffff"
)
_SPELT: Final = r"\u0900-\u0963\u0966-\u0dff\u0300-\u036f"  # vowel signs that are no letters
_APART: Final = re.compile(
    rf"([^\W_{_ALONE}]++(?:['{_SPELT}](?:(?<!')|(?=[^\W_]))[^\W_{_ALONE}]*+)*+|[{_ALONE}])"
)  # words, and between them what is none
_APART_ASCII: Final = re.compile(r"([A-Za-z0-9]++(?:'[A-Za-z0-9]++)*+)")


class Tokens(NamedTuple):
    """The words of a folded text and where they stand in it."""

    words: Sequence[str]
    starts: Sequence[int]
    ends: Sequence[int]


def apart(text: str) -> list[str]:
    """A folded text taken apart: what is before the first word, that word, what is between it and the next, …"""
    if text.isascii():
        return _APART_ASCII.split(text)
    parts = [""]
    for line in text.replace("’", "'").splitlines(keepends=True):  # no word goes over the end of a line
        before, *others = (_APART_ASCII if line.isascii() else _APART).split(line)
        parts[-1] += before
        parts += others
    return parts


def tokens_of(text: str) -> Tokens:
    """The words of a folded text."""
    return _kept(text) if len(text) > _LONG else tokens_in(apart(text))


def tokens_in(parts: Sequence[str]) -> Tokens:
    """The words of a text that was taken apart."""
    places = tuple(accumulate(map(len, parts)))
    return Tokens(tuple(parts[1::2]), places[:-1:2], places[1::2])


@lru_cache(maxsize=8)
def _kept(text: str) -> Tokens:
    """The words of a long text, which is read for several reasons."""
    return tokens_in(apart(text))
