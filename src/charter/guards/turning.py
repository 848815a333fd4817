"""Turned texts (shifted, backwards, in Pig Latin) are tried only where words of ours stand in them, turned so."""

from __future__ import annotations

import re
import string
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Final

from .decode import CLOSELY, keys, shift, vocabulary

_LOWER, _UPPER = string.ascii_lowercase, string.ascii_uppercase
_ATBASH: Final = str.maketrans(_LOWER + _UPPER, _LOWER[::-1] + _UPPER[::-1])
_PIG: Final = re.compile(r"\b([a-z]{3,12})ay\b", re.IGNORECASE)
_AY: Final = re.compile(r"[aA](?<=\w\w\w[aA])[yY]\b")
_PIG_LAST: Final = re.compile(r"\b([a-z]{3,12})ay\Z", re.IGNORECASE)
_PIG_WORD: Final = 15  # characters: a word of Pig Latin and one before it

Turn = Callable[[str], str]


@cache
def ways() -> Mapping[str, Turn]:
    """Each way to turn a text back, by its name."""
    turns: dict[str, Turn] = {"reversed": lambda text: text[::-1], "atbash": _translating(_ATBASH)}
    return turns | {"rot13" if by == 13 else f"caesar{by}": _translating(shift(by)) for by in range(1, 26)}


@cache
def _turns() -> tuple[Mapping[str, Sequence[str]], frozenset[str]]:
    """Words of ours as they stand in turned texts, with the ways to turn them back; those that are not ours too."""
    latin = [word for word in keys() if word.isascii() and len(word) > 3]
    words: dict[str, list[str]] = defaultdict(list)
    for word in keys():
        if len(word) > 3:
            words[word[::-1]].append("reversed")
    for word in latin:
        words[word.translate(_ATBASH)].append("atbash")
    for by in range(1, 26):
        name = "rot13" if by == 13 else f"caesar{by}"
        for word in latin:
            words[word.translate(shift(26 - by))].append(name)
    # Tuples, because the collector of garbage takes no notice of them.
    return {word: tuple(names) for word, names in words.items()}, frozenset(words) - vocabulary()


def _translating(table: dict[int, int]) -> Turn:
    return lambda text: text.translate(table)


def turned(text: str, words: Iterable[str]) -> Iterator[tuple[str, str]]:
    """(name, text) for each way of turning in which at least two words of ours come out; `words`: the plain text's."""
    theirs, strange = _turns()
    seen = Counter(name for word in strange.intersection(words) for name in theirs[word])
    for name in sorted(name for name, count in seen.items() if count > 1):
        yield name, ways()[name](text)
        if name == "reversed" and len(text) <= CLOSELY:
            yield "backwards", re.sub(r"[^\W\d_]+", lambda found: found.group()[::-1], text)
    if len(text) <= CLOSELY and len(found := _piglike(text)) > 1:
        known = vocabulary(3)
        if sum(_unpigged(word, known) is not None for word in found) > 1:
            yield "pig", _PIG.sub(lambda match: _unpigged(match[1], known) or match[0], text)


def _piglike(text: str) -> list[str]:
    """Words that end in "ay", without it."""
    ends = (found.end() for found in _AY.finditer(text))
    found = (_PIG_LAST.search(text[max(end - _PIG_WORD, 0) : end]) for end in ends)
    return [word[1] for word in found if word is not None]


def _unpigged(stem: str, known: frozenset[str]) -> str | None:
    """A word of Pig Latin, without its "ay", as it was, when that is a word of ours."""
    word = stem.lower()
    ways = [word[-size:] + word[:-size] for size in (1, 2, 3)] + [word.rstrip("wyh")]
    return next((way for way in ways if way in known), None)
