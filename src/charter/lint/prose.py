"""What a Markdown file says: its sentences with their lines, without frontmatter, template tags and code."""

from __future__ import annotations

import re
from collections.abc import Iterator

_FRONTMATTER = re.compile(r"\A---[ \t]*\n.*?^---[ \t]*$", re.DOTALL | re.MULTILINE)
_TAG = re.compile(r"\{\{.*?\}\}|\{%.*?%\}|\{#.*?#\}", re.DOTALL)
_FENCE = re.compile(r"^[ \t]*(`{3,}|~{3,})(.*)$", re.MULTILINE)
_ITEM = re.compile(r"[ \t]*(?:[-*+>#]+|\d{1,3}[.)])[ \t]")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+")
_QUOTED = re.compile(r"\"[^\"\n]{0,300}\"|“[^”\n]{0,300}”|`[^`\n]{0,300}`")


def line_at(text: str, offset: int) -> int:
    """The line a character stands on, counted from 1."""
    return text.count("\n", 0, offset) + 1


def _blank(match: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", match.group())


def without_frontmatter(text: str) -> str:
    """The text with its frontmatter blank; every line keeps its number."""
    return _FRONTMATTER.sub(_blank, text)


def without_tags(text: str) -> str:
    """A template's text with its slots and tags blank."""
    return _TAG.sub(_blank, text)


def fences(text: str) -> Iterator[tuple[int, int | None]]:
    """Code fences as (start, end); the end is None for one that never closes."""
    opened: re.Match[str] | None = None
    for match in _FENCE.finditer(text):
        mark, rest = match.group(1), match.group(2)
        if opened is None:
            opened = None if mark[0] == "`" and "`" in rest else match
        elif mark.startswith(opened.group(1)) and not rest.strip():
            yield opened.start(), match.end()
            opened = None
    if opened is not None:
        yield opened.start(), None


def _without_code(text: str) -> str:
    parts, last = [], 0
    for start, end in fences(text):
        parts += [text[last:start], re.sub(r"[^\n]", " ", text[start:end])]
        last = len(text) if end is None else end
    return "".join([*parts, text[last:]])


def sentences(text: str) -> Iterator[tuple[int, str]]:
    """Each sentence of the prose with the line it starts on; quoted words are left out."""
    plain = _QUOTED.sub(_blank, _without_code(without_tags(without_frontmatter(text))))
    for first, block in _blocks(plain):
        start = 0
        for end in [match.end() for match in _SENTENCE_END.finditer(block)] + [len(block)]:
            if block[start:end].strip():
                yield first + block.count("\n", 0, start), block[start:end].strip()
            start = end


def _blocks(text: str) -> Iterator[tuple[int, str]]:
    """Paragraphs and list items, each with the line it starts on."""
    first, block = 1, list[str]()
    for number, line in enumerate(text.split("\n"), 1):
        if block and (not line.strip() or _ITEM.match(line)):
            yield first, "\n".join(block)
            block = []
        if line.strip():
            first = first if block else number
            block.append(line)
    if block:
        yield first, "\n".join(block)


def normal(sentence: str) -> str:
    """A sentence without case, marks and spacing, so that equal ones are equal."""
    return " ".join(re.findall(r"\w+", sentence.casefold()))
