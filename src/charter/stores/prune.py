"""Retention: messages that are done, turns that are old and their calls go; the log keeps that they were (N-20)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from . import approvals, log, schedules
from .database import Database, marks, when

CHAINS_AT_ONCE = 100
RUNS_KEPT = 1_000
_DONE = {
    "inbox_messages": "state = 'done' AND done_at_ns < ?",
    "outbox_messages": "sent_at_ns > 0 AND sent_at_ns < ?",
}
_OLD = {
    "turn_records": ("turns", "at_ns < ?"),
    "tool_approvals": ("calls", "state NOT IN ('open', 'approved') AND at_ns < ?"),
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

    With turns go the calls of as long ago that no person is asked about any more, and the runs of as long ago but the
    newest 1,000 of each schedule. How many rows of each table. It goes in steps, each whole: an agent's messages, then
    the turns of some chains, then the runs of a schedule; who is interrupted begins again. A message whose row is gone
    counts as new when the same one is staged again.
    """
    counts: Counter[str] = Counter()
    for table, before in (("inbox_messages", inbox_before_ns), ("outbox_messages", outbox_before_ns)):
        if before is not None:
            counts[table] = _messages(db, table, when("before", before), when("at", at_ns))
    if turns_before_ns is not None:
        before = when("before", turns_before_ns)
        approvals.expire(db, at_ns, before)
        for table, (_, over) in _OLD.items():
            rows = db.read(f"SELECT DISTINCT chain FROM {table} WHERE {over}", before)
            chains = sorted(row[0] for row in rows)
            for start in range(0, len(chains), CHAINS_AT_ONCE):
                counts[table] += _of_chains(db, table, chains[start : start + CHAINS_AT_ONCE], before, at_ns)
        counts["schedule_runs"] = sum(_runs(db, made.id, made.agent, before, at_ns) for made in schedules.schedules(db))
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


def _of_chains(db: Database, table: str, chains: Sequence[str], before: int, at_ns: int) -> int:
    """The turns or calls of some chains, each chain with an entry that says up to when they are gone."""
    place, over = _OLD[table]
    with db.writing(*chains) as run:
        gone = run(
            f"DELETE FROM {table} WHERE chain IN ({marks(len(chains))}) AND {over} RETURNING chain", *chains, before
        )  # fmt: skip
        for chain, count in sorted(Counter(row[0] for row in gone).items()):
            detail = f"{count} before {before}"
            log.append(db, run, chain, kind="prune", place=place, actor="init", at_ns=at_ns, detail=detail)
    return len(gone)


def _runs(db: Database, schedule_id: str, agent: str, before: int, at_ns: int) -> int:
    """Runs of a schedule, with an entry in its agent's chain; the newest stay, so that no tick is begun again."""
    newest = db.read(
        "SELECT tick_ns FROM schedule_runs WHERE schedule_id = ? ORDER BY tick_ns DESC LIMIT 1 OFFSET ?",
        schedule_id, RUNS_KEPT - 1,
    )  # fmt: skip
    if not newest:
        return 0
    with db.writing(agent) as run:
        gone = run(
            "DELETE FROM schedule_runs WHERE schedule_id = ? AND tick_ns < ? AND at_ns < ? RETURNING 1",
            schedule_id, newest[0][0], before,
        )  # fmt: skip
        if gone:
            detail = f"{len(gone)} before {before}"
            log.append(db, run, agent, kind="prune", place="runs", actor="init", at_ns=at_ns, detail=detail)
    return len(gone)
