"""Conversations in SQL: what was said with one sender, cut short in a log and whole in a chat (S0-12, N-18)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import lru_cache

from ..core.errors import BadValue
from ..core.incoming import sender_key
from ..core.records import Conversation, ConversationEntry, ConversationLog, Exchange
from . import turns
from .database import MOST_BYTES, Database, Row, Run, is_storable, named, one, storable, when

MAX_ENTRIES = 20
MAX_SENDERS = 200
MAX_STORED_CHARS = 500
MAX_SENDER_CHARS = 500
ENTRIES = "inbox_message_id, sender_body, agent_reply, turn_id, timestamp_ns"
_ENTRY = f"INSERT INTO conversation_entries (agent_name, sender, seq, {ENTRIES}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"


@lru_cache(maxsize=1024)
def stored_sender(name: str) -> str:
    """A sender's key, fit to be stored; names are kept as they are (S0-12)."""
    key = storable("sender", sender_key(name))
    if not 0 < len(key) <= MAX_SENDER_CHARS or len(key.encode()) > MOST_BYTES:
        raise BadValue("sender", f"1 to {MAX_SENDER_CHARS} characters; this one has {len(key)}")
    return key


# ── writing ───────────────────────────────────────────────────────────────────────────────────────────────────────


def append_conversation(db: Database, agent: str, name: str, entry: ConversationEntry) -> None:
    """Adds an exchange: 20 stay per sender, 200 senders stay, 500 characters stay of each side (S0-12)."""
    with db.writing(f"talk:{named('agent', agent)}") as run:
        append_in(run, agent, stored_sender(name), entry)


def append_in(run: Run, agent: str, key: str, entry: ConversationEntry) -> None:
    """The same, inside a transaction that holds the agent's talk."""
    at_ns = when("timestamp", entry.timestamp_ns)
    seq = run(
        """INSERT INTO conversations (agent_name, sender, last_activity_ns, last_seq) VALUES (?, ?, ?, 1)
        ON CONFLICT (agent_name, sender) DO UPDATE SET last_seq = conversations.last_seq + 1, last_activity_ns =
        CASE WHEN excluded.last_activity_ns > conversations.last_activity_ns THEN excluded.last_activity_ns
        ELSE conversations.last_activity_ns END RETURNING last_seq""",
        agent, key, at_ns,
    )[0][0]  # fmt: skip
    run(
        _ENTRY,
        agent, key, seq, entry.inbox_message_id, storable("body", entry.sender_body)[:MAX_STORED_CHARS],
        storable("reply", entry.agent_reply)[:MAX_STORED_CHARS], entry.turn_id, at_ns,
    )  # fmt: skip
    if seq > MAX_ENTRIES:
        run(
            "DELETE FROM conversation_entries WHERE agent_name = ? AND sender = ? AND seq <= ?",
            agent, key, seq - MAX_ENTRIES,
        )  # fmt: skip
    if seq == 1:
        _evict(run, agent, key)


def _evict(run: Run, agent: str, newest: str) -> None:
    """The least recently active senders go, never the one that just spoke."""
    count = run("SELECT count(*) FROM conversations WHERE agent_name = ?", agent)[0][0]
    if count <= MAX_SENDERS:
        return
    gone = run(
        """SELECT sender FROM conversations WHERE agent_name = ? AND sender <> ?
        ORDER BY last_activity_ns, sender LIMIT ?""",
        agent, newest, count - MAX_SENDERS,
    )  # fmt: skip
    for (name,) in gone:
        drop_conversation(run, agent, name)


def drop_conversation(run: Run, agent: str, name: str) -> None:
    """Removes a conversation with its entries."""
    run("DELETE FROM conversation_entries WHERE agent_name = ? AND sender = ?", agent, name)
    run("DELETE FROM conversations WHERE agent_name = ? AND sender = ?", agent, name)


def fresh_start(db: Database, agent: str, name: str, at_ns: int) -> None:
    """From here on a chat with this sender begins anew; what was said stays in the conversation log."""
    when("at", at_ns)
    with db.writing(f"talk:{named('agent', agent)}") as run:
        run(
            "UPDATE conversations SET fresh_from = last_seq WHERE agent_name = ? AND sender = ?",
            agent,
            stored_sender(name),
        )


# ── reading ───────────────────────────────────────────────────────────────────────────────────────────────────────


def conversation(db: Database, agent: str, name: str) -> ConversationLog | None:
    """What was said with this sender, oldest first."""
    key = sender_key(name)
    if not is_storable(key):  # nobody of this name can have been stored
        return None
    rows = db.read(
        f"""SELECT c.last_activity_ns, {ENTRIES} FROM conversations c JOIN conversation_entries e
        ON e.agent_name = c.agent_name AND e.sender = c.sender WHERE c.agent_name = ? AND c.sender = ?
        ORDER BY e.seq""",
        agent, key,
    )  # fmt: skip
    return ConversationLog(key, tuple(ConversationEntry(*row[1:]) for row in rows), rows[0][0]) if rows else None


def conversations(db: Database, agent: str) -> list[Conversation]:
    """Every conversation, the most recently active first (S0-11)."""
    rows = db.read(
        """SELECT c.sender, c.last_activity_ns, (SELECT count(*) FROM conversation_entries e
        WHERE e.agent_name = c.agent_name AND e.sender = c.sender) FROM conversations c WHERE c.agent_name = ?
        ORDER BY c.last_activity_ns DESC, c.sender""",
        agent,
    )
    return [Conversation(*row) for row in rows]


# ── a chat ────────────────────────────────────────────────────────────────────────────────────────────────────────

# A name is compared as `name || ''` where an index of all a sender ever sent, or was sent, must not be taken.
# A message is looked up only where its entry may be cut short.
# A row for every part of a reply; one with part -1 where no part is there.
_TALK = f"""SELECT 11, e.turn_id, COALESCE(i.body, e.sender_body), e.agent_reply, COALESCE(o.body, ''), '', '', e.seq,
    COALESCE(o.part, -1), 0, '', 0 FROM conversations c JOIN conversation_entries e
    ON e.agent_name = c.agent_name AND e.sender = c.sender AND {{which}}
    LEFT JOIN inbox_messages i ON i.agent_name =
    CASE WHEN length(e.sender_body) >= {MAX_STORED_CHARS} THEN e.agent_name END AND i.message_id = e.inbox_message_id
    AND i.sender || '' = e.sender AND i.turn_id = e.turn_id
    LEFT JOIN outbox_messages o ON e.agent_reply <> '' AND o.agent_name = e.agent_name
    AND o.turn_id = e.turn_id AND o.recipient || '' = e.sender WHERE c.agent_name = ? AND c.sender = ?"""
TALK = _TALK.format(which="e.seq > c.fresh_from")
_BEFORE = _TALK.format(which="e.seq < ? AND (e.seq > c.fresh_from OR c.fresh_from >= ?)")
_FIRST = "SELECT min(seq) FROM conversation_entries WHERE agent_name = ? AND sender = ? AND turn_id = ?"
_LATER = "SELECT max(seq) + 1 FROM conversation_entries WHERE agent_name = ? AND sender = ? AND timestamp_ns < ?"


def woven(rows: Iterable[Row]) -> list[Exchange]:
    """Exchanges of the rows of `TALK`, oldest first; a reply of which a part is gone is as the entry has it.

    Of several messages that a turn answered together, those whose entry has no reply have none.
    """
    entries: defaultdict[int, list[Row]] = defaultdict(list)
    for row in rows:
        entries[row[7]].append(row)
    found: list[Exchange] = []
    for seq in sorted(entries):
        parts = entries[seq]
        first = parts[0]
        reply = first[3]
        if reply and first[8] >= 0:
            reply = first[4] if len(parts) == 1 and first[8] == 0 else _whole(parts) or reply
        found.append(Exchange(seq, first[1], first[2], reply))
    return found


def _whole(parts: Sequence[Row]) -> str:
    """A reply of its parts; empty when one is gone."""
    bodies = {row[8]: row[4] for row in parts}
    whole = [bodies[part] for part in range(len(bodies)) if part in bodies]
    return "\n\n".join(whole) if len(whole) == len(bodies) else ""


def exchanges_before(db: Database, agent: str, name: str, turn_id: str) -> list[Exchange]:
    """What a turn could read of its chat, as far as it is still kept.

    When the chat began anew since, nobody knows from where that turn read: then it is all that was said before.
    """
    key = sender_key(name)
    record = turns.turn(db, agent, turn_id)
    if not is_storable(key):
        return []
    first = one(db.read(_FIRST, agent, key, turn_id))
    if first is None or first[0] is None:  # it left no entry here: then those that are older than it
        first = one(db.read(_LATER, agent, key, record.at_ns))
    if first is None or first[0] is None:
        return []
    return woven(db.read(_BEFORE, first[0], first[0], agent, key))
