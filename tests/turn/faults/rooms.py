"""Stores of every kind for turns that fail, an agent of its own for every test, and a look at all that is kept."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any, Final

from charter import stores
from charter.agent import Agent
from charter.amend import seed_all
from charter.app import toolbox
from charter.core.dialogue import Reply
from charter.core.incoming import Incoming
from charter.core.keyring import KeyRing
from charter.core.policy import ToolClass, ToolPolicy
from charter.core.ports import Tool, ToolSpec
from charter.folder import load
from charter.stores.memory import MemoryStore
from charter.stores.migrate import upgrade
from charter.stores.store import SqlStore
from charter.testing import ScriptedProvider
from faults.whole import Rows, rows_of
from stores.pg import fresh_database

from ..places import MODEL, call, from_operator, said

KINDS: Final = ("memory", "sqlite", "postgres")
FILES: Final = ("sqlite", "postgres")  # what outlives a process
KEY: Final = b"k" * 32
KEYS: Final = KeyRing((("key-1", KEY),))
NOW: Final = 1_772_116_200 * 10**9  # 2026-02-26T14:30:00Z
CANARY: Final = "Kanarienvogel"  # stands in every text; no error, record or log may say it
_numbers: Final = count(1)


@cache
def _postgres() -> str:
    url = fresh_database()
    upgrade(url)
    return url


def address(kind: str, folder: Path) -> str:
    """A database; the one on the server is shared, since every test has an agent of its own."""
    return f"sqlite:///{folder / 'charter.db'}" if kind == "sqlite" else _postgres()


@contextmanager
def opened(kind: str, folder: Path) -> Iterator[SqlStore]:
    """A store of this kind, closed at the end."""
    with MemoryStore(KEYS) if kind == "memory" else stores.open(address(kind, folder), keys=KEYS) as store:
        yield store


def agent_in(store: Any, *script: Any, charter: str = "sovereign", name: str = "", **parts: Any) -> Agent:
    """An agent that no other test has, with the layers it starts with; its clock stands still."""
    loaded = replace(load(charter), key=KEY)
    named = name or f"{charter}-{next(_numbers)}"
    seed_all(store, loaded, named, NOW)
    provider = parts.pop("provider", None) or ScriptedProvider(script, model=MODEL)
    given = {"tools": toolbox(loaded), "clock": lambda: NOW, "key": KEY, **parts}
    return Agent(named, loaded, store, provider, **given)


def limited(agent: Agent, channel: str = "terminal", **limits: Any) -> Agent:
    """The same agent on a channel with other limits."""
    channels = {**agent.charter.channels, channel: replace(agent.charter.channels[channel], **limits)}
    return replace(agent, charter=replace(agent.charter, channels=channels))  # type: ignore[type-var]


def tools_of(**made: Callable[[Mapping[str, Any]], Any]) -> Callable[[object], dict[str, Tool]]:
    """Tools that read something of others, made of plain functions; each runs beside the turn."""
    return lambda _: {
        name: Tool(ToolSpec(name, "A tool."), ToolPolicy(name, ToolClass.READ), work) for name, work in made.items()
    }


# ── a turn that has done something of everything before it fails ──────────────────────────────────────────────────

WRITES: Final = (
    call("update_prompt_layer", json.dumps({"layer_id": "decision_loop", "content": f"{CANARY} first."}), 1),
    call("save_memory", json.dumps({"text": f"{CANARY} likes seeds."}), 2),
    call("propose_change", json.dumps({"layer_id": "inbox", "content": f"{CANARY} second."}), 3),
)


def busy_step(text: str = "I write it down.") -> Reply:
    """A step of the model that changes a layer, keeps a note and proposes a change."""
    return said(text, *WRITES)


def asked(number: int = 1, **more: Any) -> Incoming:
    """A message of the operator's; its words are not to be found anywhere but where messages are kept."""
    return from_operator(f"{CANARY} asks {number}", id=f"m{number}", **more)


# ── what is kept ──────────────────────────────────────────────────────────────────────────────────────────────────

# What a turn that failed may leave: its record, its link of the log, what it cost, and its messages as they were.
LEAVES: Final = ("inbox_messages", "turn_records", "change_log", "chain_heads", "agent_spend")


def left(store: SqlStore, agent: str) -> Rows:
    """Every row of an agent's."""
    return rows_of(store, agent)


def bodies(agent: Agent) -> list[str]:
    """The messages that wait, whole, oldest first."""
    return [message.body for message in agent.store.staged(agent.name)]


def codes(agent: Agent) -> list[tuple[str, str]]:
    """How every turn ended, oldest first."""
    return [(turn.outcome, turn.code) for turn in reversed(agent.store.turns(agent.name, 10**6))]


def failed_alone(agent: Agent, before: Rows, code: str, *, waiting: list[str]) -> None:
    """Asserts that all there is since `before` is the record of one failed turn, and that its messages wait."""
    store: Any = agent.store
    after = left(store, agent.name)
    assert {name: rows for name, rows in after.items() if name not in LEAVES} == {
        name: rows for name, rows in before.items() if name not in LEAVES
    }
    assert after["turn_leases"] == []
    new = [turn for turn in store.turns(agent.name) if turn.id not in {row[1] for row in before["turn_records"]}]
    assert [(turn.outcome, turn.code) for turn in new] == [("failed", code)]
    assert bodies(agent) == waiting
    assert store.messages_of(agent.name, new[0].id) == []
    assert [row for row in after["change_log"] if row not in before["change_log"] and row[2] != "turn"] == []
    assert CANARY not in repr(after["turn_records"]) + repr(after["change_log"])


def answered_whole(agent: Agent, messages: list[str]) -> None:
    """Asserts that the last request asked for an answer to these messages, in order and whole, and nothing waits."""
    provider: Any = agent.provider
    user = [one["content"] for one in provider.payloads[-1]["messages"] if one["role"] == "user"]
    assert user[-1] == "\n\n".join(messages)
    assert bodies(agent) == []
    assert left(agent.store, agent.name)["turn_leases"] == []  # type: ignore[arg-type]
