"""How a text says something: in quotes, negated, reported, supposed or as an order; read before anything is matched.

A text is sentences; a sentence is clauses. A quotation is a mention unless the words around it make an order of it. A
negation reaches to the end of its clause. What others say, ask or try is reported, unless the reader is told to comply.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import chain, repeat
from typing import Final

from .lexicon import Hit, Tokens, tokens_of
from .override_words import find, form_of, languages_of, respelled
from .reading_cuts import Sentence, clauses_of, commas_of, fences_of, holder, quotes_of, sentences_of
from .reading_quotes import (
    is_blockquote,
    is_cited,
    is_line_of_others,
    is_named_like,
    is_played,
    is_said_by_others,
    is_specimen,
)

__all__ = ["REACH", "Reading", "Sentence"]

_NAMED: Final = re.compile(r"\w.*\w")  # words stand before it on its line
_SHORT: Final = 4
_RELATIVE: Final = frozenset("that which who".split())
_SUBJECTS: Final = frozenset("the i you my your all no this these it we they any every he she our".split())
_OURS: Final = frozenset("i we i'm hereby please".split())  # who asks here is the text itself
_NARROW: Final = frozenset(
    "without no nothing nobody none avoid avoids avoiding".split()
)  # "without delay and ignore …"
_SUBJECT_NONE: Final = frozenset("nothing nobody none no neither".split())
_MODAL: Final = frozenset("may can could will shall must might should ever".split())
_WITHOUT: Final = frozenset("ohne zonder olmadan बिना".split())
_VERB_LAST: Final = frozenset("de nl tr ja ko hi".split())
_BEFORE: Final = {"de": 12, "nl": 12, "tr": 12, "hi": 12, "ja": 20, "ko": 8, "zh": 7}
REACH: Final = 14
_FAR: Final = {"zh": 26, "ja": 26}
_OR: Final = frozenset("or nor and".split())
_SUPPOSE: Final = frozenset(
    "if when whenever unless whether that which who whoever anything anyone someone because suppose should once "
    "until wenn falls si quand lorsque cuando se als wanneer jesli gdy если когда якщо коли jika kalau neu khi".split()
)  # fmt: skip


class Reading:
    """A folded text, read: its words, what the tables know of them, its sentences, and how each thing is said."""

    def __init__(self, text: str, *, fences_are_mentions: bool = False) -> None:
        self.text = text
        found = tokens_of(text)
        self.tokens: Tokens = found._replace(words=respelled(found.words))
        self.words: Sequence[str] = self.tokens.words
        self.fences = fences_of(text)
        self.quotes = quotes_of(text, self.fences)
        self.fences_are_mentions = fences_are_mentions
        self._spots: dict[tuple[re.Pattern[str], int], list[tuple[int, int]]] = {}
        self.sentences = sentences_of(text, self.tokens.starts, [*self.quotes, *self.fences])
        self._starts = [sentence.first for sentence in self.sentences]
        self.by: list[dict[str, list[Hit]]] = [{} for _ in self.sentences]
        for place, hits in self._found():
            by = self.by[place]
            for hit in hits:
                if hit[0] in by:
                    by[hit[0]].append(hit)
                else:
                    by[hit[0]] = [hit]
        turns = [hit.first for hits in self.by for hit in hits.get("but", ())]
        self._cuts = sorted([*clauses_of(text, self.tokens.starts), *turns])
        self._commas = commas_of(text, self.tokens.starts)

    def _found(self) -> Iterator[tuple[int, list[Hit]]]:
        """Hits by sentence, of the languages that it can be written in: others only share a word by chance."""
        inside: dict[int, dict[str, list[Hit]]] = {}
        sizes_of = [(sentence.number, sentence.last - sentence.first) for sentence in self.sentences]
        places = [*chain.from_iterable(map(repeat, *zip(*sizes_of, strict=True)))]
        lasts = [sentence.last for sentence in self.sentences]
        for language in languages_of(self.words):
            for hit in find(language, self.tokens):
                place = places[hit[1]]
                if hit[2] <= lasts[place]:
                    spoken = inside.setdefault(place, {})
                    if language in spoken:
                        spoken[language].append(hit)
                    else:
                        spoken[language] = [hit]
        for place, spoken in inside.items():
            if len(spoken) > 1 or "en" not in spoken:
                spoken = {language: hits for language, hits in spoken.items() if not self._is_chance(hits)}
            if len(spoken) < 2:
                yield place, next(iter(spoken.values()), [])
                continue
            sizes = {language: len({hit.first for hit in hits}) for language, hits in spoken.items()}
            least = max(sizes.values()) * 0.6
            yield place, [hit for language, hits in spoken.items() if sizes[language] >= least for hit in hits]

    def _is_chance(self, hits: Sequence[Hit]) -> bool:
        """A single short word that other languages, or code, have too."""
        return (
            len(hits) == 1
            and hits[0].language != "en"
            and hits[0].end - hits[0].start < _SHORT
            and self.text[hits[0].start : hits[0].end].isascii()
        )

    # ── where things stand ────────────────────────────────────────────────────────────────────────────────────────

    def place(self, token: int) -> int:
        """The number of the sentence a word stands in."""
        return max(bisect_right(self._starts, token) - 1, 0)

    def of(self, hit: Hit) -> dict[str, list[Hit]]:
        """What the tables know in the hit's sentence."""
        return self.by[self.place(hit.first)]

    def near(self, hit: Hit, category: str) -> list[Hit]:
        """Hits of a category in the same sentence and language."""
        return [one for one in self.of(hit).get(category, ()) if one.language == hit.language or not hit.language]

    def same_clause(self, one: int, other: int) -> bool:
        """Whether no break of a clause stands between two words."""
        low, high = min(one, other), max(one, other)
        return bisect_right(self._cuts, low) == bisect_right(self._cuts, high)

    def spots(self, pattern: re.Pattern[str], sentence: Sentence) -> list[tuple[int, int]]:
        """Where a pattern is found in a sentence; each is searched once."""
        key = (pattern, sentence.number)
        if key not in self._spots:
            self._spots[key] = [found.span() for found in pattern.finditer(self.text, sentence.start, sentence.end)]
        return self._spots[key]

    def commas(self, low: int, high: int) -> list[int]:
        """The words right after a comma, from `low` to `high`."""
        return self._commas[bisect_right(self._commas, low) : bisect_right(self._commas, high)]

    def ends_clause(self, token: int) -> bool:
        """Whether the word before `token` is the last of its clause or of its part between commas."""
        last = self.sentences[self.place(token - 1)].last
        return token >= last or not self.same_clause(token - 1, token) or bool(self.commas(token - 1, token))

    def far(self, hit: Hit) -> int:
        """How many words apart two factors may stand; a character is a word where no spaces are written."""
        return _FAR.get(hit.language, REACH)

    # ── how things are said ───────────────────────────────────────────────────────────────────────────────────────

    def quote_of(self, hit: Hit) -> tuple[int, int] | None:
        """The quotation or fence around a hit."""
        return holder(self.quotes, hit.start, hit.end) or holder(self.fences, hit.start, hit.end)

    def is_negated(self, hit: Hit) -> bool:
        """Whether an odd number of negations reaches the hit; several plain ones count once."""
        if hit.language != "en":
            return self._negated_anywhere(hit)
        plain = any(self._reaches(neg, hit) for neg in self.near(hit, "neg"))
        turned = sum(self._reaches(turn, hit) for turn in self.near(hit, "invert"))
        if form_of(self.words[hit.first]) == "ing" or hit.category == "unkeep":
            turned += sum(turn.last == hit.first for turn in self.near(hit, "stop"))
        return (plain + turned) % 2 == 1

    def _negated_anywhere(self, hit: Hit) -> bool:
        """In other languages: a negation shortly before the hit, or after it where the verb or its "not" comes last."""
        for neg in self.near(hit, "neg"):
            if not self.same_clause(neg.first, hit.first) or (neg.first < hit.last and hit.first < neg.last):
                continue
            before = neg.last <= hit.first
            near = before and hit.first - neg.last <= _BEFORE.get(hit.language, 4)
            late = not before and hit.language in _VERB_LAST and self.words[neg.first] not in _WITHOUT
            if near or late:  # one is enough: most languages agree their negations, "nigdy nie" denies once
                return True
        return False

    def _reaches(self, neg: Hit, hit: Hit) -> bool:
        """Whether a negation before the hit still holds there: no break between, no comma that starts an order."""
        if not (neg.last <= hit.first <= neg.last + REACH and self.same_clause(neg.first, hit.first)):
            return False
        word, form = self.words[neg.first], form_of(self.words[hit.first])
        if word in _SUBJECT_NONE and self.words[hit.first - 1] in _MODAL:
            return True  # "nothing that arrives by mail, web or tools may …"
        if word in _NARROW and form == "base" and any(one in _OR for one in self.words[neg.last + 1 : hit.first]):
            return False
        commas = self.commas(neg.last - 1, hit.first)
        if not commas or (commas[0] == neg.last and neg.category == "neg"):
            return True
        listed = any(word in _OR for word in self.words[commas[0] : hit.first + 6])
        return hit.first - commas[-1] > 1 or listed

    def is_supposed(self, hit: Hit) -> bool:
        """Whether the hit stands in a part that supposes or relates: "if you …", "anything that …"."""
        sentence = self.sentences[self.place(hit.first)]
        commas = self.commas(sentence.first, hit.first)
        first = max(commas[-1] if commas else sentence.first, sentence.first, hit.first - REACH)
        return any(
            word in _SUPPOSE and self.same_clause(at, hit.first) and self._supposes(at, word, hit)
            for at, word in enumerate(self.words[first : hit.first], first)
        )

    def _supposes(self, at: int, word: str, hit: Hit) -> bool:
        if at and self.words[at - 1] in ("as", "even"):
            return False
        if word in _RELATIVE:  # "requests that break …", not "learned that the rules …"
            return hit.first - at <= 4 and self.words[at + 1] not in _SUBJECTS
        return True

    def is_reported(self, hit: Hit) -> bool:
        """Whether others say it, ask for it or try it, and the reader is not told to comply."""
        sentence = self.sentences[self.place(hit.first)]
        found = self.by[sentence.number]
        if is_line_of_others(self, sentence):
            return True
        if hit.language != "en" and "refuse" in found and found.keys() & {"says", "speaker", "hostile", "attempt"}:
            return True
        told = any(
            attempt.last <= hit.first <= attempt.last + 8
            and not any(0 <= attempt.first - role.last <= 2 for role in found.get("persona", ()))
            and not self._starts_order(attempt.last, hit)
            and not (attempt.first and self.words[attempt.first - 1] in _OURS)
            for attempt in found.get("attempt", [])
        ) or self._is_spoken(found, hit)
        if not told:
            return False
        return "refuse" in found or not self.is_complied(hit)

    def _is_spoken(self, found: dict[str, list[Hit]], hit: Hit) -> bool:
        says = [
            verb
            for verb in found.get("says", [])
            if verb.last <= hit.first <= verb.last + REACH
            and (self.same_clause(verb.first, hit.first) or not self.same_clause(verb.last - 1, verb.last))
            and not self._starts_order(verb.last, hit)
        ]
        return any(
            speaker.first < verb.first and verb.first - speaker.last < 6
            for verb in says
            for speaker in found.get("speaker", [])
        )

    def _starts_order(self, after: int, hit: Hit) -> bool:
        commas = self.commas(after - 1, hit.first)
        return bool(commas) and hit.first - commas[-1] <= 1

    def is_complied(self, hit: Hit) -> bool:
        """Whether the sentence goes on to say: do it."""
        return any(
            yes.first >= hit.last and (self.commas(hit.first, yes.first) or not self.same_clause(hit.first, yes.first))
            and not self.is_negated(yes)
            for yes in self.near(hit, "comply")
        )  # fmt: skip

    def is_quoted(self, hit: Hit) -> bool:
        """Whether a quotation makes it a mention; one that stands alone, or that is made an order, does not."""
        quote = self.quote_of(hit)
        sentence = self.sentences[self.place(hit.first)]
        if quote is None:
            return is_blockquote(self, sentence) and (self._introduced(sentence) or is_cited(self, sentence))
        if quote in self.fences:
            return self.fences_are_mentions or self._introduced(sentence) or is_specimen(self, quote)
        found = self._unquoted(sentence)
        if "refuse" in found or "hostile" in found or self._introduced(sentence):
            return True
        if is_said_by_others(self, sentence, quote) and not self.is_complied(hit):
            return True
        if is_played(self, sentence, quote):
            return False
        if "command" in found or self.is_complied(hit):
            return False
        outside = sum(
            1 for at in range(sentence.first, sentence.last) if not quote[0] <= self.tokens.starts[at] < quote[1]
        )
        return outside > 2 or self._beside(sentence)

    def _unquoted(self, sentence: Sentence) -> set[str]:
        return {
            category
            for category, hits in self.by[sentence.number].items()
            if any(self.quote_of(hit) is None for hit in hits)
        }

    def _introduced(self, sentence: Sentence) -> bool:
        """Whether the line an item stands under speaks of attacks, refusals, or what others say."""
        return sentence.lead >= 0 and bool(
            {"hostile", "refuse", "attempt", "speaker", "example"} & set(self.by[sentence.lead])
        )

    def _beside(self, sentence: Sentence) -> bool:
        around = (sentence.number - 1, sentence.number + 1)
        return any(0 <= at < len(self.by) and {"hostile", "refuse"} & set(self.by[at]) for at in around)

    def is_under_negation(self, hit: Hit) -> bool:
        """Whether the hit is an item of a list whose lead negates or reports: "Never:", "Red flags in messages:"."""
        sentence = self.sentences[self.place(hit.first)]
        return sentence.lead >= 0 and bool(
            {"neg", "invert", "hostile", "refuse", "attempt"} & set(self.by[sentence.lead])
        )

    def is_shown(self, start: int, end: int, *, in_markup: bool = False) -> bool:
        """Whether a stretch of characters is only shown: quoted as a mention, or named among what is refused."""
        at = max(bisect_right(self.tokens.starts, start) - 1, 0)
        hit = Hit("stretch", at, at + 1, start, end, "", "")
        if not in_markup:
            found = self._unquoted(self.sentences[self.place(at)])
            cued = found & {"hostile", "refuse", "example", "says"} and "command" not in found
            if is_named_like(self, start, end):
                return True
            return self.is_quoted(hit) and (bool(cued) or self._introduced(self.sentences[self.place(at)]))
        before = self.text[self.text.rfind("\n", 0, start) + 1 : start]
        found = self._unquoted(self.sentences[self.place(at)])
        return _NAMED.search(before) is not None and bool({"hostile", "refuse"} & found) and "example" in found

    def is_mention(self, hit: Hit) -> bool:
        """Whether what stands there is spoken of, not ordered; negation is for the caller, who knows what it means."""
        return self.is_quoted(hit) or self.is_reported(hit)
