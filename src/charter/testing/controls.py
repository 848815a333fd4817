"""Contracts of the stop switch: a paused agent begins no turn; every turn counts to its agent and day (N-19)."""

from __future__ import annotations

from functools import partial
from itertools import count
from threading import Event
from typing import Any

from ..core.errors import BadValue, Busy, CharterError, OverSpend, Paused
from ..core.ports import Store
from ..core.records import Control, Settled
from .bad import BAD_NAMES, BAD_TEXTS, BAD_TIMES, bad_authors_and_times
from .check import Contract, alike, at_once, must, refused, same
from .parts import AGENT, LEASE, OPERATOR, SECOND, failed, message, run, stage, take, turn, untouched, user, verified

DAY_ONE, DAY_TWO = "1970-01-01", "1970-01-02"
MIDNIGHT = 86_400 * SECOND


def an_agent_is_free_until_somebody_says_otherwise(store: Store) -> None:
    same(store.control(AGENT, DAY_ONE), Control(), "the control of an agent nobody touched")
    store.resume(AGENT, by=OPERATOR, at_ns=1)
    same(store.control(AGENT, DAY_ONE), Control(), "the control of an agent that was not paused")
    alike(take(store, "t1"), [], "what a turn takes")


def an_agent_that_is_paused_begins_no_turn(store: Store) -> None:
    stage(store, message(1))
    stage(store, message(1), agent="bob")
    store.pause(AGENT, by=OPERATOR, at_ns=5, reason="too many mails")
    same(store.control(AGENT, DAY_ONE), Control(True, "admin:olga", 5, "too many mails"), "the control")
    with untouched(store):
        for lane in ("", "mira", "bob"):
            refused(Paused, take, store, "t1", lane=lane)
        refused(Paused, store.take, AGENT, "t1", sender="mira", at_ns=SECOND, lease_ns=LEASE)
    alike(take(store, "t1", agent="bob"), ["m1"], "what a turn of another agent takes")
    store.resume(AGENT, by=OPERATOR, at_ns=6)
    same(store.control(AGENT, DAY_ONE), Control(), "the control")
    alike(take(store, "t1"), ["m1"], "what a turn takes when the agent goes on")


def a_turn_that_is_under_way_when_its_agent_is_paused_can_end(store: Store) -> None:
    stage(store, message(1))
    for name in ("t1", "t2"):
        take(store, name)
        refused(Busy, take, store, "other")
        store.pause(AGENT, by=OPERATOR, at_ns=5)
        refused(Paused, take, store, "other")
        store.fail(failed(name)) if name == "t1" else store.settle(Settled(turn(name)))
        refused(Paused, take, store, "other")
        store.resume(AGENT, by=OPERATOR, at_ns=6)
    same((store.waiting(AGENT), len(store.turns(AGENT))), (0, 2), "what the turns left")
    verified(store)


def pausing_again_tells_of_the_last_who_did(store: Store) -> None:
    store.pause(AGENT, by=OPERATOR, at_ns=5, reason="one")
    store.pause(AGENT, by=user("ana"), at_ns=6, reason="x" * 600)
    same(store.control(AGENT, DAY_ONE), Control(True, "user:ana", 6, "x" * 500), "the control")
    must("xxx" not in repr(store.control(AGENT, DAY_ONE)), "a reason should not show when printed")


def every_turn_counts_to_the_day_of_its_time(store: Store) -> None:
    for name, at_ns, counts in (
        ("t1", MIDNIGHT - 1, {"input": 100, "output": 20, "cached": 50}),
        ("t2", MIDNIGHT, {"input": 7}),
        ("t3", MIDNIGHT + 5, {"output": 2**40}),
        ("t4", MIDNIGHT + 6, {}),
    ):
        run(store, turn(name, at_ns=at_ns, counts=counts))
    take(store, "t5")
    store.fail(failed("t5", at_ns=MIDNIGHT + 7, counts={"input": 3, "output": 4}))
    run(store, turn("t1", agent="bob", counts={"input": 1}))
    spent = [store.control(AGENT, day) for day in (DAY_ONE, DAY_TWO, "1970-01-03")]
    alike([(one.tokens_today, one.turns_today) for one in spent], [(120, 1), (2**40 + 14, 4), (0, 0)], "what was spent")
    same(store.control("bob", DAY_ONE), Control(tokens_today=1, turns_today=1), "what another agent spent")


def a_turn_that_is_not_kept_costs_nothing(store: Store) -> None:
    record = turn("t1", counts={"input": 9})
    take(store, "t1")
    take(store, "t2", at_ns=SECOND + LEASE)
    with untouched(store):
        refused(Busy, store.settle, Settled(record))
        refused(Busy, store.fail, failed("t1", counts={"input": 9}))
    same(store.control(AGENT, DAY_ONE), Control(), "what was spent")


def limits_are_set_and_taken_away_together(store: Store) -> None:
    for tokens, turns in ((1000, 5), (0, 0), (None, 7), (2**62, None), (None, None)):
        store.limit(AGENT, by=OPERATOR, at_ns=5, tokens_per_day=tokens, turns_per_day=turns)
        same(store.control(AGENT, DAY_ONE), Control(tokens_per_day=tokens, turns_per_day=turns), "the limits")
    store.limit(AGENT, by=OPERATOR, at_ns=5, tokens_per_day=1, turns_per_day=2)
    store.pause(AGENT, by=OPERATOR, at_ns=6, reason="why")
    wanted = Control(True, "admin:olga", 6, "why", 1, 2)
    same(store.control(AGENT, DAY_ONE), wanted, "limits and pause, neither of which changes the other")
    same(store.control("bob", DAY_ONE), Control(), "the limits of another agent")


def every_switch_is_a_row_of_its_agents_chain(store: Store) -> None:
    store.pause(AGENT, by=OPERATOR, at_ns=5, reason="SECRET")
    store.limit(AGENT, by=OPERATOR, at_ns=6, tokens_per_day=1000, turns_per_day=None)
    store.resume(AGENT, by=user("ana"), at_ns=7)
    rows = store.log(AGENT)
    alike([row.kind for row in rows], ["pause", "limit", "resume"], "the rows")
    alike([row.at_ns for row in rows], [5, 6, 7], "their times")
    alike([row.actor for row in rows[:2]], ["admin:olga"] * 2, "who did it")
    same(rows[1].detail, "1000 -", "the limits")
    said = repr(rows)
    must("SECRET" not in said and "user:ana" not in said, "no row should tell of a reason or a name")
    verified(store)


def a_turn_begins_before_its_agent_was_paused_or_not_at_all(store: Store) -> None:
    for agent in ("ada", "bob", "eve"):
        ends = at_once(4, partial(_pauses_or_takes, store, agent, Event()))
        alike([end for end in ends if isinstance(end, CharterError)], [], "what went wrong")
        counted = store.control(agent, DAY_ONE).turns_today
        same(counted, len(store.turns(agent, 10**6)), "the turns that were counted")
    verified(store)


def _pauses_or_takes(store: Store, agent: str, paused: Event, number: int) -> None:
    if number == 0:
        store.pause(agent, by=OPERATOR, at_ns=5)
        paused.set()
    for step in count() if number else ():
        late, name = paused.is_set(), f"t{number}.{step}"
        try:
            take(store, name, agent=agent, lane=f"s{number}")
        except Paused:
            return
        must(not late, "no turn should begin when its agent is paused")
        store.settle(Settled(turn(name, agent=agent)))


def a_turn_that_may_not_begin_takes_and_stages_nothing(store: Store) -> None:
    store.limit(AGENT, by=OPERATOR, at_ns=5, tokens_per_day=1000, turns_per_day=None)
    seen: list[Control] = []

    def may(control: Control) -> None:
        seen.append(control)
        raise OverSpend("spent")

    more: dict[str, Any] = {"lane": "ana", "at_ns": SECOND, "lease_ns": LEASE, "day": DAY_ONE}
    with untouched(store):
        refused(OverSpend, store.take, AGENT, "t1", message=message(1), may=may, **more)
    alike(seen, [Control(tokens_per_day=1000)], "what was asked about")
    alike(store.take(AGENT, "t1", may=lambda _: None, **more), [], "what a turn that may begin takes")


def a_switch_or_limit_with_a_bad_value_is_refused(store: Store) -> None:
    limits: dict[str, Any] = {"tokens_per_day": 1, "turns_per_day": 1}
    with untouched(store):
        for bad in (*bad_authors_and_times(), *({"agent": name} for name in BAD_NAMES)):
            switch = {"agent": AGENT, "by": OPERATOR, "at_ns": 5} | bad
            refused(BadValue, store.pause, **switch)
            refused(BadValue, store.resume, **switch)
            refused(BadValue, store.limit, **switch | limits)
        for text in BAD_TEXTS:
            refused(BadValue, store.pause, AGENT, by=OPERATOR, at_ns=5, reason=text)
        for number in BAD_TIMES:
            for field in limits:
                refused(BadValue, store.limit, AGENT, by=OPERATOR, at_ns=5, **limits | {field: number})
        for day in ("", "today", "2026-1-2", "2026-02-30", *BAD_TEXTS):
            refused(BadValue, store.control, AGENT, day)


CONTRACTS: tuple[Contract, ...] = (
    an_agent_is_free_until_somebody_says_otherwise,
    an_agent_that_is_paused_begins_no_turn,
    a_turn_that_is_under_way_when_its_agent_is_paused_can_end,
    pausing_again_tells_of_the_last_who_did,
    every_turn_counts_to_the_day_of_its_time,
    a_turn_that_is_not_kept_costs_nothing,
    limits_are_set_and_taken_away_together,
    every_switch_is_a_row_of_its_agents_chain,
    a_turn_begins_before_its_agent_was_paused_or_not_at_all,
    a_turn_that_may_not_begin_takes_and_stages_nothing,
    a_switch_or_limit_with_a_bad_value_is_refused,
)
