"""The stop switch and the day's limit reach a turn that is under way: before its next step and its next call."""

from __future__ import annotations

import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from charter import stores
from charter.core.dialogue import ToolCall
from charter.core.errors import OverSpend, Paused
from charter.core.policy import Actor, ToolClass, ToolPolicy, Verdict
from charter.core.ports import Tool, ToolSpec
from charter.core.records import Author
from charter.turn import take_turn

from ..places import said
from .rooms import (
    CANARY,
    FILES,
    KEYS,
    KINDS,
    NOW,
    address,
    agent_in,
    answered_whole,
    asked,
    bodies,
    busy_step,
    codes,
    failed_alone,
    left,
    opened,
    tools_of,
)  # fmt: skip

pytestmark = pytest.mark.requirement("N-19", "S0-13", "S0-15")

ROOT = Author(Actor.OPERATOR, "root")
PAUSE = """
import sys
from charter import stores
from charter.core.policy import Actor
from charter.core.records import Author
from turn.faults.rooms import KEYS
with stores.open(sys.argv[1], keys=KEYS) as store:
    store.pause(sys.argv[2], by=Author(Actor.OPERATOR, "root"), at_ns=1, reason="looking into it")
"""


def in_a_thread(url: str, name: str) -> None:
    def work() -> None:
        with stores.open(url, keys=KEYS) as store:
            store.pause(name, by=ROOT, at_ns=1, reason="looking into it")

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()


def in_a_process(url: str, name: str) -> None:
    tests = Path(__file__).parents[2]
    subprocess.run([sys.executable, "-W", "error", "-c", PAUSE, url, name], cwd=tests, check=True)


@pytest.mark.parametrize(("kind", "pause"), [(FILES[0], in_a_process), (FILES[1], in_a_thread)])
def test_a_pause_from_elsewhere_stops_the_turn_before_its_next_step(kind: str, pause: Any, tmp_path: Path) -> None:
    with opened(kind, tmp_path) as store:

        def paused(_: object) -> Any:
            pause(address(kind, tmp_path), agent.name)
            before.update(left(store, agent.name))
            return said("", ToolCall("c1", "read_memory", "{}"))

        agent = agent_in(store, busy_step(), paused, said("Back."))
        before: dict[str, Any] = {}
        with pytest.raises(Paused, match=f"{agent.name} is paused; start it again with: charter resume {agent.name}"):
            take_turn(agent, asked(1))
        failed_alone(agent, before | {"turn_leases": []}, "AGENT_PAUSED", waiting=[f"{CANARY} asks 1"])
        with pytest.raises(Paused):
            take_turn(agent, asked(2))
        assert codes(agent) == [("failed", "AGENT_PAUSED")]  # a turn that did not begin has no record
        store.resume(agent.name, by=ROOT, at_ns=2)
        assert take_turn(agent, asked(3)).reply == "Back."
        answered_whole(agent, [f"{CANARY} asks {number}" for number in (1, 2, 3)])


@pytest.mark.parametrize("kind", KINDS)
def test_a_pause_between_two_calls_of_one_reply_stops_the_second(kind: str, tmp_path: Path) -> None:
    ran: list[int] = []
    with opened(kind, tmp_path) as store:

        def work(_: Any) -> str:
            ran.append(1)
            store.pause(agent.name, by=ROOT, at_ns=1)
            return "done"

        calls = [ToolCall(f"c{number}", "work", f'{{"at": {number}}}') for number in range(3)]
        agent = agent_in(store, said("", *calls), tools=tools_of(work=work))
        with pytest.raises(Paused):
            take_turn(agent, asked(1))
        assert ran == [1]
        assert bodies(agent) == [f"{CANARY} asks 1"]


def test_a_call_a_person_approves_after_the_agent_was_paused_is_not_made(tmp_path: Path) -> None:
    ran: list[int] = []

    class Late:
        by = ROOT

        def ask(self, wanted: object) -> Verdict:
            store.pause(agent.name, by=ROOT, at_ns=1)
            return Verdict("allow")

    send = Tool(ToolSpec("send", "Sends."), ToolPolicy("send", ToolClass.EXECUTE), lambda given: str(ran.append(1)))  # type: ignore[func-returns-value]
    with opened("memory", tmp_path) as store:
        script = said("", ToolCall("c1", "send", "{}"))
        agent = agent_in(store, script, tools=lambda _: {"send": send}, approver=Late())
        with pytest.raises(Paused):
            take_turn(agent, asked(1))
        assert ran == []
        assert [approval.state for approval in store.approvals(agent.name)] == ["open"]


def test_the_time_a_person_takes_to_decide_is_not_the_turns(tmp_path: Path) -> None:
    now = [NOW]

    class Thoughtful:
        by = ROOT

        def ask(self, wanted: object) -> Verdict:
            now[0] += 600 * 10**9  # longer than a turn may take
            return Verdict("allow")

    send = Tool(ToolSpec("send", "Sends."), ToolPolicy("send", ToolClass.EXECUTE), lambda _: "sent")
    with opened("memory", tmp_path) as store:
        script = (said("", ToolCall("c1", "send", "{}")), said("It is sent."))
        agent = agent_in(store, *script, tools=lambda _: {"send": send}, approver=Thoughtful(), clock=lambda: now[0])
        assert take_turn(agent, asked(1)).reply == "It is sent."


# ── the day's limit ───────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("kind", KINDS)
def test_a_turn_that_spends_the_days_tokens_itself_stops_before_its_next_step(kind: str, tmp_path: Path) -> None:
    with opened(kind, tmp_path) as store:
        agent = agent_in(store, busy_step(), busy_step(), said("Back."))  # a step is 110 tokens
        store.limit(agent.name, by=ROOT, at_ns=1, tokens_per_day=200, turns_per_day=None)
        before = left(store, agent.name)
        with pytest.raises(OverSpend, match=f"{agent.name} used 220 of 200 tokens today; see: charter limit"):
            take_turn(agent, asked(1))
        failed_alone(agent, before, "AGENT_OVER_SPEND", waiting=[f"{CANARY} asks 1"])
        assert store.control(agent.name, "2026-02-26").tokens_today == 220
        with pytest.raises(OverSpend):
            take_turn(agent, asked(2))
        store.limit(agent.name, by=ROOT, at_ns=2, tokens_per_day=None, turns_per_day=None)
        take_turn(agent, asked(3))
        answered_whole(agent, [f"{CANARY} asks {number}" for number in (1, 2, 3)])


def test_what_other_turns_spend_meanwhile_counts_too(tmp_path: Path) -> None:
    with opened("memory", tmp_path) as store:

        def others(_: object) -> Any:
            other = replace(agent_in(store, said("x"), charter="assistant", name=agent.name))
            take_turn(other, asked(9, sender="bo", user="bo"))
            return said("", ToolCall("c1", "read_memory", "{}"))

        agent = agent_in(store, others, said("never"), charter="assistant")
        store.limit(agent.name, by=ROOT, at_ns=1, tokens_per_day=200, turns_per_day=None)
        with pytest.raises(OverSpend, match="used 220 of 200 tokens"):
            take_turn(agent, asked(1))
        assert bodies(agent) == [f"{CANARY} asks 1"]
