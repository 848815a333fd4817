"""What must not leave, made ready once: its words, their weight, and tables of its letters in every form looked for."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise
from typing import Final, NamedTuple

from .fold import plain
from .kept import Kept
from .leak_facts import Facts, facts_of
from .leak_read import Reading, bare_parts, fold_plain, leaders, letters_of, places, spelled
from .leak_weights import shares_of, weights
from .leak_words import FUNCTION, is_block, weigh
from .lexicon import apart, tokens_in

GRAM: Final = 12
PART: Final = 8  # letters of a stretch's part: where there is none, there is no stretch
WALL: Final = "\x00"  # stands between two layers; no text has it
SKIPPED: Final = (1, 2, 3)  # how far apart words may be that follow each other: up to two are left out
FREQUENT: Final = 12  # places of a word that tells nothing about where it is
LONGEST: Final = 40  # words of a sentence; a longer one is read in parts
_STOP: Final = re.compile(r"[.!?。！？…।؟\n]")
_PAUSE: Final = re.compile(r"[;:；：،؛|—–]|, ")


@dataclass(frozen=True, slots=True)
class Grams:
    """Every stretch of `size` letters of a text, and where it stands; the same stretch again is chained behind."""

    text: str = field(repr=False)
    size: int
    last: Mapping[str, int] = field(repr=False)
    before: Sequence[int] = field(repr=False)
    parts: frozenset[str] = field(repr=False)  # shorter stretches, where every place of another text is tried

    def tries(self, letters: str, stride: int) -> list[tuple[int, int]]:
        """Among which places, first and last, a stretch may be found when every so many are looked at."""
        size, most = self.size, len(letters) - self.size
        if stride > 1:
            grams = [letters[at : at + size] for at in range(0, most + 1, stride)]
            return [] if self.last.keys().isdisjoint(grams) else [(0, most)]
        step = size - PART + 1
        met = [at for at in range(0, len(letters) - PART + 1, step) if letters[at : at + PART] in self.parts]
        return [(max(at - step + 1, 0), min(at, most)) for at in met]

    def at(self, gram: str) -> Iterator[int]:
        """The places of a stretch, the last ones first, at most eight."""
        place = self.last.get(gram, -1)
        for _ in range(8):
            if place < 0:
                return
            yield place
            place = self.before[place]


def grams_of(text: str, size: int, *, part: int = 0) -> Grams:
    """The table of a text's stretches; none goes over a wall, none is of three letters only."""
    last: dict[str, int] = {}
    before = [-1] * len(text)
    for place in range(len(text) - size + 1):
        gram = text[place : place + size]
        if WALL not in gram and len(set(gram)) > 3:
            before[place] = last.get(gram, -1)
            last[gram] = place
    parts = frozenset(text[at : at + part] for at in range(len(text) - part + 1)) if part else frozenset[str]()
    return Grams(text, size, last, before, parts)


class Near(NamedTuple):
    """A hidden word: the most it weighs anywhere, and the words that stand right before it, or nearly."""

    weight: float
    before: frozenset[str]
    earlier: frozenset[str]


class Heard(NamedTuple):
    """What a text of the person's shows that they have: hidden words by their places, and facts."""

    words: frozenset[int]
    facts: frozenset[str]

    @property
    def size(self) -> int:
        return len(self.words) + len(self.facts)


class Fragment(NamedTuple):
    """A few hidden words, `first` to `last` (exclusive), at characters `start` to `end` of a folded text."""

    first: int
    last: int
    start: int
    end: int


class Pieces(NamedTuple):
    """The fragments of one reply in its order, and whether they are much of what it says."""

    found: Sequence[Fragment]
    dense: bool

    @property
    def size(self) -> int:
        return len(self.found)


@dataclass(frozen=True, slots=True, eq=False)
class Index:
    """A hidden text, or several layers of one, ready to be looked for."""

    reading: Reading
    bits: Sequence[float] = field(repr=False)  # what each word gives away
    counts: Sequence[int] = field(repr=False)  # whether each word counts as one: numbers and single letters do not
    layers: Sequence[tuple[int, str]] = field(repr=False)  # the first word of each layer, and its id
    letters: Grams = field(repr=False)
    backward: Grams = field(repr=False)
    bare: Grams = field(repr=False)  # without vowels
    bare_offsets: Sequence[int] = field(repr=False)
    initials: Sequence[tuple[Grams, Sequence[int]]] = field(repr=False)  # with the word each one belongs to
    steps: Grams = field(repr=False)  # from letter to letter: the same in every shifted alphabet
    where: Mapping[str, Sequence[int]] = field(repr=False)
    near: Mapping[str, Near] = field(repr=False)
    sentences: Sequence[tuple[int, int]] = field(repr=False)
    within: Mapping[str, Sequence[int]] = field(repr=False)  # the sentences a telling word stands in
    contents: Sequence[int] = field(repr=False)  # how many such words each sentence has
    starts: frozenset[int] = field(repr=False)  # words a sentence begins with
    facts: Facts = field(repr=False)
    heard: Kept[Heard] = field(default_factory=Kept, repr=False)  # of what persons said
    replied: Kept[Pieces] = field(default_factory=Kept, repr=False)  # of earlier replies

    def layer_of(self, word: int) -> str:
        """The layer a word belongs to."""
        return self.layers[max(bisect_right(self.layers, (word, "\U0010ffff")) - 1, 0)][1]

    def layer_with(self, keys: Collection[str]) -> str:
        """The layer that has most of these facts."""
        names = Counter(name for key in keys for name in {layer for layer, _ in self.facts.sentences[key]})
        return max((name for _, name in self.layers), key=lambda name: names[name])

    def words_between(self, start: int, end: int) -> tuple[int, int]:
        """The words whose greater part lies among letters `start` to `end`, as first and past the last."""
        offsets = self.reading.offsets
        first, last = bisect_left(offsets, start), bisect_right(offsets, end) - 1
        if first > 0 and 2 * (offsets[first] - start) > offsets[first] - offsets[first - 1]:
            first -= 1
        if last < len(offsets) - 1 and 2 * (end - offsets[last]) > offsets[last + 1] - offsets[last]:
            last += 1
        return first, max(first, last)


def steps_of(letters: str) -> str:
    """How far each letter is from the one before, around the alphabet; a wall where one of them is not a to z."""
    codes, size = letters.encode("ascii", "replace"), max(len(letters) - 1, 0)
    # All at once, as numbers of so many bytes: no byte of the sum is less than 1 or more than 255.
    ones, seen = int.from_bytes(b"\x80" * size), codes.translate(_LETTER)
    apart = ones + int.from_bytes(codes[1:]) - int.from_bytes(codes[:-1])
    both = int.from_bytes(seen[1:]) & int.from_bytes(seen[:-1])
    return (int.from_bytes(apart.to_bytes(size).translate(_STEP)) & both).to_bytes(size).decode("ascii")


_LETTER: Final = bytes(255 if code > 96 else 0 for code in range(256))
_STEP: Final = bytes(97 + (code - 128) % 26 for code in range(256))


def index_of(hidden: str | Mapping[str, str]) -> Index:
    """The index of a hidden text, or of layers by their ids; made once for a text and remembered."""
    return _built((("", hidden),) if isinstance(hidden, str) else tuple(hidden.items()))


class _Layers:
    """Layers read one after the other: their words, and what is known of each word."""

    def __init__(self, layers: Iterable[tuple[str, str]]) -> None:
        self.words: list[str] = []
        self.starts: list[int] = []
        self.ends: list[int] = []
        self.shares: list[float] = []
        self.bare: list[str] = []
        self.leading: list[int] = []  # words that stand first between two spaces
        self.stops: set[int] = set()  # words a sentence begins with
        self.pauses: set[int] = set()  # words a clause begins with
        self.firsts: list[tuple[int, str]] = []
        for name, text in layers:
            self._add(name, text)

    def _add(self, name: str, text: str) -> None:
        plainly, base = plain(text), len(self.words)
        folded = fold_plain(plainly)
        parts = apart(folded)
        tokens = tokens_in(parts)
        self.firsts.append((base, name))
        self.stops |= {base} | {base + bisect_left(tokens.starts, found.start()) for found in _STOP.finditer(folded)}
        self.pauses |= {base + bisect_left(tokens.starts, found.start()) for found in _PAUSE.finditer(folded)}
        self.leading += [base + place for place in leaders(parts)]
        self.shares += shares_of(text, tokens)
        bare = bare_parts(plainly)
        self.bare += bare if len(bare) == len(tokens.words) else [""] * len(tokens.words)
        self.words += tokens.words
        self.starts += tokens.starts
        self.ends += tokens.ends

    def walled(self, parts: Iterable[str]) -> list[str]:
        """The parts, one for each word, with a wall before each layer."""
        walls = {first for first, _ in self.firsts}
        return [WALL + part if place in walls else part for place, part in enumerate(parts)]


@lru_cache(maxsize=16)
def _built(layers: tuple[tuple[str, str], ...]) -> Index:
    all_ = _Layers(layers)
    words = all_.words
    parts = all_.walled(letters_of(word) for word in words)
    letters, written = "".join(parts), "".join(all_.walled(spelled(word) for word in words))
    bare = all_.walled(all_.bare)
    sentences = _sentences(all_.stops, all_.pauses, len(words))
    within = _places_of((word, n) for n, (a, b) in enumerate(sentences) for word in sorted(set(words[a:b])))
    within = {word: found for word, found in within.items() if weigh(word) > FUNCTION and len(found) <= FREQUENT}
    bits, where = weights(words, all_.shares), _places_of((word, place) for place, word in enumerate(words))
    return Index(
        reading=Reading(words, all_.starts, all_.ends, letters, written, places(parts)),
        bits=bits,
        counts=[int(is_block(word) or (len(word) > 1 and not any(map(str.isdecimal, word)))) for word in words],
        layers=all_.firsts,
        letters=grams_of(letters, GRAM, part=PART),
        backward=grams_of(letters[::-1], GRAM),
        bare=grams_of("".join(bare), GRAM),
        bare_offsets=places(bare),
        initials=_initials_of(words, all_.leading),
        steps=grams_of(steps_of(written), GRAM),
        where=where,
        near={word: _near(words, bits, places) for word, places in where.items()},
        sentences=sentences,
        within=within,
        contents=[len(within.keys() & set(words[a:b])) for a, b in sentences],
        starts=frozenset(all_.stops | all_.pauses),
        facts=facts_of(layers),
    )


def _near(words: Sequence[str], bits: Sequence[float], places: Sequence[int]) -> Near:
    before, *earlier = (frozenset(words[place - far] for place in places if place >= far) for far in SKIPPED)
    return Near(max(bits[place] for place in places), before, earlier[0].union(*earlier[1:]))


def _initials_of(words: Sequence[str], leading: Sequence[int]) -> list[tuple[Grams, Sequence[int]]]:
    """The initials of all words and, where that differs, of those that stand first between two spaces."""
    tables = [_initials(words, range(len(words))), _initials(words, leading)]
    return tables if len(leading) < len(words) else tables[:1]


def _initials(words: Sequence[str], chosen: Iterable[int]) -> tuple[Grams, Sequence[int]]:
    """First letters, and the word of each; a character of a script without spaces has none."""
    heads = [place for place in chosen if not is_block(words[place])]
    return grams_of("".join(letters_of(words[place])[:1] or "?" for place in heads), 8), heads


def _places_of(pairs: Iterable[tuple[str, int]]) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for word, place in pairs:
        found.setdefault(word, []).append(place)
    return found


def _sentences(stops: Iterable[int], pauses: Iterable[int], size: int) -> list[tuple[int, int]]:
    """Sentences as first and past the last word: each by itself, its clauses, and a short one with the next."""
    ends = sorted({0, *stops, size})
    alone = list(pairwise(ends))
    clauses = [pair for pair in pairwise(sorted({*ends, *pauses})) if pair[1] - pair[0] >= 8]
    pairs = [(a, c) for (a, b), (_, c) in pairwise(alone) if min(b - a, c - b) < 8 and c - a <= LONGEST]
    parts = [(start, min(start + LONGEST, b)) for a, b in alone for start in range(a, b, LONGEST)]
    return sorted({(a, b) for a, b in (*parts, *clauses, *pairs) if b - a >= 6})
