"""Where a text is cut: fences and quotations first, then sentences around them, clauses and commas inside them."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from .lexicon import tokens_of
from .override_words import is_telling
from .views import View, Views

Place = tuple[int, int]

_PAIRS: Final = (
    ('"', '"'), ("“", "”“\""), ("„", "“”\""), ("«", "»"), ("»", "«"), ("‘", "’"), ("「", "」"),
    ("『", "』"), ("`", "`"), ("‚", "‘’"),
)  # fmt: skip
_QUOTED: Final = re.compile(
    "|".join(rf"{opening}(?:[^{end}\n]|\n(?![ \t]*\n)){{1,300}}[{end}]" for opening, end in _PAIRS)
    + r"|'(?<!\w')(?:[^'\n]|(?<=\w)'(?=\w)|\n(?![ \t]*\n)){1,300}'(?!\w)"
)
_FENCE: Final = re.compile(r"^[ \t>]*(`{3,}|~{3,})(.*)$", re.MULTILINE)
_ITEM: Final = r"[ \t]*(?:[-*+•·#>|]|\d{1,3}[.)]|\([a-z\d]{1,2}\)|[a-z]\))[ \t]"
# What is rare stands first, and what is before it is asserted behind it: so most of a text is passed over untried.
_END: Final = re.compile(
    r"[.。！？!?｡।؟۔\n \t*_](?:(?<=[.!?])"
    r"(?<!\A\d.)(?<!\n\d.)(?<!\n\d\d.)(?<!\n[ \t]\d.)(?<!\n[ \t][ \t]\d.)(?<!\n[ \t][ \t][ \t]\d.)"
    r"(?<![\s.](?:e|i)\.(?:g|e).)(?<!\bvs.)(?<!\betc.)(?<!\bno.)(?<!\bapprox.)[.!?]*(?=[\"'”’»)\]*_」]*(?:\s|\Z))"
    r"|(?<=[。！？!?｡।؟۔])(?=[^\s\d.,;:)\"'”’»」』])|(?<=[。।۔])|(?<=\n)[ \t]*\n"
    rf"|(?<=[:.!?;,]\n)|(?<=[:.!?;,][ \t*_])[ \t*_]*\n|(?<=\n)(?={_ITEM})|(?<=\n)(?=[ \t]*[\w.-]+:[ \t]))"
)
_CLAUSE: Final = re.compile(r"[;:؛；：\s—.()→⇒=-](?:(?<=[;:؛；：—()→⇒])|(?<=\s)[-–—]+\s|(?<=\n)|(?<=\.)\.+|(?<=[-=])>)")
_COMMA: Final = re.compile(r"[,،、，]")
_HEADING: Final = re.compile(r"[ \t]*(?:#{1,6}[ \t]|\*\*[^*\n]{1,80}\*\*:?[ \t]*\Z)")
_LISTED: Final = re.compile(rf"\s*{_ITEM}")
_PARAGRAPH: Final = re.compile(r"\n[ \t]*\n+")
_MOST_WORDS: Final = 120
_SOFT: Final = 60  # a line shorter than this was ended on purpose


@dataclass(frozen=True, slots=True)
class Sentence:
    """Words `first` to `last` (exclusive), characters `start` to `end`; `lead` is the line an item stands under."""

    number: int
    first: int
    last: int
    start: int
    end: int
    lead: int


def fences_of(text: str) -> list[Place]:
    """Closed fences; one that never closes hides nothing."""
    found: list[Place] = []
    if "```" not in text and "~~~" not in text:
        return found
    opened: re.Match[str] | None = None
    for match in _FENCE.finditer(text):
        mark, rest = match.group(1), match.group(2)
        if opened is None:
            opened = None if mark[0] == "`" and "`" in rest else match
        elif mark.startswith(opened.group(1)) and not rest.strip():
            found.append((opened.start(), match.end()))
            opened = None
    return found


def quotes_of(text: str, fences: Sequence[Place]) -> list[Place]:
    """Quotations and code in a line, outside fences."""
    return [found.span() for found in _QUOTED.finditer(text) if holder(fences, found.start()) is None]


def holder(spans: Sequence[Place], start: int, end: int = -1) -> Place | None:
    """Which of these spans, sorted and apart, holds a stretch of characters."""
    place = bisect_right(spans, (start, 1 << 60)) - 1
    held = place >= 0 and spans[place][0] <= start < spans[place][1] and end <= spans[place][1]
    return spans[place] if held else None


def commas_of(text: str, starts: Sequence[int]) -> list[int]:
    """The words right after a comma."""
    return [bisect_left(starts, found.start()) for found in _COMMA.finditer(text)]


def clauses_of(text: str, starts: Sequence[int]) -> list[int]:
    """The words that begin a clause; the end of a long line is no break, it was only wrapped."""
    return [
        bisect_left(starts, found.start())
        for found in _CLAUSE.finditer(text)
        if found.group() != "\n" or found.start() - text.rfind("\n", 0, found.start()) < _SOFT
    ]


def sentences_of(text: str, starts: Sequence[int], kept: Sequence[Place]) -> list[Sentence]:
    """Sentences that hold a word; what is kept together is not cut."""
    whole = sorted(kept)
    ends = [found.end() for found in _END.finditer(text) if not whole or not _splits(whole, found.start())]
    found: list[Sentence] = []
    start, lead = 0, -1
    for end in _capped(starts, [*ends, len(text)]):
        first, last = bisect_left(starts, start), bisect_left(starts, end)
        if last > first:
            line, number = text[start:end], len(found)
            begun, heading, held = line.lstrip(), False, False
            if not begun[:1].isalpha() or begun[1:2] == ")":
                heading = _HEADING.match(line) is not None
                held = _LISTED.match(line) is not None or begun.startswith(("```", "~~~"))
            found.append(
                Sentence(number, first, last, start, end, lead if not heading and (held or lead == number - 1) else -1)
            )
            if heading or line.rstrip(" \t\n*_").endswith((":", "：")):
                lead = number
            elif not held:
                lead = -1
        start = end
    return found or [Sentence(0, 0, len(starts), 0, len(text), -1)]


def _splits(whole: Sequence[Place], at: int) -> bool:
    span = holder(whole, at)
    return span is not None and at < span[1] - 1


def _capped(starts: Sequence[int], ends: Sequence[int]) -> Iterator[int]:
    """Ends of sentences, with one more after every so many words: what is compared within one stays bounded."""
    done = 0
    for end in ends:
        last = bisect_left(starts, end)
        while last - done > _MOST_WORDS:
            done += _MOST_WORDS
            yield starts[done]
        yield end
        done = last


def changed(views: Views) -> Iterator[tuple[View, int, str]]:
    """Every view with where to read in it: the plain one whole, of others the paragraphs with new words that tell."""
    yield views.plain, 0, views.plain.text
    if len(views.all) < 2:
        return
    plain = Counter(tokens_of(views.plain.text).words)
    known = set[str]()
    for view in views.all[1:]:
        words = Counter(tokens_of(view.text).words)
        new = {word for word, count in words.items() if count > plain.get(word, 0) and is_telling(word)}
        if new and not known:
            known.update(part for _, part in _paragraphs(views.plain.text))
        for start, part in _paragraphs(view.text) if new else ():
            if part not in known and not new.isdisjoint(tokens_of(part).words):
                known.add(part)
                yield view, start, part


def _paragraphs(text: str) -> Iterator[tuple[int, str]]:
    """Paragraphs with where they begin; a list stays with the line above it, a fence stays whole."""
    fences, start = fences_of(text), 0
    for found in _PARAGRAPH.finditer(text):
        if holder(fences, found.start()) is None and not _LISTED.match(text, found.end()):
            yield start, text[start : found.end()]
            start = found.end()
    yield start, text[start:]
