"""A store that is lost, or changed by others, while a turn goes: the state before or the state after, never between."""

from __future__ import annotations

import contextlib
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import pytest

from charter.agent import LEASE_NS, Agent
from charter.amend import Edit, amend
from charter.core.dialogue import ToolCall
from charter.core.errors import Answered, BadValue, Busy, Conflict, StoreUnavailable
from charter.core.policy import Actor, Verdict
from charter.core.records import Author, Head, Place
from charter.stores.store import SqlStore
from charter.turn import take_turn

from ..places import call, said
from .rooms import (
    CANARY,
    KINDS,
    LEAVES,
    NOW,
    agent_in,
    asked,
    bodies,
    busy_step,
    codes,
    failed_alone,
    left,
    limited,
    opened,
)

pytestmark = pytest.mark.requirement("S0-13", "N-03")

ROOT = Author(Actor.OPERATOR, "root")


# ── changed by others ─────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("kind", KINDS)
def test_a_layer_an_operator_changed_meanwhile_stays_theirs_and_nothing_of_the_turn_is_kept(
    kind: str, tmp_path: Path
) -> None:
    with opened(kind, tmp_path) as store:

        def meanwhile(_: object) -> Any:
            theirs = Edit("decision_loop", "The operator's.", 1, agent=agent.name)
            amend(store, agent.charter, theirs, by=ROOT, at_ns=NOW)
            before.update(left(store, agent.name))
            return said("Done.")

        agent = agent_in(store, busy_step(), meanwhile, busy_step(""), said("Now it is."))
        before: dict[str, Any] = {}
        with pytest.raises(Conflict, match="decision_loop is at version 2, not 1: someone changed it first"):
            take_turn(agent, asked(1))
        failed_alone(agent, before | {"turn_leases": []}, "CONFLICT", waiting=[f"{CANARY} asks 1"])
        assert take_turn(agent, asked(2)).reply == "Now it is."
        history = store.history(Place(agent.name, "decision_loop"))
        assert [(row.version, row.content) for row in history[1:]] == [(2, "The operator's."), (3, f"{CANARY} first.")]


@pytest.mark.parametrize("kind", KINDS)
def test_instructions_a_user_changed_elsewhere_meanwhile_are_not_overwritten(kind: str, tmp_path: Path) -> None:
    wanted = call("update_instructions", '{"instructions": "Be brief."}')
    with opened(kind, tmp_path) as store:

        def meanwhile(_: object) -> Any:
            theirs = Edit("instructions", "Be long.", 0, agent=agent.name, user="root")
            amend(store, agent.charter, theirs, by=Author(Actor.USER, "root"), at_ns=NOW)
            return said("Done.")

        agent = agent_in(store, said("", wanted), meanwhile, charter="assistant")
        with pytest.raises(Conflict):
            take_turn(agent, asked(1))
        head = store.head(Place(agent.name, "instructions", "root", Head.INSTRUCTIONS))
        assert head is not None
        assert (head.content, bodies(agent)) == ("Be long.", [f"{CANARY} asks 1"])


@pytest.mark.parametrize("kind", KINDS)
def test_a_turn_whose_lease_was_lost_leaves_nothing_and_does_not_touch_the_one_that_took_over(
    kind: str, tmp_path: Path
) -> None:
    now = [NOW]
    with opened(kind, tmp_path) as store:

        def overslept(_: object) -> Any:
            now[0] += LEASE_NS
            other = agent_in(store, said("I took over."), name=agent.name, clock=lambda: now[0])
            assert take_turn(other, asked(2)).reply == "I took over."
            before.update(left(store, agent.name))
            return said("Too late.")

        agent = limited(agent_in(store, overslept, clock=lambda: now[0]), max_seconds=10**6)
        before: dict[str, Any] = {}
        with pytest.raises(Busy, match="has no lease any more; another turn took over, so nothing of it is kept"):
            take_turn(agent, asked(1))
        assert left(store, agent.name) == before
        assert [reply.body for _, reply in store.unsent(agent.name)] == ["I took over."]
        with pytest.raises(Answered):
            take_turn(agent, asked(1))


@pytest.mark.parametrize("at", ["1969-12-31T23:59:59+00:00", "2300-01-01T00:00:00+00:00"])
def test_a_time_no_record_can_hold_is_refused_before_anything_is_taken(at: str, tmp_path: Path) -> None:
    with opened("memory", tmp_path) as store:
        agent = agent_in(store, said("ok"))
        with pytest.raises(BadValue, match="at: a time that can be kept lies between 1970 and 2262"):
            take_turn(agent, asked(1, at=at))
        assert (bodies(agent), left(store, agent.name)["turn_leases"]) == ([], [])


# ── lost ──────────────────────────────────────────────────────────────────────────────────────────────────────────


class Losing:
    """A store of which the n-th call fails: before it does anything, or after, when only its answer is lost."""

    def __init__(self, store: SqlStore, number: int, when: Literal["before", "after"], *, for_good: bool) -> None:
        self._store = store
        self._number = number
        self._when = when
        self._for_good = for_good
        self.error = StoreUnavailable("the disk is gone")
        self.calls: list[str] = []

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._store, name)

        def method(*given: Any, **named: Any) -> Any:
            self.calls.append(name)
            fails = len(self.calls) == self._number or (self._for_good and len(self.calls) > self._number)
            if fails and (self._when == "before" or len(self.calls) > self._number):
                raise self.error
            answer = found(*given, **named)
            if fails:
                raise self.error
            return answer

        return method


class Yes:
    by = ROOT

    def ask(self, wanted: object) -> Verdict:
        return Verdict("allow")


def one_loss(store: SqlStore, number: int, when: Literal["before", "after"], *, for_good: bool) -> str:
    """A turn whose n-th call of the store fails; which call that was, empty when there were not so many."""
    look = ToolCall("c4", "read_memory", '{"query": "seeds"}')
    agent = agent_in(store, busy_step(""), said("", look), said("Done."), approver=Yes())
    before, losing = left(store, agent.name), Losing(store, number, when, for_good=for_good)
    try:
        take_turn(replace(agent, store=losing), asked(1))
        seen: Exception | None = None
    except StoreUnavailable as error:
        seen = error
    assert seen in (None, losing.error)
    lost = losing.calls[number - 1] if len(losing.calls) >= number else ""
    whole_or_not_begun(agent, before, lost=seen is not None)
    answered_afterwards(agent)
    return lost


def whole_or_not_begun(agent: Agent, before: Any, *, lost: bool) -> None:
    """Asserts that all of the turn is there, or nothing."""
    store: Any = agent.store
    after = left(store, agent.name)
    written = [name for name in after if name not in (*LEAVES, "turn_leases") and after[name] != before[name]]
    settled = any(turn.outcome == "done" for turn in store.turns(agent.name))
    assert bool(written) is settled
    assert settled or lost
    if settled:
        assert {"outbox_messages", "conversation_entries"} <= set(written)
        assert after["turn_leases"] == []
    assert CANARY not in repr(after["turn_records"])


def answered_afterwards(agent: Agent) -> None:
    """Asserts that the message, sent again when the lease is over, is answered once."""
    store: Any = agent.store
    later = agent_in(store, said("At last."), name=agent.name, clock=lambda: NOW + LEASE_NS)
    with contextlib.suppress(Answered):
        assert take_turn(later, asked(1)).reply == "At last."
    log = store.conversation(agent.name, "root")
    assert [entry.inbox_message_id for entry in log.entries] == ["m1"]
    assert (bodies(agent), left(store, agent.name)["turn_leases"]) == ([], [])


@pytest.mark.parametrize("for_good", [False, True])
@pytest.mark.parametrize("when", ["before", "after"])
def test_a_store_lost_at_any_call_of_a_turn_is_the_error_and_nothing_is_half_done(
    when: Literal["before", "after"], for_good: bool, tmp_path: Path
) -> None:
    lost: list[str] = []
    with opened("memory", tmp_path) as store:
        while name := one_loss(store, len(lost) + 1, when, for_good=for_good):
            lost.append(name)
    assert {"control", "take", "for_turn", "head", "recall", "settle"} <= set(lost)
    assert len(lost) > 10


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
@pytest.mark.parametrize(("number", "when"), [(1, "after"), (3, "after"), (4, "before"), (99, "before")])
def test_the_same_on_disk_and_on_a_server(
    number: int, when: Literal["before", "after"], kind: str, tmp_path: Path
) -> None:
    with opened(kind, tmp_path) as store:
        one_loss(store, number, when, for_good=True)


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_settle_that_is_lost_is_found_done_or_not_done(when: Literal["before", "after"], tmp_path: Path) -> None:
    with opened("memory", tmp_path) as store:
        agent = agent_in(store, said("Done."))
        calls = Losing(store, 10**6, when, for_good=False)
        take_turn(replace(agent, store=calls), asked(1))
        number = calls.calls.index("settle") + 1
        agent = agent_in(store, said("Done."))
        with pytest.raises(StoreUnavailable):
            take_turn(replace(agent, store=Losing(store, number, when, for_good=False)), asked(1))
        assert codes(agent) == ([("failed", "STORE_UNAVAILABLE")] if when == "before" else [("done", "OK")])
        assert bodies(agent) == ([f"{CANARY} asks 1"] if when == "before" else [])
