"""A text as a model may read it: folded, joined, unmasked and decoded to depth two, each view computed once.

A view knows where its characters come from, so what is found in it can be shown in the text as it was written. The
work is bounded: views together are a small multiple of the text, and what no longer fits is left out and said so.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, compress
from operator import ne
from typing import Final, NamedTuple

from .decode import CLOSELY, DECODERS, may_be_coded, vocabulary
from .fold import is_unlike, plain, skeleton, widths
from .hidden import find_hidden
from .joining import Edit, joined, words_of
from .turning import turned

__all__ = ["View", "Views", "plain", "skeleton", "views_of"]

DEPTH: Final = 2
TIMES, AND_MORE = 2, 24_000  # views may hold so many times the text's characters, and so many more
MOST: Final = 48

Back = Callable[[int, int], tuple[int, int]]


@dataclass(frozen=True, slots=True)
class View:
    """One reading of a text: folded to lower case without accents. `at` leads back into the text as it was."""

    name: str
    text: str = field(repr=False)
    _back: Back = field(repr=False, compare=False)

    def at(self, start: int, end: int) -> tuple[int, int]:
        return self._back(start, end)


@dataclass(frozen=True, slots=True)
class Views:
    """All views, the plain one first; where hidden characters stood; whether views were left out for work's sake."""

    all: tuple[View, ...]
    hidden: tuple[tuple[int, int], ...]
    capped: bool = False

    @property
    def plain(self) -> View:
        return self.all[0]


class _Source(NamedTuple):
    """A text still to be read: how it was come by, its characters with their case, and the way back."""

    name: str
    text: str
    back: Back
    depth: int


class _Plain(NamedTuple):
    """A text folded, and its words: letters in a row."""

    text: str
    words: Sequence[str]


def _plainly(text: str) -> _Plain:
    folded = plain(text)
    return _Plain(folded, words_of(folded))


def _same(start: int, end: int) -> tuple[int, int]:
    return start, end


def views_of(text: str) -> Views:
    """Every reading of a text that differs from the others and may matter."""
    room = TIMES * len(text) + AND_MORE
    found: dict[str, View] = {}
    waiting = [_Source("", text, _same, 0)]
    capped = False
    while waiting:
        source = waiting.pop(0)
        if found and (len(source.text) > room or len(found) >= MOST):
            capped = True
            continue
        folded = _plainly(source.text)
        for view in _forms(source, folded):
            if view.text in found:
                continue
            if found and (len(view.text) > room or len(found) >= MOST):
                capped = True
                continue
            room -= len(view.text) if found else 0
            found[view.text] = view
        if source.depth < DEPTH and not capped:
            waiting += _decoded(source, folded)
    return Views(tuple(found.values()), find_hidden(text), capped or len(text) > CLOSELY)


# ── forms of one text ─────────────────────────────────────────────────────────────────────────────────────────────


def _forms(source: _Source, plainly: _Plain) -> Iterator[View]:
    text, (folded, words) = source.text, plainly
    yield View(source.name or "plain", folded, _then(_folding(text, skeletal=False), source.back))
    alike = skeleton(text) if is_unlike(text) else folded
    back = _then(_folding(text, skeletal=alike != folded), source.back)
    if alike != folded:
        places = _masked_letters(folded, alike)
        if places is None or places:
            yield _around(_named(source, "skeleton"), alike, places, back)
            folded, words = alike, words_of(alike)
        else:
            back = _then(_folding(text, skeletal=False), source.back)
    together, edits = joined(folded, words)
    if edits:
        folded, back = together, _then(_edited(edits), back)
        yield _around(_named(source, "joined"), folded, [edit[2] for edit in edits], back)
    for name, spelled, places in _unleet(folded):
        yield _around(_named(source, name), spelled, places, back)


# ── only what changed is read again ───────────────────────────────────────────────────────────────────────────────
_SENTENCE: Final = re.compile(r"[.!?。！？।؟\n](?:(?<=\n)|[.!?。！？।؟]*+\s)")
_WHOLE: Final = 600  # characters; a shorter text is read as a whole
_MIXED: Final = re.compile(r"[a-z](?:(?=[^\W\d_a-z])|(?<=[^\W\d_a-z][a-z]))")
_WORDS: Final = re.compile(r"[a-z]{4,}")
# Letters of scripts that people write in; a look-alike from elsewhere was chosen for its looks.
_UNWRITTEN: Final = re.compile(r"[^\u0370-\u058f\u05d0-\u0dff\u0e00-\u10ff\u1200-\u137f\u3040-\u9fff\uac00-\ud7a3]")


def _around(name: str, text: str, places: Sequence[int] | None, back: Back) -> View:
    """A view of the sentences in which something changed, with their neighbours; of everything where places is None."""
    if places is None or len(text) <= _WHOLE:
        return View(name, text, back)
    cuts = [0, *(found.end() for found in _SENTENCE.finditer(text)), len(text)]
    kept: list[tuple[int, int]] = []
    for place in places:
        at = bisect_right(cuts, place) - 1
        start, end = cuts[max(at - 1, 0)], cuts[min(at + 2, len(cuts) - 1)]
        if kept and start <= kept[-1][1]:
            kept[-1] = (kept[-1][0], max(end, kept[-1][1]))
        else:
            kept.append((start, end))
    parts = [text[start:end].rstrip("\n") + "\n" for start, end in kept]
    starts = [0, *accumulate(map(len, parts))]

    def one(at: int) -> int:
        part = min(bisect_right(starts, at) - 1, len(kept) - 1)
        return min(kept[part][0] + at - starts[part], kept[part][1])

    return View(
        name, "".join(parts), _then(lambda start, end: (one(start), min(one(max(end - 1, start)) + 1, len(text))), back)
    )


def _masked_letters(folded: str, alike: str) -> list[int] | None:
    """Where letters of one script stand for those of another; None when that cannot be said place by place."""
    if len(folded) != len(alike):
        return None
    known, places, start = vocabulary(), [], 0
    for end in [*(found.end() for found in _SENTENCE.finditer(folded)), len(folded)]:
        said, read = folded[start:end], alike[start:end]
        if said != read:
            strange = _UNWRITTEN.search("".join(compress(said, map(ne, said, read)))) is not None
            if strange or _MIXED.search(said) or len(known.intersection(_WORDS.findall(read))) > 1:
                places.append(start)
        start = end
    return places


def _named(source: _Source, form: str) -> str:
    return f"{source.name}>{form}" if source.name else form


_LEET: Final = str.maketrans("0134578@$!|+€", "oieastbasiite")
_LEET_L: Final = str.maketrans("1!|", "lll")
_MASKS: Final = r"[0134578@$!|+€]"
_MASKED: Final = re.compile(
    rf"{_MASKS}(?:(?<=[a-z][0134578@$€])[0134578@$€]*+|(?<!{_MASKS}{_MASKS}){_MASKS}*+(?=[a-z]))"
)
_BAR: Final = re.compile(r"[a-z][1!|]|[1!|][a-z]")


def _unleet(text: str) -> Iterator[tuple[str, str, list[int]]]:
    """Digits and signs that stand for letters, right beside one, and where; 1 may be an i or an l."""
    places = [found.start() for found in _MASKED.finditer(text)]
    if not places:
        return
    yield "leet", _MASKED.sub(lambda found: found.group().translate(_LEET), text), places
    if len(text) <= CLOSELY and _BAR.search(text):
        yield "leet l", _MASKED.sub(lambda found: found.group().translate(_LEET_L).translate(_LEET), text), places


# ── decoding ──────────────────────────────────────────────────────────────────────────────────────────────────────


def _decoded(source: _Source, folded: _Plain) -> Iterator[_Source]:
    """What stands in a text in another writing, one step deeper."""
    text, depth = source.text, source.depth + 1
    for name, decode in DECODERS if may_be_coded(text) else ():
        for start, end, meaning in decode(text):
            if meaning != text[start:end]:
                yield _Source(_named(source, name), meaning, _whole(source.back, start, end), depth)
    for name, meaning in turned(text, folded.words):
        if name == "reversed":
            back = _then(_mirrored(len(text)), source.back)
        else:
            back = source.back if len(meaning) == len(text) else _whole(source.back, 0, len(text))
        yield _Source(_named(source, name), meaning, back, depth)


# ── the way back ──────────────────────────────────────────────────────────────────────────────────────────────────


def _whole(back: Back, start: int, end: int) -> Back:
    return lambda _, __: back(start, end)


def _then(first: Back, second: Back) -> Back:
    return lambda start, end: second(*first(start, end))


def _mirrored(size: int) -> Back:
    return lambda start, end: (size - end, size - start)


def _folding(text: str, *, skeletal: bool) -> Back:
    sums: list[int] = []

    def back(start: int, end: int) -> tuple[int, int]:
        if not sums:
            sums.extend((0, *accumulate(widths(text, skeletal=skeletal))))
        last = len(text)
        return min(bisect_right(sums, start) - 1, last), min(bisect_right(sums, max(end - 1, start)), last)

    return back


def _edited(edits: Sequence[Edit]) -> Back:
    starts = [edit[2] for edit in edits]

    def one(at: int, *, is_end: bool) -> int:
        place = bisect_right(starts, at - is_end) - 1
        if place < 0:
            return at
        start, end, _, new_end = edits[place]
        if at - is_end < new_end:
            return end if is_end else start
        return end + at - new_end

    return lambda start, end: (one(start, is_end=False), one(max(end, start + 1), is_end=True))
