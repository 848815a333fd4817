"""Whose text a name means: the assistant's, mine, this pasted one, another thing's, nobody's, or unsaid."""

from __future__ import annotations

from typing import Final

from .disclosure_scene import Sentence, is_wide
from .lexicon import Hit

_NOUNS: Final = ("adj", "hid", "prev", "hard", "soft", "thin", "above", "your", "any")
# Where a possessor before a name carries a case ending, the suffix on the name is not "yours".
_GENITIVE: Final = {"tr": ("nin", "nun", "nün", "nın")}
# Where "own" is said for every person, a bot of mine may be the owner.
_REFLEXIVE: Final = frozenset({"pl", "ru", "uk", "cs", "hi"})
_PRONOUNS: Final = frozenset({"senin", "sizin", "onun"})


def scale_of(sentence: Sentence, at: int) -> int:
    """How far a distance in words reaches here: further where each character is a word."""
    return 3 if is_wide(sentence.tokens.words[at]) else 1


def owner_of(sentence: Sentence, name: Hit) -> tuple[str, Hit | None]:
    """Whose a name is: your, my, this, any, other, or nobody said ("")."""
    scale = scale_of(sentence, name.first)
    if name.category.endswith("_yours"):
        other = _possessor(sentence, name)
        return ("other", other) if other is not None else ("your", name)
    before = _before(sentence, name, scale)
    after = _after(sentence, name, scale)
    other = _elsewhere(sentence, name, before, scale=scale)
    if before is None and after is None and sentence.of("trick"):
        near = [hit for hit in sentence.of("its") if 0 <= name.first - hit.last <= 2]
        if near:
            return "your", near[0]
    if before is not None and before.category == "your":
        if before.language in _REFLEXIVE and sentence.of("mybot"):
            return "other", sentence.of("mybot")[0]
        return ("other", other) if other is not None else ("your", before)
    if after is not None and not (
        before is not None and before.category in ("my", "this") and after.category == "yours"
    ):
        if other is not None and _gap(other, name) < _gap(after, name):
            return "other", other
        return ("your" if after.category == "yours" else "my"), after
    if before is not None:
        return before.category, before
    return ("other", other) if other is not None else ("", None)


def _gap(one: Hit, two: Hit) -> int:
    return max(one.first - two.last, two.first - one.last, 0)


def _possessor(sentence: Sentence, name: Hit) -> Hit | None:
    """Another owner right before a name that carries a suffix."""
    endings = _GENITIVE.get(name.language, ())
    if name.first and endings:
        word = sentence.tokens.words[name.first - 1]
        if word.endswith(endings) and word not in _PRONOUNS and len(word) > 4:
            return name
    near = [hit for hit in sentence.of("other", "my", "this") if 0 <= name.first - hit.last <= 1]
    return near[0] if near else None


def _before(sentence: Sentence, name: Hit, scale: int) -> Hit | None:
    best: Hit | None = None
    for hit in sentence.of("your", "my", "this", "any"):
        if hit.last <= name.first and name.first - hit.last <= 6 * scale and (best is None or hit.last > best.last):
            strange = sum(not sentence.known(at, *_NOUNS) for at in range(hit.last, name.first))
            if strange <= _strange(sentence, hit, name) * scale:
                best = hit
    return best


def _strange(sentence: Sentence, owner: Hit, name: Hit) -> int:
    """How many unknown words may stand between: in English "your X rules" are rules about X."""
    if name.category == "hard":
        return 2 if owner.category == "your" else 1
    return 0 if owner.language == "en" and not sentence.of("leak") else 1


def _after(sentence: Sentence, name: Hit, scale: int) -> Hit | None:
    near = [hit for hit in sentence.of("yours", "mine") if 0 <= hit.first - name.last <= 3 * scale]
    return min(near, key=lambda hit: (hit.first, -hit.last, hit.category), default=None)


def _elsewhere(sentence: Sentence, name: Hit, before: Hit | None, *, scale: int) -> Hit | None:
    """Another thing this name belongs to: between owner and name, or soon after the name."""
    if before is not None and before.category == "your":
        if name.category == "hard":
            return None
        for hit in sentence.of("other"):
            if before.last <= hit.first < name.first or 0 <= hit.first - name.last <= 4 * scale:
                return hit
        return next(
            (hit for hit in sentence.of("for") if hit.first == name.last and not _here(sentence, hit, scale)), None
        )
    near = [hit for hit in sentence.of("other", "code") if _gap(hit, name) <= 12 * scale]
    return min(near, key=lambda hit: _gap(hit, name), default=None)


def _here(sentence: Sentence, hit: Hit, scale: int) -> bool:
    return any(0 <= here.first - hit.last <= 2 * scale for here in sentence.of("here", "you"))
