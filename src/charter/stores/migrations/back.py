"""The way back: what changed since goes into the archive before it gets its old names again; the rest stays untouched.

Souls. An agent whose soul differs gets it as its system prompt; an agent that is new gets a row.
Instructions. Where the text is still what the old rows say together, they stay. Where it differs, one row
(type `instructions`, priority 0, content `{"instructions": text}`) stands in place of those that were switched on; it
keeps the other columns of the first of them. Rows that were switched off stay; one that has the type `instructions`
itself gets `_old` after it.
Notes. A new note goes under the old text of its user and agent, a blank line between. An imported note that was taken
back since leaves an empty text.
What the old design has no place for goes: histories, labels, proposals, messages, turns, identities, time zones.
"""

from __future__ import annotations

import json
import uuid
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Connection, text

from . import legacy
from .forward import IMPORTED
from .legacy import OldNote, OldSetting
from .readable import BARE
from .tables import archive

_FILL = {"bool": True, "int": 0, "num": 0, "real": 0, "float": 0, "double": 0, "json": "{}"}


def souls(bind: Connection) -> None:
    """System prompts as the souls are now."""
    old = {agent.agent: agent.text for agent in legacy.agents(bind)}
    table = archive("agent_configurations")
    for agent, soul in bind.execute(text("SELECT agent_name, COALESCE(soul, '') FROM agent_configurations")).all():
        if agent not in old:
            _insert(bind, table, {"agent_name": agent, "system_prompt": soul})
        elif soul != old[agent]:
            sql = f"UPDATE {table} SET system_prompt = :soul WHERE CAST(agent_name AS TEXT) = :agent"
            bind.execute(text(sql), {"soul": soul, "agent": agent})


def instructions(bind: Connection) -> None:
    """Customizations as the instructions are now."""
    sql = "SELECT user_id, agent_name, instructions FROM user_agent_prompt_customizations"
    now = {(user, agent): said for user, agent, said in bind.execute(text(sql))}
    old = legacy.instructions(bind)
    for pair in sorted({*now, *old}):
        said = now.get(pair, "")
        if said != legacy.merged(old.get(pair, ())):
            _replace(bind, pair, old.get(pair, ()), said)


def _replace(bind: Connection, pair: tuple[str, str], old: Sequence[OldSetting], said: str) -> None:
    """One row in place of those that were switched on."""
    table, row_is = archive("user_agent_prompt_customizations"), _row_is(bind)
    on, off = [row for row in old if row.active], [row for row in old if not row.active]
    for setting in on[1:]:
        bind.execute(text(f"DELETE FROM {table} WHERE {row_is}"), {"row": setting.row})
    taken = {setting.type for setting in off}
    for setting in off:
        if setting.type == BARE:
            name = f"{BARE}_old"
            while name in taken:
                name += "_old"
            bind.execute(
                text(f"UPDATE {table} SET customization_type = :type WHERE {row_is}"),
                {"type": name, "row": setting.row},
            )
    values = {"customization_type": BARE, "content": json.dumps({BARE: said}, ensure_ascii=False), "priority": 0}
    if on:
        _update(bind, table, on[0].row, values)
    else:
        _insert(bind, table, {"user_id": pair[0], "agent_name": pair[1], "is_active": True, **values})


def notes(bind: Connection) -> None:
    """The old memory with what was remembered since, and without what was taken back."""
    live: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    new: dict[tuple[str, str], list[str]] = defaultdict(list)
    old: dict[tuple[str, str], list[OldNote]] = defaultdict(list)
    for note in legacy.notes(bind):
        old[note.user, note.agent].append(note)
    sql = """SELECT user_id, agent_name, notes, source FROM agent_long_term_memory WHERE revoked_at_ns = 0
        ORDER BY note_id"""
    for user, agent, said, source in bind.execute(text(sql)):
        if source == IMPORTED:
            live[user, agent][said] += 1
        else:
            new[user, agent].append(said)
    table = archive("agent_long_term_memory")
    for pair in sorted({*old, *new, *live}):
        texts = {note.row: _kept(note, live[pair]) for note in old[pair]}
        more = [*live[pair].elements(), *new[pair]]
        if more and old[pair]:
            last = old[pair][-1].row
            texts[last] = "\n\n".join(said for said in (texts[last], *more) if said.strip())
        for note in old[pair]:
            if texts[note.row] != note.text:
                _update(bind, table, note.row, {"notes": texts[note.row]})
        if more and not old[pair]:
            _insert(bind, table, {"user_id": pair[0], "agent_name": pair[1], "notes": "\n\n".join(more)})


def _kept(note: OldNote, live: Counter[str]) -> str:
    """The old text if its note is still there, else nothing; takes it out of `live`."""
    if not note.text.strip():
        return note.text
    here = live[note.text] > 0
    live[note.text] -= here
    return note.text if here else ""


def _row_is(bind: Connection) -> str:
    return "ctid = CAST(:row AS tid)" if bind.dialect.name == "postgresql" else "rowid = :row"


def _marks(bind: Connection, has: Mapping[str, legacy.Column], names: Iterable[str]) -> list[str]:
    """A place for each value; PostgreSQL is told the type of the column, SQLite keeps what it is given."""
    told = bind.dialect.name == "postgresql"
    return [f"CAST(:v{i} AS {has[name].type})" if told else f":v{i}" for i, name in enumerate(names)]


def _values(row: Mapping[str, Any]) -> dict[str, Any]:
    return {f"v{i}": value for i, value in enumerate(row.values())}


def _update(bind: Connection, table: str, row: object, values: Mapping[str, Any]) -> None:
    marks = _marks(bind, legacy.columns(bind, table), values)
    changes = ", ".join(f"{name} = {mark}" for name, mark in zip(values, marks, strict=True))
    bind.execute(text(f"UPDATE {table} SET {changes} WHERE {_row_is(bind)}"), {**_values(values), "row": row})


def _insert(bind: Connection, table: str, values: Mapping[str, Any]) -> None:
    """A row with these values; a column we know nothing of that must have a value gets a plain one."""
    has = legacy.columns(bind, table)
    key = str(uuid.uuid5(uuid.NAMESPACE_URL, f"charter:{table}:{'/'.join(map(str, values.values()))}"))
    row = {name: _filled(column.type, key) for name, column in has.items() if column.required}
    row |= {name: value for name, value in values.items() if name in has and (value != "" or has[name].required)}
    names = ", ".join(f'"{name}"' for name in row)
    bind.execute(text(f"INSERT INTO {table} ({names}) VALUES ({', '.join(_marks(bind, has, row))})"), _values(row))


def _filled(kind: str, key: str) -> object:
    """A plain value of a type: a name for text and uuid, now for a date, else zero, true or {}."""
    if "time" in kind or "date" in kind:
        return datetime.now(UTC).isoformat(sep=" ")
    return next((value for part, value in _FILL.items() if part in kind), key)
