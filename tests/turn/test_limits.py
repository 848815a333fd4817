"""A turn goes only so far, and a person can stop an agent at once (N-19)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from charter.core.errors import OverLimit, OverSpend, Paused
from charter.core.policy import Actor
from charter.core.records import Author
from charter.turn import take_turn

from .places import Looking, agent_of, call, from_ana, said, scripted

ROOT = Author(Actor.OPERATOR, "root")


@pytest.mark.requirement("N-19")
def test_a_paused_agent_takes_no_turn_and_its_message_waits_until_it_goes_on() -> None:
    provider = scripted(said("Back."))
    agent = agent_of("assistant", provider)
    agent.store.pause(agent.name, by=ROOT, at_ns=1, reason="looking into it")
    with pytest.raises(Paused, match="assistant is paused; start it again with: charter resume assistant"):
        take_turn(agent, from_ana("hi"))
    assert provider.requests == []
    assert [message.body for message in agent.store.staged(agent.name)] == ["hi"]
    agent.store.resume(agent.name, by=ROOT, at_ns=2)
    assert take_turn(agent, from_ana("are you there?")).reply == "Back."
    assert provider.payloads[0]["messages"][-1]["content"] == "hi\n\nare you there?"


@pytest.mark.requirement("N-19")
def test_a_pause_in_the_middle_stops_the_turn_before_its_next_step() -> None:
    agent = agent_of("assistant", scripted(said("", call("read_memory")), said("never")))

    def pausing(_: object) -> str:
        agent.store.pause(agent.name, by=ROOT, at_ns=1)
        return "x"

    tools = agent.tools

    def with_pause(acting):  # type: ignore[no-untyped-def]
        made = dict(tools(acting))
        return made | {"read_memory": replace(made["read_memory"], call=pausing)}

    with pytest.raises(Paused):
        take_turn(replace(agent, tools=with_pause), from_ana("hi"))
    assert [message.body for message in agent.store.staged(agent.name)] == ["hi"]
    assert agent.store.turns(agent.name)[0].code == "AGENT_PAUSED"


@pytest.mark.requirement("N-19")
@pytest.mark.parametrize(("tokens", "turns", "unit"), [(100, None, "tokens"), (None, 1, "turns")])
def test_a_days_limit_ends_the_day_and_the_next_day_is_new(tokens: int | None, turns: int | None, unit: str) -> None:
    agent = agent_of("assistant", scripted(said("one"), said("two")))
    agent.store.limit(agent.name, by=ROOT, at_ns=1, tokens_per_day=tokens, turns_per_day=turns)
    take_turn(agent, from_ana("a"))
    with pytest.raises(OverSpend, match=rf"assistant used .* {unit} today"):
        take_turn(agent, from_ana("b"))
    assert take_turn(agent, from_ana("c", at="2026-02-27T00:00:01+00:00")).reply == "two"


def test_a_model_that_never_stops_calling_is_stopped() -> None:
    queries = [said("", call("read_memory", f'{{"query": "{number}"}}')) for number in range(20)]
    agent = agent_of("assistant", scripted(*queries))
    with pytest.raises(OverLimit, match="8 calls of the model are the limit of a turn on web"):
        take_turn(agent, from_ana("hi"))
    assert agent.store.turns(agent.name)[0].counts["steps"] == 8


def test_the_limits_are_the_channels_own() -> None:
    agent = agent_of("assistant", scripted(*[said("", call("read_memory")) for _ in range(20)]))
    charter = agent.charter
    channels = {**charter.channels, "web": replace(charter.channels["web"], max_tokens=150)}
    agent = replace(agent, charter=replace(charter, channels=channels))  # type: ignore[type-var]
    with pytest.raises(OverLimit, match="220 tokens were used; 150 tokens are the limit of a turn on web"):
        take_turn(agent, from_ana("hi"))


def test_a_turn_that_takes_too_long_is_over() -> None:
    now = [10**18]

    def clock() -> int:
        now[0] += 200 * 10**9
        return now[0]

    agent = agent_of("assistant", scripted(said("", call("read_memory")), said("late")), clock=clock)
    with pytest.raises(OverLimit, match="300 s are the limit of a turn on web"):
        take_turn(agent, from_ana("hi"))


def test_a_write_that_is_made_twice_in_a_row_is_made_once_and_ends_the_turn() -> None:
    save = call("save_memory", '{"text": "Bees."}')
    looking, provider = Looking(), scripted(said("I keep it.", save), said("", save), said("never"))
    agent = agent_of("assistant", provider)
    turn = take_turn(agent, from_ana("Remember bees"), looking)
    assert [code for _, code in looking.calls] == ["OK", "TOOL_REPEATED"]
    assert (turn.reply, len(provider.requests)) == ("I keep it.", 2)
    assert [note.text for note in agent.store.recent(agent.name, "ana", 5)] == ["Bees."]


def test_a_model_that_goes_in_circles_before_it_said_a_word_is_asked_for_words_once() -> None:
    save = call("save_memory", '{"text": "Bees."}')
    other = call("save_memory", '{"text": "Wasps."}', 2)
    looking, provider = Looking(), scripted(said("", save), said("", save, other), said("I keep it."))
    agent = agent_of("assistant", provider)
    turn = take_turn(agent, from_ana("Remember bees"), looking)
    assert [code for _, code in looking.calls] == ["OK", "TOOL_REPEATED"]
    assert (turn.reply, len(provider.requests)) == ("I keep it.", 3)
    assert [payload.get("tool_choice") for payload in provider.payloads] == [None, None, "none"]
    assert provider.payloads[2]["tools"] == provider.payloads[1]["tools"]  # what is cached stays as it was
    *_, asked, answer = provider.payloads[2]["messages"]
    assert [made["id"] for made in asked["tool_calls"]] == [answer["tool_call_id"]]  # the call behind it was not made
    assert answer["content"] == (
        '{"error": "TOOL_REPEATED", "reason": "this very call was just made; now answer in words, or the turn ends"}'
    )
    assert [note.text for note in agent.store.recent(agent.name, "ana", 5)] == ["Bees."]


def test_a_model_that_goes_on_in_circles_when_it_was_asked_for_words_ends_the_turn() -> None:
    save = call("save_memory", '{"text": "Bees."}')
    looking, provider = Looking(), scripted(said("", save), said("", save), said("", save), said("never"))
    turn = take_turn(agent_of("assistant", provider), from_ana("Remember bees"), looking)
    assert [code for _, code in looking.calls] == ["OK", "TOOL_REPEATED", "TOOL_REPEATED"]
    assert (turn.reply, len(provider.requests)) == ("", 3)


def test_the_same_call_is_made_again_when_something_else_was_done_between() -> None:
    save, read = call("save_memory", '{"text": "Bees."}'), call("read_memory")
    looking = Looking()
    agent = agent_of("assistant", scripted(said("", save), said("", read), said("", save), said("ok")))
    take_turn(agent, from_ana("go"), looking)
    assert [code for _, code in looking.calls] == ["OK", "OK", "OK"]


def test_calls_after_one_that_goes_in_circles_are_not_made() -> None:
    save, other = call("save_memory", '{"text": "Bees."}'), call("save_memory", '{"text": "Wasps."}', 2)
    looking = Looking()
    agent = agent_of("assistant", scripted(said("I keep it.", save), said("", save, other)))
    take_turn(agent, from_ana("Remember bees"), looking)
    assert [code for _, code in looking.calls] == ["OK", "TOOL_REPEATED"]
    assert [note.text for note in agent.store.recent(agent.name, "ana", 5)] == ["Bees."]
