"""Hidden words are found shuffled, or in pieces all over a session."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from .leak_index import Fragment, Index, Pieces
from .leak_read import Reading, fold, read
from .leak_runs import Trace, letter_traces

_HOLE: Final = 3  # hidden words that may be missing between two pieces
_RISING: Final = 0.75  # of neighbours that stand in their order where it is gone
_DENSE: Final = 0.42  # of a reply that is hidden text, when it is there for that
_SHARE: Final = 0.9  # of a sentence's weight that has to be there when its order is gone


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


def fragments(index: Index, reading: Reading) -> Pieces:
    """Short runs of hidden letters in a text."""
    found = [trace for trace in letter_traces(index, reading, index.letters.size) if trace.last - trace.first > 1]
    offsets = index.reading.offsets
    covered = sum(offsets[trace.last] - offsets[trace.first] for trace in found)
    return Pieces([Fragment(*trace[1:]) for trace in found], covered >= _DENSE * len(reading.letters))


def fragments_in(index: Index, text: str) -> Pieces:
    """The same for an earlier reply, remembered."""
    return index.replied.of(text, lambda reply: fragments(index, read(fold(reply))))


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
