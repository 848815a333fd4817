"""A rule is due when a clock on the wall of its zone shows its time: once, also on the days the clocks are changed."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from charter.channels.schedule_cron import SECOND, rule
from charter.core.errors import BadValue

pytestmark = pytest.mark.requirement("S4-10")

LISBON = "Europe/Lisbon"  # 2026: from 1:00 to 2:00 on 29 March, from 2:00 back to 1:00 on 25 October


def ns(text: str) -> int:
    return int(datetime.fromisoformat(text).timestamp()) * SECOND


def ticks(cron: str, zone: str, start: str, end: str) -> list[str]:
    """Every tick after one moment and up to another, as the zone's clocks show it."""
    made, found = rule(cron, zone), []
    tick = made.after(ns(start))
    while tick is not None and tick <= ns(end):
        found.append(datetime.fromtimestamp(tick // SECOND, ZoneInfo(zone)).isoformat())
        tick = made.after(tick)
    return found


def test_a_rule_is_read_in_the_time_of_its_zone() -> None:
    assert ticks("0 9 * * 1-5", LISBON, "2026-07-03T00:00+00:00", "2026-07-06T23:00+00:00") == [
        "2026-07-03T09:00:00+01:00",
        "2026-07-06T09:00:00+01:00",
    ]


def test_a_sixth_field_is_seconds() -> None:
    assert ticks("0 9 * * * */20", "UTC", "2026-07-03T00:00+00:00", "2026-07-03T10:00+00:00") == [
        "2026-07-03T09:00:00+00:00",
        "2026-07-03T09:00:20+00:00",
        "2026-07-03T09:00:40+00:00",
    ]


def test_a_time_the_clocks_leap_over_comes_once_when_they_have_leapt() -> None:
    assert ticks("30 1 * * *", LISBON, "2026-03-28T12:00+00:00", "2026-03-30T12:00+00:00") == [
        "2026-03-29T02:00:00+01:00",
        "2026-03-30T01:30:00+01:00",
    ]


def test_times_that_are_leapt_over_together_come_together() -> None:
    assert ticks("0,15,30 1 * * *", LISBON, "2026-03-29T00:30+00:00", "2026-03-29T12:00+00:00") == [
        "2026-03-29T02:00:00+01:00",
    ]


def test_a_time_the_clocks_show_twice_comes_once_the_first_time() -> None:
    assert ticks("30 1 * * *", LISBON, "2026-10-24T12:00+00:00", "2026-10-26T12:00+00:00") == [
        "2026-10-25T01:30:00+01:00",
        "2026-10-26T01:30:00+00:00",
    ]


def test_a_rule_for_every_hour_goes_on_through_both() -> None:
    assert ticks("30 * * * *", LISBON, "2026-03-29T00:00+00:00", "2026-03-29T02:00+00:00") == [
        "2026-03-29T00:30:00+00:00",
        "2026-03-29T02:30:00+01:00",
    ]
    assert ticks("30 * * * *", LISBON, "2026-10-24T23:45+00:00", "2026-10-25T02:45+00:00") == [
        "2026-10-25T01:30:00+01:00",
        "2026-10-25T01:30:00+00:00",
        "2026-10-25T02:30:00+00:00",
    ]


def test_what_a_left_out_day_would_have_had_comes_when_it_was_leapt_over() -> None:
    assert ticks("0 12 * * *", "Pacific/Apia", "2011-12-29T00:00+00:00", "2011-12-31T12:00+00:00") == [
        "2011-12-29T12:00:00-10:00",
        "2011-12-31T00:00:00+14:00",
        "2011-12-31T12:00:00+14:00",
    ]


def naive(cron: str, zone: str, start: int, minutes: int) -> list[int]:
    """The same in the plainest way, for rules with one minute and some hours: look at the wall every minute."""
    minute, hours = int(cron.split()[0]), cron.split()[1]
    wanted = range(24) if hours == "*" else [int(hour) for hour in hours.split(",")]
    found, shown = [], set[datetime]()
    before: datetime | None = None
    for number in range(minutes):
        moment = datetime.fromtimestamp(start, UTC) + timedelta(minutes=number)
        wall = moment.astimezone(ZoneInfo(zone)).replace(tzinfo=None)
        leapt = before is not None and wall - before > timedelta(minutes=1)
        between = [] if not leapt or before is None else [before + timedelta(minutes=n) for n in range(1, 121)]
        skipped = [time for time in between if time < wall and hours != "*"]
        hit = any(time.minute == minute and time.hour in wanted for time in [*skipped, wall])
        if hit and (hours == "*" or leapt or wall not in shown):
            found.append(int(moment.timestamp()))
        shown.add(wall)
        before = wall if before is None or hours == "*" or wall > before else before
    return found


@given(
    minute=st.integers(0, 59),
    hours=st.one_of(st.just("*"), st.sets(st.integers(0, 4), min_size=1).map(lambda found: ",".join(map(str, found)))),
    change=st.sampled_from(
        [(LISBON, "2026-03-28T22:00+00:00"), (LISBON, "2026-10-24T22:00+00:00"),
         ("America/New_York", "2026-03-08T03:00+00:00"), ("America/New_York", "2026-11-01T02:00+00:00"),
         ("Australia/Lord_Howe", "2026-04-04T12:00+00:00"), ("Australia/Lord_Howe", "2026-10-03T12:00+00:00"),
         ("Asia/Kathmandu", "2026-05-01T00:00+00:00")]
    ),
)  # fmt: skip
def test_ticks_around_a_change_of_the_clocks_are_those_a_watcher_of_the_wall_would_see(
    minute: int, hours: str, change: tuple[str, str]
) -> None:
    zone, start = change
    cron, begin = f"{minute} {hours} * * *", int(datetime.fromisoformat(start).timestamp())
    expected = naive(cron, zone, begin, 12 * 60)
    made, found = rule(cron, zone), []
    tick = made.after(begin * SECOND - 1)
    while tick is not None and tick < (begin + 12 * 3600) * SECOND:
        found.append(tick // SECOND)
        tick = made.after(tick)
    assert found == expected
    for earlier, later in pairwise(found):  # and backwards the same
        assert made.upto(later * SECOND) == later * SECOND
        assert made.upto(later * SECOND - 1) == earlier * SECOND


WRONG = [
    "", "0 9 * *", "0 9 * * * * *", "61 9 * * *", "0 9 * * mo", "@daily", "R 9 * * *", "H 9 * * *", "0 9 * * 1W",
    "*/0 * * * *",
]  # fmt: skip


@pytest.mark.parametrize("cron", WRONG)
def test_what_is_no_rule_is_refused_with_one_that_is(cron: str) -> None:
    with pytest.raises(BadValue, match=r'cron: not a rule; five fields.*"0 9 \* \* 1-5" is nine'):
        rule(cron, "UTC")


def test_a_day_that_never_comes_is_refused() -> None:
    with pytest.raises(BadValue, match="no day is like this"):
        rule("0 0 30 2 *", "UTC")


def test_a_zone_nobody_knows_is_refused() -> None:
    with pytest.raises(BadValue, match="not an IANA time zone"):
        rule("0 9 * * *", "Europe/Atlantis")
