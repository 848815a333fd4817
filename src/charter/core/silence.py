"""A reply that says nothing is not sent: one rule for whole replies and for streams, used by every channel.

Silent is what has nothing to see in it, and what is the charter's silence token and nothing else. Around the token
white space, quotation marks, backticks and other punctuation do not count, nor does the case of letters. A reply that
only contains the token is a reply.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

# White space, controls, what Unicode says to ignore when it is drawn, the empty Braille cell, and halves of surrogates.
_UNSEEN: Final = (
    r"\s\x00-\x1f\x7f-\xa0\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f"
    r"\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\ud800-\udfff\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    r"\U000e0000-\U000e0fff"
)
_PUNCTUATION: Final = r"!-/:-@\[-`{-~«»¡¿·\u2010-\u2027\u2030-\u205e、-〃〈-】〔-〟！-／：-＠［-｀｛-･"
_NOTHING: Final = re.compile(rf"[{_UNSEEN}]*\Z")
_EDGE: Final = re.compile(rf"[{_UNSEEN}{_PUNCTUATION}]+")
_BLANK: Final = re.compile(rf"[{_UNSEEN}]+")


def is_silent(text: str, token: str = "") -> bool:
    """Whether this whole reply is not to be sent."""
    if _NOTHING.match(text):
        return True
    edge, word = _meant(token)
    return bool(word) and _trimmed(text.casefold(), edge) == word


@lru_cache(maxsize=64)
def _meant(token: str) -> tuple[re.Pattern[str], str]:
    """What a token comes down to, and what may stand around it; one of punctuation alone has to be met exactly."""
    folded = token.casefold()
    word = _trimmed(folded, _EDGE)
    return (_EDGE, word) if word else (_BLANK, _trimmed(folded, _BLANK))


def _trimmed(text: str, edge: re.Pattern[str]) -> str:
    before = edge.match(text)
    start = before.end() if before else 0
    end = len(text)
    while end > start and edge.match(text, end - 1):
        end -= 1
    return text[start:end]


class Quiet:
    """A reply as it comes in: held back only while it may still turn out silent, then passed on as it is."""

    __slots__ = ("_at", "_edge", "_held", "_open", "_token", "_word")

    def __init__(self, token: str = "") -> None:
        self._token = token
        self._edge, self._word = _meant(token)
        self._at = 0  # how much of the word has been seen
        self._held: list[str] = []
        self._open = False

    def __repr__(self) -> str:
        return f"Quiet({'open' if self._open else 'holding'}, {sum(map(len, self._held))} characters held)"

    def feed(self, part: str) -> str:
        """What may be shown now; "" as long as the reply may still be silent."""
        if self._open:
            return part
        self._held.append(part)
        if all(self._may_follow(letter) for letter in part.casefold()):
            return ""
        return self._all()

    def end(self) -> str:
        """What was held back to the end; "" when the reply was silent."""
        return "" if self._open or is_silent("".join(self._held), self._token) else self._all()

    def _all(self) -> str:
        self._open = True
        text = "".join(self._held)
        self._held.clear()
        return text

    def _may_follow(self, letter: str) -> bool:
        """Whether a silent reply can go on with this letter, and one step on when it does."""
        if 0 < self._at < len(self._word):
            self._at += 1
            return self._word[self._at - 1] == letter
        if self._edge.match(letter):
            return True
        if self._at == 0 and self._word.startswith(letter):
            self._at = 1
            return True
        return False
