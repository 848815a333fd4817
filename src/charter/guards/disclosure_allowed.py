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
    return _pattern().fullmatch(plain(text).strip()) is not None


@cache
def _pattern() -> re.Pattern[str]:
    """The questions of every language."""
    table = tomllib.loads(files(__package__).joinpath("words", "allowed.toml").read_text(encoding="utf-8"))
    wholes = (whole.replace("THING", rows["thing"]) for rows in table.values() for whole in rows["whole"])
    return re.compile(f"(?:{'|'.join(wholes)}){_END}")
