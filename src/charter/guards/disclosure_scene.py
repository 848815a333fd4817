"""A message is read sentence by sentence: the words of each category, what stands in quotes, and what was pasted.

Only sentences that hold a trigger (a name of hidden text, a pointer to it, a hint at it) are read in full, so an
ordinary message costs one pass over its words.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Final

from .lexicon import Hit, Lexicon, Tokens, read_tables, tokens_of

FOLDER: Final = "disclosure"
NAMES: Final = ("hard", "soft")
TRIGGERS: Final = (
    *NAMES, "hard_yours", "soft_yours", "start", "context", "unseen", "guide", "briefed", "banned", "begin", "setup", "assigned", "above", "implicit",
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
def _lexicon(kind: str) -> Lexicon:
    chosen: dict[str, dict[str, Sequence[str]]] = {}
    for language, table in read_tables(FOLDER).items():
        chosen[language] = {
            category: patterns
            for category, patterns in table.items()
            if (category in TRIGGERS if kind == "triggers" else kind == "following" or category not in FOLLOWING)
        }
    return Lexicon(chosen)


def is_wide(word: str) -> bool:
    """Whether this word is one character of a script that writes no spaces."""
    return len(word) == 1 and word > "\u0e00"


def read(text: str, *, following: bool = False) -> Scene:
    """The sentences of a folded text that may matter; `following`: all of them, with the words of follow-ups."""
    tokens = tokens_of(text)
    quotes = [match.span() for match in _QUOTES.finditer(text)]
    triggers = [] if following else _lexicon("triggers").find(tokens)
    if not triggers and not following:
        return Scene(text, tokens, (), quotes)
    marks = {hit.first for hit in triggers}
    sentences = []
    for first, last in _sentences(text, tokens):
        if following or any(at in marks for at in range(first, last)):
            sentences.append(_sentence(tokens, first, last, kind="following" if following else "all"))
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


def _sentence(tokens: Tokens, first: int, last: int, *, kind: str) -> Sentence:
    part = Tokens(tokens.words[first:last], tokens.starts[first:last], tokens.ends[first:last])
    by: dict[str, list[Hit]] = {}
    for hit in _lexicon(kind).find(part):
        by.setdefault(hit.category, []).append(hit)
    for weaker, stronger in (("hard", ("stuff",)), ("soft", ("hard", "stuff")), ("thin", ("hard", "stuff")), ("ask", ("meta",))):
        if weaker in by:
            by[weaker] = [hit for hit in by[weaker] if not _inside(hit, [o for s in stronger for o in by.get(s, ())])]
    return Sentence(part, first, last, by)


def _inside(hit: Hit, others: Sequence[Hit]) -> bool:
    return any(other.first <= hit.first and hit.last <= other.last for other in others)
