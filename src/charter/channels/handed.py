"""A reply that its person has, on a page or a screen, does not wait to be sent any more."""

from __future__ import annotations

from typing import Any

from ..core.records import OutboxMessage


def handed(agent: Any, turn: Any) -> None:
    """Says of every part of this agent's turn that it went out."""
    to = turn.record.sender or turn.record.user
    for number, part in enumerate(turn.parts):
        reply = OutboxMessage(to, part, turn.record.channel, number)
        agent.store.mark_sent(agent.name, turn.id, reply, agent.clock())
