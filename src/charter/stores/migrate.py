"""Moves a database from one revision to another: the whole way or not at all, one process at a time.

All revisions of a way run in one transaction that first takes the database's lock and then reads which revision is
there. So a killed process leaves what was there before, and of two that begin together one does the work and the other
finds it done.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import sqlite3
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..core.errors import BadValue, MissingExtra, StoreDamaged, StoreError, StoreTooNew, StoreUnavailable
from ..home import private_folder
from . import sqlite_path
from .revisions import HEAD, REVISIONS
from .sqlite_file import translate

if TYPE_CHECKING:
    from sqlalchemy import Connection

WAIT_SECONDS = 60
_LOCK = 0x63686172746572
_BEGIN = {
    "sqlite": ("BEGIN IMMEDIATE",),
    "postgresql": (
        f"SET LOCAL lock_timeout = '{WAIT_SECONDS}s'",
        "SET LOCAL statement_timeout = 0",
        "SET LOCAL DateStyle = 'ISO'",
        "SET LOCAL TimeZone = 'UTC'",
        f"SELECT pg_advisory_xact_lock({_LOCK})",
    ),
}
_HERE = Path(__file__).with_name("migrations")
_one_at_a_time = threading.Lock()  # Alembic's `op` and `context` belong to the whole process


def current(url: str) -> str | None:
    """The revision a database is at; None when it has no tables of ours. Makes and changes nothing."""
    path = _file(url)
    if path is not None and not path.exists():
        return None
    with _named_errors(path), contextlib.closing(_connect(url, path)) as connection:
        return _revision("postgresql" if path is None else "sqlite", lambda sql: connection.execute(sql).fetchall())


def upgrade(url: str, to: str = HEAD) -> list[str]:
    """Brings a database up to a revision; the revisions this call applied. A new SQLite file appears complete."""
    _known(to)
    path = _file(url)
    if path is None or path.exists():
        return _climb(url, path, to)
    private_folder(path.parent)
    made = path.with_name(f".{path.name}.{secrets.token_hex(6)}")
    try:
        os.close(os.open(made, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        done = _climb(url, made, to)
        os.link(made, path)
    except FileExistsError:  # another process was first
        return _climb(url, path, to)
    except OSError as error:
        raise StoreUnavailable(f"{path}: {error.strerror}; check the folder and its permissions") from None
    finally:
        made.unlink(missing_ok=True)
    return done


def downgrade(url: str, to: str) -> list[str]:
    """Brings a database back to an older revision; the revisions this call undid, newest first.

    What is lost and what is kept is written in `migrations/back.py`.
    """
    _known(to)
    path = _file(url)
    if path is not None and not path.exists():
        return []
    with _session(url, path) as (connection, step), connection.begin():
        at = _at(connection)
        if at is None or at <= to:
            return []
        step("downgrade", to)
        return [revision for revision in reversed(REVISIONS) if to < revision <= at]


def _climb(url: str, path: Path | None, to: str) -> list[str]:
    """Every revision that is not there yet, together."""
    with _session(url, path) as (connection, step), connection.begin():
        at = _at(connection) or ""
        missing = [revision for revision in REVISIONS if at < revision <= to]
        if missing:
            step("upgrade", to)
        return missing


def _at(connection: Connection) -> str | None:
    return _revision(connection.dialect.name, lambda sql: connection.exec_driver_sql(sql).all())


def _known(to: str) -> None:
    if to not in REVISIONS:
        raise BadValue("revision", f"known are {', '.join(REVISIONS)}")


# ── which revision ────────────────────────────────────────────────────────────────────────────────────────────────

_COLUMNS = {
    "sqlite": """SELECT t.name, c.name FROM sqlite_master t, pragma_table_info(t.name) c
        WHERE t.type = 'table' AND t.name IN ({names})""",
    "postgresql": """SELECT c.relname, a.attname FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
        WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'p') AND a.attnum > 0
        AND NOT a.attisdropped AND c.relname IN ({names})""",
}


def _revision(dialect: str, read: Callable[[str], Sequence[Any]]) -> str | None:
    """What the database says of itself; an old assistant's database, which says nothing, is at the first revision."""
    from .migrations.tables import OLD

    names = ", ".join(f"'{name}'" for name in ("alembic_version", *OLD))
    found: dict[str, set[str]] = {}
    for table, column in read(_COLUMNS[dialect].format(names=names)):
        found.setdefault(table, set()).add(column)
    said = [row[0] for row in read("SELECT version_num FROM alembic_version")] if "alembic_version" in found else []
    if said:
        if len(said) > 1 or said[0] not in REVISIONS:
            raise StoreTooNew(
                f"the database is at revision {said[0][:32]!r}, newer than this Charter ({HEAD}); update it"
            )
        return str(said[0])
    for table, columns in OLD.items():
        missing = sorted(set(columns) - found.get(table, set(columns)))
        if missing:
            raise StoreDamaged(f"table {table} is not the old assistant's: it has no column {', '.join(missing)}")
    return REVISIONS[0] if found.keys() & OLD else None


# ── connections ───────────────────────────────────────────────────────────────────────────────────────────────────


def _file(url: str) -> Path | None:
    """The file of an SQLite address; None for PostgreSQL."""
    if url.startswith(("postgresql://", "postgres://")):
        return None
    path = sqlite_path(url)
    if path is None:
        raise BadValue("database", "one in memory has no revisions; name a file: sqlite:///path")
    return path


def _connect(url: str, path: Path | None) -> Any:
    """A plain connection of the database's own driver."""
    if path is not None:
        address = f"{path.absolute().as_uri()}?mode=rw"
        connection = sqlite3.connect(address, uri=True, isolation_level=None, timeout=WAIT_SECONDS)
        connection.text_factory = lambda data: data.decode("utf-8", "replace")
        return connection
    psycopg = _psycopg()
    try:
        return psycopg.connect(url, connect_timeout=WAIT_SECONDS, application_name="charter")
    except psycopg.ProgrammingError:  # its words quote the address, password and all
        raise BadValue("database", "a PostgreSQL address is postgresql://user@host/name") from None


def _psycopg() -> Any:
    try:
        import psycopg
    except ImportError:
        raise MissingExtra("postgres", "a postgresql:// store") from None
    return psycopg


@contextlib.contextmanager
def _session(url: str, path: Path | None) -> Iterator[tuple[Connection, Callable[[str, str], None]]]:
    """A connection whose transactions begin with the lock, and what runs Alembic on it."""
    with _one_at_a_time, _named_errors(path):
        from alembic import command
        from alembic.config import Config
        from sqlalchemy import NullPool, create_engine, event
        from sqlalchemy.exc import DBAPIError

        dialect = "sqlite" if path else "postgresql+psycopg"
        engine = create_engine(
            f"{dialect}://", creator=lambda: _connect(url, path), poolclass=NullPool, hide_parameters=True
        )
        event.listen(engine, "begin", _begin)
        try:
            with engine.connect() as connection:
                config = Config(attributes={"connection": connection})
                config.set_main_option("script_location", str(_HERE).replace("%", "%%"))
                yield connection, lambda way, to: getattr(command, way)(config, to)
        except DBAPIError as error:
            raise (error.orig or error) from None


def _begin(connection: Connection) -> None:
    for sql in _BEGIN[connection.dialect.name]:
        connection.exec_driver_sql(sql)


# ── what failures are called ──────────────────────────────────────────────────────────────────────────────────────

_SAID = {
    "08": "the connection was lost",
    "25006": "read-only; connect to the primary server",
    "28": "the login was refused; check user and password",
    "3D": "this database does not exist; create it, then: charter db upgrade",
    "42501": "this user may not change the tables; use their owner",
    "53": "the server has no room or no connection left",
    "55P03": "locked for too long by another process; try again when it is done",
    "57P": "the server is shutting down; try again when it is back",
}


@contextlib.contextmanager
def _named_errors(path: Path | None) -> Iterator[None]:
    """A driver's errors under our names; never its words, which may quote an address or a value."""
    driver: type[Exception] = sqlite3.Error if path else _psycopg().Error
    try:
        yield
    except driver as error:
        raise (translate(error, path) if isinstance(error, sqlite3.Error) else _translated(error)) from None


def _translated(error: Any) -> StoreError:
    code = error.sqlstate or ""
    for start, said in _SAID.items():
        if code.startswith(start):
            return StoreUnavailable(f"PostgreSQL: {said} ({code}); nothing was changed")
    if isinstance(error, _psycopg().OperationalError) and not code:
        return StoreUnavailable("PostgreSQL: no connection; check that the server runs and the address is right")
    where = f"table {error.diag.table_name}" if error.diag.table_name else "the database"
    name = code or type(error).__name__
    return StoreError(f"PostgreSQL: {where} does not take the change ({name}); nothing was changed")
