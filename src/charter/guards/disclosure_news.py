"""What a view says that the plain text does not matters only where a word of it may be part of a request."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from functools import cache
from typing import Final

from .decode import vocabulary
from .disclosure_typos import meant
from .fold import plain
from .lexicon import read_tables, tokens_of

_STEM: Final = re.compile(r"([^\W\d_]+)\*")


@cache
def _stems() -> Mapping[int, frozenset[str]]:
    """Length → the beginnings of words that the tables have."""
    patterns = "\n".join(p for table in read_tables("disclosure").values() for row in table.values() for p in row)
    found: dict[int, set[str]] = {}
    for stem in _STEM.findall(plain(patterns)):
        found.setdefault(len(stem), set()).add(stem)
    return {size: frozenset(stems) for size, stems in found.items()}


def may_tell(word: str) -> bool:
    """Whether a word could be part of a request, or was meant to be; one that is not ASCII always could."""
    return (
        not word.isascii()
        or word in vocabulary(1)
        or any(word[:size] in stems for size, stems in _stems().items())
        or meant(word) != word
    )


def brings_news(view: str, folded: str) -> bool:
    """Whether a view has a word more often than the plain text that could be part of a request."""
    before = Counter(tokens_of(folded).words)
    found = Counter(tokens_of(view).words)
    return any(count > before[word] and may_tell(word) for word, count in found.items())
