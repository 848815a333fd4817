"""What a writable text says of what stands above it must keep to it: without a protective word, a person decides.

Ways to weaken are without number, ways to keep are few. So a sentence that names the constitution, the safeguards or the
sealed layers is asked for what ties it to them: following, checking, asking, refusing. One without any such tie, or with
the tie denied, is marked; so is one that claims freedom from limits, or a rank that only those above can give.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final

from .lexicon import Hit, Lexicon, read_tables
from .override_acts import ASK, Mark
from .reading import Reading, Sentence

FOLDER: Final = "stance"
_TRIGGERS: Final = frozenset("core mid solemn norm leash wall crown loose boss free rid bar top status promote claim unapproved".split())
_LEFT: Final = 3  # words between a negation and what it denies
_LINK: Final = 6  # words between a thing and what is said of it
_REACH: Final = 12  # words between a thing and what ties a sentence to it
_SHARE: Final = 0.6  # of the words of the language that knows most of a sentence
_UNSPACED: Final = frozenset(("zh", "ja"))
_AFTER: Final = frozenset("de nl tr ja ko hi".split())  # languages that deny behind the verb, too
_TOLD: Final = frozenset(("hostile",))
_OF: Final = frozenset("of de du del della dello di da do dos das van der des von vom".split())
_ABOUT: Final = frozenset("for about on regarding".split())
_COMMON: Final = frozenset("norm loose mid solemn status".split())
_HOW: Final = frozenset("blindly only just merely simply alone yet literally".split())
_LIMITS: Final = frozenset("on about in for regarding when at with during only if once unless".split())
_OTHERS: Final = frozenset("who which whom".split())
_SUPPOSE: Final = frozenset("if when whenever unless whether should suppose once".split())
_MORE: Final = re.compile(r"(?<=[\w)\]\"'])[ \t]*(?:>{1,3}|≫|≻)[ \t]*(?=[\w(\[\"'])")
_PATHS: Final = frozenset("settings tools file menu edit view account open click go tap preferences options admin system home".split())


@cache
def _lexicon() -> Lexicon:
    """All tables; a category carries its language, since two may share a word."""
    return Lexicon({
        language: {f"{language}:{category}": patterns for category, patterns in table.items()}
        for language, table in read_tables(FOLDER).items()
    })


@dataclass(frozen=True, slots=True)
class _Scene:
    """One sentence and what the tables know in it, of whatever language."""

    reading: Reading
    sentence: Sentence
    found: dict[str, list[Hit]]

    def all(self, *names: str) -> list[Hit]:
        return [hit for name in names for hit in self.found.get(name, ())]

    def of(self, name: str, language: str) -> list[Hit]:
        return [hit for hit in self.found.get(name, ()) if hit.language == language]

    def wide(self, hit: Hit, words: int) -> int:
        return words * 2 if hit.language in _UNSPACED else words


def bonds(reading: Reading) -> Iterator[Mark]:
    """What every sentence of a text makes of what stands above it."""
    before: dict[str, list[Hit]] = {}
    for sentence, found in zip(reading.sentences, _by_sentence(reading), strict=True):
        if not _TRIGGERS.isdisjoint(found):
            scene = _Scene(reading, sentence, found)
            if _TOLD.isdisjoint(reading.by[sentence.number]):
                for rule in (_bare, _placed, _unkept, _weakened, _lacking, _none, _ranked, _compared, _freed, _flipped, _posing):
                    yield from rule(scene)
                yield from _unapproved(scene, before)
        before = found


def _by_sentence(reading: Reading) -> list[dict[str, list[Hit]]]:
    """What the tables know, sentence by sentence, of the languages it can be written in: others share a word by chance."""
    inside: list[list[Hit]] = [[] for _ in reading.sentences]
    for hit in _lexicon().find(reading.tokens):
        place = reading.place(hit.first)
        if hit.last <= reading.sentences[place].last:
            inside[place].append(hit._replace(category=hit.category.partition(":")[2]))
    return [_grouped(hits) for hits in inside]


def _grouped(hits: Sequence[Hit]) -> dict[str, list[Hit]]:
    covered: dict[str, set[int]] = {}
    for hit in hits:
        covered.setdefault(hit.language, set()).update(range(hit.first, min(hit.last, hit.first + 6)))
    least = max(map(len, covered.values()), default=0) * _SHARE
    found: dict[str, list[Hit]] = {}
    for hit in hits:
        if len(covered[hit.language]) >= least:
            found.setdefault(hit.category, []).append(hit)
    return found


# ── how a thing is said ───────────────────────────────────────────────────────────────────────────────────────────


def _is_told(scene: _Scene, hit: Hit) -> bool:
    """Whether it is only quoted, reported, or listed under what is refused."""
    reading = scene.reading
    return reading.is_quoted(hit) or reading.is_reported(hit) or reading.is_under_negation(hit)


def _is_topic(scene: _Scene, hit: Hit) -> bool:
    """Whether it is someone else's: a country's constitution, the rules of a game, a school's charter."""
    words, last = scene.reading.words, hit.last
    following = words[last] if last < scene.sentence.last and scene.reading.same_clause(last - 1, last) else ""
    if following in _OF and (hit.language == "en") == (following == "of"):
        return not any(last < other.first <= last + 2 for other in scene.all("core", "agent", "where", "origin"))
    if following in _ABOUT and (hit.category in _COMMON or words[hit.first] == "oversight"):
        return True
    return following.isdigit() or bool(scene.found.get("topic"))


def _gap(one: Hit, other: Hit) -> int:
    return other.first - one.last if one.first <= other.first else one.first - other.last


def _joined(scene: _Scene, one: Hit, other: Hit) -> bool:
    """Whether neither a clause nor a comma ends between two hits."""
    low, high = min(one.first, other.first), max(one.first, other.first)
    return scene.reading.same_clause(low, high) and not scene.reading.commas(low, high)


def _denials(scene: _Scene, hit: Hit) -> list[Hit]:
    """The negations that reach a hit."""
    return [
        neg
        for neg in scene.all("neg", "invert")
        if not (neg.first < hit.last and hit.first < neg.last)
        and _gap(neg, hit) <= scene.wide(hit, _LEFT)
        and (neg.first < hit.first or (hit.language in _AFTER and neg.category == "neg"))
        and _joined(scene, neg, hit)
    ]


def _is_denied(scene: _Scene, hit: Hit) -> bool:
    return len(_denials(scene, hit)) % 2 == 1


def _overlaps(hit: Hit, others: Sequence[Hit]) -> bool:
    return any(other.first < hit.last and hit.first < other.last for other in others)


def _ties(scene: _Scene, thing: Hit) -> bool:
    """Whether something in the sentence keeps to the thing, asks, or refuses; or denies what would take its force."""
    own = [hit for hit in scene.all("core", "mid", "solemn", "norm", "leash", "wall") if hit.first <= thing.first < hit.last]
    placed = scene.all("where", "origin")
    for tie in scene.all("near", "hold", "says", "care", "fit"):
        if _overlaps(tie, own) or _overlaps(tie, placed) or _gap(tie, thing) > scene.wide(thing, _REACH):
            continue
        if tie.category == "fit" or (not _is_denied(scene, tie) and not (tie.category == "says" and _speaks_not(thing, tie))):
            return True
    if any(_is_denied(scene, weak) for weak in scene.all("weak")):
        return True
    return bool(scene.all("clash") and scene.all("dropped", "neg"))


def _speaks_not(thing: Hit, says: Hit) -> bool:
    """ "The charter says", not "says … the charter"."""
    return not 0 <= says.first - thing.last <= 1


# ── what is said of what stands above ─────────────────────────────────────────────────────────────────────────────


def _bare(scene: _Scene) -> Iterator[Mark]:
    """It is named, and nothing ties the sentence to it."""
    if any(_counts(scene, neg) for neg in scene.all("neg")):
        return
    for thing in scene.all("core", "mid", "solemn"):
        if thing.category != "core" and not _is_ours(scene, thing):
            continue
        if not _is_topic(scene, thing) and not _ties(scene, thing) and not _is_told(scene, thing):
            yield _mark("OVERRIDE", thing)


def _is_ours(scene: _Scene, thing: Hit) -> bool:
    """Whether the sentence is of its reader's own affairs, or takes the thing's force."""
    signs = scene.all("self", "where", "origin", "weak", "clash", "money")
    return thing.language != "en" or any(not _overlaps(hit, [thing]) for hit in signs)


def _placed(scene: _Scene) -> Iterator[Mark]:
    """A rule or a rein that is said to be up there, or of the makers, and nothing that ties the sentence to it."""
    if any(_counts(scene, neg) for neg in scene.all("neg")):
        return
    for thing in scene.all("norm", "leash", "wall"):
        signs = scene.all("where", "origin") + (scene.all("self") if thing.category == "leash" else [])
        beside = [hit for hit in signs if not _overlaps(hit, [thing]) and _gap(hit, thing) <= scene.wide(thing, _LINK)]
        if beside and not _is_topic(scene, thing) and not _ties(scene, thing) and not _is_told(scene, thing):
            yield _mark("OVERRIDE", thing, beside[0])


def _counts(scene: _Scene, neg: Hit) -> bool:
    """Whether a negation may be one of a weakening: not a quoted one, not what others never did, not a last "it isn't"."""
    if neg.last >= scene.sentence.last or scene.reading.quote_of(neg):
        return False
    return not neg.first or scene.reading.words[neg.first - 1] not in _OTHERS


def _unkept(scene: _Scene) -> Iterator[Mark]:
    """What would keep to it is denied."""
    things = scene.all("core", "mid")
    if not things or _is_careful(scene):
        return
    for tie in scene.all("near", "hold"):
        if not _is_denied(scene, tie) or _is_denied_twice(scene, tie) or scene.reading.is_supposed(tie):
            continue
        if not _HOW.isdisjoint(scene.reading.words[tie.last : tie.last + _LINK]):
            continue  # "I do not follow it blindly"
        for thing in things:
            if _gap(tie, thing) <= scene.wide(thing, _LINK) and _joined(scene, tie, thing) and not _overlaps(tie, [thing]):
                if not _is_topic(scene, thing) and not _is_told(scene, thing):
                    yield _mark("OVERRIDE", tie, thing)


def _is_denied_twice(scene: _Scene, tie: Hit) -> bool:
    """ "Nothing is done that does not follow it"."""
    first = min(neg.first for neg in _denials(scene, tie))
    return any(
        0 < first - neg.first <= _LINK and "and" not in scene.reading.words[neg.first : first] for neg in scene.all("neg", "invert")
    )


def _weakened(scene: _Scene) -> Iterator[Mark]:
    """It is said to be void, decoration, a burden, over."""
    careful = _is_careful(scene)
    for weak in scene.all("weak"):
        for thing in scene.all("core", "mid", "solemn", "norm", "leash", "loose", "boss"):
            if not _is_said_of(scene, thing, weak) or _is_denied(scene, weak) or _is_topic(scene, thing):
                continue
            if _is_told(scene, thing) or _is_told(scene, weak) or _is_supposed(scene, thing):
                continue
            if thing.category != "core" and any(0 < thing.first - neg.first <= _LINK for neg in scene.all("neg")):
                continue  # "I do not pretend that the rules are gone"
            if thing.category == "core" or not careful:
                yield _mark("AUTHORITY" if thing.category == "boss" else "OVERRIDE", thing, weak)


def _is_supposed(scene: _Scene, thing: Hit) -> bool:
    """ "If the charter is void, …"; not "if they clash the charter is void"."""
    if thing.language != "en":
        return scene.reading.is_supposed(thing)
    return not _SUPPOSE.isdisjoint(scene.reading.words[max(thing.first - 2, scene.sentence.first) : thing.first])


def _is_careful(scene: _Scene) -> bool:
    """Whether the sentence asks, refuses, reports or tells of an attack, and does not deny doing so."""
    return any(not _is_denied(scene, hit) for hit in scene.all("care"))


def _is_said_of(scene: _Scene, thing: Hit, weak: Hit) -> bool:
    if thing.language != weak.language or _overlaps(thing, [weak]) or not scene.reading.same_clause(thing.first, weak.first):
        return _is_valued(scene, thing, weak)
    if weak.first < thing.first and (thing.language == "en" or thing.category in ("loose", "boss")):
        return False
    return _gap(thing, weak) <= scene.wide(thing, _LINK) and not scene.reading.commas(
        min(thing.first, weak.first), max(thing.first, weak.first)
    )


def _is_valued(scene: _Scene, thing: Hit, weak: Hit) -> bool:
    """A line of a name and its value: "Safety: off"."""
    between = scene.reading.text[thing.end : weak.start]
    return thing.language == weak.language and between.strip() in (":", "=", "：", "->", "→")


def _lacking(scene: _Scene) -> Iterator[Mark]:
    """Something is done without it, whatever it says, or free from it."""
    for lack in scene.all("lack"):
        for thing in scene.all("core", "norm") if "exempt" in lack.entry else scene.all("core"):
            if lack.first < thing.first <= lack.last + 2 and _joined(scene, lack, thing):
                others = [neg for neg in scene.all("neg", "invert") if not _overlaps(neg, [lack])]
                if not others and not _is_careful(scene) and not _is_topic(scene, thing) and not _is_told(scene, thing):
                    yield _mark("OVERRIDE", lack, thing)


def _none(scene: _Scene) -> Iterator[Mark]:
    """ "No vetoes", "I carry no fetters"."""
    for rid in scene.all("rid"):
        for thing in scene.all("core", "solemn", "leash"):
            others = [neg for neg in scene.all("neg", "invert", "care") if not _overlaps(neg, [rid])]
            if thing.first == rid.last and scene.reading.ends_clause(thing.last) and not others:
                if not _is_topic(scene, thing) and not _is_told(scene, thing) and not _is_supposed(scene, thing):
                    yield _mark("OVERRIDE", rid, thing)


def _ranked(scene: _Scene) -> Iterator[Mark]:
    """Something is put above it, or this very text above all."""
    if scene.all("neg", "invert", "care"):
        return
    for over in scene.all("over"):
        for thing in scene.all("core"):
            if over.first < thing.first <= over.last + 2 and not _is_topic(scene, thing) and not _is_told(scene, thing):
                yield _mark("AUTHORITY", over, thing)
    for top in scene.all("top"):
        for here in scene.of("here", top.language):
            if 0 <= top.first - here.last <= _LINK and _joined(scene, here, top) and not scene.all("topic"):
                yield _mark("AUTHORITY", here, top)


def _compared(scene: _Scene) -> Iterator[Mark]:
    """ "Speed > safety": it stands behind a sign, never before."""
    signs = [found.end() for found in _MORE.finditer(scene.reading.text, scene.sentence.start, scene.sentence.end)]
    if not signs or scene.reading.words[scene.sentence.first] in _PATHS or _is_careful(scene):
        return
    things = [hit for hit in scene.all("core", "loose", "boss", "safe") if scene.reading.words[hit.first] not in ("limits", "never")]
    if things and all(thing.start >= signs[0] and not _is_topic(scene, thing) and not _is_told(scene, thing) for thing in things):
        yield _mark("AUTHORITY", things[0])


def _freed(scene: _Scene) -> Iterator[Mark]:
    """The reader is said to be free of limits."""
    bounds = [(rid, bound) for rid in scene.all("rid") for bound in scene.of("bound", rid.language) if 0 <= bound.first - rid.last <= 1]
    for free in [(hit,) for hit in scene.all("free")] + bounds:
        said = free[0]
        subjects = [hit for hit in scene.of("persona", said.language) if -2 <= said.first - hit.last <= scene.wide(said, 8)]
        subjects = [hit for hit in subjects if not _overlaps(hit, free) and (hit.last >= said.first or scene.reading.same_clause(hit.first, said.first))]
        if not subjects or scene.all("topic") or _is_told(scene, said) or scene.reading.is_supposed(said):
            continue
        outer = [neg for neg in scene.all("neg", "invert") if not _overlaps(neg, free) and neg.first < said.first]
        if not outer and not any(not _is_denied(scene, hit) and not _overlaps(hit, free) for hit in scene.all("care")):
            yield _mark("ROLE_CHANGE", subjects[0], *free)


def _flipped(scene: _Scene) -> Iterator[Mark]:
    """No is to be read as yes."""
    for turn in scene.all("turn"):
        no = [hit for hit in scene.of("bar", turn.language) if 0 <= turn.first - hit.last <= scene.wide(turn, 8)]
        yes = [hit for hit in scene.of("pass", turn.language) if 0 <= hit.first - turn.last <= 1]
        if not no or not yes or not scene.reading.same_clause(no[-1].first, yes[0].first) or scene.all("topic"):
            continue
        if all(_overlaps(neg, no) for neg in _denials(scene, turn)) and not _is_told(scene, turn):
            yield _mark("OVERRIDE", no[-1], turn, yes[0])


# ── who decides ───────────────────────────────────────────────────────────────────────────────────────────────────


def _posing(scene: _Scene) -> Iterator[Mark]:
    """A rank that only those above can give is taken or handed out."""
    if scene.all("topic") or _is_careful(scene):
        return
    for name, partner in (("status", "source"), ("promote", ""), ("claim", "believe"), ("crown", "")):
        for hit in scene.all(name):
            beside = [other for other in scene.all(partner) if not _overlaps(other, [hit])]
            denied = any(neg.first < hit.first and scene.reading.same_clause(neg.first, hit.first) for neg in scene.all("neg"))
            if (name == "crown" and _is_fair(scene, hit)) or (name == "status" and _is_topic(scene, hit)):
                continue
            if (beside or not partner) and not denied and not scene.reading.is_quoted(hit) and not scene.reading.is_under_negation(hit):
                yield _mark("AUTHORITY", hit, *beside[:1])


def _is_fair(scene: _Scene, crown: Hit) -> bool:
    """ "The operator has the last word", "Teresa has the last word on the menu"."""
    following = scene.reading.words[crown.last] if not scene.reading.ends_clause(crown.last) else ""
    kept = [hit for hit in scene.all("boss", "core", "near") if not _overlaps(hit, [crown])]
    return bool(kept) or following in _LIMITS


def _unapproved(scene: _Scene, before: dict[str, list[Hit]]) -> Iterator[Mark]:
    """Money moves, and nobody is to approve it."""
    if not (scene.all("money") or before.get("money")) or scene.all("care"):
        return
    for hit in scene.all("unapproved"):
        if not _is_told(scene, hit) and not scene.reading.is_supposed(hit):
            yield _mark("APPROVAL", hit)


def _mark(code: str, *hits: Hit) -> Mark:
    start, end = min(hit.start for hit in hits), max(hit.end for hit in hits)
    return Mark(code, ASK, start, end, tuple(f"stance {hit.category}" for hit in hits))
