"""A program talks with an agent: messages in, replies out, and a code that says how it went."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest
import typer

from charter import cli
from charter.agent import Agent
from charter.commands import chat
from charter.core.errors import ProviderDown
from charter.core.policy import ToolClass
from test_cli import Ran, Run, run

from .room import calls, keeping, made, tool
from .test_chat import press

__all__ = ["run"]  # the fixture, used by name

Chat = Callable[..., Ran]


@pytest.fixture
def once(run: Run, monkeypatch: pytest.MonkeyPatch) -> Chat:
    """Runs `charter chat` over this agent, with this on its standard input."""
    top = typer.Typer(rich_markup_mode=None, pretty_exceptions_enable=False)
    top.add_typer(chat.app)
    top.command("other")(lambda: None)
    monkeypatch.setattr(cli, "app", top)
    monkeypatch.setattr("getpass.getuser", lambda: "mo")

    def ran(agent: Agent, *arguments: str, stdin: str = "") -> Ran:
        @contextmanager
        def running(target: str, *, approver: Any, **_: Any) -> Iterator[Agent]:
            yield replace(agent, approver=approver)

        monkeypatch.setattr("charter.app.running", running)
        monkeypatch.setattr(sys, "stdin", io.StringIO(stdin))
        return run("chat", *arguments)

    return ran


@pytest.mark.requirement("N-16")
def test_once_prints_the_reply_and_nothing_else(once: Chat) -> None:
    assert once(made("Two things.\n\n- tea\n- tides"), "--once", "What is due?") == (
        0,
        "Two things.\n\n- tea\n- tides\n",
        "",
    )


@pytest.mark.requirement("N-16", "S0-13")
def test_once_that_failed_says_why_on_stderr_and_exits_1(once: Chat) -> None:
    agent = made(ProviderDown("scripted", "cannot be reached at 127.0.0.1:1", "check the network"))
    said = "error: scripted: cannot be reached at 127.0.0.1:1; check the network; the message waits\n"
    assert once(agent, "--once", "Hi.") == (1, "", said)


@pytest.mark.requirement("S3-10")
def test_once_without_a_reply_prints_nothing_and_exits_3(once: Chat) -> None:
    assert once(made(""), "--once", "Hi.") == (3, "", "")


def test_once_that_was_cancelled_exits_130(once: Chat) -> None:
    assert once(made(press), "--once", "Hi.") == (130, "", "error: cancelled; the message waits\n")


def test_a_dash_is_all_of_standard_input_as_one_message(once: Chat) -> None:
    agent = made("Read.")
    assert once(agent, "--once", "-", stdin="One.\n\nTwo.\n").out == "Read.\n"
    assert agent.provider.payloads[0]["messages"][-1]["content"] == "One.\n\nTwo."  # type: ignore[attr-defined]


@pytest.mark.parametrize("text", ["", "  \n"])
def test_a_message_of_nothing_is_an_error_and_no_turn_of_the_agents_own(once: Chat, text: str) -> None:
    agent = made("Never.")
    assert once(agent, "--once", text) == (
        2,
        "",
        "error: --once: a message has 1 to 1,000,000 characters; this one has 0\n",
    )
    assert agent.store.turns(agent.name) == []


@pytest.mark.requirement("N-16")
def test_each_line_of_a_pipe_is_a_message_in_one_conversation(once: Chat) -> None:
    agent = made("One.", "Two.")
    assert once(agent, stdin="First.\n\n  \nSecond.") == (0, "One.\nTwo.\n", "")
    sent = agent.provider.payloads[1]["messages"][1:]  # type: ignore[attr-defined]
    assert [message["content"] for message in sent] == ["First.", "One.", "Second."]


@pytest.mark.requirement("S0-13")
def test_a_pipe_stops_at_the_turn_that_failed(once: Chat) -> None:
    agent = made("One.", ProviderDown("scripted", "down"), "Never.")
    assert once(agent, stdin="First.\nSecond.\nThird.\n")[:2] == (1, "One.\n")
    assert [message.body for message in agent.store.staged(agent.name)] == ["Second."]


@pytest.mark.requirement("N-04", "N-09")
def test_a_line_of_a_pipe_is_never_a_command_nor_the_operators_word(once: Chat) -> None:
    agent = made("A word.", "Typed.")
    once(agent, stdin="/approve 1\n")
    once(agent, "--once", "Typed.")
    typed, piped = (json.loads(turn.detail)["asked"] for turn in agent.store.turns(agent.name))
    assert agent.provider.payloads[0]["messages"][-1]["content"] == "/approve 1"  # type: ignore[attr-defined]
    assert "operator" not in piped
    assert typed["operator"] is True


@pytest.mark.requirement("N-01", "S1-08")
def test_json_is_one_object_a_turn_with_its_record_and_the_verdict_of_every_call(once: Chat) -> None:
    look = tool("look", keeping([]), ToolClass.READ)
    agent = made(calls("look", '{"at": "x"}'), calls("jump"), "Done.", "", tools=look)
    ran = once(agent, "--json", stdin="Look.\nAnd?\n")
    first, second = map(json.loads, ran.out.splitlines())
    turn = agent.store.turns(agent.name)[1]
    assert first == {
        "reply": "Done.", "outcome": "done", "code": "OK", "turn": turn.id, "stack_sha256": turn.stack_sha256,
        "usage": {"input": 200, "output": 10, "cached": None},
        "calls": [{"name": "look", "decision": "allow", "code": "OK"},
                  {"name": "jump", "decision": "deny", "code": "TOOL_UNKNOWN"}],
    }  # fmt: skip
    assert (second["reply"], second["outcome"], second["calls"], ran.code) == ("", "silent", [], 0)


@pytest.mark.requirement("S0-13")
def test_json_of_a_failed_turn_has_its_code_and_the_id_its_record_has(once: Chat) -> None:
    agent = made(ProviderDown("scripted", "down", "try again"))
    ran = once(agent, "--once", "Hi.", "--json")
    (turn,) = agent.store.turns(agent.name)
    assert json.loads(ran.out) == {
        "reply": "", "outcome": "failed", "code": "PROVIDER_DOWN", "problem": "scripted: down; try again",
        "waits": True, "turn": turn.id, "stack_sha256": "", "usage": {}, "calls": [],
    }  # fmt: skip
    assert (ran.code, turn.code) == (1, "PROVIDER_DOWN")


@pytest.mark.requirement("S1-08")
def test_nobody_is_asked_through_a_pipe_the_call_waits_and_that_is_said_on_stderr(once: Chat) -> None:
    done: list[Any] = []
    agent = made(calls("exec", '{"command": "ls"}'), "It waits.", tools=tool("exec", keeping(done)))
    ran = once(agent, "--once", "Run.")
    (call,) = agent.store.approvals(agent.name)
    assert ran == (0, "It waits.\n", f"a call of exec waits for a person: charter approvals {call.id}\n")
    assert (done, call.state) == ([], "open")


@pytest.mark.requirement("S1-08")
def test_yes_to_a_tool_said_on_the_command_line_is_a_yes_through_a_pipe_too(once: Chat) -> None:
    done: list[Any] = []
    agent = made(calls("exec"), "Done.", tools=tool("exec", keeping(done)))
    assert once(agent, "--once", "Run.", "--yes-to", "exec") == (0, "Done.\n", "")
    assert done == [{}]


@pytest.mark.requirement("S4-07")
def test_the_one_who_speaks_is_the_one_named_else_whoever_is_at_the_machine(once: Chat) -> None:
    agent = made("One.", "Two.")
    once(agent, "--once", "Hi.", "--user", "zoe")
    once(agent, "--once", "Hi.")
    assert [(turn.sender, turn.user) for turn in agent.store.turns(agent.name)] == [("mo", "mo"), ("zoe", "zoe")]


def test_a_folder_that_is_not_there_is_an_error_before_anything_happens(once: Chat) -> None:
    ran = once(made(), "--once", "Hi.", "--workspace", "/nowhere/at/all")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith("error: /nowhere/at/all: missing, needed by the folder named on the command line")


def test_a_reply_in_a_pipe_can_do_nothing_to_the_terminal_at_its_end_and_json_has_it_as_it_is(once: Chat) -> None:
    agent = made("\x1b[1mbold", "\x1b[1mbold")
    assert once(agent, "--once", "Hi.").out == "␛[1mbold\n"
    assert json.loads(once(agent, "--once", "Hi.", "--json").out)["reply"] == "\x1b[1mbold"
    assert agent.store.unsent(agent.name) == []
