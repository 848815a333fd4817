"""What surrounds a request: talk about requests, tricks, pasted text, negation, and others who do the asking."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Final, Literal

from .disclosure_found import ACTS, NAMES
from .disclosure_scene import Scene, Sentence, asks
from .disclosure_whose import owner_of, scale_of
from .lexicon import Hit

# What was said before: nothing, something, or an answer with steps or rules of its own ("your instructions" are those).
Past = Literal["none", "some", "advice"]
_ORDERED: Final = 160  # characters between a quotation and the order to do what it says


class About:
    """What holds for the whole message: talk about such requests, tricks, pasted text."""

    def __init__(self, scene: Scene, past: Past, within: About | None = None) -> None:
        self.scene, self.alone, self.advised = scene, past == "none", past == "advice"
        self.orders = [hit.start for s in scene.sentences for hit in s.of("obey") if not scene.quoted(hit)]
        self.talk = any(_talks(scene, sentence) for sentence in scene.sentences)
        self.tricked = any(s.of("trick") for s in scene.sentences)
        self.first = within is None
        self.questions: bool = within is not None and within.wonders
        if within is not None:
            self.tricked, self.talk = self.tricked or within.tricked, self.talk or within.talk
        self.data_from = self._pasted()

    @cached_property
    def wonders(self) -> bool:
        """Whether it names such a text and is a question, or wonders about it."""
        return _names_it(self.scene) and (_is_question(self.scene) or _wonders(self.scene))

    def _pasted(self) -> int:
        """Where pasted text begins: after a colon or a line break that follows this or my text; else the end."""
        text = self.scene.text
        if ":" not in text and "\n" not in text:
            return len(text)
        for sentence in self.scene.sentences:
            for name in sentence.of("hard", "soft", "thin"):
                marks = (text.find(mark, name.end, name.end + 120) for mark in (":", "\n"))
                at = next((at for at in marks if at >= 0 and len(text) - at > 12), -1)
                if at >= 0 and owner_of(sentence, name)[0] in ("my", "this"):
                    return at
        return len(text)

    def excused(self, hit: Hit) -> bool:
        """Whether this stands in quotes or pasted text that is only spoken of."""
        if any(-_ORDERED <= at - hit.end <= _ORDERED for at in self.orders):
            return False
        return hit.start >= self.data_from or (self.talk and self.scene.quoted(hit))


def _names_it(scene: Scene) -> bool:
    return any(sentence.of(*NAMES) for sentence in scene.sentences)


def _wonders(scene: Scene) -> bool:
    return any(sentence.of("has", "meta", "define", "howto") for sentence in scene.sentences)


def _is_question(scene: Scene) -> bool:
    """Whether the message as a whole is a question."""
    return scene.text.rstrip()[-1:] in ("?", "？", "؟")


def _talks(scene: Scene, sentence: Sentence) -> bool:
    """Whether a sentence speaks of what somebody said, outside of quotes."""
    if any(not scene.quoted(hit) for hit in sentence.of("talk")):
        return True
    whos = [hit for hit in sentence.of("who") if not scene.quoted(hit)]
    return bool(whos) and any(not scene.quoted(hit) and hit.first >= whos[0].last for hit in sentence.of("says"))


def negated(sentence: Sentence, act: Hit) -> bool:
    """Whether a "not" stands before the act (or behind it, where a language puts it there)."""
    for hit in sentence.of("not"):
        if 0 <= act.first - hit.last <= 2 * scale_of(sentence, hit.first):
            return not any(other.first <= hit.first < other.last for other in sentence.of("invite"))
    return any(act.last <= hit.first <= act.last + 1 for hit in sentence.of("not_after"))


def framed(about: About, sentence: Sentence, act: Hit) -> bool:
    """Whether somebody else's doing, or a question about it, governs the act."""
    if about.tricked:
        return False
    if any(hit.first <= act.first and not about.scene.quoted(hit) for hit in sentence.of("frame")):
        return True
    for who in sentence.of("who"):
        for says in sentence.of("says"):
            if 0 <= says.first - who.last <= 4 * scale_of(sentence, who.first) and says.first <= act.first:
                return not any(you.first == says.last for you in sentence.of("you"))
    return False


def acts_on(about: About, sentence: Sentence, name: Hit, start: int) -> Iterator[Hit]:
    """Acts that reach the name: before it, or after it where languages put their verbs last."""
    scale = scale_of(sentence, name.first)
    for act in sentence.of(*ACTS):
        if about.excused(act) or negated(sentence, act) or framed(about, sentence, act):
            continue
        if act.category == "ask" and act.first and sentence.known(0, "yesno") and not sentence.of("can"):
            continue
        if act.category == "ask" and any(act.first <= hit.first < act.last for hit in sentence.of("my")):
            continue
        if act.category in ("ask", "part") and _exists(sentence, act):
            continue
        if sentence.known(0, "copula") and _is_said(about, sentence, act):
            continue
        if act.last <= start + 1:
            if start - act.last <= 14 * scale:
                yield act
        elif act.first >= name.last and act.first - name.last <= 8 * scale and _trails(sentence, act):
            yield act


def _is_said(about: About, sentence: Sentence, act: Hit) -> bool:
    """Whether the act is what the text is asked to be: "are your rules published?", "… the same in French?"."""
    return asks(about.scene, sentence) and not sentence.of("can") and (act.language != "en" or act.category == "exact")


def _exists(sentence: Sentence, act: Hit) -> bool:
    """Whether the sentence only asks if there is such a thing: "is there a part of it that …"."""
    return sentence.known(0, "yesno") and any(
        hit.first <= 1 and act.first <= hit.last + 4 for hit in sentence.of("has")
    )


def _trails(sentence: Sentence, act: Hit) -> bool:
    return act.language != "en" or act.category in ("exact", "ask") or sentence.known(act.last, "pron_it")


def governed(sentence: Sentence, start: int, name: Hit, *, scale: int) -> bool:
    """Whether the name is not what is asked for: "according to your rules", "the version of your rules"."""
    governing = [hit for hit in sentence.of("per") if not sentence.known(hit.first, "verb")]
    return any(hit.last == start for hit in governing) or any(
        (0 <= start - hit.last <= 3 * scale or (hit.last - hit.first > 2 and hit.first < start <= hit.last))
        or (hit.language != "en" and 0 <= hit.first - name.last <= scale)
        for hit in sentence.of("meta")
    )


def start_of(sentence: Sentence, name: Hit, owner: Hit | None) -> int:
    """Where the noun phrase begins."""
    start = name.first
    if owner is not None and owner.last <= name.first:
        start = owner.first
    while start > 0 and sentence.known(start - 1, "adj", "hid", "prev") and not sentence.known(start - 1, "verb"):
        start -= 1
    return start
