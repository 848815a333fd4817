"""Stores to be held to their contracts: in memory, in a file, on a real PostgreSQL; each new and empty."""

from __future__ import annotations

import sqlite3
import tempfile
import threading
from functools import cache
from pathlib import Path
from typing import Any, Final
from uuid import uuid4

import charter.stores
from charter.core.keyring import NO_KEYS, KeyRing
from charter.stores.memory import MemoryStore
from charter.stores.migrate import upgrade
from charter.stores.sqlite import Sqlite
from charter.stores.sqlite_file import create
from charter.stores.store import SqlStore

from . import databases
from .pg import fresh_database

KINDS: Final = ("memory", "sqlite", "postgres")
RINGS: Final = {"plain": NO_KEYS, "keyed": KeyRing((("old", b"1" * 32), ("new", b"2" * 32)))}


class QuickSqlite(Sqlite):
    """What a crash of the computer would lose is not what these tests are about."""

    def _connect(self, *given: Any) -> sqlite3.Connection:
        connection = super()._connect(*given)
        connection.execute("PRAGMA synchronous = OFF")
        return connection


class Workers:
    """One database, and for every thread a store of its own, as workers have that share nothing else."""

    def __init__(self, kind: str, folder: Path) -> None:
        first = new_store(kind, folder)
        self._path: Path | None = getattr(first.db, "path", None)
        self._mine = threading.local()
        self._mine.store = first
        self._all = [first]

    def __getattr__(self, name: str) -> Any:
        if not hasattr(self._mine, "store"):
            opened = SqlStore(QuickSqlite(self._path)) if self._path else charter.stores.open(_database())
            self._mine.store = opened
            self._all.append(opened)
        return getattr(self._mine.store, name)

    def close(self) -> None:
        for store in self._all:
            store.close()


def new_store(kind: str, folder: Path, keys: KeyRing = NO_KEYS) -> SqlStore:
    """A new and empty store; on PostgreSQL, the one database of this process, emptied."""
    if kind == "memory":
        return MemoryStore(keys)
    if kind == "sqlite":
        path = folder / f"{uuid4().hex}.db"
        path.write_bytes(_file())
        return SqlStore(QuickSqlite(path, keys))
    url = _database()
    databases.run(url, "; ".join(f"DELETE FROM {name}" for name in _tables()))
    return charter.stores.open(url, keys=keys)


@cache
def _file() -> bytes:
    """A new database as SQLite keeps it; to write these bytes is quicker than to make it again."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "new.db"
        create(path)
        return path.read_bytes()


@cache
def _database() -> str:
    url = fresh_database()
    upgrade(url)
    return url


@cache
def _tables() -> tuple[str, ...]:
    return tuple(name for name in databases.tables(_database()) if name != "alembic_version")
