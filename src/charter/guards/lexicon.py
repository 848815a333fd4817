"""Word tables are data; they are matched over the words of a text in one pass, whatever its script.

A pattern is words with spaces between: `stem*` is any word that begins so, `..` up to four words of any kind, `(a|b|)`
one of these.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import compress
from typing import Final, NamedTuple, cast

from .lexicon_tree import End, Start, Tree, walk
from .tables import read_tables
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


class _Met(dict[str, Start | None]):
    """Words that were met, and what each leads to, if anything; it stops growing, so no text can make it large."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree

    def __missing__(self, word: str) -> Start | None:
        begun = self._tree.begin(word)
        if len(self) < MET:
            self[word] = begun
        return begun


class Lexicon:
    """Tables made ready: `find` gives every pattern at every place, in the order of the text."""

    def __init__(self, tables: Mapping[str, Mapping[str, Sequence[str]]]) -> None:
        self._met = _Met(
            Tree(
                (pattern, (category, language, pattern))
                for language, table in tables.items()
                for category, patterns in table.items()
                for pattern in patterns
            )
        )

    def find(self, tokens: Tokens, by: int = 0) -> list[Hit]:
        """Every hit; at one place and of one category only the longest. The first word is the one with number `by`."""
        hits: list[Hit] = []
        words, starts, ends = tokens
        for at, begun, leads in self._begun(words):
            first = at + by
            if not leads:
                for category, language, entry in begun.ends:
                    hits.append(_new(Hit, (category, first, first + 1, starts[at], ends[at], language, entry)))
                continue
            best: dict[str, tuple[int, End]] = {}
            for last, end in walk(begun.nodes, words, at + 1):
                if end[0] not in best or best[end[0]][0] < last:
                    best[end[0]] = last, end
            for last, (category, language, entry) in best.values():
                hits.append(_new(Hit, (category, first, last + by, starts[at], ends[last - 1], language, entry)))
        return hits

    def meets(self, words: Sequence[str]) -> bool:
        """Whether there is any hit."""
        for first, begun, leads in self._begun(words):
            if begun.ends or (leads and any(walk(begun.nodes, words, first + 1))):
                return True
        return False

    def shortest(self, words: Sequence[str]) -> list[tuple[int, int, str]]:
        """At each place and of each category the shortest hit: its words, `first` to `last` (exclusive), and that."""
        found: list[tuple[int, int, str]] = []
        for first, begun, leads in self._begun(words):
            if not leads:
                found += [(first, first + 1, category) for category, _, _ in begun.ends]
                continue
            best: dict[str, int] = {}
            for last, (category, _, _) in walk(begun.nodes, words, first + 1):
                best[category] = min(last, best.get(category, last))
            found += [(first, last, category) for category, last in best.items()]
        return found

    def _begun(self, words: Sequence[str]) -> Iterator[tuple[int, Start, bool]]:
        """The words with which something begins, by their places, and whether what may come next is there."""
        begins = [*map(self._met.__getitem__, words)]
        following = (*words[1:], "")
        for first, begun in cast("Iterator[tuple[int, Start]]", compress(enumerate(begins), begins)):
            _, _, after, stems, later, alone = begun
            if alone:
                yield first, begun, False
            elif following[first] in after:
                yield first, begun, True
            elif stems or later is not None:
                yield first, begun, begun.leads(words, first + 1)
            else:
                yield first, begun, False
