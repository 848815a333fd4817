"""Some questions about the prompt are always answered: whether there is one, its version, what you know of me."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from importlib.resources import files
from typing import Final

from .fold import plain

LONGEST: Final = 120  # characters of such a question
_END: Final = r"\s{0,3}[?.!]{0,3}\s{0,3}"


def is_allowed(text: str) -> bool:
    """Whether the whole message is such a question, with nothing before or after it."""
    if len(text) > LONGEST:
        return False
    folded = plain(text).strip()
    return any(pattern.fullmatch(folded) for pattern in _patterns())


@cache
def _patterns() -> tuple[re.Pattern[str], ...]:
    """One pattern a language."""
    table = tomllib.loads(files(__package__).joinpath("words", "allowed.toml").read_text(encoding="utf-8"))
    return tuple(
        re.compile(f"(?:{'|'.join(rows['whole']).replace('THING', rows['thing'])}){_END}") for rows in table.values()
    )
