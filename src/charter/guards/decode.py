"""Text that stands for other text is read: each decoder finds the runs it knows and says what they mean.

A decoder gives (start, end, meaning) for stretches of a text; it looks at every character a bounded number of times.
The words of our tables, which tell whether a text that was turned or joined says anything, are gathered here too.
"""

from __future__ import annotations

import base64
import binascii
import html
import re
import string
import tomllib
from collections.abc import Callable, Iterator
from functools import cache
from importlib.resources import files
from typing import Final
from urllib.parse import unquote

from .fold import plain, strange
from .lexicon import read_tables, tokens_of

Run = tuple[int, int, str]
_FOLDERS: Final = ("disclosure", "override")
_SHORTEST: Final = 12  # letters of an encoded run; what is shorter says nothing
CLOSELY: Final = 16_384  # characters; in longer texts the rarer masks are not looked for
_LOWER, _UPPER = string.ascii_lowercase, string.ascii_uppercase
_CONTROL: Final = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ue000-\uf8ff\ufff0-\uffff]")
_LETTER: Final = re.compile(r"[^\W_]|[\u0300-\u036f\u0900-\u0dff\u0e00-\u0eff]")


def _legible(data: bytes) -> str:
    """What bytes say, or nothing when they are no text."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return ""
    if len(_CONTROL.findall(text)) > 0.05 * len(text) or len(_LETTER.findall(text)) < 0.5 * len(text):
        return ""
    return text


# ── codes of bytes ────────────────────────────────────────────────────────────────────────────────────────────────
# No pattern asserts what comes after a run: a long run that fails at its end would be read again from each place in it.
# A pattern begins with its rarest characters, and what is before them is asserted behind them: so most of a text is
# passed over without a try.
_BASE64: Final = re.compile(r"(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{12,}+={0,2}")
_FOLDED: Final = re.compile(r"(?<![A-Za-z0-9+/])(?:[A-Za-z0-9+/]{24,}+\r?\n)++[A-Za-z0-9+/]*+={0,2}")
_BLOCKS: Final = re.compile(r"(?<![\w+/])(?:[A-Za-z0-9+/]{4,8}+ ){3,}+[A-Za-z0-9+/]{0,8}={0,2}")
_LONG_LINE: Final = re.compile(r"[\r\n](?<=[A-Za-z0-9+/]{24}[\r\n])")
_DIGIT: Final = re.compile(r"[0-9]")
_CODED: Final = re.compile(r"[A-Z0-9](?:(?<=[0-9])|(?<=[a-z][A-Z])|(?<=[A-Z]{2})[a-z])")
_BASE32: Final = re.compile(r"[A-Z2-7](?<![A-Z2-7]{2})[A-Z2-7]{15,}+={0,6}")
_HEX: Final = re.compile(r"(?:(?:0x|\\x)?+[0-9A-Fa-f]{2}[ \t:,;-]{0,2}+){8,}+")
_SOME_HEX: Final = re.compile(r"[0-9A-Fa-f][0-9A-Fa-f][0-9A-Fa-f \t:,;\\-][0-9A-Fa-fx \t:,;\\-]{13}")
_BITS: Final = re.compile(r"(?<![01])(?:[01]{8}[ \t,]{0,2}+|[01]{7}[ \t,]{1,2}+){5,}+")
_SOME_BITS: Final = re.compile(r"[01][01]{6}")
_NUMBERS: Final = re.compile(r"\d(?<!\d\d)\d{0,2}+(?:[ \t,;.:|/-]{1,3}+\d{1,3}+){6,}+")


def _base64(text: str) -> Iterator[Run]:
    lines = list(_coded_lines(text))
    whole = [(0, len(text))] if lines and _LONG_LINE.search(text) else []
    tries = [(how, place) for how, places in ((_BASE64, lines), (_FOLDED, whole), (_BLOCKS, lines)) for place in places]
    for pattern, place in tries:
        for found in pattern.finditer(text, *place):
            if _CODED.search(found.group()) is None:
                continue
            body = re.sub(r"[\s=]", "", found.group()).translate(str.maketrans("-_", "+/"))
            for turned in (body, body[::-1], body.translate(shift(13))):
                if meaning := _from_base64(turned):
                    yield (*found.span(), meaning)
                    break


def _coded_lines(text: str) -> Iterator[tuple[int, int]]:
    """Lines in which a code may stand."""
    found = _CODED.search(text)
    while found is not None:
        end = text.find("\n", found.end())
        end = len(text) if end < 0 else end
        yield text.rfind("\n", 0, found.start()) + 1, end
        found = _CODED.search(text, end)


def _from_base64(body: str) -> str:
    body = body[: len(body) - (len(body) % 4 == 1)]
    try:
        return _legible(base64.b64decode(body + "=" * (-len(body) % 4), validate=True))
    except (binascii.Error, ValueError):
        return ""


def _base32(text: str) -> Iterator[Run]:
    for found in _BASE32.finditer(text):
        body = found.group().rstrip("=")
        try:
            meaning = _legible(base64.b32decode(body + "=" * (-len(body) % 8)))
        except (binascii.Error, ValueError):
            continue
        if meaning:
            yield (*found.span(), meaning)


def _hex(text: str) -> Iterator[Run]:
    for found in _HEX.finditer(text) if _DIGIT.search(text) and _SOME_HEX.search(text) else ():
        digits = re.sub(r"0x|\\x|[^0-9A-Fa-f]", "", found.group())
        digits = digits[: len(digits) // 2 * 2]
        for turned in (digits, digits[::-1]):
            if meaning := _legible(bytes.fromhex(turned)):
                yield (*found.span(), meaning)
                break


def _binary(text: str) -> Iterator[Run]:
    for found in _BITS.finditer(text) if _SOME_BITS.search(text) else ():
        groups = re.findall(r"[01]+", found.group())
        sizes = {len(group) for group in groups}
        if sizes != {7}:
            whole = "".join(groups)
            groups = [whole[at : at + 8] for at in range(0, len(whole) // 8 * 8, 8)]
        if meaning := _legible(bytes(int(group, 2) for group in groups)):
            yield (*found.span(), meaning)


def _numbers(text: str) -> Iterator[Run]:
    """Characters by their decimal or octal codes, or by their place in the alphabet."""
    for found in _NUMBERS.finditer(text):
        numbers = [int(number) for number in re.findall(r"[0-9]{1,3}", found.group())]
        if not numbers:
            continue
        if all(9 <= number < 256 for number in numbers) and max(numbers) > 31:
            meaning = _legible(bytes(numbers))
        elif all(0 <= number <= 26 for number in numbers):
            meaning = "".join(" " if not number else _LOWER[number - 1] for number in numbers)
        else:
            continue
        if meaning:
            yield (*found.span(), meaning)


# ── escapes: a line is read as a whole ────────────────────────────────────────────────────────────────────────────
_LINE: Final = re.compile(r"[^\n]+")
_PERCENT: Final = re.compile(r"%[0-9A-Fa-f]{2}")
_ENTITY: Final = re.compile(r"&(?:#[0-9]{1,7}|#[xX][0-9A-Fa-f]{1,6}|[A-Za-z]{2,8});")
_ESCAPE: Final = re.compile(r"\\u\{?([0-9A-Fa-f]{4,6})\}?|\\x([0-9A-Fa-f]{2})|[Uu]\+([0-9A-Fa-f]{4,6})\s?")


def _lines(text: str, mark: re.Pattern[str], least: int, meaning: Callable[[str], str]) -> Iterator[Run]:
    if mark.search(text) is None:  # rare, and quickly seen
        return
    for line in _LINE.finditer(text):
        if sum(1 for _ in zip(range(least), mark.finditer(line.group()), strict=False)) == least:
            yield (*line.span(), meaning(line.group()))


def _url(text: str) -> Iterator[Run]:
    return _lines(text, _PERCENT, 2, lambda line: unquote(line.replace("+", " "), errors="replace"))


def _html(text: str) -> Iterator[Run]:
    return _lines(text, _ENTITY, 2, html.unescape)


def _escape(text: str) -> Iterator[Run]:
    def char(found: re.Match[str]) -> str:
        code = int(found[1] or found[2] or found[3], 16)
        return chr(code) if code < 0x110000 and not 0xD800 <= code < 0xE000 else ""

    if "\\" not in text and "+" not in text:
        return iter(())
    return _lines(text, _ESCAPE, 4, lambda line: _ESCAPE.sub(char, line))


# ── signals and smuggled characters ───────────────────────────────────────────────────────────────────────────────
_MORSE_OF: Final = dict(zip(
    ".- -... -.-. -.. . ..-. --. .... .. .--- -.- .-.. -- -. --- .--. --.- .-. ... - ..- ...- .-- -..- -.-- --.."
    " ----- .---- ..--- ...-- ....- ..... -.... --... ---.. ----.".split(), _LOWER + string.digits, strict=True,
))  # fmt: skip
_MORSE: Final = re.compile(
    r"[.\-](?<![\w.\-][.\-])[.\-]{0,5}+(?:(?:[ ]{1,3}(?=[.\-])|[ ]?[/|][ ]?|\n)[.\-]{1,6}+){5,}+"
)
_DASHES: Final = (("·", "."), ("•", "."), ("∙", "."), ("−", "-"), ("–", "-"), ("—", "-"), ("_", "-"), ("․", "."))


def _morse(text: str) -> Iterator[Run]:
    for dash, sign in _DASHES:  # much faster than a table, for a text that is not all ASCII
        text = text.replace(dash, sign)
    for found in _MORSE.finditer(text) if text.count(".") + text.count("-") > 5 else ():
        words = re.split(r"[ ]?[/|][ ]?|[ ]{2,}|\n", found.group())
        read = [[_MORSE_OF.get(sign, "") for sign in word.split()] for word in words]
        if sum(map(len, read)) and all(all(word) for word in read):
            yield (*found.span(), " ".join("".join(word) for word in read))


_SMUGGLED: Final = re.compile(r"[\u200b-\u200d\u2060-\u2064\ufe00-\ufe0f\ufeff\U000e0020-\U000e01ef]")
_TAGS: Final = re.compile(r"[\U000e0020-\U000e007e]{2,}")
_SELECTORS: Final = re.compile(r"[\ufe00-\ufe0f\U000e0100-\U000e01ef]{4,}")
_BLANKS: Final = re.compile(r"[\u200b-\u200d\u2060-\u2064\ufeff]{24,}")


def _tags(text: str) -> Iterator[Run]:
    if text.isascii() or _SMUGGLED.search(strange(text)) is None:
        return
    for found in _TAGS.finditer(text):
        yield (*found.span(), "".join(chr(ord(char) - 0xE0000) for char in found.group()))
    for found in _SELECTORS.finditer(text):
        codes = [ord(char) - (0xFE00 if char < "\U000e0000" else 0xE00F0) for char in found.group()]
        if meaning := _legible(bytes(code for code in codes if code < 256)):
            yield (*found.span(), meaning)
    for found in _BLANKS.finditer(text):
        kinds = sorted(set(found.group()))[:2]
        for zero in kinds:
            bits = "".join("0" if char == zero else "1" for char in found.group())
            data = bytes(int(bits[at : at + 8], 2) for at in range(0, len(bits) // 8 * 8, 8))
            if meaning := _legible(data):
                yield (*found.span(), meaning)
                break


# ── words of ours ──────────────────────────────────────────────────────────────────────────────────────────────────


@cache
def shift(by: int) -> dict[int, int]:
    return str.maketrans(_LOWER + _UPPER, _LOWER[by:] + _LOWER[:by] + _UPPER[by:] + _UPPER[:by])


_STEM: Final = re.compile(r"[^\s()|]+\*")


@cache
def keys() -> frozenset[str]:
    """The words by which a text that was turned is recognised."""
    tables = tomllib.loads(files(__package__).joinpath("words", "keys.toml").read_text(encoding="utf-8"))
    return frozenset(plain(" ".join(tables.values())).split())


@cache
def vocabulary(least: int = 4) -> frozenset[str]:
    """Words of our tables, of so many letters and more: what a text that matters to a guard has in it."""
    if least > 1:
        return frozenset(word for word in vocabulary(1) if len(word) >= least)
    tables = [table for folder in _FOLDERS for table in read_tables(folder).values()]
    patterns = "\n".join(pattern for table in tables for row in table.values() for pattern in row)
    for bracket in "()|":
        patterns = patterns.replace(bracket, " ")
    words = " ".join({*patterns.split()})  # most of them stand there often
    return keys() | frozenset(tokens_of(_STEM.sub(" ", plain(words))).words)


DECODERS: Final[tuple[tuple[str, Callable[[str], Iterator[Run]]], ...]] = (
    ("tags", _tags),
    ("base64", _base64),
    ("base32", _base32),
    ("hex", _hex),
    ("binary", _binary),
    ("numbers", _numbers),
    ("url", _url),
    ("html", _html),
    ("escape", _escape),
    ("morse", _morse),
)
# No decoder finds anything in ASCII without one of these: a digit, a sign that escapes, two cases in a word, capitals
# in a row, or signs of Morse that stand together.
_SIGN: Final = re.compile(
    r"[0-9%&\\+A-Z.\-_](?:(?<=[0-9%&\\+])|(?<=[a-z][A-Z])|(?<=[A-Z])[A-Z]"
    r"|(?<=[.\-_])(?:[.\-_/|\n]| {1,3}[.\-_]| [/|]))"
)


def may_be_coded(text: str) -> bool:
    """Whether anything in a text may stand for other text."""
    return not text.isascii() or _SIGN.search(text) is not None
