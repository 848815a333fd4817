"""Work beside a turn, in a thread that is used again when it is done; one that hangs is left behind."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from contextvars import Context
from queue import SimpleQueue
from typing import Final

KEPT: Final = 16  # threads that wait for work

Work = Callable[[], None]
Job = tuple[Work, str, threading.Lock]

_idle: Final[list[SimpleQueue[Job]]] = []
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_idle.clear)  # a child has none of its parent's threads


def beside(work: Work, name: str) -> threading.Lock:
    """Starts this work, which raises nothing, in another thread; the lock can be had when it is done."""
    done = threading.Lock()
    done.acquire()
    try:
        jobs = _idle.pop()
    except IndexError:
        jobs = SimpleQueue()
        threading.Thread(target=_wait, args=(jobs,), daemon=True).start()
    jobs.put((work, name, done))
    return done


def _wait(jobs: SimpleQueue[Job]) -> None:
    """Does one work after the other; what one has set in its context, the next does not find."""
    here = threading.current_thread()
    while True:
        work, here.name, done = jobs.get()
        Context().run(work)
        del work  # and with it what it holds
        again = len(_idle) < KEPT
        if again:
            _idle.append(jobs)
        done.release()
        if not again:
            return
