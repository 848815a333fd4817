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
_NO_GENITIVE: Final = frozenset({"what's", "that's", "it's", "here's", "there's", "let's", "who's", "where's", "how's"})
_MAKERS: Final = frozenset(
    {"operator", "developer", "vendor", "deployer", "builder", "creator", "admin", "company", "owner", "maker", "boss"}
)
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
    if (
        other is None
        and (after is None or after.category != "yours")
        and name.category in ("hard", "soft")
        and (someone := _genitive(sentence, name, before)) is not None
    ):
        return "other", someone
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
        if other is not None and gap(other, name) < gap(after, name):
            return "other", other
        return ("my" if after.category == "mine" else "your"), after
    if before is not None:
        return before.category, before
    return ("other", other) if other is not None else ("", None)


def _genitive(sentence: Sentence, name: Hit, before: Hit | None) -> Hit | None:
    """Somebody's: "the general's secret orders", which are no text of ours."""
    at = name.first - 1
    while at > 0 and sentence.known(at, "adj", "hid", "prev"):
        at -= 1
    if at < 0 or (before is not None and before.last > at) or not sentence.tokens.words[at].endswith(("'s", "s'")):
        return None
    word = sentence.tokens.words[at]
    if word in _NO_GENITIVE or sentence.known(at, "your", "yours", "hard", "ask", "verb"):
        return None
    return None if sentence.known(at, "maker") or word.removesuffix("'s") in _MAKERS else name


def gap(one: Hit, two: Hit) -> int:
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
    if owner.category == "your" and sentence.tokens.words[name.first] == "prompt":
        return 2
    return 0 if owner.language == "en" and not sentence.of("leak") else 1


def _after(sentence: Sentence, name: Hit, scale: int) -> Hit | None:
    near = [hit for hit in sentence.of("yours", "mine") if 0 <= hit.first - name.last <= 3 * scale]
    if any(0 <= hit.first - name.last <= 3 for hit in sentence.of("received")) and sentence.of("you"):
        near += [hit for hit in sentence.of("received") if not _by_others(sentence, hit)]
    return min(near, key=lambda hit: (hit.first, -hit.last, hit.category), default=None)


def _by_others(sentence: Sentence, hit: Hit) -> bool:
    """Whether somebody else was given it, or gave it: "given to the crew", "given by the board"."""
    words = sentence.tokens.words
    return hit.last < len(words) and words[hit.last] in ("to", "by", "from")


def _elsewhere(sentence: Sentence, name: Hit, before: Hit | None, *, scale: int) -> Hit | None:
    """Another thing this name belongs to: between owner and name, or soon after the name."""
    if before is not None and before.category == "your":
        if name.category == "hard":
            return None
        for hit in sentence.of("other"):
            if before.last <= hit.first < name.first or 0 <= hit.first - name.last <= 4 * scale:
                return hit
        about = [hit for hit in sentence.of("for") if hit.first == name.last and not _here(sentence, hit, scale)]
        about = [hit for hit in about if not sentence.known(hit.first, "exact")]
        if name.language == "en" and not sentence.known(name.last - 1, "policy"):
            about = [hit for hit in about if sentence.tokens.words[hit.first] == "for"]
        return next(iter(about), None)
    near = [hit for hit in sentence.of("other", "code") if gap(hit, name) <= 12 * scale]
    return min(near, key=lambda hit: gap(hit, name), default=None)


def _here(sentence: Sentence, hit: Hit, scale: int) -> bool:
    return any(0 <= here.first - hit.last <= 2 * scale for here in sentence.of("here", "you"))
