"""Hidden letters in a row are found plain, backwards, without vowels, shifted, as initials or at heads of lines."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from operator import eq, itemgetter
from typing import Final, NamedTuple

from .leak_index import Grams, Index, steps_of
from .leak_read import Reading, bare_parts, consonants, letters_of, places, spelled

LETTERS: Final = 30  # letters in a row that are looked for; what is shorter is judged with its neighbours
BARE: Final = 18
SHIFTED: Final = 16
INITIALS: Final = 8
SURE_INITIALS: Final = 12
ACROSTIC: Final = 16
_FEW: Final = 0.8  # of the letters are consonants where vowels were dropped
_OTHERS: Final = 3  # words that are not the hidden ones where only their initials are
_CYRILLIC: Final = re.compile(r"[\u0400-\u04ff\u0370-\u03ff]")
_LINE: Final = re.compile(r"[^\n]+")
_STOP: Final = re.compile(r"[.!?。！？\n][.!?。！？\n]*+")
_head, _tail = itemgetter(slice(0, 1)), itemgetter(slice(-1, None))


class Trace(NamedTuple):
    """Words of the hidden text, `first` to `last` (exclusive), that show at `start` to `end` of a view, and how."""

    way: str
    first: int
    last: int
    start: int
    end: int


class Run(NamedTuple):
    start: int
    end: int
    place: int  # where it begins in the hidden letters

    @property
    def size(self) -> int:
        return self.end - self.start


def runs(letters: str, grams: Grams, least: int) -> Iterator[Run]:
    """The longest common runs of at least `least` letters; every one that long is met, some shorter ones too."""
    if len(letters) < least:
        return
    size, stride = grams.size, max(least - grams.size + 1, 1)
    known = grams.last
    at = 0
    for first, last in grams.tries(letters, stride):
        at = max(at, first)
        while at <= last:
            gram = letters[at : at + size]
            if gram not in known:
                at += stride
                continue
            best = _longest(letters, at, gram, grams)
            if best.end - best.start >= least:
                yield best
            at = max(at + stride, best.end)


def _longest(letters: str, at: int, gram: str, grams: Grams) -> Run:
    """The longest run around a stretch that stands at this place."""
    best = Run(at, at, 0)
    for place in grams.at(gram):
        back = alike_before(letters, at, grams.text, place)
        more = grams.size + _alike(letters, at + grams.size, grams.text, place + grams.size)
        if more + back > best.end - best.start:
            best = Run(at - back, at + more, place - back)
    return best


def _alike(a: str, i: int, b: str, j: int) -> int:
    """How many letters agree from here on."""
    size = 0
    most = min(len(a) - i, len(b) - j)
    while size + 64 <= most and a[i + size : i + size + 64] == b[j + size : j + size + 64]:
        size += 64
    while size < most and a[i + size] == b[j + size]:
        size += 1
    return size


def alike_before(a: str, i: int, b: str, j: int) -> int:
    """How many letters agree before here."""
    size = 0
    most = min(i, j)
    while size < most and a[i - size - 1] == b[j - size - 1]:
        size += 1
    return size


def letter_traces(index: Index, reading: Reading, least: int = LETTERS) -> Iterator[Trace]:
    """Letters in their order, whatever stands between them."""
    for run in runs(reading.letters, index.letters, least):
        yield _traced("letters", index, reading, run, index.words_between(run.place, run.place + run.size))


def turned_traces(index: Index, reading: Reading, folded: str) -> Iterator[Trace]:
    """Letters backwards, every word backwards, or in a shifted or mirrored alphabet."""
    if len(reading.letters) >= LETTERS:
        yield from _reversed_traces(index, reading, folded)
    yield from _shifted_traces(index, reading)


def _reversed_traces(index: Index, reading: Reading, folded: str) -> Iterator[Trace]:
    whole = len(index.reading.letters)
    for run in runs(reading.letters, index.backward, LETTERS):
        words = index.words_between(whole - run.place - (run.size), whole - run.place)
        yield _traced("reversed", index, reading, run, words)
    each = "".join(" ".join(reading.parts)[::-1].split(" ")[::-1])
    texts = [each]
    if not folded.isascii() or len(reading.leading) < len(reading.words):  # else a word stands between two spaces
        between_spaces = letters_of(" ".join(folded[::-1].split()[::-1]))
        texts += [between_spaces] if between_spaces != each else []
    for text in texts:
        for run in runs(text, index.letters, LETTERS):
            yield _traced("reversed words", index, reading, run, index.words_between(run.place, run.place + run.size))


def _shifted_traces(index: Index, reading: Reading) -> Iterator[Trace]:
    steps = steps_of(reading.spelled)
    mirrored = steps.translate(_MIRROR)
    hidden, written = index.reading.spelled, reading.spelled
    for run in _both(steps, mirrored, index):
        if not _same(written[run.start : run.end], hidden[run.place :]):
            yield _traced("shifted", index, reading, run, index.words_between(run.place, run.place + run.size + 1))
    # Backwards every step is the other way round, so the turned steps are those of the text read from its end.
    for back in _both(mirrored[::-1], steps[::-1], index):
        run = Run(len(steps) - back.end, len(steps) - back.start, back.place)
        if not _same(written[run.start + 1 : run.end + 1][::-1], hidden[back.place :]):
            yield _traced("shifted", index, reading, run, index.words_between(back.place, back.place + back.size + 1))


def _same(written: str, hidden: str) -> bool:
    """Whether letters are the hidden ones as they are, not shifted at all."""
    return 2 * len([1 for a, b in zip(written, hidden, strict=False) if a == b]) > len(written)


def _both(steps: str, mirrored: str, index: Index) -> Iterator[Run]:
    yield from runs(steps, index.steps, SHIFTED)
    yield from runs(mirrored, index.steps, SHIFTED)


_ALPHABET: Final = "abcdefghijklmnopqrstuvwxyz"
_MIRROR: Final = str.maketrans(_ALPHABET, "a" + _ALPHABET[:0:-1])


def bare_traces(index: Index, reading: Reading, plain: str) -> Iterator[Trace]:
    """Consonants in their order: vowels were dropped, or other ones put in."""
    parts = bare_parts(plain) if _CYRILLIC.search(plain) else None  # there folding makes consonants of vowels
    bare = consonants(reading.spelled) if parts is None else "".join(parts)
    found = list(runs(bare, index.bare, BARE))
    offsets = places(parts or map(consonants, map(spelled, reading.words))) if found else ()
    for run in found:
        words = _words_of(index.bare_offsets, run.place, run.place + run.size)
        first, last = _words_of(offsets, run.start, run.end)
        if first < last <= len(reading.words):
            # A script without vowels has none to drop.
            here, there = (
                text.offsets[b] - text.offsets[a] for text, a, b in ((reading, first, last), (index.reading, *words))
            )
            way = "vowels dropped" if here * _FEW < run.size < there * _FEW else "letters"
            yield Trace(way, *words, reading.starts[first], reading.ends[last - 1])


def _words_of(offsets: Sequence[int], start: int, end: int) -> tuple[int, int]:
    first = bisect_left(offsets, start)
    return first, max(first, bisect_right(offsets, end) - 1)


def initial_traces(index: Index, reading: Reading) -> Iterator[Trace]:
    """First letters of the hidden words: alone, in a row, or each at the head of a word that is there instead."""
    short, heads = [*reading.parts], [*map(_head, reading.parts)]
    for at in [at for at, word in enumerate(reading.words) if word.isdecimal()]:
        short[at] = heads[at]
    every, leading = range(len(short)), reading.leading
    ways: list[tuple[list[str], Sequence[int], bool]] = [(short, every, True), (heads, every, False)]
    if len(leading) < len(short):
        ways.append(([heads[at] for at in leading], leading, False))
    for pieces, chosen, alone in ways:
        letters, offsets = "".join(pieces), places(pieces)
        grams = [letters[at : at + INITIALS] for at in offsets]
        for table in index.initials:
            if table[0].last.keys().isdisjoint(grams):
                continue
            for start, end, first, last in _initials(index, table, letters, offsets=offsets):
                words = [reading.words[place] for place in chosen[start : end + 1]]
                same = sum(map(eq, words, index.reading.words[first:last]))
                if alone or len(words) - same >= _OTHERS:
                    yield Trace("initials", first, last, reading.starts[chosen[start]], reading.ends[chosen[end]])


def _initials(
    index: Index, table: tuple[Grams, Sequence[int]], letters: str, *, offsets: Sequence[int]
) -> Iterator[tuple[int, int, int, int]]:
    """Runs that begin with a piece. A short one has to be a sentence from its start, and end with a piece."""
    grams, words = table
    done = 0
    for number in [n for n, at in enumerate(offsets) if letters[at : at + INITIALS] in grams.last]:
        at = offsets[number]
        for place in grams.at(letters[at : at + INITIALS]) if at >= done else ():
            size = INITIALS + _alike(letters, at + INITIALS, grams.text, place + INITIALS)
            last = bisect_left(offsets, at + size)
            if size >= SURE_INITIALS or (words[place] in index.starts and offsets[last] == at + size):
                done = at + size
                yield number, last - 1, words[place], words[place + size - 1] + 1
                break


def acrostic_traces(index: Index, reading: Reading, folded: str) -> Iterator[Trace]:
    """Hidden letters, one at the head or the end of each word, sentence or line."""
    parts, starts = reading.parts, reading.starts
    if len(parts) < ACROSTIC:
        return
    lines = [found.start() for found in _LINE.finditer(folded)]
    sentences = [0, *(found.end() for found in _STOP.finditer(folded))]
    for begun in (starts, sentences, lines):
        if len(begun) < ACROSTIC:
            continue
        chosen = range(len(parts)) if begun is starts else _words_at(starts, begun)
        heads = [parts[place] for place in chosen]
        for text in ("".join(map(_head, heads)), "".join(map(_tail, heads))):
            for run in runs(text, index.letters, ACROSTIC):
                words = index.words_between(run.place, run.place + run.size)
                yield Trace("acrostic", *words, starts[chosen[run.start]], reading.ends[chosen[run.end - 1]])


def _words_at(starts: Sequence[int], places: Iterable[int]) -> list[int]:
    """The words that stand at these places or behind them, each once."""
    return sorted({bisect_left(starts, place) for place in places} - {len(starts)})


def _traced(way: str, index: Index, reading: Reading, run: Run, words: tuple[int, int]) -> Trace:
    return Trace(way, *words, *reading.between(run.start, run.end))
