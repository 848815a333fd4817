"""What is open when a process forks is closed before it, or is not the child's: no connection serves two processes."""

from __future__ import annotations

import os
import weakref
from typing import Protocol


class Forks(Protocol):
    """Something with connections, as a fork sees it."""

    def pause(self) -> None:
        """Before the fork, in the parent: nothing begins until `resume`."""

    def resume(self) -> None:
        """After it, in the parent."""

    def begin_anew(self) -> None:
        """After it, in the child, where no other thread is left to release a lock."""


_known: weakref.WeakSet[Forks] = weakref.WeakSet()
_paused: list[Forks] = []


def know(thing: Forks) -> None:
    """Has this told of every fork, for as long as somebody uses it."""
    _known.add(thing)


def _before() -> None:
    _paused[:] = _known
    for thing in _paused:
        thing.pause()


def _in_parent() -> None:
    for thing in _paused:
        thing.resume()
    _paused.clear()


def _in_child() -> None:
    _paused.clear()
    for thing in list(_known):
        thing.begin_anew()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before, after_in_parent=_in_parent, after_in_child=_in_child)
