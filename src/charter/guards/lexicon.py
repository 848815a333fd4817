"""Word tables are data; they are matched over the words of a text in one pass, whatever its script.

A pattern is words with spaces between: `stem*` is any word that begins so, `..` up to four words of any kind, `(a|b|)`
one of these. Han, Kana and Thai write no spaces, so there every character is a word of its own.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from itertools import product
from typing import Final, NamedTuple

from .fold import plain

GAP: Final = 4
MET: Final = 65_536  # words a lexicon remembers
_ALONE: Final = (
    r"\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    r"\uff66-\uff9f\U00020000-\U0003ffff"
)
_SPELT: Final = r"\u0900-\u0963\u0966-\u0dff\u0300-\u036f"  # vowel signs that are no letters
_WORD: Final = re.compile(rf"[{_ALONE}]|[^\W_{_ALONE}](?:[^\W_{_ALONE}{_SPELT}]|[{_SPELT}]|'(?=[^\W_]))*+")
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


def tokens_of(text: str) -> Tokens:
    """The words of a folded text."""
    found = [(match.group(), *match.span()) for match in _WORD.finditer(text.replace("’", "'"))]
    words, starts, ends = zip(*found, strict=True) if found else ((), (), ())
    return Tokens(words, starts, ends)


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


class Lexicon:
    """Tables made ready: `find` gives every pattern at every place, in the order of the text."""

    def __init__(self, tables: Mapping[str, Mapping[str, Sequence[str]]]) -> None:
        self._root = _Node()
        self._after: dict[str, tuple[_Node, ...]] = {}  # what a first word leads to, for words that were met
        for language, table in tables.items():
            for category, patterns in table.items():
                for pattern in patterns:
                    for words in _spelled(pattern):
                        _insert(self._root, words, (category, language, pattern))

    def find(self, tokens: Tokens) -> list[Hit]:
        """Every hit; at one place and of one category only the longest."""
        hits: list[Hit] = []
        words, met = tokens.words, self._after
        for first, word in enumerate(words):
            nodes = met.get(word)
            if nodes is None:
                nodes = self._meet(word)
            if nodes:
                best: dict[str, Hit] = {}
                for last, (category, language, entry) in _walk(nodes, words, first + 1):
                    if category not in best or best[category].last < last:
                        best[category] = Hit(
                            category, first, last, tokens.starts[first], tokens.ends[last - 1], language, entry
                        )
                hits += best.values()
        return hits

    def _meet(self, word: str) -> tuple[_Node, ...]:
        nodes = tuple(_next(self._root, word))
        if len(self._after) < MET:
            self._after[word] = nodes
        return nodes


def _next(node: _Node, word: str) -> Iterator[_Node]:
    if (after := node.words.get(word)) is not None:
        yield after
    for size, table in node.stems.items():
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
            waiting += [(after, at + 1) for after in _next(node, words[at])]


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
