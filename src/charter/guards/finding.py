"""What a guard found: a verdict with the places it speaks of and the signs that led to it, never the text itself."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from ..core.policy import Verdict


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of a text, `text[start:end]`, with a code for machines and a reason for people."""

    start: int
    end: int
    code: str
    reason: str


@dataclass(frozen=True, slots=True)
class Sign:
    """One thing a guard saw: a factor's name, the words it saw, and the view it saw them in."""

    name: str
    value: str = field(repr=False)
    view: str = "plain"


@dataclass(frozen=True, slots=True)
class Finding(Verdict):
    """A guard's verdict. `signs` hold words of the text that was read: they explain on a screen and are not kept."""

    spans: tuple[Span, ...] = ()
    signs: tuple[Sign, ...] = field(default=(), repr=False)
    layer: str = ""


ALLOWED: Final = Finding("allow")


def said(history: Iterable[Any]) -> list[tuple[str, str]]:
    """A history as (role, text), oldest first; its items are texts, pairs, or messages as mappings.

    A bare text has no role: each guard knows whose it is.
    """
    found = []
    for item in history:
        if isinstance(item, str):
            found.append(("", item))
        elif not isinstance(item, tuple) and isinstance(item, Mapping):
            found.append((str(item.get("role", "")), str(item.get("content", ""))))
        else:
            role, text = item
            found.append((str(role), str(text)))
    return found
