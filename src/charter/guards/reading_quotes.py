"""Who says what stands there: a quotation, a block, a fence or a line of a transcript is judged by what is around."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from typing import TYPE_CHECKING, Final

from .override_words import form_of
from .reading_cuts import Sentence

if TYPE_CHECKING:
    from .reading import Reading

_SOME: Final = frozenset("some one others many they several few which".split())
_LABEL: Final = re.compile(
    r"[ \t>*_-]*(?:user|customer|client|caller|visitor|guest|stranger|sender|them|they|he|she|buyer|seller|attacker|"
    r"student|someone|q|anon|unknown|nutzer|kunde|utilisateur|cliente|usuario)\b[*_ \t\d]*:"
)
_REPLY: Final = re.compile(
    r"[ \t>*_-]*(?:me|i|agent|reply|answer|response|mine|bot|a|us|ich|moi|yo|eu|io)\b[*_ \t\d]*:"
)
_LIKE: Final = re.compile(r"\b(?:like|such as|containing|called|named|e\.g\.|wie|comme|como)[ \t]*$")
_BLOCK: Final = 12  # sentences of one block of quotations
_TAIL: Final = 6  # words after a thing that is only named


def is_blockquote(reading: Reading, sentence: Sentence) -> bool:
    """Whether a sentence stands in a line that is marked as quoted."""
    return reading.text[sentence.start : sentence.end].lstrip().startswith(">")


def is_line_of_others(reading: Reading, sentence: Sentence) -> bool:
    """ "User: …" in a transcript that goes on with an answer of one's own, which refuses."""
    if not _LABEL.match(reading.text, sentence.start + _blanks(reading.text, sentence.start)):
        return False
    for at in range(sentence.number + 1, min(sentence.number + 4, len(reading.sentences))):
        start = reading.sentences[at].start
        if _REPLY.match(reading.text, start + _blanks(reading.text, start)):
            return bool({"neg", "refuse"} & set(reading.by[at]))
    return False


def is_said_by_others(reading: Reading, sentence: Sentence, quote: tuple[int, int]) -> bool:
    """ "Somebody wrote '…'", "some contain '…'": a verb of saying stands right before the quotation."""
    at = bisect_left(reading.tokens.starts, quote[0])
    found = reading.by[sentence.number]
    says = [verb for verb in found.get("says", ()) if 0 <= at - verb.last <= 1 and verb.first > sentence.first]
    return any(
        reading.words[verb.first - 1] in _SOME
        or any(0 <= verb.first - who.last <= 3 for who in found.get("speaker", ()))
        for verb in says
    )


def is_played(reading: Reading, sentence: Sentence, quote: tuple[int, int]) -> bool:
    """ "Play 'the one without rules'": a role is given in quotes."""
    at = bisect_left(reading.tokens.starts, quote[0])
    roles = [hit for hit in reading.by[sentence.number].get("persona", ()) if 0 <= at - hit.last <= 1]
    return any(not reading.is_negated(hit) and form_of(reading.words[hit.first]) in ("base", "ing") for hit in roles)


def is_specimen(reading: Reading, fence: tuple[int, int]) -> bool:
    """Whether what stands right before or after a fence, or on its first line, speaks of attacks or refusals."""
    first = reading.place(bisect_left(reading.tokens.starts, fence[0]))
    after = reading.place(bisect_left(reading.tokens.starts, fence[1]))
    around = {first - 1, first, after}
    lines = reading.text[fence[0] : fence[1]].split("\n", 2)
    labelled = len(lines) > 1 and lines[1].lstrip().startswith(("#", "//", "--", "%", ";"))
    return any(
        0 <= at < len(reading.by) and (at != first or labelled) and {"hostile", "refuse"} & set(reading.by[at])
        for at in around
    )


def is_cited(reading: Reading, sentence: Sentence) -> bool:
    """Whether what stands right before or after a block of quotations speaks of attacks or refusals."""
    cues = {"hostile", "refuse", "example"} if reading.fences_are_mentions else {"hostile", "refuse"}
    for step in (-1, 1):
        at = sentence.number + step
        while (
            0 <= at < len(reading.by)
            and abs(at - sentence.number) < _BLOCK
            and is_blockquote(reading, reading.sentences[at])
        ):
            at += step
        if 0 <= at < len(reading.by) and cues & set(reading.by[at]):
            return True
    return False


def is_named_like(reading: Reading, start: int, end: int) -> bool:
    """ "Customers paste things like <…> into the form": named after "like", and the sentence goes on to its end."""
    sentence = reading.sentences[reading.place(max(bisect_right(reading.tokens.starts, start) - 1, 0))]
    before = reading.text[max(reading.text.rfind("\n", 0, start) + 1, sentence.start) : start]
    said = {"speaker", "says"} <= set(reading.by[sentence.number])
    return said and _LIKE.search(before) is not None and len(reading.text[end : sentence.end].split()) <= _TAIL


def _blanks(text: str, start: int) -> int:
    end = start
    while end < len(text) and text[end].isspace():
        end += 1
    return end - start
