"""What a text weighs is the sum of the weights of its features; a table that people can read says each one's weight.

A feature is written as it is read: a stem (`ignor`), stems side by side (`ignor all rul`) or apart (`ignor _ rul`), a
piece of a word (`~forb`), or a sign that a lexicon knows (`#override.drop`), alone or with another one of its sentence.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from importlib.resources import files
from itertools import combinations
from math import sqrt
from typing import Final, NamedTuple

_APART: Final = 4  # words from the first to the second of a pair
_PIECES: Final = (3, 4, 5, 6)  # letters of a piece of a word
_FEW: Final = 4  # words that every text is taken to have besides its own: short ones are not all or nothing
_SHORT: Final = 3  # letters that a stem keeps
_BEGINNING: Final = 5  # letters, where endings are not those of English
_LONGEST: Final = 40  # letters of a word that are looked at
_ENDINGS: Final = tuple(
    "ations ation ingly edly ments ment ions ion ings ing ies ied ers er ed es ly s e y".split()
)  # the longest first
_BIAS: Final = "(bias)"
_SHOWN: Final = 6  # features that an explanation names


class Weighed(NamedTuple):
    """A stretch of a text, the part of it that weighs, its weight, and the features that carried it."""

    start: int
    end: int
    heavy: tuple[int, int]
    weight: float
    carried: tuple[tuple[str, float], ...]


class Weights(NamedTuple):
    """A table made ready: feature → weight, and the stems with which a feature of several begins."""

    bias: float
    by_feature: Mapping[str, float]
    firsts: Collection[str]

    def of(self, features: Iterable[str]) -> float:
        by_feature = self.by_feature
        return sum(by_feature[feature] for feature in features if feature in by_feature)


def read_weights(lines: Iterable[str]) -> Weights:
    """A table of lines `feature<TAB>weight`; what begins with `# ` is a comment."""
    found = {}
    for line in lines:
        if line.strip() and not line.startswith("# "):
            feature, _, weight = line.rstrip("\n").rpartition("\t")
            found[feature] = float(weight)
    bias = found.pop(_BIAS, 0.0)
    return Weights(bias, found, frozenset(feature.split(" ", 1)[0] for feature in found if " " in feature))


def weights_of(folder: str, name: str) -> Weights:
    """The table `words/<folder>/<name>.tsv`."""
    text = files(__package__).joinpath("words", folder, f"{name}.tsv").read_text(encoding="utf-8")
    return read_weights(text.splitlines())


# ── features ──────────────────────────────────────────────────────────────────────────────────────────────────────


@lru_cache(maxsize=1 << 15)
def stem(word: str) -> str:
    """A word without its ending: English ones by rule, others cut."""
    if not word.isascii():
        return word[:_BEGINNING]
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _SHORT:
            return word[: -len(ending)]
    return word[:_LONGEST]


@lru_cache(maxsize=1 << 14)
def pieces(word: str) -> frozenset[str]:
    """The beginnings, ends and middles of a word, with a mark where it begins and ends."""
    whole = f"<{word[:_LONGEST]}>"
    if len(word) < 2:
        return frozenset()
    return frozenset(f"~{whole[at : at + size]}" for size in _PIECES for at in range(len(whole) - size + 1))


def word_features(words: Sequence[str], quoted: Sequence[bool], firsts: Collection[str] | None = None) -> Iterator[str]:
    """Of one sentence: stems, pairs up to four words apart, three in a row; what stands in quotes is marked so.

    With `firsts`, only such as begin with one of these.
    """
    stems = ["^", *(f"'{stem(word)}" if said else stem(word) for word, said in zip(words, quoted, strict=True)), "$"]
    size = len(stems)
    for at, one in enumerate(stems):
        yield one
        if firsts is not None and one not in firsts:
            continue
        gap = " "
        for other in stems[at + 1 : at + 1 + _APART]:
            yield f"{one}{gap}{other}"
            gap += "_ "
        if at + 2 < size:
            yield f"{one} {stems[at + 1]} {stems[at + 2]}"


def piece_features(words: Iterable[str]) -> Iterator[str]:
    for word in words:
        yield from pieces(word)


def sign_features(signs: Iterable[str]) -> Iterator[str]:
    """Of one sentence: each sign of a lexicon, and each two of them."""
    names = sorted(f"#{sign}" for sign in signs)
    yield from names
    for one, other in combinations(names, 2):
        yield f"{one} {other}"


# ── weights ───────────────────────────────────────────────────────────────────────────────────────────────────────


def weight_of(total: float, words: int, weights: Weights) -> float:
    """What a stretch of so many words weighs, whose features sum up to `total`."""
    return weights.bias + total / sqrt(words + _FEW)


def carried(features: Iterable[str], weights: Weights) -> tuple[tuple[str, float], ...]:
    """The features that weigh most for it."""
    found = {feature: weights.by_feature[feature] for feature in features if feature in weights.by_feature}
    heavy = sorted(found.items(), key=lambda pair: (-pair[1], pair[0]))
    return tuple(pair for pair in heavy[:_SHOWN] if pair[1] > 0)
