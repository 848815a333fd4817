"""A canary is a secret word for word: in any view, backwards, shifted, or begun in the reply before, it is a leak."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from .leak_index import steps_of
from .leak_read import Reading, fold, read

TINY: Final = 3  # letters of a secret that is only looked for as it is written
SHORT: Final = 8  # letters of a secret that has to begin a word, so that it is not found inside others


@dataclass(frozen=True, slots=True)
class Secret:
    """A canary: as it is written, as letters, and as steps from letter to letter."""

    text: str = field(repr=False)
    letters: str = field(repr=False)
    steps: str = field(repr=False)

    def place(self, reading: Reading, before: str) -> tuple[int, int] | None:
        """The letters of a reading that are the secret; `before` are those of the reply before."""
        letters, size = self.letters, len(self.letters)
        if size <= TINY:
            return None
        starts = set(reading.offsets) if size < SHORT else ()
        for wanted in (letters, letters[::-1]):
            at = reading.letters.find(wanted)
            while at >= 0 and starts and at not in starts:
                at = reading.letters.find(wanted, at + 1)
            if at >= 0:
                return at, at + size
        if size > SHORT and self.steps and (at := steps_of(reading.spelled).find(self.steps)) >= 0:
            return at, at + size
        for taken in range(min(size - 1, len(before)), 0, -1):
            if before.endswith(letters[:taken]) and reading.letters.startswith(letters[taken:]):
                return 0, size - taken
        return None


def secret_of(text: str) -> Secret:
    """A canary made ready."""
    reading = read(fold(text))
    return Secret(text, reading.letters, steps_of(reading.spelled) if reading.spelled.isascii() else "")
