"""Of the features of a message those that a table holds are looked up by their parts.

They are the same that `disclosure_features` spells out, without what weighs nothing. A feature is told by its place in
the order of the weights, the heaviest first: so a sum of them is always made in one order.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence, Set
from functools import lru_cache
from itertools import combinations, islice
from math import fsum
from typing import Final

from .disclosure_features import OWNED, of_word
from .lexicon import MET

_ROWS: Final = 64  # sentences whose words' features are remembered: several views have the same
_KEPT: Final = 1_024  # sets of classes whose features are remembered


class _Met(dict[str, tuple[int, ...]]):
    """Words that were met, and their features; it stops growing, so no text can make it large."""

    def __init__(self, places: Mapping[str, int]) -> None:
        self._places = places

    def __missing__(self, word: str) -> tuple[int, ...]:
        found = tuple(self._places[feature] for feature in of_word(word) if feature in self._places)
        if len(self) < MET:
            self[word] = found
        return found


class Held:
    """The features of a table, and those that say whose a name is."""

    def __init__(self, table: Mapping[str, float]) -> None:
        known = {**dict.fromkeys(OWNED, 0.0), **table}
        # Of two that weigh the same, by name. Tuples, because the collector of garbage takes no notice of them.
        self._names = tuple(sorted(sorted(known), key=known.__getitem__, reverse=True))
        self._weights = tuple(map(known.__getitem__, self._names))
        self._places = dict(zip(self._names, range(len(known)), strict=True))
        self._owned = frozenset(map(self._places.__getitem__, OWNED))
        self._words = _Met(self._places)
        self._by_word: dict[str, int] = {}
        self._pairs: dict[tuple[str, str], int] = {}  # words, or the ends of a sentence
        self._classes: dict[str, int] = {}
        self._two: dict[tuple[str, str], int] = {}  # classes
        self._before: defaultdict[str, dict[str, int]] = defaultdict(dict)  # by the word after a class
        self._after: defaultdict[str, dict[str, int]] = defaultdict(dict)  # by the word before it
        for feature, place in self._places.items():
            one, _, other = feature[2:].partition(" ")
            match feature[:2]:
                case "v:":
                    self._before[other][one] = place
                case "x:":
                    self._after[one][other] = place
                case "b:":
                    self._pairs[one, other] = place
                case "p:":
                    self._two[one, other] = place
                case "c:":
                    self._classes[one] = place
                case "w:":
                    self._by_word[one] = place
        self._in_row = lru_cache(maxsize=_ROWS)(self._of_row)
        self._together = lru_cache(maxsize=_KEPT)(self._of_two)

    def weight(self, features: Iterable[int]) -> float:
        """Their sum."""
        return sum(map(self._weights.__getitem__, sorted(features)))

    def alone(self, words: Iterable[str], classes: Iterable[str]) -> float:
        """What words and classes weigh, whatever is around them; the same in whatever order they come."""
        found = (*map(self._by_word.get, words), *map(self._classes.get, classes))
        return fsum([self._weights[place] for place in found if place is not None])

    def heaviest(self, features: Iterable[int], most: int) -> list[tuple[str, float]]:
        """Those that weigh most, by name."""
        known = ((self._names[place], self._weights[place]) for place in sorted(features))
        return [*islice((pair for pair in known if pair[1]), most)]

    def is_owned(self, features: Set[int]) -> bool:
        """Whether one of them says whose a name is."""
        return not self._owned.isdisjoint(features)

    def of_words(self, words: Sequence[str]) -> frozenset[int]:
        return self._in_row(tuple(words))

    def _of_row(self, words: tuple[str, ...]) -> frozenset[int]:
        found = set[int | None]().union(*map(self._words.__getitem__, words))
        found.update(map(self._pairs.get, zip(("^", *words), (*words, "$"), strict=True)))
        return frozenset(_but_none(found))

    def of_classes(self, kinds: Sequence[Set[str]], classes: Sequence[str], words: Sequence[str]) -> set[int]:
        found = {*self._together(tuple(classes)), *_beside(kinds, map(self._before.get, words[1:]))}
        found.update(_beside(kinds[1:], map(self._after.get, words)))
        return found

    def of_others(self, spelled: Iterable[str]) -> set[int]:
        return _but_none({*map(self._places.get, spelled)})

    def _of_two(self, classes: Sequence[str]) -> frozenset[int]:
        found = {*map(self._classes.get, classes), *map(self._two.get, combinations(classes, 2))}
        return frozenset(_but_none(found))


def _beside(kinds: Iterable[Set[str]], held: Iterable[Mapping[str, int] | None]) -> list[int]:
    """What is held of the classes that stand beside a word."""
    return [of[kind] for known, of in zip(kinds, held, strict=False) if of for kind in known if kind in of]


def _but_none(found: set[int | None]) -> set[int]:
    found.discard(None)
    return found  # type: ignore[return-value]
