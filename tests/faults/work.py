"""What a writer does, as named operations, each on an agent of its own, so that no attempt meets another's rows."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from charter import stores
from charter.core.keyring import KeyRing
from charter.core.policy import Actor
from charter.core.records import (
    Approval,
    Author,
    Change,
    ConversationEntry,
    Decision,
    Head,
    InboxMessage,
    Note,
    OutboxMessage,
    Place,
    Proposal,
    Proposed,
    Provenance,
    Settled,
    TurnRecord,
)
from charter.core.served import Schedule, Token
from charter.core.text import Trust
from charter.stores.store import SqlStore

KEYS: Final = KeyRing((("key-1", b"k" * 32),))
CANARY: Final = "Kanarienvogel"  # stands in every text; no error may say it
OPERATOR: Final = Author(Actor.OPERATOR, "ada")
NOW: Final = 10**18
LEASE: Final = 10**9


def opened(url: str) -> SqlStore:
    """The store every test here opens: with a key, so that rows have seals."""
    return stores.open(url, keys=KEYS)


def text(agent: str, number: int) -> str:
    """The text everybody expects under this number; some fit a page of the database, some need several."""
    words = [hashlib.sha256(f"{agent} {number} {at}".encode()).hexdigest() for at in range(1 + number * 7 % 90)]
    return f"{CANARY} {agent} {number} {' '.join(words)}"


def note(agent: str, number: int) -> str:
    """The note everybody expects under this number."""
    name = hashlib.sha256(agent.encode()).hexdigest()[:12]
    return f"{CANARY} {name} likes number {number} more than number {number + 1}"


# ── the operations ────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class Operation:
    """One call of the store that writes, and what must be there before it."""

    prepare: Callable[[SqlStore, str], object]
    act: Callable[[SqlStore, str], object]


def user_of(agent: str) -> str:
    return f"user of {agent}"


def sender_of(agent: str) -> str:
    return f"sender of {agent}"


def persona(agent: str) -> Place:
    return Place(agent, "persona")


def amend(store: SqlStore, agent: str, version: int) -> object:
    return store.commit(Change(persona(agent), text(agent, version), version - 1, OPERATOR, NOW + version))


def instruct(store: SqlStore, agent: str, version: int) -> object:
    place = Place(agent, "instructions", user_of(agent), Head.INSTRUCTIONS)
    by = Author(Actor.USER, user_of(agent))
    return store.commit(Change(place, text(agent, version), version - 1, by, NOW + version))


def ensoul(store: SqlStore, agent: str, version: int) -> object:
    place = Place(agent, "soul", head=Head.SOUL)
    return store.commit(Change(place, text(agent, version), version - 1, OPERATOR, NOW + version))


def propose(store: SqlStore, agent: str, base: int, *, expires: int = 2 * NOW) -> Proposal:
    by = Author(Actor.AGENT, agent, "turn-0")
    return store.propose(
        persona(agent), text(agent, base + 1), base_version=base, by=by, reason=CANARY, at_ns=NOW, expires_at_ns=expires
    )


def decision(store: SqlStore, agent: str, *, at_ns: int = NOW + 1) -> Decision:
    """What an operator decides about the oldest open proposal of an agent."""
    found = store.proposals(agent, "open")[0]
    return Decision(found.id, found.sha256, OPERATOR, at_ns)


def stage(store: SqlStore, agent: str, number: int) -> object:
    message = InboxMessage(f"m{number}", sender_of(agent), text(agent, number), NOW + number, user=user_of(agent))
    return store.stage(agent, message)


def take(store: SqlStore, agent: str, turn: str, at_ns: int = NOW) -> list[InboxMessage]:
    return store.take(agent, turn, at_ns=at_ns, lease_ns=LEASE)


def settle(store: SqlStore, agent: str, turn: str, messages: list[InboxMessage], entries: int = 1) -> None:
    """Ends a turn well: a reply and an exchange for every message."""
    record = TurnRecord(agent, turn, NOW, "inbox", sender_of(agent), counts={"messages": len(messages)})
    said = [
        (message.sender, ConversationEntry(message.id, message.body, note(agent, 1), turn, NOW)) for message in messages
    ]
    replies = [OutboxMessage(sender_of(agent), note(agent, 1), part=part) for part, _ in enumerate(messages)]
    store.settle(Settled(record, replies, said * entries))


def settle_all(store: SqlStore, agent: str, turn: str, messages: list[InboxMessage]) -> None:
    """Ends a turn well that changed two texts, kept two notes and proposed a change."""
    by = Author(Actor.AGENT, turn=turn)
    place = Place(agent, "instructions", user_of(agent), Head.INSTRUCTIONS)
    changes = [
        Change(persona(agent), text(agent, 1), 0, by, NOW),
        Change(place, text(agent, 2), 0, by, NOW),
    ]
    origin = Provenance("ada", "web", "user", f"https://{agent}.example")
    notes = [Note(user_of(agent), note(agent, number), "2026-01-01", origin) for number in (1, 2)]
    proposals = [Proposed(Place(agent, "soul", head=Head.SOUL), text(agent, 3), 0, by, CANARY, 2 * NOW)]
    counts = {"messages": len(messages), "input": 900, "output": 100}
    record = TurnRecord(agent, turn, NOW, "inbox", sender_of(agent), counts=counts, detail='{"model": "stub"}')
    replies = [OutboxMessage(sender_of(agent), note(agent, 1), part=part) for part, _ in enumerate(messages)]
    said = [(sender_of(agent), ConversationEntry("m1", text(agent, 1), note(agent, 1), turn, NOW))]
    store.settle(Settled(record, replies, said, changes, notes, proposals))


def ask(store: SqlStore, agent: str, number: int = 1, *, expires: int = 2 * NOW) -> Approval:
    """A call that waits for a person; asked about again with the same number, it is the same call."""
    name = f"a-{hashlib.sha256(f'{agent} {number} {expires}'.encode()).hexdigest()[:16]}"
    at_ns = NOW + number
    return store.request_approval(
        Approval(name, agent, "turn-0", "mail", text(agent, number), "f" * 64, at_ns, expires, user_of(agent))
    )


def approve(store: SqlStore, agent: str) -> Approval:
    """What an operator says to the oldest open call of an agent."""
    found = store.approvals(agent, "open")[0]
    return store.decide_approval(found.id, found.sha256, "approved", by=OPERATOR, at_ns=NOW + 2)


def _approved(store: SqlStore, agent: str) -> None:
    ask(store, agent)
    approve(store, agent)


def _late_call(store: SqlStore, agent: str) -> None:
    store.expire(NOW + 11)  # what an attempt before this one left
    ask(store, agent, expires=NOW + 10)
    approve(store, agent)


def use(store: SqlStore, agent: str) -> Approval | None:
    return store.use_approval(agent, user_of(agent), "mail", "f" * 64, "t1", NOW + 3)


def pause(store: SqlStore, agent: str) -> None:
    store.pause(agent, by=OPERATOR, at_ns=NOW, reason=CANARY)


def _limited(store: SqlStore, agent: str) -> None:
    store.limit(agent, by=OPERATOR, at_ns=NOW, tokens_per_day=10, turns_per_day=None)


def failed(agent: str, turn: str) -> TurnRecord:
    return TurnRecord(agent, turn, NOW, "inbox", sender_of(agent), outcome="failed", code="MODEL_UNREACHABLE")


def remember(store: SqlStore, agent: str, number: int, *derived_from: str) -> object:
    origin = Provenance("ada", "web", "user", f"https://{agent}.example", Trust.OUTSIDE, derived_from)
    return store.remember(
        agent, user_of(agent), note(agent, number), day="2026-01-01", at_ns=NOW + number, provenance=origin
    )


def converse(store: SqlStore, agent: str, number: int) -> object:
    entry = ConversationEntry(f"c{number}", text(agent, number), note(agent, number), "", NOW + number)
    store.append_conversation(agent, sender_of(agent), entry)
    return None


def _settled(store: SqlStore, agent: str, entries: int = 1) -> None:
    _taken(store, agent)
    settle(store, agent, "t1", _mine(agent), entries)


def _taken(store: SqlStore, agent: str) -> None:
    stage(store, agent, 1)
    stage(store, agent, 2)
    assert len(take(store, agent, "t1")) == 2


def _mine(agent: str) -> list[InboxMessage]:
    return [InboxMessage(f"m{number}", sender_of(agent), text(agent, number)) for number in (1, 2)]


def _overdue(store: SqlStore, agent: str) -> None:
    store.expire(NOW + 11)  # what an attempt before this one left open
    propose(store, agent, 0, expires=NOW + 10)


def _late(store: SqlStore, agent: str) -> None:
    _taken(store, agent)
    take(store, agent, "t2", NOW + 2 * LEASE)


def _notes(store: SqlStore, agent: str) -> None:
    remember(store, agent, 1)
    remember(store, agent, 2)


def _first_note(store: SqlStore, agent: str) -> str:
    return store.recent(agent, user_of(agent), 9)[-1].id


def secret_of(agent: str) -> str:
    """The hash of the secret, and of the code, of an agent."""
    return hashlib.sha256(agent.encode()).hexdigest()


def admit(store: SqlStore, agent: str) -> None:
    token = Token(secret_of(agent)[:12], "user", user_of(agent), agent, by=OPERATOR.mark, at_ns=NOW)
    store.add_token(token, secret_of(agent))


def arrange(store: SqlStore, agent: str) -> None:
    """A schedule of the agent's own name."""
    store.add_schedule(Schedule(agent, agent, "0 7 * * *", "UTC", text(agent, 1), user=user_of(agent), at_ns=NOW))


def _begun(store: SqlStore, agent: str) -> None:
    arrange(store, agent)
    assert store.begin_run(agent, NOW, at_ns=NOW)


def invite(store: SqlStore, agent: str) -> None:
    store.add_pairing(
        secret_of(agent), agent=agent, channel="telegram", user=user_of(agent), by=OPERATOR, at_ns=NOW,
        expires_at_ns=2 * NOW,
    )  # fmt: skip


def greet(store: SqlStore, agent: str) -> object:
    return store.pair(agent, "telegram", sender_of(agent), secret_of(agent), at_ns=NOW + 1)


def _greeted(store: SqlStore, agent: str) -> None:
    invite(store, agent)
    assert greet(store, agent) is not None


def _nothing(store: SqlStore, agent: str) -> None:
    """Nothing must be there."""


OPERATIONS: Final[dict[str, Operation]] = {
    "first version": Operation(_nothing, lambda store, a: amend(store, a, 1)),
    "next version": Operation(lambda store, a: amend(store, a, 1), lambda store, a: amend(store, a, 2)),
    "instructions": Operation(lambda store, a: instruct(store, a, 1), lambda store, a: instruct(store, a, 2)),
    "soul": Operation(_nothing, lambda store, a: ensoul(store, a, 1)),
    "refuse": Operation(_nothing, lambda store, a: store.refuse(persona(a), "LAYER_TOO_LONG", by=OPERATOR, at_ns=NOW)),
    "label": Operation(
        lambda store, a: amend(store, a, 1),
        lambda store, a: store.set_label(persona(a), "good", 1, by=OPERATOR, at_ns=NOW),
    ),
    "propose": Operation(lambda store, a: amend(store, a, 1), lambda store, a: propose(store, a, 1)),
    "apply": Operation(lambda store, a: propose(store, a, 0), lambda store, a: store.apply(decision(store, a))),
    "reject": Operation(
        lambda store, a: propose(store, a, 0), lambda store, a: store.close_proposal(decision(store, a), "rejected")
    ),
    "expire": Operation(_overdue, lambda store, a: store.expire(NOW + 11)),
    "stage": Operation(_nothing, lambda store, a: stage(store, a, 1)),
    "take": Operation(lambda store, a: [stage(store, a, 1), stage(store, a, 2)], lambda store, a: take(store, a, "t1")),
    "take over": Operation(_taken, lambda store, a: take(store, a, "t2", NOW + 2 * LEASE)),
    "settle": Operation(_taken, lambda store, a: settle(store, a, "t1", _mine(a))),
    "settle late": Operation(_late, lambda store, a: settle(store, a, "t2", _mine(a), 2)),
    "settle with changes": Operation(_taken, lambda store, a: settle_all(store, a, "t1", _mine(a))),
    "fail": Operation(_taken, lambda store, a: store.fail(failed(a, "t1"))),
    "mark sent": Operation(
        _settled, lambda store, a: store.mark_sent(a, "t1", OutboxMessage(sender_of(a), "", part=1), NOW + 1)
    ),
    "converse": Operation(lambda store, a: _settled(store, a, 10), lambda store, a: converse(store, a, 1)),
    "begin anew": Operation(_settled, lambda store, a: store.fresh_start(a, sender_of(a), NOW + 1)),
    "ask": Operation(_nothing, lambda store, a: ask(store, a)),
    "ask again": Operation(lambda store, a: ask(store, a, expires=NOW + 2), lambda store, a: ask(store, a, 3)),
    "approve": Operation(lambda store, a: ask(store, a), approve),
    "use": Operation(_approved, use),
    "expire a call": Operation(_late_call, lambda store, a: store.expire(NOW + 11)),
    "pause": Operation(_limited, pause),
    "resume": Operation(pause, lambda store, a: store.resume(a, by=OPERATOR, at_ns=NOW + 1)),
    "limit": Operation(pause, _limited),
    "remember": Operation(
        lambda store, a: remember(store, a, 1), lambda store, a: remember(store, a, 2, _first_note(store, a))
    ),
    "forget": Operation(
        _notes,
        lambda store, a: store.forget_note(a, user_of(a), _first_note(store, a), by=OPERATOR, at_ns=NOW),
    ),
    "revoke": Operation(_notes, lambda store, a: store.revoke(a, f"https://{a}.example", by=OPERATOR, at_ns=NOW)),
    "admit": Operation(_nothing, admit),
    "revoke a token": Operation(
        admit, lambda store, a: store.revoke_token(secret_of(a)[:12], by=OPERATOR, at_ns=NOW + 1)
    ),
    "arrange": Operation(_nothing, arrange),
    "take away a schedule": Operation(_begun, lambda store, a: store.remove_schedule(a)),
    "begin a run": Operation(_begun, lambda store, a: store.begin_run(a, NOW + 1, at_ns=NOW)),
    "end a run": Operation(_begun, lambda store, a: store.end_run(a, NOW, state="done", turn_id="t1", at_ns=NOW)),
    "invite": Operation(_nothing, invite),
    "greet": Operation(invite, greet),
    "send away": Operation(_greeted, lambda store, a: store.remove_peer(a, "telegram", sender_of(a))),
    "renew": Operation(_taken, lambda store, a: store.renew(a, "t1", until_ns=NOW + 9 * LEASE)),
    "time zone": Operation(_nothing, lambda store, a: store.set_timezone(user_of(a), "Europe/Berlin")),
}
