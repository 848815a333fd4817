"""Words of a text for recall: folded, without stop words, pairs of characters where a script has no spaces."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

_STOP = frozenset(
    """a an and are as at be been but by can could did do does for from had has have he her him his how i if in into
    is it its me my no not of on or our she should so than that the their them then there these they this to us was we
    were what when where which who why will with would you your""".split()
)
_PAIRED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
_MARKS = "\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed\u0900-\u0963\u0966-\u0dff"
_WORD = re.compile(f"([{_PAIRED}]+)|((?:[^\\W_{_PAIRED}]|[{_MARKS}])+)")
_ASCII_WORD = re.compile("[a-z0-9]+")  # what `_WORD` finds in folded ASCII
MOST_CHARS = 64  # of a term: an index takes no longer ones


def terms(text: str) -> list[str]:
    """The terms of a text in order, the same in every process."""
    if text.isascii():
        return [_stem(word[:MOST_CHARS]) for word in _ASCII_WORD.findall(text.lower()) if word not in _STOP]
    folded = unicodedata.normalize("NFKC", text).casefold()
    found: list[str] = []
    for paired, word in _WORD.findall(folded):
        if paired:
            found += [paired[i : i + 2] for i in range(len(paired) - 1)] or [paired]
        elif word not in _STOP:
            found.append(_stem(word[:MOST_CHARS]))
    return found


@lru_cache(maxsize=4096)
def _stem(word: str) -> str:
    """A light English stem: enough that plural and singular meet."""
    for ending, rest in (("ies", "y"), ("sses", "ss"), ("ing", ""), ("ed", ""), ("es", "e"), ("s", "")):
        if word.endswith(ending) and len(word) - len(ending) >= 3 and not word.endswith("ss"):
            return word[: len(word) - len(ending)] + rest
    return word
