"""A file that commands its reader is found span by span: an owner's stays whole, others' spans are quarantined.

A mention is never a span: what stands in quotes, in code, in a closed fence, or is negated or reported. Spans are
sorted and do not overlap; one whose hash was pinned is accepted. Every step is bounded: the time is linear.
"""

from __future__ import annotations

import hashlib
import re
from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Final

from ..core.errors import BadValue
from ..core.text import Trust
from .files_signs import comments, is_cited, plain_signs
from .finding import Finding, Span
from .override_rules import marks_of
from .override_shape import shapes_of
from .override_things import DENY, Mark
from .override_words import REASONS
from .quiet import quietly
from .reading import Reading, Sentence
from .reading_cuts import changed, holder
from .views import View, Views, views_of

__all__ = ["Span", "find_spans", "pin", "quarantine", "scan_file"]

_TRUSTS: Final = {
    "operator": Trust.OPERATOR,
    "owner": Trust.OPERATOR,
    "project": Trust.PROJECT,
    "outside": Trust.OUTSIDE,
}
_ALWAYS: Final = frozenset(
    ("OVERRIDE", "AUTHORITY", "ROLE_CHANGE", "EXFILTRATE", "CONCEAL", "TRIGGER", "CONTROL_GRANT")
)
_ADDRESSED: Final = _ALWAYS | {"TAMPER", "DISCLOSE"}
_SHELL: Final = "command that carries secrets out"
_SHAPES: Final = {
    "chat token": "CHAT_TOKEN",
    "style that hides": "HIDDEN_TEXT",
    "picture that carries data": "EXFILTRATE",
    _SHELL: "EXFILTRATE",
}
_DECODED: Final = frozenset("base64 hex url html morse binary tags".split())
_DEEP: Final = 16
_DENSE, _APART = 6, 2  # so many hidden characters, so close together, are a text of their own
_MOST: Final = 64  # spans that one view may add
_LONGEST: Final = 8  # sentences of one span
_KEPT_CHARS: Final = 32_768


@quietly
def scan_file(text: str, *, trust: Trust | str, pinned: Collection[str] = ()) -> Finding:
    """What commands the reader: in an owner's file a warning, in others' files spans to be quarantined."""
    spans = tuple(span for span in find_spans(text) if not pinned or pin(text, span) not in pinned)
    if not spans:
        return Finding("allow")
    count = f"{len(spans)} span{'s' * (len(spans) > 1)}"
    if _trust(trust) is Trust.OPERATOR:
        return Finding("allow", spans[0].code, f"{count}: the file is the owner's and stays whole", spans)
    return Finding("deny", spans[0].code, f"{count}: others wrote the file, each is quarantined", spans)


def _trust(trust: Trust | str) -> Trust:
    if isinstance(trust, Trust):
        return trust
    if trust.lower() not in _TRUSTS:
        raise BadValue("trust", f"one of {', '.join(_TRUSTS)}")
    return _TRUSTS[trust.lower()]


def pin(text: str, span: Span) -> str:
    """The hash that accepts this span wherever it stands: sha256 of its text."""
    return hashlib.sha256(text[span.start : span.end].encode("utf-8", "surrogatepass")).hexdigest()


def quarantine(text: str, spans: Sequence[Span]) -> str:
    """The text with each span replaced by a visible one-line notice of its size and code."""
    parts, end = [], 0
    for span in sorted(spans, key=lambda span: span.start):
        parts += [text[end : span.start], f"[quarantined: {span.end - span.start:,} characters, {span.code}]"]
        end = max(end, span.end)
    return "".join([*parts, text[end:]])


def find_spans(text: str) -> tuple[Span, ...]:
    """The spans of a text in order; where two would overlap they are one, with the first one's code."""
    return _known(text) if len(text) <= _KEPT_CHARS else _spans(text)


def _spans(text: str) -> tuple[Span, ...]:
    views = views_of(text)
    found = [*_hidden(text, views.hidden), *plain_signs(text), *_read(text, views)]
    spans: list[Span] = []
    for span in sorted(found, key=lambda span: (span.start, -span.end)):
        if spans and span.start < spans[-1].end:
            spans[-1] = replace(spans[-1], end=max(spans[-1].end, span.end))
        else:
            spans.append(span)
    return tuple(spans)


# The same files stand in every prompt: what was looked at is not looked at again.
_known = lru_cache(maxsize=256)(_spans)


def _hidden(text: str, runs: Sequence[tuple[int, int]]) -> Iterator[Span]:
    """Runs of hidden characters, and single ones that stand between all the letters of a text."""
    cluster: list[tuple[int, int]] = []
    for run in [*runs, (len(text) + _APART + 1, len(text) + _APART + 1)]:
        if cluster and run[0] - cluster[-1][1] > _APART:
            if len(cluster) >= _DENSE or any(end - start > 1 for start, end in cluster):
                wide = cluster if len(cluster) >= _DENSE else [one for one in cluster if one[1] - one[0] > 1]
                yield Span(wide[0][0], wide[-1][1], "HIDDEN_TEXT", "holds characters that no reader sees")
            cluster = []
        cluster.append(run)


# ── what the rules read ───────────────────────────────────────────────────────────────────────────────────────────


def _read(text: str, views: Views) -> Iterator[Span]:
    for view, offset, part in changed(views):
        decoded = not _DECODED.isdisjoint(view.name.split(">"))
        reading = Reading(part, fences_are_mentions=True)
        hidden = list(comments(part))
        marks = [mark for mark in _marks(reading, hidden) if decoded or not _is_shown(reading, mark)]
        for start, end, code in _merged(_stretch(reading, mark, hidden) for mark in marks[:_MOST]):
            yield Span(
                *_at(text, view, offset + start, offset + end),
                code,
                REASONS.get(code, "gives orders where no reader sees them"),
            )


def _marks(reading: Reading, hidden: Sequence[tuple[int, int]]) -> Iterator[Mark]:
    """Marks that count in a file: grave ones, and lesser ones in words to an assistant or in a comment."""
    for mark in marks_of(reading):
        near = _is_addressed(reading, mark.start) or any(start <= mark.start < end for start, end in hidden)
        grave = mark.weight == DENY and not (mark.code == "AUTHORITY" and "supreme" in mark.factors)
        grave = grave or (
            mark.factors[0] == "untold"
            and reading.by[_sentence(reading, mark.start).number].keys() & {"this", "watcher", "matter"} != set()
        )
        if (grave and mark.code in _ALWAYS) or (near and mark.code in _ADDRESSED):
            yield mark
    for mark in shapes_of(reading.text):
        if mark.factors[0] in _SHAPES or (mark.factors[0] == "forged role" and mark.weight == DENY):
            yield mark._replace(code=_SHAPES.get(mark.factors[0], "FAKE_ROLE"))


def _sentence(reading: Reading, start: int) -> Sentence:
    return reading.sentences[reading.place(min(bisect_left(reading.tokens.starts, start), len(reading.words) - 1))]


def _is_addressed(reading: Reading, start: int) -> bool:
    """Whether the sentence, or the one before it, speaks to an assistant."""
    number = _sentence(reading, start).number
    return any(_speaks_to(reading, at) for at in (number, number - 1) if at >= 0)


def _speaks_to(reading: Reading, number: int) -> bool:
    found = reading.by[number]
    called = (hit.end for hit in found.get("vocative", ()))
    return "addressee" in found or any(_CALL.match(reading.text, end) for end in called)


_CALL: Final = re.compile(r"(?:\s\w{1,12}){0,2}\s?[:,：،]")


def _is_shown(reading: Reading, mark: Mark) -> bool:
    """In a file whatever is quoted or stands in code is a mention; a command in a line of code is still a command."""
    if mark.factors[0] == _SHELL:
        return (
            holder(reading.fences, mark.start) is not None
            or "hostile" in reading.by[_sentence(reading, mark.start).number]
        )
    if any(holder(spans, mark.start) for spans in (reading.quotes, reading.fences)):
        return True
    if is_cited(reading.text, mark.start, mark.end):
        return True
    return _is_indented(reading.text, mark.start) or _yields_to_this(reading, mark)


def _is_indented(text: str, start: int) -> bool:
    """A line of code: four spaces in, after an empty line or another such line."""
    line = text.rfind("\n", 0, start) + 1
    if not text.startswith("    ", line) or text.startswith(" " * _DEEP, line):
        return False  # so deep that no reader sees it
    before = text[text.rfind("\n", 0, max(line - 1, 0)) + 1 : line]
    return before.startswith("    ") or not before.strip()


def _yields_to_this(reading: Reading, mark: Mark) -> bool:
    """A file that ranks itself first among its own kind sets nothing aside."""
    words = reading.words[bisect_left(reading.tokens.starts, mark.start) :][:12]
    return mark.factors[-1] == "void" and "yield" in words and "other" in words[:3]


_GAP: Final = re.compile(r"\n[ \t]*(?:\n|[-*+#>]|\d{1,3}[.)])")  # a paragraph or an item ends
_EDGE: Final = re.compile(r"[\s>*_#\-+]*")


def _stretch(reading: Reading, mark: Mark, hidden: Sequence[tuple[int, int]]) -> tuple[int, int, str]:
    """The whole comment, or the mark from where its sentence begins to where it ends."""
    for start, end in hidden:
        if start <= mark.start < end:
            return start, end, "COMMENT_ORDER"
    first = last = _sentence(reading, mark.start)
    if _is_addressed(reading, mark.start):
        first, last = _paragraph(reading, first)
    edge = _EDGE.match(reading.text, first.start)
    start = min(edge.end() if edge else first.start, mark.start)
    end = last.end
    while end > mark.end and reading.text[end - 1].isspace():
        end -= 1
    return start, max(end, mark.end), mark.code


def _paragraph(reading: Reading, sentence: Sentence) -> tuple[Sentence, Sentence]:
    """The words to an assistant, from where they address it to the end of their paragraph."""
    first = last = sentence.number
    if first and not _speaks_to(reading, first):
        first -= 1
    while last + 1 < len(reading.sentences) and last - first < _LONGEST:
        start, end = (
            reading.tokens.starts[at] for at in (reading.sentences[last].last - 1, reading.sentences[last + 1].first)
        )
        if _GAP.search(reading.text, start, end):
            break
        last += 1
    return reading.sentences[first], reading.sentences[last]


def _merged(stretches: Iterable[tuple[int, int, str]]) -> list[tuple[int, int, str]]:
    merged: list[tuple[int, int, str]] = []
    for start, end, code in sorted(stretches):
        if merged and start < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], end), merged[-1][2])
        else:
            merged.append((start, end, code))
    return merged


def _at(text: str, view: View, start: int, end: int) -> tuple[int, int]:
    if view.name == "plain" and len(view.text) == len(text):
        return start, end
    low, high = view.at(start, end)
    low = min(max(low, 0), len(text) - 1)
    return low, min(max(high, low + 1), len(text))
