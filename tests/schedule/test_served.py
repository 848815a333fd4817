"""What goes on beside the requests of a server: schedules run there, unless it was told to leave them alone."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from charter import scheduler
from charter.core.errors import BadValue
from charter.web.running import Plan, at_work, run

from .rooms import SECOND, address, house_of, opened, schedule, wait_for

pytestmark = pytest.mark.requirement("S4-10", "N-17")
NEW_YEAR = "0 0 1 1 *"  # one tick to make up, whenever this runs


def test_a_server_runs_what_was_planned(tmp_path: Path) -> None:
    url = address("sqlite", tmp_path)
    with opened(url) as store:
        store.add_schedule(schedule(NEW_YEAR, recipient="ana", user="ana", at_ns=SECOND))
        house, before = house_of(store, ["Here is the news."]), set(threading.enumerate())
        with at_work(house, Plan(database=url)):
            wait_for(lambda: [run.state for run in store.runs("s1")] == ["done"])
        house.close()
        assert [reply.body for _, reply in store.replies("assistant", "ana")] == ["Here is the news."]
        assert set(threading.enumerate()) <= before


def test_a_server_that_is_told_to_leave_schedules_alone_has_no_worker_for_them(tmp_path: Path) -> None:
    url = address("sqlite", tmp_path)
    with opened(url) as store:
        house = house_of(store, [])
        with at_work(house, Plan(database=url, schedules=False)):
            names = {thread.name for thread in threading.enumerate()}
        house.close()
    assert not names & {"ticker", "sweeper"}
    assert not (tmp_path / "charter.ticks.db").exists()


def test_workers_that_come_up_together_find_the_queue_made(tmp_path: Path) -> None:
    url = address("sqlite", tmp_path)
    with opened(url):
        for _ in range(2):  # made once, and found made
            scheduler.prepare(url)
    assert (tmp_path / "charter.ticks.db").stat().st_size > 0


def test_a_store_in_memory_is_refused_to_several_workers_before_anything_listens() -> None:
    with pytest.raises(BadValue, match="--workers: a store in memory is one process's own"):
        run(Plan(database="sqlite://", workers=2), say=lambda *_: pytest.fail("it spoke"))
