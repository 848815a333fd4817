"""The source of a user-role layer: the message itself, framed, whole."""

from __future__ import annotations

import msgspec

from ..core.text import Form, Piece
from .ask import Ask, Gathered


class UserInput(msgspec.Struct, tag_field="kind", tag="user_input", forbid_unknown_fields=True, frozen=True):
    """What the user wrote (S1-01, L6)."""

    def gather(self, ask: Ask) -> Gathered:
        text = ask.incoming.text
        body = Piece(text, "user_input", form=Form.BLOCK) if text.strip() else None
        return Gathered({"text": body}, file="user_input", source="user", origin="user_input")
