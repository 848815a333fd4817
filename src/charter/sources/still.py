"""A layer of files alone says again what it said, while every file and folder looked at for it is as it was."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from ..core.section import Section
from .ask import Ask
from .known import Looks, same, settled, telling

MOST: Final = 64  # agents and modes of one charter

Told = tuple[Section, tuple[str, ...]]  # a section, and the notices of what was left out of it
NOTHING: Final[Mapping[str, Told]] = MappingProxyType({})


class Kept(NamedTuple):
    """What was found on the way to some layers, what of it is looked at again, and what they said."""

    seen: Mapping[str, Any]
    looks: Looks
    told: Mapping[str, Told]


class Still:
    """The layers of files of one charter, as they were last time; its files are looked at in every turn."""

    def __init__(self) -> None:
        self._kept: dict[tuple[str, Path, str], Kept] = {}

    def __repr__(self) -> str:
        return f"Still({len(self._kept)} kept)"

    def told(self, ask: Ask) -> Mapping[str, Told]:
        """What these layers say now when it is what they said, nothing when they have to be asked; `ask.seen` then has
        what other sources may find of theirs."""
        kept = self._kept.get(_key(ask))
        if kept is None or ask.world.given or not same(kept.looks):
            return NOTHING
        ask.seen.update(kept.seen, looks=dict(kept.seen["looks"]))  # a copy: sources of this prompt add to theirs
        return kept.told

    def keep(self, ask: Ask, told: Mapping[str, Told], since_ns: int) -> None:
        """Keeps what they said, asked since then; not when something of it may change without a sign."""
        looks = ask.seen.get("looks")
        if not looks or ask.world.given or not settled(looks, since_ns):
            return
        if len(self._kept) >= MOST:
            self._kept.clear()
        self._kept[_key(ask)] = Kept({**ask.seen, "looks": dict(looks)}, telling(looks), told)


def _key(ask: Ask) -> tuple[str, Path, str]:
    return ask.mode.name, ask.workspace, ask.role


def clock() -> int:
    """Now, by the clock that files are stamped with."""
    return time.time_ns()
