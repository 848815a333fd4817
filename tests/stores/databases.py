"""Databases for these tests, of both kinds under one hand: an address, what it holds, and how it is built."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, Final

import psycopg

from charter.stores import sqlite_path

from .pg import fresh_database

KINDS: Final = ("sqlite", "postgres")
LEGACY = Path(__file__).parent / "legacy"
Row = tuple[Any, ...]
Run = Callable[..., list[Row]]


def empty(kind: str, folder: Path) -> str:
    """The address of a database with nothing in it; on SQLite, of none yet."""
    return f"sqlite:///{folder / 'charter.db'}" if kind == "sqlite" else fresh_database()


def old(kind: str, folder: Path) -> str:
    """The address of an old assistant's database, with its people in it (`legacy/*.sql`)."""
    url = empty(kind, folder)
    script(url, (LEGACY / f"{kind}.sql").read_text("utf-8"))
    return url


def kind_of(url: str) -> str:
    return "sqlite" if url.startswith("sqlite:") else "postgres"


@contextmanager
def opened(url: str, wait: float = 5.0) -> Iterator[Run]:
    """What runs one statement, with `?` for values; all that was done is kept at the end."""
    if kind_of(url) == "postgres":
        with psycopg.connect(url) as server:

            def ask(sql: str, *values: Any) -> list[Row]:
                cursor = server.execute(sql.replace("?", "%s"), values or None)
                return cursor.fetchall() if cursor.description else []

            yield ask
        return
    with closing(sqlite3.connect(sqlite_path(url) or "", timeout=wait)) as file, file:
        yield lambda sql, *values: file.execute(sql, values).fetchall()


def run(url: str, sql: str, *values: Any) -> list[Row]:
    """Runs one statement."""
    with opened(url) as ask:
        return ask(sql, *values)


def script(url: str, text: str) -> None:
    """Runs many statements that have no values."""
    if kind_of(url) == "postgres":
        run(url, text)
        return
    with closing(sqlite3.connect(sqlite_path(url) or "")) as file:
        file.executescript(text)


def tables(url: str) -> list[str]:
    with opened(url) as ask:
        return _tables(url, ask)


def _tables(url: str, ask: Run) -> list[str]:
    names = {
        "sqlite": "SELECT name FROM sqlite_master WHERE type = 'table' AND substr(name, 1, 7) <> 'sqlite_'",
        "postgres": "SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r'",
    }
    return sorted(row[0] for row in ask(names[kind_of(url)]))


def contents(url: str) -> dict[str, list[Row]]:
    """Every row of every table to the byte: on PostgreSQL as it writes rows, on SQLite with the type of each value."""
    with opened(url) as ask:
        if kind_of(url) == "postgres":
            return {name: sorted(ask(f"SELECT t::text FROM {name} t")) for name in _tables(url, ask)}
        return {name: sorted(ask(f"SELECT {_cells(ask, name)} FROM {name}"), key=repr) for name in _tables(url, ask)}


def _cells(ask: Run, table: str) -> str:
    names = [row[0] for row in ask("SELECT name FROM pragma_table_info(?)", table)]
    return ", ".join(f'typeof("{name}"), CAST("{name}" AS BLOB)' for name in names)


# ── how a database is built ───────────────────────────────────────────────────────────────────────────────────────

_POSTGRES = {
    "columns": """SELECT c.relname, a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull, a.attidentity,
        a.attcollation::regcollation::text, pg_get_expr(d.adbin, d.adrelid) FROM pg_class c
        JOIN pg_attribute a ON a.attrelid = c.oid LEFT JOIN pg_attrdef d ON d.adrelid = c.oid AND d.adnum = a.attnum
        WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r' AND a.attnum > 0 AND NOT a.attisdropped
        ORDER BY c.relname, a.attnum""",
    "constraints": """SELECT conrelid::regclass::text, conname, pg_get_constraintdef(oid) FROM pg_constraint
        WHERE connamespace = 'public'::regnamespace AND contype <> 'n' ORDER BY 1, 2""",
    "indexes": "SELECT tablename, indexname, indexdef FROM pg_indexes WHERE schemaname = 'public' ORDER BY 1, 2",
    "sequences": """SELECT d.refobjid::regclass::text, s.relname FROM pg_class s JOIN pg_depend d ON d.objid = s.oid
        AND d.classid = 'pg_class'::regclass AND d.deptype IN ('a', 'i') WHERE s.relkind = 'S' ORDER BY 1, 2""",
    "triggers": "SELECT tgrelid::regclass::text, tgname FROM pg_trigger WHERE NOT tgisinternal ORDER BY 1, 2",
    "views": "SELECT viewname, definition FROM pg_views WHERE schemaname = 'public' ORDER BY 1",
}
_SQLITE = {
    "columns": """SELECT t.name, c.name, c.type, c."notnull", c.dflt_value, c.pk, c.hidden FROM sqlite_master t
        JOIN pragma_table_xinfo(t.name) c WHERE t.type = 'table' ORDER BY t.name, c.cid""",
    "indexes": """SELECT t.name, i.name, i."unique", i.origin, i.partial, c.seqno, c.name, c.desc, c.coll FROM
        sqlite_master t JOIN pragma_index_list(t.name) i JOIN pragma_index_xinfo(i.name) c WHERE t.type = 'table'
        ORDER BY t.name, i.name, c.seqno""",
    "written": "SELECT tbl_name, name, sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY name",
}


def catalogue(url: str) -> Mapping[str, list[Row]]:
    """Columns, types, nullability, defaults, keys, constraints and indexes with their conditions, from the database."""
    asked = _SQLITE if kind_of(url) == "sqlite" else _POSTGRES
    with opened(url) as ask:
        return {what: [tuple(map(_plain, row)) for row in ask(sql)] for what, sql in asked.items()}


def _plain(value: Any) -> Any:
    """SQL without the layout it was written in; a table that was renamed is quoted."""
    return re.sub(r"\s+", "", value.replace('"', "")) if isinstance(value, str) else value
