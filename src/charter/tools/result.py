"""What a tool answers is text that says whose it is; text of others is capped and defused before a model reads it.

Every tool made here either answers, or raises Refused with a code and a reason that a model may read.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import asdict, is_dataclass
from datetime import date, datetime
from enum import Enum
from typing import Any, Final

from ..core.text import cap, spoken

RESULT_CHARS: Final = 16_000


class Result(str):
    """A tool's answer; `foreign` says that it is text of others, and wins over what the tool says in general (N-09)."""

    __slots__ = ("foreign",)

    foreign: bool

    def __new__(cls, text: str, *, foreign: bool) -> Result:
        made = super().__new__(cls, text)
        made.foreign = foreign
        return made

    def __repr__(self) -> str:
        return f"Result({len(self)} characters{', foreign' if self.foreign else ''})"


def answered(value: object, *, foreign: bool) -> Result:
    """A function's value as an answer: text as it is, nothing as a word that says so, anything else as JSON."""
    if isinstance(value, Result):
        return value
    text = value if isinstance(value, str) else "(done, nothing to report)" if value is None else as_json(value)
    text = cap(text, RESULT_CHARS).text
    return Result(spoken(text) if foreign else text, foreign=foreign)


def as_json(value: object) -> str:
    """A value as JSON text; TypeError when it has no form there."""
    return json.dumps(value, ensure_ascii=False, default=_plain)


def _plain(value: object) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, datetime | date):
        return value.isoformat()
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, Sequence | AbstractSet) and not isinstance(value, bytes | bytearray):
        return list(value)
    raise TypeError(type(value).__name__)
