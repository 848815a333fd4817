"""Of the features of sentences those that a table holds are looked up by their parts, all sentences in one pass.

They are the same that `word_features`, `kind_features` and `sign_features` spell out, without what weighs nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Final

from .kin import kinds_by_stem
from .weighing import APART, Weights

_BETWEEN: Final = ("",) * APART  # what stands between two sentences: no pair reaches over it
_GAP: Final = "_"
Line = tuple[slice, slice]  # of the words of a text: those that lead a sentence, and its own


class Weight(float):
    """What a feature weighs, told apart from that of every other feature: in a set each of them counts, and once."""

    __slots__ = ()
    __hash__ = object.__hash__


@dataclass(frozen=True, slots=True)
class Held:
    """Features of a table by their parts."""

    stems: dict[str, Weight] = field(default_factory=dict)
    pairs: tuple[dict[tuple[str, str], Weight], ...] = field(default_factory=lambda: tuple({} for _ in range(APART)))
    threes: dict[tuple[str, str, str], Weight] = field(default_factory=dict)
    kinds: dict[str, Weight] = field(default_factory=dict)
    kinds_after: dict[str, dict[str, Weight]] = field(default_factory=dict)  # by the stem before a kind
    kinds_before: dict[str, dict[str, Weight]] = field(default_factory=dict)  # by the stem after it
    signs: dict[str, Weight] = field(default_factory=dict)
    two_signs: dict[tuple[str, str], Weight] = field(default_factory=dict)
    names: dict[Weight, str] = field(default_factory=dict)


def held_of(weights: Weights) -> Held:
    """A table's features made ready, but for those of pieces of words."""
    held = Held()
    for feature, number in weights.by_feature.items():
        if feature.startswith("~"):
            continue
        weight = Weight(number)
        held.names[weight] = feature
        match feature.split(" "):
            case [one]:
                {"=": held.kinds, "#": held.signs}.get(one[:1], held.stems)[one.lstrip("=#")] = weight
            case [one, other] if one.startswith("#"):
                held.two_signs[one[1:], other[1:]] = weight
            case [one, other] if one.startswith("="):
                held.kinds_before.setdefault(other, {})[one[1:]] = weight
            case [one, other] if other.startswith("="):
                held.kinds_after.setdefault(one, {})[other[1:]] = weight
            case [one, *between, other] if set(between) <= {_GAP} and len(between) < APART:
                held.pairs[len(between)][one, other] = weight
            case [one, two, three]:
                held.threes[one, two, three] = weight
    return held


def words_held(stems: Sequence[str], marked: Sequence[str], lines: Sequence[Line], held: Held) -> Iterator[set[Weight]]:
    """Of each line of a text what the table holds of its stems and their kinds; `marked` tells those in quotes."""
    row, bounds = _row(marked, lines)
    columns = [
        [*map(held.stems.get, row)],
        *([*map(pairs.get, zip(row, row[at:], strict=False))] for at, pairs in enumerate(held.pairs, 1)),
        [*map(held.threes.get, zip(row, row[1:], row[2:], strict=False))],
    ]
    plain = row if marked is stems else _row(stems, lines)[0]
    kinds = [*map(kinds_by_stem().get, plain)]
    if plain is not row:  # what stands in quotes is of no kind
        kinds = [some if one == said else None for some, one, said in zip(kinds, plain, row, strict=True)]
    after, before = [*map(held.kinds_after.get, plain)], [*map(held.kinds_before.get, plain)]
    for first, last in bounds:
        found = set[Weight | None]().union(*(column[first:last] for column in columns))
        for some, of in zip(kinds[first:last], before[first + 1 : last], strict=False):
            if some:
                found.update(map(held.kinds.get, some))
                if of:
                    found.update(map(of.get, some))
        for of, some in zip(after[first:last], kinds[first + 1 : last], strict=False):
            if some and of:
                found.update(map(of.get, some))
        found.discard(None)
        yield found  # type: ignore[misc]


def _row(stems: Sequence[str], lines: Iterable[Line]) -> tuple[list[str], list[tuple[int, int]]]:
    """All lines one behind the other, and where each begins and ends."""
    row: list[str] = []
    bounds: list[tuple[int, int]] = []
    for lead, inside in lines:
        first = len(row)
        row += ("^", *stems[lead], *stems[inside], "$")
        bounds.append((first, len(row)))
        row += _BETWEEN
    return row, bounds


def signs_held(signs: Iterable[str], held: Held) -> list[Weight]:
    """Of one sentence's signs what the table holds, alone and two by two."""
    names = sorted(signs)
    return [*filter(None, map(held.signs.get, names)), *filter(None, map(held.two_signs.get, combinations(names, 2)))]
