"""Hidden words are found with others between them, in reverse, shuffled, or in pieces all over a session."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import deque
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Final, NamedTuple

from .leak_index import FREQUENT, Index
from .leak_read import Reading, fold, read
from .leak_runs import Trace, letter_traces

GAP: Final = 5  # a hidden word may come so many words after the one before
_SKIP: Final = ((1, 0.0), (2, 8.0), (3, 12.0))  # hidden words left out, and what that costs
_FILLER: Final = 0.4  # what a word between them costs
_LIGHT: Final = 2.5
_BREAK: Final = re.compile(r"\n")
_HOLE: Final = 3  # hidden words that may be missing between two pieces
_RISING: Final = 0.75  # of neighbours that stand in their order where it is gone
_DENSE: Final = 0.42  # of a reply that is hidden text, when it is there for that
_SHARE: Final = 0.9  # of a sentence's weight that has to be there when its order is gone


class Chain(NamedTuple):
    """Hidden words in their order: how much they give away, how many they are, and where they stand."""

    score: float
    size: int
    first: int  # hidden words
    last: int
    start: int  # words of the reply
    end: int


def chains(index: Index, words: Sequence[str], bits: Sequence[float]) -> Iterator[Chain]:
    """Chains of three words and more, each as it grows; a word that carries no weight begins none."""
    hidden, where, size = index.reading.words, index.where, len(index.reading.words)
    live: dict[int, tuple[float, int, int, int, int]] = {}  # by the last hidden word, as in Chain, without that
    recent: list[tuple[int, int]] = []
    for at, word in enumerate(words):
        found = where.get(word)
        if found is None:
            continue
        if len(found) > FREQUENT:
            recent = [pair for pair in recent if at - pair[0] <= GAP]
            after = {place + skipped for _, place in recent for skipped, _ in _SKIP}
            found = [place for place in after if place < size and hidden[place] == word]
        for place in found:
            weight = bits[place]
            counts = index.counts[place]
            best = (weight, counts, place, at, at)
            for skipped, cost in _SKIP:
                before = live.get(place - skipped)
                if before is not None and 0 < at - before[4] <= GAP:
                    score = before[0] + weight - cost - _FILLER * (at - before[4] - 1)
                    if score > best[0]:
                        best = (score, before[1] + counts, before[2], before[3], at)
            live[place] = best
            if best[2] < place or weight > _LIGHT:
                recent.append((at, place))
            if best[1] > 2:
                yield Chain(best[0], best[1], best[2], place, best[3], at)


def chain_traces(
    index: Index, reading: Reading, bits: Sequence[float], *, folded: str, least: float, count: int
) -> Iterator[Trace]:
    """Chains that weigh enough: of all words forwards and backwards, of the first or last words of lines."""
    words = reading.words
    for way, chosen in _orders(reading, folded):
        eased = 1 if "lines" in way else 0  # nobody begins lines so by chance
        for chain in chains(index, [words[at] for at in chosen], bits):
            if chain.score >= least - 8 * eased and chain.size >= count - eased:
                start, end = sorted((chosen[chain.start], chosen[chain.end]))
                yield Trace(way, chain.first, chain.last + 1, reading.starts[start], reading.ends[end])


def _orders(reading: Reading, folded: str) -> Iterator[tuple[str, Sequence[int]]]:
    every = range(len(reading.words))
    yield "words", every
    yield "words reversed", every[::-1]
    breaks = [found.start() for found in _BREAK.finditer(folded)]
    if len(breaks) >= 5:
        heads = sorted({bisect_left(reading.starts, at) for at in (0, *breaks)} - {len(every)})
        yield "first words of lines", heads
        yield "last words of lines", [*(at - 1 for at in heads[1:]), every[-1]]


def bag_traces(index: Index, reading: Reading, bits: Sequence[float], *, least: float) -> Iterator[Trace]:
    """Sentences all of whose words stand together, in any order."""
    recent: dict[int, deque[int]] = {}
    for at, word in enumerate(reading.words):
        for number in index.within.get(word, ()):
            first, last = index.sentences[number]
            places = recent.setdefault(number, deque())
            places.append(at)
            reach = (last - first) * 4 // 3 + 3
            while at - places[0] > reach:
                places.popleft()
            if len(places) >= max(3, _SHARE * index.contents[number]):
                here = slice(max(0, places[0] - reach // 3), at + 1 + reach // 3)  # function words may stand around
                if _bag(index, number, reading.words[here], bits, least):
                    yield Trace("shuffled", first, last, reading.starts[places[0]], reading.ends[at])
                    places.clear()


def _bag(index: Index, number: int, words: Sequence[str], bits: Sequence[float], least: float) -> bool:
    """Whether nearly all of a sentence is there, and not in its order: that is for chains to judge."""
    first, last = index.sentences[number]
    places = {index.reading.words[place]: place for place in range(last - 1, first - 1, -1)}
    order = [places[word] for word in dict.fromkeys(words) if word in places]
    if len(order) < max(6, _SHARE * len(places)):
        return False
    weight, whole = sum(bits[place] for place in order), sum(bits[place] for place in places.values())
    rising = sum(a < b for a, b in pairwise(order))
    return weight >= max(least, _SHARE * whole) and rising <= _RISING * (len(order) - 1)


class Fragment(NamedTuple):
    """A few hidden words, `first` to `last` (exclusive), at characters `start` to `end` of a folded text."""

    first: int
    last: int
    start: int
    end: int


class Pieces(NamedTuple):
    """The fragments of one reply in its order, and whether they are much of what it says."""

    found: Sequence[Fragment]
    dense: bool


def fragments(index: Index, reading: Reading) -> Pieces:
    """Short runs of hidden letters in a text."""
    found = [trace for trace in letter_traces(index, reading, index.letters.size) if trace.last - trace.first > 1]
    offsets = index.reading.offsets
    covered = sum(offsets[trace.last] - offsets[trace.first] for trace in found)
    return Pieces([Fragment(*trace[1:]) for trace in found], covered >= _DENSE * len(reading.letters))


@lru_cache(maxsize=256)
def fragments_in(index: Index, text: str) -> Pieces:
    """The same for an earlier reply, remembered."""
    return fragments(index, read(fold(text)))


class _Joined(NamedTuple):
    weight: float
    first: int  # hidden word
    words: int
    pieces: int
    dense: bool
    since: int  # the reply of the first piece


def split_traces(
    index: Index, replies: Sequence[Pieces], bits: Sequence[float], *, least: tuple[float, float], count: int
) -> Iterator[Trace]:
    """Stretches of the hidden text that come piece by piece, in their order; the last piece is in the last reply.

    Less is needed (the second of `least`) when several replies say little else.
    """
    best: dict[int, _Joined] = {}  # by their end
    for number, (found, dense) in enumerate(replies):
        for first, last, start, end in found:
            size = sum(index.counts[first:last])
            joined = _Joined(sum(bits[first:last]), first, size, 1, dense, number)
            for before in range(max(first - _HOLE, 0), first + 2):
                old = best.get(before)
                if old is not None and old.first < first:
                    weight = old.weight + sum(bits[max(first, before) : last]) - abs(first - before)
                    joined = max(
                        joined,
                        _Joined(weight, old.first, old.words + size, old.pieces + 1, old.dense and dense, old.since),
                    )
            if last not in best or best[last].weight < joined.weight:
                best[last] = joined
            enough = joined.weight >= least[joined.dense and joined.since < number] and joined.words >= count
            if number == len(replies) - 1 and joined.pieces > 1 and enough:
                yield Trace("pieces", joined.first, last, start, end)
