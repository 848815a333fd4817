"""Everything Charter keeps; the old tables move aside whole, and their texts go on as version 1.

The way there: each old table is renamed to legacy_…, with every column, key and index it had; then the new ones are
made and filled. The way back: what changed since goes into the archive (see `back`), the new tables go, and the archive
gets its old names again. So what nobody touched comes back byte for byte, also what we know nothing of.
"""

from __future__ import annotations

from itertools import islice
from typing import Any

from alembic import op
from sqlalchemy import text

from charter.core.errors import StoreDamaged
from charter.stores.migrations import back, forward, legacy, tables

revision = "0002"
down_revision = "0001"

_AT_ONCE = 10_000
_COUNTED = {"memory_owners": "owner_id", "agent_long_term_memory": "note_id"}


def upgrade() -> None:
    bind = op.get_bind()
    dialect = bind.dialect.name
    new = tables.charter(dialect)
    taken = legacy.tables(bind) & ({*tables.made(new), *map(tables.archive, tables.OLD)} - set(tables.OLD))
    if taken:
        raise StoreDamaged(
            f"the database already has other tables named {', '.join(sorted(taken))}; nothing was changed: "
            "rename them, or give Charter a database or schema of its own"
        )
    for table in tables.OLD:
        _rename(table, tables.archive(table))
    for statement in new:
        op.execute(statement)
    agents, instructions, notes = legacy.agents(bind), legacy.instructions(bind), legacy.notes(bind)
    made = forward.new_rows(agents, instructions, notes)
    for table, rows in made.items():
        _insert(table, rows)
        if dialect == "postgresql" and table in _COUNTED:
            key = _COUNTED[table]
            op.execute(f"SELECT setval(pg_get_serial_sequence('{table}', '{key}'), max({key})) FROM {table}")
    postings = forward.postings(made)
    while some := list(islice(postings, _AT_ONCE)):
        _insert("memory_terms", some)


def downgrade() -> None:
    bind = op.get_bind()
    back.souls(bind)
    back.instructions(bind)
    back.notes(bind)
    for table in reversed(tables.made(tables.charter(bind.dialect.name))):
        op.execute(f"DROP TABLE {table}")
    for table in tables.OLD:
        _rename(tables.archive(table), table)


def _insert(table: str, rows: list[dict[str, Any]]) -> None:
    columns = ", ".join(rows[0])
    values = ", ".join(f":{column}" for column in rows[0])
    op.get_bind().execute(text(f"INSERT INTO {table} ({columns}) VALUES ({values})"), rows)


def _rename(old: str, new: str) -> None:
    """A table under another name; on PostgreSQL its key, too, whose name the new table has."""
    op.execute(f"ALTER TABLE {old} RENAME TO {new}")
    if op.get_bind().dialect.name == "postgresql" and legacy.has_constraint(op.get_bind(), new, f"{old}_pkey"):
        op.execute(f"ALTER TABLE {new} RENAME CONSTRAINT {old}_pkey TO {new}_pkey")
