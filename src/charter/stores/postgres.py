"""PostgreSQL under the store: a pool of connections, one statement per turn's reads, locks by name for writers."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import count
from typing import TYPE_CHECKING, Any

from ..core.errors import MissingExtra, StoreDamaged, StoreError, StoreOutdated, StoreUnavailable
from ..core.keyring import NO_KEYS, KeyRing
from . import forks
from .database import Row, Run, Stream, fit
from .revisions import refuse_revision

if TYPE_CHECKING:
    import psycopg
    from psycopg_pool import ConnectionPool

WAIT_SECONDS = 30.0
ROWS_AT_ONCE = 2_000
_LOCK = "SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))"


@cache
def _spoken(sql: str) -> str:
    return sql.replace("?", "%s")


class Transaction:
    """The statements of one transaction."""

    __slots__ = ("_connection", "_db")

    def __init__(self, db: Postgres, connection: psycopg.Connection[Row]) -> None:
        self._db = db
        self._connection = connection

    def __call__(self, sql: str, *values: Any) -> list[Row]:
        cursor = self._db.run(self._connection, sql, values)
        return cursor.fetchall() if cursor.description else []

    def changed(self, sql: str, *values: Any) -> int:
        return self._db.run(self._connection, sql, values).rowcount


class Postgres:
    """A database on a server. Safe for threads, processes and forks; a lost connection is replaced."""

    kind = "postgres"

    def __init__(self, url: str, keys: KeyRing = NO_KEYS, *, wait: float = WAIT_SECONDS, connections: int = 10) -> None:
        try:
            import psycopg
            from psycopg_pool import PoolClosed, PoolTimeout
        except ImportError:
            raise MissingExtra("postgres", "a postgresql:// store") from None
        self.keys = keys
        self._tries = connections + 1
        self._lost = (psycopg.OperationalError, psycopg.InterfaceError)
        self._full = PoolTimeout
        self._shut = PoolClosed
        self._errors = (psycopg.Error, PoolTimeout)
        self._url, self._wait, self._most = url, wait, connections
        self._lock = threading.Lock()
        self._made: ConnectionPool[psycopg.Connection[Row]] | None = None
        try:
            with psycopg.connect(url, autocommit=True, connect_timeout=max(int(wait), 2)) as connection:
                _check(connection)
        except psycopg.Error as error:
            raise self._translate(error) from None
        forks.know(self)

    def __repr__(self) -> str:
        return "Postgres()"

    @property
    def _pool(self) -> ConnectionPool[psycopg.Connection[Row]]:
        """The connections of this process, made when they are first needed."""
        if self._made is None:
            with self._lock:
                if self._made is None:
                    pool = self._unopened()
                    pool.open()
                    self._made = pool
        return self._made

    def _unopened(self) -> ConnectionPool[psycopg.Connection[Row]]:
        from psycopg_pool import ConnectionPool

        options = {"autocommit": True, "options": "-c statement_timeout=60000", "application_name": "charter"}
        return ConnectionPool(
            self._url, min_size=1, max_size=self._most, timeout=self._wait, reconnect_timeout=self._wait, open=False,
            kwargs=options,
        )  # fmt: skip

    def pause(self) -> None:
        """Nothing has to wait for a fork."""

    def resume(self) -> None:
        """Nothing waited."""

    def begin_anew(self) -> None:
        """A connection speaks with one process: the child keeps its parent's untouched, and makes its own."""
        self._lock = threading.Lock()
        if self._made is not None and not self._made.closed:
            _inherited.append(self._made)
            self._made = None

    def read(self, sql: str, *values: Any) -> list[Row]:
        for left in range(self._tries, 0, -1):
            connection = None
            try:
                connection = self._pool.getconn()
                return connection.execute(_spoken(sql), fit(values)).fetchall()
            except self._errors as error:  # an idle connection may have died: a read can be asked again
                if left == 1 or not self._gone(error):
                    raise self._translate(error) from None
            finally:
                if connection is not None:
                    self._pool.putconn(connection)
        raise AssertionError("not reached")

    @contextlib.contextmanager
    def snapshot(self) -> Iterator[Stream]:
        names = count(1)
        with self._begun("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", ()) as (connection, begun):
            begun("SET LOCAL statement_timeout = 0")  # all of a big table in order takes as long as it takes

            def run(sql: str, *values: Any) -> Iterator[Row]:
                try:
                    with connection.cursor(f"rows_{next(names)}") as cursor:
                        cursor.itersize = ROWS_AT_ONCE
                        yield from cursor.execute(_spoken(sql), values)
                except self._errors as error:
                    raise self._translate(error) from None

            yield run

    @contextlib.contextmanager
    def writing(self, *locks: str) -> Iterator[Run]:
        with self._begun("BEGIN", sorted(locks)) as (connection, run):
            yield run
            self._commit(connection)

    @contextlib.contextmanager
    def _begun(self, begin: str, locks: Any) -> Iterator[tuple[psycopg.Connection[Row], Run]]:
        """A connection in a transaction with its locks held; what is not committed is rolled back."""
        connection = self._begin(begin, locks)
        try:
            yield connection, Transaction(self, connection)
        finally:
            with contextlib.suppress(*self._errors):
                if not connection.closed:
                    connection.rollback()
            self._pool.putconn(connection)

    def _begin(self, begin: str, locks: Any) -> psycopg.Connection[Row]:
        for left in range(self._tries, 0, -1):
            connection = None
            try:
                connection = self._pool.getconn()
                connection.execute(begin)
                for name in locks:
                    connection.execute(_LOCK, (name,))
                return connection
            except self._errors as error:  # nothing was written yet: a dead connection is replaced
                if connection is not None:
                    lost = connection.closed
                    with contextlib.suppress(*self._errors):
                        connection.rollback()
                    self._pool.putconn(connection)
                    if lost and left > 1:
                        continue
                raise self._translate(error) from None
        raise AssertionError("not reached")

    def _commit(self, connection: psycopg.Connection[Row]) -> None:
        try:
            kept = connection.execute("COMMIT").statusmessage == "COMMIT"
        except self._lost:
            raise StoreUnavailable(
                "PostgreSQL: the connection was lost while committing; read before you try again"
            ) from None
        except self._errors as error:
            raise self._translate(error) from None
        if not kept:  # the server answers a transaction that failed with a rollback, and calls that a success
            raise StoreError("PostgreSQL: the transaction had failed before; nothing was written")

    def shred(self) -> None:
        """Erased rows go when the server vacuums; there is no file of ours to clean."""

    def close(self) -> None:
        with self._lock:
            self._made = self._made or self._unopened()
        self._made.close()

    def run(self, connection: psycopg.Connection[Row], sql: str, values: Sequence[Any]) -> psycopg.Cursor[Row]:
        """Runs a statement in the transaction of this connection."""
        try:
            return connection.execute(_spoken(sql), fit(values))
        except self._errors as error:
            raise self._translate(error) from None

    def _gone(self, error: BaseException) -> bool:
        """Whether the connection died, so that another one may still answer."""
        state = getattr(error, "sqlstate", None) or ""
        dead = isinstance(error, self._lost) and not isinstance(error, (self._full, self._shut))
        return dead and (not state or state.startswith(("08", "57P")))

    def _translate(self, error: BaseException) -> StoreError:
        """The error of ours; never the server's text, which may quote values."""
        if isinstance(error, self._shut):
            return StoreUnavailable("the store is closed; open it again")
        state = getattr(error, "sqlstate", None) or ""
        for start, said in _SAID.items():
            if state.startswith(start):
                return StoreUnavailable(f"PostgreSQL: {said} ({state})")
        if isinstance(error, self._lost) and (not state or state.startswith("08")):
            return StoreUnavailable("PostgreSQL: no connection; check that the server runs and the URL is right")
        return StoreError(f"PostgreSQL: {type(error).__name__} ({state or 'no code'})")


_SAID = {
    "53100": "the disk is full; make room, nothing was lost",
    "53300": "too many connections; raise max_connections or use fewer workers",
    "25006": "read-only; connect to the primary server",
    "28": "the login was refused; check user and password",
    "3D": "this database does not exist; create it, then: charter db upgrade",
    "40": "another writer was in the way; try again",
    "57014": "a statement took too long; another writer holds a lock",
    "57P": "the server is shutting down; try again when it is back",
    "55P03": "locked; try again",
}
_inherited: list[object] = []  # pools of the process this one was forked from: kept, so that nobody closes them


def _check(connection: psycopg.Connection[Row]) -> None:
    """Refuses a database of another age than the code."""
    rows = connection.execute(
        "SELECT c.relname FROM pg_class c WHERE c.relkind = 'r' AND pg_table_is_visible(c.oid)"
        " AND c.relname IN ('alembic_version', 'agent_configurations', 'prompt_layers')"
    ).fetchall()
    tables = {row[0] for row in rows}
    if "alembic_version" not in tables:
        raise StoreOutdated("PostgreSQL: no tables of Charter here yet; run: charter db upgrade --database URL")
    found = connection.execute("SELECT version_num FROM alembic_version").fetchall()
    if not found:
        raise StoreDamaged("PostgreSQL: alembic_version is empty; restore a backup")
    refuse_revision("PostgreSQL", found[0][0])
