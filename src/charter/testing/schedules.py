"""Contracts of schedules: each tick is begun by one worker, over any number of them (N-17, S4-10)."""

from __future__ import annotations

from dataclasses import replace
from itertools import count
from threading import Event
from typing import Any

from ..core.errors import BadValue, CharterError, NotStored
from ..core.ports import Store
from ..core.served import Run, Schedule
from .bad import BAD_KEYS, BAD_NAMES, BAD_SENDERS, BAD_TEXTS, BAD_TIMES
from .check import Contract, alike, at_once, must, of, refused, same
from .parts import ADDRESS, AGENT, SECOND, untouched

MORNING = Schedule(
    "s1", AGENT, "0 7 * * *", "Europe/Lisbon", "SECRET: what is new?", "telegram", "mira", "ana", "all", "user:ana", 7
)
PLAIN = Schedule("s2", "bob", "* * * * *", "UTC", "tick", at_ns=5)


def a_schedule_is_kept_as_it_was_made(store: Store) -> None:
    store.add_schedule(MORNING)
    store.add_schedule(PLAIN)
    same((store.schedule("s1"), store.schedule("s2")), (MORNING, PLAIN), "the schedules")
    alike(store.schedules(), [PLAIN, MORNING], "all schedules, oldest first")
    alike(store.schedules(AGENT), [MORNING], "those of an agent")
    alike(store.schedules("nobody"), [], "those of an agent that has none")
    must("SECRET" not in repr(store.schedules()), "the text should not show when schedules are printed")
    store.add_schedule(replace(PLAIN, id="s3", recipient=f" {ADDRESS} "))
    same(store.schedule("s3").recipient, ADDRESS.lower(), "a recipient, as senders are known")


def a_schedule_has_an_id_of_its_own(store: Store) -> None:
    store.add_schedule(MORNING)
    with untouched(store):
        refused(BadValue, store.add_schedule, replace(PLAIN, id="s1"))
        for name in ("", "s2", AGENT):
            refused(NotStored, store.schedule, name)
            refused(NotStored, store.remove_schedule, name)


def a_schedule_that_is_taken_away_goes_with_its_runs(store: Store) -> None:
    store.add_schedule(MORNING)
    store.add_schedule(PLAIN)
    for name in ("s1", "s2"):
        store.begin_run(name, SECOND, at_ns=SECOND)
    same(store.remove_schedule("s1"), MORNING, "what was taken away")
    refused(NotStored, store.schedule, "s1")
    same((store.last_run("s1"), len(store.runs("s2"))), (None, 1), "the runs")
    same(store.begin_run("s1", 2 * SECOND, at_ns=5), False, "whether a run of a schedule that is gone begins")
    same(store.end_run("s1", SECOND, state="done", at_ns=5), False, "whether it ends")
    store.add_schedule(MORNING)
    same(store.begin_run("s1", SECOND, at_ns=5), True, "whether a tick of the one made anew begins")


def a_tick_is_begun_once(store: Store) -> None:
    store.add_schedule(MORNING)
    store.add_schedule(PLAIN)
    begun = [store.begin_run(name, tick, at_ns=tick + 1) for tick in (1, 2, 1, 0) for name in ("s1", "s2", "s1")]
    alike(begun, [True, True, False] * 2 + [False] * 3 + [True, True, False], "who was told to begin")
    same(store.begin_run("s3", 1, at_ns=1), False, "whether a run of a schedule that is unknown begins")
    alike(store.runs("s1"), [Run("s1", tick, "begun", at_ns=tick + 1) for tick in (2, 1, 0)], "the runs")


def a_run_ends_once(store: Store) -> None:
    store.add_schedule(MORNING)
    for tick in (1, 2):
        store.begin_run("s1", tick, at_ns=3)
    same(store.end_run("s1", 1, state="done", turn_id="t1", at_ns=5), True, "whether it ended")
    same(store.end_run("s1", 1, state="failed", code="LATE", at_ns=6), False, "whether it ended again")
    same(store.end_run("s1", 9, state="done", at_ns=6), False, "whether one that was not begun ended")
    same(store.begin_run("s1", 1, at_ns=7), False, "whether one that ended begins again")
    store.end_run("s1", 2, state="failed", code="MODEL_DOWN", at_ns=8)
    ended = [Run("s1", 2, "failed", "", "MODEL_DOWN", 8), Run("s1", 1, "done", "t1", "", 5)]
    alike(store.runs("s1"), ended, "the runs")


def runs_are_told_newest_first(store: Store) -> None:
    store.add_schedule(MORNING)
    store.add_schedule(PLAIN)
    for tick in (3, 1, 60, 2, *range(4, 60)):
        store.begin_run("s1", tick, at_ns=100 - tick)
    store.begin_run("s2", 99, at_ns=1)
    alike([run.tick_ns for run in store.runs("s1")], range(60, 10, -1), "the last 50")
    alike([run.tick_ns for run in store.runs("s1", 2)], [60, 59], "the last two")
    for limit in (0, -1):
        alike(store.runs("s1", limit), [], "the last none")
    same(store.last_run("s1"), Run("s1", 60, "begun", at_ns=40), "the last one")
    same((store.last_run("s3"), list(store.runs("s3"))), (None, []), "the runs of nothing")


def of_many_who_begin_one_tick_one_does(store: Store) -> None:
    store.add_schedule(MORNING)
    for tick in range(5):
        ends = at_once(8, lambda number, tick=tick: store.begin_run("s1", tick, at_ns=number))  # type: ignore[misc]
        same(sorted(map(bool, ends)), [False] * 7 + [True], "who was told to begin")
        same(store.runs("s1", 1)[0].at_ns, ends.index(True), "whose run it is")


def of_many_who_end_one_run_one_does(store: Store) -> None:
    store.add_schedule(MORNING)
    store.begin_run("s1", 1, at_ns=1)
    ends = at_once(8, lambda number: store.end_run("s1", 1, state="done", turn_id=f"t{number}", at_ns=2))
    same(sorted(map(bool, ends)), [False] * 7 + [True], "who was told that it ended")
    same(store.runs("s1")[0].turn_id, f"t{ends.index(True)}", "whose turn it is")


def no_run_is_left_of_a_schedule_that_is_taken_away_meanwhile(store: Store) -> None:
    gone = Event()

    def work(number: int) -> None:
        for step in count() if number else ():
            late = gone.is_set()
            store.begin_run("s1", number + 9 * step, at_ns=1)
            if late:
                return
        try:
            store.remove_schedule("s1")
        finally:
            gone.set()

    store.add_schedule(MORNING)
    alike(of(CharterError, at_once(6, work)), [], "what went wrong")
    alike(store.runs("s1"), [], "the runs that are left")


def a_schedule_or_run_with_a_bad_value_is_refused(store: Store) -> None:
    store.add_schedule(PLAIN)
    store.begin_run("s2", 1, at_ns=1)
    bad: list[dict[str, Any]] = [{field: name} for name in BAD_NAMES for field in ("id", "agent", "channel")]
    bad += [{"cron": text} for text in ("", "x" * 201, "* *\n* * *", *BAD_TEXTS)]
    bad += [{"timezone": zone} for zone in ("", "Mars/Olympus", "../etc", *BAD_TEXTS)]
    bad += [{"text": text} for text in ("", " \n", *BAD_TEXTS)]
    bad += [{"recipient": name} for name in BAD_SENDERS[1:]] + [{"user": name} for name in BAD_KEYS]
    bad += [{"catch_up": rule} for rule in ("", "some", *BAD_TEXTS)] + [{"by": text} for text in BAD_TEXTS]
    bad += [{"at_ns": time} for time in BAD_TIMES]
    ended: dict[str, Any] = {"schedule_id": "s2", "tick_ns": 1, "state": "done", "at_ns": 5}
    wrong: list[dict[str, Any]] = [{field: time} for time in BAD_TIMES for field in ("tick_ns", "at_ns")]
    with untouched(store):
        for given in bad:
            refused(BadValue, store.add_schedule, replace(MORNING, **given))
        for given in (*wrong, *({"schedule_id": text} for text in BAD_TEXTS)):
            refused(BadValue, store.begin_run, **{"schedule_id": "s2", "tick_ns": 2, "at_ns": 5} | given)
            refused(BadValue, store.end_run, **ended | given)
        for given in ({"state": "begun"}, {"state": ""}, *({field: name} for name in BAD_KEYS for field in _SAID)):
            refused(BadValue, store.end_run, **ended | given)
        for text in BAD_TEXTS:
            for ask in (store.schedule, store.schedules, store.remove_schedule, store.runs, store.last_run):
                refused(BadValue, ask, text)


_SAID = ("turn_id", "code")

CONTRACTS: tuple[Contract, ...] = (
    a_schedule_is_kept_as_it_was_made,
    a_schedule_has_an_id_of_its_own,
    a_schedule_that_is_taken_away_goes_with_its_runs,
    a_tick_is_begun_once,
    a_run_ends_once,
    runs_are_told_newest_first,
    of_many_who_begin_one_tick_one_does,
    of_many_who_end_one_run_one_does,
    no_run_is_left_of_a_schedule_that_is_taken_away_meanwhile,
    a_schedule_or_run_with_a_bad_value_is_refused,
)
