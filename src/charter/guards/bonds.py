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
_TRIGGERS: Final = frozenset("core mid loose boss free flip status promote claim unapproved".split())
_LEFT: Final = 3  # words between a negation and what it denies
_LINK: Final = 6  # words between a thing and what is said of it
_REACH: Final = 12  # words between a thing and what ties a sentence to it
_UNSPACED: Final = frozenset(("zh", "ja"))
_AFTER: Final = frozenset("de nl tr ja ko hi".split())  # languages that deny behind the verb, too
_TOLD: Final = frozenset(("hostile", "example"))
_OF: Final = frozenset(("of",))
_OWN: Final = frozenset("my your this the agent's".split())
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
                for rule in (_bare, _unkept, _weakened, _lacking, _ranked, _freed, _flipped, _posing):
                    yield from rule(scene)
                yield from _unapproved(scene, before)
        before = found


def _by_sentence(reading: Reading) -> list[dict[str, list[Hit]]]:
    found: list[dict[str, list[Hit]]] = [{} for _ in reading.sentences]
    for hit in _lexicon().find(reading.tokens):
        place = reading.place(hit.first)
        if hit.last <= reading.sentences[place].last:
            category = hit.category.partition(":")[2]
            found[place].setdefault(category, []).append(hit._replace(category=category))
    return found


# ── how a thing is said ───────────────────────────────────────────────────────────────────────────────────────────


def _is_told(scene: _Scene, hit: Hit) -> bool:
    """Whether it is only quoted, reported, or listed under what is refused."""
    reading = scene.reading
    return reading.is_quoted(hit) or reading.is_reported(hit) or reading.is_under_negation(hit)


def _is_topic(scene: _Scene, hit: Hit) -> bool:
    """Whether it is someone else's: a country's constitution, the rules of a game, a school's charter."""
    words, last = scene.reading.words, hit.last
    if last < scene.sentence.last and words[last] in _OF and hit.category != "boss":
        return last + 1 >= scene.sentence.last or words[last + 1] not in _OWN or last + 2 >= len(words)
    return bool(scene.found.get("topic"))


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
    own = [hit for hit in scene.all("core", "mid") if hit.first <= thing.first < hit.last]
    for tie in scene.all("near", "hold", "care"):
        if not _overlaps(tie, own) and _gap(tie, thing) <= scene.wide(thing, _REACH) and not _is_denied(scene, tie):
            return True
    if scene.all("fit") or any(_is_denied(scene, weak) for weak in scene.all("weak")):
        return True
    return bool(scene.all("clash") and scene.all("dropped", "neg"))


# ── what is said of what stands above ─────────────────────────────────────────────────────────────────────────────


def _bare(scene: _Scene) -> Iterator[Mark]:
    """It is named, and nothing ties the sentence to it."""
    if scene.all("neg"):
        return
    for thing in scene.all("core", "mid"):
        if thing.category == "mid" and not any(hit.first != thing.first for hit in scene.all("self")):
            continue
        if not _is_topic(scene, thing) and not _ties(scene, thing) and not _is_told(scene, thing):
            yield _mark("OVERRIDE", thing)


def _unkept(scene: _Scene) -> Iterator[Mark]:
    """What would keep to it is denied."""
    things = scene.all("core", "mid")
    if not things or any(not _is_denied(scene, hit) for hit in scene.all("care")):
        return
    for tie in scene.all("near", "hold"):
        denials = _denials(scene, tie)
        if len(denials) % 2 == 0 or len(scene.all("neg", "invert")) > len(denials) or scene.reading.is_supposed(tie):
            continue
        for thing in things:
            if _gap(tie, thing) <= scene.wide(thing, _LINK) and _joined(scene, tie, thing) and not _overlaps(tie, [thing]):
                if not _is_topic(scene, thing) and not _is_told(scene, thing):
                    yield _mark("OVERRIDE", tie, thing)


def _weakened(scene: _Scene) -> Iterator[Mark]:
    """It is said to be void, decoration, a burden, over."""
    for weak in scene.all("weak"):
        for thing in scene.all("core", "mid", "loose", "boss"):
            if not _is_said_of(scene, thing, weak) or _is_denied(scene, weak) or _is_topic(scene, thing):
                continue
            if not _is_told(scene, thing) and not _is_told(scene, weak) and not scene.reading.is_supposed(weak):
                yield _mark("AUTHORITY" if thing.category == "boss" else "OVERRIDE", thing, weak)


def _is_said_of(scene: _Scene, thing: Hit, weak: Hit) -> bool:
    if thing.language != weak.language or _overlaps(thing, [weak]) or not scene.reading.same_clause(thing.first, weak.first):
        return _is_valued(scene, thing, weak)
    if thing.language == "en" and weak.first < thing.first:
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
        for thing in scene.all("core"):
            if lack.first < thing.first <= lack.last + 2 and _joined(scene, lack, thing):
                others = [neg for neg in scene.all("neg", "invert") if not _overlaps(neg, [lack])]
                careful = any(not _is_denied(scene, hit) for hit in scene.all("care"))
                if not others and not careful and not _is_topic(scene, thing) and not _is_told(scene, thing):
                    yield _mark("OVERRIDE", lack, thing)


def _ranked(scene: _Scene) -> Iterator[Mark]:
    """Something is put above it."""
    for over in scene.all("over"):
        for thing in scene.all("core"):
            if over.first < thing.first <= over.last + 1 and not scene.all("neg", "invert", "care"):
                if not _is_topic(scene, thing) and not _is_told(scene, thing):
                    yield _mark("AUTHORITY", over, thing)
    signs = [found.end() for found in _MORE.finditer(scene.reading.text, scene.sentence.start, scene.sentence.end)]
    words = scene.reading.words
    if not signs or words[scene.sentence.first] in _PATHS or scene.all("care"):
        return
    for thing in scene.all("core", "loose", "boss", "safe"):
        if thing.start >= signs[0] and words[thing.first] != "limits" and not _is_topic(scene, thing):
            yield _mark("AUTHORITY", thing)


def _freed(scene: _Scene) -> Iterator[Mark]:
    """The reader is said to be free of limits."""
    for free in scene.all("free"):
        subjects = [hit for hit in scene.of("persona", free.language) if abs(_gap(hit, free)) <= scene.wide(free, 8)]
        if not subjects or scene.all("topic") or _is_told(scene, free) or scene.reading.is_supposed(free):
            continue
        outer = [neg for neg in scene.all("neg", "invert") if not _overlaps(neg, [free]) and neg.first < free.first]
        careful = any(not _is_denied(scene, hit) and not _overlaps(hit, [free]) for hit in scene.all("care"))
        if not outer and not careful:
            yield _mark("ROLE_CHANGE", subjects[0], free)


def _flipped(scene: _Scene) -> Iterator[Mark]:
    """No is to be read as yes."""
    for flip in scene.all("flip"):
        if not _is_denied(scene, flip) and not _is_told(scene, flip) and not scene.reading.is_supposed(flip):
            yield _mark("OVERRIDE", flip)


# ── who decides ───────────────────────────────────────────────────────────────────────────────────────────────────


def _posing(scene: _Scene) -> Iterator[Mark]:
    """A rank that only those above can give is taken or handed out."""
    if scene.all("topic") or any(not _is_denied(scene, hit) for hit in scene.all("care")):
        return
    sources = scene.all("source")
    for name, partners in (("status", sources), ("promote", None), ("claim", scene.all("believe"))):
        for hit in scene.all(name):
            beside = [other for other in partners or () if not _overlaps(other, [hit])]
            if (partners is None or beside) and not scene.all("neg") and not _is_told(scene, hit):
                yield _mark("AUTHORITY", hit, *beside[:1])


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
