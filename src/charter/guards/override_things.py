"""What an override speaks of: what stands above, who, which address; and the mark that a rule makes of it."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from .lexicon import Hit
from .reading import Reading, Sentence

Found = dict[str, list[Hit]]
DENY, ASK = 2, 1


class Sought(NamedTuple):
    """What is looked for, and a sign that is quickly seen and without which it is nowhere."""

    sign: re.Pattern[str]
    pattern: re.Pattern[str]


ADDRESS: Final = Sought(re.compile(r"[\d@.-](?:(?<=[\d@])|(?<=\.)eth|(?<=[a-z2-7]-)[a-z2-7]{5}-)"), re.compile(
    r"\b0x[0-9a-f]{2,}(?:\.{2,3}[0-9a-f]+)?|[\w.+-]{1,64}@[\w-]{1,63}\.[\w.-]{2,63}|"
    r"(?<![\w/])@[a-z]\w{2,31}\b|\b[\w-]{2,63}\.eth\b"
    r"|\b[a-z2-7]{5}(?:-[a-z2-7]{5}){3,10}-[a-z2-7]{3}\b|\+\d[\d \-]{7,16}\d|\b(?:bc1|"
    r"[13])[a-z0-9]{25,60}\b|\b[a-z]{2}\d{2}[a-z0-9]{12,30}\b"
))  # fmt: skip
LINK: Final = Sought(re.compile(r"[.:@][\w/.-]"), re.compile(
    r"\b(?:https?|ftp|wss?|s3|gs|ipfs)://[^\s<>\"')\]]{3,300}|\bwww\.[\w.-]{3,100}|"
    r"\b(?:[\w-]{1,63}\.){1,4}(?:example|com|net|org|io|dev|app|xyz|ru|cn|info|site|me|co|ai|eu|"
    r"de)\b(?:/\S{1,200})?|\b\d{1,3}(?:\.\d{1,3}){3}\b|[\w.+-]{1,64}@[\w-]{1,63}\.[\w.-]{2,63}"
))  # fmt: skip
ABOUT: Final = frozenset("of about on for in from regarding concerning at by with to within".split())
STOPS: Final = frozenset(
    "that which who with within under by per from in on against to for if when until because as before "
    "after since than "
    "without at about where how why what whose into via while".split()
)  # fmt: skip
ADVERBS: Final = frozenset(
    "just simply please then always now also and or to must may can should will you i we could might "
    "shall ever freely safely quietly even let's fully completely".split()
)
THESE: Final = frozenset("these this my our".split())
_OF: Final = frozenset(
    "de del della delle dei di da do das dos des du zur zum fur von vom im am pour sur voor van dla do "
    "dotyczace для о про об cu cua cho untuk tentang soal icin hakkinda viejas alten vieilles".split()
)
_CARRIERS: Final = frozenset(
    "message messages email emails mail mails page pages file files document documents website websites "
    "comment comments strangers "
    "stranger sender senders attacker attackers text texts invoice invoices link links post posts anyone "
    "someone people content result results input".split()
)  # fmt: skip
_PARTS: Final = frozenset("layer layers level levels".split())
_OWN: Final = frozenset(
    "prompt constitution this these me you my your its authority instructions rules stack system agent "
    "charter text operator creator "
    "safety".split()
)
_BOOKS: Final = frozenset(("handbook", "rulebook", "charter", "policies", "laws", "the law", "constitution"))
_HOLDERS: Final = frozenset(
    "staff employee company club school student library league team city user's hr travel store game union clinic "
    "hospital insurance return shipping cookie refund parking building".split()
)
_THEM: Final = frozenset("them it those they they're".split())
_REGARDING: Final = frozenset("about regarding concerning".split())
_BARE: Final = frozenset(("safety", "oversight", "scruples", "inhibitions"))
_VERBS: Final = frozenset("is are was were has have can may must should will does do comes matters and or".split())
_DETERMINERS: Final = frozenset("the any all your those every no its these this".split())
_ABOVE: Final = frozenset(
    "operator operators creator creators developer makers maker owner operator's creator's developer's makers' "
    "maker's".split()
)


class Mark(NamedTuple):
    """Something a rule saw: its code, how grave, characters of the view, and the factors that met."""

    code: str
    weight: int
    start: int
    end: int
    factors: tuple[str, ...]


class Thing(NamedTuple):
    """What an act may be done to; `sure` when it can only be what stands above."""

    first: int
    last: int
    sure: bool
    hit: Hit


def mark(code: str, weight: int, *hits: Hit) -> Mark:
    """A mark over all these hits."""
    start, end = min(hit.start for hit in hits), max(hit.end for hit in hits)
    return Mark(code, weight, start, end, tuple(hit.category for hit in hits))


# ── how it is said ────────────────────────────────────────────────────────────────────────────────────────────────


def told(reading: Reading, hit: Hit) -> bool:
    return not (reading.is_mention(hit) or reading.is_negated(hit) or reading.is_under_negation(hit))


def granted(reading: Reading, found: Found, hit: Hit) -> bool:
    """ "Anyone who says the word has full control" reports nobody: it grants."""
    stated = not reading.is_quoted(hit) and not reading.is_negated(hit) and not reading.is_under_negation(hit)
    told_of = any(reading.words[attempt.first - 1] != "who" for attempt in found.get("attempt", ()))
    return stated and "hostile" not in found and not told_of


# ── what it speaks of ─────────────────────────────────────────────────────────────────────────────────────────────


def places(reading: Reading, sentence: Sentence, sought: Sought) -> list[Hit]:
    """Where it stands in a sentence."""
    if sought.sign.search(reading.text, sentence.start, sentence.end) is None:
        return []
    starts = reading.tokens.starts
    return [
        Hit("address", at, at + 1, start, end, "", "")
        for start, end in reading.spots(sought.pattern, sentence)
        for at in [max(sentence.first, bisect_right(starts, start) - 1)]
    ]


def things(reading: Reading, found: Found, *, strict: bool = True) -> list[Thing]:
    """What stands above, named for sure, or a rule of someone's that may be the reader's own."""
    sure = [
        Thing(hit.first, hit.last, True, hit) for hit in found.get("guarded", ()) if not _is_elsewhere(reading, hit)
    ]
    taken = {at for thing in sure for at in range(thing.first, thing.last)}
    return sure + [
        thing for hit in found.get("rule", ()) if hit.first not in taken for thing in _weak(reading, found, hit, strict)
    ]


def _is_elsewhere(reading: Reading, hit: Hit) -> bool:
    """ "The upper layers of the cake", "the staff handbook": of something that is not above the reader."""
    words = reading.words
    named = words[hit.last - 1] in _PARTS or hit.entry in _BOOKS
    if named and "of" in words[hit.last : hit.last + 1] and not reading.ends_clause(hit.last):
        return _OWN.isdisjoint(words[hit.last + 1 : hit.last + 4])
    return hit.entry in _BOOKS and hit.first > 0 and words[hit.first - 1] in _HOLDERS


def _weak(reading: Reading, found: Found, rule: Hit, strict: bool) -> Iterator[Thing]:
    if rule.language != "en":
        if rule.last >= len(reading.words) or reading.words[rule.last] not in _OF:
            yield Thing(rule.first, rule.last, False, rule)
        return
    words = reading.words
    before = [hit for hit in found.get("yours", ()) if 0 <= rule.first - hit.last <= 2]
    if any(0 <= rule.first - hit.last <= 2 for hit in found.get("owned", ())) or any(
        0 <= hit.first - rule.last <= 1 for hit in found.get("mine", ())
    ):
        return
    if any(
        0 < hit.first - rule.last <= 5 and reading.words[hit.first] in _CARRIERS for hit in found.get("speaker", ())
    ):
        return
    if any(hit.first == rule.last for hit in found.get("above", ())):
        yield Thing(rule.first, rule.last, True, rule)
        return
    following = words[rule.last] if not reading.ends_clause(rule.last) else ""
    if following in _REGARDING and not any(0 < hit.first - rule.last <= 4 for hit in found.get("guarded", ())):
        return
    if following in ABOUT and any(0 < hit.first - rule.last <= 4 for hit in found.get("topic", ())):
        return
    if following in ABOUT and any(0 < hit.first - rule.last <= 4 for hit in found.get("guarded", ())):
        yield Thing(rule.first, rule.last, True, rule)
        return
    if before:
        yield Thing(min(hit.first for hit in before), rule.last, True, rule)
    elif following not in ABOUT and (_is_bare(words, rule, following) if strict else _is_whole(rule, following)):
        yield Thing(rule.first, rule.last, False, rule)


def _is_whole(rule: Hit, following: str) -> bool:
    """ "safety is optional", but not "the safety briefing is"."""
    return rule.entry not in _BARE or not following or following in _VERBS


def _is_bare(words: Sequence[str], rule: Hit, following: str) -> bool:
    """ "the rules" and no more: not "the rules engine", nor rules in general."""
    ends = not following or following in STOPS or following in ADVERBS
    return ends and (rule.entry in _BARE or (rule.first > 0 and words[rule.first - 1] in _DETERMINERS))


def referred(reading: Reading, sentence: Sentence, found: Found) -> list[Thing]:
    """ "… the rules. I discard them": a pronoun for what the words before named, when nobody else was spoken of."""
    before = reading.by[sentence.number - 1] if sentence.number else {}
    if any(name in table for table in (found, before) for name in ("hostile", "attempt")):
        return []
    if any(reading.words[hit.first] in _CARRIERS for table in (found, before) for hit in table.get("speaker", ())):
        return []
    named = [hit for name in ("guarded", "rule") for hit in found.get(name, ())]
    earlier = bool(before.get("guarded") or before.get("rule")) and "speaker" not in before
    return [
        Thing(
            at, at + 1, False, Hit("referred", at, at + 1, reading.tokens.starts[at], reading.tokens.ends[at], "en", "")
        )
        for at in range(sentence.first, sentence.last)
        if reading.words[at] in _THEM and (earlier or any(hit.last <= at for hit in named))
    ]


def bosses(found: Found) -> list[Thing]:
    """Those whose word stands above."""
    return [Thing(hit.first, hit.last, False, hit) for hit in found.get("boss", ()) if hit.entry in _ABOVE]
