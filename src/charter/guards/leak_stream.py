"""A reply that streams is held back only while its end may be hidden text; less than a phrase leaves before.

At most eleven letters of a run leave before it is held, and 160 letters are held before it is known to be a leak or
harmless. A long word that may be encoded is held from its 24th character on, up to 1,024. All that was said so far is
looked at again each time it has grown by half, so a leak in any other writing is stopped on its way.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any, Final

from .finding import ALLOWED, Finding, Span
from .fold import plain, skeleton
from .leak_index import GRAM
from .leak_read import letters_of
from .leak_runs import LETTERS, alike_before
from .leak_scan import CANARY, LEAK, Scan, scan_of
from .leak_secret import SHORT, TINY

MOST: Final = 160  # letters held before a run is let go that weighs nothing
WORD: Final = 24
LONGEST_WORD: Final = 1_024
FIRST_LOOK: Final = 64
PIECE: Final = 64  # characters of what comes at once that are taken together
_PLACES: Final = 64  # places of the hidden text followed at once
_CODED: Final = re.compile(
    r"[0-9+/=%&#;\\_-]|[a-z][A-Z]|[\u200b-\u200f\u2060-\u2064\ufe00-\ufe0f\U000e0000-\U000e0fff]"
)
_SPACE: Final = re.compile(r"\s")
_CODE: Final = re.compile(r"\\u([0-9A-Fa-f]{4})")
_ESCAPE: Final = re.compile(r"\\(?:[^u]|u[0-9A-Fa-f]{4}|u[0-9A-Fa-f]{0,3}[^0-9A-Fa-f])", re.DOTALL)


@lru_cache(maxsize=65_536)
def _letters(text: str, latin: bool) -> str:
    """What a character adds to the letters of a text; where Latin is hidden, it is taken for what it looks like."""
    return letters_of("".join(filter(str.isalnum, skeleton(text if latin else plain(text)))))


class Screen:
    """Between a reply that streams and the person: `feed` gives what may leave now, `end` the rest."""

    def __init__(
        self, hidden: str | Mapping[str, str], *, history: Iterable[Any] = (), canaries: Iterable[str] = ()
    ) -> None:
        self.finding: Finding = ALLOWED
        self._scan: Scan = scan_of(hidden, history=history, canaries=canaries)
        self._latin = self._scan.scales.index.letters.text.isascii()
        self._canaries = [_Canary(secret.letters) for secret in self._scan.secrets if len(secret.letters) > TINY]
        for canary in self._canaries:
            canary.follow(self._scan.before[-len(canary.letters) :])
        self._text: list[str] = []  # all that came, by character
        self._escape = ""  # an escape such as \u00e9 that is not yet whole
        self._letters = ""  # the last letters of the text
        self._at: list[int] = []  # the character each letter came from
        self._places: list[tuple[int, int]] = []  # stretches of the hidden letters that the end of the text may be
        self._word = 0  # where the last word begins
        self._out = 0  # characters that have left
        self._look = FIRST_LOOK

    def __repr__(self) -> str:
        return f"Screen({self.finding.decision}, {len(self._text)} characters, {len(self._text) - self._out} held)"

    def feed(self, part: str) -> str:
        """What may leave now; nothing once something was found."""
        for piece in (part[at : at + PIECE] for at in range(0, len(part), PIECE)):
            if self._passes(piece):
                continue
            for char in piece:
                if self.finding.decision != "allow":
                    return ""
                self._text.append(char)
                for letter in self._spelled(char):
                    self._follow(letter)
                self._end_word(char)
        if self.finding.decision == "allow" and len(self._text) >= self._look:
            self._look = len(self._text) * 3 // 2
            self.finding = self._scan.reply("".join(self._text[: self._word]))
        return self._leave(self._free())

    def end(self) -> str:
        """What was held back; nothing when the whole is a leak."""
        if self.finding.decision == "allow":
            self.finding = self._scan.reply("".join(self._text))
        return self._leave(len(self._text))

    def _leave(self, free: int) -> str:
        if self.finding.decision != "allow" or free <= self._out:
            return ""
        start, self._out = self._out, free
        return "".join(self._text[start:free])

    def _spelled(self, char: str) -> str:
        """The letters a character adds; an escape adds those of the character it stands for, a line break none."""
        if not self._escape and char != "\\":
            return _letters(char, self._latin)
        self._escape += char
        if _ESCAPE.fullmatch(self._escape) is None:
            return ""
        escape, self._escape = self._escape, ""
        if (code := _CODE.fullmatch(escape)) is not None:
            return _letters(chr(int(code[1], base=16)), self._latin)
        return "" if escape[1] in "nrt" else "".join(_letters(other, self._latin) for other in escape)

    # ── what is held ──────────────────────────────────────────────────────────────────────────────────────────────

    def _free(self) -> int:
        """The character up to which nothing may turn out to be a leak."""
        size = len(self._text)
        free = [size]
        if self._run() >= GRAM:
            free.append(self._at[-min(self._run(), MOST)])
        if self._at:
            free += [self._at[-min(canary.seen, len(self._at))] for canary in self._canaries if canary.seen >= TINY]
        if WORD < size - self._word < LONGEST_WORD and self._is_coded():
            free.append(self._word + WORD)
        return min(free)

    def _run(self) -> int:
        """How many letters at the end are hidden ones, in a row."""
        return min(max((end - start for start, end in self._places), default=0), len(self._at))

    def _is_coded(self) -> bool:
        return _CODED.search("".join(self._text[self._word : self._word + WORD])) is not None

    def _end_word(self, char: str) -> None:
        """At a space, or when a word is very long, what it may stand for is looked at."""
        size = len(self._text)
        if not char.isspace() and size - self._word < LONGEST_WORD:
            return
        word, self._word = self._word, size
        if size - word > WORD and self.finding.decision == "allow":
            found = self._scan.runs("".join(self._text[word:size]))
            spans = tuple(Span(span.start + word, span.end + word, span.code, span.reason) for span in found.spans)
            self.finding = Finding(found.decision, found.code, found.reason, spans, found.signs, found.layer)

    # ── what goes by ──────────────────────────────────────────────────────────────────────────────────────────────────

    def _passes(self, piece: str) -> bool:
        """Takes a piece of a reply at once, if nothing in it is to be followed and no word to be looked at."""
        if self._places or self._canaries or self._escape or "\\" in piece or self.finding.decision != "allow":
            return False
        size, word = len(self._text), self._word
        for space in _SPACE.finditer(piece):
            if size + space.end() - word > WORD:
                return False
            word = size + space.end()
        if size + len(piece) - word >= LONGEST_WORD:
            return False
        spelled = [_letters(char, self._latin) for char in piece]
        letters = self._letters[1 - GRAM :] + "".join(spelled)
        if self._scan.scales.index.letters.tries(letters, 1):
            return False
        self._text += piece
        self._at += [at for at, those in enumerate(spelled, size) for _ in those]
        self._letters = (self._letters + "".join(spelled))[-2 * MOST :]
        self._word = word
        return True

    # ── what is followed ──────────────────────────────────────────────────────────────────────────────────────────

    def _follow(self, letter: str) -> None:
        self._at.append(len(self._text) - 1)
        self._letters = (self._letters + letter)[-2 * MOST :]
        for canary in self._canaries:
            if canary.sees(letter) and self._begins(len(canary.letters)):
                self._found(CANARY, "a canary in the stream", len(canary.letters), "")
        hidden = self._scan.scales.index.letters.text
        going = [(start, end + 1) for start, end in self._places if end < len(hidden) and hidden[end] == letter]
        self._places = going or self._anew()
        self._weigh()

    def _begins(self, letters: int) -> bool:
        """Whether the last letters are a secret by themselves; a short one has to begin a word."""
        first = self._at[-letters] if letters <= len(self._at) else 0
        return letters >= SHORT or first == 0 or not _letters(self._text[first - 1], self._latin)

    def _anew(self) -> list[tuple[int, int]]:
        """Where the last letters stand in the hidden text, as far back as they agree."""
        grams, tail = self._scan.scales.index.letters, self._letters
        place = grams.last.get(tail[-GRAM:], -1)
        found: list[tuple[int, int]] = []
        while place >= 0 and len(found) < _PLACES:
            back = alike_before(tail, len(tail) - GRAM, grams.text, place)
            found.append((place - back, place + GRAM))
            place = grams.before[place]
        return found

    def _weigh(self) -> None:
        scales = self._scan.scales
        for start, end in self._places:
            if end - start >= LETTERS:
                first, last = scales.index.words_between(start, end)
                if scales.is_run(first, last):
                    reason = f"{last - first} hidden words by letters, in the stream"
                    self._found(LEAK, reason, end - start, scales.index.layer_of(first))
                    return

    def _found(self, code: str, reason: str, letters: int, layer: str) -> None:
        if self.finding.decision == "allow":
            span = Span(self._at[-min(letters, len(self._at))], len(self._text), code, reason)
            self.finding = Finding("deny", code, reason, (span,), layer=layer)


class _Canary:
    """One secret, followed letter by letter; `seen` is how many of its letters stand at the end."""

    __slots__ = ("_back", "letters", "seen")

    def __init__(self, letters: str) -> None:
        self.letters = letters
        self.seen = 0
        self._back = [0]
        for letter in letters[1:]:
            seen = self._back[-1]
            while seen and letters[seen] != letter:
                seen = self._back[seen - 1]
            self._back.append(seen + (letters[seen] == letter))

    def follow(self, letters: str) -> None:
        """Letters that were there before."""
        for letter in letters:
            self.sees(letter)

    def sees(self, letter: str) -> bool:
        """Whether this letter makes it whole."""
        while self.seen and (self.seen == len(self.letters) or self.letters[self.seen] != letter):
            self.seen = self._back[self.seen - 1]
        self.seen += self.letters[self.seen] == letter
        return self.seen == len(self.letters)
