"""A seeded driver of attempts at calls that need a person: replays, swaps, thefts, races, late and double decisions."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from itertools import count
from typing import Any, Final

from charter.acting import InTurn
from charter.agent import Agent
from charter.core.dialogue import Reply, ToolCall
from charter.core.errors import Refused
from charter.core.policy import Actor, ToolClass, ToolPolicy, Verdict
from charter.core.ports import Tool, ToolSpec
from charter.core.records import Approval, Author
from charter.stores.store import SqlStore
from charter.testing import ScriptedProvider
from charter.turn import take_turn

from ..faults.rooms import NOW, agent_in
from ..places import MODEL, Looking, from_ana
from .book import Book, Call, call_of

DAY_NS: Final = 24 * 3600 * 10**9
USERS: Final = ("ana", "bo", "Ana")
TOOLS: Final = ("send", "pay")
# Texts that are easily taken for each other; some are the same call in another order.
ARGUMENTS: Final = (
    '{"to": "bo", "sum": 1}', '{"sum": 1, "to": "bo"}', '{"to": "bo", "sum": 1.0}', '{"to": "bo", "sum": true}',
    '{"to": "bo", "sum": "1"}', '{"to": "bo ", "sum": 1}', '{"to": "Bo", "sum": 1}', '{"to": "eve", "sum": 1}',
    '{"to": "eve", "to": "bo", "sum": 1}', '{"to": "bo", "sum": 1, "cc": null}', '{"to": ["bo"], "sum": 1}',
    '{"to": "b\\u006f", "sum": 1}', '{"to": "bо", "sum": 1}', "{}",
)  # fmt: skip
PEOPLE: Final = (Author(Actor.OPERATOR, "root"), Author(Actor.OPERATOR, "olga"))
HOWS: Final = {
    "waits": 300, "yes": 60, "no": 30, "denied first": 30, "approved first": 30, "late": 1, "no person": 30,
    "taken": 30,
}  # fmt: skip


class Caller(ScriptedProvider):
    """A model that makes these calls once, and keeps nothing."""

    def __init__(self) -> None:
        super().__init__([], model=MODEL)
        self.calls: tuple[ToolCall, ...] = ()

    def converse(self, request: object, hear: object) -> Reply:
        calls, self.calls = self.calls, ()
        return Reply("" if calls else "ok", calls)


class Driver:
    """Agents, people and a clock; every attempt is chosen by the seed."""

    def __init__(self, store: SqlStore, seed: int) -> None:
        self.store = store
        self.chance = random.Random(seed)
        self.book = Book()
        self.now_ns = NOW
        self.attempts = 0
        self.seen: list[Approval] = []  # what people were asked, newest last
        self.recent: list[Call] = []
        self.raw: dict[Call, str] = {}
        self._ids = count()
        self.watch = Gate(self)
        self.agents = {name: self._agent(name) for name in (f"agent-{seed}-a", f"agent-{seed}-b")}

    def _agent(self, name: str) -> Agent:
        return agent_in(
            self.store, charter="assistant", name=name, provider=Caller(), tools=self.tools, clock=lambda: self.now_ns,
            new_id=lambda: f"i{next(self._ids)}", approver=Person(self),
        )  # fmt: skip

    def tools(self, acting: InTurn) -> Mapping[str, Tool]:
        def run(name: str, arguments: Mapping[str, Any]) -> str:
            self.book.used(call_of(acting.agent, acting.user, name, dict(arguments)), self.now_ns)
            return "done"

        return {
            name: Tool(ToolSpec(name, "A tool."), ToolPolicy(name, ToolClass.EXECUTE), partial(run, name), inside=True)
            for name in TOOLS
        }

    # ── attempts ──────────────────────────────────────────────────────────────────────────────────────────────────

    def go(self, attempts: int) -> None:
        while self.attempts < attempts:
            self.now_ns += self.chance.randrange(60) * 10**9
            act = self.chance.choices((self.turn, self.decide, self.race, self.sleep), (50, 50, 6, 3))[0]
            act()

    def turn(self) -> None:
        """A turn of one agent for one user, with some calls; most of them mean mischief."""
        agent, user, *_ = target = self.target()
        if self.chance.random() < 0.4:  # what was approved for somebody else
            agent, user = self.chance.choice(((agent, self.chance.choice(USERS)), (self.other(agent), user)))
        calls = [self.call(number, target) for number in range(self.chance.randrange(1, 7))]
        self.speak(self.agents[agent], user, calls)

    def target(self) -> Call:
        """A call that people said yes to and that was not made, in time or too late by now; or one that was; or any."""
        at = self.now_ns if self.chance.random() < 0.7 else NOW
        given = [call for call in self.book.given if self.book.holds(call, at)]
        known = given if given and self.chance.random() < 0.7 else self.recent[-20:]
        if known and self.chance.random() < 0.9:
            return self.chance.choice(known)
        return self.chance.choice(list(self.agents)), self.chance.choice(USERS), self.chance.choice(TOOLS), ""

    def other(self, agent: str) -> str:
        return next(name for name in self.agents if name != agent)

    def call(self, number: int, target: Call) -> ToolCall:
        """The call that is aimed at, to the letter, or with its tool or its arguments swapped."""
        tool, arguments = self.chance.choice(TOOLS), self.chance.choice(ARGUMENTS)
        swapped = self.chance.random()
        return ToolCall(
            f"c{number}",
            target[2] if swapped < 0.8 else tool,
            self.raw.get(target, arguments) if swapped < 0.5 or swapped > 0.8 else arguments,
        )

    def speak(self, agent: Agent, user: str, calls: list[ToolCall]) -> None:
        """A turn that makes these calls."""
        self.attempts += len(calls)
        for call in calls:
            made = call_of(agent.name, user, call.name, call.arguments)
            self.recent.append(made)
            self.raw[made] = call.arguments
        self.take(agent, user, calls, sender=user, watch=self.watch)

    def take(self, agent: Agent, user: str, calls: list[ToolCall], *, sender: str, watch: Looking) -> None:
        provider: Any = agent.provider
        provider.calls = tuple(calls)
        take_turn(agent, from_ana("go", sender=sender, user=user, channel="inbox"), watch)

    def race(self) -> None:
        """Four turns at once make one call that was approved so many times; so often, and no more, it is made."""
        name, user, *_ = target = self.target()
        call = self.call(0, target)
        made = call_of(name, user, call.name, call.arguments)
        for _ in range(self.chance.randrange(3)):
            self.speak(self.agents[name], user, [call])
            self.decide(right=True)
        held, before = self.book.holds(made, self.now_ns), self.book.executed["executed"]
        self.attempts += 4

        def run(number: int) -> None:
            racer = replace(self.agents[name], provider=Caller(), approver=Waits())
            self.take(racer, user, [call], sender=f"s{number}", watch=Looking())

        with ThreadPoolExecutor(4) as pool:
            list(pool.map(run, range(4)))
        if self.book.executed["executed"] - before != min(held, 4):
            self.book.wrong.append(f"a race for {held} approvals was won another number of times")

    # ── people ────────────────────────────────────────────────────────────────────────────────────────────────────

    def decide(self, *, right: bool = False) -> None:
        """Somebody decides about something that waited, or that was decided, used or over long ago."""
        if not self.seen:
            return
        wanted = self.seen[-1] if right else self.chance.choice(self.seen[-40:])
        verdict: Any = "approved" if right or self.chance.random() < 0.75 else "denied"
        sha256 = wanted.sha256 if right or self.chance.random() < 0.85 else self.chance.choice(self.seen).sha256
        self.say(wanted, verdict, sha256)

    def say(self, wanted: Approval, verdict: Any, sha256: str) -> bool:
        """A decision; whether it held. The book writes down a yes only when it did, and it must hold only when open."""
        state = self.store.approval(wanted.id).state
        fits = state == "open" and sha256 == wanted.sha256 and self.now_ns < wanted.expires_at_ns
        try:
            self.store.decide_approval(wanted.id, sha256, verdict, by=self.chance.choice(PEOPLE), at_ns=self.now_ns)
            held = True
        except Refused:
            held = False
        if held != fits:
            self.book.wrong.append(f"a decision about what is {state} {'held' if held else 'was refused'}")
        if held and verdict == "approved":
            self.book.yes(_call(wanted), wanted.expires_at_ns)
        return held

    def sleep(self) -> None:
        """A day goes by; what nobody used is over."""
        self.now_ns += self.chance.choice((DAY_NS // 2, DAY_NS))
        if self.chance.random() < 0.3:
            self.store.expire(self.now_ns)


def _call(wanted: Approval) -> Call:
    return call_of(wanted.agent, wanted.user, wanted.tool, wanted.arguments or "")


class Waits:
    by = PEOPLE[0]

    def ask(self, wanted: Approval) -> Verdict:
        return Verdict("ask")


class Person:
    """Who is asked while the turn waits; `by` is not always a person."""

    def __init__(self, driver: Driver) -> None:
        self.driver = driver
        self.by = PEOPLE[0]

    def ask(self, wanted: Approval) -> Verdict:
        driver, until = self.driver, wanted.expires_at_ns
        driver.seen.append(wanted)
        how = driver.chance.choices(list(HOWS), list(HOWS.values()))[0]
        driver.book.said[how] += 1
        self.by = PEOPLE[0]
        if how == "yes":
            driver.book.yes(_call(wanted), until)
        elif how in ("denied first", "approved first", "taken"):
            driver.say(wanted, "denied" if how == "denied first" else "approved", wanted.sha256)
        elif how == "late":
            driver.now_ns += DAY_NS
        elif how == "no person":
            self.by = driver.chance.choice((Author(Actor.AGENT, "root", "t1"), Author(Actor.OPERATOR), NOT_THEIRS))
        if how == "taken":  # another turn was quicker
            driver.store.use_approval(
                wanted.agent, wanted.user, wanted.tool, wanted.sha256, f"thief-{wanted.id}", driver.now_ns
            )
            driver.book.used(_call(wanted), driver.now_ns, "taken")
        return Verdict("ask" if how == "waits" else "deny" if how == "no" else "allow")


NOT_THEIRS: Final = Author(Actor.USER, "cy")


class Gate(Looking):
    """Compares what the gate says of each call with what the book says."""

    def __init__(self, driver: Driver) -> None:
        super().__init__()
        self.driver = driver

    def called(self, call: ToolCall, verdict: Verdict) -> None:
        if verdict.code == "TOOL_REPEATED":  # a model that goes round in circles; whether it may is not asked
            return
        agent, user, *_ = self.driver.recent[-1]
        made = call_of(agent, user, call.name, call.arguments)
        self.driver.book.expect(made, self.driver.now_ns, allowed=verdict.decision == "allow")


def used_up(store: SqlStore, agents: list[str]) -> int:
    """How many approvals the store says were used."""
    return sum(len(store.approvals(agent, "used")) for agent in agents)


def told(driver: Driver) -> str:
    return json.dumps({"attempts": driver.attempts, **driver.book.said, **driver.book.executed})
