"""What was taken apart is put together, and what changed is told: s p a c e d letters, hy-phen-ated words, sys tem."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence, Set
from functools import cache
from itertools import compress
from typing import Final

from .decode import CLOSELY, vocabulary

_WHOLE: Final = 6  # letters of a word that is put together, at the least
LONGEST_RUN: Final = 400  # letters of a spaced run that are put into words again

Edit = tuple[int, int, int, int]  # a stretch of the parent and what became of it: start, end, start, end
_BETWEEN: Final = r"[ \t\-._*~·•|/\\,+=:]{1,3}|\n"
_SPACED: Final = re.compile(rf"(?<![^\W_])[^\W_](?:(?:{_BETWEEN})[^\W_](?![^\W_])){{3,}}+")
_SEPARATOR: Final = r"[ \t\-._*~·•|/\\,+=:\n]"
_ALONE: Final = re.compile(rf"{_SEPARATOR}(?:[^\W_]{_SEPARATOR}{{1,3}}){{2}}[^\W_](?![^\W_])")  # in each run of these
_INSIDE: Final = re.compile(r"[-._*~`/\\|+=·•^](?<=[^\W\d_].)(?:[-._*~`/\\|+=·•^]|(?<=-)\n)?(?=[^\W\d_])")
_LETTERS: Final = re.compile(r"[^\W\d_]+")
_PARTED: Final = {code: " " for code in range(128) if not chr(code).isalpha()}
_APART: Final = re.compile(rf"({_BETWEEN})")


def words_of(text: str) -> list[str]:
    """Letters in a row."""
    if text.isascii():
        return text.translate(_PARTED).split()
    lines = text.split("\n")  # most of them are ASCII
    return [word for line in lines for word in (words_of(line) if line.isascii() else _LETTERS.findall(line))]


def joined(text: str, words: Sequence[str]) -> tuple[str, Sequence[Edit]]:
    """The text, of these words, with spaced letters joined, with words put together, and what changed."""
    spaced = _SPACED.finditer(text) if _ALONE.search(text) else ()
    changes = [(*found.span(), _words(found.group())) for found in spaced]
    taken = [(start, end) for start, end, _ in changes]
    changes += [(*found.span(), "") for found in _INSIDE.finditer(text) if not _within(taken, found.start())]
    if len(text) <= CLOSELY:
        changes += [change for change in _pieced(text, words) if not _within(taken, change[0])]
    parts: list[str] = []
    edits: list[Edit] = []
    at = size = 0
    for start, end, new in sorted(changes):
        if start < at:
            continue
        parts += [text[at:start], new]
        size += start - at
        edits.append((start, end, size, size + len(new)))
        size += len(new)
        at = end
    return "".join([*parts, text[at:]]), edits


def _within(taken: Sequence[tuple[int, int]], at: int) -> bool:
    place = bisect_right(taken, (at, 1 << 62)) - 1
    return place >= 0 and taken[place][0] <= at < taken[place][1]


def _words(run: str) -> str:
    """A run of single letters as words: what separates most is nothing, what separates more is a space."""
    letters, between = _APART.split(run)[::2], _APART.split(run)[1::2]
    kinds = dict.fromkeys(between)  # in the order of the text, so that of two as usual the first counts
    usual = max(kinds, key=lambda sep: (between.count(sep), -len(sep))) if len(kinds) < 9 else " "
    joined = letters[0] + "".join(
        ("" if sep == usual or len(sep) < len(usual) else " ") + letter
        for sep, letter in zip(between, letters[1:], strict=True)
    )
    return joined if " " in joined else _segmented(joined)


@cache
def _simple_words() -> frozenset[str]:
    """Words of ours that are not two of them in one."""
    known = vocabulary(1)
    return frozenset(
        word for word in known if not any(word[:at] in known and word[at:] in known for at in range(4, len(word) - 3))
    )


def _segmented(letters: str) -> str:
    """Letters without a space as words of ours, where they are such words."""
    known = _simple_words()
    size = min(len(letters), LONGEST_RUN)
    best: list[tuple[float, int]] = [(0.0, 0)]
    for end in range(1, size + 1):
        cost, start = best[end - 1][0] + 2.0, end - 1
        for begin in range(max(0, end - 16), end):
            if letters[begin:end] in known and best[begin][0] + 1.0 + (end - begin == 1) < cost:
                cost, start = best[begin][0] + 1.0 + (end - begin == 1), begin
        best.append((cost, start))
    words, end = [letters[size:]] if size < len(letters) else [], size
    while end > 0:
        start = best[end][1]
        words.append(letters[start:end])
        end = start
    return " ".join(reversed(words))


@cache
def _beginnings() -> tuple[frozenset[str], frozenset[str]]:
    """What words of ours begin with; and those of them that are no such words themselves."""
    all_ = frozenset(word[:at] for word in vocabulary(_WHOLE) for at in range(1, len(word)))
    return all_, all_ - vocabulary()


def _pieced(text: str, words: Sequence[str]) -> Iterator[tuple[int, int, str]]:
    """Neighbours that only together are a word of ours: "sys tem", "instruc tions"."""
    known, whole, (begun, firsts) = vocabulary(), vocabulary(_WHOLE), _beginnings()
    found: list[tuple[int, int, str]] = []
    begins = compress(range(len(words) - 1), map(firsts.__contains__, words))
    for at in [at for at in begins if words[at + 1] not in known]:
        two = words[at] + words[at + 1]
        if two in whole:
            found.append((at, at + 1, two))
        if two in begun and at + 2 < len(words) and (three := two + words[at + 2]) in whole:
            found += [] if words[at + 2] in known else [(at, at + 2, three)]
    if found:
        spans = _spans(text, {at for first, last, _ in found for at in (first, last)})
        for first, last, joined in found:
            yield spans[first][0], spans[last][1], joined


def _spans(text: str, wanted: Set[int]) -> dict[int, tuple[int, int]]:
    """Where some words stand, by their numbers; only the lines that hold them are looked at closely."""
    spans: dict[int, tuple[int, int]] = {}
    number = start = 0
    for line in text.split("\n"):
        after = number + len(words_of(line))
        if not wanted.isdisjoint(range(number, after)):
            matches = _LETTERS.finditer(text, start, start + len(line))
            spans.update((at, found.span()) for at, found in enumerate(matches, number) if at in wanted)
            if len(spans) == len(wanted):
                break
        number, start = after, start + len(line) + 1
    return spans
