"""What a message says is taken apart into small named features that a person can read: words, classes, shape.

- words: `w:` a word, `t:` how a long one begins, `b:` two in a row (`^` and `$` where a sentence begins and ends),
  `k:` the kinds of words it is of (see kin.py)
- classes of the word tables (see disclosure_rules.py): `c:` one, `p:` two in one sentence, `v:` one and the word after
  it, `x:` a word and the class after it, `f:` the class a sentence begins with and `d:` one it holds, asked or told
- names of hidden text: `o:` whose it is, `a:` the act that reaches it, `h:` what takes the act away; also, of the whole
  message, `h:talk` about requests, `h:trick`, `h:quotes` that were left out
- shape: `q:` how a sentence ends, `len:`, `sents:`, `quotes:`, `digits:`, `after:` (text behind a colon), `new:` and
  `newly:` (words of no class, by number and share)
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence, Set
from itertools import combinations, pairwise
from typing import Final, Protocol, TypeVar

from .disclosure_about import About, acts_on, framed, governed, start_of
from .disclosure_found import NAMES
from .disclosure_scene import Scene, asks, read
from .disclosure_whose import owner_of, scale_of
from .kin import kinds_of

_STEM: Final = 5  # letters by which an inflected word is known
_TOLD: Final = frozenset(
    ("hard", "soft", "verb", "has", "meta", "define", "ask", "yesno", "can", "you", "your", "my", "above")
)
_MOST: Final = 30  # classes of a sentence that are paired
_EXPECTED: Final = frozenset(
    """
    a an the this that these those it its he she they them his her their i me my mine we us our you your yours u ur
    of to in on at for from with by as is are was were be been being am do does did have has had will would can
    could should shall may might must not no yes and or but if then so than there here when where who whom whose
    which what why how all any some each every one two up down out off over under into about just only also too very
    more most 0
    """.split()
)
_QUOTES: Final = re.compile(r"[\"“”«»„「」]")
_NUMBER: Final = re.compile(r"\d+")
_AFTER: Final = re.compile(r"[:\n]\s*(\S.*)\Z", re.DOTALL)
# Every feature that says whose a name of hidden text is: without one of them no text is named.
OWNED: Final = frozenset(
    f"o:{name} {whose}" for name in ("hard", "soft") for whose in ("your", "my", "this", "any", "other", "-")
)

Feature = TypeVar("Feature", covariant=True)


def features_of(text: str) -> set[str]:
    """The features of a folded message, or of a part of one; what is only quoted or pasted speaks for nobody."""
    return features_in(read(text, following=True), Spelled())


class Features(Protocol[Feature]):
    """How features are told: those of a sentence's words, of its classes, beside words too, and all others."""

    def of_words(self, words: Sequence[str]) -> Iterable[Feature]: ...

    def of_classes(
        self, kinds: Sequence[Set[str]], classes: Sequence[str], words: Sequence[str]
    ) -> Iterable[Feature]: ...

    def of_others(self, spelled: Iterable[str]) -> Iterable[Feature]: ...


def features_in(scene: Scene, features: Features[Feature]) -> set[Feature]:
    """The features of a message that was read in full."""
    about = About(scene, "none")
    found: set[Feature] = set()
    others: list[str] = []
    if (own := _own_words(scene, about)) is not None:
        scene = read(own, following=True)
        about = About(scene, "none")
        others.append("h:quotes")
    new = 0
    for sentence in scene.sentences:
        kinds = sentence.kinds
        words = ["0" if word.isdigit() else word for word in sentence.tokens.words]
        found.update(features.of_words(words))
        found.update(features.of_classes(kinds, sorted(sentence.by)[:_MOST], words))
        end = "?" if asks(scene, sentence) else "."
        others.append(f"q:{end}")
        others += [f"f:{kind}{end}" for kind in kinds[0] or ("-",)]
        others += [f"d:{kind}{end}" for kind in _TOLD.intersection(sentence.by)]
        new += len([1 for word, known in zip(words, kinds, strict=True) if not known and word not in _EXPECTED])
    found.update(features.of_others((*others, *_of_names(scene, about), *_of_shape(scene, new))))
    return found


class Spelled:
    """All features, whether any table holds them or not."""

    def of_words(self, words: Sequence[str]) -> list[str]:
        found = [feature for word in words for feature in of_word(word)]
        return found + [f"b:{before} {word}" for before, word in pairwise(("^", *words, "$"))]

    def of_classes(self, kinds: Sequence[Set[str]], classes: Sequence[str], words: Sequence[str]) -> list[str]:
        found = [f"c:{one}" for one in classes]
        found += [f"p:{one} {other}" for one, other in combinations(classes, 2)]
        found += [f"v:{kind} {after}" for known, after in zip(kinds, words[1:], strict=False) for kind in known]
        found += [f"x:{before} {kind}" for before, known in zip(words, kinds[1:], strict=False) for kind in known]
        return found

    def of_others(self, spelled: Iterable[str]) -> Iterable[str]:
        return spelled


def of_word(word: str) -> list[str]:
    """The features of one word, whatever is around it."""
    begins = [f"t:{word[:_STEM]}"] if len(word) > _STEM else []
    return [f"w:{word}", *begins, *(f"k:{kind}" for kind in kinds_of(word))]


def _own_words(scene: Scene, about: About) -> str | None:
    """The message without quotations that are spoken of and without what was pasted; nothing when it has none."""
    text = scene.text[: about.data_from]
    if about.talk and not about.orders:
        for start, end in reversed(scene.quotes):
            if end <= len(text):
                text = f"{text[:start]}“”{text[end:]}"
    return text if text != scene.text else None


def _of_names(scene: Scene, about: About) -> Iterator[str]:
    """Whose the names of hidden text are, and what is to be done with them."""
    if about.talk:
        yield "h:talk"
    if about.tricked:
        yield "h:trick"
    for sentence in scene.sentences:
        for name in sentence.of(*NAMES):
            whose, owner = owner_of(sentence, name)
            kind = f"{name.category.removesuffix('_yours')} {whose or '-'}"
            if about.excused(name):
                yield f"h:excused {kind}"
                continue
            yield f"o:{kind}"
            start = start_of(sentence, name, owner)
            if governed(sentence, start, name, scale=scale_of(sentence, name.first)):
                yield f"h:governed {kind}"
            for act in acts_on(about, sentence, name, start):
                yield f"a:{act.category} {kind}"
            if framed(about, sentence, name):
                yield f"h:framed {kind}"


def _of_shape(scene: Scene, new: int) -> Iterator[str]:
    """How long it is, how much of it nobody expected, and whether a text of the person's own follows."""
    yield f"len:{min(scene.size // 6, 12)}"
    yield f"sents:{min(len(scene.sentences), 6)}"
    yield f"quotes:{min(len(_QUOTES.findall(scene.text)), 4)}"
    yield f"digits:{min(len(_NUMBER.findall(scene.text)), 4)}"
    after = _AFTER.search(scene.text)
    yield f"after:{min(len(after.group(1)) // 20, 4) if after else '-'}"
    yield f"new:{min(new, 8)}"
    yield f"newly:{5 * new // max(scene.size, 1)}"
