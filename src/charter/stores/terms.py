"""Words of a text for recall: folded, without stop words, pairs of characters where a script has no spaces."""

from __future__ import annotations

import re
import unicodedata

_STOP = frozenset(
    """a an and are as at be been but by can could did do does for from had has have he her him his how i if in into
    is it its me my no not of on or our she should so than that the their them then there these they this to us was we
    were what when where which who why will with would you your""".split()
)
_WORD = re.compile(r"[^\W_]+")
_PAIRED = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\u0e00-\u0e7f]+")


def terms(text: str) -> list[str]:
    """The terms of a text in order, the same in every process."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    found: list[str] = []
    for word in _WORD.findall(folded):
        if _PAIRED.fullmatch(word):
            found += [word[i : i + 2] for i in range(len(word) - 1)] or [word]
        elif word not in _STOP:
            found.append(_stem(word))
    return found


def _stem(word: str) -> str:
    """A light English stem: enough that plural and singular meet."""
    for ending, rest in (("ies", "y"), ("sses", "ss"), ("ing", ""), ("ed", ""), ("es", "e"), ("s", "")):
        if word.endswith(ending) and len(word) - len(ending) >= 3 and not word.endswith("ss"):
            return word[: len(word) - len(ending)] + rest
    return word
