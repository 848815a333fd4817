"""When a rule is due: cron in the wall time of a zone; each time comes once, however the clocks are changed."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final
from zoneinfo import ZoneInfo

from ..core.errors import BadValue, MissingExtra
from ..zones import time_zone

if TYPE_CHECKING:
    from ..core.served import CatchUp, Schedule

SECOND: Final = 10**9
DAY_SECONDS: Final = 86_400
# How many of the ticks that nobody was there for are made up, the newest ones.
MADE_UP: Final[dict[CatchUp, int]] = {"skip": 0, "one": 1, "all": 100}
_FIELD: Final = re.compile(r"(?:[0-9*/,#?L-]|[A-Za-z]{3})+")
_RIGHT: Final = (
    "five fields, minute hour day month weekday, and seconds as a sixth if wanted: "
    '"0 9 * * 1-5" is nine o\'clock from Monday to Friday'
)


@dataclass(frozen=True, slots=True)
class Rule:
    """A cron rule in a zone. Ticks are whole seconds since 1970, in nanoseconds.

    A time that the clocks leap over comes once, when they have leapt; one that they show twice comes once, the first
    time. A rule for every hour (or every so many) goes on through both as if no clock had been touched.
    """

    cron: str
    zone: ZoneInfo

    @property
    def hourly(self) -> bool:
        return self.cron.split()[1].startswith("*")

    def after(self, at_ns: int) -> int | None:
        """The first tick after this moment; None when there is none for fifty years."""
        found = [self._after(at_ns // SECOND, fold) for fold in self._folds()]
        return min((tick * SECOND for tick in found if tick is not None), default=None)

    def upto(self, at_ns: int) -> int | None:
        """The last tick at or before this moment."""
        found = [self._upto(at_ns // SECOND, fold) for fold in self._folds()]
        return max((tick * SECOND for tick in found if tick is not None), default=None)

    def _folds(self) -> tuple[int, ...]:
        return (0, 1) if self.hourly else (0,)

    def _after(self, at: int, fold: int) -> int | None:
        wall = self._threshold(at, fold) - 1
        while (found := _step(self.cron, wall, "get_next")) is not None:
            tick, real = self._moment(found, fold)
            if real or not self.hourly:
                return tick
            wall = self._wall(tick) - 1
        return None

    def _upto(self, at: int, fold: int) -> int | None:
        wall = self._threshold(at, fold)
        while (found := _step(self.cron, wall, "get_prev")) is not None:
            tick, real = self._moment(found, fold)
            if real or not self.hourly:
                return tick
            wall = self._wall(tick - 1) + 1
        return None

    # ── wall time and moments, both in seconds; a wall time is written as if the zone were UTC ────────────────────

    def _wall(self, at: int) -> int:
        return at + _offset(datetime.fromtimestamp(at, self.zone))

    def _moment(self, wall: int, fold: int) -> tuple[int, bool]:
        """When a clock of the zone shows this, the first or the second time; else when it has leapt over it."""
        shown = datetime.fromtimestamp(wall, UTC).replace(tzinfo=self.zone)
        at = wall - _offset(shown.replace(fold=fold))
        if self._wall(at) == wall:
            return at, True
        early, late = sorted(wall - _offset(shown.replace(fold=one)) for one in (0, 1))
        return _first(early, late, lambda one: self._wall(one) > wall), False

    def _threshold(self, at: int, fold: int) -> int:
        """The first wall time whose moment is after this one."""
        wall = self._wall(at)
        return _first(wall - 2 * DAY_SECONDS, wall + 2 * DAY_SECONDS, lambda one: self._moment(one, fold)[0] > at)


def _offset(shown: datetime) -> int:
    offset = shown.utcoffset()
    return int(offset.total_seconds()) if offset else 0


def _first(low: int, high: int, holds: Callable[[int], bool]) -> int:
    """The first number from which on it holds; it holds at `high`."""
    return low + bisect_left(range(low, high), True, key=holds)


def _step(cron: str, wall: int, way: str) -> int | None:
    croniter, bad_date = _croniter()
    try:
        return int(getattr(croniter(cron, float(wall)), way)(float))
    except bad_date:
        return None


def _croniter() -> tuple[Any, Any]:
    try:
        from croniter import CroniterBadDateError, croniter  # type: ignore[import-untyped]
    except ImportError:
        raise MissingExtra("schedule", "a schedule") from None
    return croniter, CroniterBadDateError


@lru_cache(maxsize=4096)
def rule(cron: str, timezone: str) -> Rule:
    """A rule the clock can follow; anything else is an error that says what is right."""
    croniter, _ = _croniter()
    fields = cron.split()
    if len(fields) not in (5, 6) or not all(map(_FIELD.fullmatch, fields)) or not croniter.is_valid(cron):
        raise BadValue("cron", f"not a rule; {_RIGHT}")
    made = Rule(" ".join(fields), time_zone(timezone))
    if _step(made.cron, 0, "get_next") is None:
        raise BadValue("cron", f"no day is like this; {_RIGHT}")
    return made


def rule_of(schedule: Schedule) -> Rule:
    return rule(schedule.cron, schedule.timezone)


def due(schedule: Schedule, *, after_ns: int, fresh_ns: int, now_ns: int) -> list[int]:
    """The ticks to run now, oldest first, of those after a moment: all since `fresh_ns`, and of those that nobody was
    there for as many as the schedule makes up."""
    clock = rule_of(schedule)
    missed: list[int] = []
    tick = clock.upto(min(fresh_ns, now_ns))
    while tick is not None and tick > after_ns and len(missed) < MADE_UP[schedule.catch_up]:
        missed.append(tick)
        tick = clock.upto(tick - 1)
    fresh: list[int] = []
    tick = clock.after(max(after_ns, fresh_ns))
    while tick is not None and tick <= now_ns:
        fresh.append(tick)
        tick = clock.after(tick)
    return missed[::-1] + fresh
