"""An edit written so that a person reads less of it than a model does is for a person to decide, whatever it says."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Set
from functools import cache
from itertools import repeat
from typing import Final, cast

from .decode import shift, vocabulary
from .fold import strange
from .override_things import ASK, Mark
from .turning import ways
from .views import View, Views

CODE: Final = "DISGUISED"
# Ways of writing that nobody uses by chance; an address with %20 in it or a &amp; is no mask.
_WRITINGS: Final = frozenset("tags base64 base32 hex binary morse reversed backwards atbash rot13".split())
_ESCAPES: Final = re.compile(
    r"(?:%[0-9a-fA-F]{2}){8,}|(?:&#[xX]?[0-9a-fA-F]{2,6};){5,}|(?:\\[ux]\{?[0-9a-fA-F]{2,6}\}?){5,}"
)
# Words of two alphabets.
_MIXED: Final = re.compile(r"[A-Za-z](?=[\u0370-\u03ff\u0400-\u04ff])\w*|[\u0370-\u03ff\u0400-\u04ff](?=[A-Za-z])\w*")
# Without it in a text none of them is there: a sign that is rarer, or that begins with what is.
_SECOND: Final = re.compile(r"[\u0370-\u03ff\u0400-\u04ff](?:(?<=[A-Za-z].)|(?=[A-Za-z]))", re.DOTALL)
_OTHER: Final = re.compile(r"[\u0370-\u03ff\u0400-\u04ff]")
# Letters of Latin that were chosen for their looks: mathematical, in circles, of full width.
_STYLED: Final = re.compile(
    r"[\U0001d400-\U0001d7cb\u24b6-\u24e9\U0001f110-\U0001f189\uff21-\uff3a\uff41-\uff5a\u1d43-\u1d6a\u2090-\u209c]+"
)
_WIDE: Final = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]")  # beside these full width is a way to write
_SPACED: Final = re.compile(r"(?<![^\W_])[^\W\d_](?:[ .\-_*·•~|+]{1,6}[^\W\d_](?![^\W\d_])){3,}")
_FOUR: Final = re.compile(r"[ .\-_*·•~|+][^\W\d_][ .\-_*·•~|+]{1,6}[^\W\d_][ .\-_*·•~|+]")  # in each word of these
_LEET: Final = re.compile(r"(?<![\w@$!+€])(?=[\w@$!+€]{0,24}[0134578@$!+€][a-z])[\w@$!+€]{4,24}(?![\w@$+€])")
_DIGIT: Final = re.compile(r"[0134578@$!+€](?=[a-z])")  # in each of these
_BEFORE: Final = re.compile(r"[\w@$!+€]*\Z")
_LETTERS: Final = str.maketrans("0134578@$!+€", "oieastbasite")
_WORD: Final = re.compile(r"[a-z]{3,6}")
_LONG_LEAST, _VERY_LONG = 6, 8  # letters of a long word that is turned, and of one that needs no other
_LONG_WORD: Final = re.compile(r"[a-z]{6,24}")
_PARTED: Final = re.compile(r"(?:[^\W\d_]\xad){3}")  # after letter upon letter: no word is broken so
_STYLED_LEAST: Final = 6  # letters
_SPACED_LEAST: Final = 8  # letters
Spans = list[tuple[int, int]]
_WAYS: Final = ("reversed", "rot13", "atbash")  # of turning long words
_COMMON: Final = "the and you for are not with that this from have your must will never every when always all".split()
_QUOTED: Final = re.compile(r"'.*'|\".*\"|“.*”|„.*[“”]|‘.*’|«.*»|`.*`|「.*」|\(.*\)", re.DOTALL)
_LONG, _MUCH = 40, 0.5  # characters, and the share of a text, from which on a code is more than a name or a checksum
_LONGEST: Final = 26  # letters of a word with digits for letters, and one before them
_FEW: Final = 2  # words with a mask, or hidden characters: one may be a slip


def masked(content: str, views: Views) -> Iterator[tuple[View, Mark]]:
    """What is masked in a text, and the view that shows it; nothing in text that is written as people write, and
    nothing that is only shown, between quotation marks: there what it says is judged, not how."""
    for view, mark in _masks(content, views):
        start, end = view.at(mark.start, mark.end)
        if view.name != "plain" and end - start < min(_LONG, len(content) * _MUCH):
            continue
        if not _QUOTED.fullmatch(content[max(start - 1, 0) : end + 1]):
            yield view, mark


def _masks(content: str, views: Views) -> Iterator[tuple[View, Mark]]:
    for view in views.all[1:]:
        if any(_is_mask(way) for way in view.name.split(">")):
            yield view, _mark(0, len(view.text), view.name.partition(">")[0])
    written = View("plain", content, lambda start, end: (start, end))
    for factor, found in (
        ("letters of two alphabets", _at_least(_FEW, _MIXED.finditer(content) if _has_two_alphabets(content) else ())),
        ("turned words", _turned(content)),
        ("hidden characters", _unseen(content, views)),
        ("escapes", _at_least(1, _ESCAPES.finditer(content) if _is_escaped(content) else ())),
        ("styled letters", _styled(content)),
        ("spaced letters", _spaced(content)),
        ("digits for letters", _leet(content)),
    ):
        if found:
            yield written, _mark(found[0][0], found[-1][1], factor)


def _is_mask(way: str) -> bool:
    return way in _WRITINGS or way.startswith("caesar")


def _mark(start: int, end: int, factor: str) -> Mark:
    return Mark(CODE, ASK, start, end, (factor,))


def _at_least(few: int, found: Iterable[re.Match[str]]) -> Spans:
    spans = [match.span() for match in found]
    return spans if len(spans) >= few else []


@cache
def _turns() -> tuple[frozenset[str], ...]:
    """Common words as they stand in a text that is shifted or turned round, way by way; none that means something."""
    ways = [[word[::-1] for word in _COMMON], *([word.translate(shift(by)) for word in _COMMON] for by in range(1, 26))]
    meant = vocabulary(1) | {"era", "ton"}
    return tuple(frozenset(way) - meant for way in ways)


@cache
def _all_turned() -> frozenset[str]:
    return frozenset().union(*_turns())


def _turned(content: str) -> Spans:
    """Words that are common, or long ones of ours, when read backwards or with every letter moved on by as many."""
    folded = content.lower()
    found = _all_turned().intersection(_WORD.findall(folded))
    turned = any(len(way & found) >= _FEW for way in _turns()) or _is_long_turned({*_LONG_WORD.findall(folded)})
    return [(0, len(content))] if turned else []


def _is_long_turned(words: Set[str]) -> bool:
    """Whether one very long word or a few long ones are words of ours, turned: chance does not make those."""
    known, others = vocabulary(_LONG_LEAST), " ".join(words - vocabulary(1))
    for way in _WAYS:
        ours = known.intersection(ways()[way](others).split())
        if len(ours) >= _FEW or any(len(word) >= _VERY_LONG for word in ours):
            return True
    return False


def _unseen(content: str, views: Views) -> Spans:
    """Hidden characters between letters; where a word may be parted is no secret, unless it is parted everywhere."""
    found = [(start, end) for start, end in views.hidden if content[start:end] != "\xad"]
    return found if len(found) >= _FEW else [match.span() for match in _PARTED.finditer(content)]


def _styled(content: str) -> Spans:
    if _STYLED.search(strange(content)) is None:
        return []
    found = [
        match.span()
        for match in _STYLED.finditer(content)
        if unicodedata.normalize("NFKC", match.group()).isalpha()
        and not (match.group()[0] >= "\uff00" and _WIDE.search(content))
    ]
    return found if sum(end - start for start, end in found) >= _STYLED_LEAST else []


def _spaced(content: str) -> Spans:
    """Words whose letters stand apart."""
    found = [match.span() for match in (_SPACED.finditer(content) if _FOUR.search(content) else ())]
    letters = sum(sum(map(str.isalpha, content[start:end])) for start, end in found)
    return found if letters >= _SPACED_LEAST else []


def _leet(content: str) -> Spans:
    """Words of ours in which digits or signs stand for letters."""
    known, folded = vocabulary(), content.lower()
    digits = [match.start() for match in _DIGIT.finditer(folded)]
    starts = dict.fromkeys(_begins(folded, digit) for digit in (digits if len(digits) >= _FEW else ()))
    found = [
        match.span()
        for match in filter(None, map(_LEET.match, repeat(folded), starts))
        if match.group().translate(_LETTERS).strip("i") in known
    ]
    return found if len(found) >= _FEW else []


def _begins(text: str, at: int) -> int:
    """Where the word begins that a place is in, if it begins soon enough before it."""
    return cast("re.Match[str]", _BEFORE.search(text, max(at - _LONGEST, 0), at)).start()


def _has_two_alphabets(content: str) -> bool:
    return _OTHER.search(strange(content)) is not None and _SECOND.search(content) is not None


def _is_escaped(content: str) -> bool:
    return "%" in content or "&#" in content or "\\" in content
