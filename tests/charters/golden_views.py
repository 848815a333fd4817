"""Views of every charter in every mode, rich enough that each layer has something to say."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from charter.core.assemble import Assembly
from charter.core.incoming import Incoming
from charter.core.records import ConversationEntry, InboxMessage
from charter.demo import AT, MIRA, TOOLS, demo
from charter.folder import load
from charter.sources import World
from charter.sources.vitals import JsonVitals
from charter.stores.memory import MemoryStore

ROOT = Path(__file__).parent.parent.parent
EXAMPLES = ROOT / "examples"
RUNTIME = {
    "host": "devbox", "os": "linux", "arch": "x86_64", "shell": "zsh", "provider": "openai", "model": "gpt-5",
    "session": "main", "sudo_non_interactive": True, "accept_language": "pt-PT",
    "sandbox": {"enabled": True, "mode": "all", "backend": "docker", "scope": "session", "network": "disabled"},
}  # fmt: skip


def sovereign(mode: str, *, empty: bool = False) -> Assembly:
    store = MemoryStore()
    if not empty:
        for number in range(7):
            entry = ConversationEntry(f"m{number}", f"Question {number}?", f"Answer {number}.", f"t{number}", number)
            store.append_conversation("automaton", MIRA, entry)
        store.stage("automaton", InboxMessage("m9", "0x77b0000000000000000000000000000000005678", "gm"))
        store.put_layer("automaton", "decision_loop", "Sell tide tables first. Then rest.", by="turn-40")
        store.put_layer("automaton", "decision_loop", "Sell tide tables first. Never on credit.", by="turn-41")
    soul = (EXAMPLES / "sovereign" / "soul.txt").read_text().strip()
    skills = () if empty else (("fsm-order", "Stay in state order and prefer deterministic behavior."),)
    world = World(
        store=store,
        vitals=JsonVitals(EXAMPLES / "sovereign" / "vitals.json"),
        given={"soul": soul, "skills": skills},
    )
    text = "" if empty else "Good. I take March for Porto."
    incoming = Incoming(channel="inbox", sender=MIRA, text=text, at=AT)
    return load("sovereign").assemble(incoming, mode=mode, world=world)


def contract(channel: str, agent: str = "", task: str = "", tool_policy: str = "") -> Assembly:
    incoming = Incoming(
        channel=channel,
        sender="ana",
        text="Please sum this up.",
        at=AT,
        agent=agent,
        task=task,
        tool_policy=tool_policy,
    )
    return load("contract").assemble(incoming)


def workspace(mode: str, agent: str = "pickle") -> Assembly:
    store = MemoryStore()
    store.remember("pickle", "ana", "Ana wants the Friday menu before noon on Thursday.", day="2026-01-15")
    incoming = Incoming(
        channel="telegram", user="ana", text="Is the Friday menu done?", at=AT, agent=agent, model="claude-sonnet-4"
    )
    world = World(workspace=EXAMPLES / "workspace", store=store)
    return load("workspace").assemble(incoming, mode=mode, world=world)


def gateway(mode: str = "full", *, native: bool = True, bare: bool = False) -> Assembly:
    world = World(given={"no_host": True, "runtime": {"os": "linux"}}) if bare else World(
        data_dir=EXAMPLES / "gateway" / "data",
        project_dir=EXAMPLES / "gateway" / "project",
        project_root=EXAMPLES / "gateway" / "project",
        skills_dir=EXAMPLES / "gateway" / "skills",
        tools=TOOLS,
        native_tools=native,
        given={"no_host": True, "runtime": RUNTIME},
    )  # fmt: skip
    return load("gateway").assemble(
        Incoming(channel="web", sender="mira", text="Is the disk full?", at=AT), mode=mode, world=world
    )


def assistant(channel: str) -> Assembly:
    given = {
        "soul": (EXAMPLES / "assistant" / "soul.md").read_text(),
        "instructions": (EXAMPLES / "assistant" / "instructions.md").read_text(),
        "timezone": "Europe/Lisbon",
    }
    return load("assistant").assemble(
        Incoming(channel=channel, sender="ana", text="Hello", at=AT), world=World(given=given)
    )


def toured(name: str) -> Assembly:
    charter, incoming = demo(name)
    return charter.assemble(incoming)


VIEWS: dict[str, Callable[[], Assembly]] = {
    "sovereign.full": lambda: sovereign("full"),
    "sovereign.full.empty-inbox": lambda: sovereign("full", empty=True),
    "sovereign.compact": lambda: sovereign("compact"),
    "sovereign.compact.empty-inbox": lambda: sovereign("compact", empty=True),
    "contract.full.web": lambda: contract("web"),
    "contract.full.task": lambda: contract(
        "external_email", agent="support", task="draft_reply", tool_policy="read_only"
    ),
    "workspace.full": lambda: workspace("full"),
    "workspace.minimal": lambda: workspace("minimal"),
    "workspace.none": lambda: workspace("none", agent="scout"),
    "gateway.full.native": gateway,
    "gateway.full.fallback": lambda: gateway(native=False),
    "gateway.full.bare": lambda: gateway(bare=True),
    "gateway.minimal": lambda: gateway("minimal"),
    "assistant.full.web": lambda: assistant("web"),
    "assistant.full.telegram": lambda: assistant("telegram"),
    "assistant.full.scheduled": lambda: assistant("scheduled"),
    "tour.sovereign": lambda: toured("sovereign"),
    "tour.contract": lambda: toured("contract"),
}
