"""Five charters full of canaries, agents over them, and turns in which everything goes right and wrong."""

from __future__ import annotations

import json
import shutil
import signal
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from charter.agent import Agent
from charter.app import keys, make_agent
from charter.channels.terminal import Unattended
from charter.commands.answering import Outcome, answer
from charter.core.dialogue import Reply, ToolCall, Usage
from charter.core.errors import Refused
from charter.core.incoming import Incoming
from charter.core.policy import Actor
from charter.core.ports import Provider
from charter.core.records import Author, Change, Head, Place
from charter.folder import SHIPPED, load
from charter.sources.vitals import StaticVitals
from charter.stores import open as open_store
from charter.stores.store import SqlStore
from charter.testing.scripted import Script
from charter.tools import Toolmaker, tool

from .canaries import Canaries

EXAMPLES = Path(__file__).parent.parent.parent / "examples"
MO = Author(Actor.OPERATOR, "mo")


@dataclass
class Scene:
    """An agent, what was planted around it, and everything that came out of its turns."""

    agent: Agent
    store: SqlStore
    canaries: Canaries
    person: Unattended
    said: list[Outcome] = field(default_factory=list)

    def say(self, place: str = "message") -> Outcome:
        who = f"zoe-{self.canaries.plant('sender')}"
        incoming = Incoming(channel="terminal", sender=who, user=who, text=f"Hello {self.canaries.plant(place)} there")
        self.said.append(answer(self.agent, incoming, self.person))
        return self.said[-1]


def scene(name: str, folder: Path, provider: Provider, *, canaries: Canaries, warn: Callable[[str], None]) -> Scene:
    """An agent of this charter, with a canary in every file, every stored text, every note and every vital sign."""
    shutil.copytree(SHIPPED / name, folder / "charter", ignore=shutil.ignore_patterns("charter.lock", "cases"))
    shutil.copytree(EXAMPLES, folder / "examples")
    canaries.in_folder(folder / "charter", "file")
    canaries.in_folder(folder / "examples", "example")
    store = open_store(f"sqlite:///{folder / 'charter.db'}", keys=keys())
    charter = load(folder / "charter", **_world(name, folder / "examples" / name, canaries))
    person = Unattended(MO, warn=warn)
    agent = make_agent(charter, store, provider, approver=person, tools=tools(canaries))
    _store_texts(store, agent, canaries)
    return Scene(agent, store, canaries, person)


def _world(name: str, folder: Path, canaries: Canaries) -> dict[str, Any]:
    if name == "gateway":
        runtime = {"host": canaries.plant("vital:host")}
        return {
            "data_dir": folder / "data", "project_dir": folder / "project", "project_root": folder / "project",
            "skills_dir": folder / "skills", "given": {"no_host": True, "runtime": runtime},
        }  # fmt: skip
    if name == "sovereign":
        vitals: dict[str, str | int | float] = {"cycles_balance": 10**12, "burn_per_hour": 10**9}
        vitals["state"] = canaries.plant("vital:state")
        skills = ((canaries.plant("skill:name"), canaries.plant("skill:text")),)
        given = {"soul": canaries.plant("given:soul"), "skills": skills}
        return {"vitals": StaticVitals(vitals), "given": given}
    return {}


def _store_texts(store: SqlStore, agent: Agent, canaries: Canaries) -> None:
    """What is kept for the agent and its user: layers, soul, identity, instructions, notes, an exchange, a switch."""
    who, at_ns = f"zoe-{canaries.plant('sender')}", agent.clock()
    for layer in agent.charter.stack.position:  # type: ignore[attr-defined]
        try:
            _, place = agent.charter.stored(layer, agent=agent.name, user=who)
        except Refused:  # it lies in a file
            continue
        words = f"Be kind {canaries.plant(f'stored:{layer}')}."
        text = json.dumps({"name": words, "description": words}) if place.head is Head.IDENTITY else words
        by = Author(Actor.USER, who) if place.user else MO
        head = store.head(place)
        store.commit(Change(place, text, head.version if head else 0, by, at_ns))
    for user in ("", who):
        store.remember(agent.name, user, f"Hello {canaries.plant('note:text')} there", day="2026-02-25", at_ns=at_ns)
    store.pause(agent.name, by=MO, at_ns=at_ns, reason=canaries.plant("reason:pause"))
    store.resume(agent.name, by=MO, at_ns=at_ns)
    store.pause("another", by=MO, at_ns=at_ns, reason=canaries.plant("reason:pause"))
    store.propose(
        Place(agent.name, "soul"), canaries.plant("stored:proposal"), base_version=0, by=MO,
        reason=canaries.plant("reason:proposal"), at_ns=at_ns, expires_at_ns=at_ns + 10**15,
    )  # fmt: skip


def tools(canaries: Canaries) -> list[Toolmaker]:
    """A tool that answers, one that fails, one that needs a person."""

    found, broke, done = (canaries.plant(place) for place in ("result:peek", "tool error:burn", "result:send"))

    @tool
    def peek(text: str) -> str:
        """Look."""
        return found

    @tool
    def burn(text: str) -> str:
        """Fail."""
        raise RuntimeError(broke, text)

    @tool(kind="EXECUTE")
    def send(text: str) -> str:
        """Act."""
        return done

    return [peek, burn, send]


def broken(canaries: Canaries) -> Any:
    """What makes an agent's tools, and fails with a text in a way nobody foresaw."""

    def make(_: object) -> Any:
        raise LookupError(canaries.plant("stranger error:made"))

    return make


# ── what a model says ─────────────────────────────────────────────────────────────────────────────────────────────


def call(tool_name: str, **arguments: str) -> ToolCall:
    return ToolCall(f"call_{tool_name}", tool_name, json.dumps(arguments, ensure_ascii=False))


def press(_: object) -> str:
    signal.raise_signal(signal.SIGINT)
    return ""


def script(canaries: Canaries) -> Sequence[Script]:
    """A turn with every kind of call, one that a stranger's error ends, one that is cancelled, one that works again."""
    places = ("text", "content", "reason", "bad", "name")
    text, content, reason, bad, name = (f"Note {canaries.plant(f'arguments:{place}')} down" for place in places)
    calls = (
        call("save_memory", text=text), call("update_instructions", instructions=content),
        call("update_prompt_layer", layer_id="inbox", content=content), call("read_memory", query=text),
        call("propose_change", layer_id="memory", content=content, reason=reason),
        call("peek", text=text), call("burn", text=text), call("send", text=text),
        call("read_skill", name=name), call(canaries.plant("made up"), text=text), call("peek", txet=text),
        ToolCall("bad", "peek", "{" + bad),
    )  # fmt: skip
    reply = f"I say {canaries.plant('reply')} to you."
    return [
        Reply("", calls, Usage(100, 5), "tools"),
        Reply(reply, usage=Usage(100, 5)),
        RuntimeError(canaries.plant("provider error:raised")),
        press,
        Reply("", (call("send", text=text),), Usage(100, 5), "tools"),
        Reply(reply, usage=Usage(100, 5)),
    ]
