"""Markdown as plain words, for where it is not shown: the marks go, every word stays, and code stays as it is."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

QUOTE_DEPTH: Final = 8  # deeper quotation marks stand as they are written
NAME_CHARS: Final = 64

# ── blocks ────────────────────────────────────────────────────────────────────────────────────────────────────────

_FENCE: Final = re.compile(r"([ \t]*+)(`{3,}|~{3,})([^\n]*)\Z")


class Block(NamedTuple):
    """Lines of prose, or of code with the line that opens it and the one that closes it."""

    lines: list[str]
    opening: str = ""
    closing: str = ""

    def __repr__(self) -> str:
        return f"Block({'code' if self.opening else 'prose'}, {len(self.lines)} lines)"


def blocks(text: str) -> Iterator[Block]:
    """The text's prose and its fenced code, in order; the lines of all blocks are the lines of the text."""
    prose: list[str] = []
    lines = iter(text.split("\n"))
    for line in lines:
        fence = _FENCE.match(line)
        if fence is None or (fence[2][0] == "`" and "`" in fence[3]):
            prose.append(line)
            continue
        if prose:
            yield Block(prose)
            prose = []
        yield _code(line, fence, lines)
    if prose:
        yield Block(prose)


def _code(opening: str, fence: re.Match[str], lines: Iterator[str]) -> Block:
    """Code goes to its closing line, or to the end of the text."""
    inside: list[str] = []
    for line in lines:
        bare = line.strip()
        if len(bare) >= len(fence[2]) and set(bare) == {fence[2][0]}:
            return Block(inside, opening, line)
        inside.append(line)
    return Block(inside, opening, fence[1] + fence[2])


# ── lines ─────────────────────────────────────────────────────────────────────────────────────────────────────────

_HEADING: Final = re.compile(r" {0,3}#{1,6}[ \t]++(.*)\Z")
_CLOSING_MARKS: Final = re.compile(r"(?<=[ \t])#++[ \t]*+\Z")
_ITEM: Final = re.compile(r"([ \t]*+)[*+-][ \t]++")
_NUMBERED: Final = re.compile(r"[ \t]*+\d{1,9}[.)][ \t]")
_QUOTE: Final = re.compile(r" {0,3}> ?")
_RULE: Final = re.compile(r" {0,3}([-*_])(?:[ \t]*+\1){2,}+[ \t]*+\Z")
_UNDERLINE: Final = re.compile(r" {0,3}(?:=++|-{2,}+)[ \t]*+\Z")
_COLUMNS: Final = re.compile(r"[ \t]*+\|?+[ \t]*+:?-++:?[ \t]*+(?:\|[ \t]*+:?-++:?[ \t]*+)*+\|?+[ \t]*+\Z")
_PIPE: Final = re.compile(r"(?<!\\)\|")
_ANY_MARK: Final = re.compile(r"[#*_+=>`~|\[\]\\<-]")  # everything that any pattern here begins with or needs


def plain(text: str, depth: int = 0) -> str:
    """Headings, emphasis, links, lists, quotations, tables and code as a plain message shows them."""
    if not _ANY_MARK.search(text):
        return text
    out: list[str] = []
    for block in blocks(text):
        if block.opening:
            said = block.opening.strip(" \t`~").split()  # one word is the language, more is text
            out += ([" ".join(said)] if len(said) > 1 else []) + block.lines
        else:
            out += _prose(block.lines, depth)
    return "\n".join(out)


def _prose(lines: list[str], depth: int) -> Iterator[str]:
    at, above, listed = 0, "", False
    while at < len(lines):
        line = lines[at]
        end = at + 1
        if _QUOTE.match(line) and depth < QUOTE_DEPTH:
            end = _while(lines, at, _QUOTE)
            inner = plain("\n".join(_QUOTE.sub("", quoted, count=1) for quoted in lines[at:end]), depth + 1)
            yield from (f"> {quoted}".rstrip() for quoted in inner.split("\n"))
        elif _is_table(lines, at):
            end = _while(lines, at + 2, _PIPE)
            yield from (_row(row) for row in (line, *lines[at + 2 : end]))
        elif _is_code(line, above) and not listed:
            yield line
        elif not (above and _UNDERLINE.match(line)):
            yield _line(line)
        item = _ITEM.match(line) or _NUMBERED.match(line)
        listed = bool(item) or (listed and line[:1] in ("", " ", "\t"))
        above = "" if item or end > at + 1 or _HEADING.match(line) or _is_code(line, above) else line.strip()
        at = end


def _is_code(line: str, above: str) -> bool:
    """Whether a line is code by its indent."""
    return not above and line.startswith(("    ", "\t"))


def _while(lines: list[str], at: int, pattern: re.Pattern[str]) -> int:
    """Where the lines end that go on in the same way."""
    while at < len(lines) and (pattern.search if pattern is _PIPE else pattern.match)(lines[at]):
        at += 1
    return at


def _is_table(lines: list[str], at: int) -> bool:
    below = lines[at + 1] if at + 1 < len(lines) else ""
    return "|" in lines[at] and "|" in below and _COLUMNS.match(below) is not None


def _row(line: str) -> str:
    cells = [cell.strip() for cell in _PIPE.split(line.strip())]
    first, last = (1 if not cells[0] else 0), (len(cells) - 1 if not cells[-1] else len(cells))
    return " | ".join(_words(cell) for cell in cells[first:last])


def _line(line: str) -> str:
    if _RULE.match(line):
        return "———"
    if heading := _HEADING.match(line):
        return _words(_CLOSING_MARKS.sub("", heading[1]).rstrip())
    if item := _ITEM.match(line):
        return f"{item[1]}- {_words(line[item.end() :])}"
    return _words(line)


# ── inside a line ─────────────────────────────────────────────────────────────────────────────────────────────────

_MARK: Final = re.compile(
    r"\\(?P<escaped>[!-/:-@\[-`{-~])|(?P<code>`+)|<(?P<address>(?:https?://|mailto:)[^\s<>]++)>|(?P<open>!?\[)"
    r"|\](?:\([ \t]*+<?(?P<url>[^\s<>()\[\]]*+(?:\([^\s<>()\[\]]*+\)[^\s<>()\[\]]*+)*+)>?"
    r"(?P<title>[ \t]++(?:\"[^\"\[\]]*+\"|'[^'\[\]]*+'))?[ \t]*+\))?|(?P<emphasis>\*+|_+|~~)"
)
_ADDRESS_HAS: Final = frozenset("/:.#@?%")  # `handlers[name](event)` is no link


class _Half(NamedTuple):
    """A mark that waits for its other half: where it stands in what is out, and where its words begin."""

    out: int
    start: int


class _Line:
    """One line on its way to plain words."""

    __slots__ = ("brackets", "marks", "out", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self.out: list[str] = []
        self.brackets: list[_Half] = []
        self.marks: dict[str, list[_Half]] = {"*": [], "_": [], "~": []}

    def open(self, found: re.Match[str]) -> None:
        self.brackets.append(_Half(len(self.out), found.end()))
        self.out.append(found.group())

    def close(self, found: re.Match[str]) -> None:
        """A link is its words and then its address; other brackets stay."""
        half = self.brackets.pop() if self.brackets else None
        url = found["url"] or ""
        if half is None or not _ADDRESS_HAS & set(url):
            self.out.append(found.group())
            return
        self.out[half.out] = ""
        address = url + (found["title"] or "")
        said = self.text[half.start : found.start()]
        if said != address:
            self.out.append(f" ({address})" if said.strip() else address)

    def emphasis(self, found: re.Match[str]) -> None:
        """Marks that stand around words go, as many as there are on both sides; others stay."""
        run, mark = found.group(), found.group()[0]
        before, after = self.text[found.start() - 1 : found.start()], self.text[found.end() : found.end() + 1]
        waiting = self.marks[mark]
        if waiting and self._is_name(waiting[-1], found):
            waiting.pop()
        elif before.strip() and ((len(run) > 1 and mark != "_") or not _in_word(after, mark)):
            while run and waiting:
                other = self.out[waiting[-1].out]
                both = min(len(run), len(other))
                self.out[waiting[-1].out] = other[both:]
                run = run[both:]
                if both == len(other):
                    waiting.pop()
        if run and after.strip() and not _in_word(before, mark):
            waiting.append(_Half(len(self.out), found.end()))
        self.out.append(run)

    def _is_name(self, half: _Half, found: re.Match[str]) -> bool:
        """Whether this is `__init__` and its like."""
        if found.group() != "__" or found.start() - half.start > NAME_CHARS:
            return False
        return self.text[half.start : found.start()].isidentifier()


def _in_word(letter: str, mark: str) -> bool:
    """Whether a mark beside this letter belongs to a word: `snake_case`, `2*3`; not in scripts without spaces."""
    return letter.isalnum() and (mark == "_" or letter.isascii())


def _words(text: str) -> str:
    line, at = _Line(text), 0
    closing = _closing(text)
    while found := _MARK.search(text, at):
        line.out.append(text[at : found.start()])
        at = found.end()
        if found["code"]:
            end = closing.get(found.start(), -1)
            line.out.append(found["code"] if end < 0 else _span(text[at:end]))
            at = at if end < 0 else end + len(found["code"])
        elif found["open"]:
            line.open(found)
        elif found["emphasis"]:
            line.emphasis(found)
        elif found["escaped"] or found["address"]:
            line.out.append(found["escaped"] or found["address"])
        else:
            line.close(found)
    return "".join(line.out) + text[at:]


def _closing(text: str) -> dict[int, int]:
    """For every run of backticks, where the next one of its length stands."""
    found: dict[int, int] = {}
    last: dict[int, int] = {}
    for run in reversed(list(re.finditer("`+", text))):
        length = len(run.group())
        if length in last:
            found[run.start()] = last[length]
        last[length] = run.start()
    return found


def _span(code: str) -> str:
    """What a code span says; a space inside both ends is there for backticks only."""
    return code[1:-1] if code[:1] == code[-1:] == " " and code.strip() else code
