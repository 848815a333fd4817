"""The tables of a new database, read from its schema file; the one place that lists their columns."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import cache
from importlib import resources

from .database import Row

_TABLE = re.compile(r"^CREATE TABLE (\w+) \((.*)\)", re.MULTILINE | re.DOTALL)
_COLUMN = re.compile(r"^ {4}([a-z]\w*) (.*)$", re.MULTILINE)


def statements(name: str) -> list[str]:
    """The statements of a schema file."""
    text = resources.files(__package__).joinpath(f"schema/{name}.sql").read_text("utf-8")
    return [part for part in re.split(r";[ \t]*\n", text) if part.strip()]


def schema_tables() -> dict[str, list[str]]:
    """Every table that holds rows, and its columns; the same on both databases."""
    return {table: list(columns) for table, columns in _tables().items()}


def counters() -> dict[str, str]:
    """The column that numbers the rows of a table, for those tables that have one."""
    found = ((table, name, kind) for table, columns in _tables().items() for name, kind in columns.items())
    return {table: name for table, name, kind in found if "AUTOINCREMENT" in kind}


@cache
def _tables() -> dict[str, dict[str, str]]:
    made = [found for statement in statements("sqlite") if (found := _TABLE.search(statement))]
    return {found[1]: dict(_COLUMN.findall(found[2])) for found in made if found[1] != "alembic_version"}


_CATALOGUE = {
    "sqlite": "SELECT name FROM pragma_table_info(?) ORDER BY cid",
    "postgres": """SELECT column_name FROM information_schema.columns
        WHERE table_schema = current_schema() AND table_name = ? ORDER BY ordinal_position""",
}


def stored_columns(read: Callable[..., Iterable[Row]], kind: str, table: str) -> list[str]:
    """The columns a table has in this database: an old assistant's archive may have more than the schema names."""
    if not table.startswith("legacy_"):
        return schema_tables()[table]
    return [row[0] for row in read(_CATALOGUE[kind], table)]


def cells(table: str, columns: Iterable[str]) -> str:
    """These columns to be read as numbers and texts; what else there may be is read as a text."""
    texts = table.startswith("legacy_")
    return ", ".join(f"CAST({quoted(name)} AS TEXT)" if texts or name == "identity" else name for name in columns)


def quoted(name: str) -> str:
    """A name that is not ours, as a statement may hold it."""
    escaped = name.replace('"', '""')
    return f'"{escaped}"'
