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
_ALONE: Final = (
    r"\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    r"\uff66-\uff9f\U00020000-\U0003ffff"
)
_SPELT: Final = r"\u0900-\u0963\u0966-\u0dff\u0300-\u036f"  # vowel signs that are no letters
_WORD: Final = re.compile(rf"[{_ALONE}]|[^\W_{_ALONE}](?:[^\W_{_ALONE}]|[{_SPELT}]|['’](?=[^\W_]))*")
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
    words, starts, ends = [], [], []
    for match in _WORD.finditer(text):
        words.append(match.group().replace("’", "'"))
        starts.append(match.start())
        ends.append(match.end())
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
        for language, table in tables.items():
            for category, patterns in table.items():
                for pattern in patterns:
                    for words in _spelled(pattern):
                        _insert(self._root, words, (category, language, pattern))
        heads = [*self._root.words, *(stem for table in self._root.stems.values() for stem in table)]
        self._begins = frozenset(head[:2] for head in heads)

    def find(self, tokens: Tokens) -> list[Hit]:
        """Every hit; at one place and of one category only the longest."""
        hits: list[Hit] = []
        root, words, begins = self._root, tokens.words, self._begins
        short = root.stems.get(1, {})
        for first, word in enumerate(words):
            if word[:2] in begins or word[:1] in short:
                best: dict[str, Hit] = {}
                for last, (category, language, entry) in _walk(root, words, first):
                    if category not in best or best[category].last < last:
                        best[category] = Hit(
                            category, first, last, tokens.starts[first], tokens.ends[last - 1], language, entry
                        )
                hits += best.values()
        return hits


def _walk(root: _Node, words: Sequence[str], first: int) -> Iterator[tuple[int, tuple[str, str, str]]]:
    waiting = [(root, first)]
    while waiting:
        node, at = waiting.pop()
        for end in node.ends:
            yield at, end
        if node.gap is not None:
            waiting += [(node.gap, at + skip) for skip in range(min(GAP, len(words) - at) + 1)]
        if at < len(words):
            word = words[at]
            if (after := node.words.get(word)) is not None:
                waiting.append((after, at + 1))
            for size, table in node.stems.items():
                if (after := table.get(word[:size])) is not None:
                    waiting.append((after, at + 1))


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
