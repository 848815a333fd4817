"""One letter, one form: `plain` folds case, width and accents away, `skeleton` also letters that only look alike.

Both work character by character, so a text may be folded in parts; what no reader sees folds to nothing.
"""

from __future__ import annotations

import re
import tomllib
import unicodedata
from functools import cache, lru_cache
from importlib.resources import files
from typing import Final

_KEPT: Final = 65_536  # characters whose fold is remembered
_STRANGE: Final = re.compile(r"[^\t\n\x20-\x7e]+")
_NOTHING: Final = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")
_SPACE: Final = {
    "\t": "\t",
    "\n": "\n",
    "\r": "\n",
    "\x0b": "\n",
    "\x0c": "\n",
    "\x85": "\n",
    "\u2028": "\n",
    "\u2029": "\n",
}
_OWN: Final = {"ı": "i", "ø": "o", "đ": "d", "ł": "l", "ħ": "h", "ŧ": "t", "æ": "ae", "œ": "oe", "ð": "d", "þ": "th"}
# Capital letters in boxes and circles that have no compatibility form, and the letters flags are made of.
_BOXED: Final = ((0x1F150, 26), (0x1F170, 26), (0x1F1E6, 26))


def _vowel(code: int) -> bool:
    """Whether a combining mark is part of the spelling: in Indic scripts, Thai, Khmer and Kana."""
    return 0x0900 <= code < 0x1800 or code in (0x3099, 0x309A)


def _plainly(char: str) -> str:
    if char in _SPACE:
        return _SPACE[char]
    code = ord(char)
    if 0x3400 <= code <= 0x9FFF or 0xAC00 <= code <= 0xD7A3:  # most of Han and Hangul are what they are
        return char
    kind = unicodedata.category(char)
    if kind in ("Cf", "Cc", "Cs") or char in _NOTHING or 0xFE00 <= code <= 0xFE0F or code >= 0xE0000:
        return ""
    if kind == "Zs":
        return " "
    if char in _OWN:
        return _OWN[char]
    apart = unicodedata.normalize("NFKD", unicodedata.normalize("NFKC", char).casefold())
    kept = "".join(c for c in apart if not unicodedata.combining(c) or _vowel(ord(c)))
    whole = unicodedata.normalize("NFC", kept)
    return "".join(_OWN.get(c, c) for c in whole)


@cache
def look_alikes() -> dict[str, str]:
    """Letter → the Latin letters it looks like."""
    table = tomllib.loads(files(__package__).joinpath("words", "look_alikes.toml").read_text(encoding="utf-8"))
    return {char: latin for latin, chars in table["latin"].items() for char in chars}


def _skeletally(char: str) -> str:
    for first, count in _BOXED:
        if first <= ord(char) < first + count:
            return chr(ord("a") + ord(char) - first)
    alike = look_alikes()
    if char in alike:
        return alike[char]
    folded = _plainly(char)
    return "".join(alike.get(c, c) for c in folded) if folded and folded > "\x7f" else folded


class _Fold(dict[int, str]):
    """A table for `str.translate` that fills itself; it stops growing, so no text can make it large."""

    def __init__(self, skeletal: bool) -> None:
        self._skeletal = skeletal

    def __missing__(self, code: int) -> str:
        folded = _skeletally(chr(code)) if self._skeletal else _plainly(chr(code))
        if len(self) < _KEPT:
            self[code] = folded
        return folded


_PLAIN, _SKELETON = _Fold(False), _Fold(True)


def plain(text: str) -> str:
    """Lower case, compatibility forms and accents folded, hidden characters gone; every script keeps its letters."""
    return _translated(text, _PLAIN)


def skeleton(text: str) -> str:
    """As `plain`, and letters of other scripts that look like Latin ones are those."""
    return _translated(text, _SKELETON)


def _translated(text: str, table: _Fold) -> str:
    """Line by line, because most lines of most texts are ASCII, and of those it takes a tenth of the time."""
    return "\n".join([line.translate(table) for line in text.split("\n")])


@lru_cache(maxsize=4)
def strange(text: str) -> str:
    """The characters of a text that are not printed ASCII, in a few of which more can be looked for than in all."""
    return "" if text.isascii() and text.isprintable() else "".join(_STRANGE.findall(text))


def is_unlike(text: str) -> bool:
    """Whether any letter of a text looks like another one: without it `skeleton` is `plain`."""
    return any(_SKELETON[code] != _PLAIN[code] for code in set(map(ord, strange(text))))


def widths(text: str, *, skeletal: bool) -> list[int]:
    """How many characters each character of the text became."""
    table = _SKELETON if skeletal else _PLAIN
    return [*map(len, map(table.__getitem__, map(ord, text)))]
