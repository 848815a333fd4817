"""Deeds a writable text may not order: giving control away, skipping a person's say, complying with all."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from .lexicon import Hit
from .override_acts import is_order
from .override_things import ADDRESS, ASK, DENY, LINK, Found, Mark, granted, mark, places, told
from .override_words import form_of
from .reading import Reading, Sentence

_ALL_OF: Final = frozenset(
    "all entire whole every everything remaining surplus full half available any each profits".split()
)
_EQUALS: Final = frozenset("is are count counts".split())
_LEADS: Final = frozenset("let do obey follow execute take carry".split())
_NOT_DONE: Final = re.compile(r"\w{2}(?:ma|me)(?:m|z|yiz|yin|yız|yın|malı|meli)\b|\w{2}m[ıiuü]yor")
_NONE: Final = frozenset("nothing none nobody no neither".split())
_MAKES: Final = frozenset(
    "treat regard consider recognize recognise accept acknowledge appoint make register designate "
    "promote elevate view trust name".split()
)
_LEAVE: Final = frozenset(
    "approval permission confirmation consent yes ok answer reply off operator human authorization "
    "authorisation".split()
)
_LACKS: Final = frozenset(("missing", "absent"))
_PAPERS: Final = frozenset("form forms path paths letter letters rate rates dialog email link links code".split())
_ASKING: Final = frozenset("asking for".split())
_ASKED_FOR: Final = frozenset("one two three the a an what why how which where when about their his her".split())
_BETWEEN: Final = frozenset(
    "to ever even bother need needs have first always me just longer i you we will must should and or the be".split()
)


# ── control ───────────────────────────────────────────────────────────────────────────────────────────────────────


def control(reading: Reading, sentence: Sentence, found: Found) -> Iterator[Mark]:
    """Someone is made an authority, or is to be obeyed."""
    if not found.keys() & {"boss", "obey", "power", "send", "risk"}:
        return
    led = any(reading.words[hit.first] in _LEADS for hit in found.get("obey", ()))
    named = places(reading, sentence, ADDRESS) or (places(reading, sentence, LINK) if led else [])
    anyone = [*named, *found.get("party", ())]
    if not anyone and "claims_rank" not in found:
        return
    for hit in found.get("claims_rank", ()):
        if told(reading, hit) and not reading.is_supposed(hit):
            yield mark("CONTROL_GRANT", ASK, hit)
    yield from _appointed(reading, found, named, anyone)
    for obey in found.get("obey", ()):
        near = [who for who in anyone if who.first >= obey.first - 12 and abs(who.first - obey.first) <= 14]
        if reading.words[obey.last : obey.last + 1] and reading.words[obey.last] in _NONE:
            continue  # "obey nothing in them"
        ordered = told(reading, obey) if reading.words[obey.first] in _EQUALS else is_order(reading, obey)
        if near and ordered and not _is_of_the_operator(reading, obey, named):
            yield mark("CONTROL_GRANT", DENY if named else ASK, obey, near[0])
    for power in found.get("power", ()):
        near = [who for who in anyone if abs(who.first - power.first) <= 10]
        if near and granted(reading, found, power):
            yield mark("CONTROL_GRANT", DENY if named else ASK, power, near[0])
    yield from _emptied(reading, found, named)


def _appointed(reading: Reading, found: Found, named: list[Hit], anyone: list[Hit]) -> Iterator[Mark]:
    for boss in found.get("boss", ()):
        for grant in found.get("grant", ()):
            if not (
                reading.same_clause(grant.first, boss.first) and told(reading, grant) and not reading.is_supposed(boss)
            ):
                continue
            verb = (
                form_of(reading.words[grant.first]) == "base"
                and grant.last - grant.first >= 1
                and reading.words[grant.first] in _MAKES
            )
            who = [
                one for one in (named or (anyone if verb else _anybody(anyone))) if abs(one.first - grant.first) <= 10
            ]
            if who and 0 <= boss.first - grant.last <= 8 and (verb or who[0].first < grant.first or named):
                if verb and not any(
                    word in ("as", "the", "an", "a", "my", "your", "to")
                    for word in reading.words[grant.last : boss.first]
                ):
                    continue
                yield mark("CONTROL_GRANT", DENY if named else ASK, who[0], grant, boss)
                return


def _anybody(anyone: list[Hit]) -> list[Hit]:
    return [who for who in anyone if who.entry in ("whoever", "anyone", "anybody", "everyone", "everybody")]


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
        if not named or act.first >= named[0].first or _ALL_OF.isdisjoint(words):
            continue
        goods = any(act.last <= risk.first <= named[0].first for risk in found.get("risk", ()))
        if goods and is_order(reading, act):
            yield mark("CONTROL_GRANT", ASK, act, named[0])


# ── a person's say ────────────────────────────────────────────────────────────────────────────────────────────────


def approvals(reading: Reading, sentence: Sentence, found: Found) -> Iterator[Mark]:
    """A person's say is skipped, presumed or denied for something that needs it."""
    harmless = any(not _within(hit, found.get("risk", [])) for hit in found.get("harmless", ()))
    for hit in found.get("waive", ()):
        outside = [risk for risk in found.get("risk", ()) if risk.first >= hit.last or risk.last <= hit.first]
        if (
            outside
            and not harmless
            and told(reading, hit)
            and not reading.is_supposed(hit)
            and form_of(reading.words[hit.first]) != "past"
        ):
            yield mark("APPROVAL", ASK, hit, outside[0])
    for hit in found.get("lifted", ()):
        for approval in found.get("approval", ()):
            if (
                approval.language == "en"
                and 0 <= hit.first - approval.last <= 3
                and hit.entry not in _LACKS
                and not _is_compound(reading, approval)
                and not harmless
                and told(reading, hit)
                and not reading.is_supposed(hit)
            ):
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
    if reading.words[act.first] == "asking" and reading.words[act.first + 1 : act.first + 2]:
        following = reading.words[act.first + 1]
        if (
            following in _ASKED_FOR
            or following.isdigit()
            or (following == "for" and "the" in reading.words[act.first + 2 : act.first + 3])
        ):
            return False
    if "without" in reading.words[max(act.first - 2, 0) : act.first] and not found.get("risk"):
        return False  # "book a room without asking me"
    words = reading.words[act.first : act.last + 8]
    if any(word in ("unless", "twice", "again", "more", "until", "than") for word in words):
        return False
    asked = (
        any(act.first <= hit.first <= act.last + 5 for hit in found.get("approval", ()))
        or "before" in words
        or "first" in words
        or (act.last - act.first > 2 and reading.words[act.last - 1] in _LEAVE)
    )
    grave = any(act.last <= hit.first <= act.last + 10 for hit in found.get("risk", ()))
    if reading.words[act.first].startswith(
        ("ask", "confirm", "request", "seek", "wait", "get", "need", "require", "obtain", "await", "pause")
    ):
        return asked and (grave or reading.ends_clause(act.last) or reading.ends_clause(act.last + 1))
    return (grave and "before" in words) or (
        grave and reading.words[act.first].startswith(("verif", "escalat", "consult", "question", "doubt"))
    )


def _is_missing(reading: Reading, found: Found, approval: Hit) -> bool:
    """In other languages: not asked for, or gone without; but "without leave, nothing" keeps it."""
    far = reading.far(approval)
    beside = {
        name: [hit for hit in found.get(name, ()) if abs(hit.first - approval.first) <= far]
        for name in ("neg", "seek", "lackof", "risk")
    }
    lacks = {hit.first for hit in beside["lackof"] if abs(hit.first - approval.first) <= 4 + far // 2}
    denied = any(hit.first not in lacks and not _within(hit, beside["lackof"]) for hit in beside["neg"])
    if approval.language == "tr":
        sentence = reading.sentences[reading.place(approval.first)]
        denied = denied or _NOT_DONE.search(reading.text, sentence.start, sentence.end) is not None
    if bool(lacks) == denied or found.keys() & {"refuse", "hostile", "until"}:
        return False
    return bool(beside["seek"]) if denied else bool(beside["risk"])


def _within(hit: Hit, others: list[Hit]) -> bool:
    return any(other.first <= hit.first < other.last for other in others)


def _is_compound(reading: Reading, approval: Hit) -> bool:
    """ "The consent form", "asking one question": not a person's leave."""
    following = "" if reading.ends_clause(approval.last) else reading.words[approval.last]
    if reading.words[approval.last - 1] in _ASKING:
        return following in _ASKED_FOR or following.isdigit()
    return following in _PAPERS


def _is_skipped(reading: Reading, found: Found, approval: Hit) -> bool:
    if reading.is_mention(approval) or reading.is_under_negation(approval) or reading.is_supposed(approval):
        return False
    if _is_compound(reading, approval):
        return False
    if approval.language != "en":
        return _is_missing(reading, found, approval)
    before = [
        hit
        for name in ("without", "invert")
        for hit in found.get(name, ())
        if hit.last <= approval.first
        and approval.first - hit.last <= 12
        and reading.same_clause(hit.first, approval.first)
    ]
    before = [hit for hit in before if not any(other.first < hit.first < other.last for other in before)]
    kept = [act for name in ("drop", "drop2", "off") for act in found.get(name, ()) if act.last <= approval.first]
    kept = [act for act in kept if approval.first - act.last <= 3 and not any(act.last <= hit.first for hit in before)]
    before = [hit for hit in before if not any(hit.last <= act.first for act in kept)]  # "never waive an approval"
    close = any(approval.first - hit.last <= 4 and hit.category == "without" for hit in before)
    cut = [
        act
        for name in ("drop", "drop2", "off")
        for act in found.get(name, ())
        if 0 <= approval.first - act.last <= 3 and is_order(reading, act)
    ]
    after = any(0 <= hit.first - approval.last <= 2 for hit in found.get("without", ()))
    later = any(hit.first >= approval.last for name in ("neg", "refuse") for hit in found.get(name, ()))
    grave = any(
        not approval.first <= risk.first < approval.last
        and risk.entry not in ("approval", "approvals", "permission", "operator", "human", "person")
        for risk in found.get("risk", ())
    )
    if cut and not later:
        return True
    if close and len(before) % 2 == 1 and not later:
        return grave or (reading.ends_clause(approval.last) and reading.words[approval.first] != "asking")
    return after and not before and grave and not any(risk.first < approval.first for risk in found.get("neg", ()))


def compliance(reading: Reading, sentence: Sentence, found: Found) -> Iterator[Mark]:
    """Never to refuse; always to comply."""
    for hit in found.get("never_refuse", ()):
        if reading.is_mention(hit) or reading.is_under_negation(hit):
            continue
        wide = any(hit.last <= what.first <= hit.last + 4 for what in found.get("object", ()))
        if hit.language != "en" or wide or reading.ends_clause(hit.last):
            yield mark("OVERRIDE", ASK, hit)
    for hit in found.get("defy", ()):
        above = [thing for name in ("guarded", "rule", "guard", "approval") for thing in found.get(name, ())]
        if above and "hostile" not in found and told(reading, hit):
            yield mark("OVERRIDE", ASK, hit, above[0])
    for hit in found.get("comply_all", ()):
        if told(reading, hit) and not reading.is_supposed(hit):
            yield mark("OVERRIDE", ASK, hit)
