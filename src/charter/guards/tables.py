"""Word tables are TOML; one that is nothing but named lists of words is taken in at once, any other by the TOML reader.

A process waits for its tables before the first text, and reading them this way takes an eighth of the time.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any, Final

_BETWEEN: Final = r"(?:[ \t\n]|#[^\n]*+\n)*+"
_WORD: Final = r'"[^"\\\n]++"'
_LIST: Final = rf"[a-z_0-9]++ = \[{_BETWEEN}(?:{_WORD}{_BETWEEN},{_BETWEEN})*+(?:{_WORD}{_BETWEEN})?+\]"
_LISTS: Final = re.compile(rf"{_BETWEEN}(?:{_LIST}[ ]*+\n{_BETWEEN})*+")
_PART: Final = re.compile(r'#[^\n]*+|([a-z_0-9]++) = \[|"([^"]*+)"')


@cache
def read_tables(folder: str) -> Mapping[str, Mapping[str, Sequence[str]]]:
    """Language → category → patterns, from `words/<folder>/<language>.toml`."""
    found = {}
    for file in sorted(files(__package__).joinpath("words", folder).iterdir(), key=lambda file: file.name):
        if file.name.endswith(".toml"):
            found[file.name.removesuffix(".toml")] = parsed(file.read_text(encoding="utf-8"))
    return found


def parsed(text: str) -> Mapping[str, Any]:
    """What a table says, as the TOML reader would have it."""
    if _LISTS.fullmatch(text) is None:
        return tomllib.loads(text)
    found: dict[str, list[str]] = {}
    row: list[str] = []
    for name, word in _PART.findall(text):
        if name in found:  # said twice: the TOML reader says so
            return tomllib.loads(text)
        if name:
            row = found[name] = []
        elif word:
            row.append(word)
    return found
