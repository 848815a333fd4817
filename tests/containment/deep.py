"""The long hunt in pieces for other processes: some generated values, or every code point in one slot."""

from __future__ import annotations

from itertools import islice
from typing import NamedTuple

from .hunt import SHOWN, findings, swept
from .slots import ENCODERS, SLOTS
from .values import batches, generated, joined


class Haul(NamedTuple):
    """What one piece of the hunt looked at and what it found, readable."""

    looked_at: int
    found: tuple[str, ...] = ()


def among_generated(seed: int, numbers: range) -> Haul:
    """These numbers of a seed, each in the slot whose turn it is."""
    found: list[str] = []
    for number in numbers:
        slot = SLOTS[number % len(SLOTS)]
        for value, why in findings(slot, [generated(seed, number)]).items():
            found.append(f"{slot.name}, seed {seed}, number {number}: {value!a}: {why}")
        if len(found) >= SHOWN:
            break
    return Haul(len(numbers), tuple(found))


def among_code_points(index: int, part: int, parts: int) -> Haul:
    """One part of every code point in the slot of this index."""
    slot = SLOTS[index]
    size = 99 if slot.room is None else min(98, (slot.room - 1) // 2)  # 99 allows a thousand of those unassigned
    values = list(islice(batches(size), part, None, parts))
    found = swept(slot, values)
    points = sum(len(value) // 2 for value in values)
    return Haul(points, tuple(f"{slot.name}: {value!a}: {why}" for value, why in found.items()))


def among_joints(index: int, joint: str, part: int, parts: int) -> Haul:
    """One part of all characters beside their copies, this between them, in one form of the encoder."""
    slot = ENCODERS[index]
    values = list(islice(joined(joint, sample=1), part, None, parts))
    found = findings(slot, values)
    told = (f"{slot.name}, {joint!a}: {value!a}: {why}" for value, why in found.items())
    return Haul(sum(value.count(joint) for value in values), tuple(told))
