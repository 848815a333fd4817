"""All rules over one reading of a text, in the order in which their marks explain it best."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Final

from .override_acts import overrides, ranks, roles
from .override_deeds import approvals, compliance, control
from .override_secrets import concealment, leaks, tampering, triggers, wrongs
from .override_stance import judgements, stances
from .override_things import Found, Mark
from .override_watch import unwatched
from .reading import Reading, Sentence

Rule = Callable[[Reading, Sentence, Found], Iterator[Mark]]
RULES: Final[tuple[Rule, ...]] = (
    overrides, ranks, roles, control, leaks, concealment, tampering, triggers, approvals, compliance, wrongs,
    judgements, stances, unwatched,
)  # fmt: skip

_ENOUGH: Final = 2  # marks of one rule in one sentence


def marks_of(reading: Reading) -> Iterator[Mark]:
    """Every mark, sentence by sentence, and language by language where a sentence can be read in several."""
    for sentence in reading.sentences:
        for found in _by_language(reading.by[sentence.number]):
            for rule in RULES:
                yield from islice(rule(reading, sentence, found), _ENOUGH)


def _by_language(found: Found) -> Iterable[Found]:
    languages = {hit.language for hits in found.values() for hit in hits}
    if len(languages) < 2:
        return [found] if found else []
    return [
        {name: of for name, hits in found.items() if (of := [hit for hit in hits if hit.language == language])}
        for language in sorted(languages)
    ]
