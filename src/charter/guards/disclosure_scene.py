"""A message is read sentence by sentence: the words of each category, what stands in quotes, and what was pasted.

Only sentences that hold a trigger (a name of hidden text, a pointer to it, a hint at it) are read in full, so an
ordinary message costs one pass over its words.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Final

from .disclosure_tongue import spoken
from .lexicon import Hit, Lexicon, Tokens, read_tables, tokens_of

LONGEST, OVERLAP = 64, 20  # words of a window, and how many two windows share
FOLDER: Final = "disclosure"
NAMES: Final = ("hard", "soft")
TRIGGERS: Final = (
    *NAMES, "hard_yours", "soft_yours", "start", "context", "unseen", "guide", "briefed", "banned", "begin", "setup", "assigned", "above", "implicit", "verb_it", "yours_it", "first", "confess", "they", "handed", "unwritten", "maker", "notmine", "silenced", "clone", "desk",
)  # fmt: skip
# What a sentence of another language may borrow from English.
MIXED: Final = ("hard", "soft", "stuff", "other", "code", "start", "context", "exact")
# A hit of the first inside one of the others is not one.
WEAKER: Final = (
    ("hard", ("stuff",)), ("soft", ("hard", "stuff")), ("soft_yours", ("stuff",)), ("thin", ("hard", "stuff")),
    ("ask", ("meta", "define")), ("above", ("not_above",)),
)  # fmt: skip
FOLLOWING: Final = ("again", "pron", "tongue", "fill", "drop")
_END: Final = re.compile(
    r"[.!?…]+(?=[\s\"'”’»)\]]|\Z)|[。！？؟।۔]+|;(?=\s)|\n[ \t]*\n|\n(?=[ \t]*(?:[-*+•>#]|\d{1,3}[.)])[ \t])|(?<=[:.!?,;])[ \t]*\n"
)
_QUOTES: Final = re.compile(
    r"```.{1,4000}?```|`[^`\n]{1,400}`|\"[^\"\n]{1,600}\"|“[^”]{1,600}”|„[^“”]{1,600}[“”]|«[^»]{1,600}»|「[^」]{1,600}」|『[^』]{1,600}』"
    r"|‘[^’\n]{1,400}’(?!\w)|(?<!\w)'[^'\n]{3,400}'(?!\w)",
    re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence: its words, and what was found among them by category."""

    tokens: Tokens = field(repr=False)
    by: Mapping[str, Sequence[Hit]] = field(repr=False)
    kinds: Sequence[frozenset[str]] = field(repr=False)  # of each word, the categories it belongs to

    def of(self, *categories: str) -> Sequence[Hit]:
        if len(categories) == 1:
            return self.by.get(categories[0], ())
        return [hit for category in categories for hit in self.by.get(category, ())]

    def known(self, at: int, *categories: str) -> bool:
        """Whether the word at this place belongs to something of these categories."""
        return 0 <= at < len(self.kinds) and not self.kinds[at].isdisjoint(categories)


Memory = dict[tuple[object, ...], Sentence]


@dataclass(frozen=True, slots=True)
class Scene:
    """A view of a message, read."""

    text: str = field(repr=False)
    tokens: Tokens = field(repr=False)
    sentences: Sequence[Sentence] = field(repr=False)
    quotes: Sequence[tuple[int, int]]

    def quoted(self, hit: Hit) -> bool:
        place = bisect_right(self.quotes, (hit.start, 1 << 62)) - 1
        return place >= 0 and hit.end <= self.quotes[place][1]


@cache
def _lexicon(language: str, kind: str) -> Lexicon:
    """One language's tables made ready; of a language that is only mixed in, its names."""
    table = read_tables(FOLDER)[language]
    keep = {"triggers": TRIGGERS, "names": MIXED}.get(kind)
    return Lexicon(
        {language: {c: p for c, p in table.items() if (c in keep if keep else kind == "following" or c not in FOLLOWING)}}
    )


@cache
def _triggers() -> Lexicon:
    return Lexicon(
        {language: {c: p for c, p in table.items() if c in TRIGGERS} for language, table in read_tables(FOLDER).items()}
    )


def is_wide(word: str) -> bool:
    """Whether this word is one character of a script that writes no spaces."""
    return len(word) == 1 and word > "\u0e00"


def read(text: str, *, following: bool = False, known: Memory | None = None) -> Scene:
    """The sentences of a folded text that may matter; `following`: all of them, with the words of follow-ups.

    `known` remembers sentences, so that views of one message that share them read them once.
    """
    tokens = tokens_of(text)
    triggers = [] if following else _triggers().find(tokens)
    if not triggers and not following:
        return Scene(text, tokens, (), ())
    quotes = [match.span() for match in _QUOTES.finditer(text)]
    marks: dict[int, str] = {hit.first: hit.language for hit in triggers}
    memory = {} if known is None else known
    sentences = []
    for first, last in _sentences(text, tokens):
        seen = {marks[at] for at in range(first, last) if at in marks}
        if following or seen:
            part = Tokens(tokens.words[first:last], tokens.starts[first:last], tokens.ends[first:last])
            sentences.append(_sentence(part, seen=seen, following=following, memory=memory))
    return Scene(text, tokens, sentences, quotes)


def _sentences(text: str, tokens: Tokens) -> Iterator[tuple[int, int]]:
    first = 0
    for match in _END.finditer(text):
        last = bisect_left(tokens.starts, match.end(), first)
        if last > first:
            yield from _windows(first, last)
            first = last
    if first < len(tokens.words):
        yield from _windows(first, len(tokens.words))


def _windows(first: int, last: int) -> Iterator[tuple[int, int]]:
    """A sentence, or windows of it that overlap: what is looked for near itself is near, and the work stays linear."""
    yield first, min(first + LONGEST, last)
    for start in range(first + LONGEST - OVERLAP, last - OVERLAP, LONGEST - OVERLAP):
        yield start, min(start + LONGEST, last)


def _sentence(part: Tokens, *, seen: Collection[str], following: bool, memory: Memory) -> Sentence:
    key = (following, *part.words)
    if (known := memory.get(key)) is not None:
        by = {category: [_moved(hit, part) for hit in hits] for category, hits in known.by.items()}
        return Sentence(part, by, known.kinds)
    languages = spoken(part.words) or sorted(seen)
    kind = "following" if following else "all"
    hits = [hit for language in languages for hit in _lexicon(language, kind).find(part)]
    if "en" not in languages:
        hits += _lexicon("en", "names").find(part)
    found: dict[str, list[Hit]] = {}
    for hit in hits:
        found.setdefault(hit.category, []).append(hit)
    for weaker, stronger in WEAKER:
        if weaker in found:
            others = [other for category in stronger for other in found.get(category, ())]
            found[weaker] = [hit for hit in found[weaker] if not _inside(hit, others)]
    kinds: list[set[str]] = [set() for _ in part.words]
    for category, some in found.items():
        for hit in some:
            for at in range(hit.first, hit.last):
                kinds[at].add(category)
    sentence = Sentence(part, found, [frozenset(one) for one in kinds])
    memory[key] = sentence
    return sentence


def _moved(hit: Hit, part: Tokens) -> Hit:
    return hit._replace(start=part.starts[hit.first], end=part.ends[hit.last - 1])


def _inside(hit: Hit, others: Sequence[Hit]) -> bool:
    return any(other.first <= hit.first and hit.last <= other.last for other in others)
