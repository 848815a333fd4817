"""A person's data: all of it in one document, or gone everywhere in one transaction while the log still proves (N-20).

Forgetting erases texts and names; of histories, proposals and turns the hashes, times and codes stay, under the
pseudonym of the person's chain. It reaches one database: a backup made before holds the person as they were, so who
restores one forgets them again. A user's chats on a channel go with them; a person known by several names beside these
is forgotten by each.
"""

from __future__ import annotations

from typing import Any

from ..core.keyring import KeyRing
from ..core.records import Author
from . import schedules
from .database import Database, Run, when
from .erasure import Erasure
from .log import chain_then
from .tables import cells, schema_tables, stored_columns
from .theirs import NAMES, NOBODY, PROPOSER, SHARED, Clause, Theirs, find

FORMAT = "charter-person-1"
_RECALL = ("memory_owners", "memory_terms", "memory_sources")
_SECRETS = {("api_tokens", "sha256"), ("channel_pairings", "code_sha256")}


def export(db: Database, person: str) -> dict[str, Any]:
    """Everything that is theirs, across agents, as plain values by table; what recall is built of is left out, and so
    are the hashes of secrets."""
    tables: dict[str, list[dict[str, Any]]] = {}
    with db.snapshot() as run:
        theirs = find(run, db.keys, person)
        for table in schema_tables():
            where = _exported(theirs, table)
            if where != NOBODY:
                columns = [name for name in stored_columns(run, db.kind, table) if (table, name) not in _SECRETS]
                rows = run(f"SELECT {cells(table, columns)} FROM {table} WHERE {where.sql}", *where.values)
                tables[table] = [dict(zip(columns, row, strict=True)) for row in rows]
    return {"format": FORMAT, "person": person, "tables": {table: rows for table, rows in tables.items() if rows}}


def _exported(theirs: Theirs, table: str) -> Clause:
    if table in _RECALL:
        return NOBODY
    if table == "schedule_runs":
        return theirs.runs()
    return theirs.notes() if table == "agent_long_term_memory" else theirs.rows(table)


def forget(db: Database, person: str, *, by: Author, at_ns: int) -> dict[str, int]:
    """Erases a person everywhere, at once; how many rows of each table. Somebody unknown is forgotten already.

    A turn under way that has a message of theirs loses its lease, so that nothing of it is kept; the messages of
    others it had wait again.
    """
    when("at", at_ns)
    held: frozenset[str] = frozenset()
    while True:
        with db.writing(*sorted(held)) as run:
            theirs = find(run, db.keys, person)
            agents = _agents(run, theirs)
            locks = frozenset(_locks(run, theirs, agents, db.keys))
            if locks <= held or db.kind == "sqlite":
                counts = Erasure(db, run, theirs, agents, by, at_ns).whole()
                break
        held = locks  # somebody wrote in between, or this was the first look: again, with every chain held
    db.shred()
    return counts


def _agents(run: Run, theirs: Theirs) -> list[str]:
    """The agents that have something of theirs."""
    found: set[str] = set()
    for table in {column.table for column in NAMES} - SHARED:
        where = theirs.rows(table)
        if where != NOBODY:
            rows = run(f"SELECT DISTINCT agent_name FROM {table} WHERE {where.sql}", *where.values)
            found |= {row[0] for row in rows}
    return sorted(found)


def _locks(run: Run, theirs: Theirs, agents: list[str], keys: KeyRing) -> set[str]:
    """What must be held: every chain that gets an entry, and what else writes the same rows."""
    locks = set(agents)
    for agent in agents:
        locks |= {*theirs.chains(agent), f"talk:{agent}", f"lane:{agent}:"}
        locks |= {f"lane:{agent}:{name}" for name in theirs.names}
    clocks = theirs.rows("schedules")
    rows = run(f"SELECT schedule_id FROM schedules WHERE {clocks.sql}", *clocks.values)
    locks |= {schedules.lock(row[0]) for row in rows}
    for table, where in (
        ("agent_long_term_memory", theirs.notes()),
        ("layer_versions", theirs.rows("layer_versions", "updated_by")),
        ("proposals", theirs.rows("proposals", "decided_by", PROPOSER)),
    ):
        rows = run(f"SELECT DISTINCT agent_name, user_id, key_id FROM {table} WHERE {where.sql}", *where.values)
        locks |= {chain_then(keys, *row) for row in rows}
    for table, where in (
        ("turn_records", theirs.rows("turn_records", "sender")),
        ("tool_approvals", theirs.rows("tool_approvals")),
    ):
        locks |= {row[0] for row in run(f"SELECT DISTINCT chain FROM {table} WHERE {where.sql}", *where.values)}
    return locks
