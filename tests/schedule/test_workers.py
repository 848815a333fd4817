"""Any number of workers run a tick once; one that is killed leaves it to another, wherever it was."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import psycopg
import pytest
from psycopg import sql

from charter.channels.durable import open_queue
from charter.channels.schedule import worker_name
from charter.core.errors import BadValue, Busy
from charter.core.served import Run
from charter.scheduler import working
from charter.stores.store import SqlStore

from .rooms import NOON, PATIENCE_S, SECOND, address, house_of, opened, schedule, wait_for
from .worker import POINTS

pytestmark = pytest.mark.requirement("S4-10", "N-17")

TESTS = Path(__file__).parent.parent
NEW_YEAR = "0 0 1 1 *"  # one tick to make up, whenever this runs


@contextmanager
def worker(url: str, point: str = "never", *, seconds: float = 30) -> Iterator[subprocess.Popen[str]]:
    """A worker in a process; it ends well at the end of the block unless it was killed."""
    command = [sys.executable, "-W", "error", "-m", "schedule.worker", url, point, str(seconds)]
    with subprocess.Popen(command, cwd=TESTS, stdin=-1, stdout=-1, text=True) as process:
        assert process.stdin is not None
        try:
            yield process
            process.stdin.close()
            assert process.wait(PATIENCE_S) in (0, -signal.SIGKILL)
        finally:
            process.kill()


def done(store: SqlStore) -> list[Run]:
    return [run for run in store.runs("s1") if run.state == "done"]


def test_a_schedule_at_each_second_fires_once_per_tick_over_two_workers(tmp_path: Path) -> None:
    url = address("postgres", tmp_path)
    with opened(url) as store:
        begun = time.time_ns()
        store.add_schedule(schedule("* * * * * *", recipient="ana", user="ana", at_ns=begun))
        with worker(url), worker(url):
            wait_for(lambda: len(done(store)) >= 10)
        runs = done(store)
        ticks = sorted(run.tick_ns for run in runs)
        assert ticks[0] > begun
        assert ticks == [ticks[0] + n * SECOND for n in range(len(ticks))]
        assert {run.state for run in store.runs("s1")} == {"done"}
        replies = store.replies("assistant", "ana", limit=1000)
        assert sorted(turn for turn, _ in replies) == sorted(run.turn_id for run in runs)
        assert {turn.outcome for turn in store.turns("assistant", 1000)} == {"done"}


@pytest.mark.parametrize(
    ("kind", "point"),
    [("postgres", "before it begins"), ("postgres", "asked"), ("postgres", "settled"), ("sqlite", "asked")],
)
def test_a_run_whose_worker_is_killed_is_answered_once(kind: str, point: str, tmp_path: Path) -> None:
    killed_at(point, address(kind, tmp_path))


@pytest.mark.deep
@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
@pytest.mark.parametrize("point", POINTS)
def test_a_run_whose_worker_is_killed_anywhere_is_answered_once(kind: str, point: str, tmp_path: Path) -> None:
    killed_at(point, address(kind, tmp_path))


def killed_at(point: str, url: str) -> None:
    with opened(url) as store:
        store.add_schedule(schedule(NEW_YEAR, recipient="ana", user="ana", at_ns=SECOND))
        with worker(url, point, seconds=2) as dead:
            assert dead.wait(PATIENCE_S) == -signal.SIGKILL
        with worker(url, seconds=2):
            wait_for(lambda: bool(done(store)) and not pending(url))
        assert [run.state for run in store.runs("s1")] == ["done"]
        ((turn, reply),) = store.replies("assistant", "ana")
        assert (turn, reply.body) == (store.runs("s1")[0].turn_id, "Here is the news.")
        assert [one.id for one in store.turns("assistant") if one.outcome != "failed"] == [turn]
        assert store.waiting("assistant") == 0


# ── the queue itself ──────────────────────────────────────────────────────────────────────────────────────────────


def dump(url: str) -> dict[str, list[tuple[object, ...]]]:
    """Every row of every table that the queue has."""
    if url.startswith("sqlite:"):
        with closing(sqlite3.connect(url.removeprefix("sqlite:///").replace(".db", ".ticks.db"))) as file:
            names = [row[0] for row in file.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
            return {name: file.execute(f'SELECT * FROM "{name}"').fetchall() for name in names}
    with psycopg.connect(url) as connection:
        found = connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'charter_dbos'").fetchall()
        select = sql.SQL("SELECT * FROM charter_dbos.{}")
        return {name: connection.execute(select.format(sql.Identifier(name))).fetchall() for (name,) in found}


def pending(url: str) -> bool:
    """Whether a run stands as begun in the queue; what a dead worker left there would hold up the next."""
    return "PENDING" in str(dump(url)["workflow_status"])


@pytest.mark.requirement("S1-07")
@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_only_ids_are_in_the_tables_of_the_queue(
    kind: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:  # fmt: skip
    url = address(kind, tmp_path)
    given = {"text": "canary text", "recipient": "canary-ana", "user": "canary-ana"}
    with opened(url) as store:
        store.add_schedule(schedule(NEW_YEAR, at_ns=SECOND, **given))
        store.add_schedule(schedule(NEW_YEAR, id="s2", at_ns=SECOND, **given))
        house = house_of(store, ["canary reply", RuntimeError("canary error")])
        before = set(threading.enumerate())
        with working(house, database=url):
            wait_for(lambda: {run.state for one in ("s1", "s2") for run in store.runs(one)} == {"done", "failed"})
        house.close()
        assert set(threading.enumerate()) <= before
        tick = store.runs("s1")[0].tick_ns
    kept = str(dump(url))
    assert f"s1:{tick}" in kept
    assert "canary" not in kept
    assert "portable_json" in kept
    assert "pickle" not in kept
    assert capfd.readouterr() == ("", "")


def test_the_file_of_the_queue_lies_beside_the_store_and_is_its_owners_alone(tmp_path: Path) -> None:
    url = address("sqlite", tmp_path)
    with open_queue(url, ["assistant"], lambda *_: None, worker="w", give_up=lambda: None):
        assert os.stat(tmp_path / "charter.ticks.db").st_mode & 0o777 == 0o600


def test_there_is_one_worker_to_a_process_and_another_after_it(tmp_path: Path) -> None:
    url = address("sqlite", tmp_path)
    for _ in range(2):
        first = open_queue(url, ["assistant"], lambda *_: None, worker="w", give_up=lambda: None)
        with first, pytest.raises(Busy, match="one is enough"):
            open_queue(url, [], lambda *_: None, worker="x", give_up=lambda: None).__enter__()


def test_a_store_in_memory_has_no_place_for_a_queue() -> None:
    with pytest.raises(BadValue, match="one that stays"):
        open_queue("sqlite://", [], lambda *_: None, worker="w", give_up=lambda: None).__enter__()


def test_things_of_one_name_are_done_in_order_one_at_a_time(tmp_path: Path) -> None:
    url = address("sqlite", tmp_path)
    lock, did = threading.Lock(), list[tuple[str, int]]()

    def work(name: str, number: int) -> None:
        if name == "one":
            assert lock.acquire(blocking=False)
            wait_for(lambda: ("other", 0) in did)  # another name is not held up by it
            lock.release()
        did.append((name, number))

    with open_queue(url, ["assistant"], work, worker="w", give_up=lambda: None) as queue:
        for name, number in (("one", 0), ("one", 1), ("one", 2), ("other", 0)):
            queue.put("assistant", name, number)
        wait_for(lambda: len(did) == 4)
    assert did == [("other", 0), ("one", 0), ("one", 1), ("one", 2)]


def test_a_worker_does_what_is_of_a_kind_it_knows_and_leaves_the_rest(tmp_path: Path) -> None:
    url, did = address("sqlite", tmp_path), list[str]()
    with open_queue(url, ["mine"], lambda name, _: did.append(name), worker="w", give_up=lambda: None) as queue:
        queue.put("theirs", "s1", 1)
        queue.put("mine", "s2", 1)
        wait_for(lambda: did == ["s2"])
    with open_queue(url, ["theirs"], lambda name, _: did.append(name), worker="x", give_up=lambda: None):
        wait_for(lambda: did == ["s2", "s1"])


def test_what_a_worker_has_in_hand_is_not_lost_to_itself(tmp_path: Path) -> None:
    inside, go_on = threading.Event(), threading.Event()

    def work(*_: object) -> None:
        inside.set()
        go_on.wait(PATIENCE_S)

    with open_queue(address("sqlite", tmp_path), ["a"], work, worker="w", give_up=lambda: None) as queue:
        queue.put("a", "s1", 1)
        assert inside.wait(PATIENCE_S)
        assert queue.lost(-60) == []
        queue.worker = "another"
        assert queue.lost(-60) == [("s1", 1)]
        assert queue.lost(60) == []
        go_on.set()


def test_no_two_workers_have_one_name() -> None:
    assert worker_name() != worker_name()


def test_what_ended_long_ago_is_taken_away(tmp_path: Path) -> None:
    did: list[int] = []
    url = address("sqlite", tmp_path)
    with open_queue(
        url, ["assistant"], lambda _, number: did.append(number), worker="w", give_up=lambda: None
    ) as queue:
        queue.put("assistant", "s1", NOON)
        queue.put("assistant", "s1", NOON)
        wait_for(lambda: "SUCCESS" in str(dump(url)))
        assert queue.tidy(datetime.now(UTC) - timedelta(days=1)) == 0
        assert queue.tidy(datetime.now(UTC) + timedelta(days=1)) == 1
    assert did == [NOON]
