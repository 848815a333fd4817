"""The inbox in SQL: a message is taken once, and a turn leaves all of what it did at its end, or nothing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from ..core.errors import BadValue, Busy
from ..core.records import Control, InboxMessage, Settled, TurnRecord
from . import controls, layers, log, notes, notices, outbox, proposals, turns
from .conversations import append_in, stored_sender
from .database import Database, Run, marks, named, one, storable, when

LOOKED_AT = 200
# SQLite takes the index of what is open only when it reads its very condition.
STAGED = "state = 'staged' AND state <> 'done'"


def stage(db: Database, agent: str, message: InboxMessage) -> bool:
    """Puts a message in the inbox; one that is there already (same id) stays as it is. Whether it is new."""
    with db.writing() as run:
        new = run.changed(_STAGE, *_cells(agent, message), "staged", "") > 0
        if new:
            notices.notify(db, run, agent)
    return new


_STAGE = """INSERT INTO inbox_messages (agent_name, message_id, sender, user_id, channel, body, received_at_ns, state,
    turn_id) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (agent_name, message_id) DO NOTHING"""


def _cells(agent: str, message: InboxMessage) -> tuple[str | int, ...]:
    return (
        named("agent", agent), named("message id", message.id), stored_sender(message.sender),
        named("user", message.user, empty=True), message.channel, storable("body", message.body),
        when("received_at", message.received_at_ns),
    )  # fmt: skip


_MESSAGES = "SELECT message_id, sender, body, received_at_ns, channel, user_id FROM inbox_messages"
_STAGED = f"{_MESSAGES} WHERE agent_name = ? AND {STAGED} {{whose}} ORDER BY seq LIMIT {LOOKED_AT}"
_ANY = _STAGED.format(whose="")
_OF_ONE = _STAGED.format(whose="AND sender || '' = ?")  # so that no index of all a sender ever sent is taken


def staged(db: Database, agent: str) -> list[InboxMessage]:
    """The messages that wait, oldest first; at most the first 200."""
    return [InboxMessage(*row) for row in db.read(_ANY, agent)]


_NEXT = f"""{_MESSAGES} WHERE seq IN (SELECT min(seq) FROM inbox_messages WHERE agent_name = ? AND {STAGED}
    GROUP BY sender, channel) ORDER BY seq"""


def next_of_each(db: Database, agent: str) -> list[InboxMessage]:
    """The oldest message that waits of each sender by each channel, oldest first."""
    return [InboxMessage(*row) for row in db.read(_NEXT, agent)]


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
    sender: str = "",
    message: InboxMessage | None = None,
    at_ns: int,
    lease_ns: int,
    max_senders: int = 5,
    max_messages: int = 20,
    day: str = "",
    may: Callable[[Control], None] | None = None,
) -> list[InboxMessage]:
    """Begins a turn: this lane is this turn's until the lease ends, and these messages are taken by it alone.

    The lane is a sender, or empty for the whole agent; with `sender`, only messages of that one are taken. A turn that
    died gives its messages back when its lease is over; one whose lease lies further ahead than a lease can (the clock
    went back) is over a lease from now. An agent that is paused begins no turn, and then nothing is staged. A `message`
    is staged in the same transaction; it stays when another turn has the lane. `may` is asked first, with the agent's
    control on this `day`; what it raises, this raises, and nothing was done.
    """
    named("agent", agent)
    named("turn", turn_id)
    lane = stored_sender(lane) if lane else ""
    only = stored_sender(sender) if sender else lane
    when("end of the lease", when("at", at_ns) + when("lease", lease_ns))
    with db.writing(f"lane:{agent}:{lane}") as run:
        free = run.changed(_IF_FREE, agent, lane, turn_id, at_ns + lease_ns) > 0
        if may is not None:
            control = controls.control_in(run, agent, day)
            may(control)
        controls.refuse_paused(agent, controls.paused_in(run, agent) if may is None else control.paused)
        busy = "" if free else _lease_held(run, agent, lane, turn_id, at_ns, lease_ns)
        mine: list[InboxMessage] = []
        if message is not None and not busy and max_senders > 0 and max_messages > 0:
            mine = _take_alone(run, agent, turn_id, only, message)
        if message is not None and not mine:
            new = run.changed(_STAGE, *_cells(agent, message), "staged", "")
            if busy and new:
                notices.notify(db, run, agent)
        if not busy and not mine:
            mine = _take(run, agent, turn_id, only, max_senders, max_messages)
    if busy:
        raise Busy(busy)
    return mine


def _take_alone(run: Run, agent: str, turn_id: str, only: str, message: InboxMessage) -> list[InboxMessage]:
    """A new message that nothing else waits before, staged and taken at once; none when it is not so."""
    cells = _cells(agent, message)
    if only != cells[2] or run(_OF_ONE, agent, only):
        return []
    if not run.changed(_STAGE, *cells, "taken", turn_id):
        return []
    return [message if message.sender == only else replace(message, sender=only)]


def _take(run: Run, agent: str, turn_id: str, only: str, max_senders: int, max_messages: int) -> list[InboxMessage]:
    rows = run(_OF_ONE, agent, only) if only else run(_ANY, agent)
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


_LEASE = (
    "INSERT INTO turn_leases (agent_name, lane, turn_id, until_ns) VALUES (?, ?, ?, ?) ON CONFLICT (agent_name, lane)"
)
_IF_FREE = f"{_LEASE} DO NOTHING"
_ANYWAY = f"{_LEASE} DO UPDATE SET turn_id = excluded.turn_id, until_ns = excluded.until_ns"


def _lease_held(run: Run, agent: str, lane: str, turn_id: str, at_ns: int, lease_ns: int) -> str:
    """Takes a lane that a turn had a moment ago; else who has it, in words."""
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
    run(_ANYWAY, agent, lane, turn_id, at_ns + lease_ns)
    return ""


def _give_back(run: Run, agent: str, turn_id: str) -> None:
    run(
        """UPDATE inbox_messages SET state = 'staged', turn_id = ''
        WHERE agent_name = ? AND turn_id = ? AND state = 'taken' AND state <> 'done'""",
        agent, turn_id,
    )  # fmt: skip


def renew(db: Database, agent: str, turn_id: str, *, until_ns: int) -> bool:
    """Prolongs the lease of a turn that still has one, never shortens it; whether it has."""
    until = when("end of the lease", until_ns)
    with db.writing() as run:
        held = run(
            """UPDATE turn_leases SET until_ns = CASE WHEN until_ns < ? THEN ? ELSE until_ns END
            WHERE agent_name = ? AND turn_id = ? RETURNING 1""",
            until, until, agent, turn_id,
        )  # fmt: skip
    return bool(held)


def lapse(db: Database, agent: str, at_ns: int) -> int:
    """Ends the leases that are over: what turns that died had taken waits again. How many there were."""
    with db.writing() as run:
        over = run(
            "DELETE FROM turn_leases WHERE agent_name = ? AND until_ns <= ? RETURNING turn_id",
            named("agent", agent), when("at", at_ns),
        )  # fmt: skip
        for (turn_id,) in over:
            _give_back(run, agent, turn_id)
    return len(over)


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
    chain = turns.chain_of(db, turn)
    with db.writing(*{*_locks(db, settled, turn), chain}) as run:
        _end_lease(run, turn)
        run(
            """UPDATE inbox_messages SET state = 'done', done_at_ns = ?
            WHERE agent_name = ? AND turn_id = ? AND state = 'taken' AND state <> 'done'""",
            turn.at_ns, turn.agent, turn.id,
        )  # fmt: skip
        for change in settled.changes:
            layers.commit_in(db, run, change)
        for note in settled.notes:
            notes.remember_in(db, run, turn.agent, note, turn.at_ns)
        for proposed in settled.proposals:
            proposals.propose_in(db, run, proposed, turn.at_ns)
        for reply in settled.replies:
            outbox.send_in(run, turn, reply)
        for name, entry in settled.entries:
            append_in(run, turn.agent, stored_sender(name), entry)
        turns.record_in(db, run, turn, chain)
        controls.spend_in(run, turn)


def _locks(db: Database, settled: Settled, turn: TurnRecord) -> set[str]:
    """What a turn's end writes to beside its own chain, known before the first statement; its own agent's alone."""
    if not (settled.changes or settled.notes or settled.proposals):
        return {f"talk:{turn.agent}"}
    places = [change.place for change in settled.changes] + [proposed.place for proposed in settled.proposals]
    if any(place.agent != turn.agent for place in places):
        raise BadValue("agent", f"turn {turn.id} is one of {turn.agent}'s; it changes no text of another agent")
    chains = {log.chain_at(db, place) for place in places}
    chains |= {log.chain_of(db, turn.agent, note.user) for note in settled.notes}
    return chains | {f"talk:{turn.agent}"}


def fail(db: Database, turn: TurnRecord) -> None:
    """A turn that did not work: its messages wait again, nothing is remembered, the record says why (S0-13)."""
    turn = turns.checked(turn)
    if turn.outcome != "failed":
        raise BadValue("outcome", f"a failed turn is recorded as failed, not {turn.outcome}")
    chain = turns.chain_of(db, turn)
    with db.writing(chain) as run:
        _end_lease(run, turn)
        _give_back(run, turn.agent, turn.id)
        turns.record_in(db, run, turn, chain)
        controls.spend_in(run, turn)


def _end_lease(run: Run, turn: TurnRecord) -> None:
    if not run.changed("DELETE FROM turn_leases WHERE agent_name = ? AND turn_id = ?", turn.agent, turn.id):
        raise Busy(f"turn {turn.id} has no lease any more; another turn took over, so nothing of it is kept")


def messages_of(db: Database, agent: str, turn_id: str) -> list[InboxMessage]:
    """What a turn took and dealt with, oldest first, as far as it is still kept."""
    rows = db.read(f"{_MESSAGES} WHERE agent_name = ? AND turn_id = ? AND turn_id <> '' ORDER BY seq", agent, turn_id)
    return [InboxMessage(*row) for row in rows]


def answered_by(db: Database, agent: str, message_id: str) -> str | None:
    """The turn that dealt with a message, empty while it waits or is in hand, None when it is unknown."""
    sql = "SELECT CASE WHEN state = 'done' THEN turn_id ELSE '' END FROM inbox_messages"
    row = one(db.read(f"{sql} WHERE agent_name = ? AND message_id = ?", agent, message_id))
    return str(row[0]) if row else None
