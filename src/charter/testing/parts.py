"""The small values contracts write with, and everything a store tells of itself."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ..core.chain import broken
from ..core.policy import Actor
from ..core.ports import Store
from ..core.records import (
    Author,
    Change,
    ConversationEntry,
    Decision,
    Head,
    InboxMessage,
    OutboxMessage,
    Place,
    Settled,
    StoredLayer,
    TurnRecord,
)
from .check import alike, same

AGENT = "ada"
RULES = Place(AGENT, "rules")
SOUL = Place(AGENT, "soul", head=Head.SOUL)
IDENTITY = Place(AGENT, "identity", head=Head.IDENTITY)
OPERATOR = Author(Actor.OPERATOR, "olga")
DAY = "2026-01-02"
SECOND = 10**9
LEASE = 60 * SECOND
ADDRESS = "0xAbCdEf0000000000000000000000000000001234"


def wishes(user: str, agent: str = AGENT) -> Place:
    """Where the instructions of a user with an agent are."""
    return Place(agent, "instructions", user, Head.INSTRUCTIONS)


def agent_in(turn: str) -> Author:
    """The agent, acting in a turn."""
    return Author(Actor.AGENT, turn=turn)


def user(name: str) -> Author:
    return Author(Actor.USER, name)


def put(store: Store, place: Place, content: str, *, by: Author = OPERATOR, at_ns: int = 1) -> StoredLayer:
    """The next version of a text."""
    head = store.head(place)
    return store.commit(Change(place, content, head.version if head else 0, by, at_ns))


def decision(proposal_id: str, sha256: str, *, at_ns: int = 5, by: Author = OPERATOR) -> Decision:
    return Decision(proposal_id, sha256, by, at_ns)


def message(number: int, sender: str = "mira", body: str = "") -> InboxMessage:
    return InboxMessage(f"m{number}", sender, body or f"message {number}", received_at_ns=number)


def entry(number: int, *, at_ns: int | None = None, body: str = "q", reply: str = "a") -> ConversationEntry:
    return ConversationEntry(f"m{number}", body, reply, f"t{number}", number if at_ns is None else at_ns)


def turn(name: str, *, agent: str = AGENT, at_ns: int = 2 * SECOND, **more: Any) -> TurnRecord:
    return TurnRecord(**({"channel": "inbox"} | more), agent=agent, id=name, at_ns=at_ns)


def failed(name: str, **more: Any) -> TurnRecord:
    return turn(name, outcome="failed", code="MODEL_FAILED", **more)


def take(store: Store, name: str, *, agent: str = AGENT, lane: str = "", at_ns: int = SECOND) -> list[str]:
    """Begins a turn; the ids of its messages."""
    return [found.id for found in store.take(agent, name, lane=lane, at_ns=at_ns, lease_ns=LEASE)]


def run(store: Store, record: TurnRecord, *, lane: str = "", reply: str = "") -> None:
    """A whole turn that works: takes what waits, and replies to one."""
    take(store, record.id, agent=record.agent, lane=lane)
    replies = [OutboxMessage(reply, f"reply of {record.id}")] if reply else []
    store.settle(Settled(record, replies))


def stage(store: Store, *messages: InboxMessage, agent: str = AGENT) -> None:
    for one in messages:
        store.stage(agent, one)


def everything(store: Store, *users: str, agent: str = AGENT) -> dict[str, Any]:
    """All a store tells of an agent and these users: equal before and after means that nothing was written."""
    return {
        "layers": [(store.head(place), list(store.history(place))) for place in (RULES, SOUL, IDENTITY)],
        "wishes": [(store.instructions(agent, name), list(store.history(wishes(name, agent)))) for name in users],
        "labels": list(store.labels(agent)),
        "proposals": list(store.proposals()),
        "approvals": list(store.approvals()),
        "control": store.control(agent, "1970-01-01"),
        "inbox": (list(store.staged(agent)), store.waiting(agent)),
        "outbox": list(store.unsent(agent)),
        "talk": [(one, store.conversation(agent, one.sender)) for one in store.conversations(agent)],
        "chats": [list(store.exchanges(agent, one.sender)) for one in store.conversations(agent)],
        "turns": list(store.turns(agent)),
        "notes": [list(store.recent(agent, name, 1000)) for name in ("", *users)],
        "sources": list(store.sources(agent)),
        "zones": [store.timezone(name) for name in users],
        "tokens": list(store.tokens()),
        "schedules": [(one, list(store.runs(one.id, 9))) for one in store.schedules()],
        "peers": list(store.peers()),
        "log": [row for chain in store.chains() for row in store.log(chain)],
    }


@contextmanager
def untouched(store: Store, *users: str) -> Iterator[None]:
    """Holds a store to be afterwards what it was before."""
    before = everything(store, *users)
    yield
    after = everything(store, *users)
    for name in before:
        same(after[name], before[name], f"{name}, after what was refused")


def verified(store: Store) -> None:
    """Every chain of the log follows from its first row to its last."""
    alike(list(_broken(store)), [], "what is wrong with the log")


def _broken(store: Store) -> Iterator[tuple[str, int, str]]:
    for chain in store.chains():
        rows = store.log(chain)
        alike([row.chain for row in rows], [chain] * len(rows), "the chain of its rows")
        yield from ((chain, seq, what) for seq, what in broken(rows))
