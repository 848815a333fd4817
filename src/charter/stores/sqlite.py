"""SQLite under the store: WAL, every commit on the disk before it is acknowledged, one writer at a time."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from ..core.errors import (
    BadValue,
    Busy,
    Conflict,
    NotStored,
    OverSpend,
    Paused,
    Refused,
    StoreDamaged,
    StoreUnavailable,
)
from ..core.keyring import NO_KEYS, KeyRing
from ..home import private_folder
from . import forks
from .database import Row, Run, Stream, fit
from .line import in_line
from .sqlite_file import check_revision, create, memory, refuse_left, translate, translated

WAIT_SECONDS = 30.0
SMALLEST = 512  # bytes of an SQLite file: one page of the smallest size
LOOK_SECONDS = 0.0003
TURN_SECONDS = 0.02
LINE_SECONDS = 5.0  # longer than any line that moves; who stands in it and was stopped holds up nobody for ever


class Transaction:
    """The statements of one transaction."""

    __slots__ = ("_execute", "_path")

    def __init__(self, connection: sqlite3.Connection, path: Path | None) -> None:
        self._execute = connection.execute
        self._path = path

    def __call__(self, sql: str, *values: Any) -> list[Row]:
        try:
            return self._execute(sql, fit(values)).fetchall()
        except sqlite3.Error as error:
            raise translate(error, self._path) from None

    def changed(self, sql: str, *values: Any) -> int:
        try:
            return self._execute(sql, fit(values)).rowcount
        except sqlite3.Error as error:
            raise translate(error, self._path) from None


class Sqlite:
    """A database in one file, or in memory when there is no path. Safe for threads, processes and forks."""

    kind = "sqlite"

    def __init__(self, path: Path | None, keys: KeyRing = NO_KEYS, *, wait: float = WAIT_SECONDS) -> None:
        self.path = path.absolute() if path else None
        self.keys = keys
        self._name = os.fspath(self.path or "")
        self._wait = wait
        self._lock = threading.RLock()  # one writer
        self._gate = threading.Lock()  # over the connections for reading
        self._returned = threading.Condition(self._gate)
        self._idle: list[sqlite3.Connection] = []
        self._lent: set[sqlite3.Connection] = set()
        self._writer: sqlite3.Connection | None = None
        self._file: tuple[int, int] = (0, 0)
        self._closed = False
        self._turn_ends = 0.0
        if self.path is None:
            self._writer = memory()
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
        with translated(path):
            private_folder(path.parent)
            if not path.exists():
                refuse_left(path)
                create(path)
            status = path.stat()
            if status.st_size < SMALLEST:  # SQLite would take it for a new database, and write to it
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
        self._same_file()
        with translated(self.path):
            connection = sqlite3.connect(
                f"{self.path.as_uri()}?mode=rw", uri=True, isolation_level=None, timeout=self._wait,
                check_same_thread=False, cached_statements=256,
            )  # fmt: skip
            try:
                with contextlib.suppress(sqlite3.OperationalError):  # a read-only file says so when it is written to
                    connection.execute("PRAGMA journal_mode = WAL")
                for pragma in ("synchronous = FULL", "secure_delete = ON", "cache_size = -8000"):
                    connection.execute(f"PRAGMA {pragma}")
                # The first look at a file may have to wait for who recovers it; only then does `wait` hold.
                connection.execute("SELECT count(*) FROM sqlite_master").fetchall()
                connection.execute(f"PRAGMA busy_timeout = {int(wait * 1000)}")
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
            with self._lock, translated(None):
                return self._shared().execute(sql, fit(values)).fetchall()
        fit(values)
        rows = self._read_where_written(sql, values)
        if rows is not None:
            return rows
        connection = self._borrow()
        try:
            rows = connection.execute(sql, values).fetchall()
            return rows
        except sqlite3.Error as error:
            raise translate(error, self.path) from None
        finally:
            self._give_back(connection, whole=rows is not None)

    def _read_where_written(self, sql: str, values: Sequence[Any]) -> list[Row] | None:
        """Rows by the connection that writes, which has in its memory what it wrote; None when it is not free now."""
        if not self._lock.acquire(blocking=False):
            return None
        writer, rows = self._writer, None
        if writer is None or writer.in_transaction:
            self._lock.release()
            return None
        try:
            self._usable()
            rows = writer.execute(sql, values).fetchall()
            return rows
        except sqlite3.Error as error:
            if not _is_busy(error):
                raise translate(error, self.path) from None
            return None
        finally:
            if rows is None:  # as `_give_back` does: what was left half way would hold on to an old state
                writer.close()
                self._writer = None
            self._lock.release()

    @contextlib.contextmanager
    def snapshot(self) -> Iterator[Stream]:
        """In a file, text that is not UTF-8 comes with its bytes as half characters, so that it can be named."""
        if self.path is None:
            with self._lock:
                yield lambda sql, *values: iter(self.read(sql, *values))
            return
        path, connection = self.path, self._borrow()

        def run(sql: str, *values: Any) -> Iterator[Row]:
            with translated(path):
                yield from connection.execute(sql, values)

        try:
            with translated(path):
                connection.execute("BEGIN")
            connection.text_factory = lambda data: data.decode("utf-8", "surrogateescape")
            yield run
        finally:
            self._give_back(connection, whole=False)

    @contextlib.contextmanager
    def writing(self, *locks: str) -> Iterator[Run]:
        with self._lock:
            connection = self._shared()
            try:
                self._begin(connection)
                self._same_file()
                yield Transaction(connection, self.path)
                self._commit(connection)
            except BaseException as error:
                self._undo(connection, whole=isinstance(error, _DECIDED))
                raise

    def _begin(self, connection: sqlite3.Connection) -> None:
        """SQLite lets waiting writers look for its lock ever more seldom, and some starve; here they stand in line.

        Whose turn it is may write several times in it, which spares all of them the passing on.
        """
        end, pause = time.monotonic() + self._wait, LOOK_SECONDS
        if time.monotonic() < self._turn_ends and self._begun(connection, end):
            return
        turn = min(end, time.monotonic() + LINE_SECONDS)
        with in_line(self.path.parent, turn) if self.path else contextlib.nullcontext():
            while not self._begun(connection, end):
                time.sleep(pause)
                pause = min(1.5 * pause, 20 * LOOK_SECONDS)
        self._turn_ends = time.monotonic() + TURN_SECONDS

    def _begun(self, connection: sqlite3.Connection, end: float) -> bool:
        try:
            connection.execute("BEGIN IMMEDIATE")
        except sqlite3.Error as error:
            if not _is_busy(error) or time.monotonic() >= end:
                raise translate(error, self.path) from None
            return False
        return True

    def _commit(self, connection: sqlite3.Connection) -> None:
        try:
            connection.execute("COMMIT")
        except sqlite3.Error as error:
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
            self._writer = self._connect(0)
        return self._writer

    def _same_file(self) -> None:
        """A file that was removed or replaced under us would take writes nobody can read again."""
        if self.path is None:
            return
        try:
            status = os.stat(self._name)
        except OSError:
            raise StoreDamaged(f"{self.path}: the database was removed while in use; restore it") from None
        if (status.st_dev, status.st_ino) != self._file:
            raise StoreDamaged(f"{self.path}: the database was replaced while in use; start again")

    def shred(self) -> None:
        """Writes the file anew: `secure_delete` leaves copies in pages that were split; then empties the log."""
        if self.path is None:
            return
        self._usable()
        with self._lock, translated(self.path), contextlib.closing(self._connect(self._wait)) as connection:
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


def _is_busy(error: sqlite3.Error) -> bool:
    return getattr(error, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_BUSY


_DECIDED = (
    BadValue,
    Busy,
    Conflict,
    NotStored,
    OverSpend,
    Paused,
    Refused,
)  # what the store decided; the database did all it should
# Files of which a fork left open connections in this process, and those: to close them would be to touch the parent's.
_inherited: dict[tuple[int, int], list[sqlite3.Connection]] = {}
