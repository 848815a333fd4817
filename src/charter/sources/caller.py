"""The source of what a calling application asks for: its own system text, with the authority of who calls."""

from __future__ import annotations

from typing import Final, Literal

import msgspec

from ..core.text import Form, Piece, cap
from .ask import Ask, Gathered, operator_markdown

ORIGIN: Final = "caller"


class CallerText(msgspec.Struct, tag_field="kind", tag="caller", forbid_unknown_fields=True, frozen=True):
    """The system text of a caller that keeps its own chat (N-13), cut visibly where it is too long.

    An operator's is Markdown as it stands; anybody else's is outside text, in its frame. `of` says whose a layer takes,
    `fact` the name its template knows it by.
    """

    of: Literal["anybody", "operator", "others"] = "anybody"
    fact: str = "text"
    max_chars: int = 20_000

    def gather(self, ask: Ask) -> Gathered:
        carried, operator = ask.incoming.carried, ask.incoming.operator
        text = carried.system.strip() if carried is not None else ""
        if not text or self.of == ("others" if operator else "operator"):
            return Gathered({self.fact: None})
        return Gathered({self.fact: self._piece(text, operator)}, file=ORIGIN, source="inline")

    def _piece(self, text: str, operator: bool) -> Piece:
        if operator:
            return operator_markdown(text, ORIGIN, self.max_chars)
        capped = cap(text, self.max_chars)
        return Piece(capped.text, ORIGIN, form=Form.BLOCK, original=capped.original, kept=capped.kept)
