"""Schedules in SQL: each tick is begun by one worker, however many there are and whatever becomes of them."""

from __future__ import annotations

from typing import get_args

from ..core.errors import BadValue, NotStored
from ..core.served import CatchUp, Run, RunState, Schedule
from ..zones import time_zone
from .conversations import stored_sender
from .database import Database, named, one, storable, when

MAX_CRON_CHARS = 200
_COLUMNS = "schedule_id, agent_name, cron, timezone, body, channel, recipient, user_id, catch_up, made_by, at_ns"
_ADD = f"""INSERT INTO schedules ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (schedule_id) DO NOTHING RETURNING 1"""
_RUN = "schedule_id, tick_ns, state, turn_id, code, at_ns"
_BEGIN = f"""INSERT INTO schedule_runs ({_RUN}) SELECT schedule_id, ?, 'begun', '', '', ? FROM schedules
    WHERE schedule_id = ? ON CONFLICT (schedule_id, tick_ns) DO NOTHING RETURNING 1"""
_END = """UPDATE schedule_runs SET state = ?, turn_id = ?, code = ?, at_ns = ? WHERE schedule_id = ? AND tick_ns = ?
    AND state = 'begun' RETURNING 1"""
_RUNS = f"SELECT {_RUN} FROM schedule_runs WHERE schedule_id = ? ORDER BY tick_ns DESC LIMIT ?"


def add_schedule(db: Database, schedule: Schedule) -> None:
    """Keeps a schedule; whether its rule is one the clock can follow, who makes it has looked."""
    cells = _checked(schedule)
    with db.writing(lock(schedule.id)) as run:
        if not run(_ADD, *cells):
            raise BadValue("schedule", "there is one of this id already; give each an id of its own")


def _checked(made: Schedule) -> tuple[str | int, ...]:
    if made.catch_up not in get_args(CatchUp):
        raise BadValue("catch_up", f"one of {', '.join(get_args(CatchUp))}")
    if not storable("text", made.text).strip():
        raise BadValue("text", "must not be empty")
    time_zone(made.timezone)
    return (
        named("schedule", made.id), named("agent", made.agent), named("cron", made.cron, limit=MAX_CRON_CHARS),
        made.timezone, made.text, named("channel", made.channel),
        stored_sender(made.recipient) if made.recipient else "", named("user", made.user, empty=True), made.catch_up,
        storable("author", made.by), when("at", made.at_ns),
    )  # fmt: skip


def lock(schedule_id: str) -> str:
    """Who begins a run waits for who takes the schedule away, so that no run is left of one that is gone."""
    return f"schedule:{schedule_id}"


def schedule(db: Database, schedule_id: str) -> Schedule:
    """One schedule by its id."""
    row = one(db.read(f"SELECT {_COLUMNS} FROM schedules WHERE schedule_id = ?", schedule_id))
    if row is None:
        raise _unknown()
    return Schedule(*row)


def schedules(db: Database, agent: str = "") -> list[Schedule]:
    """Schedules of one agent or of all, oldest first."""
    which = ("WHERE agent_name = ?", (agent,)) if agent else ("", ())
    rows = db.read(f"SELECT {_COLUMNS} FROM schedules {which[0]} ORDER BY at_ns, schedule_id", *which[1])
    return [Schedule(*row) for row in rows]


def remove_schedule(db: Database, schedule_id: str) -> Schedule:
    """Takes a schedule away with what is known of its runs; what it was."""
    with db.writing(lock(storable("schedule", schedule_id))) as run:
        row = one(run(f"DELETE FROM schedules WHERE schedule_id = ? RETURNING {_COLUMNS}", schedule_id))
        if row is None:
            raise _unknown()
        run("DELETE FROM schedule_runs WHERE schedule_id = ?", schedule_id)
    return Schedule(*row)


def _unknown() -> NotStored:
    return NotStored("schedule of this id", "see: charter schedule list")


# ── runs ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def begin_run(db: Database, schedule_id: str, tick_ns: int, *, at_ns: int) -> bool:
    """Whether this tick is the caller's: of all who ask, in any process, one is told so; of a schedule that is gone,
    nobody."""
    tick, at = when("tick", tick_ns), when("at", at_ns)
    with db.writing(lock(storable("schedule", schedule_id))) as run:
        return bool(run(_BEGIN, tick, at, schedule_id))


def end_run(
    db: Database, schedule_id: str, tick_ns: int, *, state: RunState, turn_id: str = "", code: str = "", at_ns: int
) -> bool:
    """Says how a run ended, once; whether this call was the one that said so."""
    if state not in ("done", "failed"):
        raise BadValue("state", "a run ends done or failed")
    cells = (state, named("turn", turn_id, empty=True), named("code", code, empty=True), when("at", at_ns))
    with db.writing() as run:
        return bool(run(_END, *cells, schedule_id, when("tick", tick_ns)))


def runs(db: Database, schedule_id: str, limit: int = 50) -> list[Run]:
    """The newest runs of a schedule, newest first."""
    return [Run(*row) for row in db.read(_RUNS, schedule_id, max(limit, 0))]


def last_run(db: Database, schedule_id: str) -> Run | None:
    """The run of the newest tick that was begun."""
    return next(iter(runs(db, schedule_id, 1)), None)
