"""Of the features of sentences those that a table holds are looked up by their parts, all sentences in one pass.

They are the same that `word_features`, `kind_features` and `sign_features` spell out, without what weighs nothing.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from math import fsum
from typing import Final

from .kin import kinds_by_stem
from .weighing import APART, Weights

_BETWEEN: Final = ("",) * APART  # what stands between two sentences: no pair reaches over it
_GAP: Final = "_"
Line = tuple[slice, slice]  # of the words of a text: those that lead a sentence, and its own


def _tables() -> dict[str, dict[str, int]]:
    return defaultdict(dict)


@dataclass(frozen=True, slots=True)
class Held:
    """Features of a table by their parts. Each is told by its number: in a set it counts, and once."""

    names: Sequence[str]
    weights: Sequence[float]
    stems: dict[str, int] = field(default_factory=dict)
    pairs: tuple[dict[tuple[str, str], int], ...] = field(default_factory=lambda: tuple({} for _ in range(APART)))
    threes: dict[tuple[str, ...], int] = field(default_factory=dict)
    kinds: dict[str, int] = field(default_factory=dict)
    kinds_after: dict[str, dict[str, int]] = field(default_factory=_tables)  # by the stem before a kind
    kinds_before: dict[str, dict[str, int]] = field(default_factory=_tables)  # by the stem after it
    signs: dict[str, int] = field(default_factory=dict)
    two_signs: dict[tuple[str, str], int] = field(default_factory=dict)

    def weight(self, features: Iterable[int]) -> float:
        """Their sum, the same in whatever order they come."""
        return fsum(map(self.weights.__getitem__, features))


def held_of(weights: Weights) -> Held:
    """A table's features made ready, but for those of pieces of words."""
    names = [feature for feature in weights.by_feature if feature[0] != "~"]
    held = Held(names, [*map(weights.by_feature.__getitem__, names)])
    kinds_before, kinds_after, pairs, threes = held.kinds_before, held.kinds_after, held.pairs, held.threes
    for number, feature in enumerate(names):
        parts, kind = feature.split(" "), feature[0]
        match len(parts):
            case 1:
                {"=": held.kinds, "#": held.signs}.get(kind, held.stems)[feature.lstrip("=#")] = number
            case 2:
                one, other = parts
                if kind == "#":
                    held.two_signs[one[1:], other[1:]] = number
                elif kind == "=":
                    kinds_before[other][one[1:]] = number
                elif other[0] == "=":
                    kinds_after[one][other[1:]] = number
                else:
                    pairs[0][one, other] = number
            case 3 if parts[1] != _GAP:
                threes[tuple(parts)] = number
            case size if size <= APART + 1 and {*parts[1:-1]} == {_GAP}:
                pairs[size - 2][parts[0], parts[-1]] = number
    return held


def words_held(stems: Sequence[str], marked: Sequence[str], lines: Sequence[Line], held: Held) -> Iterator[set[int]]:
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
        found = set[int | None]().union(*[column[first:last] for column in columns])
        found.update(*[map(held.kinds.get, some) for some in kinds[first:last] if some])
        found.update(_beside(kinds[first:last], before[first + 1 : last]))
        found.update(_beside(kinds[first + 1 : last], after[first:last]))
        yield _but_none(found)


def _beside(kinds: Iterable[Iterable[str] | None], held: Iterable[Mapping[str, int] | None]) -> list[int]:
    """What is held of the kinds of a word that stands beside another."""
    return [of[kind] for some, of in zip(kinds, held, strict=False) if some and of for kind in some if kind in of]


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


def signs_held(signs: Iterable[str], held: Held) -> set[int]:
    """Of one sentence's signs what the table holds, alone and two by two."""
    names = sorted(signs)
    return _but_none({*map(held.signs.get, names), *map(held.two_signs.get, combinations(names, 2))})


def _but_none(found: set[int | None]) -> set[int]:
    found.discard(None)
    return found  # type: ignore[return-value]
