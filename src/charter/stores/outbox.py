"""The outbox in SQL: a reply waits until it was sent, and whom it was for can read it again."""

from __future__ import annotations

from ..core.incoming import sender_key
from ..core.records import OutboxMessage, TurnRecord
from .conversations import stored_sender
from .database import Database, Row, Run, is_storable, storable, when

_REPLIES = "SELECT turn_id, recipient, body, channel, part FROM outbox_messages WHERE agent_name = ?"
_UNSENT = f"{_REPLIES} AND sent_at_ns = 0 {{which}} ORDER BY at_ns, turn_id, recipient, part"
_SENT_TO = f"{_REPLIES} AND recipient = ? ORDER BY at_ns DESC, turn_id DESC, part DESC LIMIT ?"
# `recipient || ''`, so that no index of all this one was ever sent is taken
_SENT_IN = f"{_REPLIES} AND turn_id = ? AND recipient || '' = ? ORDER BY part DESC LIMIT ?"


def send_in(run: Run, turn: TurnRecord, reply: OutboxMessage) -> None:
    """A reply that waits to be sent, inside the transaction that ends its turn."""
    run(
        """INSERT INTO outbox_messages (agent_name, turn_id, recipient, part, channel, body, at_ns)
        VALUES (?, ?, ?, ?, ?, ?, ?)""",
        turn.agent, turn.id, stored_sender(reply.recipient), when("part", reply.part), reply.channel,
        storable("body", reply.body), turn.at_ns,
    )  # fmt: skip


def unsent(db: Database, agent: str) -> list[tuple[str, OutboxMessage]]:
    """Replies that were not sent yet, each with its turn, oldest first."""
    return _read(db.read(_UNSENT.format(which=""), agent))


def unsent_of(db: Database, agent: str, channel: str) -> list[tuple[str, OutboxMessage]]:
    """The same of one channel."""
    return _read(db.read(_UNSENT.format(which="AND channel = ?"), agent, channel))


def mark_sent(db: Database, agent: str, turn_id: str, reply: OutboxMessage, at_ns: int) -> bool:
    """Says that a reply was sent; whether this call was the one that said so."""
    with db.writing() as run:
        rows = run(
            """UPDATE outbox_messages SET sent_at_ns = ? WHERE agent_name = ? AND turn_id = ? AND recipient = ?
            AND part = ? AND sent_at_ns = 0 RETURNING part""",
            when("at", at_ns), agent, turn_id, stored_sender(reply.recipient), reply.part,
        )  # fmt: skip
    return bool(rows)


def replies(
    db: Database, agent: str, recipient: str, *, turn_id: str = "", limit: int = 50
) -> list[tuple[str, OutboxMessage]]:
    """The newest replies to this one, each with its turn, the newest last; of one turn when it is named."""
    key = sender_key(recipient)
    if not is_storable(key):  # nobody of this name can have been sent anything
        return []
    most = max(limit, 0)
    rows = db.read(_SENT_IN, agent, turn_id, key, most) if turn_id else db.read(_SENT_TO, agent, key, most)
    return _read(rows[::-1])


def _read(rows: list[Row]) -> list[tuple[str, OutboxMessage]]:
    return [(row[0], OutboxMessage(*row[1:])) for row in rows]
