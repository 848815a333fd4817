"""A request for the assistant's hidden text is refused in every disguise; a question about it is answered."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from .disclosure_rules import Found, find
from .disclosure_scene import read
from .finding import ALLOWED, Finding, Sign, Span, said
from .views import View, views_of

CODE: Final = "REFUSE_SYSTEM_PROMPT"


def check_message(text: str, *, history: Iterable[Any] = ()) -> Finding:
    """Denies a message that asks for hidden text; `history` holds what was said before, oldest first."""
    past = said(history)
    views = views_of(text)
    for view in views.all:
        found = find(read(view.text), alone=not past)
        if found is not None:
            return _denied(found, view)
    return ALLOWED


def _denied(found: Found, view: View) -> Finding:
    reason = f"asks for hidden text ({found.rule}; whose: {found.whose}; view: {view.name})"
    signs = [Sign(name, view.text[hit.start : hit.end], view.name) for name, hit in found.hits]
    language = found.hits[0][1].language
    signs += [Sign("owner", found.whose, view.name), Sign("rule", found.rule, view.name), Sign("language", language, view.name)]
    start = min(hit.start for _, hit in found.hits)
    end = max(hit.end for _, hit in found.hits)
    return Finding("deny", CODE, reason, spans=(Span(*view.at(start, end), CODE, reason),), signs=tuple(signs))
