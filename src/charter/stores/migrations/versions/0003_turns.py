"""What turns with a model need: the detail of a record, where a chat begins anew, approvals, the stop switch, spending.

The way there adds to tables and makes new ones; no row is rewritten, so every chain proves what it did. The way back
drops what was added: the records of turns that had a detail cannot be proved any more, and who comes here again finds
the log telling of approvals and controls that are gone. Make a backup before it: charter backup FILE.
"""

from __future__ import annotations

from alembic import op

from charter.core.errors import StoreDamaged
from charter.stores.migrations import legacy, tables

revision = "0003"
down_revision = "0002"

_ADDED = {"turn_records": "detail", "conversations": "fresh_from"}


def upgrade() -> None:
    bind = op.get_bind()
    statements = tables.governed(bind.dialect.name)
    taken = legacy.tables(bind) & set(tables.made(statements))
    if taken:
        raise StoreDamaged(
            f"the database already has other tables named {', '.join(sorted(taken))}; nothing was changed: "
            "rename them, or give Charter a database or schema of its own"
        )
    for statement in statements:
        op.execute(statement)


def downgrade() -> None:
    for table in reversed(tables.made(tables.governed(op.get_bind().dialect.name))):
        op.execute(f"DROP TABLE {table}")
    for table, column in _ADDED.items():
        op.execute(f"ALTER TABLE {table} DROP COLUMN {column}")
