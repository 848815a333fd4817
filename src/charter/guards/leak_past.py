"""Whose words were said before: the person's own are no secret, the agent's earlier replies count with this one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from .finding import said
from .leak_chains import chains
from .leak_facts import keys_in
from .leak_index import Heard, Index
from .leak_read import fold, read
from .leak_runs import letter_traces

_KEPT: Final = 40  # earlier replies that are read with this one
_LONGEST: Final = 16_384  # characters of one of them
_KNOWN: Final = 14.0  # weight of a chain of hidden words that shows the person has them


@dataclass(frozen=True, slots=True)
class Past:
    """Earlier replies, oldest first; the hidden words the person has said, and the facts they have named."""

    replies: Sequence[str] = field(repr=False)
    known: frozenset[int] = field(repr=False)
    used: frozenset[str] = field(repr=False)


def past_of(history: Iterable[Any], index: Index, leaks: Callable[[str], bool]) -> Past:
    """A history as this guard needs it. A bare text that is a leak by itself can only be the person's."""
    replies: list[str] = []
    person: list[str] = []
    for role, text in said(history):
        (person if role == "user" or (not role and leaks(text)) else replies).append(text)
    heard = [index.heard.of(text, lambda text: _listened(index, text)) for text in person]
    known = frozenset[int]().union(*[one.words for one in heard])
    used = frozenset[str]().union(*[one.facts for one in heard])
    return Past([text[-_LONGEST:] for text in replies[-_KEPT:]], known, used)


def _listened(index: Index, text: str) -> Heard:
    """What a text shows that they have."""
    known: set[int] = set()
    reading = read(fold(text))
    for trace in letter_traces(index, reading, 16):
        known.update(_again(index, trace.first, trace.last))
    for chain in chains(index, reading.words, index.bits):
        if chain.score >= _KNOWN and chain.size >= 3:
            known.update(_again(index, chain.first, chain.last + 1))
    return Heard(frozenset(known), frozenset(keys_in(index.facts, text)))


def _again(index: Index, first: int, last: int) -> Iterator[int]:
    """Hidden words, wherever these very words stand in a row."""
    words = index.reading.words
    for place in index.where[words[first]] if first < last else ():
        if words[place : place + last - first] == words[first:last]:
            yield from range(place, place + last - first)
