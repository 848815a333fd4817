"""Stored layers in SQL: the text now, every text it was, and names for versions; nothing is overwritten."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass

from ..core.errors import BadValue, Conflict, NotStored
from ..core.records import Author, Change, Head, Label, Place, StoredLayer, Version
from . import log, notices
from .database import Database, Read, Run, named, one, storable, when


@dataclass(frozen=True, slots=True)
class _Sql:
    """Where one kind of head lies; `set` and `new` take content, time, author, version, then the key."""

    read: str
    set: str
    new: str
    key: Callable[[Place], tuple[str, ...]]


def _configured(column: str) -> _Sql:
    return _Sql(
        f"SELECT CAST(c.{column} AS TEXT), COALESCE(v.at_ns, c.updated_at_ns), COALESCE(v.updated_by, c.updated_by),"
        f" c.{column}_version FROM agent_configurations c LEFT JOIN layer_versions v ON v.agent_name = c.agent_name"
        f" AND v.user_id = '' AND v.layer_id = '{column}' AND v.version = c.{column}_version"
        f" WHERE c.agent_name = ? AND c.{column}_version > 0",
        f"UPDATE agent_configurations SET {column} = ?, updated_at_ns = ?, updated_by = ?, {column}_version = ?"
        f" WHERE agent_name = ? AND {column}_version = ? RETURNING 1",
        f"INSERT INTO agent_configurations ({column}, updated_at_ns, updated_by, {column}_version, agent_name)"
        " VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING RETURNING 1",
        lambda place: (place.agent,),
    )


_HEADS = {
    Head.LAYER: _Sql(
        "SELECT content, updated_at_ns, updated_by_turn, version FROM prompt_layers"
        " WHERE agent_name = ? AND layer_id = ?",
        "UPDATE prompt_layers SET content = ?, updated_at_ns = ?, updated_by_turn = ?, version = ?"
        " WHERE agent_name = ? AND layer_id = ? AND version = ? RETURNING 1",
        "INSERT INTO prompt_layers (content, updated_at_ns, updated_by_turn, version, agent_name, layer_id)"
        " VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING RETURNING 1",
        lambda place: (place.agent, place.layer_id),
    ),
    Head.SOUL: _configured("soul"),
    Head.IDENTITY: _configured("identity"),
    Head.INSTRUCTIONS: _Sql(
        "SELECT instructions, updated_at_ns, updated_by, version FROM user_agent_prompt_customizations"
        " WHERE user_id = ? AND agent_name = ? AND version > 0",
        "UPDATE user_agent_prompt_customizations SET instructions = ?, updated_at_ns = ?, updated_by = ?, version = ?"
        " WHERE user_id = ? AND agent_name = ? AND version = ? RETURNING 1",
        "INSERT INTO user_agent_prompt_customizations (instructions, updated_at_ns, updated_by, version, user_id,"
        " agent_name) VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING RETURNING 1",
        lambda place: (place.user, place.agent),
    ),
}
_ZERO = re.compile(r"(?<!\\)(?:\\\\)*\\u0000")  # a NUL as JSON writes it
ERASED = "erased:"
_INSERT_VERSION = """INSERT INTO layer_versions (agent_name, user_id, layer_id, version, content, sha256, key_id, actor,
    updated_by, at_ns, restores) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"""
_VERSIONS = """SELECT version, content, sha256, key_id, actor, updated_by, at_ns, restores FROM layer_versions
    WHERE agent_name = ? AND user_id = ? AND layer_id = ?"""


def head(db: Database, place: Place) -> StoredLayer | None:
    """The text now."""
    return _head(db.read, place)


def _head(run: Read, place: Place) -> StoredLayer | None:
    sql = _HEADS[place.head]
    row = one(run(sql.read, *sql.key(place)))
    return StoredLayer(place.layer_id, row[0], row[1], row[2], row[3]) if row else None


def commit(db: Database, change: Change) -> StoredLayer:
    """The next version, if the text is still at the version the change was made on; else Conflict and nothing."""
    with db.writing(log.chain_at(db, change.place)) as run:
        return commit_in(db, run, change)


def commit_in(db: Database, run: Run, change: Change) -> StoredLayer:
    """The same, inside a transaction that holds the chain's lock."""
    place, expected, by = checked(change.place), change.expected_version, change.by
    storable("content", change.content)
    if place.head is Head.IDENTITY:
        _object(change.content)
    sql, version, at_ns = _HEADS[place.head], expected + 1, when("at", change.at_ns)
    values = (change.content, at_ns, by.mark, version, *sql.key(place))
    written = run(sql.set, *values, expected) or (run(sql.new, *values) if expected == 0 else [])
    if not written:
        current = _head(run, place)
        raise Conflict(place.layer_id, expected=expected, current=current.version if current else 0)
    personal = bool(place.user)
    digest, key_id = db.keys.text_hash(change.content, personal=personal)
    run(
        _INSERT_VERSION, place.agent, place.user, place.layer_id, version, change.content, digest, key_id,
        str(by.actor), by.mark, at_ns, change.restores,
    )  # fmt: skip
    log.append(
        db,
        run,
        log.chain_at(db, place),
        kind=change.kind,
        place=place.layer_id,
        version=version,
        content_sha256=digest,
        actor=log.actor_of(db, by, personal=personal),
        at_ns=at_ns,
        detail=f"restores {change.restores}" if change.restores else "",
    )
    notices.notify(db, run, place.agent)
    return StoredLayer(place.layer_id, change.content, at_ns, by.mark, version)


def checked(place: Place) -> Place:
    """A place a text can be written to: its names can be kept, and it is a user's if it is instructions, else not."""
    for field, name in (("agent", place.agent), ("layer", place.layer_id)):
        named(field, name)
    if place.head is Head.INSTRUCTIONS and not place.user:
        raise BadValue("user", "instructions belong to a user; none was named")
    if place.head is not Head.INSTRUCTIONS and place.user:
        raise BadValue("user", f"{place.layer_id} is the agent's; only instructions belong to a user")
    named("user", place.user, empty=True)
    if place.user.startswith(ERASED):
        raise BadValue("user", f"names that begin with {ERASED} are kept for those who were forgotten")
    return place


def _object(text: str) -> None:
    """An identity both databases can keep: a JSON object, or null for none."""
    try:
        value = json.loads(text)
        plain = storable("identity", json.dumps(value, ensure_ascii=False, allow_nan=False))
    except (ValueError, RecursionError):
        raise BadValue("identity", "not JSON that can be kept; write an object of name, description and vibe") from None
    if _ZERO.search(plain) or (value is not None and not isinstance(value, dict)):
        raise BadValue("identity", "a JSON object of name, description and vibe, or null for none")


def history(db: Database, place: Place) -> list[Version]:
    """Every version, oldest first."""
    rows = db.read(f"{_VERSIONS} ORDER BY version", place.agent, place.user, place.layer_id)
    return [Version(*row) for row in rows]


def version(db: Database, place: Place, number: int) -> Version:
    """One version of a layer."""
    found = one(db.read(f"{_VERSIONS} AND version = ?", place.agent, place.user, place.layer_id, number))
    if found is None:
        raise NotStored(f"version {number} of {place.layer_id}", f"see: charter history {place.layer_id}")
    return Version(*found)


def version_at(db: Database, place: Place, at_ns: int) -> Version | None:
    """The newest version that was there at this time."""
    key = (place.agent, place.user, place.layer_id, at_ns)
    found = one(db.read(f"{_VERSIONS} AND at_ns <= ? ORDER BY version DESC LIMIT 1", *key))
    return Version(*found) if found else None


def set_label(db: Database, place: Place, label: str, number: int, by: Author, at_ns: int) -> Label:
    """Names a version; a label that was elsewhere moves."""
    named("label", label, limit=40)
    if place.user:
        raise BadValue("user", "labels name versions of an agent's layers, not of a user's texts")
    version(db, place, number)
    chain = log.chain_of(db, place.agent)
    with db.writing(chain) as run:
        run(
            "INSERT INTO layer_labels (agent_name, layer_id, label, version, set_by, at_ns) VALUES (?, ?, ?, ?, ?, ?)"
            " ON CONFLICT (agent_name, layer_id, label) DO UPDATE"
            " SET version = excluded.version, set_by = excluded.set_by, at_ns = excluded.at_ns",
            place.agent, place.layer_id, label, number, by.mark, when("at", at_ns),
        )  # fmt: skip
        log.append(
            db, run, chain, kind="label", place=place.layer_id, version=number,
            actor=log.actor_of(db, by, personal=False), at_ns=at_ns, detail=label,
        )  # fmt: skip
    return Label(place.layer_id, label, number, by.mark, at_ns)


def labels(db: Database, agent: str) -> list[Label]:
    """Every label of an agent's layers."""
    rows = db.read(
        """SELECT layer_id, label, version, set_by, at_ns FROM layer_labels WHERE agent_name = ?
        ORDER BY label, layer_id""",
        agent,
    )
    return [Label(*row) for row in rows]
