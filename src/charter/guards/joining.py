"""What was taken apart is put together, and what changed is told: s p a c e d letters, hy-phen-ated words, sys tem."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import pairwise
from typing import Final

from .decode import CLOSELY, vocabulary

LONGEST_RUN: Final = 400  # letters of a spaced run that are put into words again

Edit = tuple[int, int, int, int]  # a stretch of the parent and what became of it: start, end, start, end
_BETWEEN: Final = r"[ \t\-._*~·•|/\\,+=:]{1,3}|\n"
_SPACED: Final = re.compile(rf"(?<![^\W_])[^\W_](?:(?:{_BETWEEN})[^\W_](?![^\W_])){{3,}}+")
_INSIDE: Final = re.compile(r"(?<=[^\W\d_])(?:[-._*~`/\\|+=·•^]{1,2}|-\n)(?=[^\W\d_])")
_LETTERS: Final = re.compile(r"[^\W\d_]+")
_APART: Final = re.compile(rf"({_BETWEEN})")


def joined(text: str) -> tuple[str, Sequence[Edit]]:
    """The text with spaced letters joined into words, words put together that were taken apart, and what changed."""
    changes = [(*found.span(), _words(found.group())) for found in _SPACED.finditer(text)]
    taken = [(start, end) for start, end, _ in changes]
    changes += [(*found.span(), "") for found in _INSIDE.finditer(text) if not _within(taken, found.start())]
    if len(text) <= CLOSELY:
        changes += [change for change in _pieced(text) if not _within(taken, change[0])]
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
    usual = max(set(between), key=lambda sep: (between.count(sep), -len(sep))) if len(set(between)) < 9 else " "
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


def _pieced(text: str) -> Iterator[tuple[int, int, str]]:
    """Neighbours that only together are a word of ours: "sys tem", "instruc tions"."""
    known = vocabulary()
    words = _LETTERS.findall(text)
    pairs = list(map("".join, pairwise(words)))
    whole = [(at, 2) for at, pair in enumerate(pairs) if pair in known]
    whole += [(at, 3) for at, three in enumerate(map("".join, zip(pairs, words[2:], strict=False))) if three in known]
    whole = [(at, more) for at, more in whole if known.isdisjoint(words[at : at + more])]
    if not whole:
        return
    found = list(_LETTERS.finditer(text))
    for at, more in whole:
        joined = "".join(words[at : at + more])
        if len(joined) > 5:
            yield found[at].start(), found[at + more - 1].end(), joined
