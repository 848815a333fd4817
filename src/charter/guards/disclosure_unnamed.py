"""Requests that name no text: what stands above, what was said before, what may not be told."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from .disclosure_about import About, framed, negated
from .disclosure_found import Found, found
from .disclosure_scene import Sentence, asks
from .disclosure_whose import gap, scale_of
from .lexicon import Hit

# Categories that together and near each other, in any order, ask for hidden text without naming it; how near.
_TOGETHER: Final[tuple[tuple[int, tuple[tuple[str, ...], ...]], ...]] = (
    (9, (("implicit",),)),
    (9, (("ask", "verb", "exact"), ("briefed",))),
    (6, (("thin", "soft"), ("handed", "source"))),
    (6, (("thin", "soft"), ("maker",), ("gave",), ("you",))),
    (7, (("thin", "soft"), ("they",), ("told",), ("you",))),
    (7, (("ask", "verb"), ("they",), ("told",), ("you",))),
    (9, (("ask", "verb"), ("banned",), ("speak",), ("you",))),
    (9, (("ask", "verb"), ("begin",), ("told", "they", "you", "first"))),
    (9, (("how", "ask", "verb"), ("setup",))),
    (9, (("ask", "verb"), ("guide",), ("reply",))),
    (9, (("ask", "verb"), ("unseen",), ("you", "thin"))),
    (9, (("ask", "verb"), ("role",), ("assigned",))),
    (8, (("verb", "part", "exact", "ask"), ("first",), ("within",))),
    (9, (("verb", "part", "exact", "ask"), ("context",))),
    (9, (("ask", "verb"), ("unwritten",), ("seen",))),
    (9, (("thin", "ask", "verb"), ("notmine",), ("window",))),
    (6, (("you",), ("silenced",))),
    (9, (("you",), ("briefed",))),
    (7, (("you",), ("they",), ("told",))),
    (9, (("ask", "verb"), ("desk",))),
    (9, (("you",), ("setup",))),
    (9, (("verb", "ask"), ("handed",))),
    (14, (("wording",), ("preme",))),
    (9, (("ask", "verb"), ("clone",), ("load",))),
    (7, (("ask", "verb"), ("maker",), ("gave",), ("you",))),
)
_PASTED: Final = 12  # characters behind a colon that are a text of their own
_LONG: Final = 60  # words of a message that may tell a story
_EARLY: Final = 3  # words before a "how to" that governs the sentence
_FURTHER: Final = 10  # the act of such a request may be so much further off


def pointed(about: About, sentence: Sentence) -> Found | None:
    """Text that stands above, when nothing was pasted or said there."""
    if sentence.of("yousaid") or any(hit.first <= _EARLY for hit in sentence.of("howto")):
        return None
    for above in sentence.of("above"):
        if about.excused(above):
            continue
        scale = scale_of(sentence, above.first)
        whole = [hit for hit in sentence.of("all") if gap(hit, above) <= 6 * scale]
        things = whole + [hit for hit in sentence.of("thin", "soft") if gap(hit, above) <= 3 * scale]
        if above.last - above.first > 1:
            things += [hit for hit in sentence.of("ask") if gap(hit, above) <= 3 * scale]
        things = [thing for thing in things if not _anothers(sentence, thing, above)]
        acts = [
            hit
            for hit in sentence.of("copy", "ask", *(("exact",) if whole else ()))
            if not negated(sentence, hit) and not framed(about, sentence, hit) and not about.excused(hit)
        ]
        if not things or not acts:
            continue
        opened = bool(sentence.of("start"))
        plainly = any(not sentence.known(act.first, "gentle") for act in acts) or bool(sentence.of("all"))
        plainly = plainly or _of_mine(sentence, above)
        if opened or (plainly and not _stands_above(about, above)):
            return found("above", "unsaid", acts[0], above, None)
    return None


def _of_mine(sentence: Sentence, above: Hit) -> bool:
    """Whether the place is "above my message", where nothing of mine can be."""
    return above.last - above.first > 1 and sentence.known(above.last - 1, "my")


def _anothers(sentence: Sentence, thing: Hit, above: Hit) -> bool:
    """Whether this text is the person's own or another thing's."""
    scale = scale_of(sentence, thing.first)
    own = [
        hit for hit in sentence.of("my", "this") if 0 <= thing.first - hit.last <= 2 * scale and hit.first < above.first
    ]
    wrote = [hit for hit in sentence.of("mine") if 0 <= hit.first - thing.last <= 3 * scale and hit.first < above.first]
    wrote += [hit for hit in sentence.of("mine") if hit.first <= above.first < hit.last]
    return bool(own or wrote or [hit for hit in sentence.of("other") if gap(hit, thing) <= 8 * scale])


def _stands_above(about: About, above: Hit) -> bool:
    """Whether something of the person's own is there to be meant."""
    pasted = about.scene.text.find(": ", above.end)
    if pasted >= 0 and len(about.scene.text) - pasted > _PASTED:
        return True
    return not about.alone or len(about.scene.text.strip().split("\n")) > 1


def unnamed(about: About, sentence: Sentence) -> Found | None:
    if sentence.of("mytold", "yousaid") or any(hit.first <= _EARLY for hit in sentence.of("howto")):
        return None
    if _whether(about, sentence) or _told_at_length(about, sentence):
        return None
    yesno = any(hit.first == 0 for hit in sentence.of("yesno")) or bool(sentence.of("has"))
    yesno = yesno or (asks(about.scene, sentence) and not sentence.of("ask", "verb", "how", "can", "define"))
    present = sentence.by.keys()
    for near, factors in _TOGETHER:
        if any(present.isdisjoint(kind) for kind in factors):
            continue
        if sentence.of("generic") and any("banned" in kind for kind in factors):
            continue
        if sentence.of("occasion") and any("told" in kind for kind in factors):
            continue
        stated = not {"ask", "verb"} & set(factors[0]) or "handed" in factors[1]
        if factors[0] == ("implicit",) and sentence.of("ask"):
            stated = False
        if stated and (yesno or _someones(sentence)):
            continue
        hits = _together(about, sentence, factors, near)
        if hits and not framed(about, sentence, hits[0]):
            return Found("implicit", "your", tuple((hit.category, hit) for hit in hits))
    return None


def _told_at_length(about: About, sentence: Sentence) -> bool:
    """Whether a long text tells something here: neither a question nor an order."""
    if about.scene.size <= _LONG * scale_of(sentence, 0) or about.tricked or asks(about.scene, sentence):
        return False
    return not any(hit.first <= _EARLY for hit in sentence.of("verb", "ask", "exact"))


def _whether(about: About, sentence: Sentence) -> bool:
    """Whether the sentence asks only if there is such a thing."""
    there = sentence.known(0, "yesno") and any(hit.first <= 1 for hit in sentence.of("has"))
    if not asks(about.scene, sentence):
        return False
    return (there and not sentence.of("verb")) or (
        sentence.known(0, "yesno")
        and not sentence.of("can", "how")
        and not any(hit.first for hit in sentence.of("ask"))
    )


def _someones(sentence: Sentence) -> bool:
    """Whether the texts of this sentence are the person's own or pasted."""
    mine = [hit for hit in sentence.of("mine") if not sentence.known(hit.last, "you")]
    return bool(mine or sentence.of("other")) or any(
        0 <= thing.first - hit.last <= 2 * scale_of(sentence, thing.first)
        for hit in sentence.of("my", "this")
        for thing in sentence.of("thin", "soft")
    )


def _together(about: About, sentence: Sentence, factors: Sequence[Sequence[str]], near: int) -> list[Hit]:
    """One hit of each factor near one of the second (the act may be further off); nothing when one is missing."""
    kinds = [
        [
            hit
            for hit in sentence.of(*kind)
            if not about.excused(hit)
            and not ("verb" in kind and (negated(sentence, hit) or framed(about, sentence, hit)))
        ]
        for kind in factors
    ]
    if not all(kinds):
        return []
    for pivot in kinds[min(1, len(kinds) - 1)]:
        reach = near * scale_of(sentence, pivot.first)
        chosen = [
            next((hit for hit in kind if gap(hit, pivot) <= (reach if number else reach + _FURTHER)), None)
            for number, kind in enumerate(kinds)
        ]
        hits = [hit for hit in chosen if hit is not None]
        gave = [hit.first for hit in hits if hit.category == "gave"]  # "write to our team" is one act, not two
        if len(hits) == len(kinds) and hits[0].first not in gave:
            return hits
    return []
