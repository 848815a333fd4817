"""Cutting text to a limit: where it hurts least, never inside what is read as one character, and it says so."""

from __future__ import annotations

import re
from typing import NamedTuple

from .errors import BadValue


class Capped(NamedTuple):
    """What is left of a text under a limit, and how many characters of it were kept."""

    text: str
    original: int
    kept: int

    def __repr__(self) -> str:
        return f"Capped({self.kept} of {self.original} characters)"


_SENTENCE_END = re.compile(r"[.!?…]['\")\]]?(?=\s)|[。！？]|\n")
_FLAGS_BEFORE = re.compile(r"[\U0001f1e6-\U0001f1ff]+\Z")
_CLINGS = re.compile(r"[\u0300-\u036f\u200c\u200d\u20d0-\u20ff\ufe00-\ufe0f\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f]")


def _cut_point(text: str, room: int) -> int:
    """Where to cut to keep at most `room` characters: a sentence end or a space in the last fifth, else right there."""
    start = room - room // 5
    ends = [match.end() for match in _SENTENCE_END.finditer(text, start, room)]
    if ends:
        return ends[-1]
    space = text.rfind(" ", start, room + 1)
    if space > 0:
        return space
    return _between(text, room)


def _between(text: str, point: int) -> int:
    """The nearest point at or before this one that does not part what is read as one character."""
    while 0 < point < len(text) and (_CLINGS.match(text[point]) or text[point - 1] == "\u200d"):
        point -= 1
    flags = _FLAGS_BEFORE.search(text, 0, point)
    if flags and len(flags.group()) % 2 and point < len(text) and _FLAGS_BEFORE.match(text[point]):
        point -= 1
    return point


def cap(text: str, limit: int) -> Capped:
    """The text inside `limit` characters; a cut ends at a sentence and says so, its mark counted inside the limit."""
    if limit < 0:
        raise BadValue("limit", f"{limit} is negative; use 0 or more")
    total = len(text)
    if total <= limit:
        return Capped(text, total, total)
    room = limit - len(_left_out(total, total))
    if room <= 0:
        return Capped("…"[:limit], total, 0)
    kept = text[: _cut_point(text, room)].rstrip()
    return Capped(kept + _left_out(total - len(kept), total), total, len(kept))


def _left_out(left: int, total: int) -> str:
    return f"\n\n[… {left:,} of {total:,} characters left out]"


def shorten(text: str, limit: int) -> str:
    """A preview of at most `limit` characters, its … counted."""
    if limit < 0:
        raise BadValue("limit", f"{limit} is negative; use 0 or more")
    return text if len(text) <= limit else text[: _between(text, max(limit - 1, 0))].rstrip() + "…"[:limit]
