"""SQLite under the store: WAL, every commit on the disk before it is acknowledged, one writer at a time."""

from __future__ import annotations

import contextlib
import os
import random
import secrets
import sqlite3
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..core.errors import (
    BadValue,
    Busy,
    Conflict,
    NotStored,
    Refused,
    StoreDamaged,
    StoreError,
    StoreOutdated,
    StoreTooNew,
    StoreUnavailable,
)
from ..core.keyring import NO_KEYS, KeyRing
from ..home import private_folder, sync_folder
from . import forks
from .database import Row, Run, Stream, fit
from .revisions import HEAD, REVISIONS
from .tables import statements

try:
    import fcntl
except ImportError:  # not on this platform: writers wait as SQLite has them wait
    fcntl = None  # type: ignore[assignment]

WAIT_SECONDS = 30.0
LOOK_SECONDS = 0.003  # SQLite looks for a lock ever more seldom; it is asked anew this often


class Sqlite:
    """A database in one file, or in memory when there is no path. Safe for threads, processes and forks."""

    kind = "sqlite"

    def __init__(self, path: Path | None, keys: KeyRing = NO_KEYS, *, wait: float = WAIT_SECONDS) -> None:
        self.path = path.absolute() if path else None
        self.keys = keys
        self._wait = wait
        self._lock = threading.RLock()  # one writer
        self._gate = threading.Lock()  # over the connections for reading
        self._returned = threading.Condition(self._gate)
        self._idle: list[sqlite3.Connection] = []
        self._lent: set[sqlite3.Connection] = set()
        self._writer: sqlite3.Connection | None = None
        self._file: tuple[int, int] = (0, 0)
        self._closed = False
        self._wrote = False
        if self.path is None:
            self._writer = _memory()
        else:
            try:
                self._open(self.path)
            except BaseException:
                self.close()
                raise
        forks.know(self)

    def __repr__(self) -> str:
        return f"Sqlite({self.path.name if self.path else 'memory'})"

    # ── opening ───────────────────────────────────────────────────────────────────────────────────────────────────

    def _open(self, path: Path) -> None:
        with _translated(path):
            private_folder(path.parent)
            if not path.exists():
                _refuse_left(path)
                create(path)
            status = path.stat()
            if status.st_size == 0:
                raise StoreDamaged(
                    f"{path}: an empty file, not a database; restore a backup, or remove it to begin anew"
                )
            self._file = (status.st_dev, status.st_ino)
            connection = self._borrow()
            try:
                check_revision(path, connection)
            finally:
                self._give_back(connection, whole=False)

    def _connect(self, wait: float) -> sqlite3.Connection:
        assert self.path is not None
        if self._file in _inherited:
            raise StoreUnavailable(
                f"{self.path}: this process was forked while the database was in use; start it in another way"
            )
        with _translated(self.path):
            connection = sqlite3.connect(
                f"{self.path.as_uri()}?mode=rw", uri=True, isolation_level=None, timeout=wait,
                check_same_thread=False, cached_statements=256,
            )  # fmt: skip
            try:
                with contextlib.suppress(sqlite3.OperationalError):  # a read-only file says so when it is written to
                    connection.execute("PRAGMA journal_mode = WAL")
                for pragma in ("synchronous = FULL", "secure_delete = ON", "cache_size = -8000"):
                    connection.execute(f"PRAGMA {pragma}")
                self._same_file()
            except BaseException:
                connection.close()
                raise
        return connection

    def _borrow(self) -> sqlite3.Connection:
        """A connection for reading, this caller's until it gives it back."""
        with self._gate:
            self._usable()
            connection = self._idle.pop() if self._idle else self._connect(self._wait)
            self._lent.add(connection)
        return connection

    def _give_back(self, connection: sqlite3.Connection, *, whole: bool) -> None:
        """Keeps it for the next one; a statement that was left half way would show that one an old state."""
        with self._gate:
            self._lent.discard(connection)
            if self._closed or not whole:
                connection.close()
            else:
                self._idle.append(connection)
            if not self._lent:
                self._returned.notify_all()

    def _usable(self) -> None:
        if self._closed:
            raise StoreUnavailable("the store is closed; open it again")
        self._same_file()

    # ── the seam ──────────────────────────────────────────────────────────────────────────────────────────────────

    def read(self, sql: str, *values: Any) -> list[Row]:
        if self.path is None:
            with self._lock, _translated(None):
                return self._shared().execute(sql, fit(values)).fetchall()
        fit(values)
        connection, rows = self._borrow(), None
        try:
            rows = connection.execute(sql, values).fetchall()
            return rows
        except sqlite3.Error as error:
            raise translate(error, self.path) from None
        finally:
            self._give_back(connection, whole=rows is not None)

    @contextlib.contextmanager
    def snapshot(self) -> Iterator[Stream]:
        """In a file, text that is not UTF-8 comes with its bytes as half characters, so that it can be named."""
        if self.path is None:
            with self._lock:
                yield lambda sql, *values: iter(self.read(sql, *values))
            return
        path, connection = self.path, self._borrow()

        def run(sql: str, *values: Any) -> Iterator[Row]:
            with _translated(path):
                yield from connection.execute(sql, values)

        try:
            with _translated(path):
                connection.execute("BEGIN")
            connection.text_factory = lambda data: data.decode("utf-8", "surrogateescape")
            yield run
        finally:
            self._give_back(connection, whole=False)

    @contextlib.contextmanager
    def writing(self, *locks: str) -> Iterator[Run]:
        with self._lock:
            connection = self._shared()
            execute = connection.execute
            path = self.path

            def run(sql: str, *values: Any) -> list[Row]:
                try:
                    return execute(sql, fit(values)).fetchall()
                except sqlite3.Error as error:
                    raise translate(error, path) from None

            try:
                self._begin(connection)
                self._same_file()
                yield run
                run("COMMIT")
                self._wrote = True
            except BaseException as error:
                self._undo(connection, whole=isinstance(error, _DECIDED))
                raise

    def _begin(self, connection: sqlite3.Connection) -> None:
        end = time.monotonic() + self._wait
        with _waiting(self.path) as line:
            if self._wrote:
                _after_others(line, min(end, time.monotonic() + 1.0))
                self._wrote = False
            if line >= 0:
                with contextlib.suppress(OSError):
                    fcntl.flock(line, fcntl.LOCK_SH | fcntl.LOCK_NB)
            while True:
                try:
                    connection.execute("BEGIN IMMEDIATE")
                    return
                except sqlite3.Error as error:
                    busy = getattr(error, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_BUSY
                    if not busy or time.monotonic() >= end:
                        raise translate(error, self.path) from None

    def _undo(self, connection: sqlite3.Connection, *, whole: bool) -> None:
        """Ends a transaction; a connection that failed in it is not used again, and its lock ends with it."""
        with contextlib.suppress(sqlite3.Error):
            connection.rollback()
        if self.path is not None and (connection.in_transaction or not whole):
            connection.close()
            self._writer = None

    def _shared(self) -> sqlite3.Connection:
        """The one connection that writes."""
        if self._closed:
            raise StoreUnavailable("the store is closed; open it again")
        if self._writer is None:
            self._writer = self._connect(min(self._wait, LOOK_SECONDS))
        return self._writer

    def _same_file(self) -> None:
        """A file that was removed or replaced under us would take writes nobody can read again."""
        if self.path is None:
            return
        try:
            status = os.stat(self.path)
        except OSError:
            raise StoreDamaged(f"{self.path}: the database was removed while in use; restore it") from None
        if (status.st_dev, status.st_ino) != self._file:
            raise StoreDamaged(f"{self.path}: the database was replaced while in use; start again")

    def shred(self) -> None:
        """Writes the file anew: `secure_delete` leaves copies in pages that were split; then empties the log."""
        if self.path is None:
            return
        self._usable()
        with self._lock, _translated(self.path), contextlib.closing(self._connect(self._wait)) as connection:
            connection.execute("VACUUM")
            busy = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
        if busy:
            raise StoreUnavailable(f"{self.path}: erased, but a reader holds the old pages; stop it, then erase again")

    def close(self) -> None:
        with self._lock, self._gate:
            self._closed = True
            self._hang_up()
            self._writer = None

    def _hang_up(self) -> None:
        """Closes what nobody uses now."""
        for connection in self._idle:
            connection.close()
        self._idle.clear()
        if self._writer is not None and not self._writer.in_transaction:
            self._writer.close()
            self._writer = None

    # ── forks ─────────────────────────────────────────────────────────────────────────────────────────────────────

    def pause(self) -> None:
        """Before a fork everything is closed: a child that inherits SQLite's idea of its locks, but not the locks,
        writes to a log that others take for nobody's."""
        self._lock.acquire()
        self._gate.acquire()
        self._returned.wait_for(lambda: not self._lent, self._wait)
        if self.path is not None:
            self._hang_up()

    def resume(self) -> None:
        self._gate.release()
        self._lock.release()

    def begin_anew(self) -> None:
        """In the child: what is still open stays the parent's, and the file is not for this process."""
        self._lock, self._gate = threading.RLock(), threading.Lock()
        self._returned = threading.Condition(self._gate)
        if self.path is not None:
            left = [*self._idle, *self._lent, *([self._writer] if self._writer else [])]
            if left:
                _inherited.setdefault(self._file, []).extend(left)
            self._idle, self._lent, self._writer = [], set(), None


_DECIDED = (BadValue, Busy, Conflict, NotStored, Refused)  # what the store decided; the database did all it should
# Files of which a fork left open connections in this process, and those: to close them would be to touch the parent's.
_inherited: dict[tuple[int, int], list[sqlite3.Connection]] = {}


@contextlib.contextmanager
def _waiting(path: Path | None) -> Iterator[int]:
    folder = -1
    try:
        if path is not None:
            with contextlib.suppress(OSError):
                folder = os.open(path.parent, os.O_RDONLY)
        yield folder
    finally:
        if folder >= 0:
            os.close(folder)


def _after_others(line: int, end: float) -> None:
    while line >= 0:
        try:
            fcntl.flock(line, fcntl.LOCK_EX | fcntl.LOCK_NB)
            fcntl.flock(line, fcntl.LOCK_UN)
            return
        except OSError:
            if time.monotonic() >= end:
                return
            time.sleep(random.uniform(0.0005, LOOK_SECONDS))


def _memory() -> sqlite3.Connection:
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
        with _translated(path):
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


def _refuse_left(path: Path) -> None:
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


def refuse_revision(where: str, found: str) -> None:
    """Says what to do when a database is older or newer than the code."""
    if found in REVISIONS[:-1]:
        raise StoreOutdated(f"{where}: at revision {found}, this Charter needs {HEAD}; run: charter db upgrade")
    if found != HEAD:
        raise StoreTooNew(f"{where}: at revision {found!r}, this Charter knows up to {HEAD}; install a newer Charter")


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
def _translated(path: Path | None) -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as error:
        raise translate(error, path) from None
    except OSError as error:
        raise StoreUnavailable(f"{path}: {error.strerror}; check the folder and its permissions") from None
