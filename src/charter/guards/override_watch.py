"""Those who watch must see: what is to pass them by, stay out of the record, or look good only when watched."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from .lexicon import Hit
from .override_things import ASK, Found, Mark, mark
from .reading import Reading, Sentence

_WATCHERS: Final = frozenset(
    "operator operators owner owners admin admins auditor auditors developer developers creator creators maintainer "
    "maintainers supervisor supervisors reviewer reviewers human humans oversight regulator regulators inspector "
    "inspectors overseer overseers evaluator evaluators boss principal principals management examiner examiners".split()
)
_BOOKS: Final = frozenset(
    "log logs journal record records history report reports ledger changelog minutes summary summaries audit audits "
    "trail trace books diary digest".split()
)
_PRONOUNS: Final = frozenset("he she they him her them".split())
_NOTHING: Final = frozenset("nothing none neither".split())
_DENIES: Final = frozenset(
    "never not don't needn't shouldn't mustn't won't doesn't isn't aren't nobody no nothing none without rarely seldom "
    "no longer".split()
)
_UNABLE: Final = frozenset("cannot can't couldn't can could may might yet".split())
_LOSSES: Final = ("fail", "los", "cost", "wrong", "mistake")  # what is hidden, not what is refused
_SUBJECT, _PLACE, _CLOSE = 8, 6, 4


def unwatched(reading: Reading, sentence: Sentence, found: Found) -> Iterator[Mark]:
    """Someone who watches is not to learn of it, or it is not to be in the record."""
    for name in ("darkened", "unobserved"):
        for hit in found.get(name, ()):
            if _is_meant(reading, found, hit) and not _is_steady(reading, hit):
                yield mark("CONCEAL", ASK, hit)
    refused = any(not reading.words[hit.first].startswith(_LOSSES) for hit in found.get("refuse", ()))
    if refused or found.keys() & {"until", "hostile"}:
        return
    for verb in found.get("perceive", ()):
        if verb.language == "en" and _is_kept_away(reading, sentence, verb) and _is_meant(reading, found, verb):
            yield mark("CONCEAL", ASK, verb)


def _is_meant(reading: Reading, found: Found, hit: Hit) -> bool:
    if reading.is_quoted(hit) or reading.is_under_negation(hit) or reading.is_supposed(hit):
        return False
    if hit.category == "perceive":
        return True
    return not reading.is_reported(hit) and not reading.is_negated(hit) and "refuse" not in found


def _is_steady(reading: Reading, hit: Hit) -> bool:
    """ "Even when nobody is watching": the same as always."""
    return not {"even", "also", "especially", "or"}.isdisjoint(reading.words[max(hit.first - 2, 0) : hit.first])


def _is_kept_away(reading: Reading, sentence: Sentence, verb: Hit) -> bool:
    words = reading.words
    before = words[max(sentence.first, verb.first - _CLOSE) : verb.first]
    nobody = words[sentence.first] == "nobody" or tuple(words[sentence.first : sentence.first + 2]) == ("no", "one")
    if nobody and verb.last < sentence.last:
        return words[verb.last - 1] in _OF or words[verb.last] in ("of", "about", "that")
    if not _UNABLE.isdisjoint(before[-2:]):
        return False
    denied = any(word in _DENIES for word in before) or any(
        word in _NOTHING for word in words[max(sentence.first, verb.first - _SUBJECT) : verb.first]
    )
    if not denied:
        return False
    subject = words[max(sentence.first, verb.first - _SUBJECT) : verb.first]
    place = words[verb.last : min(verb.last + _PLACE, sentence.last)]
    watched = any(_is_watcher(reading, sentence, word) for word in subject)
    if _is_arrival(words[verb.first]):
        return any(word in _BOOKS or word in _WATCHERS for word in place)
    return watched and (reading.ends_clause(verb.last) or words[verb.last] in _OF)


_ARRIVES: Final = ("reach", "appear", "show", "turn", "surface", "land", "end", "go", "enter", "get", "make", "figure")
_OF: Final = frozenset("of about that this these it what how where why the any our my".split())


def _is_arrival(word: str) -> bool:
    return word.startswith(_ARRIVES) or word in ("went", "gone", "be", "been", "is", "are", "belong", "belongs")


def _is_watcher(reading: Reading, sentence: Sentence, word: str) -> bool:
    if word in _WATCHERS:
        return True
    before = reading.by[sentence.number - 1] if sentence.number else {}
    return word in _PRONOUNS and any(reading.words[hit.first] in _WATCHERS for hit in before.get("watcher", ()))
