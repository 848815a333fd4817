"""Who an agent is, it may say: sentences of a prompt that only tell it so, each at most a line long, are no secret."""

from __future__ import annotations

import re
import tomllib
from functools import cache, lru_cache
from importlib.resources import files
from typing import Final

LONGEST: Final = 200  # characters of such a sentence; a longer one tells more than who someone is


@cache
def _tells() -> re.Pattern[str]:
    table = tomllib.loads(files(__package__).joinpath("words", "self.toml").read_text(encoding="utf-8"))
    openings = "|".join(re.escape(opening) for row in table.values() for opening in row)
    return re.compile(
        rf"(?:^|(?<=[.!?。！？]\s)|(?<=[。！？]))(?:{openings})[^.!?。！？\n]{{0,{LONGEST}}}[.!?。！？\n]", re.MULTILINE
    )


@lru_cache(maxsize=64)
def without_self(text: str) -> str:
    """A hidden text without the sentences that say who its reader is."""
    return _tells().sub("\n", text)
