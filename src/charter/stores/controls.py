"""The stop switch and the day's spending in SQL: an agent that is paused begins no turn, in no process (N-19)."""

from __future__ import annotations

from datetime import UTC, date, datetime
from functools import lru_cache

from ..core.errors import BadValue, Paused
from ..core.records import Author, Control, TurnRecord
from . import log, notices
from .database import Database, Read, Run, named, storable, when

MAX_REASON_CHARS = 500
PLACE = "agent"
DAY_NS = 24 * 3600 * 10**9
_PAUSED = "SELECT paused FROM agent_controls WHERE agent_name = ?"
_CONTROL = """SELECT COALESCE(c.paused, 0), COALESCE(c.paused_by, ''), COALESCE(c.paused_at_ns, 0),
    COALESCE(c.reason, ''), c.tokens_per_day, c.turns_per_day, COALESCE(s.tokens, 0), COALESCE(s.turns, 0)
    FROM (SELECT 1) w LEFT JOIN agent_controls c ON c.agent_name = ?
    LEFT JOIN agent_spend s ON s.agent_name = ? AND s.day = ?"""
_SWITCH = """INSERT INTO agent_controls (agent_name, paused, paused_by, paused_at_ns, reason) VALUES (?, ?, ?, ?, ?)
    ON CONFLICT (agent_name) DO UPDATE SET paused = excluded.paused, paused_by = excluded.paused_by,
    paused_at_ns = excluded.paused_at_ns, reason = excluded.reason"""
_LIMIT = """INSERT INTO agent_controls (agent_name, tokens_per_day, turns_per_day) VALUES (?, ?, ?)
    ON CONFLICT (agent_name) DO UPDATE SET tokens_per_day = excluded.tokens_per_day,
    turns_per_day = excluded.turns_per_day"""
_SPEND = """INSERT INTO agent_spend (agent_name, day, tokens, turns) VALUES (?, ?, ?, 1)
    ON CONFLICT (agent_name, day) DO UPDATE SET tokens = agent_spend.tokens + excluded.tokens,
    turns = agent_spend.turns + 1"""


# ── the switch ────────────────────────────────────────────────────────────────────────────────────────────────────


def control(db: Database, agent: str, day: str) -> Control:
    """Whether an agent may act, its limits, and what it spent on this day (UTC), in one read."""
    return control_in(db.read, agent, day)


def control_in(run: Read, agent: str, day: str) -> Control:
    """The same, inside a transaction."""
    row = run(_CONTROL, agent, agent, _day(day))[0]
    return Control(bool(row[0]), *row[1:])


def pause(db: Database, agent: str, *, by: Author, at_ns: int, reason: str = "") -> None:
    """Stops an agent: from here on no turn of it begins. Who pauses it again is who it was paused by."""
    reason = storable("reason", reason)[:MAX_REASON_CHARS]
    with db.writing(named("agent", agent)) as run:
        run(_SWITCH, agent, 1, storable("author", by.mark), when("at", at_ns), reason)
        log.append(
            db, run, agent, kind="pause", place=PLACE, content_sha256=db.keys.text_hash(reason, personal=True)[0],
            actor=log.actor_of(db, by, personal=False), at_ns=at_ns,
        )  # fmt: skip
        notices.notify(db, run, agent)


def resume(db: Database, agent: str, *, by: Author, at_ns: int) -> None:
    """Lets an agent act again; one that was not paused goes on as it did."""
    with db.writing(named("agent", agent)) as run:
        run(_SWITCH, agent, 0, "", 0, "")
        actor = log.actor_of(db, by, personal=False)
        log.append(db, run, agent, kind="resume", place=PLACE, actor=actor, at_ns=when("at", at_ns))
        notices.notify(db, run, agent)


def limit(
    db: Database, agent: str, *, by: Author, at_ns: int, tokens_per_day: int | None, turns_per_day: int | None
) -> None:
    """Sets what an agent may spend in a day, both at once; None is no limit."""
    tokens, turns = _most("tokens", tokens_per_day), _most("turns", turns_per_day)
    with db.writing(named("agent", agent)) as run:
        run(_LIMIT, agent, tokens, turns)
        log.append(
            db, run, agent, kind="limit", place=PLACE, actor=log.actor_of(db, by, personal=False),
            at_ns=when("at", at_ns), detail=limits_of(tokens, turns),
        )  # fmt: skip


def limits_of(tokens: int | None, turns: int | None) -> str:
    """Limits as the log tells of them: tokens and turns, `-` for none."""
    return " ".join("-" if most is None else str(most) for most in (tokens, turns))


def paused_in(run: Read, agent: str) -> bool:
    """Whether an agent is paused, read in the transaction that would begin its turn."""
    found = run(_PAUSED, agent)
    return bool(found and found[0][0])


def refuse_paused(agent: str, paused: bool) -> None:
    """Refuses an agent that was found to be paused."""
    if paused:
        raise Paused(f"agent {agent} is paused and begins no turn; a person has to resume it")


# ── spending ──────────────────────────────────────────────────────────────────────────────────────────────────────


def spend_in(run: Run, turn: TurnRecord) -> None:
    """Counts a turn to its day, in the transaction that ends it; last, since the day is one row for all its turns."""
    run(_SPEND, turn.agent, day_of(turn.at_ns), cost(turn))


def cost(turn: TurnRecord) -> int:
    """The tokens a turn is billed with: what the model read and what it wrote."""
    return max(turn.counts.get("input", 0) + turn.counts.get("output", 0), 0)


def day_of(at_ns: int) -> str:
    """The day of a time, in UTC."""
    return _named(at_ns // DAY_NS)


@lru_cache(maxsize=64)
def _named(number: int) -> str:
    return datetime.fromtimestamp(number * DAY_NS // 10**9, UTC).date().isoformat()


@lru_cache(maxsize=64)
def _day(day: str) -> str:
    try:
        return date.fromisoformat(day).isoformat()
    except ValueError:
        raise BadValue("day", "a day is written YYYY-MM-DD") from None


def _most(field: str, most: int | None) -> int | None:
    if most is not None and not 0 <= most < 2**63:
        raise BadValue(f"{field} per day", "a number of at least 0, or none for no limit")
    return most
