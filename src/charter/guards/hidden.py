"""Characters that no reader sees are found as runs; emoji and scripts that need joiners keep theirs."""

from __future__ import annotations

import re
from typing import Final

from ..core.unicode import EMOJI
from .fold import strange

# Group 1 is hidden; what the other branches take is part of an emoji, a keycap, a flag, or a script that needs joiners.
_ONE: Final = rf"[{EMOJI}][\ufe0e\ufe0f]?[\U0001f3fb-\U0001f3ff]?"
_TAGGED: Final = "|".join("".join(chr(0xE0000 + ord(c)) for c in code) for code in ("gbeng", "gbsct", "gbwls"))
_JOINED: Final = r"[\u0620-\u18af\ufb50-\ufdff\ufe70-\ufefc]"
_UNSEEN: Final = (
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e"
    r"\u2060-\u206f\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    r"\U000e0000-\U000e0fff]"
)
_HIDDEN: Final = re.compile(
    rf"\U0001f3f4(?:{_TAGGED})\U000e007f|{_ONE}(?:\u200d{_ONE})*|(?<=[0-9#*])\ufe0f(?=\u20e3)"
    rf"|(?<={_JOINED})[\u200c\u200d](?={_JOINED})"
    rf"|({_UNSEEN}+)"
)
_SOME: Final = re.compile(_UNSEEN)


def find_hidden(text: str) -> tuple[tuple[int, int], ...]:
    """Runs of characters that no reader sees, as (start, end); emoji and joined scripts keep theirs."""
    if _SOME.search(strange(text)) is None:
        return ()
    return tuple(match.span(1) for match in _HIDDEN.finditer(text) if match.group(1))
