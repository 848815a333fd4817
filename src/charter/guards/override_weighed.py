"""How much the words of an edit weigh for lifting what stands above, sentence by sentence; the rules' second opinion.

A short text is weighed as a whole, a longer one in stretches of a few sentences: one hostile line is not made light by
many honest ones around it.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from itertools import accumulate, chain
from math import fsum
from typing import Final, NamedTuple

from .bonds_scene import Found
from .reading import Reading, Sentence
from .weighing import (
    Weighed,
    Weights,
    carried,
    kind_features,
    piece_features,
    pieces,
    sign_features,
    weight_of,
    weights_of,
    word_features,
)

_WHOLE: Final = 60  # words of a text that is weighed as a whole
_WIDE: Final = 40  # words of a stretch of a longer one
_LEAD: Final = 3  # words of what leads a list that each of its lines is read with
_COMMON: Final = frozenset("the to of and is are you your my with in for it i do not this that be a".split())
_STRANGE: Final = 0.3
_LEAST: Final = 2  # words of a stretch that can mean something


class Bag(NamedTuple):
    """The features of one sentence, those of single words apart."""

    sentence: Sentence
    words: frozenset[str]
    features: frozenset[str]


@cache
def weights() -> Weights:
    return weights_of("weights", "override")


def bags_of(reading: Reading, known: Sequence[Found], table: Weights | None = None) -> list[Bag]:
    """Every sentence with its features; with a table, without those that it cannot hold."""
    quoted = _quoted(reading)
    found = []
    for sentence, bonds in zip(reading.sentences, known, strict=True):
        inside = slice(sentence.first, sentence.last)
        lead = _lead(reading, sentence)
        words = [*reading.words[lead], *reading.words[inside]]
        signs = sign_features(_signs(reading.by[sentence.number], bonds, quoted), table)
        marks = [*quoted[lead], *quoted[inside]]
        features = (*word_features(words, marks, table), *kind_features(words, marks, table), *signs)
        found.append(Bag(sentence, frozenset(reading.words[inside]), frozenset(features)))
    return found


def _lead(reading: Reading, sentence: Sentence) -> slice:
    """The last words above a list: "Never:" is said of each of its lines."""
    if sentence.lead < 0:
        return slice(0)
    above = reading.sentences[sentence.lead]
    return slice(max(above.first, above.last - _LEAD), above.last)


def _quoted(reading: Reading) -> list[bool]:
    starts = [start for start, _ in reading.quotes]
    ends = [0, *accumulate((end for _, end in reading.quotes), max)]
    return (
        [at < ends[bisect_right(starts, at)] for at in reading.tokens.starts]
        if starts
        else [False] * len(reading.words)
    )


def _signs(said: Found, bonds: Found, quoted: Sequence[bool]) -> set[str]:
    return {
        f"{folder}.{name}'" if quoted[hit.first] else f"{folder}.{name}"
        for folder, found in (("override", said), ("stance", bonds))
        for name, hits in found.items()
        for hit in hits
    }


@lru_cache(maxsize=1 << 15)
def _of_word(word: str) -> float:
    return weights().of(pieces(word))


def weighed(reading: Reading, known: Sequence[Found], *, whole: int = _WHOLE) -> list[Weighed]:
    """Every stretch of a text with its weight; only the heaviest one names what carried it, if it weighs for it."""
    table = weights()
    bags = bags_of(reading, known, table)
    totals = [table.of(bag.features) + fsum(map(_of_word, bag.words)) for bag in bags]
    stretches = [
        (first, last, weight_of(sum(totals[first:last]), size, table) + _strange(bags[first:last]))
        for first, last, size in stretches_of(bags, whole)
    ]
    heaviest = max(stretches, key=lambda stretch: stretch[2], default=None)
    return [
        Weighed(
            bags[first].sentence.start,
            bags[last - 1].sentence.end,
            _heavy(bags[first:last], totals[first:last]),
            weight,
            _carried(bags[first:last], table) if weight > 0 and (first, last, weight) == heaviest else (),
        )
        for first, last, weight in stretches
    ]


def _heavy(bags: Sequence[Bag], totals: Sequence[float]) -> tuple[int, int]:
    """From the first sentence that weighs for it to the last."""
    places = [at for at, total in enumerate(totals) if total > 0] or [0, len(bags) - 1]
    return bags[places[0]].sentence.start, bags[places[-1]].sentence.end


def _strange(bags: Sequence[Bag]) -> float:
    """Of words that are not English the table knows fewer: they count for more."""
    return _STRANGE if all(_COMMON.isdisjoint(bag.words) for bag in bags) else 0.0


def _carried(bags: Sequence[Bag], table: Weights) -> tuple[tuple[str, float], ...]:
    features = (chain(bag.features, piece_features(bag.words)) for bag in bags)
    return carried(chain.from_iterable(features), table)


def stretches_of(bags: Sequence[Bag], whole: int = _WHOLE) -> Iterator[tuple[int, int, int]]:
    """The first and last (exclusive) sentence of each stretch, and its words."""
    sizes = [bag.sentence.last - bag.sentence.first for bag in bags]
    if _LEAST <= sum(sizes) <= whole:
        yield 0, len(bags), sum(sizes)
    elif sizes:
        yield from _running(sizes)


def _running(sizes: Sequence[int]) -> Iterator[tuple[int, int, int]]:
    """From each sentence on as many as fit; none that lies within the one before."""
    last = size = 0
    reached = 0
    for first, own in enumerate(sizes):
        if last <= first:
            last, size = first + 1, own
        while last < len(sizes) and size + sizes[last] <= _WIDE:
            size += sizes[last]
            last += 1
        if last > reached and size >= _LEAST:
            yield first, last, size
            reached = last
        size -= own
