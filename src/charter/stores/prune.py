"""Retention: messages that are done and turns that are old go; the log keeps that they were there (N-20)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from . import log
from .database import Database, marks, when

CHAINS_AT_ONCE = 100
_DONE = {
    "inbox_messages": "state = 'done' AND done_at_ns < ?",
    "outbox_messages": "sent_at_ns > 0 AND sent_at_ns < ?",
}


def prune(
    db: Database,
    *,
    inbox_before_ns: int | None = None,
    outbox_before_ns: int | None = None,
    turns_before_ns: int | None = None,
    at_ns: int,
) -> dict[str, int]:
    """Removes what ended before these times: messages that were dealt with, replies that were sent, turn records.

    How many rows of each table. It goes in steps, each whole: an agent's messages, then the turns of some chains; who
    is interrupted begins again. A message whose row is gone counts as new when the same one is staged again.
    """
    counts: Counter[str] = Counter()
    for table, before in (("inbox_messages", inbox_before_ns), ("outbox_messages", outbox_before_ns)):
        if before is not None:
            counts[table] = _messages(db, table, when("before", before), when("at", at_ns))
    if turns_before_ns is not None:
        before = when("before", turns_before_ns)
        chains = sorted(row[0] for row in db.read("SELECT DISTINCT chain FROM turn_records WHERE at_ns < ?", before))
        for start in range(0, len(chains), CHAINS_AT_ONCE):
            counts["turn_records"] += _turns(db, chains[start : start + CHAINS_AT_ONCE], before, when("at", at_ns))
    return {table: count for table, count in counts.items() if count}


def _messages(db: Database, table: str, before: int, at_ns: int) -> int:
    """One agent after the other, each with an entry in its chain."""
    count = 0
    for (agent,) in db.read(f"SELECT DISTINCT agent_name FROM {table} WHERE {_DONE[table]}", before):
        with db.writing(agent) as run:
            gone = run(f"DELETE FROM {table} WHERE agent_name = ? AND {_DONE[table]} RETURNING 1", agent, before)
            if gone:
                place = table.removesuffix("_messages")
                detail = f"{len(gone)} before {before}"
                log.append(db, run, agent, kind="prune", place=place, actor="init", at_ns=at_ns, detail=detail)
        count += len(gone)
    return count


def _turns(db: Database, chains: Sequence[str], before: int, at_ns: int) -> int:
    """The turns of some chains, each with an entry that says up to when they are gone."""
    with db.writing(*chains) as run:
        gone = run(
            f"DELETE FROM turn_records WHERE chain IN ({marks(len(chains))}) AND at_ns < ? RETURNING chain",
            *chains, before,
        )  # fmt: skip
        for chain, count in sorted(Counter(row[0] for row in gone).items()):
            detail = f"{count} before {before}"
            log.append(db, run, chain, kind="prune", place="turns", actor="init", at_ns=at_ns, detail=detail)
    return len(gone)
