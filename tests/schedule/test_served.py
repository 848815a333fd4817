"""What goes on beside the requests of a server: schedules run there, unless it was told to leave them alone."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from charter import scheduler
from charter.channels import inbox
from charter.core.errors import BadValue
from charter.core.records import InboxMessage
from charter.web.running import Plan, at_work, run

from .rooms import PATIENCE_S, SECOND, address, house_of, opened, schedule, wait_for

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


@pytest.mark.requirement("S0-15")
def test_a_message_that_another_process_leaves_is_answered_when_it_is_told_of_and_not_when_one_looks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inbox, "LOOK_SECONDS", PATIENCE_S * 10)  # nobody looks within this test
    url = address("postgres", tmp_path)
    with opened(url) as store, opened(url) as another:
        house = house_of(store, ["To Ana."] * 3)
        with at_work(house, Plan(database=url, schedules=False)):
            for number in range(3):
                another.stage("assistant", InboxMessage(f"m{number}", "ana", "Hello", SECOND, "inbox", "ana"))
                wait_for(lambda name=f"m{number}": bool(another.answered_by("assistant", name)))  # type: ignore[misc]
        house.close()
        assert [reply.body for _, reply in store.replies("assistant", "ana")] == ["To Ana."] * 3
    assert not {"notices", "postman"} & {thread.name for thread in threading.enumerate()}


def test_workers_that_come_up_together_find_the_queue_made(tmp_path: Path) -> None:
    url = address("sqlite", tmp_path)
    with opened(url):
        for _ in range(2):  # made once, and found made
            scheduler.prepare(url)
    assert (tmp_path / "charter.ticks.db").stat().st_size > 0


def test_a_store_in_memory_is_refused_to_several_workers_before_anything_listens() -> None:
    with pytest.raises(BadValue, match="--workers: a store in memory is one process's own"):
        run(Plan(database="sqlite://", workers=2), say=lambda *_: pytest.fail("it spoke"))
