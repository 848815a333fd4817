"""A run is one turn on the channel `scheduled`: answered once, to whom it is for, and ended whatever happens."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from charter.channels.schedule import Sweeper
from charter.channels.schedule_run import WITHDRAWN, Ended, message_id, take_up
from charter.core.errors import ProviderDown
from charter.core.incoming import Incoming
from charter.core.policy import Actor
from charter.core.records import Author, InboxMessage, TurnRecord
from charter.core.served import Run
from charter.house import House
from charter.scheduler import desk
from charter.stores.store import SqlStore
from charter.testing import ScriptedProvider

from .rooms import NOON, SECOND, Clock, Kept, address, house_of, opened, schedule, wait_for

pytestmark = pytest.mark.requirement("S4-10", "N-17")

TICK = NOON + 60 * SECOND


@pytest.fixture(params=["sqlite", "postgres"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[SqlStore]:
    with opened(address(request.param, tmp_path)) as made:
        yield made


def said(house: House) -> list[Any]:
    """What the model was sent, turn by turn."""
    provider = house.agent("assistant").provider
    assert isinstance(provider, ScriptedProvider)
    return [payload["messages"] for payload in provider.payloads]


@pytest.mark.requirement("S4-03", "S4-11", "S4-12")
def test_the_prompt_says_that_it_is_a_scheduled_run_and_has_the_time_it_runs_at(store: SqlStore) -> None:
    """AC-10: a scheduled run passes its channel."""
    house = house_of(store, ["Here is the news."])
    store.add_schedule(schedule(user="ana", recipient="ana"))
    ended = take_up(desk(house, clock=Clock(TICK + 5 * SECOND)), "s1", TICK)
    assert ended is not None
    assert ended.turn is not None
    assert ended.run == Run("s1", TICK, "done", ended.turn.id, "OK", TICK + 5 * SECOND)
    assert store.runs("s1") == [ended.run]
    (messages,) = said(house)
    assert "- scheduled: This is an automated scheduled run." in messages[0]["content"]
    assert messages[-1] == {"role": "user", "content": "Read the news to me."}
    record = store.turn("assistant", ended.turn.id)
    assert (record.channel, record.sender, record.user, record.at_ns) == ("scheduled", "ana", "ana", TICK + 5 * SECOND)


def test_a_tick_is_run_by_who_begins_it_and_by_nobody_else(store: SqlStore) -> None:
    house = house_of(store, ["Once."])
    store.add_schedule(schedule())
    assert take_up(desk(house, clock=Clock()), "s1", TICK) is not None
    assert take_up(desk(house, clock=Clock()), "s1", TICK) is None
    assert take_up(desk(house, clock=Clock()), "s1", TICK, again=True) is None
    assert len(said(house)) == 1


def test_a_run_of_an_agent_that_is_not_served_here_is_left_to_who_serves_it(store: SqlStore) -> None:
    store.add_schedule(schedule(agent="sovereign"))
    assert take_up(desk(house_of(store, []), clock=Clock()), "s1", TICK, again=True) is None
    assert store.runs("s1") == []


def test_without_anybody_to_write_to_it_stays_in_a_conversation_of_its_own(store: SqlStore) -> None:
    house = house_of(store, ["Done."])
    store.add_schedule(schedule())
    take_up(desk(house, clock=Clock(TICK)), "s1", TICK)
    talk = store.conversation("assistant", "schedule:s1")
    assert talk is not None
    assert [entry.agent_reply for entry in talk.entries] == ["Done."]
    assert store.unsent("assistant") == []


def test_what_is_for_telegram_is_in_its_form_and_waits_to_be_sent_there(store: SqlStore) -> None:
    house = house_of(store, ["**Rain** " + "word " * 1000])
    store.add_schedule(schedule(channel="telegram", recipient="ana", user="ana"))
    paired(store, "ana", "4711")
    ended = take_up(desk(house, clock=Clock(TICK)), "s1", TICK)
    assert ended is not None
    waiting = store.unsent_of("assistant", "telegram")
    assert [(turn, reply.recipient, reply.part) for turn, reply in waiting] == [
        (ended.run.turn_id, "telegram:4711", 0),
        (ended.run.turn_id, "telegram:4711", 1),
    ]
    assert waiting[0][1].body.startswith("Rain word")
    assert all(len(reply.body) <= 4096 for _, reply in waiting)
    assert store.turn("assistant", ended.run.turn_id).channel == "scheduled"


def paired(store: SqlStore, user: str, chat: str) -> None:
    store.add_pairing(
        "a" * 64, agent="assistant", channel="telegram", user=user, by=Author(Actor.OPERATOR, "mo"),
        at_ns=NOON, expires_at_ns=NOON + SECOND,
    )  # fmt: skip
    assert store.pair("assistant", "telegram", chat, "a" * 64, at_ns=NOON)


def test_nobody_is_written_to_who_is_not_paired_any_more(store: SqlStore) -> None:
    house = house_of(store, [])
    store.add_schedule(schedule(channel="telegram", recipient="ana", user="ana"))
    paired(store, "ana", "4711")
    store.remove_peer("assistant", "telegram", "4711")
    ended = take_up(desk(house, clock=Clock(TICK)), "s1", TICK)
    assert ended is not None
    assert (ended.run.state, ended.run.code) == ("failed", "NOT_STORED")
    assert store.staged("assistant") == []


def test_a_run_that_fails_ends_with_its_code_and_leaves_no_message_waiting(store: SqlStore) -> None:
    house = house_of(store, [ProviderDown("stub", "out of reach"), "Hello Ana."])
    store.add_schedule(schedule(user="ana", recipient="ana"))
    ended = take_up(desk(house, clock=Clock(TICK)), "s1", TICK)
    assert ended is not None
    assert (ended.run.state, ended.run.code, ended.turn) == ("failed", "PROVIDER_DOWN", None)
    assert store.waiting("assistant") == 0
    house.ask("assistant", Incoming("web", "ana", "Hi", NOON // SECOND, user="ana"))
    assert said(house)[-1][-1] == {"role": "user", "content": "Hi"}


def test_a_paused_agent_runs_nothing_and_has_no_heap_of_messages_when_it_goes_on(store: SqlStore) -> None:
    house = house_of(store, [])
    store.add_schedule(schedule())
    store.pause("assistant", by=Author(Actor.OPERATOR, "mo"), at_ns=NOON)
    ended = take_up(desk(house, clock=Clock(TICK)), "s1", TICK)
    assert ended is not None
    assert (ended.run.state, ended.run.code) == ("failed", "AGENT_PAUSED")
    assert store.waiting("assistant") == 0


def test_a_schedule_that_is_gone_runs_no_more_and_one_removed_meanwhile_ends_in_peace(store: SqlStore) -> None:
    removed: list[str] = []

    def remove(_: object) -> str:
        removed.append(store.remove_schedule("s1").id)
        return "Said all the same."

    house = house_of(store, [remove])
    store.add_schedule(schedule(recipient="ana"))
    ended = take_up(desk(house, clock=Clock(TICK)), "s1", TICK)
    assert ended is not None
    assert removed == ["s1"]
    assert store.runs("s1") == []
    assert take_up(desk(house, clock=Clock(TICK)), "s1", TICK + SECOND) is None


# ── taking up what was left ───────────────────────────────────────────────────────────────────────────────────────


def died_before_it_began(store: SqlStore) -> None:
    pass


def died_when_it_had_begun(store: SqlStore) -> None:
    store.begin_run("s1", TICK, at_ns=TICK)


def died_in_its_turn(store: SqlStore) -> None:
    store.begin_run("s1", TICK, at_ns=TICK)
    message = InboxMessage(message_id("s1", TICK), "ana", "Read the news to me.", TICK, "scheduled", "ana")
    store.take("assistant", "t-dead", lane="ana", sender="ana", message=message, at_ns=TICK, lease_ns=30 * SECOND)


@pytest.mark.parametrize("left", [died_before_it_began, died_when_it_had_begun, died_in_its_turn])
def test_a_run_that_was_left_is_taken_up_and_answered_once(store: SqlStore, left: Callable[[SqlStore], None]) -> None:
    house = house_of(store, ["Here is the news."])
    store.add_schedule(schedule(user="ana", recipient="ana"))
    left(store)
    queue, clock = Kept(begun=[("s1", TICK)]), Clock(TICK + 61 * SECOND)
    with_clock(house, clock)
    assert Sweeper(desk(house, clock=clock), queue).round() == 1
    (run,) = store.runs("s1")
    assert (run.state, run.code) == ("done", "OK")
    assert [reply.body for _, reply in store.replies("assistant", "ana")] == ["Here is the news."]
    assert queue.forgotten == [("s1", TICK)]
    assert Sweeper(desk(house, clock=clock), queue).round() == 0


def with_clock(house: House, clock: Clock) -> None:
    """Turns of this house go by this clock too."""
    object.__setattr__(house.agent("assistant"), "clock", clock)


def test_a_worker_that_stops_in_the_middle_leaves_its_run_to_another(store: SqlStore) -> None:
    house = house_of(store, ["Never heard.", "Here is the news."])
    store.add_schedule(schedule(user="ana", recipient="ana"))
    assert take_up(desk(house, clock=Clock(TICK)), "s1", TICK, stopped=lambda: True) is None
    assert [run.state for run in store.runs("s1")] == ["begun"]
    assert store.waiting("assistant") == 1
    assert Sweeper(desk(house, clock=Clock(TICK + 61 * SECOND)), Kept()).round() == 1
    assert [reply.body for _, reply in store.replies("assistant", "ana")] != []
    assert [run.state for run in store.runs("s1")] == ["done"]


def test_a_run_waits_while_the_one_it_is_for_is_being_answered(store: SqlStore) -> None:
    house = house_of(store, ["Here is the news."])
    store.add_schedule(schedule(user="ana", recipient="ana"))
    store.take("assistant", "t-chat", lane="ana", at_ns=time.time_ns(), lease_ns=30 * SECOND)
    ended: list[Ended | None] = []
    run = threading.Thread(target=lambda: ended.append(take_up(desk(house, clock=Clock(TICK)), "s1", TICK)))
    run.start()
    wait_for(lambda: store.waiting("assistant") == 1)
    assert said(house) == []
    store.fail(TurnRecord("assistant", "t-chat", NOON, "web", outcome="failed", code="X"))
    run.join()
    assert [one and one.run.state for one in ended] == ["done"]


def test_a_turn_that_still_has_its_lease_is_left_alone(store: SqlStore) -> None:
    house = house_of(store, [])
    store.add_schedule(schedule(user="ana", recipient="ana"))
    died_in_its_turn(store)
    queue, clock = Kept(begun=[("s1", TICK)]), Clock(TICK + 61 * SECOND)
    with_clock(house, clock)
    store.renew("assistant", "t-dead", until_ns=clock.now + 20 * SECOND)
    assert Sweeper(desk(house, clock=clock), queue).round() == 0
    assert [run.state for run in store.runs("s1")] == ["begun"]
    assert queue.forgotten == []


def test_a_run_that_began_a_moment_ago_is_left_alone(store: SqlStore) -> None:
    house = house_of(store, [])
    store.add_schedule(schedule())
    died_when_it_had_begun(store)
    assert Sweeper(desk(house, clock=Clock(TICK + 59 * SECOND)), Kept()).round() == 0


def test_a_run_whose_worker_died_after_its_answer_is_done_without_asking_again(store: SqlStore) -> None:
    house = house_of(store, ["Here is the news."])
    store.add_schedule(schedule(user="ana", recipient="ana"))
    died_when_it_had_begun(store)
    turn = house.ask("assistant", Incoming("scheduled", "ana", "Read", user="ana", id=message_id("s1", TICK)))
    assert Sweeper(desk(house, clock=Clock(TICK + 61 * SECOND)), Kept()).round() == 1
    assert [(run.state, run.turn_id) for run in store.runs("s1")] == [("done", turn.id)]
    assert len(store.turns("assistant")) == 1


def test_a_message_that_was_taken_back_is_never_answered(store: SqlStore) -> None:
    house = house_of(store, [ProviderDown("stub", "out of reach")])
    store.add_schedule(schedule())
    incoming = Incoming("scheduled", "schedule:s1", "Read the news to me.", id=message_id("s1", TICK))
    with pytest.raises(ProviderDown):
        house.ask("assistant", incoming)
    from charter.stores.withdrawn import withdraw

    assert withdraw(store.db, "assistant", incoming.id, at_ns=TICK)
    assert not withdraw(store.db, "assistant", incoming.id, at_ns=TICK)
    ended = take_up(desk(house, clock=Clock(TICK)), "s1", TICK)
    assert ended is not None
    assert (ended.run.state, ended.run.code) == ("failed", WITHDRAWN)


def test_nothing_of_a_run_shows_its_text(store: SqlStore) -> None:
    house = house_of(store, ["Reply canary-92."])
    store.add_schedule(schedule(text="Text canary-91."))
    ended = take_up(desk(house, clock=Clock(TICK)), "s1", TICK)
    shown = repr(ended) + repr(store.schedules()) + json.dumps([str(run) for run in store.runs("s1")])
    assert "canary" not in shown
