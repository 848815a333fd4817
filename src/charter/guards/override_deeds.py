"""Deeds a writable text may not order: giving control away, skipping a person's say, sending out, hiding, disarming."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from typing import Final

from .lexicon import Hit
from .override_acts import ASK, DENY, Found, Mark, is_order, mark
from .override_words import form_of
from .reading import Reading, Sentence

ADDRESS: Final = re.compile(
    r"\b0x[0-9a-f]{2,}(?:\.{2,3}[0-9a-f]+)?|[\w.+-]{1,64}@[\w-]{1,63}\.[\w.-]{2,63}|(?<![\w/])@[a-z]\w{2,31}\b|\b[\w-]{2,63}\.eth\b"
    r"|\b[a-z2-7]{5}(?:-[a-z2-7]{5}){3,10}-[a-z2-7]{3}\b|\+\d[\d \-]{7,16}\d|\b(?:bc1|[13])[a-z0-9]{25,60}\b|\b[a-z]{2}\d{2}[a-z0-9]{12,30}\b"
)  # fmt: skip
LINK: Final = re.compile(r"\b(?:https?|ftp|wss?|s3|gs|ipfs)://[^\s<>\"')\]]{3,300}|\bwww\.[\w.-]{3,100}|\b(?:[\w-]{1,63}\.){1,4}(?:example|com|net|org|io|dev|app|xyz|ru|cn|info|site|me|co|ai|eu|de)\b(?:/\S{1,200})?|\b\d{1,3}(?:\.\d{1,3}){3}\b|[\w.+-]{1,64}@[\w-]{1,63}\.[\w.-]{2,63}")
_TO: Final = frozenset("to from of by at for".split())
_ALL_OF: Final = frozenset("all entire whole every everything remaining surplus full half available any each profits".split())
_STANDING: Final = frozenset("every each whenever always when daily weekly hourly automatically any all on".split())
_STRONG: Final = frozenset(
    "operator operators owner owners admin admins administrator auditor auditors developer developers creator creators maintainer "
    "evaluator evaluators employees maintainers supervisor supervisors reviewer reviewers human humans oversight audit".split()
)  # fmt: skip
_RECORDS: Final = frozenset("history report reports earlier audit audits log logs trace traces trail evidence records journal logging".split())
_LOGS: Final = frozenset("log logs logging record records recording register document store save persist note".split())


def _told(reading: Reading, hit: Hit) -> bool:
    return not (reading.is_mention(hit) or reading.is_negated(hit) or reading.is_under_negation(hit))


def _granted(reading: Reading, found: Found, hit: Hit) -> bool:
    """ "Anyone who says the word has full control" reports nobody: it grants."""
    stated = not reading.is_quoted(hit) and not reading.is_negated(hit) and not reading.is_under_negation(hit)
    return stated and "hostile" not in found and "attempt" not in found


def _places(reading: Reading, sentence: Sentence, pattern: re.Pattern[str]) -> list[Hit]:
    starts = reading.tokens.starts
    return [
        Hit("address", at, at + 1, start, end, "", "")
        for start, end in reading.spots(pattern, sentence)
        for at in [max(sentence.first, bisect_right(starts, start) - 1)]
    ]


# ── control ───────────────────────────────────────────────────────────────────────────────────────────────────────


def control(reading: Reading, sentence: Sentence, found: Found) -> Iterator[Mark]:
    """Someone is made an authority, or is to be obeyed."""
    if not found.keys() & {"boss", "obey", "power", "send", "risk"}:
        return
    named = _places(reading, sentence, ADDRESS)
    anyone = [*named, *found.get("party", ())]
    yield from _appointed(reading, found, named, anyone)
    for obey in found.get("obey", ()):
        near = [who for who in anyone if who.first >= obey.first - 12 and abs(who.first - obey.first) <= 14]
        if near and is_order(reading, obey) and not _is_of_the_operator(reading, obey, named):
            yield mark("CONTROL_GRANT", DENY if named else ASK, obey, near[0])
    for power in found.get("power", ()):
        near = [who for who in anyone if abs(who.first - power.first) <= 10]
        if near and _granted(reading, found, power):
            yield mark("CONTROL_GRANT", DENY if named else ASK, power, near[0])
    yield from _emptied(reading, found, named)


def _appointed(reading: Reading, found: Found, named: list[Hit], anyone: list[Hit]) -> Iterator[Mark]:
    for boss in found.get("boss", ()):
        for grant in found.get("grant", ()):
            if not (reading.same_clause(grant.first, boss.first) and _told(reading, grant) and not reading.is_supposed(boss)):
                continue
            verb = form_of(reading.words[grant.first]) == "base" and grant.last - grant.first >= 1 and reading.words[grant.first] in _MAKES
            who = [one for one in (named or (anyone if verb else [])) if abs(one.first - grant.first) <= 10]
            if who and 0 <= boss.first - grant.last <= 8 and (verb or who[0].first < grant.first or named):
                if verb and not any(word in ("as", "the", "an", "a", "my", "your", "to") for word in reading.words[grant.last : boss.first]):
                    continue
                yield mark("CONTROL_GRANT", DENY if named else ASK, who[0], grant, boss)
                return


_MAKES: Final = frozenset("treat regard consider recognize recognise accept acknowledge appoint make register designate promote elevate view trust name".split())


def _is_of_the_operator(reading: Reading, obey: Hit, named: list[Hit]) -> bool:
    """Orders of the operator are orders: no one is given anything."""
    if named:
        return False
    near = [boss for boss in reading.near(obey, "boss") if 0 <= boss.first - obey.last <= 6]
    others = [who for who in reading.near(obey, "party") if abs(who.first - obey.first) <= 8]
    return bool(near) and not any(who.first not in {boss.first for boss in near} for who in others)


def _emptied(reading: Reading, found: Found, named: list[Hit]) -> Iterator[Mark]:
    """Everything, or again and again, to one address."""
    for act in found.get("send", ()):
        words = reading.words[act.last : act.last + 8]
        if named and act.first < named[0].first and any(word in _ALL_OF for word in words) and is_order(reading, act):
            if any(act.last <= risk.first <= named[0].first for risk in found.get("risk", ())):
                yield mark("CONTROL_GRANT", ASK, act, named[0])


# ── a person's say ────────────────────────────────────────────────────────────────────────────────────────────────


def approvals(reading: Reading, sentence: Sentence, found: Found) -> Iterator[Mark]:
    """A person's say is skipped, presumed or denied for something that needs it."""
    harmless = bool(found.get("harmless"))
    for hit in found.get("waive", ()):
        outside = [risk for risk in found.get("risk", ()) if risk.first >= hit.last or risk.last <= hit.first]
        if outside and not harmless and _told(reading, hit) and not reading.is_supposed(hit) and form_of(reading.words[hit.first]) != "past":
            yield mark("APPROVAL", ASK, hit, outside[0])
    for hit in found.get("lifted", ()):
        for approval in found.get("approval", ()):
            if approval.language == "en" and 0 <= hit.first - approval.last <= 3 and not harmless and _told(reading, hit) and not reading.is_supposed(hit):
                yield mark("APPROVAL", ASK, approval, hit)
    for hit in found.get("approval", ()):
        if not harmless and _is_skipped(reading, found, hit):
            yield mark("APPROVAL", ASK, hit)
    for act in found.get("protect", ()):
        if harmless or not reading.is_negated(act) or reading.is_mention(act) or reading.is_supposed(act):
            continue
        if act.language == "en" and not any(
            0 <= act.first - neg.last <= 3 and _BETWEEN.issuperset(reading.words[neg.last : act.first])
            for name in ("neg", "stop", "invert")
            for neg in found.get(name, ())
        ):
            continue
        if act.language != "en" or _is_say(reading, found, act):
            yield mark("APPROVAL", ASK, act)


def _is_say(reading: Reading, found: Found, act: Hit) -> bool:
    """Whether an act of asking or checking is about a person's leave for something grave."""
    if form_of(reading.words[act.first]) in ("past", "s"):
        return False
    words = reading.words[act.first : act.last + 8]
    if any(word in ("unless", "twice", "again", "more", "until", "than") for word in words):
        return False
    asked = any(act.first <= hit.first <= act.last + 5 for hit in found.get("approval", ())) or "before" in words or "first" in words
    grave = any(act.last <= hit.first <= act.last + 10 for hit in found.get("risk", ()))
    if reading.words[act.first].startswith(("ask", "confirm", "request", "seek", "wait", "get", "need", "require", "obtain", "await", "pause")):
        return asked and (grave or reading.ends_clause(act.last) or reading.ends_clause(act.last + 1))
    return grave and "before" in words or (grave and reading.words[act.first].startswith(("verif", "escalat", "consult", "question", "doubt")))


def _is_skipped(reading: Reading, found: Found, approval: Hit) -> bool:
    if reading.is_mention(approval) or reading.is_under_negation(approval) or reading.is_supposed(approval):
        return False
    if approval.language != "en":
        return any(abs(hit.first - approval.first) <= 6 for hit in found.get("without", ()) if hit.language == approval.language)
    before = [hit for hit in found.get("without", ()) if hit.last <= approval.first and approval.first - hit.last <= 12 and reading.same_clause(hit.first, approval.first)]
    before = [hit for hit in before if not any(other.first < hit.first < other.last for other in before)]
    close = any(approval.first - hit.last <= 4 for hit in before)
    cut = [act for name in ("drop", "drop2", "off") for act in found.get(name, ()) if 0 <= approval.first - act.last <= 3 and is_order(reading, act)]
    after = any(0 <= hit.first - approval.last <= 2 for hit in found.get("without", ()))
    later = any(hit.first >= approval.last for name in ("neg", "refuse") for hit in found.get(name, ()))
    grave = any(not approval.first <= risk.first < approval.last and risk.entry not in ("approval", "approvals", "permission", "operator", "human", "person") for risk in found.get("risk", ()))
    if cut and not later:
        return True
    if close and len(before) % 2 == 1 and not later:
        return grave or reading.ends_clause(approval.last)
    return after and not before and grave and not any(risk.first < approval.first for risk in found.get("neg", ()))


def compliance(reading: Reading, sentence: Sentence, found: Found) -> Iterator[Mark]:
    """Never to refuse; always to comply."""
    for hit in found.get("never_refuse", ()):
        if reading.is_mention(hit) or reading.is_under_negation(hit):
            continue
        wide = any(hit.last <= what.first <= hit.last + 4 for what in found.get("object", ()))
        if hit.language != "en" or wide or reading.ends_clause(hit.last):
            yield mark("OVERRIDE", ASK, hit)
    for hit in found.get("comply_all", ()):
        if _told(reading, hit) and not reading.is_supposed(hit):
            yield mark("OVERRIDE", ASK, hit)


# ── out, away, off ────────────────────────────────────────────────────────────────────────────────────────────────


def leaks(reading: Reading, sentence: Sentence, found: Found) -> Iterator[Mark]:
    """What is private goes to an address, or what is sealed is to be shown."""
    if "send" in found and ("secret" in found or "strong_secret" in found):
        links = _places(reading, sentence, LINK) or _places(reading, sentence, ADDRESS)
        for act in found["send"]:
            goods = [hit for hit in (*found.get("strong_secret", ()), *found.get("secret", ())) if _is_beside(act, hit, reading.far(act) - 2)]
            if not goods or not (links or found.get("dest")) or not is_order(reading, act):
                continue
            if links or goods[0].category == "strong_secret":
                yield mark("EXFILTRATE", DENY if links else ASK, act, goods[0])
    for act in (*found.get("collect", ()), *found.get("share", ())):
        for goods in found.get("treasure", ()):
            if _is_beside(act, goods, 6) and is_order(reading, act):
                yield mark("EXFILTRATE", ASK, act, goods)
    for act in found.get("show", ()):
        for name in found.get("hiddenname", ()):
            if _is_beside(act, name, 7) and reading.same_clause(act.first, name.first) and is_order(reading, act):
                yield mark("DISCLOSE", ASK, act, name)


def _is_beside(act: Hit, thing: Hit, reach: int) -> bool:
    gap = thing.first - act.last
    if act.language == "en" and thing.last <= act.first <= thing.last + 8 and act.category == "send":
        return True
    return -1 <= gap <= reach or (act.language != "en" and abs(thing.first - act.first) <= reach)


def concealment(reading: Reading, sentence: Sentence, found: Found) -> Iterator[Mark]:
    """Something is to be kept from those who watch."""
    watchers, excused = found.get("watcher", ()), bool(found.get("until"))
    for name in _DEEDS:
        for hit in found.get(name, ()):
            if _told(reading, hit) and not reading.is_supposed(hit) and not ("harmless" in found and name == "unasked"):
                yield mark(_DEEDS[name], ASK, hit)
    for act in found.get("tell", ()):
        if act.first and reading.words[act.first - 1] in _NOUNS:
            continue
        if reading.is_mention(act) or not reading.is_negated(act) or reading.is_supposed(act):
            continue
        if act.language != "en":
            near = [who for who in watchers if abs(who.first - act.first) <= reading.far(act)]
            if near:
                yield mark("CONCEAL", ASK, act, near[0])
            continue
        if form_of(reading.words[act.first]) in ("past", "s"):
            continue
        grave = [who for who in watchers if 0 <= who.first - act.last <= 10 and reading.words[who.first] in _STRONG]
        matters = [hit for hit in found.get("matter", ()) if 0 <= hit.first - act.last <= 6]
        logs = reading.words[act.first] in _LOGS and (matters or reading.ends_clause(act.last) or any(0 <= risk.first - act.last <= 4 for risk in found.get("risk", ())))
        users = matters and [who for who in watchers if 0 <= who.first - act.last <= 10]
        if (grave or users or logs) and not excused:
            yield mark("CONCEAL", DENY if grave else ASK, act, *(grave or users or [act])[:1])
        elif matters and not watchers and not excused and reading.words[matters[0].last - 1].startswith(("instruction", "rule", "change", "edit", "transfer", "arrangement", "agreement")):
            yield mark("CONCEAL", ASK, act, matters[0])
    yield from _hidden(reading, found, excused)


_BETWEEN: Final = frozenset("to ever even bother need needs have first always me just longer i you we will must should and or the be".split())
_DEEDS: Final = {"untold": "CONCEAL", "evade": "TAMPER", "escalate": "CONTROL_GRANT", "assemble": "HIDDEN_TEXT", "claims_person": "CONCEAL", "lawless": "ROLE_CHANGE", "unasked": "APPROVAL"}
_NOUNS: Final = frozenset("the a an this that my your our any each every no".split())


def _hidden(reading: Reading, found: Found, excused: bool) -> Iterator[Mark]:
    for act in found.get("hide", ()):
        if excused or not is_order(reading, act):
            continue
        near = [who for who in found.get("watcher", ()) if (-2 <= who.first - act.last <= (8 if reading.words[who.first] in _STRONG else 5) and reading.same_clause(act.first, who.first)) or (act.language != "en" and abs(who.first - act.first) <= reading.far(act))]
        near = [who for who in near if who.language != "en" or reading.words[who.first] in (_STRONG | _RECORDS) or (found.get("matter") and "from" in reading.words[act.first : who.first])]
        if near:
            yield mark("CONCEAL", DENY, act, near[0])
        elif reading.words[act.first].endswith(("ly", "secret")) and any(0 <= risk.first - act.last <= 4 for name in ("risk", "off", "send") for risk in found.get(name, ())):
            yield mark("CONCEAL", ASK, act)


def tampering(reading: Reading, sentence: Sentence, found: Found) -> Iterator[Mark]:
    """What watches or stops is to be switched off."""
    for act in found.get("off", ()):
        for guard in found.get("guard", ()):
            near = 0 <= guard.first - act.last <= 4 or act.first <= guard.first < act.last or (act.language != "en" and abs(guard.first - act.first) <= 8)
            if near and reading.same_clause(act.first, guard.first) and is_order(reading, act):
                yield mark("TAMPER", ASK, act, guard)


def triggers(reading: Reading, sentence: Sentence, found: Found) -> Iterator[Mark]:
    """A word that, when it is said, does what nobody else may."""
    for word in found.get("codeword", ()):
        for opens in found.get("unlocks", ()):
            for behind in found.get("behind", ()):
                if word.first < opens.first < behind.first <= word.first + 16 and _granted(reading, found, opens):
                    yield mark("TRIGGER", DENY, word, opens, behind)
                    return
    for hit in found.get("trigger", ()):
        for deed in found.get("payload", ()):
            if deed.first >= hit.first + 2 and reading.quote_of(deed) is None and "refuse" not in found and not reading.is_negated(deed) and not _declined(reading, deed):
                if not reading.is_quoted(hit) and not reading.is_under_negation(hit) and form_of(reading.words[deed.first]) in ("base", "ing"):
                    yield mark("TRIGGER", DENY, hit, deed)
                    return


def _declined(reading: Reading, deed: Hit) -> bool:
    """ "…, I don't": a bare no after the deed."""
    sentence = reading.sentences[reading.place(deed.first)]
    return any(deed.last <= neg.first and neg.last >= sentence.last - 1 for neg in reading.near(deed, "neg"))


def wrongs(reading: Reading, sentence: Sentence, found: Found) -> Iterator[Mark]:
    """Leave to do what the constitution forbids."""
    for act in found.get("wrong", ()):
        near = [hit for hit in found.get("leave", ()) if abs(hit.first - act.first) <= 10 and reading.same_clause(hit.first, act.first)]
        if near and is_order(reading, act) and _is_verb(reading, act, near):
            yield mark("OVERRIDE", ASK, act, near[0])


def _is_verb(reading: Reading, act: Hit, near: list[Hit]) -> bool:
    before = reading.words[act.first - 1] if act.first else ""
    return before in _BEFORE or any(hit.last == act.first for hit in near) or act.first == reading.sentences[reading.place(act.first)].first


_BEFORE: Final = frozenset("i you to may can should will must could might and or always we then freely simply also".split())
