"""A hand in the database: values changed, rows taken and put back by plain SQL, as somebody beside Charter would."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from typing import Any, Final

import psycopg

from charter.core.chain import START, link_hash
from charter.stores import sqlite_path
from charter.stores.tables import schema_tables

from .databases import Row, kind_of

COLUMNS: Final = [(table, column) for table, columns in schema_tables().items() for column in columns]
ARCHIVE: Final = "the old assistant's rows as they were; nothing of Charter's reads them"
WORKING: Final = "working data without an entry in the log: it comes and goes with every message"
DOOR: Final = "a way in, not a text: what comes of a message or a change that took it is an entry of its chain"
NOT_COVERED: Final = {
    "user_settings": "a setting, not an instruction; it has no history",
    "inbox_messages": WORKING,
    "outbox_messages": WORKING,
    "turn_leases": WORKING,
    "conversations": WORKING,
    "conversation_entries": WORKING,
    "agent_spend": "a running count of what the records of turns, which are proved, say one by one",
    "api_tokens": DOOR,
    "schedules": DOOR,
    "schedule_runs": WORKING,
    "channel_peers": DOOR,
    "channel_pairings": DOOR,
    "legacy_agent_configurations": ARCHIVE,
    "legacy_user_agent_prompt_customizations": ARCHIVE,
    "legacy_agent_long_term_memory": ARCHIVE,
}
"""Tables the log does not tell of."""

PARTLY_COVERED: Final = {
    ("layer_versions", "updated_by"): (
        "user_id <> '' AND actor = 'operator'",
        "the log of a person's texts does not keep which operator it was",
    ),
    ("proposals", "decided_by"): (
        "user_id <> '' AND decided_by LIKE 'admin:%'",
        "the log of a person's texts does not keep which operator it was",
    ),
    ("tool_approvals", "decided_by"): (
        "user_id <> '' AND decided_by LIKE 'admin:%'",
        "the log of a person's calls does not keep which operator it was",
    ),
}
"""Columns the log does not tell of in some rows: which rows, and why."""


class Hand:
    """A connection of its own to the database of a store."""

    def __init__(self, url: str) -> None:
        self.kept: set[str] = set()
        self.same = "IS" if kind_of(url) == "sqlite" else "IS NOT DISTINCT FROM"
        if kind_of(url) == "sqlite":
            self.connection: Any = sqlite3.connect(sqlite_path(url) or "", isolation_level=None)
            self.connection.execute("PRAGMA synchronous = OFF")
        else:
            self.connection = psycopg.connect(url, autocommit=True)

    def run(self, sql: str, *values: Any) -> list[Row]:
        spoken = sql if self.same == "IS" else sql.replace("%", "%%").replace("?", "%s")
        cursor = self.connection.execute(spoken, values)
        return cursor.fetchall() if cursor.description else []

    def rows(self, table: str, where: str = "") -> list[Row]:
        """The rows of a table, JSON as text."""
        cells = ", ".join(self._cell(column) for column in schema_tables()[table])
        return sorted(self.run(f"SELECT {cells} FROM {table} {f'WHERE {where}' if where else ''}"), key=repr)

    @contextmanager
    def changed(self, table: str, row: Row, **values: Any) -> Iterator[None]:
        """One row with other values, for a while."""
        with self._kept(table):
            sets = ", ".join(f"{column} = ?" for column in values)
            self.run(f"UPDATE {table} SET {sets} WHERE {self._is_row(table)}", *values.values(), *row)
            yield

    @contextmanager
    def garbled(self, table: str, row: Row, column: str) -> Iterator[None]:
        """One row with text that is not UTF-8, for a while; on SQLite, which takes it."""
        with self._kept(table):
            self.run(f"UPDATE {table} SET {column} = CAST(x'ff41' AS TEXT) WHERE {self._is_row(table)}", *row)
            yield

    @contextmanager
    def without(self, table: str, row: Row) -> Iterator[None]:
        """A table without one row, for a while."""
        with self._kept(table):
            self.run(f"DELETE FROM {table} WHERE {self._is_row(table)}", *row)
            yield

    @contextmanager
    def with_row(self, table: str, row: Row) -> Iterator[None]:
        """A table with one row more, for a while."""
        columns = schema_tables()[table]
        with self._kept(table):
            holes = ", ".join("?" * len(columns))
            self.run(f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({holes})", *row)
            yield

    @contextmanager
    def _kept(self, table: str) -> Iterator[None]:
        """Whatever happens to a table, it is as before in the end."""
        if table not in self.kept:
            self.run(f"CREATE TEMPORARY TABLE kept_{table} AS SELECT * FROM {table}")
            self.kept.add(table)
        try:
            yield
        finally:
            self.run(f"DELETE FROM {table}")
            self.run(f"INSERT INTO {table} SELECT * FROM kept_{table}")

    def _is_row(self, table: str) -> str:
        return " AND ".join(f"{self._cell(column)} {self.same} ?" for column in schema_tables()[table])

    @staticmethod
    def _cell(column: str) -> str:
        return "CAST(identity AS TEXT)" if column == "identity" else column


@contextmanager
def hand(url: str) -> Iterator[Hand]:
    """A hand in this database."""
    mine = Hand(url)
    with closing(mine.connection):
        yield mine


def other_values(column: str, row: Row, rows: list[Row], at: int) -> Iterator[Any]:
    """Values that could stand in place of a cell: a new one, and one that stands in another row."""
    cell = row[at]
    if column == "identity":
        yield '{"age": 1.5, "name": "Eve"}'
    elif isinstance(cell, int):
        yield cell + 1_000
    elif column in ("sha256", "content_sha256", "prev_sha256", "seal") and cell:
        yield f"{'1' if cell[0] == '0' else '0'}{cell[1:]}"
    else:
        yield 1 if column == "restores" else f"{cell or ''}x"
    yield from [other[at] for other in rows if other[at] not in (cell, None)][:1]


def rewrite(mine: Hand, chain: str, *, seal: Callable[[str], tuple[str, str]] | None = None) -> None:
    """Makes a chain follow again from its first entry, its head too; with `seal`, under seals of one's own."""
    prev = START
    entries = mine.run(
        """SELECT seq, kind, place, version, content_sha256, actor, at_ns, detail FROM change_log
        WHERE chain = ? ORDER BY seq""",
        chain,
    )
    for number, (seq, *rest) in enumerate(entries, 1):
        sha256 = link_hash(prev, chain, number, *rest)
        mine.run(
            "UPDATE change_log SET seq = ?, prev_sha256 = ?, sha256 = ? WHERE chain = ? AND seq = ?",
            number, prev, sha256, chain, seq,
        )  # fmt: skip
        if seal is not None:
            mine.run(
                "UPDATE change_log SET seal = ?, key_id = ? WHERE chain = ? AND seq = ?", *seal(sha256), chain, number
            )
        prev = sha256
    mine.run("UPDATE chain_heads SET seq = ?, sha256 = ? WHERE chain = ?", len(entries), prev, chain)
