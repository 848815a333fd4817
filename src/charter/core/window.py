"""A chat within its window: the oldest exchanges give way in steps, so the cut moves rarely (N-18)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from .records import Exchange

KEPT: Final = 20  # exchanges a store keeps of a chat; one that is full loses its oldest with every turn
STEP: Final = 4


def within(exchanges: Sequence[Exchange], costs: Sequence[int], room: int) -> int:
    """From which of these exchanges on they fit, each with its cost; it is the first of a step of four.

    So a chat that outgrows its room loses four exchanges at once and then none for a while. A chat from which nothing
    is lost yet starts where it started.
    """
    left = sum(costs)
    for index, exchange in enumerate(exchanges):
        starts = (exchange.seq - 1) % STEP == 0 or (index == 0 and len(exchanges) < KEPT)
        if starts and left <= room:
            return index
        left -= costs[index]
    return len(exchanges)
