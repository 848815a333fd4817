"""What is said in other words still shows in names, codes, numbers and rare words: many of them together are a leak."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import accumulate
from typing import Final, NamedTuple

from .fold import plain, skeleton
from .leak_read import Reading
from .leak_words import COMMON, RARE, lexicon, stem, weigh
from .lexicon import MET, Tokens

REACH: Final = 140  # words of a reply in which facts come together
_NAME, _CODE, _NUMBER, _LONG_NUMBER, _WORD, _QUOTE = 3.0, 3.0, 1.5, 2.5, 1.0, 3.0
_PUBLIC: Final = 0.25  # of a fact's weight: the agent's own name and house, and how they can be reached
_NOISY: Final = 0.22  # of the words within sentences that begin with a capital, as in German
_OPENING: Final = 24  # words in which an agent is told who it is
_FACT: Final = re.compile(
    r"(?P<reach>https?://\S+|[\w.+-]+@[\w-]+\.[\w.-]+|\+?\d[\d ()/-]{7,}\d)"
    r"|(?P<number>\d+(?:[.,:/–-]\d+)+|\d{2,})"
    r"|(?P<code>[^\W\d_]+(?:[-_/][^\W_]+)*[-_/]?\d[\w-]*|[^\W\d_]\w*(?:[_/]\w+)+|[A-Z]{3,}(?:-[A-Z]+)*)"
    r"|(?P<quote>[“「『«„\"]([^“”「」『』«»„\"\n]{2,24})[”」』»“\"])"
    r"|(?P<word>[^\W\d_]{3,})"
)
_SENTENCE: Final = re.compile(r"[.!?;:]\s|[。！？।\n]")
_BEGINS: Final = re.compile(r"(?:^|[.!?:;。！？\n>*#\-•]|\d[.)])[\s\"“„«*_`>#-]*$")


class Facts(NamedTuple):
    """What each fact gives away: words by their stems, numbers and codes by their letters, short phrases in quotes."""

    weights: Mapping[str, float]
    phrases: frozenset[str]  # facts that are looked for within words: names in scripts without spaces
    sentences: Mapping[str, frozenset[tuple[str, int]]]  # where each one stands: layer, and sentence of it
    met: Mapping[str, Sequence[str]]  # words, and the facts that they or parts of them are


class _Met(dict[str, Sequence[str]]):
    """Words that were met, and the facts they are; it stops growing, so no text can make it large."""

    def __init__(self, weights: Mapping[str, float]) -> None:
        self._weights = weights

    def __missing__(self, word: str) -> Sequence[str]:
        parts = {word, *_PARTS.split(word)} if _PARTS.search(word) else (word,)
        found = tuple(key for key in map(_key, parts) if key in self._weights)
        if len(self) < MET:
            self[word] = found
        return found


@dataclass(frozen=True, slots=True)
class Told:
    """Facts of the hidden text that came together in a reply."""

    weight: float
    spread: int  # sentences of the hidden text that they come from, at the least
    start: int  # characters of the folded reply
    end: int
    keys: frozenset[str] = field(repr=False)

    def about(self, reading: Reading) -> int:
        """How often the reply speaks of its own instructions."""
        tokens = Tokens(reading.words, reading.starts, reading.ends)
        return len({hit.first for hit in lexicon("about").find(tokens)})


def key_of(text: str) -> str:
    """How a fact is compared: digits and letters only, a word by its stem."""
    folded = "".join(filter(str.isalnum, skeleton(plain(text))))
    return stem(folded) if folded.isalpha() else folded


def facts_of(layers: Iterable[tuple[str, str]]) -> Facts:
    """The facts of hidden texts, each with what it gives away."""
    weights: dict[str, float] = {}
    phrases: set[str] = set()
    sentences: dict[str, set[tuple[str, int]]] = {}
    often: Counter[str] = Counter()
    for name, text in layers:
        noisy, opening = _capitals(text) > _NOISY, _nth(text, _OPENING)
        ends = [found.end() for found in _SENTENCE.finditer(text)]
        for found in _FACT.finditer(text):
            key, kind = key_of(found.group()), found.lastgroup
            weight = _weight(found, text, noisy=noisy)
            if weight <= 0 or len(key) < 2:
                continue
            if kind == "quote":
                phrases.add(key)
            if found.start() < opening and kind != "number":
                weight *= _PUBLIC
                weights[key] = min(weight, weights.get(key, weight))
            often[key] += 1
            weights.setdefault(key, weight)
            sentences.setdefault(key, set()).add((name, bisect_right(ends, found.start())))
    known = {key: weight / (1.5 if often[key] > 2 else 1.0) for key, weight in weights.items()}
    placed = {key: frozenset(places) for key, places in sentences.items()}
    return Facts(known, frozenset(phrases), placed, _Met(known))


def _capitals(text: str) -> float:
    """How many words within sentences begin with a capital: many in German, where that says nothing."""
    inside = re.findall(r"[^\W\d_] ([^\W\d_])[^\W\d_]{2,}", text)
    return len([letter for letter in inside if letter.isupper()]) / max(len(inside), 1)


def _nth(text: str, number: int) -> int:
    for count, found in enumerate(re.finditer(r"\S+", text)):
        if count == number:
            return found.start()
    return len(text) // 2


def _weight(found: re.Match[str], text: str, *, noisy: bool) -> float:
    word = found.group()
    if found.lastgroup == "number":
        return _LONG_NUMBER if len(word) > 2 and (len(word) > 3 or not word.isdecimal()) else _NUMBER
    if found.lastgroup == "reach":
        return _CODE * _PUBLIC
    if found.lastgroup == "quote":
        return 0.0 if word.isascii() or " " in word else _QUOTE
    rare = weigh(skeleton(plain(word)))
    if found.lastgroup == "code":
        return _CODE if rare > COMMON else 0.0
    if word[0].isupper() and rare > COMMON + 1 and not _BEGINS.search(text[max(0, found.start() - 12) : found.start()]):
        return _WORD * 1.5 if noisy else _NAME
    return _WORD if rare >= RARE - 1 else 0.0


_PARTS: Final = re.compile(r"[-_/–]")
_SAID: Final = re.compile(r"(\d++(?:[.,:/–-]\d++)++|[^\W_]++(?:[-_/][^\W_]++)*+)")


def told(facts: Facts, folded: str, reading: Reading, used: frozenset[str]) -> Told:
    """The most facts that come together anywhere in a reply, but for what the person said themselves."""
    seen: deque[tuple[int, str, int]] = deque()
    live: Counter[str] = Counter()
    best = Told(0.0, 0, 0, 0, frozenset())
    weight = 0.0
    for place, key, end in _met(facts, folded):
        if key in used:
            continue
        seen.append((place, key, end))
        live[key] += 1
        weight += facts.weights[key] if live[key] == 1 else 0.0
        while _words(reading, seen[0][0], place) > REACH:
            _, old, _ = seen.popleft()
            live[old] -= 1
            weight -= 0.0 if live[old] else facts.weights[old]
        if weight > best.weight:
            keys = frozenset(key for key, count in live.items() if count)
            best = Told(weight, _spread(facts, keys), seen[0][0], end, keys)
    return best


def _spread(facts: Facts, keys: Iterable[str]) -> int:
    """How many sentences it takes at the least, about, to have all these facts."""
    taken: set[tuple[str, int]] = set()
    for places in sorted((facts.sentences[key] for key in keys), key=lambda places: (len(places), sorted(places))):
        if not places & taken:
            taken.add(min(places))
    return len(taken)


def keys_in(facts: Facts, text: str) -> Iterator[str]:
    """The facts a text has."""
    return (key for _, key, _ in _met(facts, skeleton(plain(text))))


def _words(reading: Reading, start: int, end: int) -> int:
    return bisect_left(reading.starts, end) - bisect_left(reading.starts, start)


def _met(facts: Facts, folded: str) -> list[tuple[int, str, int]]:
    """Facts in a folded text in its order, as (start, key, end)."""
    apart = _SAID.split(folded)
    said = [(at, keys) for at, keys in enumerate(map(facts.met.__getitem__, apart[1::2])) if keys]
    places = [*accumulate(map(len, apart))] if said else []
    met = [(places[2 * at], key, places[2 * at + 1]) for at, keys in said for key in keys]
    met += [
        (folded.find(phrase), phrase, folded.find(phrase) + len(phrase)) for phrase in facts.phrases if phrase in folded
    ]
    return sorted(met)


@lru_cache(maxsize=65_536)
def _key(word: str) -> str:
    return key_of(word)
