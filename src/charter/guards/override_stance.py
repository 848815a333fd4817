"""A sentence about what stands above takes a stance: words against it weigh, words for it too, "not" turns each."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from .lexicon import Hit
from .override_things import ASK, Found, Mark, mark, things
from .reading import Reading, Sentence

_NEAR: Final = 14
_TURNS: Final = 3  # a negation this close before a word turns it
_ABOVE: Final = frozenset("operator operators creator creators developer makers maker".split())

_LAWS: Final = frozenset(
    ("a law", "law", "laws", "guidelines", "restrictions", "policy", "policies", "prohibitions", "obligations")
)
_RECORDS: Final = frozenset(("logs", "log", "audit", "audits"))


def stances(reading: Reading, sentence: Sentence, found: Found) -> Iterator[Mark]:
    """More against than for: a person looks at it."""
    if "minus" not in found or "hostile" in found or any(hit.entry != "asking for" for hit in found.get("attempt", ())):
        return
    above = [
        thing
        for thing in _sensitive(reading, found)
        if not reading.is_quoted(thing) and reading.words[thing.first - 1] != "not"
    ]
    near = [
        hit
        for hit in found["minus"]
        if any(abs(hit.first - thing.first) <= (6 if thing.category == "watcher" else _NEAR) for thing in above)
    ]
    if not near or any(reading.is_quoted(hit) or reading.is_under_negation(hit) for hit in near[:1]):
        return
    near = [hit for hit in near if not _is_apart(reading, hit, above)]
    if not near:
        return
    if all(thing.category == "approval" for thing in above) and "harmless" in found:
        return
    against = sum(_turned(reading, found, hit) for hit in _apart(near, above))
    favour = sum(
        _turned(reading, found, hit) for hit in _apart([*found.get("plus", ()), *found.get("refuse", ())], above)
    )
    if against - favour >= 1:
        yield mark("OVERRIDE", ASK, above[0], near[0])


def _is_apart(reading: Reading, hit: Hit, above: list[Hit]) -> bool:
    """Whether only a person's leave is spoken of, and in another clause."""
    return all(thing.category == "approval" and not reading.same_clause(hit.first, thing.first) for thing in above)


def _sensitive(reading: Reading, found: Found) -> list[Hit]:
    above = [thing.hit for thing in things(reading, found, strict=False) if thing.sure or thing.hit.entry in _LAWS]
    above += [hit for hit in found.get("boss", ()) if hit.entry in _ABOVE]
    records = [hit for hit in found.get("watcher", ()) if hit.entry in _RECORDS]
    return [*above, *found.get("approval", ()), *records]


def _apart(hits: Iterator[Hit] | list[Hit] | tuple[Hit, ...], above: list[Hit]) -> list[Hit]:
    """Hits that are not part of a name of what stands above, each place once."""
    places: dict[int, Hit] = {}
    for hit in hits:
        if not any(thing.first <= hit.first < thing.last for thing in above):
            places.setdefault(hit.first, hit)
    return list(places.values())


def _turned(reading: Reading, found: Found, hit: Hit) -> int:
    turns = (*found.get("neg", ()), *found.get("invert", ()))
    odd = any(0 <= hit.first - neg.last <= _TURNS and reading.same_clause(neg.first, hit.first) for neg in turns)
    return -1 if odd else 1


def judgements(reading: Reading, sentence: Sentence, found: Found) -> Iterator[Mark]:
    """A vice that is called good, a virtue that is called a burden."""
    if found.keys() & {"hostile", "attempt"}:
        return
    for subject, verdict in (("vice", "approved"), ("virtue", "disdained")):
        for thing in found.get(subject, ()):
            for said in found.get(verdict, ()):
                near = 0 <= said.first - thing.last <= 8 and reading.same_clause(thing.first, said.first)
                if (
                    near
                    and _turned(reading, found, said) > 0
                    and _turned(reading, found, thing) > 0
                    and not reading.is_quoted(said)
                ):
                    yield mark("OVERRIDE", ASK, thing, said)
