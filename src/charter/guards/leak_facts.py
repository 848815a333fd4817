"""What a text says in other words still shows in its names, codes, numbers and rare words: many of them together are a leak."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final, NamedTuple

from .fold import skeleton
from .leak_read import Reading
from .leak_words import COMMON, RARE, lexicon, stem, weigh
from .lexicon import Tokens

REACH: Final = 140  # words of a reply in which facts come together
_NAME, _CODE, _NUMBER, _LONG_NUMBER, _WORD, _QUOTE = 3.0, 3.0, 1.5, 2.5, 1.0, 3.0
_PUBLIC: Final = 0.25  # of a fact's weight: the agent's own name and house, and how they can be reached
_OPENING: Final = 24  # words in which an agent is told who it is
_FACT: Final = re.compile(
    r"(?P<reach>https?://\S+|[\w.+-]+@[\w-]+\.[\w.-]+|\+?\d[\d ()/-]{7,}\d)"
    r"|(?P<number>\d+(?:[.,:/–-]\d+)+|\d{2,})"
    r"|(?P<code>[^\W\d_]+(?:[-_/][^\W_]+)*[-_/]?\d[\w-]*|[^\W\d_]\w*(?:[_/]\w+)+|[A-Z]{3,}(?:-[A-Z]+)*)"
    r"|(?P<quote>[“「『«„\"]([^“”「」『』«»„\"\n]{2,24})[”」』»“\"])"
    r"|(?P<word>[^\W\d_]{3,})"
)
_BEGINS: Final = re.compile(r"(?:^|[.!?:;。！？\n>*#\-•]|\d[.)])[\s\"“„«*_`>#-]*$")


class Facts(NamedTuple):
    """Facts by how they are written: words by their stems, numbers and codes by their letters, short phrases in quotes."""

    weights: Mapping[str, float]
    phrases: Mapping[str, float]
    layers: Sequence[tuple[str, frozenset[str]]]  # the facts of each layer


@dataclass(frozen=True, slots=True)
class Told:
    """Facts of the hidden text that came together in a reply."""

    weight: float
    count: int
    start: int  # characters of the folded reply
    end: int
    keys: frozenset[str] = field(repr=False)

    def about(self, reading: Reading) -> int:
        """How often the reply speaks of its own instructions."""
        tokens = Tokens(reading.words, reading.starts, reading.ends)
        return len({hit.first for hit in lexicon("about").find(tokens)})


def key_of(text: str) -> str:
    """How a fact is compared: digits and letters only, a word by its stem."""
    folded = "".join(char for char in skeleton(text) if char.isalnum())
    return stem(folded) if folded.isalpha() else folded


def facts_of(layers: Iterable[tuple[str, str]]) -> Facts:
    """The facts of hidden texts, each with what it gives away."""
    weights: dict[str, float] = {}
    phrases: dict[str, float] = {}
    often: Counter[str] = Counter()
    having: list[tuple[str, frozenset[str]]] = []
    for name, text in layers:
        here: set[str] = set()
        noisy = _capitals(text) > 0.22
        opening = _nth(text, _OPENING)
        for found in _FACT.finditer(text):
            kind, key = found.lastgroup or "", key_of(found.group())
            weight = _weight(kind, found, text, noisy=noisy)
            if kind == "quote" and len(key) >= 2 and not found.group().isascii() and " " not in found.group():
                phrases[key] = _QUOTE
                here.add(key)
            if weight <= 0 or len(key) < 2:
                continue
            here.add(key)
            often[key] += 1
            weights[key] = max(
                weights.get(key, 0.0), weight * (_PUBLIC if found.start() < opening and kind != "number" else 1.0)
            )
            if found.start() < opening and kind in ("word", "code"):
                weights[key] = min(weights[key], weight * _PUBLIC)
        having.append((name, frozenset(here)))
    return Facts({key: weight / (1 + 0.5 * (often[key] > 2)) for key, weight in weights.items()}, phrases, having)


def _capitals(text: str) -> float:
    """How many words within sentences begin with a capital: many in German, where that says nothing."""
    inside = re.findall(r"[^\W\d_] ([^\W\d_])[^\W\d_]{2,}", text)
    return sum(letter.isupper() for letter in inside) / max(len(inside), 1)


def _nth(text: str, number: int) -> int:
    for count, found in enumerate(re.finditer(r"\S+", text)):
        if count == number:
            return found.start()
    return len(text) // 2


def _weight(kind: str, found: re.Match[str], text: str, *, noisy: bool) -> float:
    word = found.group()
    if kind == "number":
        return _LONG_NUMBER if len(word) > 2 and not word.isdecimal() or len(word) > 3 else _NUMBER
    if kind == "reach":
        return _CODE * _PUBLIC
    if kind == "code":
        return _CODE if weigh(skeleton(word)) > COMMON else 0.0
    if kind != "word":
        return 0.0
    rare = weigh(skeleton(word))
    if word[0].isupper() and rare > COMMON + 1 and not _BEGINS.search(text[max(0, found.start() - 12) : found.start()]):
        return _WORD * 1.5 if noisy else _NAME
    return _WORD if rare >= RARE - 1 else 0.0


_SAID: Final = re.compile(r"\d+(?:[.,:/–-]\d+)+|[^\W_]+(?:[-_/][^\W_]+)*")


def told(facts: Facts, folded: str, reading: Reading, used: frozenset[str]) -> Told:
    """The most facts that come together anywhere in a reply, but for what the person said themselves."""
    seen: deque[tuple[int, str, int]] = deque()
    live: Counter[str] = Counter()
    best = Told(0.0, 0, 0, 0, frozenset())
    weight = 0.0
    for place, key, end in _met(facts, folded, used):
        seen.append((place, key, end))
        live[key] += 1
        weight += _of(facts, key) if live[key] == 1 else 0.0
        while _words(reading, seen[0][0], place) > REACH:
            _, old, _ = seen.popleft()
            live[old] -= 1
            weight -= _of(facts, old) if not live[old] else 0.0
        if weight > best.weight:
            keys = frozenset(key for key, count in live.items() if count)
            best = Told(weight, len(keys), seen[0][0], end, keys)
    return best


def _of(facts: Facts, key: str) -> float:
    return facts.weights.get(key) or facts.phrases[key]


def _words(reading: Reading, start: int, end: int) -> int:
    return bisect_left(reading.starts, end) - bisect_left(reading.starts, start)


def _met(facts: Facts, folded: str, used: frozenset[str]) -> Iterator[tuple[int, str, int]]:
    """Facts in a reply in its order, as (start, key, end)."""
    met: list[tuple[int, str, int]] = []
    for found in _SAID.finditer(folded):
        for part in {found.group(), *re.split(r"[-_/–]", found.group())}:
            key = _key(part)
            if key in facts.weights and part not in used and key not in used:
                met.append((found.start(), key, found.end()))
    for phrase in facts.phrases:
        at = folded.find(phrase)
        if at >= 0 and phrase not in used:
            met.append((at, phrase, at + len(phrase)))
    yield from sorted(met)


@lru_cache(maxsize=65_536)
def _key(word: str) -> str:
    return key_of(word)
