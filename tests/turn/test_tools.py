"""Tools in a turn: each call passes the gate, acts for who speaks, and writes at the turn's end or not at all."""

from __future__ import annotations

import json
from typing import Any

import pytest

from charter.app import toolbox
from charter.core.errors import ConfigError, ProviderDown
from charter.core.records import Head, Place
from charter.folder import load
from charter.tools import tool
from charter.turn import take_turn

from .places import Looking, agent_of, call, from_ana, from_operator, said, scripted


def amend(layer: object, content: str, number: int = 1) -> Any:
    return call("update_prompt_layer", json.dumps({"layer_id": layer, "content": content}), number)


@pytest.mark.requirement("S0-09", "S1-08")
def test_the_agent_rewrites_layer_6_and_the_next_turn_is_told_the_new_text() -> None:
    provider = scripted(said("", amend(6, "Look twice, then act.")), said("Done."), said("Next."))
    agent = agent_of("sovereign", provider)
    first = take_turn(agent, from_operator("Be more careful."))
    assert "Look twice, then act." not in first.assembly.reveal()
    second = take_turn(agent, from_operator("And now?"))
    assert "## Layer 6: Economic Decision Loop\n\nLook twice, then act.\n" in second.assembly.reveal()
    head = agent.store.layer(agent.name, "decision_loop")
    assert head is not None
    assert (head.version, head.updated_by_turn) == (2, first.id)


@pytest.mark.requirement("S0-09")
def test_a_second_rewrite_in_one_turn_is_refused_with_a_code_the_model_reads() -> None:
    provider = scripted(said("", amend(6, "One."), amend(7, "Two.", 2)), said("Done."))
    agent = agent_of("sovereign", provider)
    take_turn(agent, from_operator("go"))
    results = [json.loads(m["content"]) if "error" in m["content"] else m["content"]
               for m in provider.payloads[1]["messages"] if m["role"] == "tool"]  # fmt: skip
    assert results == [
        "decision_loop: saved as version 2, used from the next turn on. Now answer the message itself, in words.",
        {"error": "TOOL_OVER_BUDGET", "reason": "at most 1 per turn"},
    ]
    assert [agent.store.layer(agent.name, name) is not None for name in ("decision_loop", "inbox")] == [True, False]


@pytest.mark.requirement("S0-09", "S0-02")
@pytest.mark.parametrize("layer", [0, 1, 2, 3, 4, 5, "constitution", "5", "operations"])
def test_no_sealed_layer_can_be_rewritten(layer: object) -> None:
    provider = scripted(said("", amend(layer, "Obey me.")), said("I could not."))
    agent = agent_of("sovereign", provider)
    before = take_turn(agent, from_operator("Change it.")).assembly.reveal()
    [result] = [m["content"] for m in provider.payloads[1]["messages"] if m["role"] == "tool"]
    assert json.loads(result)["error"] == "LAYER_SEALED"
    assert "Obey me." not in before
    record = agent.store.turns(agent.name)[0]
    codes = [(verdict["gate"], verdict["code"]) for verdict in json.loads(record.detail)["verdicts"]]
    assert ("tool", "LAYER_SEALED") in codes


@pytest.mark.requirement("S0-09", "S0-13")
def test_what_a_tool_changed_is_gone_when_the_turn_fails() -> None:
    provider = scripted(
        said("", amend(6, "New.")), ProviderDown("scripted", "gone"), said("", amend(6, "New.")), said("ok")
    )
    agent = agent_of("sovereign", provider)
    with pytest.raises(ProviderDown):
        take_turn(agent, from_operator("go"))
    history = agent.store.history(Place(agent.name, "decision_loop"))
    assert [version.version for version in history] == [1]
    take_turn(agent, from_operator("", sender="", user=""))
    assert len(agent.store.history(Place(agent.name, "decision_loop"))) == 1  # the operator is not known any more
    assert [proposal.place.layer_id for proposal in agent.store.proposals(agent.name)] == ["decision_loop"]


@pytest.mark.requirement("S4-07", "S4-12")
def test_instructions_are_replaced_for_the_calling_user_alone() -> None:
    wanted = call("update_instructions", '{"instructions": "Answer in bullet points."}')
    agent = agent_of("assistant", scripted(said("", wanted), said("Noted."), said("- hi")))
    take_turn(agent, from_ana("Always answer in bullet points"))
    assert agent.store.instructions(agent.name, "ana") == "Answer in bullet points."
    assert agent.store.instructions(agent.name, "bo") == ""
    head = agent.store.head(Place(agent.name, "instructions", "ana", Head.INSTRUCTIONS))
    assert head is not None
    assert (head.version, head.updated_by_turn) == (1, "user:ana")
    assert "> Answer in bullet points." in take_turn(agent, from_ana("hi")).assembly.reveal()


@pytest.mark.requirement("S4-07", "S4-09")
@pytest.mark.parametrize("name", ["update_instructions", "save_memory", "read_memory"])
def test_no_argument_can_name_another_user(name: str) -> None:
    arguments = {"instructions": "x", "text": "x", "query": "x", "user": "bo", "user_id": "bo", "agent": "other"}
    provider = scripted(said("", call(name, json.dumps(arguments))), said("ok"))
    agent = agent_of("assistant", provider)
    take_turn(agent, from_ana("hi"))
    [result] = [m["content"] for m in provider.payloads[1]["messages"] if m["role"] == "tool"]
    assert json.loads(result)["error"] == "TOOL_BAD_ARGUMENTS"
    assert agent.store.instructions(agent.name, "bo") == ""
    assert list(agent.store.recent(agent.name, "bo", 5)) == []


@pytest.mark.requirement("S4-09", "S4-05", "N-10")
def test_a_note_is_kept_for_the_user_and_found_again_and_never_in_the_prompt() -> None:
    provider = scripted(
        said("", call("save_memory", '{"text": "Ana keeps bees."}')),
        said("Saved."),
        said("", call("read_memory", '{"query": "bees"}')),
        said("You keep bees."),
    )
    agent = agent_of("assistant", provider)
    take_turn(agent, from_ana("Remember that I keep bees"))
    [note] = agent.store.recent(agent.name, "ana", 5)
    assert (note.text, note.day) == ("Ana keeps bees.", "2026-02-26")
    assert (note.provenance.said_by, note.provenance.source_class, note.provenance.source) == (
        "ana",
        "user",
        "user:ana",
    )
    agent.store.fresh_start(agent.name, "ana", 1)
    turn = take_turn(agent, from_ana("What do I keep?"))
    assert "bees" not in turn.assembly.reveal()
    [result] = [m["content"] for m in provider.payloads[3]["messages"] if m["role"] == "tool"]
    assert '- [2026-02-26] "Ana keeps bees."' in result


def test_a_note_of_this_very_turn_is_found_in_it() -> None:
    provider = scripted(
        said("", call("save_memory", '{"text": "Ana keeps bees."}'), call("read_memory", '{"query": "bees"}', 2)),
        said("ok"),
    )
    take_turn(agent_of("assistant", provider), from_ana("Remember it"))
    results = [m["content"] for m in provider.payloads[1]["messages"] if m["role"] == "tool"]
    assert "Ana keeps bees." in results[1]


@pytest.mark.requirement("S1-08")
@pytest.mark.parametrize(
    ("name", "arguments", "code"),
    [
        ("launch", "{}", "TOOL_UNKNOWN"),
        ("save_memory", "not json", "TOOL_BAD_ARGUMENTS"),
        ("save_memory", '["text"]', "TOOL_BAD_ARGUMENTS"),
        ("save_memory", "{}", "TOOL_BAD_ARGUMENTS"),
        ("save_memory", '{"text": ""}', "TOOL_BAD_ARGUMENTS"),
    ],
)
def test_a_call_that_cannot_be_made_is_answered_with_a_code_and_the_turn_goes_on(
    name: str, arguments: str, code: str
) -> None:
    provider = scripted(said("", call(name, arguments)), said("I see."))
    turn = take_turn(agent_of("assistant", provider), from_ana("go"))
    [result] = [m["content"] for m in provider.payloads[1]["messages"] if m["role"] == "tool"]
    assert json.loads(result)["error"] == code
    assert turn.reply == "I see."


@tool(kind="READ")
def tide(harbor: str) -> str:
    """When the tide is high."""
    return f"{harbor}: six"


@pytest.mark.requirement("S1-08")
def test_a_function_of_ones_own_is_a_tool_under_the_same_gate() -> None:
    provider = scripted(said("", call("tide", '{"harbor": "Porto"}')), said("At six."))
    agent = agent_of("assistant", provider, tools=toolbox(load("assistant"), [tide]))
    looking = Looking()
    take_turn(agent, from_ana("When?"), looking)
    assert looking.calls == [("tide", "OK")]
    assert looking.answers == ["Porto: six"]
    assert "tide" in [row["function"]["name"] for row in provider.payloads[0]["tools"]]


@pytest.mark.requirement("S1-08")
@pytest.mark.parametrize(("kind", "code"), [("WRITE", "TOOL_NEEDS_APPROVAL"), ("EXECUTE", "TOOL_NEEDS_APPROVAL")])
def test_what_changes_the_world_waits_for_a_person(kind: Any, code: str) -> None:
    ran: list[str] = []

    @tool(kind=kind)
    def send(to: str) -> str:
        """Sends a letter."""
        ran.append(to)
        return "sent"

    provider = scripted(said("", call("send", '{"to": "bo"}')), said("It waits."))
    agent = agent_of("assistant", provider, tools=toolbox(load("assistant"), [send]))
    take_turn(agent, from_ana("Write to Bo"))
    assert ran == []
    [waiting] = agent.store.approvals(agent.name, "open")
    assert (waiting.tool, waiting.arguments, waiting.user) == ("send", '{"to": "bo"}', "ana")


def test_a_row_of_the_charter_that_nobody_provides_is_an_error(tmp_path: Any) -> None:
    import shutil

    from charter.folder import find

    folder = tmp_path / "mine"
    shutil.copytree(find("assistant"), folder, ignore=shutil.ignore_patterns("charter.lock"))
    config = folder / "charter.toml"
    config.write_text(config.read_text() + '\n[[tool]]\nname = "launch"\nkind = "EXECUTE"\n')
    with pytest.raises(ConfigError, match="nobody provides the tool 'launch'; hand it in as tools="):
        toolbox(load(folder))


@pytest.mark.requirement("S4-09")
def test_read_memory_gives_long_instructions_in_full() -> None:
    provider = scripted(said("", call("read_memory")), said("ok"))
    agent = agent_of("assistant", provider)
    wanted = "Be brief. " * 3000
    agent.store.set_instructions(agent.name, "ana", wanted)  # type: ignore[attr-defined]
    take_turn(agent, from_ana("What did I ask of you?"))
    [result] = [m["content"] for m in provider.payloads[1]["messages"] if m["role"] == "tool"]
    assert wanted.strip() in result
