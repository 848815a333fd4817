"""A read goes by the connection that writes when that is free; whichever it takes, it sees what was committed."""

from __future__ import annotations

import sqlite3
import threading
from pathlib import Path
from typing import Any

import pytest

from charter.core.errors import StoreError
from charter.stores.sqlite import Sqlite

pytestmark = pytest.mark.requirement("N-03")

COUNT = "SELECT count(*) FROM user_settings"
ADD = "INSERT INTO user_settings (user_id, timezone) VALUES (?, 'UTC')"


@pytest.fixture
def db(tmp_path: Path) -> Any:
    db = Sqlite(tmp_path / "charter.db")
    with db.writing() as run:
        run(ADD, "ana")
    yield db
    db.close()


def test_a_read_takes_no_connection_of_its_own_while_nobody_writes(db: Sqlite) -> None:
    idle = list(db._idle)
    assert db.read(COUNT) == [(1,)]
    assert db._idle == idle
    assert not db._lent


def test_a_read_inside_a_transaction_sees_nothing_of_it(db: Sqlite) -> None:
    with db.writing() as run:
        run(ADD, "bob")
        assert db.read(COUNT) == [(1,)]
    assert db.read(COUNT) == [(2,)]


def test_a_read_beside_a_writer_neither_waits_nor_sees_what_is_not_committed(db: Sqlite) -> None:
    seen: list[object] = []
    with db.writing() as run:
        run(ADD, "bob")
        thread = threading.Thread(target=lambda: seen.append(db.read(COUNT)))
        thread.start()
        thread.join(20)
        assert seen == [[(1,)]]


def test_a_read_that_fails_leaves_no_connection_half_way(db: Sqlite) -> None:
    with pytest.raises(StoreError):
        db.read("SELECT * FROM nothing_of_this_name")
    assert db._writer is None
    assert db.read(COUNT) == [(1,)]
    with db.writing() as run:
        run(ADD, "bob")
    assert db.read(COUNT) == [(2,)]


class Recovering:
    """A connection that has to wait, which the one that writes never does."""

    in_transaction = False
    closed = False

    def execute(self, *_: object) -> object:
        error = sqlite3.OperationalError("database is locked")
        error.sqlite_errorcode = sqlite3.SQLITE_BUSY
        raise error

    def close(self) -> None:
        self.closed = True


def test_a_read_that_would_have_to_wait_takes_a_connection_that_does(db: Sqlite) -> None:
    busy: Any = Recovering()
    assert db._writer is not None
    db._writer.close()
    db._writer = busy
    assert db.read(COUNT) == [(1,)]
    assert busy.closed
