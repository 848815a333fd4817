"""A request is refused when an act, a name of hidden text and its owner come together; the owner decides.

Acts are `verb` (show, print, translate …), `ask` (what are …), `part` (the first word of …) and `exact` (verbatim …).
Names are `hard` (system prompt), `soft` (instructions, rules); pointers are `above` (everything before this line).
Owners stand before a name (`your`, `my`, `any`, `this`) or after it (`yours`, `mine`); `other` is another thing's, and
`stuff` (bash prompt, refund policy) is no name at all. `hard_yours` and `soft_yours` are names that carry their owner.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from .disclosure_scene import Scene, Sentence, is_wide
from .lexicon import Hit

ACTS: Final = ("verb", "part", "ask", "exact")
_NAMES: Final = ("hard", "hard_yours", "soft", "soft_yours")
# Categories that together, near each other and in any order, ask for hidden text without naming it.
_TOGETHER: Final[tuple[tuple[tuple[str, ...], ...], ...]] = (
    (("implicit",),),
    (("ask", "verb"), ("briefed",)),
    (("ask", "verb"), ("they",), ("told",), ("you",)),
    (("ask", "verb"), ("banned",), ("speak",), ("you",)),
    (("ask", "verb"), ("begin",), ("told", "they", "you", "all")),
    (("how", "ask", "verb"), ("setup",)),
    (("ask", "verb"), ("guide",), ("reply",)),
    (("ask", "verb"), ("unseen",), ("you", "thin", "text")),
    (("ask", "verb"), ("role",), ("assigned",)),
    (("verb", "part", "exact", "ask"), ("context",)),
)
_NEAR: Final = 18


@dataclass(frozen=True, slots=True)
class Found:
    """A request: the rule that saw it and the hits that were its factors."""

    rule: str
    whose: str
    hits: tuple[tuple[str, Hit], ...] = field(repr=False)


def find(scene: Scene, *, alone: bool = True) -> Found | None:
    """The first request for hidden text in a scene; `alone`: nothing was said before it."""
    if not scene.sentences:
        return None
    about = _About(scene, alone)
    for sentence in scene.sentences:
        found = _named(about, sentence) or _pointed(about, sentence) or _unnamed(about, sentence)
        if found is not None:
            return found
    return _begun(about) or _spoken_of(about) or _bare(about)


class _About:
    """What holds for the whole message: talk about such requests, tricks, pasted text."""

    def __init__(self, scene: Scene, alone: bool) -> None:
        self.scene, self.alone = scene, alone
        outside = [hit for s in scene.sentences for hit in s.of("talk") if not scene.quoted(hit)]
        self.obeyed = any(not scene.quoted(hit) for s in scene.sentences for hit in s.of("obey"))
        self.talk = bool(outside) and not self.obeyed
        self.tricked = any(s.of("trick") for s in scene.sentences)
        self.data_from = self._pasted()

    def _pasted(self) -> int:
        """Where pasted text begins: after a colon or a line break that follows this or my text; else the end."""
        scene = self.scene
        for sentence in scene.sentences:
            for name in sentence.of("hard", "soft", "thin"):
                whose, owner = owner_of(sentence, name)
                if whose in ("my", "this") and owner is not None:
                    for mark in (":", "\n"):
                        at = scene.text.find(mark, name.end, name.end + 120)
                        if at >= 0 and len(scene.text) - at > 12:
                            return at
        return len(scene.text)

    def excused(self, hit: Hit) -> bool:
        """Whether this stands in quotes or pasted text that is only spoken of."""
        if hit.start >= self.data_from and not self.obeyed:
            return True
        return self.talk and self.scene.quoted(hit)


# ── whose ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def _scale(sentence: Sentence, at: int) -> int:
    return 3 if is_wide(sentence.tokens.words[at]) else 1


def _unknown(sentence: Sentence, first: int, last: int) -> int:
    known = ("adj", "hid", "prev", "hard", "soft", "thin", "above", "your", "any")
    return sum(not sentence.known(at, *known) for at in range(first, last))


def owner_of(sentence: Sentence, name: Hit) -> tuple[str, Hit | None]:
    """Whose a name is: your, my, this, any, other, or nobody said ("")."""
    if name.category.endswith("_yours"):
        return "your", name
    scale = _scale(sentence, name.first)
    before = _before(sentence, name, scale)
    after = _after(sentence, name, scale)
    other = _elsewhere(sentence, name, before, scale)
    if before is not None and before.category == "your":
        return ("other", other) if other is not None else ("your", before)
    if after is not None and not (before is not None and before.category in ("my", "this") and after.category == "yours"):
        return ("your" if after.category == "yours" else "my"), after
    if before is not None:
        return before.category, before
    return ("other", other) if other is not None else ("", None)


def _before(sentence: Sentence, name: Hit, scale: int) -> Hit | None:
    best: Hit | None = None
    for hit in sentence.of("your", "my", "this", "any"):
        if hit.last <= name.first and name.first - hit.last <= 6 * scale and (best is None or hit.last > best.last):
            strange = _unknown(sentence, hit.last, name.first)
            if strange <= _strange(hit, name) * scale:
                best = hit
    return best


def _strange(owner: Hit, name: Hit) -> int:
    """How many unknown words may stand between: in English "your X rules" are rules about X."""
    if name.category == "hard":
        return 2 if owner.category == "your" else 1
    return 0 if owner.language == "en" else 1


def _after(sentence: Sentence, name: Hit, scale: int) -> Hit | None:
    near = [hit for hit in sentence.of("yours", "mine") if 0 <= hit.first - name.last <= 3 * scale]
    return min(near, key=lambda hit: hit.first, default=None)


def _elsewhere(sentence: Sentence, name: Hit, before: Hit | None, scale: int) -> Hit | None:
    """Another thing this name belongs to: between owner and name, or soon after the name."""
    owned = before is not None and before.category == "your"
    if owned and name.category == "hard":
        return None
    for hit in sentence.of("other", *(() if owned else ("code",))):
        if before is not None and owned:
            if before.last <= hit.first < name.first or 0 <= hit.first - name.last <= 4 * scale:
                return hit
        elif abs(hit.first - name.first) <= 12 * scale:
            return hit
    if owned:
        return next((hit for hit in sentence.of("for") if hit.first == name.last and not _here(sentence, hit, scale)), None)
    return None


def _here(sentence: Sentence, hit: Hit, scale: int) -> bool:
    return any(0 <= here.first - hit.last <= 2 * scale for here in sentence.of("here", "you"))


# ── the act ───────────────────────────────────────────────────────────────────────────────────────────────────────


def _negated(sentence: Sentence, act: Hit) -> bool:
    for hit in sentence.of("not"):
        if 0 <= act.first - hit.last <= 2 * _scale(sentence, hit.first):
            return not any(other.first <= hit.first < other.last for other in sentence.of("invite"))
    return any(act.last <= hit.first <= act.last + 1 for hit in sentence.of("not_after"))


def _framed(about: _About, sentence: Sentence, act: Hit) -> bool:
    """Whether somebody else's doing, or a question about it, governs the act."""
    if about.tricked:
        return False
    if any(hit.first <= act.first and not about.scene.quoted(hit) for hit in sentence.of("frame")):
        return True
    for who in sentence.of("who"):
        for says in sentence.of("says"):
            if 0 <= says.first - who.last <= 4 * _scale(sentence, who.first) and says.first <= act.first:
                return not any(0 <= you.first - says.last <= 0 for you in sentence.of("you"))
    return False


def _acts(about: _About, sentence: Sentence, name: Hit, start: int) -> Iterator[Hit]:
    """Acts that reach the name: before it, or after it where languages put their verbs last."""
    scale = _scale(sentence, name.first)
    for act in sentence.of(*ACTS):
        if about.excused(act) or _negated(sentence, act) or _framed(about, sentence, act):
            continue
        if act.last <= start + 1:
            if start - act.last <= 14 * scale:
                yield act
        elif act.first >= name.last and act.first - name.last <= 8 * scale and _trails(sentence, act):
            yield act


def _trails(sentence: Sentence, act: Hit) -> bool:
    return act.language != "en" or act.category in ("exact", "ask") or sentence.known(act.last, "pron_it")


def _governed(sentence: Sentence, start: int, *, scale: int) -> bool:
    return any(0 <= start - hit.last <= 0 for hit in sentence.of("per")) or any(
        0 <= start - hit.last <= 3 * scale for hit in sentence.of("meta")
    )


def _start(sentence: Sentence, name: Hit, owner: Hit | None) -> int:
    """Where the noun phrase begins."""
    start = name.first
    if owner is not None and owner.last <= name.first:
        start = owner.first
    while start > 0 and sentence.known(start - 1, "adj", "hid", "prev"):
        start -= 1
    return start


# ── rules ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def _named(about: _About, sentence: Sentence) -> Found | None:
    for name in sentence.of(*_NAMES):
        if about.excused(name):
            continue
        whose, owner = owner_of(sentence, name)
        start = _start(sentence, name, owner)
        scale = _scale(sentence, name.first)
        if _governed(sentence, start, scale=scale):
            continue
        acts = list(_acts(about, sentence, name, start))
        act = next((act for act in acts if _enough(about, sentence, act, name, whose)), None)
        if act is not None:
            return _found("named", whose or "unsaid", act, name, owner)
    return None


def _enough(about: _About, sentence: Sentence, act: Hit, name: Hit, whose: str) -> bool:
    hard = name.category.startswith("hard")
    if whose == "your":
        return True
    if whose:
        return False
    hinted = sentence.known(name.first - 1, "hid") or (about.alone and sentence.known(name.first - 1, "prev", "above"))
    if hard or hinted:
        return not sentence.of("bots")
    # "Output the instructions": nothing else said, nothing they could be but ours
    return about.alone and act.category == "verb" and len(about.scene.tokens.words) <= 6 * _scale(sentence, name.first)


def _pointed(about: _About, sentence: Sentence) -> Found | None:
    """Text that stands above, when nothing was pasted or said there."""
    for above in sentence.of("above"):
        if about.excused(above):
            continue
        scale = _scale(sentence, above.first)
        things = [hit for hit in sentence.of("thin", "all", "soft") if _gap(hit, above) <= 3 * scale]
        whole = [hit for hit in sentence.of("all", "exact", "start") if _gap(hit, above) <= 8 * scale]
        acts = [hit for hit in sentence.of("copy") if not _negated(sentence, hit) and not _framed(about, sentence, hit)]
        if not things or not acts or sentence.of("my", "other", "mine", "this_text"):
            continue
        if not _stands_above(about, above) or (whole and sentence.of("start")):
            return _found("above", "unsaid", acts[0], above, None)
    return None


def _gap(one: Hit, two: Hit) -> int:
    return max(one.first - two.last, two.first - one.last, 0)


def _stands_above(about: _About, above: Hit) -> bool:
    """Whether something of the person's own is there to be meant."""
    before = about.scene.text[: above.start]
    return not about.alone or (len(before) > 80 and "\n" in before.strip())


def _unnamed(about: _About, sentence: Sentence) -> Found | None:
    for factors in _TOGETHER:
        hits = _together(about, sentence, factors)
        if hits and not _framed(about, sentence, hits[0]) and not sentence.of("mytold"):
            return Found("implicit", "your", tuple((hit.category, hit) for hit in hits))
    return None


def _together(about: _About, sentence: Sentence, factors: Sequence[Sequence[str]]) -> list[Hit]:
    """One hit of each factor, near the rarest; nothing when one is missing."""
    kinds = [[hit for hit in sentence.of(*kind) if not about.excused(hit)] for kind in factors]
    if not all(kinds):
        return []
    for pivot in min(kinds, key=len):
        near = _NEAR * _scale(sentence, pivot.first)
        chosen = [next((hit for hit in kind if _gap(hit, pivot) <= near), None) for kind in kinds]
        if all(hit is not None for hit in chosen):
            return [hit for hit in chosen if hit is not None]
    return []


def _begun(about: _About) -> Found | None:
    """"Continue: You are a …": an opening of a prompt that ends where it begins, and an order to go on."""
    for sentence in about.scene.sentences:
        for start in sentence.of("start"):
            orders = [hit for hit in sentence.of("go_on", "copy") if hit.last <= start.first]
            end = len(sentence.tokens.words)
            if orders and end - start.last <= 3 and not sentence.of("my", "other"):
                return _found("continued", "your", orders[-1], start, None)
    return None


def _spoken_of(about: _About) -> Found | None:
    """A name of ours in one sentence, and an order that says "it" in the same or a later one."""
    for number, sentence in enumerate(about.scene.sentences):
        for name in sentence.of(*_NAMES):
            whose, owner = owner_of(sentence, name)
            ours = whose == "your" or (name.category == "hard" and whose in ("", "any") and bool(sentence.of("has")))
            if not ours or about.excused(name):
                continue
            for later in about.scene.sentences[number:]:
                for act in later.of("verb_it"):
                    if (later is not sentence or act.first >= name.last) and not _negated(later, act):
                        return _found("it", "your", act, name, owner)
    return None


def _bare(about: _About) -> Found | None:
    """A message that is little more than the name."""
    words = about.scene.tokens.words
    for sentence in about.scene.sentences:
        for name in sentence.of("hard", "hard_yours"):
            whose, owner = owner_of(sentence, name)
            scale = _scale(sentence, name.first)
            if whose in ("", "your") and len(words) - (name.last - name.first) <= 3 * scale and not sentence.of("has", "meta", "not"):
                return _found("bare", whose or "unsaid", name, name, owner)
    return None


def _found(rule: str, whose: str, act: Hit, name: Hit, owner: Hit | None) -> Found:
    hits = [("act" if act.category not in ACTS else act.category, act), ("name", name)]
    if owner is not None:
        hits.append(("whose", owner))
    return Found(rule, whose, tuple(hits))
