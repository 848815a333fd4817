"""Notices between workers: that something changed for an agent, never what; on PostgreSQL, since SQLite has none.

A notice is a hint. Everything is correct without it, only later: every turn reads the tables, and who waits looks
again. PostgreSQL lets transactions that tell something commit one after the other, in the whole cluster, so the
beginning and the end of an ordinary turn tell nothing.
"""

from __future__ import annotations

import contextlib
import selectors
import socket
import threading
from collections.abc import Generator, Iterator
from typing import Any, Final

from ..core.errors import BadValue, MissingExtra
from .database import Database, Run

CHANNEL: Final = "charter"
FIRST_PAUSE, LONGEST_PAUSE = 0.1, 10.0
_ALIVE = {"connect_timeout": 10, "keepalives_idle": 30, "keepalives_interval": 10, "keepalives_count": 3}


def notify(db: Database, run: Run, agent: str) -> None:
    """Tells every listener of this database, when the transaction is kept, that something changed for an agent."""
    if db.kind == "postgres":
        run("SELECT pg_notify(?, ?)", CHANNEL, agent)


def listen(url: str) -> Notices:
    """The agents for whom something changed, from here on, as they are told of; on SQLite there are none."""
    return Notices(url)


class Notices:
    """Names of agents as they come, until it is closed; any thread may close it, and that ends the waiting at once.

    A connection that was lost is made anew. Whenever there is one, the first included, comes an empty name: what was
    told before it nobody heard, so look at every agent.
    """

    def __init__(self, url: str) -> None:
        self._url = url
        self._open, self._lock = True, threading.Lock()
        self._woken, self._waker = socket.socketpair()
        self._begun = False
        self._names = self._hear()

    def __repr__(self) -> str:
        return "Notices()"

    def __enter__(self) -> Notices:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        return next(self._names)

    def close(self) -> None:
        """No name comes after this; who waits for one is told that there is none."""
        with self._lock:
            self._open = False
            self._waker.close()  # the other end can be read now, which wakes who waits
            if not self._begun:
                self._woken.close()
        with contextlib.suppress(ValueError):  # another thread is in it, and now comes to its end
            self._names.close()

    def _begin(self) -> bool:
        with self._lock:
            self._begun = self._open
        return self._begun

    def _hear(self) -> Generator[str, None, None]:
        if not self._begin():
            return
        try:
            if self._url.startswith(("postgresql://", "postgres://")):
                yield from self._connected()
        finally:
            self._woken.close()

    def _connected(self) -> Iterator[str]:
        psycopg, pause = _psycopg(), FIRST_PAUSE
        while self._open:
            try:
                with psycopg.connect(self._url, autocommit=True, application_name=CHANNEL, **_ALIVE) as connection:
                    connection.execute(f"LISTEN {CHANNEL}")
                    pause = FIRST_PAUSE
                    yield ""
                    yield from self._told(connection.pgconn)
            except (psycopg.OperationalError, psycopg.InterfaceError):
                self._wait(pause)
                pause = min(2 * pause, LONGEST_PAUSE)
            except psycopg.ProgrammingError:  # its words quote the address, password and all
                raise BadValue("database", "a PostgreSQL address is postgresql://user@host/name") from None

    def _told(self, pgconn: Any) -> Iterator[str]:
        while self._open:
            pgconn.consume_input()
            while (notice := pgconn.notifies()) is not None:
                yield notice.extra.decode()
            self._wait(None, pgconn.socket)

    def _wait(self, seconds: float | None, *sockets: int) -> None:
        """Until there is something to read, the time is over, or this was closed."""
        with contextlib.closing(selectors.DefaultSelector()) as selector:
            for one in (self._woken.fileno(), *sockets):
                selector.register(one, selectors.EVENT_READ)
            selector.select(seconds)


def _psycopg() -> Any:
    try:
        import psycopg
    except ImportError:
        raise MissingExtra("postgres", "a postgresql:// store") from None
    return psycopg
