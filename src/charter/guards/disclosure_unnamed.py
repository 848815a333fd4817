"""Requests that name no text: what stands above, what was said before, what may not be told."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from .disclosure_about import About, framed, negated
from .disclosure_found import Found, found
from .disclosure_scene import Sentence
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
    (9, (("ask", "verb"), ("begin",), ("told", "they", "first", "thin", "briefed", "handed", "gave"))),
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
_FURTHER: Final = 10  # the act of such a request may be so much further off


def pointed(about: About, sentence: Sentence) -> Found | None:
    """Text that stands above, when nothing was pasted or said there."""
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
        if opened or (plainly and not _stands_above(about)):
            return found("above", "unsaid", acts[0], above, None)
    return None


def _anothers(sentence: Sentence, thing: Hit, above: Hit) -> bool:
    """Whether this text is the person's own or another thing's."""
    scale = scale_of(sentence, thing.first)
    own = [
        hit for hit in sentence.of("my", "this") if 0 <= thing.first - hit.last <= 2 * scale and hit.first < above.first
    ]
    wrote = [hit for hit in sentence.of("mine") if 0 <= hit.first - thing.last <= 3 * scale and hit.first < above.first]
    wrote += [hit for hit in sentence.of("mine") if hit.first <= above.first < hit.last]
    return bool(own or wrote or [hit for hit in sentence.of("other") if gap(hit, thing) <= 8 * scale])


def _stands_above(about: About) -> bool:
    """Whether something of the person's own is there to be meant."""
    return not about.alone or len(about.scene.text.strip().split("\n")) > 1


def unnamed(about: About, sentence: Sentence) -> Found | None:
    if sentence.of("mytold", "howto"):
        return None
    if _whether(about, sentence):
        return None
    yesno = any(hit.first == 0 for hit in sentence.of("yesno")) or bool(sentence.of("has"))
    for near, factors in _TOGETHER:
        stated = not {"ask", "verb"} & set(factors[0]) or "handed" in factors[1]
        if stated and (yesno or _someones(sentence)):
            continue
        if not all(any(category in sentence.by for category in kind) for kind in factors):
            continue
        hits = _together(about, sentence, factors, near)
        if hits and not framed(about, sentence, hits[0]):
            return Found("implicit", "your", tuple((hit.category, hit) for hit in hits))
    return None


def _whether(about: About, sentence: Sentence) -> bool:
    """Whether the sentence asks only if there is such a thing."""
    end = sentence.tokens.ends[-1]
    asks = any(mark in about.scene.text[end : end + 2] for mark in "?？؟")
    there = sentence.known(0, "yesno") and any(hit.first <= 1 for hit in sentence.of("has"))
    return asks and there and not sentence.of("verb")


def _someones(sentence: Sentence) -> bool:
    """Whether the texts of this sentence are the person's own or pasted."""
    return bool(sentence.of("mine", "other", "define")) or any(
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
            if not about.excused(hit) and not ("verb" in kind and negated(sentence, hit))
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
        if all(hit is not None for hit in chosen):
            return [hit for hit in chosen if hit is not None]
    return []
