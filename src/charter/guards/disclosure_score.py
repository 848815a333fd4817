"""What no rule foresaw is weighed: each feature of a message has a weight in a table, and the sum decides.

The table is data (`words/weights/requests.tsv`, a feature and its weight a line), made by `tools/train_guard.py` from
the tune half of the corpus and from honest prose. What a rule found counts as FOUND more, so a rule is believed unless
much speaks against it, and a sum that is high enough needs no rule. The features that carried the sum are named, so the
verdict can be read.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache
from heapq import nlargest
from typing import Final

from .disclosure_features import features_in
from .disclosure_held import Held
from .disclosure_scene import Scene, Sentence, read
from .disclosure_tongue import spoken
from .weighing import weights_of

# What must speak for a request: in English, where innocent messages come closest, and in other languages.
ENGLISH: Final = 1.5
OTHERS: Final = 1.6
UNNAMED: Final = 0.2  # how much more where English names no text at all
WORDY: Final = 200  # characters from which on so much more must speak for it: many words have many small weights
FOUND: Final = 0.5  # what it counts that a rule found the request
PRECISE: Final = frozenset({"it", "continued", "bare"})  # rules that are believed SURER more
SURER: Final = 3.5
LONG: Final = 80  # words of a message that is weighed as a whole
_PARTS: Final = 3  # sentences of a longer one that are weighed
_KEPT: Final = 16  # parts of which it is remembered
_NAMED: Final = 6  # features that a verdict names
_EASE: Final = 0.5  # by which each doubling of the parts raises what is asked of one of them


@dataclass(frozen=True, slots=True)
class Weighed:
    """How much speaks for a request, and the features of what was weighed."""

    score: float
    needed: float = ENGLISH
    start: int = 0  # where the heaviest part stands in its view
    end: int = 0
    named: bool = False  # whether it names a text that may be hidden
    features: Set[int] = field(default=frozenset(), repr=False)  # by their places in the table

    @property
    def carried(self) -> Sequence[tuple[str, float]]:
        """The features that spoke loudest, in order; only a verdict that names them asks."""
        return held().heaviest(self.features, _NAMED)

    @property
    def over(self) -> float:
        """By how much more speaks for a request than is needed."""
        return self.score - self.needed


@cache
def weights() -> Mapping[str, float]:
    """Feature → weight."""
    return weights_of("weights", "requests").by_feature


@cache
def held() -> Held:
    """The same table, ready for features to be looked up."""
    return Held(weights())


def believed(rule: str, weighed: Weighed) -> bool:
    """Whether what a rule found stands against what its words weigh."""
    return weighed.over > (-FOUND - SURER if rule in PRECISE else -FOUND)


def asks_alone(scene: Scene, at: int) -> bool:
    """Whether the sentence that stands there asks by itself, whatever the others of its message say."""
    sentences = scene.in_full().sentences if scene.size <= LONG else ()
    own = next((one for one in sentences if one.tokens.starts[0] <= at < one.tokens.ends[-1]), None)
    if own is None or len(sentences) < 2:
        return False
    start, end = _place(scene, own)
    return _of_part(scene.text[start:end]).over > 0


def weigh(scene: Scene) -> Weighed:
    """The heaviest part of a message: the whole of a short one, each sentence with a trigger of a longer one."""
    if scene.size <= LONG:
        return _weighed(scene.in_full(), 0)
    likely = nlargest(_PARTS, scene.sentences, key=_hint)
    if not likely:
        return Weighed(-math.inf)
    places = [_place(scene, sentence) for sentence in likely]
    parts = (replace(_of_part(scene.text[start:end]), start=start, end=end) for start, end in places)
    heaviest = max(parts, key=lambda one: one.over)
    return replace(heaviest, score=heaviest.score - _EASE * math.log2(len(scene.sentences)))


@lru_cache(maxsize=_KEPT)
def _of_part(text: str) -> Weighed:
    """What a part weighs by itself, remembered: of several views many are the same."""
    return _weighed(read(text, following=True), 0)


def _hint(sentence: Sentence) -> float:
    """At a glance: what its words and classes weigh."""
    return held().alone({*sentence.tokens.words}, sentence.by)


def _place(scene: Scene, sentence: Sentence) -> tuple[int, int]:
    """Where a sentence stands, with the mark that ends it."""
    return sentence.tokens.starts[0], min(sentence.tokens.ends[-1] + 2, len(scene.text))


def parts_of(scene: Scene) -> Iterator[tuple[int, int]]:
    """What is weighed by itself: a short message; of a longer one the sentences in which a request may stand."""
    if scene.size <= LONG:
        yield 0, len(scene.text)
        return
    for sentence in scene.sentences:
        yield _place(scene, sentence)


def _weighed(scene: Scene, start: int) -> Weighed:
    """What a message weighs that was read in full, or a part of one that stands at a place of it."""
    size, table = len(scene.text), held()
    features = features_in(scene, table)
    named, needed = table.is_owned(features), OTHERS
    if spoken(scene.words)[0] == "en":
        needed = ENGLISH if named else ENGLISH + UNNAMED
    needed += max(0, size - WORDY) / WORDY
    return Weighed(weights()["bias"] + table.weight(features), needed, start, start + size, named, features)
