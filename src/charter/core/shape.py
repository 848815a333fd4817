"""A reply in the form a channel takes: Markdown or plain words, and no message longer than the channel's limit.

A long reply is parted at paragraph ends, else at line ends, else at sentence ends, else at spaces, else between
characters; code that is parted is closed and opened again. Lengths are counted in UTF-16 units, as Telegram does, which
is never less than in characters. Nothing that can be seen is lost.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from .cutting import _SENTENCE_END, _between
from .errors import BadValue
from .plain import Block, blocks, plain
from .policy import ChannelPolicy
from .silence import is_silent

_PARAGRAPH_END: Final = re.compile(r"(\n(?:[^\S\n]*+\n)++)")
_BLANK_LINES: Final = re.compile(r"(?:[^\S\n]*+\n)*+")
_REST_OF_LINE: Final = re.compile(r"[^\S\n]*+\n?")


def shape(text: str, policy: ChannelPolicy) -> list[str]:
    """The messages a channel sends for this reply, in order; none when there is nothing to see."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    parts = _parts(text if policy.markdown else plain(text), policy.max_chars, fenced=policy.markdown)
    return [part for part in parts if not is_silent(part)]


def _parts(text: str, limit: int | None, *, fenced: bool) -> list[str]:
    text = text[_blank_lines(text) :].rstrip()
    if limit is None or units(text) <= limit:
        return [text]
    if limit < 2:
        raise BadValue("max_chars", f"{limit} is too small for some characters; use 2 or more")
    parts: list[str] = []
    now, gap = "", ""
    room = limit
    for body, after, block in _pieces(text, fenced):
        size = units(gap) + units(body)
        if now and size <= room:
            now += gap + body
            room -= size
        else:
            body = body[_blank_lines(body) :]
            parts.append(now)
            *done, now = _code_cuts(block, limit) if block.opening else _cuts(body, limit)
            parts += done
            room = limit - units(now)
        gap = after
    return [part.rstrip() for part in (*parts, now)]


def _pieces(text: str, fenced: bool) -> Iterator[tuple[str, str, Block]]:
    """What is not parted while it fits: a paragraph, or a block of code; and what stands after it."""
    for block in blocks(text) if fenced else [Block(text.split("\n"))]:
        if block.opening:
            yield _whole(block), "\n", block
        else:
            bodies = [*_PARAGRAPH_END.split("\n".join(block.lines)), "\n"]
            for body, after in zip(bodies[::2], bodies[1::2], strict=True):
                yield body, after, block


def _whole(block: Block) -> str:
    return "\n".join((block.opening, *block.lines, block.closing))


def _code_cuts(block: Block, limit: int) -> list[str]:
    """Code in parts, each opened and closed; where the marks leave no room it is text like any other."""
    room = limit - units(block.opening) - units(block.closing) - 2
    if units(_whole(block)) <= limit or room < limit // 2:
        return _cuts(_whole(block), limit)
    inside = [part for part in _cuts("\n".join(block.lines), room) if not is_silent(part)]
    return ["\n".join((block.opening, part.rstrip(), block.closing)) for part in inside] or [""]


def _cuts(text: str, limit: int) -> list[str]:
    """A text cut where it hurts least, at least one part; white space at a cut goes."""
    parts: list[str] = []
    start = 0
    while (end := _reach(text, start, limit)) < len(text):
        cut, following = _cut(text, start, end)
        parts.append(text[start:cut])
        start = following
    return [*parts, text[start:]]


def _cut(text: str, start: int, end: int) -> tuple[int, int]:
    """Where a part ends that may reach `end`, and where the next begins."""
    line = text.rfind("\n", start + 1, end + 1)
    if line > 0:
        return line, line + 1
    ends = [found.end() for found in _SENTENCE_END.finditer(text, start, end + 1) if found.end() <= end]
    at = ends[-1] if ends else next((at for at in range(end, start, -1) if text[at].isspace()), -1)
    if at > 0:
        following = _REST_OF_LINE.match(text, at)
        return at, following.end() if following else at
    at = start + _between(text[start : end + 1], end - start)
    return (at, at) if at > start else (end, end)


def _reach(text: str, start: int, limit: int) -> int:
    """The furthest point that keeps a part inside the limit."""
    end = min(start + limit, len(text))
    while (over := units(text[start:end]) - limit) > 0:
        end -= (over + 1) // 2
    return end


def _blank_lines(text: str) -> int:
    """How much of the text is blank lines before the first with something in it."""
    found = _BLANK_LINES.match(text)
    return found.end() if found else 0


def units(text: str) -> int:
    """The length of a text in UTF-16 code units."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2
