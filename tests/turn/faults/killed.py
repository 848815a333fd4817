"""Turns whose process is killed at every point of the line; run as a program, since it forks."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final
from unittest import mock

from charter import stores
from charter.acting import InTurn
from charter.agent import LEASE_NS, Agent
from charter.core.dialogue import Reply, ToolCall
from charter.core.errors import Answered, Busy
from charter.core.policy import Actor, ToolClass, ToolPolicy, Verdict
from charter.core.ports import Tool, ToolSpec
from charter.core.records import Author
from charter.core.state import State
from charter.stores.store import SqlStore
from charter.turn import take_turn
from faults.hooks import watched
from faults.killed import hang_up
from faults.processes import answer, die, ended, fork

from ..places import Looking, said
from .rooms import CANARY, KEYS, NOW, WRITES, agent_in, asked, bodies, left

# Where the process dies, and what then is true of the message: it never came; the dead turn has it; it was answered.
POINTS: Final = {
    "before take": "never came",
    "after take": "held",
    "LoadingContext": "held",
    "after for_turn": "held",
    "Inferring": "held",
    "in the model's words": "held",
    "ExecutingActions": "held",
    "after control": "held",  # what was spent is looked at in the taking itself, and again before every further step
    "in a tool": "held",
    "asking a person": "held",
    "in a call a person approved": "held",
    "Persisting": "held",
    "before settle": "held",
    "before COMMIT": "held",
    "after COMMIT": "answered",
    "after settle": "answered",
    "Sleeping": "answered",
}
# What no turn leaves that did not come to its end; an approval is a person's, and stays.
WRITTEN: Final = (
    "prompt_layers", "layer_versions", "user_agent_prompt_customizations", "proposals", "outbox_messages",
    "turn_records", "agent_spend", "conversations", "conversation_entries", "agent_long_term_memory", "memory_terms",
)  # fmt: skip


class Dying:
    """A store that takes the process with it before or after a call; everything else is the store's."""

    def __init__(self, store: SqlStore, point: str) -> None:
        self._store = store
        self._point = point

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._store, name)
        if name not in self._point:
            return found

        def call(*given: Any, **named: Any) -> Any:
            if self._point == f"before {name}":
                die()
            answer = found(*given, **named)
            if self._point == f"after {name}":
                die()
            return answer

        return call


class Doomed(Looking):
    """Who looks on, and is asked, dies at this point."""

    by = Author(Actor.OPERATOR, "root")

    def __init__(self, point: str) -> None:
        super().__init__()
        self.point = point
        self.settling = False

    def at(self, point: str) -> None:
        if point == self.point:
            die()

    def moved(self, state: State) -> None:
        self.settling = state is State.PERSISTING
        self.at(state)

    def text(self, part: str) -> None:
        self.at("in the model's words")

    def ask(self, wanted: object) -> Verdict:
        self.at("asking a person")
        return Verdict("allow")

    def statement(self, when: str, what: str) -> None:
        if self.settling and what == "COMMIT":
            self.at(f"{when} COMMIT")


def tool(name: str, kind: ToolClass, watch: Doomed, point: str) -> Tool:
    def work(_: object) -> str:
        watch.at(point)
        return "done"

    return Tool(ToolSpec(name, "A tool."), ToolPolicy(name, kind), work)


def perish(url: str, name: str, charter: str, point: str) -> None:
    """A turn that writes everything there is to write, in a process that dies at this point."""
    watch = Doomed(point)
    with watched(watch.statement):
        store = stores.open(url, keys=KEYS)
        calls = (*WRITES, ToolCall("c4", "look", "{}"), ToolCall("c5", "send", "{}"))
        agent = agent_in(store, said("Words. ", *calls), said("Done."), charter=charter, name=name, approver=watch)
        own = agent.tools
        tools = {
            "look": tool("look", ToolClass.READ, watch, "in a tool"),
            "send": tool("send", ToolClass.EXECUTE, watch, "in a call a person approved"),
        }
        agent = replace(agent, tools=lambda acting: {**own(acting), **tools})
        take_turn(replace(agent, store=Dying(store, point)), asked(1), watch)


# ── what is found afterwards ──────────────────────────────────────────────────────────────────────────────────────


def all_points(url: str, charter: str, *points: str) -> dict[str, Any]:
    """Kills a turn at each point, in a process of its own; what was wrong afterwards."""
    begun, problems = time.monotonic(), list[str]()
    for point in points or POINTS:
        name = f"{charter}-{re.sub('[^A-Za-z]', '-', point)}"
        with stores.open(url, keys=KEYS) as store:
            agent_in(store, charter=charter, name=name)
            before = left(store, name)
        status = ended(fork(lambda name=name, point=point: perish(url, name, charter, point)))  # type: ignore[misc]
        if status != -9:
            problems.append(f"{point}: ended with {status}")
        if not url.startswith("sqlite:"):
            hang_up(url)
        with stores.open(url, keys=KEYS) as store:
            problems += [f"{point}: {what}" for what in wrong(store, charter, name, POINTS[point], before)]
    return {"points": len(points or POINTS), "wrong": problems, "seconds": time.monotonic() - begun}


def wrong(store: SqlStore, charter: str, name: str, fate: str, before: Any) -> Iterator[str]:
    """What is not as it should be: first what was left, then how the message is answered, once."""
    after, now = left(store, name), [NOW]
    replies: list[Reply] = [said("Answer.")] * 2
    agent = agent_in(store, *replies, charter=charter, name=name, clock=lambda: now[0])
    if fate == "answered":
        yield from _all_there(store, agent)
        return
    yield from (f"{table} was written to" for table in WRITTEN if after[table] != before[table])
    if fate == "held":
        yield from _held(agent)
        now[0] += LEASE_NS
    elif bodies(agent):
        yield f"{len(bodies(agent))} messages wait"
    take_turn(agent, asked(1))  # whoever sent it does not know, and sends it again
    yield from _once(store, agent, 2 if fate == "held" else 1)


def _held(agent: Agent) -> Iterator[str]:
    """The dead turn has the lane until its lease is over; who comes meanwhile is told so, and waits."""
    try:
        take_turn(agent, asked(2))
        yield "another turn began while the dead one had its lease"
    except Busy:
        if bodies(agent) != [f"{CANARY} asks 2"]:
            yield "the second message does not wait"


def _once(store: SqlStore, agent: Agent, messages: int) -> Iterator[str]:
    provider: Any = agent.provider
    asked_for = provider.payloads[-1]["messages"][-1]["content"]
    if asked_for != "\n\n".join(f"{CANARY} asks {number}" for number in range(1, messages + 1)):
        yield "it was not asked for an answer to all, in order and whole"
    if [reply.body for _, reply in store.unsent(agent.name)] != ["Answer."]:
        yield f"{len(store.unsent(agent.name))} replies"
    yield from _over(store, agent)


def _all_there(store: SqlStore, agent: Agent) -> Iterator[str]:
    if [reply.body for _, reply in store.unsent(agent.name)] != ["Words.\n\nDone."]:
        yield "its reply is not in the outbox"
    if len(store.recent(agent.name, "" if agent.charter.own_memory else "root", 5)) != 1:
        yield "its note is not there"
    yield from _over(store, agent)


def _over(store: SqlStore, agent: Agent) -> Iterator[str]:
    """Everything was answered: delivered again it is answered no more, and nothing waits or is held."""
    try:
        take_turn(agent, asked(1))
        yield "it was answered twice"
    except Answered:
        pass
    rows = left(store, agent.name)
    if rows["turn_leases"] or bodies(agent):
        yield "something is still held"
    if [entry.inbox_message_id for entry in _entries(store, agent)][:1] != ["m1"]:
        yield "the exchange is not remembered"


def _entries(store: SqlStore, agent: Agent) -> Any:
    log = store.conversation(agent.name, "root")
    return log.entries if log else ()


def without_the_end(url: str) -> dict[str, Any]:
    """The twin: a turn that keeps its notes at once and not at its end."""

    def remember(acting: InTurn, text: str) -> str:
        acting._store.remember(acting.agent, acting.memory_of, text, day="2026-02-26")
        return "Saved."

    with mock.patch.object(InTurn, "remember", remember):
        return all_points(url, "sovereign", "in a tool")


if __name__ == "__main__":
    answer({"points": all_points, "twin": without_the_end})
