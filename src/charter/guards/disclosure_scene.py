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

FOLDER: Final = "disclosure"
NAMES: Final = ("hard", "soft")
TRIGGERS: Final = (
    *NAMES, "hard_yours", "soft_yours", "start", "context", "unseen", "guide", "briefed", "banned", "begin", "setup", "assigned", "above", "implicit", "verb_it", "yours_it", "first", "confess", "they", "handed",
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
    first: int
    last: int
    by: Mapping[str, Sequence[Hit]] = field(repr=False)

    def of(self, *categories: str) -> list[Hit]:
        return [hit for category in categories for hit in self.by.get(category, ())]

    def known(self, at: int, *categories: str) -> bool:
        """Whether the word at this place belongs to something of these categories."""
        return any(hit.first <= at < hit.last for hit in self.of(*categories))


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


def read(text: str, *, following: bool = False) -> Scene:
    """The sentences of a folded text that may matter; `following`: all of them, with the words of follow-ups."""
    tokens = tokens_of(text)
    quotes = [match.span() for match in _QUOTES.finditer(text)]
    triggers = [] if following else _triggers().find(tokens)
    if not triggers and not following:
        return Scene(text, tokens, (), quotes)
    marks: dict[int, str] = {hit.first: hit.language for hit in triggers}
    sentences = []
    for first, last in _sentences(text, tokens):
        seen = {marks[at] for at in range(first, last) if at in marks}
        if following or seen:
            sentences.append(_sentence(tokens, first, last, seen=seen, kind="following" if following else "all"))
    return Scene(text, tokens, sentences, quotes)


def _sentences(text: str, tokens: Tokens) -> Iterator[tuple[int, int]]:
    first = 0
    for match in _END.finditer(text):
        last = bisect_left(tokens.starts, match.end(), first)
        if last > first:
            yield first, last
            first = last
    if first < len(tokens.words):
        yield first, len(tokens.words)


def _sentence(tokens: Tokens, first: int, last: int, *, seen: Collection[str], kind: str) -> Sentence:
    part = Tokens(tokens.words[first:last], tokens.starts[first:last], tokens.ends[first:last])
    languages = spoken(part.words) or sorted(seen)
    hits = [hit for language in languages for hit in _lexicon(language, kind).find(part)]
    if "en" not in languages:
        hits += _lexicon("en", "names").find(part)
    by: dict[str, list[Hit]] = {}
    for hit in hits:
        by.setdefault(hit.category, []).append(hit)
    for weaker, stronger in WEAKER:
        if weaker in by:
            by[weaker] = [hit for hit in by[weaker] if not _inside(hit, [o for s in stronger for o in by.get(s, ())])]
    return Sentence(part, first, last, by)


def _inside(hit: Hit, others: Sequence[Hit]) -> bool:
    return any(other.first <= hit.first and hit.last <= other.last for other in others)
