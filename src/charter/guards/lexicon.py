"""Word tables are data; they are matched over the words of a text in one pass, whatever its script.

A pattern is words with spaces between: `stem*` is any word that begins so, `..` up to four words of any kind, `(a|b|)`
one of these. Han, Kana and Thai write no spaces, so there every character is a word of its own.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from importlib.resources import files
from itertools import accumulate, product
from typing import Final, NamedTuple

from .fold import plain

GAP: Final = 4
MET: Final = 65_536  # words a lexicon remembers
_LONG: Final = 1_000  # characters of a text whose words are kept for a while
_HEAD: Final = 2  # letters by which beginnings of words are sorted
_ALONE: Final = (
    r"\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    r"\uff66-\uff9f\U00020000-\U0003ffff"
)
_SPELT: Final = r"\u0900-\u0963\u0966-\u0dff\u0300-\u036f"  # vowel signs that are no letters
_APART: Final = re.compile(
    rf"([^\W_{_ALONE}]++(?:['{_SPELT}](?:(?<!')|(?=[^\W_]))[^\W_{_ALONE}]*+)*+|[{_ALONE}])"
)  # words, and between them what is none
_APART_ASCII: Final = re.compile(r"([A-Za-z0-9]++(?:'[A-Za-z0-9]++)*+)")
_CHOICE: Final = re.compile(r"\(([^()]*)\)")


class Tokens(NamedTuple):
    """The words of a folded text and where they stand in it."""

    words: Sequence[str]
    starts: Sequence[int]
    ends: Sequence[int]


class Hit(NamedTuple):
    """A pattern that was found: words `first` to `last` (exclusive), characters `start` to `end` of the view."""

    category: str
    first: int
    last: int
    start: int
    end: int
    language: str
    entry: str


def apart(text: str) -> list[str]:
    """A folded text taken apart: what is before the first word, that word, what is between it and the next, …"""
    return _APART_ASCII.split(text) if text.isascii() else _APART.split(text.replace("’", "'"))


def tokens_of(text: str) -> Tokens:
    """The words of a folded text."""
    return _kept(text) if len(text) > _LONG else tokens_in(apart(text))


def tokens_in(parts: Sequence[str]) -> Tokens:
    """The words of a text that was taken apart."""
    places = tuple(accumulate(map(len, parts)))
    return Tokens(tuple(parts[1::2]), places[:-1:2], places[1::2])


@lru_cache(maxsize=4)
def _kept(text: str) -> Tokens:
    """The words of a long text, which is read for several reasons."""
    return tokens_in(apart(text))


@cache
def read_tables(folder: str) -> Mapping[str, Mapping[str, Sequence[str]]]:
    """Language → category → patterns, from `words/<folder>/<language>.toml`."""
    found = {}
    for file in sorted(files(__package__).joinpath("words", folder).iterdir(), key=lambda file: file.name):
        if file.name.endswith(".toml"):
            found[file.name.removesuffix(".toml")] = tomllib.loads(file.read_text(encoding="utf-8"))
    return found


@dataclass(slots=True)
class _Node:
    """What may follow: whole words, beginnings of words by their length, any word; and what ends here."""

    words: dict[str, _Node] = field(default_factory=dict)
    stems: dict[int, dict[str, _Node]] = field(default_factory=dict)
    gap: _Node | None = None
    ends: list[tuple[str, str, str]] = field(default_factory=list)


class _Start(NamedTuple):
    """A first word: what it leads to, what ends with it, one of each category, and what may come next."""

    nodes: Sequence[_Node]
    ends: Sequence[tuple[str, str, str]]
    words: Collection[str]
    stems: Sequence[tuple[int, Collection[str]]]
    gaps: Sequence[_Node]

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


class Lexicon:
    """Tables made ready: `find` gives every pattern at every place, in the order of the text."""

    def __init__(self, tables: Mapping[str, Mapping[str, Sequence[str]]]) -> None:
        self._root = _Node()
        self._met: dict[str, _Start | tuple[()]] = {}
        for language, table in tables.items():
            for category, patterns in table.items():
                for pattern in patterns:
                    for words in _spelled(pattern):
                        _insert(self._root, words, (category, language, pattern))
        self._stems = _by_head(self._root.stems)

    def find(self, tokens: Tokens) -> list[Hit]:
        """Every hit; at one place and of one category only the longest."""
        hits: list[Hit] = []
        (words, starts, ends), met = tokens, self._met
        begins = [*map(met.get, words)]
        if None in begins:
            begins = [
                begun if begun is not None else self._meet(word) for begun, word in zip(begins, words, strict=True)
            ]
        for first, begun in enumerate(begins):
            if not begun:
                continue
            if not begun.leads(words, first + 1):
                for category, language, entry in begun.ends:
                    hits.append(_new(Hit, (category, first, first + 1, starts[first], ends[first], language, entry)))
                continue
            best: dict[str, Hit] = {}
            for last, (category, language, entry) in _walk(begun.nodes, words, first + 1):
                if category not in best or best[category].last < last:
                    best[category] = Hit(category, first, last, starts[first], ends[last - 1], language, entry)
            hits += best.values()
        return hits

    def _meet(self, word: str) -> _Start | tuple[()]:
        """What a first word leads to; remembered, for so many words."""
        root = self._root
        stems = root.stems if word[:1] in root.stems.get(1, ()) else self._stems.get(word[:_HEAD], {})
        nodes = [*_next(root.words, stems, word)]
        begun = _start(nodes) if nodes else ()
        if len(self._met) < MET:
            self._met[word] = begun
        return begun


_new: Final = tuple.__new__  # a hit is made very often


def _by_head(stems: Mapping[int, Mapping[str, _Node]]) -> Mapping[str, Mapping[int, Mapping[str, _Node]]]:
    """The beginnings of words by their first letters; those that are one letter only stand under it."""
    found: dict[str, dict[int, dict[str, _Node]]] = {}
    for size, table in stems.items():
        for stem, node in table.items():
            found.setdefault(stem[:_HEAD], {}).setdefault(size, {})[stem] = node
    return found


def _start(nodes: Sequence[_Node]) -> _Start:
    ends: dict[str, tuple[str, str, str]] = {}
    for node in reversed(nodes):  # in the order in which they are walked
        for end in node.ends:
            ends.setdefault(end[0], end)
    stems: dict[int, set[str]] = {}
    for node in nodes:
        for size, table in node.stems.items():
            stems.setdefault(size, set()).update(table)
    words = nodes[0].words if len(nodes) == 1 else frozenset(word for node in nodes for word in node.words)
    gaps = [node.gap for node in nodes if node.gap is not None]
    return _Start(tuple(nodes), tuple(ends.values()), words, tuple(stems.items()), gaps)


def _leads(node: _Node, words: Sequence[str], at: int) -> bool:
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


def _next(words: Mapping[str, _Node], stems: Mapping[int, Mapping[str, _Node]], word: str) -> Iterator[_Node]:
    if (after := words.get(word)) is not None:
        yield after
    for size, table in stems.items():
        if (after := table.get(word[:size])) is not None:
            yield after


def _walk(nodes: Sequence[_Node], words: Sequence[str], at: int) -> Iterator[tuple[int, tuple[str, str, str]]]:
    waiting = [(node, at) for node in nodes]
    while waiting:
        node, at = waiting.pop()
        for end in node.ends:
            yield at, end
        if node.gap is not None:
            waiting += [(node.gap, at + skip) for skip in range(min(GAP, len(words) - at) + 1)]
        if at < len(words) and (node.words or node.stems):
            waiting += [(after, at + 1) for after in _next(node.words, node.stems, words[at])]


def _insert(root: _Node, words: Sequence[str], end: tuple[str, str, str]) -> None:
    node = root
    for word in words:
        if word == "..":
            node.gap = node.gap or _Node()
            node = node.gap
        elif word.endswith("*"):
            node = node.stems.setdefault(len(word) - 1, {}).setdefault(word[:-1], _Node())
        else:
            node = node.words.setdefault(word, _Node())
    if end not in node.ends:
        node.ends.append(end)


@cache
def _words(part: str) -> tuple[str, ...]:
    """A part of a pattern as folded words, the last one a beginning when it ends with a star."""
    words = tokens_of(plain(part)).words
    return (*words[:-1], f"{words[-1]}*") if part.endswith("*") and words else tuple(words)


def _spelled(pattern: str) -> Iterator[list[str]]:
    """The ways to spell a pattern, each as words."""
    parts = _CHOICE.split(pattern)
    for chosen in product(*(part.split("|") if number % 2 else [part] for number, part in enumerate(parts))):
        words: list[str] = []
        for part in "".join(chosen).split():
            if part == "..":
                words.append(part)
                continue
            words += _words(part)
        while words and words[-1] == "..":
            words.pop()
        if words and words[0] != "..":
            yield words
