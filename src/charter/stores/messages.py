"""Inbox, outbox and conversations in SQL: a message is taken once, and remembered only after a turn that worked."""

from __future__ import annotations

from collections.abc import Sequence

from ..core.errors import BadValue, Busy
from ..core.incoming import sender_key
from ..core.records import (
    Conversation,
    ConversationEntry,
    ConversationLog,
    InboxMessage,
    OutboxMessage,
    Settled,
    TurnRecord,
)
from . import log, turns
from .database import MOST_BYTES, Database, Run, is_storable, marks, named, one, storable, when

MAX_ENTRIES = 20
MAX_SENDERS = 200
MAX_STORED_CHARS = 500
MAX_SENDER_CHARS = 500
LOOKED_AT = 200
# SQLite takes the index of what is open only when it reads its very condition.
STAGED = "state = 'staged' AND state <> 'done'"


def stage(db: Database, agent: str, message: InboxMessage) -> bool:
    """Puts a message in the inbox; one that is there already (same id) stays as it is. Whether it is new."""
    with db.writing() as run:
        rows = run(
            """INSERT INTO inbox_messages (agent_name, message_id, sender, user_id, channel, body, received_at_ns)
            VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (agent_name, message_id) DO NOTHING RETURNING seq""",
            named("agent", agent), named("message id", message.id), sender(message.sender),
            named("user", message.user, empty=True), message.channel, storable("body", message.body),
            when("received_at", message.received_at_ns),
        )  # fmt: skip
    return bool(rows)


def sender(name: str) -> str:
    """A sender's key, fit to be stored; names are kept as they are (S0-12)."""
    key = storable("sender", sender_key(name))
    if not 0 < len(key) <= MAX_SENDER_CHARS or len(key.encode()) > MOST_BYTES:
        raise BadValue("sender", f"1 to {MAX_SENDER_CHARS} characters; this one has {len(key)}")
    return key


_STAGED = """SELECT message_id, sender, body, received_at_ns, channel, user_id FROM inbox_messages
    WHERE agent_name = ? AND {staged} {lane} ORDER BY seq LIMIT {limit}"""
_ANY = _STAGED.format(staged=STAGED, lane="", limit=LOOKED_AT)
_ONE_LANE = _STAGED.format(staged=STAGED, lane="AND sender = ?", limit=LOOKED_AT)


def staged(db: Database, agent: str) -> list[InboxMessage]:
    """The messages that wait, oldest first; at most the first 200."""
    return [InboxMessage(*row) for row in db.read(_ANY, agent)]


def waiting(db: Database, agent: str) -> int:
    """How many messages wait."""
    found = db.read(f"SELECT count(*) FROM inbox_messages WHERE agent_name = ? AND {STAGED}", agent)
    return int(found[0][0])


def take(
    db: Database,
    agent: str,
    turn_id: str,
    *,
    lane: str = "",
    at_ns: int,
    lease_ns: int,
    max_senders: int = 5,
    max_messages: int = 20,
) -> list[InboxMessage]:
    """Begins a turn: this lane is this turn's until the lease ends, and these messages are taken by it alone.

    The lane is a sender, or empty for the whole agent. A turn that died gives its messages back when its lease is over;
    one whose lease lies further ahead than a lease can (the clock went back) is over a lease from now.
    """
    named("agent", agent)
    named("turn", turn_id)
    lane = sender(lane) if lane else ""
    when("end of the lease", when("at", at_ns) + when("lease", lease_ns))
    with db.writing(f"lane:{agent}:{lane}") as run:
        busy = _lease(run, agent, lane, turn_id, at_ns, lease_ns)
        mine = [] if busy else _take(run, agent, turn_id, lane, max_senders, max_messages)
    if busy:
        raise Busy(busy)
    return mine


def _take(run: Run, agent: str, turn_id: str, lane: str, max_senders: int, max_messages: int) -> list[InboxMessage]:
    rows = run(_ONE_LANE, agent, lane) if lane else run(_ANY, agent)
    chosen = _choose([InboxMessage(*row) for row in rows], max_senders, max_messages)
    if not chosen:
        return []
    got = run(
        f"""UPDATE inbox_messages SET state = 'taken', turn_id = ? WHERE agent_name = ? AND state = 'staged'
        AND message_id IN ({marks(len(chosen))}) RETURNING message_id""",
        turn_id, agent, *(message.id for message in chosen),
    )  # fmt: skip
    mine = {row[0] for row in got}
    return [message for message in chosen if message.id in mine]


def _lease(run: Run, agent: str, lane: str, turn_id: str, at_ns: int, lease_ns: int) -> str:
    """Takes the lane; else who has it, in words."""
    held = one(
        run(  # a write, so that a turn which is just ending is waited for
            "UPDATE turn_leases SET until_ns = until_ns WHERE agent_name = ? AND lane = ? RETURNING turn_id, until_ns",
            agent, lane,
        )
    )  # fmt: skip
    if held is not None and held[0] != turn_id:
        holder, until = held
        if until > at_ns + lease_ns:
            until = at_ns + lease_ns
            run("UPDATE turn_leases SET until_ns = ? WHERE agent_name = ? AND lane = ?", until, agent, lane)
        if until > at_ns:
            return f"turn {holder} is under way; it has this lane for {(until - at_ns) // 10**9 + 1} s at most"
        _give_back(run, agent, holder)
    run(
        """INSERT INTO turn_leases (agent_name, lane, turn_id, until_ns) VALUES (?, ?, ?, ?)
        ON CONFLICT (agent_name, lane) DO UPDATE SET turn_id = excluded.turn_id, until_ns = excluded.until_ns""",
        agent, lane, turn_id, at_ns + lease_ns,
    )  # fmt: skip
    return ""


def _give_back(run: Run, agent: str, turn_id: str) -> None:
    run(
        """UPDATE inbox_messages SET state = 'staged', turn_id = ''
        WHERE agent_name = ? AND turn_id = ? AND state = 'taken' AND state <> 'done'""",
        agent, turn_id,
    )  # fmt: skip


def _choose(waiting: Sequence[InboxMessage], max_senders: int, max_messages: int) -> list[InboxMessage]:
    chosen: list[InboxMessage] = []
    senders: set[str] = set()
    for message in waiting:
        if len(chosen) < max_messages and (message.sender in senders or len(senders) < max_senders):
            senders.add(message.sender)
            chosen.append(message)
    return chosen


# ── the end of a turn ─────────────────────────────────────────────────────────────────────────────────────────────


def settle(db: Database, settled: Settled) -> None:
    """Everything a successful turn leaves, at once; refused when its lease was lost to another turn."""
    turn = turns.checked(settled.turn)
    if turn.outcome == "failed":
        raise BadValue("outcome", "a failed turn is ended by fail, which gives its messages back")
    with db.writing(log.chain_of(db, turn.agent, turn.user or turn.sender), f"talk:{turn.agent}") as run:
        _end_lease(run, turn)
        run(
            """UPDATE inbox_messages SET state = 'done', done_at_ns = ?
            WHERE agent_name = ? AND turn_id = ? AND state = 'taken' AND state <> 'done'""",
            turn.at_ns, turn.agent, turn.id,
        )  # fmt: skip
        for reply in settled.replies:
            _send(run, turn, reply)
        for name, entry in settled.entries:
            _append(run, turn.agent, sender(name), entry)
        turns.record_in(db, run, turn)


def fail(db: Database, turn: TurnRecord) -> None:
    """A turn that did not work: its messages wait again, nothing is remembered, the record says why (S0-13)."""
    turn = turns.checked(turn)
    if turn.outcome != "failed":
        raise BadValue("outcome", f"a failed turn is recorded as failed, not {turn.outcome}")
    with db.writing(log.chain_of(db, turn.agent, turn.user or turn.sender)) as run:
        _end_lease(run, turn)
        _give_back(run, turn.agent, turn.id)
        turns.record_in(db, run, turn)


def _end_lease(run: Run, turn: TurnRecord) -> None:
    if not run("DELETE FROM turn_leases WHERE agent_name = ? AND turn_id = ? RETURNING lane", turn.agent, turn.id):
        raise Busy(f"turn {turn.id} has no lease any more; another turn took over, so nothing of it is kept")


def _send(run: Run, turn: TurnRecord, reply: OutboxMessage) -> None:
    run(
        """INSERT INTO outbox_messages (agent_name, turn_id, recipient, part, channel, body, at_ns)
        VALUES (?, ?, ?, ?, ?, ?, ?)""",
        turn.agent, turn.id, sender(reply.recipient), when("part", reply.part), reply.channel,
        storable("body", reply.body), turn.at_ns,
    )  # fmt: skip


def unsent(db: Database, agent: str) -> list[tuple[str, OutboxMessage]]:
    """Replies that were not sent yet, each with its turn, oldest first."""
    rows = db.read(
        """SELECT turn_id, recipient, body, channel, part FROM outbox_messages
        WHERE agent_name = ? AND sent_at_ns = 0 ORDER BY at_ns, turn_id, recipient, part""",
        agent,
    )
    return [(row[0], OutboxMessage(*row[1:])) for row in rows]


def mark_sent(db: Database, agent: str, turn_id: str, reply: OutboxMessage, at_ns: int) -> bool:
    """Says that a reply was sent; whether this call was the one that said so."""
    with db.writing() as run:
        rows = run(
            """UPDATE outbox_messages SET sent_at_ns = ? WHERE agent_name = ? AND turn_id = ? AND recipient = ?
            AND part = ? AND sent_at_ns = 0 RETURNING part""",
            when("at", at_ns), agent, turn_id, sender(reply.recipient), reply.part,
        )  # fmt: skip
    return bool(rows)


# ── conversations ─────────────────────────────────────────────────────────────────────────────────────────────────

ENTRIES = "inbox_message_id, sender_body, agent_reply, turn_id, timestamp_ns"


def append_conversation(db: Database, agent: str, name: str, entry: ConversationEntry) -> None:
    """Adds an exchange: 20 stay per sender, 200 senders stay, 500 characters stay of each side (S0-12)."""
    with db.writing(f"talk:{named('agent', agent)}") as run:
        _append(run, agent, sender(name), entry)


def _append(run: Run, agent: str, key: str, entry: ConversationEntry) -> None:
    at_ns = when("timestamp", entry.timestamp_ns)
    seq = run(
        """INSERT INTO conversations (agent_name, sender, last_activity_ns, last_seq) VALUES (?, ?, ?, 1)
        ON CONFLICT (agent_name, sender) DO UPDATE SET last_seq = conversations.last_seq + 1, last_activity_ns =
        CASE WHEN excluded.last_activity_ns > conversations.last_activity_ns THEN excluded.last_activity_ns
        ELSE conversations.last_activity_ns END RETURNING last_seq""",
        agent, key, at_ns,
    )[0][0]  # fmt: skip
    run(
        f"INSERT INTO conversation_entries (agent_name, sender, seq, {ENTRIES}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        agent, key, seq, entry.inbox_message_id, storable("body", entry.sender_body)[:MAX_STORED_CHARS],
        storable("reply", entry.agent_reply)[:MAX_STORED_CHARS], entry.turn_id, at_ns,
    )  # fmt: skip
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
