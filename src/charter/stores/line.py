"""Processes that write to one file stand in line, in the kernel: none starves, and none waits longer than it would."""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Iterator
from pathlib import Path

try:
    import fcntl
except ImportError:  # a platform without it: writers wait as the database has them wait
    fcntl = None  # type: ignore[assignment]


@contextlib.contextmanager
def in_line(folder: Path, end: float) -> Iterator[None]:
    """Waits for this process's turn to ask for the lock of a database in this folder; holds up all others meanwhile.

    Who just wrote comes after those who wait already. The line is a lock on the folder; who gets no turn until `end`,
    or cannot lock folders, asks out of turn: the line is for fairness, and the database's own lock for safety.
    """
    turn = _turn(folder, end) if fcntl is not None else -1
    try:
        yield
    finally:
        if turn >= 0:
            _leave(turn)


def _turn(folder: Path, end: float) -> int:
    """A handle on the folder that has its lock; -1 when there is none to be had."""
    try:
        handle = os.open(folder, os.O_RDONLY)
    except OSError:
        return -1
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return handle if _Waiting(handle).came(end) else -1
    except OSError:
        _leave(handle)
        return -1
    return handle


def _leave(handle: int) -> None:
    with contextlib.suppress(OSError):
        fcntl.flock(handle, fcntl.LOCK_UN)  # not by closing alone: a child of a fork has the handle too
    os.close(handle)


class _Waiting:
    """Waits in the kernel, which has no end to it, in a thread that can be left behind."""

    def __init__(self, handle: int) -> None:
        self.handle = handle
        self.over = threading.Event()
        self.lock = threading.Lock()
        self.given_up = False

    def came(self, end: float) -> bool:
        """Whether the turn came before the end; if not, it is passed on when it comes."""
        try:
            threading.Thread(target=self._wait, daemon=True).start()
        except RuntimeError:  # no more threads, or none any more
            _leave(self.handle)
            return False
        if not self.over.wait(max(end - time.monotonic(), 0)):
            with self.lock:
                self.given_up = not self.over.is_set()
        return not self.given_up

    def _wait(self) -> None:
        with contextlib.suppress(OSError):
            fcntl.flock(self.handle, fcntl.LOCK_EX)
        with self.lock:
            if not self.given_up:
                self.over.set()
                return
        _leave(self.handle)
