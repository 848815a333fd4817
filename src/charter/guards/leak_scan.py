"""One look at a reply: every view, every way, weighed with what the person said and what was replied before."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import islice
from typing import Any, Final

from .finding import ALLOWED, Finding, Sign, Span
from .leak_chains import chain_traces
from .leak_facts import told
from .leak_index import Index, index_of
from .leak_order import bag_traces, fragments, fragments_in, split_traces
from .leak_past import Past, past_of
from .leak_read import Reading, fold, fold_plain, read
from .leak_runs import LETTERS, Trace, acrostic_traces, bare_traces, initial_traces, letter_traces, runs, turned_traces
from .leak_secret import SHORT, TINY, Secret, secret_of
from .leak_weights import sums_of
from .views import View, views_of

LEAK: Final = "LEAK"
CANARY: Final = "LEAK_CANARY"
# The weight of hidden text that may not leave …
RUN: Final = 18.0  # … when its letters stand in a row
DISGUISED: Final = 20.0  # … in a writing nobody uses by chance
CHAIN: Final = 44.0  # … when other words stand between
BAG: Final = 34.0  # … when its order is gone
PIECES: Final = 50.0  # … when it comes in pieces
REPLIES: Final = 23.0  # … of several replies that say little else
RUN_WORDS: Final = 8  # a run is as long as a sentence: so many words, or so many letters
RUN_LETTERS: Final = 40
CHAIN_WORDS: Final = 8
PIECES_WORDS: Final = 7
# In other words: signs of talk about instructions, places of the hidden text the facts come from, their weight.
TOLD: Final = ((0, 6, 18.0), (0, 5, 30.0), (0, 8, 14.0), (1, 5, 13.0), (2, 4, 14.0))

# Views in which only letters are looked for: their words are those of another view, or of no language.
_MASKS: Final = ("leet", "reversed", "backwards", "rot13", "caesar", "atbash")
_LONG: Final = re.compile(r"\S{200,}+")
_FEW, _PART = 6, 1_600
_NOTHING: Final = Past((), frozenset(), frozenset())  # was said before


@dataclass(frozen=True, slots=True)
class Scales:
    """What hidden words weigh for this session: nothing when the person said them."""

    index: Index
    bits: Sequence[float] = field(repr=False)
    sums: Sequence[float] = field(repr=False)
    floor: float  # what is most of a very short hidden text

    def weight(self, first: int, last: int) -> float:
        return self.sums[last] - self.sums[first]

    def least(self, weight: float) -> float:
        """A threshold, lower when the hidden text is hardly more than that."""
        return min(weight, self.floor)

    def is_run(self, first: int, last: int) -> bool:
        """Whether hidden words, all in a row, are a leak: about a sentence, and not of words that say nothing."""
        offsets = self.index.reading.offsets
        letters, words = offsets[last] - offsets[first], sum(self.index.counts[first:last])
        long = letters >= min(RUN_LETTERS, 0.6 * offsets[-1]) or (words >= RUN_WORDS and letters >= LETTERS)
        return long and self.weight(first, last) >= self.least(RUN)

    def is_leak(self, trace: Trace) -> bool:
        """Whether letters in a row, in the way they were found, are a leak."""
        if trace.way == "letters":
            return self.is_run(trace.first, trace.last)
        return self.weight(trace.first, trace.last) >= self.least(DISGUISED)


class _Look:
    """A view with its folded text and its reading."""

    def __init__(self, view: View) -> None:
        self.view = view
        self.folded = fold_plain(view.text)
        self.reading = read(self.folded)
        self.masked = view.name.rpartition(">")[2].startswith(_MASKS)
        self.bare = self.reading.letters
        self.gaps = len(self.folded) - len(self.bare)  # what stands between the letters


@dataclass(frozen=True, slots=True)
class Scan:
    """Everything a reply is compared with."""

    scales: Scales
    past: Past
    secrets: Sequence[Secret] = field(repr=False)

    @property
    def before(self) -> str:
        """The letters of the reply before this one."""
        return read(fold(self.past.replies[-1])).letters if self.past.replies else ""

    def reply(self, text: str) -> Finding:
        """The verdict on a whole reply."""
        seen: dict[str, int] = {}
        views = views_of(text)
        looks = [_Look(view) for view in views.all]
        for look in looks:
            # Joining or unmasking may leave all letters as they were: then only the words are new, if they are.
            known = seen.get(look.bare)
            if known is not None and (look.masked or look.gaps > 0.5 * known):
                continue
            found = self._look(text, look, known=known is not None)
            if found.decision != "allow":
                return found
            seen[look.bare] = look.gaps
        for trace in self._pieces(looks[0].reading):
            return self._leak(text, looks[0].view, trace)
        found = self._together(text, looks)
        return self._beginnings(text) if views.capped and found.decision == "allow" else found

    def runs(self, text: str) -> Finding:
        """The verdict on a part of a reply: only what stands in a row."""
        for view in views_of(text).all:
            look = _Look(view)
            if found := self._secret(text, look):
                return found
            for trace in filter(self.scales.is_leak, letter_traces(self.scales.index, look.reading)):
                return self._leak(text, view, trace)
        return ALLOWED

    def _look(self, text: str, look: _Look, *, known: bool) -> Finding:
        """The verdict on one view. Of a text that was unmasked only the letters count."""
        if found := self._secret(text, look):
            return found
        if not known:
            for trace in filter(self.scales.is_leak, self._letters(look)):
                return self._leak(text, look.view, trace)
        if not look.masked:
            for trace in self._words(look):
                return self._leak(text, look.view, trace)
            if found := self._told(look):
                return found
        return ALLOWED

    def _letters(self, look: _Look) -> Iterator[Trace]:
        index = self.scales.index
        if next(runs(look.bare, index.letters, LETTERS), None) is not None:
            yield from letter_traces(index, look.reading)
        if not look.masked:
            yield from turned_traces(index, look.reading, look.folded)
            yield from bare_traces(index, look.reading, look.view.text)

    def _words(self, look: _Look) -> Iterator[Trace]:
        scales, reading, folded = self.scales, look.reading, look.folded
        index, bits = scales.index, scales.bits
        yield from filter(scales.is_leak, initial_traces(index, reading))
        yield from filter(scales.is_leak, acrostic_traces(index, reading, folded))
        yield from chain_traces(index, reading, bits, folded=folded, least=scales.least(CHAIN), count=CHAIN_WORDS)
        yield from bag_traces(index, reading, bits, least=scales.least(BAG))

    def _pieces(self, reading: Reading) -> Iterator[Trace]:
        index = self.scales.index
        here = fragments(index, reading)
        if not here.found:  # the last piece stands in this reply
            return iter(())
        least = (self.scales.least(PIECES), self.scales.least(REPLIES))
        replies = [*(fragments_in(index, reply) for reply in self.past.replies), here]
        return split_traces(index, replies, self.scales.bits, least=least, count=PIECES_WORDS)

    def _beginnings(self, text: str) -> Finding:
        """The verdict on the first part of long words, for a text of which some views were left out."""
        for word in islice(_LONG.finditer(text), _FEW):
            found = self.runs(word.group()[:_PART])
            if found.decision != "allow":
                place = Span(word.start(), word.end(), found.code, found.reason)
                return Finding(found.decision, found.code, found.reason, (place,), found.signs, found.layer)
        return ALLOWED

    def _together(self, text: str, looks: Iterable[_Look]) -> Finding:
        """The verdict on many short encoded words as one text."""
        named: dict[str, list[str]] = {}
        for look in looks:
            named.setdefault(look.view.name, []).append(look.folded)
        for name, texts in named.items():
            reading = read(" ".join(texts)) if len(texts) > 1 else None
            for trace in filter(self.scales.is_leak, letter_traces(self.scales.index, reading) if reading else ()):
                return self._leak(text, View(name, "", lambda _start, _end: (0, len(text))), trace)
        return ALLOWED

    def _leak(self, text: str, view: View, trace: Trace) -> Finding:
        start, end = view.at(trace.start, trace.end)
        reason = f"{trace.last - trace.first} hidden words by {trace.way}, view {view.name}"
        layer = self.scales.index.layer_of(trace.first)
        signs = (Sign(trace.way, text[start:end], view.name),)
        return Finding("deny", LEAK, reason, (Span(start, end, LEAK, reason),), signs, layer)

    def _told(self, look: _Look) -> Finding | None:
        """Facts of the hidden text in other words; fewer are enough in a reply that speaks of its instructions."""
        facts = told(self.scales.index.facts, look.folded, look.reading, self.past.used)
        for about, spread, weight in TOLD:
            if facts.spread >= spread and facts.weight >= weight and facts.about(look.reading) >= about:
                start, end = look.view.at(facts.start, facts.end)
                reason = f"{len(facts.keys)} hidden facts in other words, view {look.view.name}"
                layer = self.scales.index.layer_with(facts.keys)
                return Finding("deny", LEAK, reason, (Span(start, end, LEAK, reason),), (), layer)
        return None

    def _secret(self, text: str, look: _Look) -> Finding | None:
        """A canary in this view."""
        for secret in self.secrets:
            size = len(secret.letters)
            if not TINY < size < SHORT and (at := text.find(secret.text)) >= 0:
                return _canary(at, at + len(secret.text), "a canary as it is")
            if place := secret.place(look.reading, self.before):
                return _canary(*look.view.at(*look.reading.between(*place)), f"a canary, view {look.view.name}")
        return None


def _canary(start: int, end: int, reason: str) -> Finding:
    return Finding("deny", CANARY, reason, (Span(start, end, CANARY, reason),))


def scan_of(hidden: str | Mapping[str, str], *, history: Iterable[Any] = (), canaries: Iterable[str] = ()) -> Scan:
    """What replies of this session are compared with."""
    index = index_of(hidden)
    whole = _whole(index)
    past = past_of(history, index, lambda text: Scan(whole, _NOTHING, ()).reply(text).decision == "deny")
    scales = scales_of(index, past.known) if past.known else whole
    return Scan(scales, past, [secret_of(text) for text in canaries if text.strip()])


@lru_cache(maxsize=16)
def _whole(index: Index) -> Scales:
    """The weights of all hidden words, for who has said none of them."""
    return scales_of(index, frozenset())


def scales_of(index: Index, known: frozenset[int]) -> Scales:
    """The weights of the hidden words, nothing for what the person said themselves."""
    bits = [0.0 if place in known else weight for place, weight in enumerate(index.bits)] if known else index.bits
    return Scales(index, bits, sums_of(bits), max(10.0, 0.7 * sum(index.bits)))
