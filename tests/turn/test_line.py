"""One turn, from the message to the record, for every charter; nothing of it is kept but what is meant to be."""

from __future__ import annotations

import json

import pytest

from charter.core.errors import Answered, UnknownChannel
from charter.core.records import InboxMessage
from charter.core.state import State
from charter.turn import take_turn

from .places import AT, CHARTERS, Looking, agent_of, from_ana, said, scripted


@pytest.mark.requirement("S0-13", "N-01", "S4-11")
@pytest.mark.parametrize("name", CHARTERS)
def test_a_message_is_answered_sent_remembered_and_recorded(name: str) -> None:
    agent = agent_of(name, scripted(said("High at six.")))
    turn = take_turn(agent, from_ana("When is high tide?", id="m1"))
    store = agent.store
    assert (turn.outcome, turn.code, turn.reply) == ("done", "OK", "High at six.")
    assert store.staged(agent.name) == []
    [(turn_id, reply)] = store.unsent(agent.name)
    assert (turn_id, reply.recipient, reply.body, reply.channel) == (turn.id, "ana", "High at six.", "web")
    log = store.conversation(agent.name, "ana")
    assert log is not None
    [entry] = log.entries
    assert (entry.inbox_message_id, entry.sender_body, entry.agent_reply) == (
        "m1",
        "When is high tide?",
        "High at six.",
    )
    record = store.turn(agent.name, turn.id)
    assert (record.stack_sha256, record.charter, record.outcome) == (turn.assembly.stack_sha256, name, "done")
    assert record.payload_sha256 == json.loads(record.detail)["steps"][0]["sha256"]
    assert json.loads(record.manifest) == turn.assembly.manifest.to_dict()
    assert {key: record.counts[key] for key in ("input", "output", "cached", "steps")} == {
        "input": 100, "output": 10, "cached": 60, "steps": 1,
    }  # fmt: skip


@pytest.mark.requirement("S0-15")
def test_a_turn_goes_through_the_states_of_the_design_in_order() -> None:
    looking = Looking()
    take_turn(agent_of("sovereign", scripted(said("Done."))), from_ana("hi"), looking)
    assert looking.states == [State.LOADING, State.INFERRING, State.ACTING, State.PERSISTING, State.SLEEPING]


@pytest.mark.requirement("S0-04")
@pytest.mark.parametrize("name", CHARTERS)
def test_the_message_that_is_answered_is_the_user_message_whole(name: str) -> None:
    provider = scripted(said("ok"))
    text = "first line\n\n" + "long " * 200 + "\nlast line"
    take_turn(agent_of(name, provider), from_ana(text))
    last = provider.payloads[0]["messages"][-1]
    assert last["role"] == "user"
    assert last["content"].replace("> ", "").replace("\n>\n", "\n\n") == text


@pytest.mark.requirement("S0-15")
def test_an_agent_that_nobody_asks_is_sent_one_fixed_line() -> None:
    provider = scripted(said("Resting."))
    agent = agent_of("sovereign", provider)
    turn = take_turn(agent, from_ana("", sender="", user="", channel="scheduled"))
    assert provider.payloads[0]["messages"][-1] == {"role": "user", "content": agent.charter.autonomous}
    assert turn.outcome == "done"
    assert agent.store.unsent(agent.name) == []
    assert agent.store.conversations(agent.name) == []


@pytest.mark.requirement("S0-04", "S0-14", "S0-13")
def test_a_turn_without_a_text_answers_the_oldest_message_and_the_others_wait() -> None:
    provider = scripted(said("To Bo."), said("To Ana."))
    agent = agent_of("sovereign", provider)
    for number, (sender, body) in enumerate([("bo", "one"), ("ana", "two"), ("bo", "three")]):
        agent.store.stage(agent.name, InboxMessage(f"m{number}", sender, body, number))
    first = take_turn(agent, from_ana("", sender="", user="", channel="inbox"))
    assert provider.payloads[0]["messages"][-1]["content"] == "one\n\nthree"
    assert [message.id for message in agent.store.staged(agent.name)] == ["m1"]
    take_turn(agent, from_ana("", sender="", user="", channel="inbox"))
    assert provider.payloads[1]["messages"][-1]["content"] == "two"
    bo, ana = agent.store.conversation(agent.name, "bo"), agent.store.conversation(agent.name, "ana")
    assert bo is not None
    assert ana is not None
    assert [(entry.sender_body, entry.agent_reply) for entry in bo.entries] == [("one", ""), ("three", "To Bo.")]
    assert [(entry.sender_body, entry.agent_reply) for entry in ana.entries] == [("two", "To Ana.")]
    assert {turn_id for turn_id, reply in agent.store.unsent(agent.name) if reply.recipient == "bo"} == {first.id}


@pytest.mark.requirement("S0-15")
def test_a_message_that_was_answered_is_not_answered_again() -> None:
    agent = agent_of("assistant", scripted(said("Once.")))
    take_turn(agent, from_ana("hi", id="m1"))
    with pytest.raises(Answered, match="this message was answered before; nothing was done again"):
        take_turn(agent, from_ana("hi", id="m1"))
    assert len(agent.store.unsent(agent.name)) == 1


@pytest.mark.requirement("S4-03")
def test_a_channel_the_charter_does_not_know_is_refused_before_anything_is_staged() -> None:
    agent = agent_of("assistant", scripted())
    with pytest.raises(UnknownChannel):
        take_turn(agent, from_ana("hi", channel="pigeon"))
    assert agent.store.staged(agent.name) == []


@pytest.mark.requirement("S4-11")
def test_the_prompt_is_made_anew_for_every_message() -> None:
    provider = scripted(said("a"), said("b"))
    agent = agent_of("assistant", provider)
    take_turn(agent, from_ana("hi", at=AT))
    take_turn(agent, from_ana("hi", at="2026-02-26T14:31:00+00:00", channel="telegram"))
    first, second = (payload["messages"][0]["content"] for payload in provider.payloads)
    assert "2026-02-26 14:30 (UTC" in first
    assert "2026-02-26 14:31 (UTC" in second
    assert "responding via web" in first
    assert "responding via telegram" in second


def test_neither_turn_nor_agent_nor_record_shows_a_text() -> None:
    agent = agent_of("assistant", scripted(said("CANARY reply")))
    turn = take_turn(agent, from_ana("CANARY message"))
    assert "CANARY" not in repr((turn, agent, turn.record))
    assert "CANARY" not in turn.record.manifest + turn.record.detail


@pytest.mark.requirement("S0-15", "N-17")
def test_what_a_turn_that_died_had_taken_is_answered_by_the_next_one_that_looks() -> None:
    agent = agent_of("assistant", scripted(said("Late, but here.")))
    agent.store.stage(agent.name, InboxMessage("m1", "ana", "hi", 1, "web", "ana"))
    agent.store.take(agent.name, "dead", lane="ana", at_ns=1, lease_ns=10)
    turn = take_turn(agent, from_ana("", sender="", user="", channel="inbox"))
    assert (turn.reply, turn.record.sender) == ("Late, but here.", "ana")


@pytest.mark.requirement("S0-15")
def test_an_agent_without_a_line_of_its_own_does_nothing_when_nobody_waits() -> None:
    provider = scripted()
    agent = agent_of("assistant", provider)
    with pytest.raises(Answered, match="nobody is waiting"):
        take_turn(agent, from_ana("", sender="", user="", channel="inbox"))
    assert provider.requests == []
