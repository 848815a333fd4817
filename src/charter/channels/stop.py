"""Ctrl-C ends a turn and not the program; where something is being written it waits until that is whole."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Final

from ..core.state import State

# Outside of these a turn is taken, written or given back, and must not be torn apart.
MAY_BREAK: Final = frozenset({State.LOADING, State.INFERRING, State.ACTING})


class Stop:
    """Whether somebody no longer wants the turn that is under way."""

    def __init__(self) -> None:
        self.asked = False
        self._state = State.IDLE

    def moved(self, state: State) -> None:
        self._state = state

    @contextmanager
    def listening(self) -> Iterator[None]:
        """While a turn goes: the first Ctrl-C breaks it where it may be broken, else it is kept for the turn to see."""
        self.asked, self._state = False, State.IDLE
        if threading.current_thread() is not threading.main_thread():
            yield  # signals are the main thread's
            return
        before = signal.signal(signal.SIGINT, self._pressed)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, before)

    def _pressed(self, number: int, frame: FrameType | None) -> None:
        first, self.asked = not self.asked, True
        if first and self._state in MAY_BREAK:
            raise KeyboardInterrupt
