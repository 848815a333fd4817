"""What a text weighs is the sum of the weights of its features; a table that people can read says each one's weight.

A feature is written as it is read: a stem (`ignor`), stems side by side (`ignor all rul`) or apart (`ignor _ rul`), a
piece of a word (`~forb`), the kind a word is of (`=disregard`) alone or beside a stem (`=disregard rul`), or a sign
that a lexicon knows (`#override.drop`), alone or with another one of its sentence.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from importlib.resources import files
from itertools import combinations
from math import fsum, sqrt
from typing import Final, NamedTuple

from .kin import kinds_of, stem

APART: Final = 4  # words from the first to the second of a pair
_PIECES: Final = (3, 4, 5, 6)  # letters of a piece of a word
_FEW: Final = 4  # words that every text is taken to have besides its own: short ones are not all or nothing
_LONGEST: Final = 40  # letters of a word that are looked at
_BIAS: Final = "(bias)"
SHOWN: Final = 6  # features that an explanation names
_NONE: Final = frozenset[str]()


class Weighed(NamedTuple):
    """A stretch of a text, the part of it that weighs, its weight, and the features that carried it."""

    start: int
    end: int
    heavy: tuple[int, int]
    weight: float
    carried: tuple[tuple[str, float], ...]


class Weights(NamedTuple):
    """A table: what every text weighs, and feature → weight."""

    bias: float
    by_feature: Mapping[str, float]

    def of(self, features: Iterable[str]) -> float:
        """Their sum, the same in whatever order they come: a set has another one in every process."""
        return fsum(filter(None, map(self.by_feature.get, features)))


def read_weights(lines: Iterable[str]) -> Weights:
    """A table of lines `feature<TAB>weight`; what begins with `# ` is a comment."""
    found = {}
    for line in lines:
        if line.strip() and not line.startswith("# "):
            feature, _, weight = line.rstrip("\n").rpartition("\t")
            found[feature] = float(weight)
    return Weights(found.pop(_BIAS, 0.0), found)


def weights_of(folder: str, name: str) -> Weights:
    """The table `words/<folder>/<name>.tsv`."""
    text = files(__package__).joinpath("words", folder, f"{name}.tsv").read_text(encoding="utf-8")
    return read_weights(text.splitlines())


# ── features ──────────────────────────────────────────────────────────────────────────────────────────────────────


def pieces(word: str) -> frozenset[str]:
    """The beginnings, ends and middles of a word, with a mark where it begins and ends."""
    whole = f"<{word[:_LONGEST]}>"
    if len(word) < 2:
        return frozenset()
    return frozenset(f"~{whole[at : at + size]}" for size in _PIECES for at in range(len(whole) - size + 1))


def word_features(words: Sequence[str], quoted: Sequence[bool]) -> list[str]:
    """Of one sentence: stems, pairs up to four words apart, three in a row; what stands in quotes is marked so."""
    stems = ["^", *(f"'{stem(word)}" if said else stem(word) for word, said in zip(words, quoted, strict=True)), "$"]
    found = [*stems]
    for at, one in enumerate(stems):
        near = stems[at + 1 : at + 1 + APART]
        gap = " "
        for other in near:
            found.append(f"{one}{gap}{other}")
            gap += "_ "
        if len(near) > 1:
            found.append(f"{one} {near[0]} {near[1]}")
    return found


def kind_features(words: Sequence[str], quoted: Sequence[bool]) -> list[str]:
    """Of one sentence: the kinds its words are of, and each beside the stem before and after it; not of quotations."""
    kinds = [_NONE if said else _kinds(word) for word, said in zip(words, quoted, strict=True)]
    found = [kind for some in kinds for kind in some]
    before, own = "", _NONE
    for word, some in zip(words, kinds, strict=True):
        after = stem(word)
        found += [f"{before} {kind}" for kind in some if before] + [f"{kind} {after}" for kind in own]
        before, own = after, some
    return found


@lru_cache(maxsize=1 << 14)
def _kinds(word: str) -> frozenset[str]:
    return frozenset(f"={kind}" for kind in kinds_of(word))


def piece_features(words: Iterable[str]) -> Iterator[str]:
    for word in words:
        yield from pieces(word)


def sign_features(signs: Iterable[str]) -> list[str]:
    """Of one sentence: each sign of a lexicon, and each two of them."""
    names = sorted(f"#{sign}" for sign in signs)
    return [*names, *map(" ".join, combinations(names, 2))]


# ── weights ───────────────────────────────────────────────────────────────────────────────────────────────────────


def weight_of(total: float, words: int, weights: Weights) -> float:
    """What a stretch of so many words weighs, whose features sum up to `total`."""
    return weights.bias + total / sqrt(words + _FEW)


def carried(features: Iterable[str], weights: Weights) -> tuple[tuple[str, float], ...]:
    """The features that weigh most for it."""
    table = weights.by_feature
    return heaviest({feature: table[feature] for feature in features if feature in table})


def heaviest(found: Mapping[str, float]) -> tuple[tuple[str, float], ...]:
    """Of features and their weights those that weigh most for it."""
    heavy = sorted(found.items(), key=lambda pair: (-pair[1], pair[0]))
    return tuple(pair for pair in heavy[:SHOWN] if pair[1] > 0)
