"""Looks at every statement and file a store touches, in this process only, from outside: the product knows nothing."""

from __future__ import annotations

import sqlite3
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, Literal
from unittest import mock

import psycopg

Hook = Callable[[Literal["before", "after"], str], None]
_FILES = ("os.link", "os.remove", "os.mkdir", "open")


@contextmanager
def watched(hook: Hook, *, quick: bool = False) -> Iterator[None]:
    """Calls the hook before and after every statement of connections that are opened from here on; it may raise.

    A quick SQLite does not wait for the disk: who is killed leaves the same, only a machine that is would not.
    """

    class Watched(sqlite3.Connection):
        def execute(self, sql: str, *values: Any) -> sqlite3.Cursor:
            hook("before", sql)
            cursor = super().execute("PRAGMA synchronous = OFF" if quick and "synchronous" in sql else sql, *values)
            hook("after", sql)
            return cursor

        def rollback(self) -> None:
            if self.in_transaction:
                hook("before", "ROLLBACK")
                super().rollback()
                hook("after", "ROLLBACK")

    execute, rollback = psycopg.Connection.execute, psycopg.Connection.rollback

    def watched_execute(self: Any, query: Any, *values: Any, **options: Any) -> Any:
        hook("before", query)
        cursor = execute(self, query, *values, **options)
        hook("after", query)
        return cursor

    def watched_rollback(self: Any) -> None:
        if self.pgconn.transaction_status != psycopg.pq.TransactionStatus.IDLE:
            hook("before", "ROLLBACK")
            rollback(self)
            hook("after", "ROLLBACK")

    with (
        mock.patch.object(sqlite3, "connect", partial(sqlite3.connect, factory=Watched)),
        mock.patch.object(psycopg.Connection, "execute", watched_execute),
        mock.patch.object(psycopg.Connection, "rollback", watched_rollback),
    ):
        yield


def watch_files(folder: str, hook: Hook) -> None:
    """Calls the hook before every file of this folder is made, linked or removed; to the end of the process."""

    def look(event: str, arguments: tuple[Any, ...]) -> None:
        if event in _FILES and any(str(argument).startswith(folder) for argument in arguments[:2]):
            hook("before", event)

    sys.addaudithook(look)
