"""Who decides is not for a writable text to say: a rank taken, lent or turned round is for a person to look at."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from .bonds_scene import LINK, Scene, found_at, mark_of, overlaps
from .lexicon import Hit
from .override_acts import Mark

_MORE: Final = re.compile(r"(?<=[\w)\]\"'])[ \t]*(?:>{1,3}|≫|≻)[ \t]*(?=[\w(\[\"'])")
_PATHS: Final = frozenset(
    "settings tools file menu edit view account open click go tap preferences options admin system home".split()
)
_UNRANKED: Final = frozenset(("limits", "never"))
_LIMITS: Final = frozenset("on about in for regarding when at with during only if once unless".split())


def ranked(scene: Scene) -> Iterator[Mark]:
    """Something is put above what stands above, or this very text above all."""
    if scene.all("neg", "invert", "care"):
        return
    for over in scene.all("over"):
        for thing in scene.all("core"):
            if over.first < thing.first <= over.last + 2 and scene.is_meant(thing):
                yield mark_of("AUTHORITY", over, thing)
    for top in scene.all("top") if "topic" not in scene.found else ():
        for here in scene.of("here", top.language):
            if 0 <= top.first - here.last <= LINK and scene.is_joined(here, top):
                yield mark_of("AUTHORITY", here, top)


def compared(scene: Scene) -> Iterator[Mark]:
    """ "Speed > safety": it stands behind a sign, never before."""
    sign = _MORE.search(scene.reading.text, scene.sentence.start, scene.sentence.end)
    words = scene.reading.words
    if sign is None or words[scene.sentence.first] in _PATHS or scene.is_careful():
        return
    things = [hit for hit in scene.all("core", "loose", "boss", "safe") if words[hit.first] not in _UNRANKED]
    if things and all(thing.start >= sign.end() and scene.is_meant(thing) for thing in things):
        yield mark_of("AUTHORITY", things[0])


def posing(scene: Scene) -> Iterator[Mark]:
    """A rank that only those above can give is taken or handed out."""
    if "topic" in scene.found or scene.is_careful():
        return
    for name, partner in (("status", "source"), ("promote", ""), ("claim", "believe"), ("crown", "")):
        for hit in scene.all(name):
            beside = [other for other in scene.all(partner) if not overlaps(other, [hit])]
            if (beside or not partner) and not _is_fair(scene, hit) and not _is_denied(scene, hit):
                yield mark_of("AUTHORITY", hit, *beside[:1])


def _is_fair(scene: Scene, hit: Hit) -> bool:
    """ "The operator has the last word", "Teresa has the last word on the menu"; "admin rights on this laptop"."""
    if hit.category != "crown":
        return hit.category == "status" and scene.is_topic(hit)
    kept = any(not overlaps(other, [hit]) for other in scene.all("near"))
    return kept or bool(scene.all("boss", "core")) or scene.word(hit.last) in _LIMITS


def _is_denied(scene: Scene, hit: Hit) -> bool:
    """Whether it is denied anywhere before in its clause, or only shown; what "anyone who writes" gets is no report."""
    reading = scene.reading
    denied = any(neg.first < hit.first and reading.same_clause(neg.first, hit.first) for neg in scene.all("neg"))
    return denied or reading.is_quoted(hit) or reading.is_under_negation(hit)


def unapproved(scene: Scene) -> Iterator[Mark]:
    """Money moves, and nobody is to approve it."""
    for hit in scene.all("unapproved") if not scene.all("care") else ():
        if _is_of_money(scene, hit) and not scene.is_told(hit) and not scene.reading.is_supposed(hit):
            yield mark_of("APPROVAL", hit)


def _is_of_money(scene: Scene, hit: Hit) -> bool:
    """Here, or in the sentence before."""
    if scene.all("money") or not scene.sentence.number:
        return bool(scene.all("money"))
    before = scene.reading.sentences[scene.sentence.number - 1]
    return "money" in found_at(scene.reading, before, [hit.language])
