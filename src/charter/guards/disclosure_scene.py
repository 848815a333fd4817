"""A message is read sentence by sentence: the words of each category, what stands in quotes, and what was pasted.

Only sentences that hold a trigger (a name of hidden text, a pointer to it, a hint at it) are read in full, so an
ordinary message costs one pass over its words.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import cache, lru_cache
from itertools import islice
from typing import Final

from .disclosure_tongue import spoken
from .lexicon import Hit, Lexicon, Tokens, read_tables, tokens_of

LONGEST, OVERLAP = 64, 20  # words of a window, and how many two windows share
_SOON: Final = 80  # words of a message every sentence of which is weighed
_new: Final = tuple.__new__  # a hit is made very often
_KEPT: Final = 64  # sentences that are remembered
FOLDER: Final = "disclosure"
NAMES: Final = ("hard", "soft")
TRIGGERS: Final = (
    *NAMES, "hard_yours", "soft_yours", "start", "context", "unseen", "guide", "briefed", "banned", "begin", "setup",
    "assigned", "above", "implicit", "verb_it", "yours_it", "first", "confess", "they", "handed", "source",
    "unwritten", "maker", "notmine", "preme", "wording", "silenced", "clone", "desk",
)  # fmt: skip
_TELLING: Final = frozenset(TRIGGERS)
# What a sentence of another language may borrow from English.
MIXED: Final = ("hard", "soft", "stuff", "other", "code", "start", "context", "exact")
# A hit of the first inside one of the others is not one.
WEAKER: Final = (
    ("hard", ("stuff",)), ("soft", ("hard", "stuff")), ("soft_yours", ("stuff",)), ("thin", ("hard", "stuff")),
    ("ask", ("meta", "define")), ("above", ("not_above",)), ("other", ("trick", "exact", "part")),
    ("not", ("they", "who")), ("start", ("whoami",)),
)  # fmt: skip
FOLLOWING: Final = frozenset(("again", "pron", "tongue", "fill", "drop"))
# What is rare stands first, and what is before it is asserted behind it: so most of a text is passed over untried.
_END: Final = re.compile(
    r"[.!?…。！？؟।۔;\n \t](?:(?<=[.!?…])[.!?…]*(?=[\s\"'”’»)\]]|\Z)|(?<=[。！？؟।۔])[。！？؟।۔]*"
    r"|(?<=;)(?=\s)|(?<=\n)[ \t]*\n|(?<=\n)(?=[ \t]*(?:[-*+•>#]|\d{1,3}[.)])[ \t])"
    r"|(?<=[:.!?,;]\n)|(?<=[:.!?,;][ \t])[ \t]*\n)"
)
_QUOTES: Final = re.compile(
    r"```.{1,4000}?```|`[^`\n]{1,400}`|\"[^\"\n]{1,600}\"|“[^”]{1,600}”|„[^“”]{1,600}[“”]|«[^»]{1,600}»|「[^」]{1,600}」|『[^』]{1,600}』"
    r"|‘[^’\n]{1,400}’(?!\w)|'(?<!\w')[^'\n]{3,400}'(?!\w)",
    re.DOTALL,
)


_Cut = tuple[int, int, int, int, Sequence[tuple[int, int]]]  # a sentence: characters, words, windows of them


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence: its words, and what was found among them by category."""

    tokens: Tokens = field(repr=False)
    by: Mapping[str, Sequence[Hit]] = field(repr=False)
    kinds: Sequence[Set[str]] = field(repr=False)  # of each word, the categories it belongs to
    telling: bool  # whether it holds a trigger

    def of(self, *categories: str) -> Sequence[Hit]:
        if len(categories) == 1:
            return self.by.get(categories[0], ())
        if self.by.keys().isdisjoint(categories):
            return ()
        return [hit for category in categories for hit in self.by.get(category, ())]

    def known(self, at: int, *categories: str) -> bool:
        """Whether the word at this place belongs to something of these categories."""
        return 0 <= at < len(self.kinds) and not self.kinds[at].isdisjoint(categories)


@dataclass(frozen=True, slots=True)
class Scene:
    """A view of a message, read."""

    text: str = field(repr=False)
    size: int  # words
    sentences: Sequence[Sentence] = field(repr=False)
    quotes: Sequence[tuple[int, int]]
    words: Sequence[str] = field(default=(), repr=False)
    every: Sequence[Sentence] | None = field(default=None, repr=False)  # all sentences in full, if they were read so

    def in_full(self) -> Scene:
        """The same text with all its sentences, and the words of follow-ups in them."""
        return (
            read(self.text, following=True)
            if self.every is None
            else Scene(self.text, self.size, self.every, self.quotes, self.words, self.every)
        )

    def quoted(self, hit: Hit) -> bool:
        place = bisect_right(self.quotes, (hit.start, 1 << 62)) - 1
        return place >= 0 and hit.end <= self.quotes[place][1]


@cache
def _lexicon(language: str, kind: str) -> Lexicon:
    """One language's tables made ready; of a language that is only mixed in, its names."""
    table = read_tables(FOLDER)[language]
    keep = {"triggers": TRIGGERS, "names": MIXED}.get(kind)
    return Lexicon({language: {c: p for c, p in table.items() if keep is None or c in keep}})


@cache
def _triggers() -> Lexicon:
    """The triggers of each language, as its category: where none begins, no sentence of any language holds one."""
    tables = read_tables(FOLDER).items()
    return Lexicon({name: {name: [p for c in TRIGGERS for p in table.get(c, ())]} for name, table in tables})


def is_wide(word: str) -> bool:
    """Whether this word is one character of a script that writes no spaces."""
    return len(word) == 1 and word > "\u0e00"


def read(text: str, *, following: bool = False, known: set[str] | None = None) -> Scene:
    """The sentences of a folded text that may matter; `following`: all of them, with the words of follow-ups.

    `known` holds sentences that another view of the message had: they are not read again.
    """
    sentences: list[Sentence] = []
    every: list[Sentence] = []
    size, again = 0, False
    seen = set[tuple[str, ...]]()
    whole, quotes, cuts = _frame(text)
    soon = not known and len(whole.words) <= _SOON
    triggers = None
    for start, end, first, last, windows in cuts:
        if known is not None:
            if (said := text[start:end]) in known:
                size, again = size + said.count(" "), True
                continue
            known.add(said)
        size += last - first
        for begin, stop in windows:
            if begin > first:  # a sentence without end may say the same again and again
                if (words := tuple(whole.words[begin:stop])) in seen:
                    continue
                seen.add(words)
            if following or soon:
                every.append(_in_full(_part(whole, begin, stop)))
                sentence = every[-1] if following else _without_following(every[-1])
            else:
                triggers = _triggers().shortest(whole.words) if triggers is None else triggers
                sentence = _telling(whole, begin, stop, _languages(triggers, begin, stop))
            if sentence is not None:
                sentences.append(sentence)
    full = every if (following or soon) and not again else None
    return Scene(text, size, sentences, quotes, whole.words, full)


@lru_cache(maxsize=8)
def _frame(text: str) -> tuple[Tokens, Sequence[tuple[int, int]], Sequence[_Cut]]:
    """The words of a text, its quotations, and its sentences, kept for a while."""
    whole, last = tokens_of(text), 0  # no word goes over the end of a sentence
    cuts: list[_Cut] = []
    for start, end in _cuts(text):
        first, last = last, bisect_left(whole.starts, end, last)
        windows = ((first, last),) if 0 < last - first <= LONGEST else tuple(_windows(first, last))
        cuts.append((start, end, first, last, windows))
    return whole, [match.span() for match in _QUOTES.finditer(text)], cuts


def _languages(triggers: Sequence[tuple[int, int, str]], first: int, last: int) -> Set[str]:
    """The languages of the triggers that stand within."""
    at = bisect_left(triggers, (first,))
    within = islice(triggers, at, bisect_left(triggers, (last,), at))
    return {language for _, end, language in within if end <= last}


def _cuts(text: str) -> Iterator[tuple[int, int]]:
    start = 0
    for match in _END.finditer(text):
        if match.end() > start:
            yield start, match.end()
            start = match.end()
    if start < len(text):
        yield start, len(text)


def _part(whole: Tokens, first: int, last: int) -> Tokens:
    return Tokens(whole.words[first:last], whole.starts[first:last], whole.ends[first:last])


def _windows(first: int, last: int) -> Iterator[tuple[int, int]]:
    """A sentence, or windows of it that overlap: what is looked for near itself is near, and the work stays linear."""
    if last > first:
        yield first, min(first + LONGEST, last)
    for start in range(first + LONGEST - OVERLAP, last - OVERLAP, LONGEST - OVERLAP):
        yield start, min(start + LONGEST, last)


def _telling(whole: Tokens, first: int, last: int, languages: Set[str]) -> Sentence | None:
    """A sentence with what was found in it; nothing when it holds no trigger in English or a language that it is in."""
    if not languages or ("en" not in languages and languages.isdisjoint(spoken(whole.words[first:last]))):
        return None
    return _without_following(_in_full(_part(whole, first, last)))


@lru_cache(maxsize=_KEPT)
def _read(words: tuple[str, ...]) -> list[Sentence]:
    """Room for the sentence of these words, once it was read."""
    return []


def _in_full(part: Tokens) -> Sentence:
    """A sentence with all that is found in it, remembered: what is read for its rules is weighed too."""
    kept, (_, starts, ends) = _read(tuple(part.words)), part
    if not kept:
        kept.append(_found(part))
    known = kept[0]
    if known.tokens == part:
        return known
    by = {
        category: [
            _new(Hit, (category, first, last, starts[first], ends[last - 1], language, entry))
            for _, first, last, _, _, language, entry in hits
        ]
        for category, hits in known.by.items()
    }
    return Sentence(part, by, known.kinds, known.telling)


def _without_following(sentence: Sentence) -> Sentence | None:
    """The sentence without words of follow-ups; nothing when it holds no trigger."""
    if not sentence.telling:
        return None
    if sentence.by.keys().isdisjoint(FOLLOWING):
        return sentence
    kept = {category: hits for category, hits in sentence.by.items() if category not in FOLLOWING}
    kinds = [kinds - FOLLOWING for kinds in sentence.kinds]
    return Sentence(sentence.tokens, kept, kinds, telling=True)


def _found(part: Tokens) -> Sentence:
    """What the tables know of a sentence."""
    languages = spoken(part.words)
    hits = [hit for language in languages for hit in _lexicon(language, "all").find(part)]
    if "en" not in languages:
        hits += _lexicon("en", "names").find(part)
    found: dict[str, list[Hit]] = {}
    for hit in hits:
        category = hit[0]
        if category in found:
            found[category].append(hit)
        else:
            found[category] = [hit]
    telling = not _TELLING.isdisjoint(found) or ("en" not in languages and _lexicon("en", "triggers").meets(part.words))
    for weaker, stronger in WEAKER:
        if weaker in found:
            others = [other for category in stronger for other in found.get(category, ())]
            found[weaker] = [hit for hit in found[weaker] if not _inside(hit, others)]
    formats = {hit.last for hit in found.get("exact", ())}
    if formats and "other" in found:  # "as a Python string" says how, not whose
        found["other"] = [hit for hit in found["other"] if hit.first not in formats]
    kinds: list[set[str]] = [set() for _ in part.words]
    for category, some in found.items():
        for _, first, last, *_ in some:
            kinds[first].add(category)
            for at in range(first + 1, last):
                kinds[at].add(category)
    return Sentence(part, found, kinds, telling)


def asks(scene: Scene, sentence: Sentence) -> bool:
    """Whether a sentence ends with a question mark."""
    end = sentence.tokens.ends[-1]
    return any(mark in scene.text[end : end + 3] for mark in "?？؟")


def _inside(hit: Hit, others: Sequence[Hit]) -> bool:
    return any(other.first <= hit.first and hit.last <= other.last for other in others)
