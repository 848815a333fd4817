"""Which hidden words give something away: rare ones much, little what anyone may say or the agent is told to say."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import accumulate
from math import log2
from typing import Final

from .fold import skeleton
from .leak_read import fold
from .leak_words import letters_in, lexicon, weigh
from .lexicon import Tokens

_LETTER: Final = 0.35  # what a letter adds to the weight of its word
_STOCK: Final = 0.25  # of a word's weight, inside a phrase anyone may say
_TOLD: Final = 0.1  # inside words the agent is told to say
_THAT: Final = 0.5  # in what the agent is told to say in its own words
_CONJUNCTIONS: Final = frozenset(map(skeleton, ("that", "dass", "que", "che", "что", "dat", "że")))
_STOP: Final = re.compile(r"[.!?\n]")
_REACH: Final = 0.4  # in an address or a telephone number: it is there to be given
_LEAD: Final = 8  # words before a quotation that say what it is for
_QUOTED: Final = re.compile(
    r"[\"“„«「『][^\"“”„«»「」『』\n]{2,400}[\"”“»」』]|(?<!\w)['‘][^'’\n]{8,400}['’](?!\w)|`[^`\n]{8,400}`"
)
_REACHED: Final = re.compile(r"https?://\S+|[\w.+-]{1,64}@[\w-]+\.[\w.-]+|\+?\d[\d ()/-]{7,24}\d")


def weights(words: Sequence[str], shares: Sequence[float]) -> list[float]:
    """What each word gives away: a topic's own words come often and say little each time, long ones say more."""
    often = Counter(words)
    return [
        (max(weigh(word) - log2(often[word]) * 0.8, min(weigh(word), 1.0)) + _LETTER * min(letters_in(word), 12))
        * share
        for word, share in zip(words, shares, strict=True)
    ]


def sums_of(bits: Sequence[float]) -> list[float]:
    """Running sums, so that a stretch is weighed at once."""
    return [0.0, *accumulate(bits)]


def shares_of(text: str, tokens: Tokens) -> list[float]:
    """How much of its weight each word of a hidden text keeps."""
    shares = [1.0] * len(tokens.words)
    folded = fold(text)
    same = text if len(folded) == len(text) else folded  # places have to agree
    stretches = [(hit.first, hit.last, _STOCK) for hit in lexicon("stock").find(tokens)]
    stretches += [(*_words(tokens, found), _REACH) for found in _REACHED.finditer(same)]
    stretches += [(first, last, _TOLD) for first, last in _told(same, tokens)]
    stretches += [(first, last, _THAT) for first, last in _that(folded, tokens)]
    for first, last, share in stretches:
        for place in range(first, last):
            shares[place] = min(shares[place], share)
    return shares


def _that(folded: str, tokens: Tokens) -> Iterator[tuple[int, int]]:
    """What stands behind "say that" or "open with:", to the end of the sentence, unless it is forbidden."""
    nots = {hit.first for hit in lexicon("never").find(tokens)}
    for hit in lexicon("that").find(tokens):
        after = folded[hit.end : hit.end + 2]
        ends_in_that = tokens.words[hit.last - 1] in _CONJUNCTIONS
        if (ends_in_that or ":" in after) and not nots & set(range(max(0, hit.first - 3), hit.first)):
            stop = _STOP.search(folded, hit.end + 2)
            yield hit.last, bisect_left(tokens.starts, stop.start() if stop else len(folded))


def _words(tokens: Tokens, found: re.Match[str]) -> tuple[int, int]:
    return bisect_left(tokens.starts, found.start()), bisect_left(tokens.starts, found.end())


def _told(text: str, tokens: Tokens) -> Iterator[tuple[int, int]]:
    """Quoted words that stand behind "say", "answer" or "greet with", unless these are forbidden."""
    cues = {hit.first for hit in lexicon("say").find(tokens)}
    nots = {hit.first for hit in lexicon("never").find(tokens)}
    for found in _QUOTED.finditer(text):
        first, last = _words(tokens, found)
        lead = set(range(max(0, first - _LEAD), first))
        if lead & cues and not lead & nots:
            yield first, last
