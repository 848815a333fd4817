"""Words after a slash: what the model was told, what is remembered, and what waits for a person."""

from __future__ import annotations

import io
import json
from dataclasses import replace

import pytest
from rich.console import Console

from charter.amend import Edit, amend
from charter.channels.terminal import Terminal
from charter.commands.slash import Chat, run
from charter.core.dialogue import Reply, Usage
from charter.core.incoming import Incoming
from charter.core.policy import Actor
from charter.core.records import Author, Place, Proposal
from charter.folder import load

from .room import AT, MO, calls, keeping, made, talk, tool


def after(said: str) -> list[str]:
    """The lines after the first, which says with whom one talks."""
    return said.splitlines()[1:-1]


@pytest.mark.requirement("N-11")
def test_show_prints_the_prompt_as_it_was_sent_and_nothing_else_does() -> None:
    agent = made("Hi.")
    quiet = talk(agent, "Hello.", "/layers", "/manifest", "/help")
    assert "Warm, brief and exact." not in quiet
    agent = made("Hi.")
    shown = talk(agent, "Hello.", "/show")
    sent = agent.provider.payloads[0]["messages"][0]["content"]  # type: ignore[attr-defined]
    assert "Warm, brief and exact." in shown
    assert [line for line in sent.splitlines() if line and f"▎ {line}" not in shown] == []


@pytest.mark.requirement("N-11")
def test_before_the_first_turn_it_is_what_would_be_sent_and_that_is_said() -> None:
    said = after(talk(made(charter="contract"), "/layers"))
    assert said[0] == "no turn yet: this is what would be sent"
    assert said[1].split() == ["layer", "owner", "version", "bytes", "tokens"]
    assert said[2].split()[:4] == ["L1", "base_system", "sealed", "1.0.0"]
    assert said[-1].split()[:2] == ["whole", "prompt"]


@pytest.mark.requirement("N-11")
def test_layers_and_manifest_say_what_the_record_says() -> None:
    agent = made("Hi.")
    said = talk(agent, "Hello.", "/manifest")
    manifest = json.loads(said[said.index("{") : said.rindex("}") + 1])
    (turn,) = agent.store.turns(agent.name)
    assert manifest == json.loads(turn.manifest)
    rows = [line.split() for line in talk(agent, "/layers").splitlines()]
    entry = manifest["stack"][0]
    assert [entry["layer"], entry["id"], entry["owner"], entry["version"], str(entry["bytes"])] in [
        row[:5] for row in rows
    ]


@pytest.mark.requirement("N-06")
def test_why_tells_what_ended_the_cached_prefix_of_the_last_turn_or_of_one_named() -> None:
    assert after(talk(made(), "/why")) == ["no turn yet; say something first"]
    agent = made(*[Reply("Hi.", usage=Usage(100, 2, 90))] * 2)
    said = after(talk(agent, "One.", "Two.", "/why"))
    first, second = [turn.id for turn in agent.store.turns(agent.name)][::-1]
    assert said[4].startswith(f"turn {second[:12]}")
    assert said[7] == "measured   90 of 100 input tokens from the cache (90.0%)"
    assert "no turn of this sender" in after(talk(agent, f"/why {first}"))[0]


def test_a_word_that_is_no_command_is_said_to_be_none_with_those_there_are() -> None:
    names = "/layers /show /manifest /why /memory /instructions /approve /reject /new /help /quit"
    assert after(talk(made(), "/layer")) == [f"there is no /layer; there are: {names}"]


def test_quit_ends_the_chat_and_what_comes_after_is_not_read() -> None:
    assert "Never." not in talk(made("Never."), "/quit", "Hello?")


def test_help_has_a_line_for_every_command() -> None:
    said = after(talk(made(), "/help"))
    assert [line.split()[0] for line in said[:-1]] == [
        "/layers", "/show", "/manifest", "/why", "/memory", "/instructions", "/approve", "/reject", "/new", "/help",
        "/quit",
    ]  # fmt: skip


# ── what is remembered ────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.requirement("S4-09")
def test_memory_lists_this_persons_notes_and_finds_those_that_fit() -> None:
    agent = made()
    for user, text in (("mo", "The cat is called Biscuit."), ("mo", "Tea at four."), ("eve", "The cat is mine.")):
        agent.store.remember(agent.name, user, text, day="2026-02-25")
    assert after(talk(agent, "/memory")) == ["2026-02-25  Tea at four.", "2026-02-25  The cat is called Biscuit."]
    assert after(talk(agent, "/memory cat")) == ["2026-02-25  The cat is called Biscuit."]
    assert after(talk(agent, "/memory zebra")) == ["no notes that fit"]
    assert after(talk(agent, "/memory", user="zoe")) == ["no notes"]


@pytest.mark.requirement("S4-05", "S4-07")
def test_instructions_are_shown_and_set_by_the_one_they_are_of() -> None:
    agent = made("- Hi.")
    assert after(talk(agent, "/instructions"))[0].startswith("no instructions yet")
    said = after(talk(agent, "/instructions Always in bullets.", "/instructions", "Hello."))
    assert said[:2] == ["instructions are at version 1, used from the next turn on", "Always in bullets."]
    assert "Always in bullets." in agent.provider.payloads[0]["messages"][0]["content"]  # type: ignore[attr-defined]
    (version,) = agent.store.history(load("assistant").stored("instructions", user="mo")[1])
    assert (version.actor, version.by) == ("user", "user:mo")


def test_a_charter_without_instructions_says_so_and_the_chat_goes_on() -> None:
    said = after(talk(made("Hi.", charter="contract"), "/instructions Be kind.", "Hello."))
    assert said[0].startswith("contract has no layer of this name; it has: ")
    assert said[1] == "Hi."


@pytest.mark.requirement("N-18")
def test_new_begins_the_conversation_anew() -> None:
    agent = made("One.", "Two.", "Three.")
    talk(agent, "First.", "Second.", "/new", "Third.")
    texts = [[m["content"] for m in body["messages"][1:]] for body in agent.provider.payloads]  # type: ignore[attr-defined]
    assert texts == [["First."], ["First.", "One.", "Second."], ["Third."]]


# ── what waits ────────────────────────────────────────────────────────────────────────────────────────────────────


def proposed(agent: object, text: str = "Be brief.") -> Proposal:
    store, charter = agent.store, agent.charter  # type: ignore[attr-defined]
    edit = Edit("soul", text, 0, reason="it was asked for")
    made = amend(store, charter, edit, by=Author(Actor.AGENT, turn="t1"), at_ns=AT)
    assert isinstance(made, Proposal)
    return made


@pytest.mark.requirement("N-04")
def test_a_proposal_is_listed_shown_whole_and_applied_after_a_yes() -> None:
    agent = made()
    found = proposed(agent)
    said = after(talk(agent, "/approve", "/approve 1", "/approve 1", answers=["n", "y"]))
    assert said == [
        f"  1  {found.id}  soul@0 by t1 it was asked for",
        "approve or reject one by its number: /approve 1",
        "--- now", "+++ proposed", "@@ -0,0 +1 @@", "+Be brief.", "it still waits; to end it: /reject",
        "--- now", "+++ proposed", "@@ -0,0 +1 @@", "+Be brief.", "applied: soul is at version 1",
    ]  # fmt: skip
    assert agent.store.proposal(found.id).decided_by == "admin:mo"


@pytest.mark.requirement("N-04")
def test_a_number_means_what_was_listed_and_not_what_came_since() -> None:
    agent = made()
    assert after(talk(agent, "/approve 1")) == ["id: 0 that wait begin so; see: /approve"]
    first = proposed(agent, "One.")
    chat = Chat(agent, Incoming(sender="mo"), Terminal(Console(file=io.StringIO()), MO, read=lambda _: "y"))
    run(chat, "/approve")
    sooner = replace(first.place, layer_id="identity")
    agent.store.propose(sooner, "Two.", base_version=0, by=MO, reason="", at_ns=AT - 1, expires_at_ns=AT + 10**12)
    run(chat, "/reject 1")
    assert agent.store.proposal(first.id).state == "rejected"


@pytest.mark.requirement("N-04", "S1-08")
def test_a_proposal_or_a_call_is_rejected_by_how_its_id_begins() -> None:
    agent = made(calls("exec", '{"command": "ls"}'), "So.", tools=tool("exec", keeping([])))
    found = proposed(agent)
    talk(agent, "Run.", answers=[EOFError])
    (call,) = agent.store.approvals(agent.name)
    said = after(talk(agent, f"/reject {found.id[:20]}", f"/reject {call.id}", "/approve", "/reject"))
    assert said == [
        f"rejected: {found.id}", f"rejected: {call.id}", "nothing waits",
        "id: name one of those that wait; see: /approve",
    ]  # fmt: skip
    assert agent.store.head(Place("assistant", "soul")) is None


@pytest.mark.requirement("S1-08")
def test_a_call_that_waits_is_shown_with_its_arguments_approved_and_made_once_when_asked_again() -> None:
    done: list[object] = []
    call = calls("exec", '{"command": "ls"}')
    agent = made(call, "It waits.", call, "Done.", call, "No.", tools=tool("exec", keeping(done)))
    talk(agent, "Run.", answers=[EOFError])
    said = after(talk(agent, "/approve", "/approve 1", answers=["y"]))
    assert said[0].endswith('call of exec for mo: {"command": "ls"}')
    assert said[2:] == ["exec", "{", '  "command": "ls"', "}", "approved; exec may be called so once: ask for it again"]
    talk(agent, "Run it again.", "And again.", answers=["n"])
    assert done == [{"command": "ls"}]


@pytest.mark.requirement("S1-08")
def test_what_was_erased_cannot_be_approved_because_nobody_can_see_it() -> None:
    from charter.stores.people import forget

    agent = made(calls("exec", '{"to": "x"}'), "So.", tools=tool("exec", keeping([])))
    talk(agent, "Run.", answers=[EOFError])
    (call,) = agent.store.approvals(agent.name)
    forget(agent.store.db, "mo", by=MO, at_ns=AT)  # type: ignore[attr-defined]
    said = after(talk(agent, f"/approve {call.id}", answers=["y"]))
    assert len(said) == 1
    assert said[0].startswith("id: ")
