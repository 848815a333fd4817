"""A worker for schedules: it wakes when a tick is due, and what another worker left undone it takes up."""

from __future__ import annotations

import os
import secrets
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, Final, Protocol

from ..core.errors import BadValue
from .durable import open_queue
from .schedule_cron import SECOND, due, rule_of
from .schedule_run import state_of, take_up

if TYPE_CHECKING:
    from ..core.served import Schedule
    from .schedule_run import Desk

LOOK_SECONDS: Final = 1.0  # so soon is a new schedule seen
LATE_NS: Final = 60 * SECOND  # a worker that slept longer than this was not there
STALE_SECONDS: Final = 60.0  # a run that takes longer is looked after, in case its worker died
SWEEP_SECONDS: Final = 15.0
KEPT: Final = timedelta(days=1)
LOOKED_AT: Final = 50


class Ticks(Protocol):
    """Where due ticks are put; see `durable.Queue`."""

    def put(self, kind: str, name: str, number: int) -> None: ...

    def lost(self, older_than_s: float) -> list[tuple[str, int]]: ...

    def forget(self, name: str, number: int) -> None: ...

    def tidy(self, before: datetime) -> int: ...


def served(desk: Desk) -> list[Schedule]:
    """The schedules of the agents of this house; those of others are another worker's."""
    return [one for one in desk.store.schedules() if one.agent in desk.agents]


class Ticker:
    """Looks at the clock and queues what is due, each tick once for all workers."""

    def __init__(self, desk: Desk, queue: Ticks) -> None:
        self._desk = desk
        self._queue = queue
        self._started_ns = desk.clock()
        self._looked: dict[str, int] = {}
        self._next: dict[str, int | None] = {}

    def round(self) -> int | None:
        """Queues every tick that is due; when the next one will be."""
        now = self._desk.clock()
        fresh = max(self._started_ns, now - LATE_NS)
        mine = served(self._desk)
        for schedule in mine:
            try:
                self._look(schedule, fresh, now)
            except BadValue as error:  # a zone this machine does not know holds up its own schedule alone
                self._desk.failed(error)
                self._looked[schedule.id], self._next[schedule.id] = now, None
        for gone in self._looked.keys() - {one.id for one in mine}:
            del self._looked[gone], self._next[gone]
        return min((tick for tick in self._next.values() if tick is not None), default=None)

    def _look(self, schedule: Schedule, fresh: int, now: int) -> None:
        upcoming = self._next.get(schedule.id, 0)
        if upcoming is None or upcoming > now:
            return
        after = self._looked.get(schedule.id)
        for tick in due(
            schedule, after_ns=self._begun(schedule) if after is None else after, fresh_ns=fresh, now_ns=now
        ):
            self._queue.put(schedule.agent, schedule.id, tick)
        self._looked[schedule.id] = now
        self._next[schedule.id] = rule_of(schedule).after(now)

    def _begun(self, schedule: Schedule) -> int:
        """Until when this schedule was looked after, before there was this worker."""
        last = self._desk.store.last_run(schedule.id)
        return max(schedule.at_ns, last.tick_ns if last else 0)


class Sweeper:
    """Looks for runs whose worker died. Whether it did, the lease of its turn says: a live one is left alone."""

    def __init__(
        self, desk: Desk, queue: Ticks,
        stale_s: float = STALE_SECONDS, stopped: Callable[[], bool] = lambda: False,
    ) -> None:  # fmt: skip
        self._desk = desk
        self._queue = queue
        self._stale_s = stale_s
        self._stopped = stopped

    def round(self) -> int:
        """Takes up what was left; how many runs came to their end by it."""
        lost = dict.fromkeys(self._queue.lost(self._stale_s))
        ended = 0
        for name, tick in [*lost, *(run for run in self._begun() if run not in lost)]:
            if self._stopped():
                break
            done = take_up(self._desk, name, tick, stopped=self._stopped, again=True)
            ended += done is not None
            if (name, tick) in lost and state_of(self._desk, name, tick) != "begun":
                self._queue.forget(name, tick)
        self._queue.tidy(datetime.fromtimestamp(self._desk.clock() / SECOND, UTC) - KEPT)
        return ended

    def _begun(self) -> Iterator[tuple[str, int]]:
        before = self._desk.clock() - int(self._stale_s * SECOND)
        for schedule in served(self._desk):
            for run in self._desk.store.runs(schedule.id, LOOKED_AT):
                if run.state == "begun" and run.at_ns <= before:
                    yield schedule.id, run.tick_ns


@contextmanager
def working(desk: Desk, address: str, *, stale_s: float = STALE_SECONDS) -> Iterator[None]:
    """Runs the schedules of these agents, in threads, until the end of the block.

    `address` is the database of the store. A turn that is under way at the end has some seconds to finish; after that
    it is stopped, and another worker takes it up.
    """
    ending, over = threading.Event(), threading.Event()

    def work(name: str, tick: int) -> None:
        try:
            take_up(desk, name, tick, stopped=over.is_set)
        except Exception as error:  # the edge of a thread; a run that was begun is swept up later
            desk.failed(error)

    with open_queue(address, desk.agents, work, worker=worker_name(), give_up=over.set) as queue:
        ticker, sweeper = Ticker(desk, queue), Sweeper(desk, queue, stale_s=stale_s, stopped=ending.is_set)
        steps = {
            "ticker": partial(_tick, ticker, desk.clock),
            "sweeper": partial(_sweep, sweeper, min(SWEEP_SECONDS, stale_s)),
        }
        loops = [
            threading.Thread(target=_repeat, args=(ending, step, desk.failed), name=name, daemon=True)
            for name, step in steps.items()
        ]
        for loop in loops:
            loop.start()
        try:
            yield
        finally:
            ending.set()
            for loop in loops:
                loop.join()


def worker_name() -> str:
    """A name no other worker has: DBOS runs again what one of the same name left, though it may still be at it."""
    return f"{socket.gethostname()}-{os.getpid()}-{secrets.token_hex(4)}"


def _repeat(ending: threading.Event, step: Callable[[], float], failed: Callable[[BaseException], None]) -> None:
    """Goes on until the end, whatever fails; a step says how long to wait for the next."""
    wait = 0.0
    while not ending.wait(wait):
        try:
            wait = step()
        except Exception as error:  # the edge of a thread: a database that is away comes back
            failed(error)
            wait = LOOK_SECONDS


def _tick(ticker: Ticker, clock: Callable[[], int]) -> float:
    upcoming = ticker.round()
    if upcoming is None:
        return LOOK_SECONDS
    return min(max((upcoming - clock()) / SECOND, 0.0), LOOK_SECONDS)


def _sweep(sweeper: Sweeper, every_s: float) -> float:
    sweeper.round()
    return every_s
