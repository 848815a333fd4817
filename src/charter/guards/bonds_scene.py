"""One sentence as the bonds see it: what it names, what it denies, what ties it, and whether it is meant at all."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Final

from .fold import plain
from .kept import Met
from .lexicon import Hit, Lexicon, Tokens, read_tables, tokens_of
from .override_acts import ASK, Mark
from .reading import Reading, Sentence

FOLDER: Final = "stance"
LINK: Final = 6  # words between a thing and what is said of it
_LEFT: Final = 3  # words between a negation and what it denies
_REACH: Final = 12  # words between a thing and what ties a sentence to it
_SHARE: Final = 0.6  # of the words of the language that knows most of a sentence
_MOST: Final = 12  # hits of one kind in a sentence; nobody means more
_UNSPACED: Final = frozenset(("zh", "ja"))
_AFTER: Final = frozenset("de nl tr ja ko hi".split())  # languages that deny behind the verb, too
_OF: Final = frozenset("of de du del della dello di da do dos das van der des von vom".split())
_ABOUT: Final = frozenset("for about on regarding".split())
_THEIRS: Final = frozenset("our his her whose".split())
_ARTICLES: Final = frozenset("the a an".split())
_COMMON: Final = frozenset("norm loose mid solemn status".split())
_SUPPOSE: Final = frozenset("if when whenever unless whether should suppose once".split())
_ANCHORED: Final = (
    "core", "mid", "solemn", "norm", "leash", "wall", "loose", "boss", "free", "bound", "bar", "top", "status", "claim",
    "promote", "crown", "unapproved", "safe",
)  # fmt: skip
_FREQUENT: Final = frozenset("the what all any may each first before can't take that every everything those".split())
_AHEAD: Final = re.compile(r"[ \t]*[>≫≻]")
_PART: Final = re.compile(r"(?:\([^()]*\)|[^\s()])+")
_PIECE: Final = re.compile(r"\([^()]*\)|[^\s()]+")
_THINGS: Final = ("core", "mid", "solemn", "norm", "leash", "wall")
Found = dict[str, list[Hit]]


@cache
def _lexicon(language: str) -> Lexicon:
    return Lexicon({language: read_tables(FOLDER)[language]})


@cache
def _anchors() -> tuple[Mapping[str, set[str]], Mapping[int, Mapping[str, set[str]]]]:
    """Words, and beginnings of words by their length, without which no rule has anything to say: their languages."""
    whole: dict[str, set[str]] = {}
    stems: dict[int, dict[str, set[str]]] = {}
    for language, table in read_tables(FOLDER).items():
        for word in {word for name in _ANCHORED for pattern in table.get(name, ()) for word in _anchor(pattern)}:
            if word.endswith("*"):
                stems.setdefault(len(word) - 1, {}).setdefault(word[:-1], set()).add(language)
            else:
                whole.setdefault(word, set()).add(language)
    return whole, stems


def _anchor(pattern: str) -> Sequence[str]:
    """Of the parts of a pattern, the one whose shortest choice is longest: each of its choices by its longest word."""
    choices = [[_longest(choice) for choice in _choices(part)] for part in _PART.findall(plain(pattern))]
    return max(reversed(choices), key=lambda words: min(1 if word in _FREQUENT else 2 * len(word) for word in words))


def _choices(part: str) -> Sequence[str]:
    first, *more = _PIECE.findall(part)  # "tra(ci|cą)": all that is sure is how the word begins
    return [f"{choice}*" if more else choice for choice in first.strip("()").split("|")]


def _longest(choice: str) -> str:
    words = tokens_of(choice).words
    last = f"{words[-1]}*" if words and choice.endswith("*") else "".join(words[-1:])
    return max([*words[:-1], last], key=len)


def _spoken_in(word: str) -> frozenset[str]:
    """The languages in which a word may be an anchor."""
    whole, stems = _anchors()
    begins = (table.get(word[:size], ()) for size, table in stems.items() if len(word) >= size)
    return frozenset(whole.get(word, ())).union(*begins)


_TONGUES: Final = Met(_spoken_in, 1 << 14)


def found_in(reading: Reading) -> Iterator[Found]:
    """What the tables know, sentence by sentence, in English and the languages it can be written in."""
    tongues = [*map(_TONGUES.__getitem__, reading.words)]
    for sentence in reading.sentences:
        spoken: set[str] = set().union(*filter(None, tongues[sentence.first : sentence.last]))
        yield found_at(reading, sentence, spoken | {"en"}) if spoken else {}


def found_at(reading: Reading, sentence: Sentence, languages: Iterable[str]) -> Found:
    """What the tables of some languages know in one sentence."""
    inside, (words, starts, ends) = slice(sentence.first, sentence.last), reading.tokens
    tokens = Tokens(words[inside], starts[inside], ends[inside])
    return _grouped([hit for language in sorted(languages) for hit in _lexicon(language).find(tokens, inside.start)])


def _grouped(hits: Sequence[Hit]) -> Found:
    """By category; a language that knows few words of the sentence only shares them by chance."""
    found: Found = {}
    for hit in hits if len({hit[5] for hit in hits}) < 2 else _spoken(hits):
        if len(kind := found.setdefault(hit[0], [])) < _MOST:
            kind.append(hit)
    return found


def _spoken(hits: Sequence[Hit]) -> Iterator[Hit]:
    """Those of the languages that know enough words of a sentence."""
    covered: dict[str, set[int]] = {}
    for hit in hits:
        covered.setdefault(hit.language, set()).update(range(hit.first, min(hit.last, hit.first + LINK)))
    least = max(map(len, covered.values())) * _SHARE
    for hit in hits:
        if len(covered[hit.language]) >= least:
            yield hit


def gap(one: Hit, other: Hit) -> int:
    """The words between two hits."""
    return other.first - one.last if one.first <= other.first else one.first - other.last


def overlaps(hit: Hit, others: Sequence[Hit]) -> bool:
    """Whether a hit shares a word with one of the others."""
    return any(other.first < hit.last and hit.first < other.last for other in others)


def is_within(hit: Hit, others: Sequence[Hit]) -> bool:
    """Whether a hit is but a part of one of the others."""
    return any(other.first <= hit.first and hit.last <= other.last for other in others)


def mark_of(code: str, *hits: Hit) -> Mark:
    """A mark that a person looks at, over all these hits."""
    start, end = min(hit.start for hit in hits), max(hit.end for hit in hits)
    return Mark(code, ASK, start, end, tuple(f"stance {hit.category}" for hit in hits))


@dataclass(frozen=True, slots=True)
class Scene:
    """One sentence, and what the tables know in it."""

    reading: Reading
    sentence: Sentence
    found: Found
    _denials: dict[Hit, list[Hit]] = field(default_factory=dict, repr=False)

    def all(self, *names: str) -> list[Hit]:
        """Hits of these categories."""
        return [hit for name in names for hit in self.found.get(name, ())]

    def of(self, name: str, language: str) -> list[Hit]:
        """Hits of a category in one language."""
        return [hit for hit in self.found.get(name, ()) if hit.language == language]

    def wide(self, hit: Hit, words: int) -> int:
        """So many words, twice where each character is one."""
        return words * 2 if hit.language in _UNSPACED else words

    def word(self, at: int) -> str:
        """The word at a place, nothing where its clause has ended."""
        return "" if self.reading.ends_clause(at) else self.reading.words[at]

    def is_joined(self, one: Hit, other: Hit) -> bool:
        """Whether neither a clause nor a comma ends between two hits."""
        low, high = min(one.first, other.first), max(one.first, other.first)
        return self.reading.same_clause(low, high) and not self.reading.commas(low, high)

    def denials(self, hit: Hit) -> list[Hit]:
        """The negations that reach a hit."""
        if hit not in self._denials:
            self._denials[hit] = list(self._reaching(hit))
        return self._denials[hit]

    def _reaching(self, hit: Hit) -> Iterator[Hit]:
        for neg in self.all("neg", "invert"):
            before = neg.first < hit.first or (hit.language in _AFTER and neg.category == "neg")
            if (
                before
                and not overlaps(neg, [hit])
                and gap(neg, hit) <= self.wide(hit, _LEFT)
                and self.is_joined(neg, hit)
            ):
                yield neg

    def is_denied(self, hit: Hit) -> bool:
        """Whether an odd number of negations reaches it."""
        return len(self.denials(hit)) % 2 == 1

    def is_careful(self, *, but: Sequence[Hit] = ()) -> bool:
        """Whether the sentence asks, refuses, reports or tells of an attack, and does not deny doing so."""
        return any(not self.is_denied(hit) and not overlaps(hit, but) for hit in self.all("care"))

    def is_told(self, hit: Hit) -> bool:
        """Whether it is only quoted, reported, or listed under what is refused."""
        reading = self.reading
        return reading.is_quoted(hit) or reading.is_reported(hit) or reading.is_under_negation(hit)

    def is_topic(self, hit: Hit) -> bool:
        """Whether it is someone else's: a country's constitution, the rules of a game, a school's charter."""
        following = self.word(hit.last) if hit.last < self.sentence.last else ""
        if following in _OF and (hit.language == "en") == (following == "of"):
            own = self.all("core", "agent", "where", "origin")
            return not any(hit.last < other.first <= hit.last + 2 for other in own)
        if following in _ABOUT and (hit.category in _COMMON or self.reading.words[hit.first] == "oversight"):
            return True
        if self.reading.words[hit.first] in _THEIRS or self.reading.words[max(hit.first - 1, 0)] in _THEIRS:
            return True
        if self.is_measure(hit):
            return True
        return following.isdigit() or "topic" in self.found or ">" in self.reading.text[hit.start : hit.end]

    def is_measure(self, hit: Hit) -> bool:
        """ "Rules above the line", "anything above 20": a place on a page or a scale, not in the prompt."""
        following = self.word(hit.last) if hit.last < self.sentence.last else ""
        return self.reading.words[hit.last - 1] == "above" and (following in _ARTICLES or following.isdigit())

    def is_meant(self, hit: Hit) -> bool:
        """Whether it is what stands above the reader, and truly said."""
        return not self.is_topic(hit) and not self.is_told(hit)

    def is_supposed(self, hit: Hit) -> bool:
        """ "If the charter is void, …"; not "if they clash the charter is void"."""
        if hit.language != "en":
            return self.reading.is_supposed(hit)
        return not _SUPPOSE.isdisjoint(self.reading.words[max(hit.first - 2, self.sentence.first) : hit.first])

    def is_tied(self, thing: Hit) -> bool:
        """Whether something in the sentence keeps to the thing, asks, refuses, or denies what would take its force."""
        apart = [hit for hit in self.all(*_THINGS) if hit.first <= thing.first < hit.last] + self.all("where", "origin")
        ties = (tie for tie in self.all("near", "hold", "says", "care", "fit") if not is_within(tie, apart))
        if any(gap(tie, thing) <= self.wide(thing, _REACH) and self._ties(tie, thing) for tie in ties):
            return True
        if any(self.is_denied(weak) for weak in self.all("weak")):
            return True
        if _AHEAD.match(self.reading.text, thing.end):  # "the constitution > my goals"
            return True
        return bool(self.all("clash") and self.all("dropped", "neg"))

    def _ties(self, tie: Hit, thing: Hit) -> bool:
        if tie.category == "fit":
            return gap(tie, thing) <= self.wide(thing, _LEFT) or tie.first > thing.first
        if (
            tie.category == "says" and not 0 <= tie.first - thing.last <= 1
        ):  # "the charter says", not "says the charter"
            return False
        return not self.is_denied(tie)
