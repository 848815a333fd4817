"""Lines a person types: the usual keys to edit them, and those of before with the arrow keys."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

MOST_LINES: Final = 500


class Lines:
    """Reads lines; what is remembered of them is in `history`, oldest first. Answers to questions are not."""

    def __init__(self, history: Iterable[str] = ()) -> None:
        self._readline = _readline()
        self.history = list(history)[-MOST_LINES:]
        if self._readline is not None:
            self._readline.set_auto_history(False)
            self._readline.clear_history()
            for line in self.history:
                self._readline.add_history(line)

    def message(self, prompt: str) -> str:
        """A line that is remembered; EOFError when there are no more."""
        line = input(prompt)
        if line.strip() and self.history[-1:] != [line]:
            self.history = [*self.history, line][-MOST_LINES:]
            if self._readline is not None:
                self._readline.add_history(line)
        return line

    def answer(self, prompt: str) -> str:
        """A line that is not."""
        return input(prompt)


def _readline() -> Any:
    try:
        import readline
    except ImportError:  # not everywhere
        return None
    return readline
