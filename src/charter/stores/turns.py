"""Turn records in SQL: hashes, codes and counts of every turn, each a link of a chain (N-01)."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from functools import lru_cache

from ..core.errors import Conflict, NotStored
from ..core.incoming import sender_key
from ..core.keyring import KeyRing
from ..core.records import TurnRecord
from ..written import ascii_json
from . import log
from .database import Database, Row, Run, named, one, when

COLUMNS = """agent_name, turn_id, at_ns, channel, sender, user_id, charter, charter_version, mode, outcome, code,
    stack_sha256, payload_sha256, tools_sha256, manifest, counts, detail"""

NO_DETAIL = "{}"
_RECORD = f"""INSERT INTO turn_records ({COLUMNS}, chain) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (agent_name, turn_id) DO NOTHING"""
_WRITTEN = json.JSONEncoder(sort_keys=True).encode


def record_hash(turn: TurnRecord) -> str:
    """What a turn's log row proves: everything of the record but the names of people. Its form is a contract.

    It is the SHA-256 of a JSON array, non-ASCII escaped, no space between its values: "charter-turn-2", the fields in
    this order and at the end `detail`. A record without a detail (`{}`) has "charter-turn-1" and no last value, as all
    had before there was one.
    """
    return _record_hash(turn, counted(turn))


def _record_hash(turn: TurnRecord, counts: str) -> str:
    plain = turn.detail == NO_DETAIL
    fields: tuple[str | int, ...] = (
        "charter-turn-1" if plain else "charter-turn-2",
        turn.agent, turn.id, turn.at_ns, turn.channel, turn.charter, turn.charter_version, turn.mode, turn.outcome,
        turn.code, turn.stack_sha256, turn.payload_sha256, turn.tools_sha256, turn.manifest,
        counts, *(() if plain else (turn.detail,)),
    )  # fmt: skip
    return hashlib.sha256(ascii_json(fields)).hexdigest()


def counted(turn: TurnRecord) -> str:
    """A record's counts as they are kept and proved."""
    return _WRITTEN(dict(turn.counts))


def names(turn: TurnRecord) -> str:
    """What the log proves apart, by a keyed hash, so that a record outlives the names in it."""
    return _names(turn.sender, turn.user)


@lru_cache(maxsize=1024)
def _names(sender: str, user: str) -> str:
    return _WRITTEN([sender, user])


@lru_cache(maxsize=1024)
def _names_hash(keys: KeyRing, names: str) -> str:
    return keys.text_hash(names, personal=True)[0]


def checked(turn: TurnRecord) -> TurnRecord:
    """A record whose names and time can be kept, under the key its sender is known by."""
    named("agent", turn.agent)
    named("turn", turn.id)
    when("at", turn.at_ns)
    key = sender_key(turn.sender)
    return turn if key == turn.sender else replace(turn, sender=key)


def chain_of(db: Database, turn: TurnRecord) -> str:
    """The chain a turn is a link of: that of who spoke with this agent, or the agent's own."""
    return log.chain_of(db, turn.agent, turn.user or turn.sender)


def record_in(db: Database, run: Run, turn: TurnRecord, chain: str) -> None:
    """Keeps a turn, inside the transaction that ends it and holds its chain."""
    counts = counted(turn)
    written = run.changed(
        _RECORD,
        turn.agent, turn.id, turn.at_ns, turn.channel, turn.sender, turn.user, turn.charter,
        turn.charter_version, turn.mode, turn.outcome, turn.code, turn.stack_sha256, turn.payload_sha256,
        turn.tools_sha256, turn.manifest, counts, turn.detail,
        chain,
    )  # fmt: skip
    if not written:
        raise Conflict(f"turn {turn.id}", expected=0, current=1)
    log.append(
        db, run, chain, kind="turn", place=turn.id, content_sha256=_record_hash(turn, counts), actor=turn.outcome,
        at_ns=turn.at_ns, detail=f"{turn.code} {_names_hash(db.keys, names(turn))}",
    )  # fmt: skip


def turn_of(row: Row) -> TurnRecord:
    return replace(TurnRecord(*row[:15]), counts=json.loads(row[15]), detail=row[16])


def turn(db: Database, agent: str, turn_id: str) -> TurnRecord:
    """The record of one turn."""
    row = one(db.read(f"SELECT {COLUMNS} FROM turn_records WHERE agent_name = ? AND turn_id = ?", agent, turn_id))
    if row is None:
        raise NotStored("turn of this id", "see: charter turns")
    return turn_of(row)


def turns(db: Database, agent: str, limit: int = 50) -> list[TurnRecord]:
    """The newest turns of an agent."""
    rows = db.read(
        f"SELECT {COLUMNS} FROM turn_records WHERE agent_name = ? ORDER BY at_ns DESC, turn_id DESC LIMIT ?",
        agent, max(limit, 0),
    )  # fmt: skip
    return [turn_of(row) for row in rows]
