"""JSON as models write it: read where it can mean one thing only, else refused; work grows with its length alone.

Beside JSON it takes comments, trailing commas, keys without quotes, single and typographic quotes, True, False, None,
line breaks inside strings, and closing brackets that are missing at the end.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from typing import Any, Final, Literal

DEPTH: Final = 32
DIGITS: Final = 400

Why = Literal["unreadable", "truncated"]


class Unreadable(Exception):
    """It is not JSON, not even loosely; `why` is `truncated` when it stops too early."""

    def __init__(self, why: Why = "unreadable") -> None:
        super().__init__(why)
        self.why: Why = why


@dataclass(frozen=True, slots=True)
class Found:
    """A value and where it ends; how many brackets were missing, and whether a mark stands where they should be."""

    value: Any = field(repr=False)
    end: int
    missing: int = 0
    marked: bool = False


def read(text: str, at: int = 0) -> Found:
    """The value that begins here, white space and comments before it left out; else Unreadable."""
    reader = _Reader(text, at)
    value = reader.value(DEPTH)
    return Found(value, reader.at, reader.missing, reader.missing > 0 and reader.at < len(text))


_SKIP: Final = re.compile(r"(?:\s++|//[^\n]*+|\#[^\n]*+|/\*(?:[^*]|\*(?!/))*+\*/)*+")
_NUMBER: Final = re.compile(r"-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?(?:[eE][+-]?[0-9]++)?")
_WORD: Final = re.compile(r"[A-Za-z_$][A-Za-z0-9_$-]*+")
_ESCAPE: Final = re.compile(r"\\(?:u([0-9a-fA-F]{4})(?:\\u([0-9a-fA-F]{4}))?|(.))", re.DOTALL)
_AFTER: Final = re.compile(r"\s*+[,:，：}\]]|\s*+\Z")
_MARKS: Final = "`~<"  # what ends a block; none of them can stand between values
_WORDS: Final = {"true": True, "false": False, "null": None, "True": True, "False": False, "None": None}
_ESCAPES: Final = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", '"': '"', "\\": "\\", "/": "/", "'": "'"}
# What may end a string, by what began it. A mark that is also an apostrophe ends one only before a sign of structure.
_QUOTES: Final = {'"': '"', "'": "'", "“": "”“\"", "”": "”“\"", "„": "“”\"", "‘": "’‘'", "’": "’‘'"}  # fmt: skip
_CHUNK: Final = {mark: re.compile(rf"[^{ends}\\]*+") for mark, ends in _QUOTES.items()}


class _Reader:
    """A place in a text, and what was missing on the way."""

    __slots__ = ("at", "missing", "text")

    def __init__(self, text: str, at: int) -> None:
        self.text = text
        self.at = at
        self.missing = 0

    def value(self, depth: int) -> Any:
        mark = self._next()
        if not mark:
            raise Unreadable("truncated")
        if depth == 0:
            raise Unreadable
        if mark == "{":
            return self._object(depth)
        if mark == "[":
            return self._list(depth)
        return self._string() if mark in _QUOTES else self._scalar()

    def _next(self) -> str:
        """The next sign, "" at the end."""
        skipped = _SKIP.match(self.text, self.at)
        self.at = skipped.end() if skipped else self.at
        return self.text[self.at : self.at + 1]

    def _object(self, depth: int) -> dict[str, Any]:
        found: dict[str, Any] = {}
        self.at += 1
        while not self._closed("}", first=not found):
            key = self._string() if self.text[self.at] in _QUOTES else self._key()
            if self._next() not in (":", "："):
                raise Unreadable(self._why())
            self.at += 1
            found[key] = self.value(depth - 1)
        return found

    def _list(self, depth: int) -> list[Any]:
        found: list[Any] = []
        self.at += 1
        while not self._closed("]", first=not found):
            found.append(self.value(depth - 1))
        return found

    def _closed(self, bracket: str, *, first: bool) -> bool:
        """Whether it ends here; else what follows is the next entry."""
        sign = self._next()
        if not first and sign in (",", "，"):
            self.at += 1
            sign = self._next()
            if not sign:
                raise Unreadable("truncated")
        elif not first and sign not in (bracket, "") and sign not in _MARKS:
            raise Unreadable
        if sign == bracket:
            self.at += 1
            return True
        if not sign or sign in _MARKS:
            if first and not sign:
                raise Unreadable("truncated")
            self.missing += 1
            return True
        return False

    def _key(self) -> str:
        word = _WORD.match(self.text, self.at)
        if word is None:
            raise Unreadable
        self.at = word.end()
        return word.group()

    def _scalar(self) -> Any:
        number = _NUMBER.match(self.text, self.at)
        word = _WORD.match(self.text, self.at)
        found = number or word
        if found is None:
            raise Unreadable
        self.at = found.end()
        if self.at == len(self.text):  # what is cut off here may have gone on
            raise Unreadable("truncated")
        if _WORD.match(self.text, self.at) or self.text[self.at].isdigit() or self.text[self.at] in ".+":
            raise Unreadable
        return _number(found.group()) if number else _known(found.group())

    def _string(self) -> str:
        begun = self.text[self.at]
        chunk = _CHUNK[begun]
        out: list[str] = []
        self.at += 1
        while True:
            plain = chunk.match(self.text, self.at)
            out.append(plain.group() if plain else "")
            self.at = plain.end() if plain else self.at
            sign = self.text[self.at : self.at + 1]
            if not sign:
                raise Unreadable("truncated")
            if sign == "\\":
                out.append(self._escape())
                continue
            self.at += 1
            if begun == '"' or _AFTER.match(self.text, self.at):
                return "".join(out)
            out.append(sign)

    def _escape(self) -> str:
        found = _ESCAPE.match(self.text, self.at)
        if found is None:
            raise Unreadable("truncated")
        if found[3] is not None:
            self.at = found.end()
            return _ESCAPES.get(found[3], found.group())
        first, second = int(found[1], 16), int(found[2] or "0", 16)
        if 0xD800 <= first < 0xDC00 <= second < 0xE000:
            self.at = found.end()
            return chr(0x10000 + ((first - 0xD800) << 10) + second - 0xDC00)
        self.at = found.end(1)
        return chr(first)

    def _why(self) -> Why:
        return "truncated" if self.at == len(self.text) else "unreadable"


def _number(text: str) -> int | float:
    if len(text) > DIGITS:
        raise Unreadable
    if text.lstrip("-").isdigit():
        return int(text)
    number = float(text)
    if not math.isfinite(number):
        raise Unreadable
    return number


def _known(word: str) -> Any:
    if word not in _WORDS:
        raise Unreadable
    return _WORDS[word]
