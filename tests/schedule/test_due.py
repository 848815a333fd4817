"""Each tick is queued when it is due; after a time when nobody was there, as many as the schedule makes up."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from charter import logs
from charter.channels.schedule import LATE_NS, Ticker
from charter.core.errors import BadValue, StoreUnavailable
from charter.house import House
from charter.scheduler import desk

from .rooms import NOON, SECOND, Clock, Kept, address, house_of, opened, schedule

pytestmark = pytest.mark.requirement("S4-10", "N-17")

MINUTE, HOUR = 60 * SECOND, 3600 * SECOND
HOURLY = "0 * * * *"


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    with opened(address("sqlite", tmp_path)) as store:
        yield house_of(store, [])


def test_a_tick_is_queued_when_it_is_due_and_not_before(house: House) -> None:
    house.store.add_schedule(schedule("1 12 * * *"))
    clock, queue = Clock(), Kept()
    ticker = Ticker(desk(house, clock=clock), queue)
    assert ticker.round() == NOON + MINUTE
    assert queue.put_in == []
    clock.now += MINUTE
    assert ticker.round() == NOON + MINUTE + 24 * HOUR
    assert queue.put_in == [("s1", NOON + MINUTE)]


def test_every_tick_between_two_looks_is_queued(house: House) -> None:
    house.store.add_schedule(schedule("* * * * * *", catch_up="skip"))
    clock, queue = Clock(), Kept()
    ticker = Ticker(desk(house, clock=clock), queue)
    ticker.round()
    clock.now += 5 * SECOND + 1
    ticker.round()
    assert [tick for _, tick in queue.put_in] == [NOON + n * SECOND for n in range(1, 6)]


def test_a_schedule_that_is_added_later_is_seen_with_all_its_ticks(house: House) -> None:
    clock, queue = Clock(), Kept()
    ticker = Ticker(desk(house, clock=clock), queue)
    assert ticker.round() is None
    house.store.add_schedule(schedule("* * * * * *", at_ns=NOON + SECOND // 2, catch_up="skip"))
    clock.now += 2 * SECOND
    ticker.round()
    assert queue.put_in == [("s1", NOON + SECOND), ("s1", NOON + 2 * SECOND)]


@pytest.mark.parametrize(
    ("catch_up", "expected"),
    [("skip", []), ("one", [NOON + 5 * HOUR]), ("all", [NOON + n * HOUR for n in range(1, 6)])],
)
def test_after_downtime_a_schedule_makes_up_what_it_says(house: House, catch_up: str, expected: list[int]) -> None:
    house.store.add_schedule(schedule(HOURLY, catch_up=catch_up))
    clock, queue = Clock(NOON + 5 * HOUR + MINUTE), Kept()
    ticker = Ticker(desk(house, clock=clock), queue)
    assert ticker.round() == NOON + 6 * HOUR
    assert [tick for _, tick in queue.put_in] == expected
    clock.now = NOON + 6 * HOUR
    ticker.round()
    assert [tick for _, tick in queue.put_in] == [*expected, NOON + 6 * HOUR]


def test_of_very_many_the_newest_hundred_are_made_up_oldest_first(house: House) -> None:
    house.store.add_schedule(schedule("* * * * * *", catch_up="all"))
    queue = Kept()
    Ticker(desk(house, clock=Clock(NOON + 10_000 * SECOND)), queue).round()
    assert [tick for _, tick in queue.put_in] == [NOON + n * SECOND for n in range(9_901, 10_001)]


def test_what_was_run_before_the_downtime_is_not_made_up_again(house: House) -> None:
    house.store.add_schedule(schedule(HOURLY, catch_up="all"))
    house.store.begin_run("s1", NOON + 3 * HOUR, at_ns=NOON + 3 * HOUR)
    queue = Kept()
    Ticker(desk(house, clock=Clock(NOON + 5 * HOUR)), queue).round()
    assert [tick for _, tick in queue.put_in] == [NOON + 4 * HOUR, NOON + 5 * HOUR]


@pytest.mark.parametrize(("catch_up", "count"), [("skip", 60), ("one", 61), ("all", 160)])
def test_a_machine_that_slept_was_not_there(house: House, catch_up: str, count: int) -> None:
    house.store.add_schedule(schedule("* * * * * *", catch_up=catch_up))
    clock, queue = Clock(), Kept()
    ticker = Ticker(desk(house, clock=clock), queue)
    ticker.round()
    clock.now += HOUR
    ticker.round()
    assert len(queue.put_in) == count
    assert queue.put_in[-1] == ("s1", clock.now)
    assert LATE_NS == 60 * SECOND


def test_a_clock_that_goes_back_queues_nothing_twice(house: House) -> None:
    house.store.add_schedule(schedule("* * * * * *"))
    clock, queue = Clock(), Kept()
    ticker = Ticker(desk(house, clock=clock), queue)
    for now in (0, 3, 1, 2, 3, 4):
        clock.now = NOON + now * SECOND
        ticker.round()
    assert [tick for _, tick in queue.put_in] == [NOON + n * SECOND for n in range(1, 5)]


def test_a_queue_that_is_away_loses_no_tick(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    house.store.add_schedule(schedule("* * * * * *", catch_up="skip"))
    clock, queue = Clock(), Kept()
    ticker = Ticker(desk(house, clock=clock), queue)
    ticker.round()
    clock.now += 2 * SECOND
    with monkeypatch.context() as away:
        away.setattr(queue, "put", lambda *_: (_ for _ in ()).throw(StoreUnavailable("away")))
        with pytest.raises(StoreUnavailable):
            ticker.round()
    clock.now += SECOND
    ticker.round()
    assert [tick for _, tick in queue.put_in] == [NOON + n * SECOND for n in (1, 2, 3)]


def test_a_schedule_of_an_agent_that_is_not_served_here_is_another_workers(house: House) -> None:
    house.store.add_schedule(schedule("* * * * * *", agent="sovereign"))
    clock, queue = Clock(NOON + MINUTE), Kept()
    assert Ticker(desk(house, clock=clock), queue).round() is None
    assert queue.put_in == []


@pytest.mark.parametrize("column", ["timezone = 'Nowhere/Atlantis'", "cron = '61 * * * *'"])
def test_a_schedule_that_cannot_be_followed_on_this_machine_holds_up_no_other(
    column: str, house: House, monkeypatch: pytest.MonkeyPatch
) -> None:  # fmt: skip
    """It is said once, not at every look."""
    failed: list[BaseException] = []
    monkeypatch.setattr(logs, "failed", failed.append)
    for name in ("s1", "s2"):
        house.store.add_schedule(schedule("* * * * * *", id=name))
    with house.store.db.writing() as run:
        run(f"UPDATE schedules SET {column} WHERE schedule_id = 's1'")
    clock, queue = Clock(), Kept()
    ticker = Ticker(desk(house, clock=clock), queue)
    for _ in range(3):
        assert ticker.round() == clock.now + SECOND
        clock.now += SECOND
    assert queue.put_in == [("s2", NOON + n * SECOND) for n in (1, 2)]
    assert [type(error) for error in failed] == [BadValue]


def test_a_schedule_that_was_removed_is_not_due_any_more(house: House) -> None:
    house.store.add_schedule(schedule("* * * * * *"))
    clock, queue = Clock(), Kept()
    ticker = Ticker(desk(house, clock=clock), queue)
    ticker.round()
    house.store.remove_schedule("s1")
    clock.now += 5 * SECOND
    assert ticker.round() is None
    assert queue.put_in == []
