"""What a served house needs: tokens, schedules and their runs, peers; and what one was sent is found by its time.

The way there makes new tables and one index anew; no row is rewritten. The way back drops them: tokens open nothing any
more, nothing runs by the clock, and everybody on a channel is a stranger. Make a backup before it: charter backup FILE.
"""

from __future__ import annotations

from alembic import op

from charter.core.errors import StoreDamaged
from charter.stores.migrations import legacy, tables

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    bind = op.get_bind()
    statements = tables.served(bind.dialect.name)
    taken = legacy.tables(bind) & set(tables.made(statements))
    if taken:
        raise StoreDamaged(
            f"the database already has other tables named {', '.join(sorted(taken))}; nothing was changed: "
            "rename them, or give Charter a database or schema of its own"
        )
    for statement in statements:
        op.execute(statement)


def downgrade() -> None:
    for table in reversed(tables.made(tables.served(op.get_bind().dialect.name))):
        op.execute(f"DROP TABLE {table}")
    op.execute("DROP INDEX outbox_by_recipient")
    op.execute("CREATE INDEX outbox_by_recipient ON outbox_messages (agent_name, recipient)")
