"""The old assistant's rows as plain values, read by name: columns we do not know may be there or not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import Connection, text

from .readable import clean, readable_json, words
from .tables import archive

ROW = {"sqlite": "rowid", "postgresql": "ctid"}
_TABLES = {
    "sqlite": "SELECT name FROM sqlite_master WHERE type IN ('table', 'view')",
    "postgresql": "SELECT relname FROM pg_class WHERE relnamespace = current_schema()::regnamespace",
}
_COLUMNS = {
    "sqlite": """SELECT name, type, ("notnull" = 1 OR pk > 0) AND dflt_value IS NULL
        AND NOT (pk > 0 AND upper(type) = 'INTEGER') FROM pragma_table_info(:name)""",
    "postgresql": """SELECT attname, format_type(atttypid, NULL), attnotnull AND NOT atthasdef AND attidentity = ''
        FROM pg_attribute WHERE attrelid = to_regclass(:name) AND attnum > 0 AND NOT attisdropped ORDER BY attnum""",
}
_OFF = frozenset(("false", "f", "0", "no", "off"))
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_LABEL_CHARS = 24


@dataclass(frozen=True, slots=True)
class Column:
    """A column of an old table; one that is `required` has no value of its own."""

    type: str
    required: bool


@dataclass(frozen=True, slots=True)
class OldAgent:
    """An agent and its system prompt."""

    agent: str
    text: str = field(repr=False)
    at_ns: int


@dataclass(frozen=True, slots=True)
class OldSetting:
    """One customization, in words; `row` is where it lies."""

    user: str
    agent: str
    type: str
    text: str = field(repr=False)
    active: bool
    at_ns: int
    row: object


@dataclass(frozen=True, slots=True)
class OldNote:
    """What was remembered of a user, in one text; `row` is where it lies."""

    user: str
    agent: str
    text: str = field(repr=False)
    at_ns: int
    row: object


def tables(bind: Connection) -> set[str]:
    """Names of everything that lies beside the old tables."""
    return {row[0] for row in bind.execute(text(_TABLES[bind.dialect.name]))}


def columns(bind: Connection, table: str) -> dict[str, Column]:
    """The columns of a table, in their order."""
    rows = bind.execute(text(_COLUMNS[bind.dialect.name]), {"name": table})
    return {row[0]: Column(row[1].lower(), bool(row[2])) for row in rows}


def has_constraint(bind: Connection, table: str, name: str) -> bool:
    """Whether a table on PostgreSQL has a constraint of this name."""
    sql = "SELECT 1 FROM pg_constraint WHERE conrelid = to_regclass(:table) AND conname = :name"
    return bind.execute(text(sql), {"table": table, "name": name}).first() is not None


def agents(bind: Connection) -> list[OldAgent]:
    """Every agent; of rows with one name the last changed counts."""
    rows = _read(bind, "agent_configurations", ("agent_name", "system_prompt"))
    found = [OldAgent(name, clean(prompt or ""), at) for _, at, name, prompt in rows if name]
    return sorted({agent.agent: agent for agent in sorted(found, key=lambda agent: agent.at_ns)}.values(), key=_name)


def instructions(bind: Connection) -> dict[tuple[str, str], list[OldSetting]]:
    """Customizations by user and agent, in the order they merge: higher priority first, then by type, then by id.

    Rows that name no user or no agent belong to nobody who could read or change them: they stay in the archive.
    """
    found: dict[tuple[str, str], list[tuple[float, OldSetting]]] = {}
    wanted = ("user_id", "agent_name", "customization_type", "content", "priority", "is_active")
    for row, at, user, agent, kind, content, priority, active in _read(
        bind, "user_agent_prompt_customizations", wanted
    ):
        if user and agent:
            spoken = _labelled(kind or "", readable_json(content))
            setting = OldSetting(user, agent, kind or "", spoken, (active or "").lower() not in _OFF, at, row)
            found.setdefault((user, agent), []).append((_number(priority), setting))
    return {
        pair: [setting for _, setting in sorted(some, key=lambda ranked: (-ranked[0], ranked[1].type))]
        for pair, some in sorted(found.items())
    }


def merged(settings: Sequence[OldSetting]) -> str:
    """One text of a user's customizations: those that are switched on and say something, a blank line between."""
    return "\n\n".join(setting.text for setting in settings if setting.active and setting.text)


def notes(bind: Connection) -> list[OldNote]:
    """Every row of the old memory, the oldest first; one without a user is the agent's own."""
    rows = _read(bind, "agent_long_term_memory", ("user_id", "agent_name", "notes"))
    found = [OldNote(user or "", agent, clean(said or ""), at, row) for row, at, user, agent, said in rows if agent]
    return sorted(found, key=lambda note: (note.at_ns, note.agent, note.user))


def moment(*dates: str | None) -> int:
    """The first of these that is a date, as nanoseconds since 1970; 0 when none is."""
    for date in dates:
        try:
            at = datetime.fromisoformat(date or "")
        except ValueError:
            continue
        at_ns = (at.replace(tzinfo=at.tzinfo or UTC) - _EPOCH) // timedelta(microseconds=1) * 1000
        if 0 < at_ns < 2**63:
            return at_ns
    return 0


def _read(bind: Connection, table: str, wanted: Sequence[str]) -> list[tuple[Any, ...]]:
    """Where each row lies, when it last changed, and these columns as text; in the order of `id` where there is one."""
    has = columns(bind, archive(table))
    cells = [f"CAST({name} AS TEXT)" if name in has else "NULL" for name in ("updated_at", "created_at", *wanted)]
    row = ROW[bind.dialect.name]
    sql = f"SELECT {row}, {', '.join(cells)} FROM {archive(table)} ORDER BY {'id' if 'id' in has else row}"
    return [(found[0], moment(found[1], found[2]), *found[3:]) for found in bind.execute(text(sql))]


def _labelled(kind: str, spoken: str) -> str:
    """One word alone says nothing without the type it was filed under."""
    single = 0 < len(spoken) <= _LABEL_CHARS and len(spoken.split()) == 1
    return f"{words(kind)}: {spoken}" if single and kind else spoken


def _number(value: str | None) -> float:
    try:
        return float(value or 0)
    except ValueError:
        return 0.0


def _name(agent: OldAgent) -> str:
    return agent.agent
