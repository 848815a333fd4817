"""A pattern is a path of words in a tree; only what begins with a word that was met is ever spelled out."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
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
    """What may follow: whole words, beginnings of words by their length, any word; and what ends here."""

    words: dict[str, Node] = field(default_factory=dict)
    stems: dict[int, dict[str, Node]] = field(default_factory=dict)
    gap: Node | None = None
    ends: list[End] = field(default_factory=list)


class Start(NamedTuple):
    """A first word: what it leads to, what ends with it, one of each category, and what may come next."""

    nodes: Sequence[Node]
    ends: Sequence[End]
    words: Collection[str]
    stems: Sequence[tuple[int, Collection[str]]]
    gaps: Sequence[Node]

    def leads(self, words: Sequence[str], at: int) -> bool:
        """Whether what may come next is there, as far as one word tells."""
        if at < len(words):
            word = words[at]
            if word in self.words:
                return True
            for size, table in self.stems:
                if word[:size] in table:
                    return True
        return bool(self.gaps) and any(_leads(gap, words, at + skip) for skip in range(GAP + 1) for gap in self.gaps)


def start_of(nodes: Sequence[Node]) -> Start:
    """What a word begins that leads to these nodes."""
    ends: dict[str, End] = {}
    for node in reversed(nodes):  # in the order in which they are walked
        for end in node.ends:
            ends.setdefault(end[0], end)
    stems: dict[int, set[str]] = {}
    for node in nodes:
        for size, table in node.stems.items():
            stems.setdefault(size, set()).update(table)
    words = nodes[0].words if len(nodes) == 1 else frozenset(word for node in nodes for word in node.words)
    gaps = [node.gap for node in nodes if node.gap is not None]
    return Start(tuple(nodes), tuple(ends.values()), words, tuple(stems.items()), gaps)


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
    return gap is not None and any(_leads(gap, words, at + skip) for skip in range(GAP + 1))


def _next(words: Mapping[str, Node], stems: Mapping[int, Mapping[str, Node]], word: str) -> Iterator[Node]:
    if (after := words.get(word)) is not None:
        yield after
    for size, table in stems.items():
        if (after := table.get(word[:size])) is not None:
            yield after


def walk(nodes: Sequence[Node], words: Sequence[str], at: int) -> Iterator[tuple[int, End]]:
    """What ends where, from these nodes on over the words from `at` on."""
    waiting = [(node, at) for node in nodes]
    while waiting:
        node, at = waiting.pop()
        for end in node.ends:
            yield at, end
        if node.gap is not None:
            waiting += [(node.gap, at + skip) for skip in range(min(GAP, len(words) - at) + 1)]
        if at < len(words) and (node.words or node.stems):
            waiting += [(after, at + 1) for after in _next(node.words, node.stems, words[at])]


def _insert(root: Node, words: Sequence[str], end: End) -> None:
    node = root
    for word in words:
        if word == "..":
            node.gap = node.gap or Node()
            node = node.gap
        elif word.endswith("*"):
            node = node.stems.setdefault(len(word) - 1, {}).setdefault(word[:-1], Node())
        else:
            node = node.words.setdefault(word, Node())
    if end not in node.ends:
        node.ends.append(end)


@cache
def _words(part: str) -> tuple[str, ...]:
    """A part of a pattern as folded words, the last one a beginning when it ends with a star."""
    words = tokens_of(plain(part)).words
    return (*words[:-1], f"{words[-1]}*") if part.endswith("*") and words else tuple(words)


def _chosen(pattern: str) -> Iterator[str]:
    """A pattern with one of each choice, in every way."""
    parts = _CHOICE.split(pattern)
    return map("".join, product(*(part.split("|") if at % 2 else [part] for at, part in enumerate(parts))))


def _spelled(pattern: str) -> Iterator[list[str]]:
    """The ways to spell a pattern, each as words."""
    for chosen in _chosen(pattern):
        words: list[str] = []
        for part in chosen.split():
            if part == "..":
                words.append(part)
                continue
            words += _words(part)
        while words and words[-1] == "..":
            words.pop()
        if words and words[0] != "..":
            yield words


def _beginnings(pattern: str) -> Iterator[tuple[str, str]]:
    """First words of a pattern, each with what of the pattern begins so."""
    end = next((found.start() for found in _SPACE.finditer(pattern)), len(pattern))
    heads = [(head, head.split()[:1]) for head in _chosen(pattern[:end])]
    firsts = [_words(first[0])[:1] if first and first[0] != ".." else () for _, first in heads]
    if all(firsts):
        yield from ((first[0], head + pattern[end:]) for (head, _), first in zip(heads, firsts, strict=True))
    else:  # what may begin with nothing begins with what comes then
        yield from ((words[0], " ".join(words)) for words in _spelled(pattern))


class Tree:
    """Patterns by their first words, each spelled out when such a word is met for the first time."""

    def __init__(self, patterns: Iterable[tuple[str, End]]) -> None:
        self._waiting: dict[str, list[tuple[str, End]]] = {}
        self._made: dict[str, Node] = {}
        for pattern, end in patterns:
            for first, chosen in _beginnings(pattern):
                self._waiting.setdefault(first, []).append((chosen, end))
        stems = [first[:-1] for first in self._waiting if first.endswith("*")]
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
        firsts = [word] if word in self._waiting else []
        firsts += [f"{word[:size]}*" for size in self._sizes if size in sizes] if sizes else []
        return start_of([*map(self._node, firsts)]) if firsts else None

    def _node(self, first: str) -> Node:
        if first not in self._made:
            root = Node()
            for pattern, end in self._waiting[first]:
                for words in _spelled(pattern):
                    _insert(root, words, end)
            made = root.stems[len(first) - 1][first[:-1]] if first.endswith("*") else root.words[first]
            self._made[first] = made
        return self._made[first]
