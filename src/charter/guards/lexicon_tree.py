"""A pattern is a path of words in a tree; what follows a word is spelled out when that word is met."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, field
from functools import cache
from itertools import product
from typing import Final, NamedTuple

from .fold import plain
from .tokens import tokens_of

GAP: Final = 4  # words of any kind that two dots stand for, at the most
_HEAD: Final = 2  # letters by which beginnings of words are sorted
_CHOICE: Final = re.compile(r"\(([^()]*)\)")
_SPACE: Final = re.compile(r" (?![^()]*\))")  # between parts, not inside a choice

End = tuple[str, str, str]  # category, language, and the pattern as it is written


@dataclass(slots=True)
class Node:
    """What may follow: whole words, beginnings of words by their length, any word; and what ends here.

    It is known once the node was opened; until then the rests of patterns wait, in tuples: of those the collector of
    garbage takes no notice, and there are many.
    """

    waiting: tuple[tuple[str, End], ...] = ()
    words: dict[str, Node] = field(default_factory=lambda: _NO_WORDS)
    stems: dict[int, dict[str, Node]] = field(default_factory=lambda: _NO_STEMS)
    gap: Node | None = None
    ends: Sequence[End] = ()

    def opened(self) -> Node:
        """The node, with what follows known."""
        if self.waiting:
            words, stems, gaps = dict[str, Node](), dict[int, dict[str, Node]](), tuple[tuple[str, End], ...]()
            ends: dict[End, None] = {}
            for pattern, end in self.waiting:
                for first, rest in _steps(pattern):
                    if not first:
                        ends[end] = None
                    elif first == "..":
                        gaps += ((rest, end),)
                    elif first.endswith("*"):
                        table = stems.setdefault(len(first) - 1, {})
                        table.setdefault(first[:-1], Node()).waiting += ((rest, end),)
                    else:
                        words.setdefault(first, Node()).waiting += ((rest, end),)
            self.words, self.stems, self.ends = words or _NO_WORDS, stems or _NO_STEMS, tuple(ends)
            self.gap = Node(gaps) if gaps else None
            self.waiting = ()
        return self


_NO_WORDS: Final[dict[str, Node]] = {}
_NO_STEMS: Final[dict[int, dict[str, Node]]] = {}


class Later(NamedTuple):
    """What may come after a gap: whole words, beginnings of words by their length, one more gap."""

    words: Set[str]
    stems: Sequence[tuple[int, Set[str]]]
    gaps: Sequence[Node]

    def leads(self, words: Sequence[str], at: int) -> bool:
        """Whether any of it is there, as far as one word tells."""
        near = words[at : at + GAP + 1]
        if not self.words.isdisjoint(near):
            return True
        for size, table in self.stems:
            if not table.isdisjoint([word[:size] for word in near]):
                return True
        return any(_leads(gap, words, at + skip) for skip in range(2 * GAP + 1) for gap in self.gaps)


def later_of(gaps: Sequence[Node]) -> Later | None:
    """What may come after these gaps."""
    if not gaps:
        return None
    words = gaps[0].words.keys() if len(gaps) == 1 else frozenset(word for gap in gaps for word in gap.words)
    return Later(words, _merged(gaps), tuple(gap.gap.opened() for gap in gaps if gap.gap is not None))


def _merged(nodes: Sequence[Node]) -> Sequence[tuple[int, Set[str]]]:
    """The beginnings of words that may follow any of these, by their length."""
    if len(nodes) == 1:
        return [(size, table.keys()) for size, table in nodes[0].stems.items()]
    stems: dict[int, set[str]] = {}
    for node in nodes:
        for size, table in node.stems.items():
            stems.setdefault(size, set()).update(table)
    return [*stems.items()]


class Start(NamedTuple):
    """A first word: what it leads to, what ends with it, one of each category, and what may come next."""

    nodes: Sequence[Node]
    ends: Sequence[End]
    words: Collection[str]
    stems: Sequence[tuple[int, Collection[str]]]
    later: Later | None
    alone: bool  # whether nothing comes next

    def leads(self, words: Sequence[str], at: int) -> bool:
        """Whether what may come next is there, as far as one word tells."""
        if at < len(words):
            word = words[at]
            if word in self.words:
                return True
            for size, table in self.stems:
                if word[:size] in table:
                    return True
        return self.later is not None and self.later.leads(words, at)


def start_of(nodes: Sequence[Node]) -> Start:
    """What a word begins that leads to these nodes."""
    ends: dict[str, End] = {}
    for node in reversed(nodes):  # in the order in which they are walked
        for end in node.ends:
            ends.setdefault(end[0], end)
    words = nodes[0].words if len(nodes) == 1 else frozenset(word for node in nodes for word in node.words)
    gaps = [node.gap.opened() for node in nodes if node.gap is not None]
    stems, later = _merged(nodes), later_of(gaps)
    return Start(tuple(nodes), tuple(ends.values()), words, stems, later, not (words or stems or later))


def _leads(node: Node, words: Sequence[str], at: int) -> bool:
    """Whether what may follow does follow, as far as one word tells."""
    if at < len(words):
        word = words[at]
        if word in node.words:
            return True
        for size, table in node.stems.items():
            if word[:size] in table:
                return True
    gap = node.gap
    return gap is not None and any(_leads(gap.opened(), words, at + skip) for skip in range(GAP + 1))


def walk(nodes: Sequence[Node], words: Sequence[str], at: int) -> Iterator[tuple[int, End]]:
    """What ends where, from these nodes on over the words from `at` on."""
    waiting, size = [(node, at) for node in nodes], len(words)
    while waiting:
        node, at = waiting.pop()
        if node.waiting:
            node.opened()
        for end in node.ends:
            yield at, end
        if (gap := node.gap) is not None:
            within = range(at, min(at + GAP, size) + 1)
            waiting += [(gap, place) for place in within if _may_go_on(gap.opened(), words, place)]
        if at < size:
            word = words[at]
            if (after := node.words.get(word)) is not None:
                waiting.append((after, at + 1))
            for length, table in node.stems.items():
                if (after := table.get(word[:length])) is not None:
                    waiting.append((after, at + 1))


def _may_go_on(node: Node, words: Sequence[str], at: int) -> bool:
    """Whether anything ends at a node or may follow it here, as far as one word tells."""
    if node.ends or node.gap is not None:
        return True
    if at >= len(words):
        return False
    word = words[at]
    return word in node.words or any(word[:size] in table for size, table in node.stems.items())


@cache
def _words(part: str) -> tuple[str, ...]:
    """A part of a pattern as folded words, the last one a beginning when it ends with a star."""
    words = tokens_of(plain(part)).words
    return (*words[:-1], f"{words[-1]}*") if part.endswith("*") and words else tuple(words)


def _chosen(pattern: str) -> Iterator[str]:
    """A pattern with one of each choice, in every way."""
    parts = _CHOICE.split(pattern)
    return map("".join, product(*(part.split("|") if at % 2 else [part] for at, part in enumerate(parts))))


def _steps(pattern: str) -> Iterator[tuple[str, str]]:
    """First words of a pattern, or dots, or nothing where it may end here, each with what comes then."""
    place = _SPACE.search(pattern)
    end = place.start() if place else len(pattern)
    after = pattern[end:].strip()
    for head in _chosen(pattern[:end]):
        first, others = (*head.split(None, 1), "", "")[:2]
        rest = f"{others} {after}".strip()
        words = _words(first) if first != ".." else ()
        if words:
            yield words[0], " ".join((*words[1:], rest)).strip()
        elif first == ".." and not _says_something(rest):
            # Dots at an end are none, so all ways in which this goes on are told apart.
            for spelled in _spelled(rest):
                yield ("..", " ".join(spelled)) if spelled else ("", "")
        elif first == "..":
            yield "..", rest
        elif rest:
            yield from _steps(rest)
        else:
            yield "", ""


def _says_something(pattern: str) -> bool:
    """Whether each way to spell a pattern has a word in it."""
    return any(
        all(any(map(_words, way.replace("..", " ").split())) for way in _chosen(part)) for part in _SPACE.split(pattern)
    )


def _spelled(pattern: str) -> Iterator[list[str]]:
    """The ways to spell a pattern, each as words; dots at its end are left out."""
    for chosen in _chosen(pattern):
        words = [word for part in chosen.split() for word in ((part,) if part == ".." else _words(part))]
        while words and words[-1] == "..":
            words.pop()
        yield words


class Tree:
    """Patterns by their first words."""

    def __init__(self, patterns: Iterable[tuple[str, End]]) -> None:
        self._first: dict[str, Node] = {}
        for pattern, end in patterns:
            for first, rest in _steps(pattern):
                if first not in ("", ".."):
                    self._first.setdefault(first, Node()).waiting += ((rest, end),)
        stems = [first[:-1] for first in self._first if first.endswith("*")]
        self._sizes = [*dict.fromkeys(map(len, stems))]
        self._stems: dict[str, dict[int, set[str]]] = {}  # by their first letters and their length
        for stem in stems:
            self._stems.setdefault(stem[:_HEAD], {}).setdefault(len(stem), set()).add(stem)

    def begin(self, word: str) -> Start | None:
        """What a first word leads to; nothing when no pattern begins so."""
        sizes = {
            size
            for head in (word[:1], word[:_HEAD])
            for size, stems in self._stems.get(head, {}).items()
            if word[:size] in stems
        }
        firsts = [word] if word in self._first else []
        firsts += [f"{word[:size]}*" for size in self._sizes if size in sizes] if sizes else []
        return start_of([self._first[first].opened() for first in firsts]) if firsts else None
