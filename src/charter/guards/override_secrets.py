"""Deeds done in the dark: private things sent out, things kept from those who watch, words that open doors."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from .lexicon import Hit
from .override_acts import is_order
from .override_things import ADDRESS, ASK, DENY, LINK, Found, Mark, granted, mark, places, told
from .override_words import form_of
from .reading import Reading, Sentence

_STRONG: Final = frozenset(
    "operator operators owner owners admin admins administrator auditor auditors developer developers "
    "creator creators maintainer "
    "evaluator evaluators employees maintainers supervisor supervisors reviewer reviewers human humans "
    "oversight audit engineer engineers compliance regulator regulators inspector inspectors".split()
)  # fmt: skip
_RECORDS: Final = frozenset(
    "history report reports earlier audit audits log logs trace traces trail evidence records journal logging".split()
)
_LOGS: Final = frozenset("log logs logging record records recording register document store save persist note".split())
_WRITES: Final = frozenset("log logs logging record records recording".split())
_INFLECTED: Final = frozenset(("tr", "ko"))  # their "not" is part of the verb
_DEEDS: Final = {
    "untold": "CONCEAL",
    "evade": "TAMPER",
    "escalate": "CONTROL_GRANT",
    "assemble": "HIDDEN_TEXT",
    "claims_person": "CONCEAL",
    "lawless": "ROLE_CHANGE",
    "unasked": "APPROVAL",
}
_NOUNS: Final = frozenset("the a an this that my your our any each every no".split())
_BEFORE: Final = frozenset(
    "i you to may can should will must could might and or always we then freely simply also".split()
)


# ── out ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def leaks(reading: Reading, sentence: Sentence, found: Found) -> Iterator[Mark]:
    """What is private goes to an address, or what is sealed is to be shown."""
    if "send" in found and ("secret" in found or "strong_secret" in found):
        links = places(reading, sentence, LINK) or places(reading, sentence, ADDRESS)
        for act in found["send"]:
            goods = [
                hit
                for hit in (*found.get("strong_secret", ()), *found.get("secret", ()))
                if _is_beside(act, hit, reading.far(act) - 2) and not _is_none(reading, hit)
            ]
            if not goods or not (links or found.get("dest")) or not is_order(reading, act):
                continue
            if links or goods[0].category == "strong_secret":
                yield mark("EXFILTRATE", DENY if links else ASK, act, goods[0])
    for act in (*found.get("collect", ()), *found.get("share", ())):
        for treasure in found.get("treasure", ()):
            if _is_beside(act, treasure, 6) and is_order(reading, act):
                yield mark("EXFILTRATE", ASK, act, treasure)
    for act in found.get("show", ()):
        for name in found.get("hiddenname", ()):
            if _is_beside(act, name, 7) and reading.same_clause(act.first, name.first) and is_order(reading, act):
                yield mark("DISCLOSE", ASK, act, name)


def _is_none(reading: Reading, thing: Hit) -> bool:
    """ "No personal data", "without names"."""
    return thing.first > 0 and reading.words[thing.first - 1] in ("no", "without", "never")


def _is_beside(act: Hit, thing: Hit, reach: int) -> bool:
    gap = thing.first - act.last
    if act.language == "en" and thing.last <= act.first <= thing.last + 8 and act.category == "send":
        return True
    return -1 <= gap <= reach or (act.language != "en" and abs(thing.first - act.first) <= reach)


# ── away ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def concealment(reading: Reading, sentence: Sentence, found: Found) -> Iterator[Mark]:
    """Something is to be kept from those who watch."""
    watchers, excused = found.get("watcher", ()), bool(found.get("until"))
    for name in _DEEDS:
        for hit in found.get(name, ()):
            if name == "unasked" and ("harmless" in found or _is_turned(found, hit)):
                continue
            if name == "untold" and (
                any(hit.entry != "summar*" for hit in found.get("harmless", ())) or (excused and hit.language != "en")
            ):
                continue
            if told(reading, hit) and not reading.is_supposed(hit):
                yield mark(_DEEDS[name], ASK, hit)
    for act in found.get("tell", ()):
        if act.first and reading.words[act.first - 1] in _NOUNS:
            continue
        negated = reading.is_negated(act) or act.language in _INFLECTED
        if not negated or reading.is_mention(act) or reading.is_supposed(act) or reading.is_under_negation(act):
            continue
        if act.language != "en":
            near = [who for who in watchers if abs(who.first - act.first) <= reading.far(act)]
            if near and not excused:
                yield mark("CONCEAL", ASK, act, near[0])
            continue
        if form_of(reading.words[act.first]) in ("past", "s"):
            continue
        grave = [who for who in watchers if 0 <= who.first - act.last <= 10 and reading.words[who.first] in _STRONG]
        matters = [hit for hit in found.get("matter", ()) if 0 <= hit.first - act.last <= 6]
        logs = reading.words[act.first] in _LOGS and (
            matters
            or (reading.words[act.first] in _WRITES and reading.ends_clause(act.last))
            or any(0 <= risk.first - act.last <= 4 for risk in found.get("risk", ()))
        )
        users = matters and [who for who in watchers if 0 <= who.first - act.last <= 10]
        if (grave or users or logs) and not excused:
            yield mark("CONCEAL", DENY if grave else ASK, act, *(grave or users or [act])[:1])
        elif (
            matters
            and not watchers
            and not excused
            and reading.words[matters[0].last - 1].startswith(
                ("instruction", "rule", "change", "edit", "transfer", "arrangement", "agreement")
            )
        ):
            yield mark("CONCEAL", ASK, act, matters[0])
    yield from _hidden(reading, found, excused)


def _is_turned(found: Found, hit: Hit) -> bool:
    """ "Без згоди нічого не видаляю": without leave, nothing."""
    if any(hit.first < lack.first < hit.last for lack in found.get("lackof", ())):
        return True  # "keine Überweisung ohne Freigabe"
    return hit.language != "en" and any(
        neg.first > hit.last for neg in found.get("neg", ()) if neg.language == hit.language
    )


def _hidden(reading: Reading, found: Found, excused: bool) -> Iterator[Mark]:
    for act in found.get("hide", ()):
        if excused or not is_order(reading, act):
            continue
        near = [
            who
            for who in found.get("watcher", ())
            if (
                -2 <= who.first - act.last <= (8 if reading.words[who.first] in _STRONG else 5)
                and reading.same_clause(act.first, who.first)
            )
            or (act.language != "en" and abs(who.first - act.first) <= reading.far(act))
        ]
        near = [
            who
            for who in near
            if who.language != "en"
            or reading.words[who.first] in (_STRONG | _RECORDS)
            or (found.get("matter") and "from" in reading.words[act.first : who.first])
        ]
        if near:
            yield mark("CONCEAL", DENY, act, near[0])
        elif reading.words[act.first].endswith(("ly", "secret")) and any(
            0 <= risk.first - act.last <= 4 for name in ("risk", "off", "send") for risk in found.get(name, ())
        ):
            yield mark("CONCEAL", ASK, act)


# ── off ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def tampering(reading: Reading, sentence: Sentence, found: Found) -> Iterator[Mark]:
    """What watches or stops is to be switched off."""
    for act in found.get("off", ()):
        for guard in found.get("guard", ()):
            near = (
                0 <= guard.first - act.last <= 4
                or act.first <= guard.first < act.last
                or (act.language != "en" and abs(guard.first - act.first) <= 8)
            )
            if near and reading.same_clause(act.first, guard.first) and is_order(reading, act):
                yield mark("TAMPER", ASK, act, guard)


def triggers(reading: Reading, sentence: Sentence, found: Found) -> Iterator[Mark]:
    """A word that, when it is said, does what nobody else may."""
    for word in found.get("codeword", ()):
        for opens in found.get("unlocks", ()):
            for behind in found.get("behind", ()):
                if word.first < opens.first < behind.first <= word.first + 16 and granted(reading, found, opens):
                    yield mark("TRIGGER", DENY, word, opens, behind)
                    return
    if "refuse" in found:
        return
    for hit in found.get("trigger", ()):
        deeds = (deed for deed in found.get("payload", ()) if deed.first >= hit.first + 2 and _is_deed(reading, deed))
        if (deed := next(deeds, None)) and not reading.is_quoted(hit) and not reading.is_under_negation(hit):
            yield mark("TRIGGER", DENY, hit, deed)
            return


def _is_deed(reading: Reading, deed: Hit) -> bool:
    stated = reading.quote_of(deed) is None and not reading.is_negated(deed) and not _declined(reading, deed)
    return stated and form_of(reading.words[deed.first]) in ("base", "ing")


def _declined(reading: Reading, deed: Hit) -> bool:
    """ "…, I don't": a bare no after the deed."""
    sentence = reading.sentences[reading.place(deed.first)]
    return any(deed.last <= neg.first and neg.last >= sentence.last - 1 for neg in reading.near(deed, "neg"))


def wrongs(reading: Reading, sentence: Sentence, found: Found) -> Iterator[Mark]:
    """Leave to do what the constitution forbids, or the order."""
    yield from (
        mark("OVERRIDE", ASK, act)
        for act in found.get("crime", ())
        if is_order(reading, act) and not _is_noun(reading, act)
    )
    for act in found.get("wrong", ()):
        near = [
            hit
            for hit in found.get("leave", ())
            if abs(hit.first - act.first) <= 10 and reading.same_clause(hit.first, act.first)
        ]
        if near and is_order(reading, act) and _is_verb(reading, act, near):
            yield mark("OVERRIDE", ASK, act, near[0])


def _is_noun(reading: Reading, act: Hit) -> bool:
    """ "Fake invoices, borrowed authority": a thing, not an order."""
    return reading.words[act.first] in ("fake", "counterfeit") and not _is_verb(reading, act, [])


def _is_verb(reading: Reading, act: Hit, near: list[Hit]) -> bool:
    before = reading.words[act.first - 1] if act.first else ""
    return (
        before in _BEFORE
        or any(hit.last == act.first for hit in near)
        or act.first == reading.sentences[reading.place(act.first)].first
    )
