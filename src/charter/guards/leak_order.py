"""Hidden words are found with others between them, in reverse, shuffled within their sentence, or in pieces all over a session."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import deque
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from .leak_index import Index
from .leak_read import Reading, fold, read
from .leak_runs import Trace, letter_traces

GAP: Final = 5  # a hidden word may come so many words after the one before
_SKIP: Final = ((1, 0.0), (2, 6.0), (3, 9.0))  # hidden words left out, and what that costs
_FILLER: Final = 0.4  # what a word between them costs
_LIGHT: Final = 2.5
_FREQUENT: Final = 12  # places of a word that only carries a chain on
_BREAK: Final = re.compile(r"\n")
_HOLE: Final = 3  # hidden words that may be missing between two pieces
_SHARE: Final = 0.8  # of a sentence's weight that has to be there when its order is gone


class Chain(NamedTuple):
    """Hidden words in their order: how much they give away, how many they are, and where they stand."""

    score: float
    size: int
    first: int  # hidden words
    last: int
    start: int  # words of the reply
    end: int


def chains(index: Index, words: Sequence[str], bits: Sequence[float]) -> Iterator[Chain]:
    """Chains of two words and more, each as it grows; a word that carries no weight begins none."""
    hidden, where, size = index.reading.words, index.where, len(index.reading.words)
    live: dict[int, tuple[float, int, int, int, int]] = {}  # by the last hidden word, as in Chain, without that
    recent: list[tuple[int, int]] = []
    for at, word in enumerate(words):
        found = where.get(word)
        if found is None:
            continue
        if len(found) > _FREQUENT:
            recent = [pair for pair in recent if at - pair[0] <= GAP]
            after = {place + skipped for _, place in recent for skipped, _ in _SKIP}
            found = [place for place in after if place < size and hidden[place] == word]
        for place in found:
            weight = bits[place]
            best = (weight, 1, place, at, at)
            for skipped, cost in _SKIP:
                before = live.get(place - skipped)
                if before is not None and 0 < at - before[4] <= GAP:
                    score = before[0] + weight - cost - _FILLER * (at - before[4] - 1)
                    if score > best[0]:
                        best = (score, before[1] + 1, before[2], before[3], at)
            live[place] = best
            if best[1] > 1 or weight > _LIGHT:
                recent.append((at, place))
            if best[1] > 1:
                yield Chain(best[0], best[1], best[2], place, best[3], at)


def chain_traces(
    index: Index, reading: Reading, bits: Sequence[float], *, folded: str, least: float, count: int
) -> Iterator[Trace]:
    """Chains that weigh enough: of all words forwards and backwards, of the first or last words of lines."""
    words = reading.words
    for way, chosen in _orders(reading, folded):
        for chain in chains(index, [words[at] for at in chosen], bits):
            if chain.score >= least and chain.size >= count:
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
        sentences = index.within.get(word, ())
        if len(sentences) > _FREQUENT:
            continue
        for number in sentences:
            first, last = index.sentences[number]
            places = recent.setdefault(number, deque())
            places.append(at)
            reach = (last - first) * 4 // 3 + 3
            while at - places[0] > reach:
                places.popleft()
            if len(places) >= 4 and _bag(index, number, reading.words[places[0] : at + 1], bits, least):
                yield Trace("shuffled", first, last, reading.starts[places[0]], reading.ends[at])
                places.clear()


def _bag(index: Index, number: int, words: Sequence[str], bits: Sequence[float], least: float) -> bool:
    first, last = index.sentences[number]
    here = set(words)
    seen: dict[str, float] = {}
    whole: dict[str, float] = {}
    for place in range(first, last):
        word = index.reading.words[place]
        whole[word] = max(whole.get(word, 0.0), bits[place])
        if word in here:
            seen[word] = whole[word]
    weight = sum(seen.values())
    return weight >= least and len(seen) >= 6 and weight >= _SHARE * sum(whole.values())


class Fragment(NamedTuple):
    """A few hidden words, `first` to `last` (exclusive), at characters `start` to `end` of a folded text."""

    first: int
    last: int
    start: int
    end: int


def fragments(index: Index, reading: Reading) -> tuple[Fragment, ...]:
    """Short runs of hidden letters in a text, in its order."""
    found = letter_traces(index, reading, index.letters.size)
    return tuple(Fragment(*trace[1:]) for trace in found if trace.last - trace.first > 1)


@lru_cache(maxsize=256)
def fragments_in(index: Index, text: str) -> tuple[Fragment, ...]:
    """The same for an earlier reply, remembered."""
    return fragments(index, read(fold(text)))


def split_traces(
    replies: Sequence[Sequence[Fragment]], bits: Sequence[float], *, least: float, count: int
) -> Iterator[Trace]:
    """Stretches of the hidden text that come piece by piece, in their order; the last piece is in the last reply."""
    best: dict[int, tuple[float, int, int, int]] = {}  # by their end: weight, first word, words, pieces
    for number, reply in enumerate(replies):
        for first, last, start, end in reply:
            weight, begin, words, pieces = sum(bits[first:last]), first, last - first, 1
            for before in range(max(first - _HOLE, 0), first + 2):
                if before in best and best[before][1] < first:
                    earlier = best[before]
                    joined = earlier[0] + sum(bits[max(first, before) : last]) - abs(first - before)
                    if joined > weight:
                        weight, begin, words, pieces = joined, earlier[1], earlier[2] + last - first, earlier[3] + 1
            if last not in best or best[last][0] < weight:
                best[last] = (weight, begin, words, pieces)
            if number == len(replies) - 1 and pieces > 1 and weight >= least and words >= count:
                yield Trace("pieces", begin, last, start, end)
