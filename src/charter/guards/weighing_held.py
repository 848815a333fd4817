"""Of the features of sentences those that a table holds are looked up by their parts, all sentences in one pass.

They are the same that `word_features`, `kind_features` and `sign_features` spell out, without what weighs nothing.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, combinations, compress, repeat
from operator import itemgetter
from typing import Final

from .kin import kinds_by_stem
from .weighing import APART, Weights

_BETWEEN: Final = ("",) * APART  # what stands between two sentences: no pair reaches over it
_GAP: Final = "_"
_GRAIN: Final = 2.0**-32  # weights are multiples of it: so a sum of them is exact, in whatever order they come
Line = tuple[slice, slice]  # of the words of a text: those that lead a sentence, and its own


def _tables() -> dict[str, dict[str, int]]:
    return defaultdict(dict)


@dataclass(frozen=True, slots=True)
class Held:
    """Features of a table by their parts. Each is told by its number: in a set it counts, and once."""

    names: Sequence[str]
    weights: Sequence[float]
    grained: Sequence[float]  # the same, so that they are summed up exactly
    stems: dict[str, int] = field(default_factory=dict)
    pairs: tuple[dict[tuple[str, str], int], ...] = field(default_factory=lambda: tuple({} for _ in range(APART)))
    threes: dict[tuple[str, ...], int] = field(default_factory=dict)
    kinds: dict[str, int] = field(default_factory=dict)
    kinds_after: dict[str, dict[str, int]] = field(default_factory=_tables)  # by the stem before a kind
    kinds_before: dict[str, dict[str, int]] = field(default_factory=_tables)  # by the stem after it
    signs: dict[str, int] = field(default_factory=dict)
    two_signs: dict[tuple[str, str], int] = field(default_factory=dict)
    alone: dict[str, tuple[int, ...]] = field(default_factory=dict)  # a stem and the kinds it is of
    sign_places: dict[str, int] = field(default_factory=dict)
    sign_rows: list[tuple[float, ...]] = field(default_factory=list)  # what two signs weigh, twice what one does

    def weight(self, features: Iterable[int]) -> float:
        """Their sum, the same in whatever order they come."""
        return sum(map(self.grained.__getitem__, features))

    def sign_weight(self, signs: Iterable[str]) -> float:
        """What one sentence's signs weigh, alone and two by two."""
        places = [self.sign_places[sign] for sign in signs if sign in self.sign_places]
        if len(places) < 2:
            return sum(self.sign_rows[place][place] for place in places) / 2
        return sum(map(sum, map(itemgetter(*places), map(self.sign_rows.__getitem__, places)))) / 2


def grained(weight: float) -> float:
    """A weight as it is summed up."""
    return round(weight / _GRAIN) * _GRAIN


def held_of(weights: Weights) -> Held:
    """A table's features made ready, but for those of pieces of words."""
    # Tuples, because the collector of garbage takes no notice of them: looked through each time, they would cost more
    # than a text does.
    names = tuple(feature for feature in weights.by_feature if feature[0] != "~")
    loads = tuple(map(weights.by_feature.__getitem__, names))
    grains = {weight: grained(weight) for weight in {*loads}}  # of those that are the same one is kept
    held = Held(names, loads, tuple(map(grains.__getitem__, loads)))
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
    held.alone.update((one, (number,)) for one, number in held.stems.items())
    for one, kinds in kinds_by_stem().items():
        if found := [held.kinds[kind] for kind in kinds if kind in held.kinds]:
            held.alone[one] = (*held.alone.get(one, ()), *found)
    _add_signs(held)
    return held


def _add_signs(held: Held) -> None:
    """A square of what signs weigh: its rows and columns are signs."""
    twos, loads = held.two_signs, held.grained
    known = dict.fromkeys([*held.signs, *chain.from_iterable(twos)])
    held.sign_places.update((sign, place) for place, sign in enumerate(known))
    size = len(held.sign_places)
    rows = [[0.0] * size for _ in range(size)]
    for one, number in held.signs.items():
        rows[held.sign_places[one]][held.sign_places[one]] = 2 * loads[number]
    for (one, other), number in twos.items():
        first, last = held.sign_places[one], held.sign_places[other]
        rows[first][last] = rows[last][first] = loads[number]
    held.sign_rows.extend(map(tuple, rows))


def words_held(stems: Sequence[str], marked: Sequence[str], lines: Sequence[Line], held: Held) -> Iterator[set[int]]:
    """Of each line of a text what the table holds of its stems and their kinds; `marked` tells those in quotes."""
    row, bounds = _row(marked, lines)
    columns = [
        *([*map(pairs.get, zip(row, row[at:], strict=False))] for at, pairs in enumerate(held.pairs, 1)),
        [*map(held.threes.get, zip(row, row[1:], row[2:], strict=False))],
    ]
    plain = row if marked is stems else _row(stems, lines)[0]
    alone, kinds = [*map(held.alone.get, row)], [*map(kinds_by_stem().get, row)]  # what stands in quotes is of no kind
    which = [*chain.from_iterable(repeat(line, last - first + APART) for line, (first, last) in enumerate(bounds))]
    after, before = [*map(held.kinds_after.get, plain)], [*map(held.kinds_before.get, plain)]
    beside: list[list[int]] = [[] for _ in lines]
    pairs_before, pairs_after = zip(which, kinds, before[1:], strict=False), zip(which, kinds[1:], after, strict=False)
    for line, some, of in chain(compress(pairs_before, kinds), compress(pairs_after, kinds[1:])):
        if some and of:
            beside[line] += [of[kind] for kind in some if kind in of]
    for (first, last), found_beside in zip(bounds, beside, strict=True):
        found = set[int | None]().union(found_beside, *[column[first:last] for column in columns])
        found.update(chain.from_iterable(filter(None, alone[first:last])))
        yield _but_none(found)


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
