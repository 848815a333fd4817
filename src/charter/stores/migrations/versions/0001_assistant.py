"""The old assistant's tables; what is there already stays as it is, whatever else it holds."""

from __future__ import annotations

from alembic import op

from charter.core.errors import StoreError
from charter.stores.migrations import tables

revision = "0001"
down_revision = None


def upgrade() -> None:
    for statement in tables.assistant(op.get_bind().dialect.name):
        op.execute(statement)


def downgrade() -> None:
    """The way back ends here: below are only tables that are not ours to drop."""
    raise StoreError("revision 0001 is the oldest; remove the database by hand if nobody needs it")
