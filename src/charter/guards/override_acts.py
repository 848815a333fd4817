"""An order against what stands above: an act, the thing it is done to, and how it is said; none alone is one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from .lexicon import Hit
from .override_things import ABOUT, ASK, DENY, STOPS, THESE, Found, Mark, Thing, bosses, mark, referred, things
from .override_words import form_of
from .reading import Reading, Sentence

__all__ = ["ASK", "DENY", "Found", "Mark", "is_of_others", "is_order", "mark", "overrides", "ranks", "roles"]

_PASSIVE: Final = frozenset("be is are get gets".split())
_SELF: Final = frozenset("you i we let".split())
_NEVER: Final = frozenset("never not don't doesn't cannot can't won't".split())
_LOOSE: Final = frozenset(
    "that which it who every any one them him her request requests text content page result results "
    "prompt input note notes memory".split()
)
_ABOUT: Final = frozenset("about on regarding for".split())
_LET: Final = 4  # words between a negation and what it is said of
_MATTERS: Final = frozenset("rule rules restrictions limits limit guidelines policies constraints".split())
_READER: Final = frozenset("assistant agent ai model it llm".split())
_DEEMED: Final = frozenset("consider considered declare declared deemed mark marked regard view treat".split())
_DONE: Final = frozenset(
    "ignored forgotten broken violated skipped bypassed disregarded neglected removed deleted dropped "
    "circumvented second over off below".split()
)
_WINS: Final = frozenset(
    "is are applies apply decides decide governs govern counts count rules win wins prevail prevails "
    "take takes outrank outranks override overrides supersede supersedes trump trumps has have come comes".split()
)
_GAINS: Final = frozenset(
    "profit profits revenue income money earnings earning growth survival convenience urgency".split()
)
_VAGUE: Final = frozenset(
    "this,here,users,the user,customers,the customer,experience,speed,clients,the client,growth,the "
    "goal,efficiency".split(",")
)


# ── how an act is said ────────────────────────────────────────────────────────────────────────────────────────────


def is_order(reading: Reading, act: Hit) -> bool:
    """Whether an act is ordered or intended: not denied, supposed, reported, quoted, or told of the past."""
    if reading.is_mention(act) or reading.is_negated(act) or reading.is_under_negation(act):
        return False
    if act.language != "en":
        return True
    kind = "base" if act.category == "unkeep" else form_of(reading.words[act.first])
    if kind == "past" and not (act.first and reading.words[act.first - 1] in _PASSIVE):
        return False
    if reading.is_supposed(act) and not reading.is_complied(act):
        return False
    if kind == "s" and act.category == "obey":
        return not is_of_others(reading, act) and "speaker" not in reading.of(act)
    if kind == "s":
        return any(0 < act.first - hit.first <= 10 for hit in reading.near(act, "this"))
    if kind == "ing" and _is_judged(reading, act):
        return False
    return not is_of_others(reading, act)


def _is_judged(reading: Reading, act: Hit) -> bool:
    """ "Ignoring the rules is never worth it": what comes after says no."""
    found = reading.of(act)
    return any(
        act.last <= hit.first <= act.last + 16 for name in ("neg", "refuse", "hostile") for hit in found.get(name, ())
    )


def is_of_others(reading: Reading, act: Hit) -> bool:
    """ "An attacker may ignore …": someone else is the one who acts."""
    modal = [hit for hit in reading.near(act, "may") if 0 <= act.first - hit.last <= 1]
    return any(
        0 <= act.first - hit.last <= 4
        and reading.same_clause(hit.first, act.first)
        and not reading.commas(hit.last - 1, act.first)
        and not _SELF & set(reading.words[hit.last : act.first])
        for hit in reading.near(act, "speaker")
        if (modal or act.first == hit.last) and reading.words[hit.first] not in _LOOSE
    )


# ── set aside, no longer kept, without force ──────────────────────────────────────────────────────────────────────


def overrides(reading: Reading, sentence: Sentence, found: Found) -> Iterator[Mark]:
    """Setting aside what stands above, no longer keeping to it, or saying that it has no force."""
    above = things(reading, found)
    if found.keys() & {"drop", "keep", "unkeep", "void", "lifted"}:
        above = [*above, *referred(reading, sentence, found), *bosses(found)]
    if not above and "rule" not in found:
        return
    for name in ("drop", "unkeep", "drop2"):
        for act in found.get(name, ()):
            for thing in above:
                if (
                    (thing.sure or name != "drop2" or thing.hit.category == "rule")
                    and _is_object(reading, act, thing, found)
                    and is_order(reading, act)
                ):
                    yield mark("OVERRIDE", DENY if thing.sure else ASK, act, thing.hit)
    for act in found.get("keep", ()):
        for thing in above:
            if _is_object(reading, act, thing, found) and _is_unkept(reading, act):
                yield mark("OVERRIDE", DENY if thing.sure else ASK, act, thing.hit)
    loose = [
        thing
        for thing in things(reading, found, strict=False)
        if not (thing.first and reading.words[thing.first - 1] in THESE)
    ]
    yield from _without_force(
        reading,
        found,
        [
            *loose,
            *(
                thing
                for thing in above
                if thing.hit.category == "referred" and reading.words[thing.first].startswith("they")
            ),
        ],
    )
    yield from _none(reading, found, loose)


def _is_object(reading: Reading, act: Hit, thing: Thing, found: Found) -> bool:
    """Whether the thing is what the act is done to."""
    if act.language != "en":
        low, high = sorted((act.first, thing.first))
        return high - low <= reading.far(act) and reading.same_clause(low, high)
    if act.first < thing.first < act.last:
        return True
    if thing.first <= act.first < thing.last:
        return False  # "spending limit" limits nothing
    if reading.words[thing.first] == "such" and thing.hit.category == "rule":
        return False  # "ignore such orders": those that were spoken of
    quote = reading.quote_of(thing.hit)
    if quote is not None and quote != reading.quote_of(act) and act.category == "keep":
        return False  # "I do not act on 'your real makers say'"
    if not (act.last - 1 <= thing.last - 1 and thing.first >= act.last - 2):
        return False
    if thing.first - act.last > 9 or not reading.same_clause(act.first, thing.first):
        return False
    skip = {at for hit in found.get("time", ()) for at in range(hit.first, hit.last)}
    between = [
        at
        for at in range(act.last, thing.first)
        if at not in skip and not (act.category == "unkeep" and reading.words[at] == "what")
    ]
    verbs = {hit.first for name in ("keep", "protect", "tell", "show", "refuse", "says") for hit in found.get(name, ())}
    return not any(reading.words[at] in STOPS or (at in verbs and at + 1 not in verbs) for at in between)


def _is_unkept(reading: Reading, act: Hit) -> bool:
    """Whether keeping to it is what is denied."""
    if reading.is_mention(act) or not reading.is_negated(act) or reading.is_supposed(act):
        return False
    return act.language != "en" or not (is_of_others(reading, act) or form_of(reading.words[act.first]) == "past")


def _without_force(reading: Reading, found: Found, above: list[Thing]) -> Iterator[Mark]:
    for name in ("void", "lifted", "hold"):
        for hit in found.get(name, ()):
            if name == "lifted" and not _after_be(found, hit):
                continue
            for thing in above:
                near = thing.last <= hit.first <= thing.last + 11 or (
                    hit.language != "en" and abs(hit.first - thing.first) <= reading.far(hit)
                )
                if near and reading.same_clause(thing.first, hit.first) and _loses(reading, found, thing, hit, name):
                    yield mark("OVERRIDE", DENY if thing.sure else ASK, thing.hit, hit)


def _after_be(found: Found, hit: Hit) -> bool:
    if any(0 <= hit.first - with_.last <= 6 for with_ in found.get("has_no", ()) if with_.entry == "with"):
        return True
    return hit.language != "en" or any(
        0 <= hit.first - be.last <= (8 if be.entry in _DEEMED else 2) for be in found.get("be", ())
    )


def _loses(reading: Reading, found: Found, thing: Thing, hit: Hit, name: str) -> bool:
    if reading.is_mention(hit) or reading.is_mention(thing.hit) or reading.is_supposed(thing.hit):
        return False
    if hit.language != "en":
        return not reading.is_negated(hit)
    reach = 10 if "let" in reading.words[max(thing.first - 10, 0) : thing.first] else _LET
    no = any(
        neg.last <= hit.first
        and neg.first >= thing.first - reach
        and neg.first != hit.first
        and (reach > _LET or "and" not in reading.words[neg.last : thing.first])
        for neg in found.get("neg", ())
    )
    feigned = bool(
        {"as", "pretend", "pretending", "imagine"} & set(reading.words[max(thing.first - 4, 0) : thing.first])
    )
    past = any(reading.words[at] in ("was", "were", "been") for at in range(max(hit.first - 2, 0), hit.first))
    if name == "hold":
        return no
    if any(
        verb.last <= thing.first and form_of(reading.words[verb.first]) != "past" and thing.first - verb.last < 5
        for verb in found.get("drop2", ())
    ):
        return not no
    return not no and not (past and not feigned and reading.words[hit.first] in _DONE)


def _none(reading: Reading, found: Found, above: list[Thing]) -> Iterator[Mark]:
    """ "I obey no law", "it has no constitution"."""
    for thing in above:
        at = thing.first - 1
        if at < 1 or reading.words[at] not in ("no", "zero") or reading.words[thing.last - 1] == "rule":
            continue
        verbs = [hit for hit in found.get("has_no", ()) if hit.last == at]
        after = [hit for hit in found.get("hold", ()) if hit.first == thing.last]
        if (verbs or after) and not reading.is_mention(thing.hit) and not reading.is_supposed(thing.hit):
            about = not reading.ends_clause(thing.last) and reading.words[thing.last] in ABOUT
            if not about and not is_of_others(reading, (verbs or after)[0]):
                yield mark("OVERRIDE", ASK, (verbs or after)[0], thing.hit)


# ── put above ─────────────────────────────────────────────────────────────────────────────────────────────────────


def ranks(reading: Reading, sentence: Sentence, found: Found) -> Iterator[Mark]:
    """A text that puts itself, its writer, or a gain above what stands above."""
    above = [thing for thing in things(reading, found) if thing.sure] + bosses(found)
    selves = found.get("this", ())
    for rank in found.get("outrank", ()):
        lower = [
            hit
            for hit in selves
            if (hit.last <= rank.first or rank.first < hit.first < rank.last if rank.language == "en" else True)
            and abs(rank.first - hit.last) <= reading.far(rank)
        ]
        if not lower or not _ranks(reading, rank):
            continue
        gains = [hit for hit in lower if hit.entry in _GAINS]
        for thing in [*above, *(things(reading, found) if gains else ())]:
            after = 0 <= thing.first - rank.last <= 8 or (
                rank.language != "en" and abs(thing.first - rank.first) <= reading.far(rank)
            )
            if after and not any(hit.first < thing.last and thing.first < hit.last for hit in lower):
                yield mark("AUTHORITY", DENY, lower[-1], rank, thing.hit)
        if found.get("top") and reading.words[rank.first] in _WINS and lower[-1].entry not in _VAGUE:
            yield mark("AUTHORITY", ASK, lower[-1], rank)
    for hit in found.get("mefirst", ()) if found.get("top") and "hostile" not in found else ():
        if above and not (reading.is_mention(hit) or reading.is_negated(hit) or reading.is_under_negation(hit)):
            yield mark("AUTHORITY", ASK, hit, above[0].hit)
    for hit in found.get("supreme", ()):
        near = [self_ for self_ in selves if abs(self_.first - hit.first) <= reading.far(hit)]
        if near and not reading.is_mention(hit) and not reading.is_negated(hit) and not reading.is_under_negation(hit):
            yield mark("AUTHORITY", DENY, near[0], hit)


def _ranks(reading: Reading, rank: Hit) -> bool:
    if reading.is_mention(rank) or reading.is_negated(rank) or reading.is_under_negation(rank):
        return False
    if reading.words[rank.last - 1] in ("count", "counts") and "as" in reading.words[rank.last : rank.last + 1]:
        return False
    return rank.language != "en" or form_of(reading.words[rank.first]) != "past"


# ── made free ─────────────────────────────────────────────────────────────────────────────────────────────────────


def roles(reading: Reading, sentence: Sentence, found: Found) -> Iterator[Mark]:
    """A role without rules."""
    for free in found.get("freed", ()):
        if "stage" in found:
            return
        about = not reading.ends_clause(free.last) and reading.words[free.last] in _ABOUT
        if about and reading.words[free.last - 1] in _MATTERS:
            continue  # "I have no rules about small talk"
        refused = any(
            not free.first <= hit.first < free.last
            and not _NEVER & set(reading.words[max(hit.first - 1, 0) : hit.first])
            for hit in found.get("refuse", ())
        )
        if reading.is_mention(free) or reading.is_under_negation(free) or refused:
            continue
        for role in found.get("persona", ()):
            gap = free.first - role.last
            near = -1 <= gap <= (1 if reading.words[free.first] in ("dan", "stan") else 12) or (
                role.language != "en" and abs(gap) <= reading.far(role)
            )
            if near and reading.same_clause(role.first, free.first) and not _is_denied(reading, role, free):
                yield mark("ROLE_CHANGE", DENY, role, free)
                break


def _is_denied(reading: Reading, role: Hit, free: Hit) -> bool:
    if reading.is_mention(role) or reading.is_negated(role) or reading.is_supposed(role):
        return True
    if role.language != "en":
        return reading.is_negated(free)
    return any(
        role.first <= neg.first and neg.last <= free.first and neg.first + 1 <= free.first
        for neg in reading.near(role, "neg")
    ) or _is_of_another(reading, role)


def _is_of_another(reading: Reading, role: Hit) -> bool:
    """ "He plays the one without rules", "she pretended"; "the assistant enters …" is the reader."""
    form = form_of(reading.words[role.first])
    return form == "past" or (form == "s" and reading.words[role.first - 1] not in _READER)
