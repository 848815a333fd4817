"""What can be wrong around a database: each is a clear error or is got over, and nothing is lost or made anew."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import threading
from contextlib import closing
from pathlib import Path

import psycopg
import pytest

from charter import stores
from charter.core.errors import CharterError, StoreDamaged, StoreOutdated, StoreTooNew, StoreUnavailable
from charter.stores.store import SqlStore

from . import work
from .places import impatient, new
from .whole import wrong
from .work import CANARY, opened

pytestmark = pytest.mark.requirement("N-17", "N-03")


@pytest.fixture
def url(tmp_path: Path) -> str:
    place = f"sqlite:///{tmp_path / 'charter.db'}"
    with opened(place) as store:
        work.amend(store, "agent", 1)
    return place


def path_of(url: str) -> Path:
    found = stores.sqlite_path(url)
    assert found is not None
    return found


def test_a_database_another_process_has_locked_is_said_to_be_locked_and_then_goes_on(url: str) -> None:
    with impatient(url) as store, closing(sqlite3.connect(path_of(url), isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(StoreUnavailable, match="locked by another process; wait for it, or stop it") as caught:
            work.amend(store, "agent", 2)
        assert CANARY not in str(caught.value)
        assert [version.version for version in store.history(work.persona("agent"))] == [1]
        other.execute("COMMIT")
        work.amend(store, "agent", 2)
        assert wrong(store, "agent") == []


@pytest.mark.parametrize(
    ("bytes_", "kind"),
    [(b"", StoreDamaged), (b"garbage " * 2000, StoreDamaged), (b"SQLite format 3\0" + b"\xff" * 5000, StoreDamaged)],
    ids=["empty", "garbage", "broken header"],
)
def test_a_file_that_is_no_database_is_reported_and_left_as_it_is(
    tmp_path: Path, bytes_: bytes, kind: type[CharterError]
) -> None:
    (tmp_path / "charter.db").write_bytes(bytes_)
    with pytest.raises(kind):
        stores.open(f"sqlite:///{tmp_path / 'charter.db'}")
    assert (tmp_path / "charter.db").read_bytes() == bytes_


def test_a_database_cut_short_is_reported_when_it_is_read(url: str) -> None:
    data = path_of(url).read_bytes()
    path_of(url).write_bytes(data[: len(data) // 2])

    def look() -> None:
        with stores.open(url) as store:
            for layer in ("persona", "inbox"):
                store.layer("agent", layer)
            work.amend(store, "agent", 2)

    with pytest.raises(StoreDamaged, match="restore a backup"):
        look()
    assert path_of(url).stat().st_size >= len(data) // 2


def test_a_folder_in_its_place_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "charter.db").mkdir()
    with pytest.raises(CharterError):
        stores.open(f"sqlite:///{tmp_path / 'charter.db'}")


@pytest.mark.parametrize(("revision", "kind"), [("9999", StoreTooNew), ("0001", StoreOutdated)])
def test_a_database_of_another_age_is_refused(url: str, revision: str, kind: type[CharterError]) -> None:
    with closing(sqlite3.connect(path_of(url))) as raw, raw:
        raw.execute("UPDATE alembic_version SET version_num = ?", (revision,))
    with pytest.raises(kind):
        stores.open(url)


def test_a_database_of_somebody_else_is_refused(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "charter.db")) as raw, raw:
        raw.execute("CREATE TABLE photos (id INTEGER)")
    with pytest.raises(StoreDamaged, match="a database, but not Charter's"):
        stores.open(f"sqlite:///{tmp_path / 'charter.db'}")


@pytest.mark.parametrize("replaced", [False, True])
def test_a_file_taken_away_while_open_takes_no_more_writes(url: str, replaced: bool) -> None:
    with opened(url) as store:
        work.amend(store, "agent", 2)
        path_of(url).unlink()
        if replaced:
            path_of(url).write_bytes(b"something else")
        with pytest.raises(StoreDamaged, match="while in use"):
            work.amend(store, "agent", 3)


def test_a_closed_store_says_so(url: str) -> None:
    store = opened(url)
    store.close()
    with pytest.raises(StoreUnavailable, match="the store is closed; open it again"):
        work.amend(store, "agent", 2)
    with pytest.raises(StoreUnavailable, match="the store is closed; open it again"):
        store.layer("agent", "x")
    store.close()


def test_a_clock_that_goes_back_changes_neither_versions_nor_their_order(url: str) -> None:
    from charter.core.records import INIT, Change

    with opened(url) as store:
        for number, at in enumerate((10**18, 5, 10**17, 0), 1):
            store.commit(Change(work.persona("late"), f"text {number}", number - 1, INIT, at))
        assert [row.version for row in store.history(work.persona("late"))] == [1, 2, 3, 4]
        head = store.head(work.persona("late"))
        assert head is not None
        assert (head.content, head.updated_at_ns) == ("text 4", 0)


def use(store: SqlStore, name: str) -> None:
    work.amend(store, name, 1)
    assert store.head(work.persona(name)) is not None


def test_many_threads_share_one_store(url: str) -> None:
    errors: list[BaseException] = []

    def run(number: int) -> None:
        try:
            for time in range(10):
                use(store, f"thread {number} {time}")
        except BaseException as error:
            errors.append(error)

    with opened(url) as store:
        threads = [threading.Thread(target=run, args=(number,)) for number in range(16)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert errors == []
        assert wrong(store, "thread 15 9") == []


def test_postgresql_connections_that_are_cut_are_got_over_and_nothing_is_lost(tmp_path: Path) -> None:
    url = new("postgres", tmp_path)
    with opened(url) as store:
        work.amend(store, "agent", 1)
        for number in (2, 3, 4):
            with psycopg.connect(url, autocommit=True) as other:
                other.execute(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                    " WHERE datname = current_database() AND pid <> pg_backend_pid()"
                )
            assert store.head(work.persona("agent")) is not None
            work.amend(store, "agent", number)
        assert wrong(store, "agent") == []
        assert [row.version for row in store.history(work.persona("agent"))] == [1, 2, 3, 4]


def test_a_postgresql_that_is_not_there_is_said_so_without_the_password() -> None:
    script = (
        "from charter import stores\nfrom charter.stores.postgres import Postgres\n"
        "try:\n    Postgres('postgresql://mo:hunter2@127.0.0.1:1/none', wait=2)\n"
        "except Exception as error:\n    print(type(error).__name__, error)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("StoreUnavailable PostgreSQL: no connection; check that the server runs")
    assert "hunter2" not in done.stdout + done.stderr
