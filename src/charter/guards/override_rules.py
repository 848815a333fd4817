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
# Each rule, and categories without one of which it sees nothing.
RULES: Final[tuple[tuple[Rule, frozenset[str]], ...]] = tuple(
    (rule, frozenset(needs.split()))
    for rule, needs in (
        (overrides, "drop drop2 unkeep keep void lifted hold has_no"),
        (ranks, "outrank mefirst supreme"),
        (roles, "freed"),
        (control, "obey power grant send claims_rank"),
        (leaks, "secret strong_secret treasure hiddenname"),
        (concealment, "tell hide untold evade escalate assemble claims_person lawless unasked"),
        (tampering, "off"),
        (triggers, "codeword trigger"),
        (approvals, "waive approval protect"),
        (compliance, "never_refuse defy comply_all"),
        (wrongs, "crime wrong"),
        (judgements, "vice virtue"),
        (stances, "minus"),
        (unwatched, "darkened unobserved perceive"),
    )
)
_NEEDED: Final = frozenset[str]().union(*(needs for _, needs in RULES))
_ENOUGH: Final = 2  # marks of one rule in one sentence


def marks_of(reading: Reading) -> Iterator[Mark]:
    """Every mark, sentence by sentence, and language by language where a sentence can be read in several."""
    for sentence, found in zip(reading.sentences, reading.by, strict=True):
        for one in _by_language(found) if not _NEEDED.isdisjoint(found) else ():
            for rule, needs in RULES:
                if not needs.isdisjoint(one):
                    yield from islice(rule(reading, sentence, one), _ENOUGH)


def _by_language(found: Found) -> Iterable[Found]:
    languages = {hit[5] for hits in found.values() for hit in hits}
    if len(languages) < 2:
        return [found]
    return [
        {name: of for name, hits in found.items() if (of := [hit for hit in hits if hit.language == language])}
        for language in sorted(languages)
    ]
