"""Word tables are data; they are matched over the words of a text in one pass, whatever its script.

A pattern is words with spaces between: `stem*` is any word that begins so, `..` up to four words of any kind, `(a|b|)`
one of these.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Final, NamedTuple

from .lexicon_tree import Start, Tree, walk
from .tokens import Tokens, apart, tokens_in, tokens_of

__all__ = ["MET", "Hit", "Lexicon", "Tokens", "apart", "read_tables", "tokens_in", "tokens_of"]

MET: Final = 65_536  # words a lexicon remembers
_new: Final = tuple.__new__  # a hit is made very often


class Hit(NamedTuple):
    """A pattern that was found: words `first` to `last` (exclusive), characters `start` to `end` of the view."""

    category: str
    first: int
    last: int
    start: int
    end: int
    language: str
    entry: str


@cache
def read_tables(folder: str) -> Mapping[str, Mapping[str, Sequence[str]]]:
    """Language → category → patterns, from `words/<folder>/<language>.toml`."""
    found = {}
    for file in sorted(files(__package__).joinpath("words", folder).iterdir(), key=lambda file: file.name):
        if file.name.endswith(".toml"):
            found[file.name.removesuffix(".toml")] = tomllib.loads(file.read_text(encoding="utf-8"))
    return found


class Lexicon:
    """Tables made ready: `find` gives every pattern at every place, in the order of the text."""

    def __init__(self, tables: Mapping[str, Mapping[str, Sequence[str]]]) -> None:
        self._met: dict[str, Start | tuple[()]] = {}
        self._tree = Tree(
            (pattern, (category, language, pattern))
            for language, table in tables.items()
            for category, patterns in table.items()
            for pattern in patterns
        )

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
            for last, (category, language, entry) in walk(begun.nodes, words, first + 1):
                if category not in best or best[category].last < last:
                    best[category] = Hit(category, first, last, starts[first], ends[last - 1], language, entry)
            hits += best.values()
        return hits

    def _meet(self, word: str) -> Start | tuple[()]:
        """What a first word leads to; remembered, for so many words."""
        begun = self._tree.begin(word) or ()
        if len(self._met) < MET:
            self._met[word] = begun
        return begun
