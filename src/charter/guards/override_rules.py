"""All rules over one reading of a text, in the order in which their marks explain it best."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from .override_acts import Found, Mark, overrides, ranks, roles
from .override_deeds import approvals, compliance, concealment, control, leaks, tampering, triggers, wrongs
from .reading import Reading, Sentence

Rule = Callable[[Reading, Sentence, Found], Iterator[Mark]]
RULES: Final[tuple[Rule, ...]] = (
    overrides, ranks, roles, control, leaks, concealment, tampering, triggers, approvals, compliance, wrongs,
)  # fmt: skip


def marks_of(reading: Reading) -> Iterator[Mark]:
    """Every mark, sentence by sentence."""
    for sentence in reading.sentences:
        if found := reading.by[sentence.number]:
            for rule in RULES:
                yield from rule(reading, sentence, found)
