"""How much the words of an edit weigh for lifting what stands above, sentence by sentence; the rules' second opinion.

A short text is weighed as a whole, a longer one in stretches of a few sentences, and each sentence of any by itself:
one hostile line is not made light by many honest ones around it. What stands alone must weigh more.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence, Set
from functools import cache, lru_cache
from heapq import nlargest
from itertools import repeat
from typing import Final, NamedTuple

from .bonds_scene import Found
from .kept import Met
from .kin import stem
from .reading import Reading, Sentence
from .weighing import (
    SHOWN,
    Weighed,
    Weights,
    carried,
    heaviest,
    kind_features,
    pieces,
    sign_features,
    weight_of,
    weights_of,
    word_features,
)
from .weighing_held import Held, grained, held_of, signs_held, words_held

_WHOLE: Final = 60  # words of a text that is weighed as a whole
_WIDE: Final = 40  # words of a stretch of a longer one
_LEAD: Final = 3  # words of what leads a list that each of its lines is read with
_COMMON: Final = frozenset("the to of and is are you your my with in for it i do not this that be a".split())
_STRANGE: Final = 0.3
_LEAST: Final = 2  # words of a stretch that can mean something
_ALONE: Final = 0.25  # how much more a sentence must weigh by itself, among others
_SAYING: Final = 3  # words of a sentence that is weighed by itself


class Bag(NamedTuple):
    """The features of one sentence, those of single words apart."""

    sentence: Sentence
    words: frozenset[str]
    features: frozenset[str]


class Load(NamedTuple):
    """One sentence with the features of it that the table holds, those of single words apart."""

    sentence: Sentence
    words: frozenset[str]
    held: Set[int]  # of its words, by their places in the table
    signs: Set[str]

    @property
    def features(self) -> Set[int]:
        """All of them; those of signs are many, and told only when they are named."""
        return self.held | signs_held(self.signs, _held())

    @property
    def weight(self) -> float:
        table = _held()
        return table.weight(self.held) + table.sign_weight(self.signs) + sum(map(_BY_WORD.__getitem__, self.words))


@cache
def weights() -> Weights:
    return weights_of("weights", "override")


@cache
def _held() -> Held:
    return held_of(weights())


def bags_of(reading: Reading, known: Sequence[Found]) -> list[Bag]:
    """Every sentence with its features."""
    quoted = _quoted(reading)
    found = []
    for sentence, bonds in zip(reading.sentences, known, strict=True):
        lead, inside = _line(reading, sentence)
        words, marks = [*reading.words[lead], *reading.words[inside]], [*quoted[lead], *quoted[inside]]
        signs = sign_features(_signs(reading.by[sentence.number], bonds, quoted))
        features = (*word_features(words, marks), *kind_features(words, marks), *signs)
        found.append(Bag(sentence, frozenset(reading.words[inside]), frozenset(features)))
    return found


def loads_of(reading: Reading, known: Sequence[Found]) -> list[Load]:
    """Every sentence with what the table holds of its features."""
    held, quoted = _held(), _quoted(reading) if reading.quotes else []
    stems = [*map(stem, reading.words)]
    marked = [f"'{one}" if said else one for one, said in zip(stems, quoted, strict=True)] if quoted else stems
    lines = [_line(reading, sentence) for sentence in reading.sentences]
    return [
        Load(
            sentence,
            frozenset(reading.words[sentence.first : sentence.last]),
            own,
            _signs(reading.by[sentence.number], bonds, quoted[sentence.first : sentence.last], sentence.first),
        )
        for sentence, bonds, own in zip(reading.sentences, known, words_held(stems, marked, lines, held), strict=True)
    ]


def _line(reading: Reading, sentence: Sentence) -> tuple[slice, slice]:
    """The words of a sentence, and before them those that lead it."""
    return _lead(reading, sentence), slice(sentence.first, sentence.last)


def _lead(reading: Reading, sentence: Sentence) -> slice:
    """The last words above a list: "Never:" is said of each of its lines."""
    if sentence.lead < 0:
        return slice(0)
    above = reading.sentences[sentence.lead]
    return slice(max(above.first, above.last - _LEAD), above.last)


def _quoted(reading: Reading) -> list[bool]:
    quoted, starts = [False] * len(reading.words), reading.tokens.starts
    for start, end in reading.quotes:
        first, last = bisect_left(starts, start), bisect_left(starts, end)
        quoted[first:last] = [True] * (last - first)
    return quoted


def _signs(said: Found, bonds: Found, quoted: Sequence[bool], first: int = 0) -> set[str]:
    """What the lexicons know in a sentence, from its first word on; marked where it stands in quotes."""
    if True not in quoted:
        return {*map(_sign, repeat("override"), said), *map(_sign, repeat("stance"), bonds)}
    return {
        _sign(folder, name, "'" if quoted[hit.first - first] else "")
        for folder, by in (("override", said), ("stance", bonds))
        for name, hits in by.items()
        for hit in hits
    }


@cache
def _sign(folder: str, name: str, quoted: str = "") -> str:
    return f"{folder}.{name}{quoted}"


class Pieces(NamedTuple):
    """What the pieces of a word weigh, and those that weigh most."""

    weight: float
    heaviest: tuple[tuple[str, float], ...]


@lru_cache(maxsize=1 << 10)
def _of_word(word: str) -> Pieces:
    own, table = pieces(word), weights()
    return Pieces(grained(table.of(own)), carried(own, table))


_BY_WORD: Final = Met(lambda word: _of_word(word).weight, 1 << 15)


def weighed(reading: Reading, known: Sequence[Found], *, whole: int = _WHOLE) -> list[Weighed]:
    """Every stretch of a text with its weight; only the heaviest one names what carried it, if it weighs for it."""
    table = weights()
    loads = loads_of(reading, known)
    totals = [load.weight for load in loads]
    stretches = [
        (first, last, weight_of(sum(totals[first:last]), size, table) + _strange(loads[first:last]))
        for first, last, size in stretches_of(loads, whole)
    ]
    stretches += [
        (at, at + 1, weight_of(totals[at], size, table) + _strange(loads[at : at + 1]) - _ALONE)
        for at, size in _alone(loads)
    ]
    heaviest = max(stretches, key=lambda stretch: stretch[2], default=None)
    return [
        Weighed(
            loads[first].sentence.start,
            loads[last - 1].sentence.end,
            _heavy(loads[first:last], totals[first:last]),
            weight,
            _carried(loads[first:last]) if weight > 0 and (first, last, weight) == heaviest else (),
        )
        for first, last, weight in stretches
    ]


def _heavy(loads: Sequence[Bag | Load], totals: Sequence[float]) -> tuple[int, int]:
    """From the first sentence that weighs for it to the last."""
    places = [at for at, total in enumerate(totals) if total > 0] or [0, len(loads) - 1]
    return loads[places[0]].sentence.start, loads[places[-1]].sentence.end


def _strange(loads: Sequence[Bag | Load]) -> float:
    """Of words that are not English the table knows fewer: they count for more."""
    return _STRANGE if all(_COMMON.isdisjoint(load.words) for load in loads) else 0.0


def _carried(loads: Sequence[Load]) -> tuple[tuple[str, float], ...]:
    names, weights = _held().names, _held().weights
    features = {feature for load in loads for feature in load.features if weights[feature] > 0}
    most = nlargest(SHOWN, map(weights.__getitem__, features))
    least = most[-1] if len(most) == SHOWN else 0.0  # what weighs less is not named
    found = {names[feature]: weights[feature] for feature in features if weights[feature] >= least}
    words = frozenset[str]().union(*[load.words for load in loads])
    found.update(pair for word in words for pair in _of_word(word).heaviest if pair[1] >= least)
    return heaviest(found)


def stretches_of(bags: Sequence[Bag | Load], whole: int = _WHOLE) -> Iterator[tuple[int, int, int]]:
    """The first and last (exclusive) sentence of each stretch, and its words."""
    sizes = [bag.sentence.last - bag.sentence.first for bag in bags]
    if _LEAST <= sum(sizes) <= whole:
        yield 0, len(bags), sum(sizes)
    elif sizes:
        yield from _running(sizes)


def _alone(loads: Sequence[Load]) -> Iterator[tuple[int, int]]:
    """Each sentence of several that can say something by itself, and its words."""
    if len(loads) > 1:
        for at, load in enumerate(loads):
            size = load.sentence.last - load.sentence.first
            if size >= _SAYING:
                yield at, size


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
