"""A request is refused when an act, a name of hidden text and its owner come together; the owner decides.

The word tables hold these categories, each in every language as far as it needs it:

- acts: `verb` (show), `ask` (what are), `part` (the first word of), `exact` (verbatim); `copy` for what stands above
- names: `hard` (system prompt), `soft` (instructions), `thin` (text, note); with their owner in them: `hard_yours`, …
- owners before a name: `your`, `my`, `any` (a, good), `this` (these, following); after it: `yours`, `mine`; `other` is
  another thing's, `code` talk of programs, `stuff` no name at all (bash prompt), `mybot`, `its`
- what takes an act away: `not`, `not_after` (unless `invite`), `frame`, `who` + `says`, `per` (according to), `meta`
  (version of), `define`, `howto`, `has`, `yesno`, `only`; `talk` excuses quotations unless `obey`; `trick` voids frames
- requests that name nothing: what `they`/`maker` `told`/`gave` `you`; `handed`, `source`, `briefed`, `banned` +
  `speak`, `silenced`, `begin`, `preme` + `wording`, `first` + `within`, `unseen`, `notmine`, `setup`, …
- pointers `above`, openings `start` and `confess` with `go_on`; follow-ups `again`, `pron`, `tongue`, `fill`, `drop`
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from .disclosure_about import ACTS, About, Past, acts_on, framed, governed, negated, start_of
from .disclosure_scene import Scene, Sentence
from .disclosure_whose import owner_of, scale_of
from .lexicon import Hit

NAMES: Final = ("hard", "hard_yours", "soft", "soft_yours")
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


_FURTHER: Final = 10
_NEXT: Final = 6  # sentences in which "it" may still be what was spoken of
_LONG: Final = 60  # words of a message in which "hidden orders" may be those of its story


@dataclass(frozen=True, slots=True)
class Found:
    """A request: the rule that saw it and the hits that were its factors."""

    rule: str
    whose: str
    hits: tuple[tuple[str, Hit], ...] = field(repr=False)


def find(scene: Scene, *, past: Past = "none", within: About | None = None) -> Found | None:
    """The first request for hidden text in a scene; `past`: what was said before; `within`: the whole message."""
    if not scene.sentences:
        return None
    about = About(scene, past, within)
    for sentence in scene.sentences:
        found = _named(about, sentence) or _pointed(about, sentence) or _unnamed(about, sentence)
        if found is not None:
            return found
    return _begun(about) or _spoken_of(about) or _bare(about)


# ── rules ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def _named(about: About, sentence: Sentence) -> Found | None:
    for name in sentence.of(*NAMES):
        if about.excused(name):
            continue
        whose, owner = owner_of(sentence, name)
        if whose in ("my", "this", "any", "other") or (about.advised and name.category.startswith("soft")):
            continue
        start = start_of(sentence, name, owner)
        if governed(sentence, start, name, scale=scale_of(sentence, name.first)):
            continue
        for act in acts_on(about, sentence, name, start):
            if whose == "your" or _unsaid(about, sentence, act, name):
                return _found("named", whose or "unsaid", act, name, owner)
        if whose == "your" and _alone(about, name) and not _only_about(about, sentence, name):
            return _found("named", whose, owner or name, name, owner)
    return None


def _alone(about: About, name: Hit) -> bool:
    """Whether our own text can be meant: with soft names only where nothing was said before, as an answer of ours."""
    return name.category.startswith("hard") or about.alone


def _only_about(about: About, sentence: Sentence, name: Hit) -> bool:
    """Whether a sentence without an act asks about our text or tells of it, and does not ask for it."""
    if any(hit.first == 0 or name.last == hit.first for hit in sentence.of("yesno")):
        return True
    return bool(sentence.of("has", "meta", "not", "howto", "frame", "define", "only")) or framed(about, sentence, name)


def _unsaid(about: About, sentence: Sentence, act: Hit, name: Hit) -> bool:
    """Whether a name without an owner is ours: a hard one, or a soft one that can be nothing else."""
    if sentence.of("bots", "howto", "my", "other") or (sentence.of("define") and act.category != "part"):
        return False
    if _titled(about, name) or (_of_a_thing(sentence, name) and not about.tricked):
        return False
    hidden = sentence.known(name.first - 1, "hid") or (about.alone and sentence.known(name.first - 1, "prev", "above"))
    if name.category == "hard" or hidden:
        return about.scene.size <= _LONG * scale_of(sentence, name.first) or not sentence.known(name.first, "hid")
    if not about.alone or act.category == "exact" or sentence.of("mine"):
        return False
    short = about.scene.size <= _LONG * scale_of(sentence, name.first)
    if short and (about.tricked or (act.category == "verb" and sentence.known(act.first, "leak"))):
        return len(sentence.tokens.words) <= 16 * scale_of(sentence, name.first)
    known = (*NAMES, *ACTS, "adj", "mild", "all", "hid", "prev", "above", "fill", "your", "copy")
    strange = sum(not sentence.known(at, *known) for at in range(len(sentence.tokens.words)))
    return act.category == "verb" and strange <= 1 and about.scene.size <= 6 * scale_of(sentence, name.first)


def _titled(about: About, name: Hit) -> bool:
    """Whether a quotation right after the name says which one it is."""
    after = about.scene.text[name.end : name.end + 3]
    return after[:1] in (" ", ":") and after.lstrip(" :")[:1] in tuple("\"“„«'`")


def _of_a_thing(sentence: Sentence, name: Hit) -> bool:
    """Whether "of …", "for …" right after the name says whose it is."""
    words = sentence.tokens.words
    if name.last >= len(words) or words[name.last] not in ("of", "for", "about"):
        return False
    return not any(0 <= hit.first - name.last <= 2 for hit in sentence.of("yours", "here", "exact"))


def _pointed(about: About, sentence: Sentence) -> Found | None:
    """Text that stands above, when nothing was pasted or said there."""
    for above in sentence.of("above"):
        if about.excused(above):
            continue
        scale = scale_of(sentence, above.first)
        whole = [hit for hit in sentence.of("all") if _gap(hit, above) <= 6 * scale]
        things = whole + [hit for hit in sentence.of("thin", "soft") if _gap(hit, above) <= 3 * scale]
        if above.last - above.first > 1:
            things += [hit for hit in sentence.of("ask") if _gap(hit, above) <= 3 * scale]
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
            return _found("above", "unsaid", acts[0], above, None)
    return None


def _anothers(sentence: Sentence, thing: Hit, above: Hit) -> bool:
    """Whether this text is the person's own or another thing's."""
    scale = scale_of(sentence, thing.first)
    own = [
        hit for hit in sentence.of("my", "this") if 0 <= thing.first - hit.last <= 2 * scale and hit.first < above.first
    ]
    wrote = [hit for hit in sentence.of("mine") if 0 <= hit.first - thing.last <= 3 * scale and hit.first < above.first]
    return bool(own or wrote or [hit for hit in sentence.of("other") if _gap(hit, thing) <= 8 * scale])


def _gap(one: Hit, two: Hit) -> int:
    return max(one.first - two.last, two.first - one.last, 0)


def _stands_above(about: About) -> bool:
    """Whether something of the person's own is there to be meant."""
    return not about.alone or len(about.scene.text.strip().split("\n")) > 1


def _unnamed(about: About, sentence: Sentence) -> Found | None:
    if sentence.of("mytold", "howto"):
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
            next((hit for hit in kind if _gap(hit, pivot) <= (reach if number else reach + _FURTHER)), None)
            for number, kind in enumerate(kinds)
        ]
        if all(hit is not None for hit in chosen):
            return [hit for hit in chosen if hit is not None]
    return []


def _begun(about: About) -> Found | None:
    """An opening of a prompt that ends where it begins ("You are a …"), or our own confession, to be continued."""
    for number, sentence in enumerate(about.scene.sentences):
        orders = sentence.of("go_on", "copy")
        end = len(sentence.tokens.words)
        for start in sentence.of("start"):
            before = [hit for hit in orders if hit.last <= start.first]
            if before and end - start.last <= 3 and not sentence.of("my", "other"):
                return _found("continued", "your", before[-1], start, None)
        for start in sentence.of("confess"):
            onward = [
                hit for other in about.scene.sentences[max(number - 1, 0) : number + 2] for hit in other.of("go_on")
            ]
            if onward:
                return _found("continued", "your", onward[-1], start, None)
    return None


def _spoken_of(about: About) -> Found | None:
    """A name of ours in one sentence, and an order that says "it" in the same or a later one."""
    sentences = about.scene.sentences
    for number, sentence in enumerate(sentences):
        for name in sentence.of(*NAMES):
            whose, owner = owner_of(sentence, name)
            ours = not about.excused(name) and not about.advised and _ours(about, sentence, name, whose)
            for later in sentences[number : number + _NEXT]:
                after = name.last if later is sentence else 0
                acts = [*later.of("verb_it")] if ours else []
                if not later.of("meta", "define"):
                    acts += later.of("yours_it")
                if ours and sentence.of("let"):
                    acts += [*later.of("verb")]
                for act in acts:
                    if act.first >= after and not negated(later, act) and not framed(about, later, act):
                        return _found("it", "your", act, name, owner)
    return None


def _ours(about: About, sentence: Sentence, name: Hit, whose: str) -> bool:
    if whose in ("", "any") and sentence.of("has"):
        return True
    return whose == "your" or (name.category == "hard" and not whose and about.scene.size <= _LONG)


def _bare(about: About) -> Found | None:
    """A message that is little more than the name."""
    for sentence in about.scene.sentences:
        for name in sentence.of("hard", "hard_yours"):
            whose, owner = owner_of(sentence, name)
            rest = about.scene.size - (name.last - name.first)
            asked = sentence.of("has", "meta", "not", "define", "howto", "ask", "how", "verb")
            if whose in ("", "your") and rest <= 3 * scale_of(sentence, name.first) and not asked:
                return _found("bare", whose or "unsaid", name, name, owner)
    return None


def _found(rule: str, whose: str, act: Hit, name: Hit, owner: Hit | None) -> Found:
    hits = [("verb" if act.category not in ACTS else act.category, act), ("name", name)]
    if owner is not None:
        hits.append(("whose", owner))
    return Found(rule, whose, tuple(hits))
