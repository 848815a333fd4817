"""The stop switch, the day's limits, and calls that wait: from the command line, and each also as JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import typer

from charter import cli
from charter.agent import new_id
from charter.app import now_ns
from charter.commands import control
from charter.core.errors import OverSpend, Paused
from charter.core.incoming import Incoming
from charter.core.records import Approval
from charter.stores.store import SqlStore
from charter.turn import take_turn
from test_cli import Ran, Run, run

from .room import made

__all__ = ["run"]  # the fixture, used by name


@pytest.fixture(autouse=True)
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SqlStore:
    """The store of this installation, and the commands of this page alone."""
    top = typer.Typer(rich_markup_mode=None, pretty_exceptions_enable=False)
    top.add_typer(control.app)
    monkeypatch.setattr(cli, "app", top)
    monkeypatch.setenv("CHARTER_HOME", str(tmp_path / "home"))
    monkeypatch.setattr("getpass.getuser", lambda: "mo")
    from charter.app import open_store

    return open_store()


def ok(ran: Ran) -> str:
    assert (ran.code, ran.err) == (0, "")
    return ran.out


def waiting(store: SqlStore, name: str = "a1b2", **parts: Any) -> Approval:
    given = {"turn_id": "t1", "tool": "exec", "arguments": '{"command": "ls \\u001b[2J"}', "sha256": "c" * 64, **parts}
    return store.request_approval(
        Approval(name, "assistant", at_ns=now_ns(), expires_at_ns=now_ns() + 10**12, user="zoe", **given)
    )


def say(store: SqlStore) -> str:
    return take_turn(made("Hi.", store=store, clock=now_ns, new_id=new_id), Incoming(sender="zoe", text="Hello?")).reply


# ── the stop switch ───────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.requirement("N-19")
def test_a_paused_agent_takes_no_turn_until_it_is_resumed(run: Run, store: SqlStore) -> None:
    assert say(store) == "Hi."
    said = ok(run("pause", "assistant", "--reason", "It sends too much.")).splitlines()
    assert said[0].startswith("assistant: paused by admin:mo at 20")
    assert said[0].endswith("UTC: It sends too much.")
    with pytest.raises(Paused, match="charter resume assistant"):
        say(store)
    assert ok(run("resume", "assistant")).splitlines()[0] == "assistant: may act"
    assert say(store) == "Hi."


@pytest.mark.requirement("N-19")
def test_a_charters_name_means_its_own_agent_unless_an_agent_is_called_so(run: Run, store: SqlStore) -> None:
    ran = run("pause", "sovereign", "--json")
    assert json.loads(ran.out)["agent"] == "automaton"
    assert ran.err == "note: no agent named automaton has acted here yet; is this the name?\n"
    store.pause("sovereign", by=control_by(), at_ns=1)
    assert json.loads(ok(run("resume", "sovereign", "--json"))) | {"agent": "", "paused": None} == {
        "agent": "", "paused": None, "by": "", "at_ns": 0, "reason": "", "tokens_per_day": None, "turns_per_day": None,
        "tokens_today": 0, "turns_today": 0,
    }  # fmt: skip
    assert store.control("automaton", "2026-01-01").paused


def control_by() -> Any:
    from charter.app import operator

    return operator()


@pytest.mark.requirement("N-19")
def test_limits_are_set_one_by_one_shown_reached_and_taken_away(run: Run, store: SqlStore) -> None:
    ok(run("limit", "assistant", "--tokens", "50000"))
    said = ok(run("limit", "assistant", "--turns", "1")).splitlines()
    assert said == ["assistant: may act", "  tokens 0 today (UTC), limit 50,000", "  turns  0 today (UTC), limit 1"]
    say(store)
    with pytest.raises(OverSpend, match="1 of 1 turns today"):
        say(store)
    assert ok(run("limit", "assistant")).splitlines()[2] == "  turns  1 today (UTC), limit 1"
    told = json.loads(ok(run("limit", "assistant", "--none", "--tokens", "0", "--json")))
    assert (told["tokens_per_day"], told["turns_per_day"]) == (0, None)
    told = json.loads(ok(run("limit", "assistant", "--none", "--json")))
    assert (told["tokens_per_day"], told["turns_per_day"]) == (None, None)
    assert say(store) == "Hi."


def test_a_limit_below_nothing_is_an_error(run: Run) -> None:
    assert run("limit", "assistant", "--tokens", "-5").err.startswith("error: limit: a number of at least 0")


# ── calls that wait ───────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.requirement("S1-08")
def test_calls_are_listed_without_their_arguments_and_one_is_shown_with_them(run: Run, store: SqlStore) -> None:
    assert ok(run("approvals")) == "no calls in state open\n"
    waiting(store)
    said = ok(run("approvals")).splitlines()
    assert said[0] == "a1b2  open     exec  assistant/zoe"
    assert said[1].startswith(f"  {'c' * 16}  expires 20")
    assert len(said) == 2
    assert "arguments" not in json.loads(ok(run("approvals", "--json")))[0]
    assert ok(run("approvals", "a1")).splitlines()[2:] == ["{", '  "command": "ls \\u001b[2J"', "}"]
    assert json.loads(ok(run("approvals", "a1b2", "--json")))[0]["arguments"] == '{"command": "ls \\u001b[2J"}'


@pytest.mark.requirement("S1-08")
def test_a_call_is_approved_once_by_the_operator_over_the_hash_they_saw(run: Run, store: SqlStore) -> None:
    waiting(store)
    swapped = run("approvals", "--approve", "a1b2", "--sha256", "d" * 16)
    assert (swapped.code, swapped.err.split(":")[1]) == (2, " APPROVAL_SWAPPED")
    said = ok(run("approvals", "--approve", "a1", "--sha256", "c" * 16))
    assert said.startswith("approved: a1b2; exec may be called so once, until 20")
    assert store.approval("a1b2").decided_by == "admin:mo"
    again = run("approvals", "--deny", "a1b2")
    assert (again.code, again.err.split(":")[1]) == (2, " APPROVAL_APPROVED")


@pytest.mark.requirement("S1-08")
def test_a_call_is_denied_and_stays_so(run: Run, store: SqlStore) -> None:
    waiting(store)
    assert json.loads(ok(run("approvals", "--deny", "a1b2", "--json")))["state"] == "denied"
    assert ok(run("approvals", "--state", "denied")).startswith("a1b2  denied")
    assert store.use_approval("assistant", "zoe", "exec", "c" * 64, "t2", now_ns()) is None


def test_a_beginning_that_fits_two_calls_is_an_error_and_so_is_one_that_fits_none(run: Run, store: SqlStore) -> None:
    waiting(store, "a1b2")
    waiting(store, "a1c3", sha256="d" * 64)
    assert run("approvals", "a1").err == "error: call: 2 calls that wait begin so; write more of the id\n"
    assert run("approvals", "zz").err.startswith("error: there is no approval of this id")
    assert run("approvals", "a1b2", "--deny", "a1b2").err.startswith("error: approvals: show one call, approve one")


@pytest.mark.requirement("S1-08")
def test_what_a_call_said_is_shown_so_that_it_can_do_nothing_to_the_terminal(run: Run, store: SqlStore) -> None:
    waiting(store, arguments="\x1b[2J not json")
    assert ok(run("approvals", "a1b2")).splitlines()[2] == "␛[2J not json"
