"""An SQLite file is made whole or not at all, is of the right age, and says in words what is wrong with it."""

from __future__ import annotations

import contextlib
import os
import secrets
import sqlite3
from collections.abc import Iterator
from pathlib import Path

from ..core.errors import StoreDamaged, StoreError, StoreOutdated, StoreUnavailable
from ..home import sync_folder
from .revisions import HEAD, refuse_revision
from .tables import statements


def memory() -> sqlite3.Connection:
    connection = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
    _fill(connection)
    return connection


def _fill(connection: sqlite3.Connection) -> None:
    for statement in statements("sqlite"):
        connection.execute(statement)
    connection.execute("INSERT INTO alembic_version VALUES (?)", (HEAD,))


def create(path: Path) -> None:
    """A new database, complete or not there: made beside its place and then linked into it."""
    made = path.with_name(f".{path.name}.{secrets.token_hex(6)}")
    try:
        with translated(path):
            os.close(os.open(made, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
            connection = sqlite3.connect(made, isolation_level=None)
            try:
                connection.execute("PRAGMA journal_mode = WAL")
                connection.execute("BEGIN IMMEDIATE")
                _fill(connection)
                connection.execute("COMMIT")
                connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            finally:
                connection.close()
            with contextlib.suppress(FileExistsError):  # another process was first; its database is as good
                os.link(made, path)
            sync_folder(path.parent)
    finally:
        for side in ("", "-wal", "-shm", "-journal"):
            with contextlib.suppress(OSError):
                Path(f"{made}{side}").unlink(missing_ok=True)


def refuse_left(path: Path) -> None:
    """The log of a database that is gone would be played into a new one."""
    for left in (Path(f"{path}-wal"), Path(f"{path}-journal")):
        if left.exists() and left.stat().st_size > 0 and not path.exists():
            raise StoreDamaged(
                f"{path}: gone, but {left.name} holds writes of it; restore the database, or remove both to begin anew"
            )


def check_revision(path: Path, connection: sqlite3.Connection) -> None:
    """Refuses a database of another age than the code, or one that is not ours."""
    tables = {row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    if "alembic_version" not in tables:
        known = "agent_configurations" in tables
        raise (
            StoreOutdated(f"{path}: an older database; run: charter db upgrade")
            if known
            else StoreDamaged(f"{path}: a database, but not Charter's; name another with --database")
        )
    rows = connection.execute("SELECT version_num FROM alembic_version").fetchall()
    refuse_revision(str(path), rows[0][0] if rows else "")


# ── what failures are called ──────────────────────────────────────────────────────────────────────────────────────

_SAID = {
    "SQLITE_BUSY": "locked by another process; wait for it, or stop it",
    "SQLITE_LOCKED": "locked; wait and try again",
    "SQLITE_FULL": "the disk is full; make room, nothing was lost",
    "SQLITE_READONLY": "read-only; check the permissions of the file and its folder",
    "SQLITE_CANTOPEN": "cannot be opened; check that the folder is there and yours to write",
    "SQLITE_IOERR": "the disk failed to read or write; nothing was acknowledged",
    "SQLITE_PERM": "no permission; check the file's owner",
}
_DAMAGED = ("SQLITE_CORRUPT", "SQLITE_NOTADB", "SQLITE_FORMAT")


def translate(error: sqlite3.Error, path: Path | None) -> StoreError:
    """The error of ours for one of SQLite's; never with a value in it."""
    where = path or "the store in memory"
    name = getattr(error, "sqlite_errorname", "") or ""
    if name.startswith(_DAMAGED):
        return StoreDamaged(f"{where}: damaged or not a database ({name}); restore a backup: charter restore")
    for start, said in _SAID.items():
        if name.startswith(start):
            return StoreUnavailable(f"{where}: {said} ({name})")
    if isinstance(error, sqlite3.ProgrammingError) and not name:
        return StoreUnavailable(f"{where}: the store is closed; open it again")
    return StoreError(f"{where}: {name or type(error).__name__}")


@contextlib.contextmanager
def translated(path: Path | None) -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as error:
        raise translate(error, path) from None
    except OSError as error:
        raise StoreUnavailable(f"{path}: {error.strerror}; check the folder and its permissions") from None
