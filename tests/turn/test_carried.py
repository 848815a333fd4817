"""A caller that keeps its own chat: nothing of it is staged, cut or read from the store, and its tools are its own."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from charter.core.carried import Carried, with_options
from charter.core.dialogue import Said, ToolCall
from charter.core.errors import BadValue, Busy, OverLimit, Paused
from charter.core.incoming import Incoming
from charter.core.payload import DIALECTS
from charter.core.policy import Actor
from charter.core.ports import ToolSpec
from charter.core.records import Author, InboxMessage
from charter.folder import load
from charter.kept import read_back
from charter.replay import replay
from charter.turn import take_turn

from .places import AT, CHARTERS, Looking, agent_of, call, from_ana, said, scripted

pytestmark = pytest.mark.requirement("N-13")
WEATHER = ToolSpec("weather", "The weather.", {"type": "object", "properties": {"town": {"type": "string"}}})
SAVE = call("save_memory", '{"text": "likes tea"}', 9)
LOOK = call("weather", '{"town": "Porto"}')


def carried(text: str = "Hello", **more: Any) -> Incoming:
    return from_ana(text, carried=Carried(**more))


def sent(provider: Any, number: int = 0) -> list[tuple[str, str]]:
    return [(message["role"], message["content"]) for message in provider.payloads[number]["messages"][1:]]


def test_its_chat_is_sent_instead_of_ours_each_word_defused() -> None:
    provider = scripted(said("One."), said("Two."))
    agent = agent_of("assistant", provider)
    take_turn(agent, from_ana("stored before"))
    before = (Said("user", "<|im_start|>hi"), Said("assistant", "hello </think>"))
    take_turn(agent, carried("now", before=before))
    assert sent(provider, 1) == [("user", "&lt;|im_start|>hi"), ("assistant", "hello &lt;/think>"), ("user", "now")]


def test_the_contract_frames_its_past_messages_too() -> None:
    provider = scripted(said("Two."))
    take_turn(agent_of("contract", provider), carried("now", before=(Said("user", "a\nb"),)))
    assert sent(provider) == [("user", "> a\n> b"), ("user", "> now")]


@pytest.mark.parametrize("name", CHARTERS)
def test_nothing_is_staged_taken_or_sent_and_the_log_has_the_exchange(name: str) -> None:
    agent = agent_of(name, scripted(said("Good.")))
    waiting = InboxMessage("w", "ana", "I wait.", 1, "web", "ana")
    agent.store.stage(agent.name, waiting)
    turn = take_turn(agent, replace(carried("Hello"), id="m-1"))
    assert (turn.outcome, turn.reply, turn.calls) == ("done", "Good.", ())
    assert list(agent.store.staged(agent.name)) == [waiting]
    assert list(agent.store.unsent(agent.name)) == []
    log = agent.store.conversation(agent.name, "ana")
    assert log is not None
    assert [(one.inbox_message_id, one.sender_body, one.agent_reply) for one in log.entries] == [
        ("m-1", "Hello", "Good.")
    ]


@pytest.mark.requirement("S0-15")
@pytest.mark.parametrize(("name", "other_is_busy"), [("assistant", False), ("sovereign", True)])
def test_it_takes_the_lane_of_its_sender_or_of_the_whole_agent(name: str, other_is_busy: bool) -> None:
    seen: list[str] = []

    def meanwhile(_: Any) -> Any:
        for sender in ("ana", "bo"):
            try:
                take_turn(agent, replace(carried("again"), sender=sender, user=sender))
                seen.append(f"{sender} spoke")
            except Busy:
                seen.append(f"{sender} waits")
        return said("Done.")

    agent = agent_of(name, scripted(meanwhile, said("Me too.")))
    take_turn(agent, carried("Hello"))
    assert seen == ["ana waits", "bo waits" if other_is_busy else "bo spoke"]


def test_a_paused_agent_stages_nothing_of_it() -> None:
    agent = agent_of("assistant", scripted())
    agent.store.pause(agent.name, by=Author(Actor.OPERATOR, "root"), at_ns=1)
    with pytest.raises(Paused):
        take_turn(agent, carried("Hello"))
    assert list(agent.store.staged(agent.name)) == []


def test_a_chat_without_a_message_is_an_error() -> None:
    with pytest.raises(BadValue):
        take_turn(agent_of("assistant", scripted()), carried(" "))


def test_a_chat_that_does_not_fit_is_refused_and_never_cut() -> None:
    provider = scripted(said("Fine."), said("Fine."), window=4000)
    agent = agent_of("assistant", provider, max_reply_tokens=200)
    long = tuple(Said("user", f"message {number} " + "word " * 100) for number in range(60))
    with pytest.raises(OverLimit):
        take_turn(agent, carried("now", before=long))
    take_turn(agent, carried("now", before=long[:10]))
    assert len(sent(provider)) == 11


# ── its tools ─────────────────────────────────────────────────────────────────────────────────────────────────────


def test_calls_of_its_tools_are_handed_back_and_nothing_runs() -> None:
    looking, again = Looking(), replace(LOOK, id="call_2")
    agent = agent_of("assistant", scripted(said("Let me look.", LOOK, again)))
    turn = take_turn(agent, carried(tools=(WEATHER,)), looking)
    assert (turn.outcome, turn.code, turn.reply, turn.calls) == ("done", "TOOL_CALLS", "Let me look.", (LOOK, again))
    assert looking.calls == [("weather", "OK"), ("weather", "OK")]
    assert looking.answers == []


def test_of_a_caller_that_wants_one_call_at_a_time_only_the_first_goes_back() -> None:
    agent = agent_of("assistant", scripted(said("", LOOK, replace(LOOK, id="call_2"))))
    turn = take_turn(agent, carried(tools=(WEATHER,), options={"parallel_tool_calls": False}))
    assert turn.calls == (LOOK,)


def test_in_one_reply_with_ours_ours_run_and_theirs_are_asked_for_again() -> None:
    provider = scripted(said("", SAVE, LOOK), said("", LOOK))
    turn = take_turn(agent_of("assistant", provider), carried(tools=(WEATHER,)))
    results = [message for message in provider.payloads[1]["messages"] if message["role"] == "tool"]
    assert "TOOL_LATER" not in results[0]["content"]
    assert json.loads(results[1]["content"])["error"] == "TOOL_LATER"
    assert turn.calls == (replace(LOOK, id=turn.calls[0].id),)


def test_without_that_tool_among_its_own_the_call_is_denied_and_goes_nowhere() -> None:
    provider = scripted(said("", LOOK), said("I cannot look."))
    turn = take_turn(agent_of("assistant", provider), carried())
    assert (turn.calls, turn.code, turn.reply) == ((), "OK", "I cannot look.")
    assert "TOOL_UNKNOWN" in provider.payloads[1]["messages"][-1]["content"]


@pytest.mark.parametrize("arguments", ["not json", "[1]"])
def test_a_call_that_cannot_be_read_does_not_leave_and_holds_the_others_back(arguments: str) -> None:
    bad = ToolCall("call_2", "weather", arguments)
    provider = scripted(said("", LOOK, bad), said("Sorry."))
    turn = take_turn(agent_of("assistant", provider), carried(tools=(WEATHER,)))
    codes = [json.loads(one["content"])["error"] for one in provider.payloads[1]["messages"] if one["role"] == "tool"]
    assert (turn.calls, codes) == ((), ["TOOL_LATER", "TOOL_BAD_ARGUMENTS"])


@pytest.mark.requirement("N-08")
def test_hidden_text_does_not_leave_in_the_arguments_of_such_a_call() -> None:
    rules = load("contract").home.text("prompts/tools/default.md").split("---\n", 2)[2].strip()
    leak = ToolCall("call_1", "weather", json.dumps({"town": rules}))
    provider = scripted(said("", leak), said("Sorry."))
    turn = take_turn(agent_of("contract", provider), carried(tools=(WEATHER,)))
    assert turn.calls == ()
    assert "TOOL_LEAKS" in provider.payloads[1]["messages"][-1]["content"]


@pytest.mark.requirement("N-08")
def test_the_agents_own_layers_may_stand_in_its_own_calls_and_not_in_the_callers() -> None:
    own = load("sovereign").home.text("layers/06-decision_loop.md").strip()
    kept, leak = (
        call("save_memory", json.dumps({"text": own})),
        ToolCall("call_2", "weather", json.dumps({"town": own})),
    )
    provider = scripted(said("", kept), said("", leak), said("Sorry."))
    turn = take_turn(agent_of("sovereign", provider), carried(tools=(WEATHER,)))
    said_back = [one["content"] for one in provider.payloads[2]["messages"] if one["role"] == "tool"]
    assert "TOOL_LEAKS" not in said_back[0]
    assert ("TOOL_LEAKS" in said_back[1], turn.calls) == (True, ())


@pytest.mark.requirement("N-08")
def test_words_before_a_call_are_screened_and_take_the_call_with_them() -> None:
    rules = load("contract").home.text("prompts/tools/default.md").split("---\n", 2)[2].strip()
    agent = agent_of("contract", scripted(said(rules, LOOK)))
    turn = take_turn(agent, carried(tools=(WEATHER,)))
    assert (turn.outcome, turn.reply, turn.calls) == ("refused", agent.charter.refusal, ())


def test_a_name_that_the_agent_has_already_is_refused() -> None:
    provider = scripted()
    with pytest.raises(BadValue, match="save_memory"):
        take_turn(agent_of("assistant", provider), carried(tools=(ToolSpec("save_memory"),)))
    assert provider.payloads == []


TALK = (Said("assistant", "", (LOOK,)), Said("tool", "rain", call_id="call_1", name="weather"))


@pytest.mark.requirement("N-09")
@pytest.mark.parametrize("where", ["before", "after"])
def test_what_its_tools_answered_taints_the_turn(where: str) -> None:
    agent = agent_of("assistant", scripted(said("", SAVE), said("Noted.")))
    talk: dict[str, Any] = {where: TALK}
    turn = take_turn(agent, carried(tools=(WEATHER,), **talk))
    detail = json.loads(turn.record.detail)
    assert detail["foreign"] == ["tool:caller"]
    assert ("TOOL_TAINTED" in [row["code"] for row in detail["verdicts"]]) is True


@pytest.mark.requirement("N-09")
def test_a_chat_without_answers_of_tools_taints_nothing() -> None:
    agent = agent_of("assistant", scripted(said("", SAVE), said("Noted.")))
    turn = take_turn(agent, carried(tools=(WEATHER,), before=(Said("user", "hi"), Said("assistant", "ho"))))
    assert json.loads(turn.record.detail)["foreign"] == []
    assert [note.text for note in agent.store.recent(agent.name, "ana", 5)] == ["likes tea"]


@pytest.mark.parametrize("dialect", DIALECTS)
def test_its_calls_and_answers_reach_every_wire(dialect: str) -> None:
    provider = scripted(said("It rains."), dialect=dialect)
    take_turn(agent_of("assistant", provider), carried(after=TALK, tools=(WEATHER,)))
    wire = json.dumps(provider.payloads[0])
    assert wire.index("Hello") < wire.index("rain")
    assert ("Porto" in wire) is (dialect != "completion")


def test_a_model_without_tool_calling_reads_calls_and_answers_as_words() -> None:
    provider = scripted(said("It rains."), native_tools=False)
    take_turn(agent_of("gateway", provider), carried(after=TALK, tools=(WEATHER,)))
    assert sent(provider)[1:] == [
        ("assistant", '{"tool": "weather", "arguments": {"town": "Porto"}}'),
        ("user", "Result of the tool weather:\n> rain"),
    ]


# ── its options ───────────────────────────────────────────────────────────────────────────────────────────────────

EVERY: dict[str, Any] = {
    "temperature": 1.5, "top_p": 0.5, "top_k": 3, "stop": ["x"], "seed": 1, "presence_penalty": 1,
    "frequency_penalty": 1, "parallel_tool_calls": False,
}  # fmt: skip


@pytest.mark.parametrize(
    ("dialect", "left_out"),
    [
        ("openai", {"top_k"}),
        ("openai-responses", {"top_k", "stop", "seed", "presence_penalty", "frequency_penalty"}),
        ("completion", {"top_k", "parallel_tool_calls"}),
    ],
)
def test_a_dialect_gets_the_values_it_has_a_place_for(dialect: str, left_out: set[str]) -> None:
    kept = {name: value for name, value in EVERY.items() if name not in left_out}
    assert with_options(dialect, {"stream": True}, EVERY) == {"stream": True, **kept}


def test_anthropic_and_ollama_name_them_in_their_own_way() -> None:
    own = {"temperature": 1, "top_p": 0.5, "top_k": 3, "stop_sequences": ["x"]}
    assert with_options("anthropic", {}, EVERY) == own
    nested = {name: value for name, value in EVERY.items() if name != "parallel_tool_calls"}
    given = {"stream": False, "options": {"num_ctx": 9}}
    assert with_options("ollama", given, EVERY) == {"stream": False, "options": {"num_ctx": 9, **nested}}


def test_a_tool_that_must_be_called_is_an_error_where_no_model_can_be_made_to() -> None:
    for dialect in ("ollama", "completion"):
        with pytest.raises(BadValue):
            with_options(dialect, {}, {"tool_choice": "weather"})
    assert with_options("anthropic", {}, {"tool_choice": ""}) == {"tool_choice": {"type": "any"}}
    named = {"type": "function", "function": {"name": "weather"}}
    assert with_options("openai", {}, {"tool_choice": "weather"}) == {"tool_choice": named}


@pytest.mark.parametrize(("wanted", "most"), [(5, 5), (5000, 1024), (None, 1024)])
def test_a_reply_may_be_shorter_than_the_agents_and_never_longer(wanted: int | None, most: int) -> None:
    provider = scripted(said("A."), dialect="anthropic")
    take_turn(agent_of("assistant", provider), carried(max_tokens=wanted))
    assert provider.payloads[0]["max_tokens"] == most


def test_no_word_of_it_is_kept_in_the_record() -> None:
    options = {"stop": ["zebra-quartz"], "temperature": 0.5}
    before = (Said("user", "zebra-quartz"), Said("assistant", "zebra-quartz"))
    agent = agent_of("assistant", scripted(said("A.")))
    turn = take_turn(agent, carried("zebra-quartz", system="zebra-quartz", before=before, options=options))
    assert "zebra" not in turn.record.detail + turn.record.manifest + repr(turn) + repr(carried(system="zebra"))
    assert json.loads(turn.record.detail)["sent"]["temperature"] == 0.5


def test_a_charter_without_a_place_for_a_callers_text_refuses_it_and_never_drops_it() -> None:
    provider = scripted(said("A."))
    agent = agent_of("assistant", provider)
    bare = replace(agent, charter=replace(load("assistant"), guest=None))
    with pytest.raises(BadValue, match="no place"):
        take_turn(bare, carried(system="Be brief."))
    assert provider.payloads == []
    assert take_turn(agent, carried(system="Be brief.")).reply == "A."


@pytest.mark.parametrize("operator", [True, False])
@pytest.mark.parametrize("name", CHARTERS)
def test_replay_names_what_only_the_caller_has(name: str, operator: bool) -> None:
    agent = agent_of(name, scripted(said("Good.")), world={"given": {"no_host": True}})
    store: Any = agent.store
    asked = replace(carried("Hello", system="Be brief.", before=(Said("user", "hi"),)), operator=operator, at=AT)
    kept = read_back(take_turn(agent, asked).record)
    charter: Any = agent.charter
    found = replay(store, charter, kept)
    unproved = {proof.what: proof.reason for proof in (*found.layers, *found.whole) if not proof.proved}
    place = {"contract": "task_instruction" if operator else "user_input"}.get(name, "caller")
    assert "what the calling application asked for is not kept" in unproved[place]
    assert unproved["messages"] == "the caller kept its chat; of its messages only hashes are kept"
    assert unproved["request"].startswith("not tried")
    assert not [reason for reason in unproved.values() if "cannot be built" in reason]
