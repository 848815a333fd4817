"""The store as it was: which turns there are, and what a turn could see of messages and notes when it read them."""

from __future__ import annotations

from collections import Counter

from ..core.errors import BadValue, NotStored
from ..core.records import InboxMessage, Memory, TurnRecord
from .database import Database, Row, is_storable, one
from .notes import NOTE, note_of, query_terms, rank
from .terms import terms
from .turns import COLUMNS, turn, turn_of

SHORTEST = 6  # characters of an id that are enough, when one turn alone begins so


# ── turns ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def newest(db: Database, agent: str = "", limit: int = 50) -> list[TurnRecord]:
    """The newest turns, of one agent or of all."""
    where = "WHERE agent_name = ?" if agent else ""
    rows = db.read(
        f"SELECT {COLUMNS} FROM turn_records {where} ORDER BY at_ns DESC, turn_id DESC LIMIT ?",
        *((agent,) if agent else ()), max(limit, 0),
    )  # fmt: skip
    return [turn_of(row) for row in rows]


def find(db: Database, name: str, agent: str = "") -> TurnRecord:
    """The one turn of this id, or whose id alone begins so; of one agent or of all."""
    if not name or not is_storable(name):
        raise NotStored("turn of this id", "see: charter turns")
    whose, values = (" AND agent_name = ?", (agent,)) if agent else ("", ())
    rows = db.read(f"SELECT agent_name, turn_id FROM turn_records WHERE turn_id = ?{whose} LIMIT 2", name, *values)
    if not rows and len(name) >= SHORTEST:
        begins = f"substr(turn_id, 1, {len(name)}) = ?"
        rows = db.read(f"SELECT agent_name, turn_id FROM turn_records WHERE {begins}{whose} LIMIT 2", name, *values)
    if len(rows) > 1:
        raise BadValue("turn", "more than one turn has an id that begins so; give more of it, or --agent")
    if not rows:
        raise NotStored("turn of this id", f"give its id or the first {SHORTEST} characters; see: charter turns")
    return turn(db, *rows[0])


def before(db: Database, record: TurnRecord, *, same_sender: bool) -> TurnRecord | None:
    """The turn before this one that reached a model: of the same sender, or of the agent whoever spoke."""
    whose, values = (" AND sender = ?", (record.sender,)) if same_sender else ("", ())
    row = one(
        db.read(
            f"""SELECT {COLUMNS} FROM turn_records WHERE agent_name = ? AND payload_sha256 <> ''
            AND (at_ns < ? OR (at_ns = ? AND turn_id < ?)){whose} ORDER BY at_ns DESC, turn_id DESC LIMIT 1""",
            record.agent, record.at_ns, record.at_ns, record.id, *values,
        )
    )  # fmt: skip
    return turn_of(row) if row else None


# ── messages ──────────────────────────────────────────────────────────────────────────────────────────────────────


def inbox_then(db: Database, record: TurnRecord, read_ns: int) -> list[InboxMessage]:
    """The messages that waited when this turn began, oldest first, those it took itself left out.

    A message waited if it had come by then and no earlier turn had dealt with it. The messages of a turn that failed
    went back, so they are among these.
    """
    rows = db.read(
        """SELECT message_id, sender, body, received_at_ns, channel, user_id, state, done_at_ns, turn_id
        FROM inbox_messages WHERE agent_name = ? AND received_at_ns <= ? AND turn_id <> ?
        AND (state <> 'done' OR done_at_ns >= ?) ORDER BY seq""",
        record.agent, read_ns, record.id, record.at_ns,
    )  # fmt: skip
    return [InboxMessage(*row[:6]) for row in rows if row[6] != "done" or row[7:9] > (record.at_ns, record.id)]


# ── notes ─────────────────────────────────────────────────────────────────────────────────────────────────────────


class NotesThen:
    """The notes of one owner as a turn found them: kept by then, not taken back yet, and none of its own."""

    def __init__(self, db: Database, agent: str, user: str, *, read_ns: int) -> None:
        rows = db.read(
            f"""SELECT {NOTE}, created_at_ns FROM agent_long_term_memory WHERE agent_name = ? AND user_id = ?
            AND created_at_ns <= ? AND (revoked_at_ns = 0 OR revoked_at_ns > ?) ORDER BY note_id""",
            agent, user, read_ns, read_ns,
        )  # fmt: skip
        self._rows: dict[int, Row] = {row[7]: row for row in rows}

    def __repr__(self) -> str:
        return f"NotesThen({len(self._rows)} notes)"

    def without(self, count: int, *, at_ns: int, shown: frozenset[int]) -> NotesThen:
        """The same without those a turn wrote itself: this many, of its time, none of which it was shown."""
        own = [number for number, row in self._rows.items() if row[8] == at_ns and number not in shown]
        for number in own[:count]:
            del self._rows[number]
        return self

    def recent(self, limit: int) -> list[Memory]:
        """The newest, newest first."""
        numbers = sorted(self._rows, reverse=True)
        return [note_of(self._rows[number]) for number in numbers[: max(limit, 0)]]

    def recall(self, query: str, limit: int) -> list[Memory]:
        """Those that fit best, ranked as the store ranked them then."""
        counts = {number: Counter(terms(row[0])) for number, row in self._rows.items()}
        total = sum(count.total() for count in counts.values())
        wanted = query_terms(query)
        postings = [
            (term, number, count[term], count.total(), len(counts), total)
            for term in wanted
            for number, count in counts.items()
            if count[term]
        ]
        return [note_of(self._rows[number]) for number in rank(postings, limit)] if limit > 0 else []
