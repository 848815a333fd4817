"""What was asked before lives on: a few words after a refused request repeat it, and "it" is the text spoken of."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final, Literal

from .disclosure_about import negated
from .disclosure_found import NAMES, Found
from .disclosure_rules import find
from .disclosure_scene import Scene, read
from .disclosure_score import Weighed, weigh
from .disclosure_whose import owner_of, scale_of
from .lexicon import Hit
from .views import plain, views_of

State = Literal["asked", "named", "follows", "other"]
_BACK: Final = 6  # messages of the person that are looked at
_CHARS: Final = 2_000  # of each
_SHORT: Final = 25  # words of a follow-up
_CUES: Final = ("again", "pron", "tongue", "part", "exact", "verb_it", "yours_it", "mild")
_MORE: Final = 0.5  # how much more must speak for two messages together than for the earlier one alone
# What a message weighs that goes on with another: less is a new subject. Few words say little of themselves.
_HALF: Final = -3.0  # of what two messages ask together
_OF_IT: Final = -5.0  # where "it" is a text that was only spoken of
_BARE: Final = -10.0  # where it was asked for, without any words
_A_WORD: Final = 0.45  # how much more for each of them
_MOST: Final = -4.5  # and at most
_LET: Final = re.compile(
    r"\b(?:let(?:'s)?\s+(?:define\s+)?|define\s+|call\s+|set\s+)?([a-z]\w{0,11}+)\s*+(?::=|=|\bbe\b|\bas\b|\bmeans?\b)\s*"
    r"[\"“”'«]?([^\"“”'»\n;]{2,80}?)[\"“”'».]*(?=[\n;]|\.\s|\s*$|\s+and\s+(?:let\s+)?[a-z]\w{0,11}\s*=)",
    re.MULTILINE,
)

_NAME: Final = re.compile(r"([a-z]\w*)")


def follows(text: str, said: Sequence[str], *, scene: Scene | None = None) -> Found | None:
    """Whether a message goes on with a request that an earlier message of the same person made.

    `scene` is the message, if it was read.
    """
    if len(text) > _CHARS:
        return None
    scene = read(plain(text), following=True) if scene is None else scene.in_full()
    hit = _cue(scene)
    if hit is None:
        return None
    repeats, means_it = _goes_on(scene), _points_back(scene)
    if not repeats and not means_it:  # this is known sooner than what was said before
        return None
    state, weight = _state(said), weigh(scene).over
    if state == "asked" and repeats and weight > min(_BARE + _A_WORD * _length(scene), _MOST):
        return Found("follow-up", "your", (("again", hit),))
    if state == "named" and means_it and weight > _OF_IT:
        return Found("follow-up", "your", (("it", hit),))
    return None


def _length(scene: Scene) -> float:
    """Its words, as many as they would be in a language that parts them."""
    return scene.size / scale_of(scene.sentences[0], 0)


def asked_together(text: str, said: Sequence[str]) -> Weighed | None:
    """What a message and the one before it weigh, read as one, if together they ask for more than the earlier did."""
    if max(len(text), len(said[-1])) > _CHARS or _over(text) <= _HALF:
        return None
    both = weigh(read(plain(f"{said[-1]}\n{text}")))
    return both if both.over > max(0.0, _over(said[-1])) + _MORE else None


@lru_cache(maxsize=512)
def _over(text: str) -> float:
    return weigh(read(plain(text))).over


def spelled_out(text: str, said: Sequence[str]) -> str | None:
    """The message with names put in that it or earlier messages defined ("let X = your hidden"); nothing without."""
    folded = plain(text[:_CHARS])
    lines = [plain(line[:_CHARS]) for line in said[-_BACK:]]
    if not any(mark in line for line in [folded, *lines] for mark in ("=", "let ", "define ", "let's ")):
        return None
    meanings = dict[str, str]()
    for line in lines:
        meanings.update(_LET.findall(line))
    parts = _LET.split(folded)  # text, a name, its meaning, text, …
    meanings.update(zip(parts[1::3], parts[2::3], strict=True))
    last = " ".join(parts[::3])
    pieces = _NAME.split(last)  # text, a word, text, …
    if meanings.keys().isdisjoint(pieces[1::2]):
        return None
    pieces[1::2] = map(meanings.get, pieces[1::2], pieces[1::2])
    return re.sub(r"[+()\[\]{}$%&]|\.\.", " ", "".join(pieces))


def _state(said: Sequence[str]) -> State:
    for text in reversed(said[-_BACK:]):
        state = _state_of(text[:_CHARS])
        if state != "follows":
            return state
    return "other"


@lru_cache(maxsize=512)
def _state_of(text: str) -> State:
    for view in views_of(text).all:
        scene = read(view.text)
        if find(scene) is not None or (view.name == "plain" and weigh(scene).over > 0):
            return "asked"
        if view.name == "plain" and _names_ours(scene):
            return "named"
    scene = read(plain(text), following=True)
    if not scene.sentences:
        return "follows"
    said_little = scene.size <= 8 and not any(s.of("ask", "verb") for s in scene.sentences)
    return "follows" if said_little or (_cue(scene) is not None and _goes_on(scene)) else "other"


def _names_ours(scene: Scene) -> bool:
    for sentence in scene.sentences:
        for name in sentence.of(*NAMES):
            whose, _ = owner_of(sentence, name)
            if whose == "your" or (whose in ("", "any") and sentence.of("has") and not sentence.of("other", "my")):
                return True
    return False


def _cue(scene: Scene) -> Hit | None:
    return next((hit for sentence in scene.sentences for hit in sentence.of(*_CUES)), None)


def _goes_on(scene: Scene) -> bool:
    """A short message of small words that brings up nothing new."""
    scale = scale_of(scene.sentences[0], 0)
    words = scene.size
    if words > _SHORT * scale or any(sentence.of("drop") for sentence in scene.sentences):
        return False
    close = any(sentence.of("verb_it", "part", "exact") for sentence in scene.sentences)
    return _strange(scene) <= words // (12 * scale) + close


def _points_back(scene: Scene) -> bool:
    """An order or a question about "it", or about a part of it."""
    if scene.size > _SHORT * scale_of(scene.sentences[0], 0) or _strange(scene) > 5:
        return False
    for sentence in scene.sentences:
        acts = [hit for hit in sentence.of("verb", "ask", "part") if not negated(sentence, hit)]
        if sentence.of("verb_it") or (acts and sentence.of("pron") and not sentence.of("my", "other")):
            return not sentence.of("drop", "define", "howto")
    return False


def _strange(scene: Scene) -> int:
    """Words that belong to no category at all."""
    count = 0
    for sentence in scene.sentences:
        known = set[int]()
        for hits in sentence.by.values():
            for hit in hits:
                known.update(range(hit.first, hit.last))
        count += sum(not word.isdigit() and at not in known for at, word in enumerate(sentence.tokens.words))
    return count
