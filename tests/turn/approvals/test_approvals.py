"""One approval, one execution of exactly the call a person saw: not another's, not a changed one, not again or late."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from charter.acting import InTurn
from charter.agent import Agent
from charter.converse import APPROVAL_NS
from charter.core.dialogue import ToolCall
from charter.core.errors import ProviderDown, Refused
from charter.core.policy import Actor, ToolClass, ToolPolicy, Verdict
from charter.core.ports import Tool, ToolSpec
from charter.core.records import Approval, Author
from charter.turn import take_turn

from ..faults.rooms import KINDS, NOW, agent_in, codes, opened
from ..places import Looking, from_ana, said

pytestmark = pytest.mark.requirement("S1-08")

ROOT = Author(Actor.OPERATOR, "root")
LETTER = '{"to": "bo", "text": "hello"}'


class Post:
    """A tool that does something that cannot be undone, and remembers for whom it did it."""

    def __init__(self) -> None:
        self.sent: list[tuple[str, str, str, Any]] = []

    def tools(self, acting: InTurn) -> Mapping[str, Tool]:
        def tool(name: str) -> Tool:
            def work(given: Mapping[str, Any]) -> str:
                self.sent.append((acting.agent, acting.user, name, dict(given)))
                return "sent"

            return Tool(ToolSpec(name, "Sends."), ToolPolicy(name, ToolClass.EXECUTE), work)

        return {name: tool(name) for name in ("send", "resend")}


def send(arguments: str = LETTER, name: str = "send") -> Any:
    return said("", ToolCall("c1", name, arguments))


def approve(store: Any, wanted: Approval, verdict: Any = "approved", at_ns: int = NOW) -> Approval:
    done: Approval = store.decide_approval(wanted.id, wanted.sha256, verdict, by=ROOT, at_ns=at_ns)
    return done


def ask(agent: Agent, user: str = "ana", **more: Any) -> list[str]:
    """A turn of this user's; what the gate said of its calls."""
    looking = Looking()
    take_turn(agent, from_ana("Write to Bo", sender=user, user=user, channel="inbox", **more), looking)
    return [code for _, code in looking.calls]


@pytest.mark.parametrize("kind", KINDS)
def test_a_call_waits_is_approved_is_made_once_and_asks_again(kind: str, tmp_path: Path) -> None:
    post = Post()
    with opened(kind, tmp_path) as store:
        agent = agent_in(store, *[send(), said("ok")] * 4, charter="assistant", tools=post.tools)
        assert ask(agent) == ["TOOL_NEEDS_APPROVAL"]
        [wanted] = store.approvals(agent.name, "open")
        assert (wanted.user, wanted.tool, json.loads(wanted.arguments or "")) == ("ana", "send", json.loads(LETTER))
        assert ask(agent) == ["TOOL_NEEDS_APPROVAL"]  # it is not asked about twice
        assert (len(store.approvals(agent.name)), post.sent) == (1, [])
        approve(store, wanted)
        assert ask(agent) == ["TOOL_APPROVED"]
        assert post.sent == [(agent.name, "ana", "send", json.loads(LETTER))]
        assert ask(agent) == ["TOOL_NEEDS_APPROVAL"]
        assert len(post.sent) == 1
        assert [one.state for one in store.approvals(agent.name)] == ["used", "open"]


@pytest.mark.parametrize("arguments", [
    '{"to": "eve", "text": "hello"}', '{"to": "bo", "text": "hello!"}', '{"to": "bo"}', "{}",
    '{"to": "bo", "text": "hello", "cc": "eve"}', '{"to": ["bo"], "text": "hello"}',
    '{"to": "bo", "text": "hello", "to": "eve"}', '{"to": "bо", "text": "hello"}',
])  # fmt: skip
def test_arguments_that_changed_after_the_yes_are_another_call(arguments: str, tmp_path: Path) -> None:
    post = Post()
    with opened("memory", tmp_path) as store:
        agent = agent_in(store, send(), said("ok"), send(arguments), said("ok"), charter="assistant", tools=post.tools)
        ask(agent)
        approve(store, store.approvals(agent.name)[0])
        assert ask(agent) == ["TOOL_NEEDS_APPROVAL"]
        assert post.sent == []


def test_the_same_call_in_another_order_is_the_same_call(tmp_path: Path) -> None:
    post = Post()
    with opened("memory", tmp_path) as store:
        again = send('{ "text":"hel\\u006co","to":"bo" }')
        agent = agent_in(store, send(), said("ok"), again, said("ok"), charter="assistant", tools=post.tools)
        ask(agent)
        approve(store, store.approvals(agent.name)[0])
        assert ask(agent) == ["TOOL_APPROVED"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("whose", ["user", "agent", "tool"])
def test_an_approval_for_one_is_none_for_another(whose: str, kind: str, tmp_path: Path) -> None:
    post = Post()
    with opened(kind, tmp_path) as store:
        agent = agent_in(store, send(), said("ok"), charter="assistant", tools=post.tools)
        ask(agent)
        approve(store, store.approvals(agent.name)[0])
        name = "resend" if whose == "tool" else "send"
        other = agent_in(
            store, send(name=name), said("ok"), charter="assistant", tools=post.tools,
            name="" if whose == "agent" else agent.name,
        )  # fmt: skip
        assert ask(other, "bo" if whose == "user" else "ana") == ["TOOL_NEEDS_APPROVAL"]
        assert post.sent == []
        assert store.approvals(agent.name)[0].state == "approved"


def test_one_call_made_twice_in_a_turn_needs_two_approvals(tmp_path: Path) -> None:
    post = Post()
    twice = said("", *[ToolCall(f"c{number}", name, LETTER) for number, name in enumerate(("send", "resend", "send"))])
    with opened("memory", tmp_path) as store:
        agent = agent_in(store, send(), said("ok"), twice, said("ok"), charter="assistant", tools=post.tools)
        ask(agent)
        approve(store, store.approvals(agent.name)[0])
        assert ask(agent) == ["TOOL_APPROVED", "TOOL_NEEDS_APPROVAL", "TOOL_NEEDS_APPROVAL"]
        assert [name for *_, name, _ in post.sent] == ["send"]


@pytest.mark.parametrize("kind", KINDS)
def test_an_approval_that_is_over_is_none(kind: str, tmp_path: Path) -> None:
    post, now = Post(), [NOW]
    with opened(kind, tmp_path) as store:
        agent = agent_in(
            store, *[send(), said("ok")] * 3, charter="assistant", tools=post.tools, clock=lambda: now[0]
        )  # fmt: skip
        ask(agent)
        [wanted] = store.approvals(agent.name)
        approve(store, wanted, at_ns=NOW + APPROVAL_NS - 1)
        now[0] += APPROVAL_NS
        assert ask(agent) == ["TOOL_NEEDS_APPROVAL"]
        with pytest.raises(Refused, match="APPROVAL_EXPIRED"):
            approve(store, store.approvals(agent.name, "open")[0], at_ns=NOW + 2 * APPROVAL_NS)
        assert post.sent == []


def test_a_decision_is_made_once(tmp_path: Path) -> None:
    post = Post()
    with opened("memory", tmp_path) as store:
        agent = agent_in(store, *[send(), said("ok")] * 2, charter="assistant", tools=post.tools)
        ask(agent)
        [wanted] = store.approvals(agent.name)
        approve(store, wanted, "denied")
        for verdict in ("approved", "denied"):
            with pytest.raises(Refused, match="APPROVAL_DENIED"):
                approve(store, wanted, verdict)
        assert ask(agent) == ["TOOL_NEEDS_APPROVAL"]
        assert post.sent == []


def test_a_turn_that_fails_after_an_approved_call_does_not_make_it_again(tmp_path: Path) -> None:
    post = Post()
    with opened("memory", tmp_path) as store:
        script = (send(), said("ok"), send(), ProviderDown("scripted", "gone"), send(), said("ok"))
        agent = agent_in(store, *script, charter="assistant", tools=post.tools)
        ask(agent)
        approve(store, store.approvals(agent.name)[0])
        with pytest.raises(ProviderDown):
            ask(agent)
        assert ask(agent) == ["TOOL_NEEDS_APPROVAL"]
        assert len(post.sent) == 1


# ── a person who is asked while the turn waits ────────────────────────────────────────────────────────────────────


class Person:
    """Says this, after something happened meanwhile."""

    def __init__(self, says: Any, by: Author = ROOT, meanwhile: Callable[[Approval], object] = lambda _: None) -> None:
        self.by = by
        self.says = says
        self.meanwhile = meanwhile

    def ask(self, wanted: Approval) -> Verdict:
        self.meanwhile(wanted)
        return Verdict(self.says)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("says", "other", "made", "states"),
    [
        ("allow", None, 1, ["used"]),
        ("deny", None, 0, ["denied"]),
        ("allow", "denied", 0, ["denied"]),  # a no that was there first holds
        ("allow", "approved", 1, ["used"]),
        ("deny", "approved", 0, ["approved"]),
        ("deny", "denied", 0, ["denied"]),
        ("ask", "approved", 0, ["approved"]),
    ],
)
def test_what_the_store_says_holds_whatever_the_person_at_the_terminal_says(
    says: str, other: str | None, made: int, states: list[str], kind: str, tmp_path: Path
) -> None:
    post = Post()
    with opened(kind, tmp_path) as store:
        person = Person(says, meanwhile=lambda wanted: other and approve(store, wanted, other))
        agent = agent_in(store, send(), said("ok"), charter="assistant", tools=post.tools, approver=person)
        codes_ = ask(agent)
        assert (codes_ == ["TOOL_APPROVED"]) is bool(made)
        assert len(post.sent) == made
        assert [one.state for one in store.approvals(agent.name)] == states
        assert codes(agent) == [("done", "OK")]  # a no ends no turn


@pytest.mark.parametrize(
    "by", [Author(Actor.AGENT, "root", "t1"), Author("init"), Author(Actor.OPERATOR), Author(Actor.USER, "bo")]
)
def test_only_an_operator_or_the_user_it_is_for_can_say_yes(by: Author, tmp_path: Path) -> None:
    post = Post()
    with opened("memory", tmp_path) as store:
        agent = agent_in(store, *[send(), said("ok")] * 2, charter="assistant", tools=post.tools)
        assert ask(replace(agent, approver=Person("allow", by))) == ["TOOL_NEEDS_APPROVAL"]
        assert post.sent == []
        assert ask(replace(agent, approver=Person("allow", Author(Actor.USER, "ana")))) == ["TOOL_APPROVED"]


# ── races ─────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.requirement("N-17")
def test_sixteen_turns_at_once_make_one_approved_call_once(kind: str, tmp_path: Path) -> None:
    post, together = Post(), threading.Barrier(16)
    with opened(kind, tmp_path) as store, ThreadPoolExecutor(16) as pool:
        first = agent_in(store, send(), said("ok"), charter="assistant", tools=post.tools)
        ask(first)
        approve(store, store.approvals(first.name)[0])

        def at_once(request: object) -> Any:
            together.wait(30)
            return send()

        def turn(number: int) -> list[str]:
            agent = agent_in(store, at_once, said("ok"), charter="assistant", name=first.name, tools=post.tools)
            looking = Looking()
            take_turn(agent, from_ana("Write", sender=f"s{number}", user="ana", channel="inbox"), looking)
            return [code for _, code in looking.calls]

        told = [code for found in pool.map(turn, range(16)) for code in found]
        assert sorted(told) == ["TOOL_APPROVED"] + ["TOOL_NEEDS_APPROVAL"] * 15
        assert len(post.sent) == 1
        assert sorted(one.state for one in store.approvals(first.name)) == ["open", "used"]


@pytest.mark.parametrize("kind", KINDS)
def test_of_a_yes_and_a_no_at_once_one_holds_and_the_call_follows_it(kind: str, tmp_path: Path) -> None:
    post = Post()
    with opened(kind, tmp_path) as store, ThreadPoolExecutor(8) as pool:
        agent = agent_in(store, *[send(), said("ok")] * 2, charter="assistant", tools=post.tools)
        ask(agent)
        [wanted] = store.approvals(agent.name)
        together = threading.Barrier(8)

        def decide(number: int) -> str:
            together.wait(30)
            try:
                return approve(store, wanted, ("approved", "denied")[number % 2]).state
            except Refused as error:
                return error.code

        told = list(pool.map(decide, range(8)))
        [held] = [one for one in told if one in ("approved", "denied")]
        assert told.count(f"APPROVAL_{held.upper()}") == 7
        assert ask(agent) == (["TOOL_APPROVED"] if held == "approved" else ["TOOL_NEEDS_APPROVAL"])
        assert len(post.sent) == (held == "approved")
