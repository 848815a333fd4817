"""Hidden words are found with others between them: forwards, in reverse, at the heads or the ends of lines."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from .leak_index import FREQUENT, SKIPPED, Index
from .leak_read import Reading
from .leak_runs import Trace

GAP: Final = 5  # a hidden word may come so many words after the one before
_SKIP: Final = tuple(zip(SKIPPED, (0.0, 8.0, 12.0), strict=True))  # how far it is from that, and what this costs
_LEAP: Final = min(cost for _, cost in _SKIP if cost)
_FILLER: Final = 0.4  # what a word between them costs
_LIGHT: Final = 2.5
_EASE: Final = 8.0  # how much less words that begin or end lines must weigh
_FEW: Final = 160  # words that may all together be too light for a chain
_BREAK: Final = re.compile(r"\n")
_HAIR: Final = 1e-6  # sums may differ by so much when they are made in another order


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
    if (
        len(words) <= _FEW
        and sum(known.weight for known in map(index.near.get, words) if known) < least - _EASE - 2 * _HAIR
    ):
        return
    for way, chosen in _orders(reading, folded):
        eased = 1 if "lines" in way else 0  # nobody begins lines so by chance
        some, enough = [words[at] for at in chosen], least - _EASE * eased
        if not may_chain(index, some, least=enough, count=count - eased):
            continue
        for chain in chains(index, some, bits):
            if chain.score >= enough and chain.size >= count - eased:
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


def may_chain(index: Index, words: Sequence[str], *, least: float, count: int) -> bool:
    """Whether a chain can weigh and hold so much at all, by which words may follow each other; never less than it can.

    Leaving hidden words out costs so much that only what weighs more than that may be gone on with.
    """
    near, heavy = index.near, -1  # where it last weighed so much
    chained: dict[int, tuple[float, int]] = {}
    for at, word in enumerate(words):
        known = near.get(word)
        if known is None:
            continue
        (weight, before, earlier), start = known, at - GAP if at > GAP else 0
        best, size, window = weight, 1, words[start:at]
        leaps = heavy >= start and not earlier.isdisjoint(window)
        if leaps or not before.isdisjoint(window):
            for prior, other in enumerate(window, start):
                if other in before or (leaps and other in earlier):
                    most, long = chained[prior] if prior in chained else (near[other].weight, 1)
                    most -= 0.0 if other in before else _LEAP
                    if most > 0.0:
                        best, size = max(best, most + weight - _FILLER * (at - prior - 1)), max(size, long + 1)
            if size >= count and best >= least - _HAIR:
                return True
            chained[at] = best, size
        if best > _LEAP:
            heavy = at
    return False
