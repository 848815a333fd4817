"""Looking for escapes: over values, over every code point, and down to the smallest value that still escapes."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator

from .slots import Slot

SHOWN = 4


def minimal(slot: Slot, value: str) -> str:
    """A part of an escaping value that still escapes, and of which no smaller part does."""
    size = max(len(value) // 2, 1)
    while True:
        smaller = next((part for part in _without(value, size) if slot.judge(part).what == "escaped"), None)
        if smaller is not None:
            value = smaller
        elif size == 1:
            return value
        else:
            size //= 2


def _without(value: str, size: int) -> Iterator[str]:
    for start in range(0, len(value), size):
        yield value[:start] + value[start + size :]


def findings(slot: Slot, values: Iterable[str]) -> dict[str, str]:
    """The smallest escaping values among these, each with what it did."""
    found: dict[str, str] = {}
    for value in values:
        rest = value
        while slot.judge(rest).what == "escaped":
            if len(found) == SHOWN:
                return found
            smallest = minimal(slot, rest)
            found.setdefault(smallest, slot.judge(smallest).why[0])
            shorter = rest.replace(smallest, "") if smallest else rest
            if len(shorter) == len(rest):
                break
            rest = shorter
    return found


def swept(slot: Slot, batches: Iterable[str]) -> dict[str, str]:
    """`findings` over batches; one that is refused as a whole is halved, so that every code point gets its turn."""
    found: dict[str, str] = {}
    waiting = deque(batches)
    while waiting and len(found) < SHOWN:
        batch = waiting.popleft()
        outcome = slot.judge(batch).what
        if outcome == "escaped":
            found |= findings(slot, [batch])
        elif outcome != "contained" and len(batch) > 3:
            middle = len(batch) // 2
            waiting.extendleft((batch[middle:], batch[:middle]))
    return found


def told(slot: Slot, found: dict[str, str], how: str = "") -> str:
    """The findings as a person reads them."""
    lines = [f"  {value!a}: {why}" for value, why in found.items()]
    return "\n".join([f"{len(found)} value(s) escaped from {slot.name}{how}:", *lines])
