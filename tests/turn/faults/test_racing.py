"""Messages at once: one turn in flight per sender, or per agent; the others wait, in order, and are answered once."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from charter.core.dialogue import Reply
from charter.core.errors import Answered, Busy
from charter.core.incoming import Incoming
from charter.core.records import InboxMessage
from charter.stores.store import SqlStore
from charter.turn import take_turn
from faults.places import new

from ..places import AT, from_ana, said
from .programs import ask
from .rooms import FILES, KINDS, agent_in, answered_whole, bodies, codes, left, opened

NOBODY = Incoming("inbox", at=AT)  # who looks for work
pytestmark = pytest.mark.requirement("S0-13", "S0-15", "N-17")


class Slow:
    """A model that has begun, and answers when it is told to."""

    def __init__(self) -> None:
        self.begun, self.go = threading.Event(), threading.Event()

    def __call__(self, request: object) -> Reply:
        self.begun.set()
        assert self.go.wait(30)
        return said("Slowly.")


def meanwhile(slow: Slow, first: Callable[[], Any], second: Callable[[], Any]) -> Any:
    """Does the second while the first waits for its model; what the first came to."""
    with ThreadPoolExecutor(1) as pool:
        turn = pool.submit(first)
        assert slow.begun.wait(30)
        try:
            second()
        finally:
            slow.go.set()
        return turn.result(30)


def two_at_once(kind: str, folder: Path, charter: str, sender: str) -> None:
    """Asserts that a message which comes while a turn is under way waits, and that the next turn answers it."""
    slow = Slow()
    with opened(kind, folder) as store:
        agent = agent_in(store, slow, said("To the second."), charter=charter)

        def second() -> None:
            with pytest.raises(Busy, match=r"turn \w+ is under way; it has this lane for 900 s at most|901 s"):
                take_turn(agent, from_ana("second", sender=sender, user=sender, id="m2"))
            assert bodies(agent) == ["second"]
            assert codes(agent) == []

        done = meanwhile(slow, lambda: take_turn(agent, from_ana("first", id="m1")), second)
        assert done.reply == "Slowly."
        assert bodies(agent) == ["second"]
        take_turn(agent, NOBODY)
        answered_whole(agent, ["second"])
        assert codes(agent) == [("done", "OK")] * 2
        assert [(reply.recipient, reply.body) for _, reply in store.unsent(agent.name)] == [
            ("ana", "Slowly."), (sender, "To the second."),
        ]  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("charter", ["assistant", "sovereign"])
def test_a_second_message_of_one_sender_waits_for_the_turn_under_way(charter: str, kind: str, tmp_path: Path) -> None:
    two_at_once(kind, tmp_path, charter, "ana")


@pytest.mark.parametrize("kind", KINDS)
def test_an_agent_with_one_inbox_takes_one_turn_whoever_asks(kind: str, tmp_path: Path) -> None:
    two_at_once(kind, tmp_path, "sovereign", "bo")


def test_without_lanes_the_second_turn_would_begin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    take = SqlStore.take

    def no_lane(store: SqlStore, agent: str, turn_id: str, **given: Any) -> Any:
        return take(store, agent, turn_id, **{**given, "lane": turn_id})

    monkeypatch.setattr(SqlStore, "take", no_lane)
    with pytest.raises(pytest.fail.Exception, match="DID NOT RAISE"):
        two_at_once("memory", tmp_path, "assistant", "ana")


@pytest.mark.parametrize("kind", KINDS)
def test_turns_of_different_senders_go_on_side_by_side(kind: str, tmp_path: Path) -> None:
    together = threading.Barrier(3)

    def meet(_: object) -> Reply:
        together.wait(30)  # nobody passes before all three are in their model
        return said("Met.")

    with opened(kind, tmp_path) as store, ThreadPoolExecutor(3) as pool:
        agent = agent_in(store, meet, meet, meet, charter="assistant")
        turns = [pool.submit(take_turn, agent, from_ana("hi", sender=who, user=who)) for who in ("ana", "bo", "cy")]
        assert [turn.result(30).reply for turn in turns] == ["Met."] * 3
        assert sorted(reply.recipient for _, reply in store.unsent(agent.name)) == ["ana", "bo", "cy"]


@pytest.mark.parametrize("kind", KINDS)
def test_a_worker_that_looks_for_work_leaves_a_sender_who_is_being_answered_alone(kind: str, tmp_path: Path) -> None:
    slow = Slow()
    with opened(kind, tmp_path) as store:
        agent = agent_in(store, slow, said("To Bo."), charter="assistant")

        def second() -> None:
            for number, who in enumerate(("ana", "bo"), 2):
                store.stage(agent.name, InboxMessage(f"m{number}", who, f"{who} again", number, "web", who))
            assert take_turn(agent, NOBODY).record.sender == "bo"  # Ana's waits longer, but she is being answered
            with pytest.raises(Busy):
                take_turn(agent, NOBODY)

        meanwhile(slow, lambda: take_turn(agent, from_ana("first")), second)
        assert bodies(agent) == ["ana again"]


@pytest.mark.parametrize("kind", KINDS)
def test_a_message_that_is_delivered_again_is_answered_once(kind: str, tmp_path: Path) -> None:
    slow = Slow()
    with opened(kind, tmp_path) as store:
        agent = agent_in(store, slow, charter="assistant")

        def again(error: type[Exception]) -> None:
            with pytest.raises(error):
                take_turn(agent, from_ana("once", id="m1"))

        meanwhile(slow, lambda: take_turn(agent, from_ana("once", id="m1")), lambda: again(Busy))
        again(Answered)
        assert len(store.unsent(agent.name)) == 1
        assert codes(agent) == [("done", "OK"), ("failed", "TURN_ALREADY_ANSWERED")]
        assert left(store, agent.name)["turn_leases"] == []


@pytest.mark.parametrize("kind", KINDS)
def test_sixteen_deliveries_of_one_message_at_once_are_one_answer(kind: str, tmp_path: Path) -> None:
    with opened(kind, tmp_path) as store, ThreadPoolExecutor(16) as pool:
        agent = agent_in(store, *[said("Once.")] * 16, charter="assistant")
        together = threading.Barrier(16)

        def deliver(_: int) -> str:
            together.wait(30)
            try:
                return take_turn(agent, from_ana("once", id="m1")).reply
            except (Busy, Answered) as error:
                return type(error).__name__

        told = list(pool.map(deliver, range(16)))
        assert told.count("Once.") == 1
        assert set(told) <= {"Once.", "Busy", "Answered"}
        assert len(store.unsent(agent.name)) == 1


@pytest.mark.parametrize(("kind", "charter"), [("sqlite", "sovereign"), ("postgres", "assistant")])
def test_workers_that_race_and_die_answer_every_message_once_and_in_order(
    kind: str, charter: str, tmp_path: Path
) -> None:
    told = ask("faults.racing", "messages", new(kind, tmp_path), charter, 4, 4, 8, 3)
    assert told["wrong"] == []
    assert told["told"]["begun"] == told["told"]["ended"] + told["told"].get("died", 0)


@pytest.mark.deep
@pytest.mark.parametrize("kind", FILES)
@pytest.mark.parametrize("charter", ["assistant", "sovereign"])
def test_eight_workers_and_a_hundred_and_sixty_messages(charter: str, kind: str, tmp_path: Path) -> None:
    for seed in range(2):
        told = ask("faults.racing", "messages", new(kind, tmp_path / str(seed)), charter, 8, 8, 20, seed)
        assert told["wrong"] == []
