"""Databases for these tests, of both kinds: a file on a real disk, a database of a real server."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from charter.stores import sqlite_path
from charter.stores.migrate import upgrade
from charter.stores.postgres import Postgres
from charter.stores.sqlite import Sqlite
from charter.stores.store import SqlStore
from stores.pg import fresh_database

from .work import KEYS

KINDS: Final = ("sqlite", "postgres")


def new(kind: str, folder: Path) -> str:
    """The address of a database: a file that is not there yet, or one on the server with its tables."""
    if kind == "sqlite":
        return f"sqlite:///{folder / 'charter.db'}"
    url = fresh_database()
    upgrade(url)
    return url


def impatient(url: str, *, wait: float = 0.05, connections: int = 4) -> SqlStore:
    """A store that waits for nobody."""
    if url.startswith("sqlite:"):
        return SqlStore(Sqlite(sqlite_path(url), KEYS, wait=wait))
    return SqlStore(Postgres(url, KEYS, wait=max(wait, 2), connections=connections))


@contextmanager
def folder_for_others() -> Iterator[Path]:
    """A folder that another user can enter, unlike pytest's own."""
    with tempfile.TemporaryDirectory(prefix="charter-faults-") as name:
        Path(name).chmod(0o755)
        yield Path(name)
