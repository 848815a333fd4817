"""A message that waits can be taken back by who staged it: no turn answers it any more."""

from __future__ import annotations

from .database import Database, named, when
from .messages import STAGED


def withdraw(db: Database, agent: str, message_id: str, *, at_ns: int) -> bool:
    """Takes a message back; whether it waited. One that a turn has in hand stays that turn's.

    It is done, by no turn: its id is still known, so the same one cannot come again.
    """
    with db.writing() as run:
        return bool(
            run(
                f"""UPDATE inbox_messages SET state = 'done', done_at_ns = ?
                WHERE agent_name = ? AND message_id = ? AND {STAGED} RETURNING 1""",
                when("at", at_ns), named("agent", agent), named("message id", message_id),
            )
        )  # fmt: skip
