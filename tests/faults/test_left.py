"""What is left of other databases, and files that change under a store: nothing old comes back, nothing is split."""

from __future__ import annotations

import fcntl
import os
import sqlite3
import threading
from contextlib import closing
from pathlib import Path

import pytest

from charter import stores
from charter.core.errors import StoreDamaged, StoreError, StoreUnavailable
from charter.stores.sqlite import Sqlite
from charter.stores.store import SqlStore

from .places import impatient, new
from .test_statements import leaks
from .whole import wrong
from .work import KEYS, amend, decision, opened, persona, propose

pytestmark = pytest.mark.requirement("N-17", "N-03")


@pytest.mark.parametrize("side", ["-wal", "-journal"])
def test_what_is_left_of_a_removed_database_does_not_come_back_in_a_new_one(side: str, tmp_path: Path) -> None:
    with opened(f"sqlite:///{tmp_path / 'charter.db'}") as store:
        amend(store, "agent", 1)
        log = (tmp_path / "charter.db-wal").read_bytes()
    (tmp_path / "charter.db").unlink()
    (tmp_path / f"charter.db{side}").write_bytes(log)
    with pytest.raises(StoreDamaged, match=f"gone, but charter.db{side} holds writes of it; restore the database"):
        opened(f"sqlite:///{tmp_path / 'charter.db'}")
    assert not (tmp_path / "charter.db").exists()
    (tmp_path / f"charter.db{side}").unlink()
    with opened(f"sqlite:///{tmp_path / 'charter.db'}") as store:
        assert store.head(persona("agent")) is None


@pytest.mark.parametrize("wrote", [False, True])
@pytest.mark.parametrize("by", ["nothing", "another", "a copy"])
def test_a_file_that_was_taken_away_is_neither_read_nor_written_any_more(by: str, wrote: bool, tmp_path: Path) -> None:
    path, kept = tmp_path / "charter.db", tmp_path / "kept.db"
    opened(f"sqlite:///{path}").close()
    with opened(f"sqlite:///{path}") as store:
        if wrote:
            amend(store, "agent", 1)
        path.rename(kept)
        if by == "another":
            opened(f"sqlite:///{tmp_path / 'new' / 'charter.db'}").close()
            (tmp_path / "new" / "charter.db").rename(path)
        elif by == "a copy":
            path.write_bytes(kept.read_bytes())
        words = "removed while in use; restore it" if by == "nothing" else "replaced while in use; start again"
        with pytest.raises(StoreDamaged, match=words):
            amend(store, "agent", 2)
        with pytest.raises(StoreDamaged, match=words):
            store.head(persona("agent"))
    assert path.exists() == (by != "nothing")


@pytest.mark.parametrize("kind", ["a broken link", "a file as its folder", "a folder"])
def test_a_place_where_no_database_can_be_is_an_error_of_ours(kind: str, tmp_path: Path) -> None:
    place = tmp_path / "charter.db"
    if kind == "a broken link":
        place.symlink_to(tmp_path / "nowhere" / "charter.db")
    elif kind == "a file as its folder":
        place.write_text("file")
        place = place / "charter.db"
    else:
        place.mkdir()
    with pytest.raises(StoreUnavailable):
        opened(f"sqlite:///{place}")


@pytest.mark.parametrize("keep", [1, 100, 512, 4096, 4097, 20_000, 100_000])
def test_a_database_cut_anywhere_is_an_error_of_ours_and_is_left_as_it_is(keep: int, tmp_path: Path) -> None:
    path = tmp_path / "charter.db"
    with opened(f"sqlite:///{path}") as store:
        for version in range(1, 20):
            amend(store, "agent", version)
    data = path.read_bytes()[:keep]
    path.write_bytes(data)

    def use() -> None:
        with stores.open(f"sqlite:///{path}", keys=KEYS) as store:
            store.history(persona("agent"))
            amend(store, "agent", 20)

    with pytest.raises(StoreDamaged):
        use()
    assert path.read_bytes() == data


def test_a_page_of_garbage_is_read_around_or_is_an_error_of_ours_and_no_text_is_in_it(tmp_path: Path) -> None:
    path = tmp_path / "charter.db"
    with opened(f"sqlite:///{path}") as store:
        for version in range(1, 12):
            amend(store, "agent", version)
    whole, found = path.read_bytes(), list[StoreError]()
    for page in range(len(whole) // 4096):
        path.write_bytes(whole[: page * 4096] + b"\xa5" * 4096 + whole[(page + 1) * 4096 :])
        try:
            with opened(f"sqlite:///{path}") as store:
                store.history(persona("agent"))
                store.chains()
                amend(store, "agent", 12)
        except StoreError as error:
            found.append(error)
        for side in ("-wal", "-shm"):
            Path(f"{path}{side}").unlink(missing_ok=True)
    assert len(found) > 10
    assert not any(leaks(error) for error in found)


def test_a_line_that_does_not_move_holds_nobody_up_longer_than_it_would_wait(tmp_path: Path) -> None:
    url = new("sqlite", tmp_path)
    with impatient(url) as store:
        stuck = os.open(tmp_path, os.O_RDONLY)
        fcntl.flock(stuck, fcntl.LOCK_EX)
        amend(store, "agent", 1)
        os.close(stuck)
        amend(store, "agent", 2)
        assert wrong(store, "agent") == []


def test_threads_that_come_and_go_leave_no_connections_behind(tmp_path: Path) -> None:
    with opened(new("sqlite", tmp_path)) as store:
        amend(store, "agent", 1)
        for _ in range(5):
            thread = threading.Thread(target=store.head, args=(persona("agent"),))
            thread.start()
            thread.join()
        before = len(os.listdir("/proc/self/fd"))
        for _ in range(50):
            thread = threading.Thread(target=store.head, args=(persona("agent"),))
            thread.start()
            thread.join()
        assert len(os.listdir("/proc/self/fd")) <= before


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_a_store_closed_while_threads_use_it_tells_each_of_them(kind: str, tmp_path: Path) -> None:
    store, errors, ready = opened(new(kind, tmp_path)), list[BaseException](), threading.Barrier(9)

    def use(number: int) -> None:
        version = 0
        try:
            while True:
                version += 1
                amend(store, f"agent {number}", version)
                store.history(persona(f"agent {number}"))
                if version == 2:
                    ready.wait()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=use, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    ready.wait()
    store.close()
    for thread in threads:
        thread.join()
    assert {type(error) for error in errors} == {StoreUnavailable}
    assert len(errors) == 8


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_no_operation_needs_two_connections_at_once(kind: str, tmp_path: Path) -> None:
    with impatient(new(kind, tmp_path), connections=1) as store:
        propose(store, "agent", 0)
        store.apply(decision(store, "agent"))
        assert wrong(store, "agent") == []


def test_a_lock_that_is_held_for_ever_is_an_error_and_one_that_is_let_go_is_waited_for(tmp_path: Path) -> None:
    url = new("sqlite", tmp_path)
    with impatient(url) as store, closing(sqlite3.connect(tmp_path / "charter.db", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreUnavailable, match="locked by another process"):
            amend(store, "agent", 1)
        patient, begun, done = SqlStore(Sqlite(tmp_path / "charter.db", KEYS)), threading.Event(), threading.Event()

        def write() -> None:
            begun.set()
            amend(patient, "agent", 1)
            done.set()

        thread = threading.Thread(target=write)
        thread.start()
        begun.wait()
        assert not done.is_set()
        other.execute("ROLLBACK")
        thread.join()
        assert done.is_set()
        patient.close()
        assert wrong(store, "agent") == []
