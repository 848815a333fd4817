"""A store with something in every table, by the store's own operations; people who can be told apart to the byte."""

from __future__ import annotations

import hashlib
import json
import tempfile
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, Final

import charter.stores
from charter.core.keyring import KeyRing, key_id
from charter.core.policy import Actor
from charter.core.records import (
    INIT,
    Approval,
    Author,
    Change,
    ConversationEntry,
    Decision,
    Head,
    InboxMessage,
    OutboxMessage,
    Place,
    Provenance,
    Settled,
    StoredLayer,
    TurnRecord,
)
from charter.core.served import Schedule, Token
from charter.core.text import Trust
from charter.stores import sqlite_path
from charter.stores.migrate import upgrade
from charter.stores.sqlite_file import create
from charter.stores.store import SqlStore

from . import databases
from .held import QuickSqlite
from .pg import copied, fresh_database

KEYS: Final = KeyRing(tuple((key_id(key), key) for key in (b"1" * 32, b"2" * 32)))
OLD_KEYS: Final = KeyRing(KEYS.keys[:1])
OLGA: Final = Author(Actor.OPERATOR, "olga")
ADA, HALTED, DAY, LEASE, LATER = "ada", "halted", "2026-03-01", 60 * 10**9, 10**15
RULES, TONE = Place(ADA, "rules"), Place(ADA, "tone")
SOUL, IDENTITY = Place(ADA, "soul", head=Head.SOUL), Place(ADA, "identity", head=Head.IDENTITY)


def wishes(user: str, agent: str = ADA) -> Place:
    return Place(agent, "instructions", user, Head.INSTRUCTIONS)


def user(name: str) -> Author:
    return Author(Actor.USER, name)


def in_turn(name: str) -> Author:
    return Author(Actor.AGENT, turn=name)


def put(store: SqlStore, place: Place, text: str, by: Author = OLGA, at_ns: int = 5) -> StoredLayer:
    """The next version of a text."""
    head = store.head(place)
    return store.commit(Change(place, text, head.version if head else 0, by, at_ns))


def fill_agent(store: SqlStore, agent: str = ADA) -> None:
    """What is the agent's own: layers with their history, labels, proposals in every state, notes."""
    rules = Place(agent, "rules")
    store.commit(Change(rules, "Shipped rules.", 0, INIT, 1, "seed"))
    put(store, rules, "Rules of the turn.", in_turn("t-0"), 2)
    store.commit(Change(rules, "Shipped rules.", 2, OLGA, 3, "rollback", 1))
    put(store, Place(agent, "tone"), '{"not": "an identity"}', at_ns=4)
    for number, place in enumerate(
        (Place(agent, "soul", head=Head.SOUL), Place(agent, "identity", head=Head.IDENTITY))
    ):
        put(store, place, '{"age": 1.50, "name": "Ada"}', at_ns=6 + number)
    store.set_label(rules, "prod", 1, by=OLGA, at_ns=7)
    store.set_label(rules, "prod", 2, by=OLGA, at_ns=8)
    store.set_label(Place(agent, "tone"), "prod", 1, by=OLGA, at_ns=8)
    store.refuse(rules, "LAYER_TOO_LONG", by=in_turn("t-0"), at_ns=9)
    decide(store, rules, OLGA)
    ask_for_calls(store, "", "rules", agent)
    store.remember(agent, "", "The agent's own note about tea.", day=DAY, at_ns=10)


def fill_person(store: SqlStore, name: str, said: str, agent: str = ADA) -> None:
    """What one person leaves everywhere; every text of theirs holds `said`."""
    for number, by in enumerate((user(name), OLGA, in_turn("t-9"), user(name))):
        put(store, wishes(name, agent), f"Wish {number}: {said}", by, 20 + number)
    store.set_timezone(name, "Europe/Lisbon")
    decide(store, wishes(name, agent), user(name), said)
    told = Provenance(name, "web", "user", f"user:{name}", Trust.OUTSIDE)
    first = store.remember(agent, name, f"Note one, {said} and tea", day=DAY, at_ns=30, provenance=told)
    derived = Provenance(name, "web", "agent", "web:page", Trust.PROJECT, (first.id,))
    store.remember(agent, name, f"Note two, {said} tea tea", day=DAY, at_ns=31, provenance=derived)
    gone = store.remember(agent, name, f"Note three, {said}", day=DAY, at_ns=32)
    store.forget_note(agent, name, gone.id, by=user(name), at_ns=33)
    heard = Provenance(name, "inbox", "sender", f"sender:{name}")
    store.remember(agent, "", f"The agent heard {said}", day=DAY, at_ns=34, provenance=heard)
    ask_for_calls(store, name, said, agent)
    take_turns(store, name, said, agent)
    serve(store, name, said, agent)


def ask_for_calls(store: SqlStore, name: str, said: str, agent: str = ADA) -> None:
    """A call in each state an approval can have; its arguments hold `said`."""
    for number, state in enumerate(("used", "approved", "denied", "expired", "open")):
        digest = hashlib.sha256(f"{agent} {said} {number}".encode()).hexdigest()
        arguments = json.dumps({"to": said, "number": number})
        store.request_approval(
            Approval(f"a-{digest[:12]}", agent, f"turn-{len(said)}-{number}", "send_mail", arguments, digest,
                     50 + number, 55 if state == "expired" else LATER, name)
        )  # fmt: skip
        if state in ("used", "approved", "denied"):
            by = user(name) if name and state == "used" else OLGA
            verdict: Any = "denied" if state == "denied" else "approved"
            store.decide_approval(f"a-{digest[:12]}", digest, verdict, by=by, at_ns=54)
        if state == "used":
            store.use_approval(agent, name, "send_mail", digest, f"turn-{len(said)}-1", 54)
    store.expire(55)


def serve(store: SqlStore, name: str, said: str, agent: str = ADA) -> None:
    """A token, two schedules with a run, a peer and a code that waits; the schedules hold `said`."""
    digest = hashlib.sha256(f"served {agent} {said}".encode()).hexdigest()
    store.add_token(Token(f"k-{digest[:12]}", "user", name, agent, "web", "admin:olga", 70, LATER), digest)
    plain = Schedule("", agent, "0 7 * * *", "UTC", f"Every morning: {said}", by=f"user:{name}", at_ns=71)
    first, second = (replace(plain, id=f"{said}-{number}-{agent}") for number in (1, 2))
    for made in (replace(first, recipient=name), replace(second, user=name)):
        store.add_schedule(made)
        store.begin_run(made.id, 72, at_ns=73)
        store.end_run(made.id, 72, state="done", turn_id=f"turn-{len(said)}-1", at_ns=74)
    for code in (digest, digest[::-1]):
        store.add_pairing(
            code, agent=agent, channel="telegram", user=name, by=user(name), at_ns=75, expires_at_ns=LATER
        )
    store.pair(agent, "telegram", f"peer of {name}", digest, at_ns=76)


def stop(store: SqlStore) -> None:
    """An agent that is paused, and one that went on; both have limits."""
    store.pause(HALTED, by=OLGA, at_ns=80, reason="it wrote too much")
    store.pause(ADA, by=OLGA, at_ns=80, reason="to look at it")
    store.resume(ADA, by=OLGA, at_ns=81)
    for agent in (ADA, HALTED):
        store.limit(agent, by=OLGA, at_ns=82, tokens_per_day=1_000, turns_per_day=5)


def decide(store: SqlStore, place: Place, by: Author, said: str = "rules") -> None:
    """Four proposals for a text: one each applied, rejected, expired and open."""
    decider = by if by.actor is Actor.USER else OLGA
    for number, end in enumerate(("applied", "rejected", "expired", "open")):
        head = store.head(place)
        made = store.propose(
            place, f"Proposed {number}: {said}", base_version=head.version if head else 0, by=by,
            reason=f"because {said}", at_ns=40 + number, expires_at_ns=50 if end == "expired" else LATER,
        )  # fmt: skip
        decision = Decision(made.id, made.sha256, decider if end == "applied" else OLGA, 45, f"signed {end}")
        if end == "applied":
            store.apply(decision)
        elif end == "rejected":
            store.close_proposal(decision, "rejected")
        elif end == "expired":
            store.expire(50)


def record(agent: str, name: str, at_ns: int, **more: Any) -> TurnRecord:
    return TurnRecord(
        agent, name, at_ns, "web", charter="sovereign", charter_version="1", mode="full", stack_sha256="a" * 64,
        payload_sha256="b" * 64, tools_sha256="c" * 64, manifest='{"layers": []}',
        counts={"tokens": 7, "input": 5, "output": 2}, **more,
    )  # fmt: skip


def take_turns(
    store: SqlStore, name: str, said: str, agent: str = ADA, *, detail: str = '{"model": "stub"}'
) -> None:  # fmt: skip
    """Three turns: as a sender, as a user with another sender, and one that fails; then messages that still wait.

    The second has the detail.
    """
    for number in range(5):
        body = f"Message {number}: {said}"
        store.stage(agent, InboxMessage(f"m-{len(said)}-{number}", name, body, number, user=name if number > 3 else ""))
    for number, who in enumerate(({"sender": name}, {"sender": f"{name}@web", "user": name})):
        turn = f"turn-{len(said)}-{number}"
        store.take(agent, turn, lane=name, at_ns=60, lease_ns=LEASE, max_messages=2)
        entry = ConversationEntry(f"m-{len(said)}-{number}", f"Said {said}", f"Heard {said}", turn, 61)
        replies = [OutboxMessage(name, f"Reply {said}", part=part) for part in range(2)]
        made = record(agent, turn, 61 + number, detail=detail if number else "{}", **who)
        store.settle(Settled(made, replies, [(name, entry)]))
        store.mark_sent(agent, turn, replies[0], 62)
    store.take(agent, f"turn-{len(said)}-2", lane=name, at_ns=63, lease_ns=LEASE)
    store.fail(record(agent, f"turn-{len(said)}-2", 64, sender=name, outcome="failed", code="MODEL_FAILED"))
    store.take(agent, f"turn-{len(said)}-3", lane=name, at_ns=65, lease_ns=LEASE, max_messages=0)


def fill(store: SqlStore) -> None:
    """Two people and an agent, and an agent that was stopped."""
    fill_agent(store)
    fill_person(store, "bob", "celery")
    fill_person(store, "mira", "marzipan")
    store.add_token(Token("k-olga", "operator", "olga", by="init", at_ns=79), "0" * 64)
    store.revoke_token("k-olga", by=OLGA, at_ns=80)
    store.add_schedule(Schedule("s-agent", ADA, "* * * * *", "UTC", "look around", by=OLGA.mark, at_ns=79))
    stop(store)


# ── databases ─────────────────────────────────────────────────────────────────────────────────────────────────────


def filled(kind: str, folder: Path) -> tuple[str, SqlStore]:
    """The address of a filled database of its own, and a store on it."""
    return _opened(kind, folder, full=True)


def new(kind: str, folder: Path, keys: KeyRing = KEYS) -> tuple[str, SqlStore]:
    """The same, but empty."""
    return _opened(kind, folder, full=False, keys=keys)


def _opened(kind: str, folder: Path, *, full: bool, keys: KeyRing = KEYS) -> tuple[str, SqlStore]:
    if kind == "postgres":
        url = copied(_server_template(full=full))
        return url, charter.stores.open(url, keys=keys)
    folder.mkdir(exist_ok=True)
    path = folder / "charter.db"
    path.write_bytes(_file_template(full=full))
    return f"sqlite:///{path}", SqlStore(QuickSqlite(path, keys))


@cache
def _file_template(*, full: bool) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "charter.db"
        create(path)
        if full:
            with SqlStore(QuickSqlite(path, KEYS)) as store:
                fill(store)
        return path.read_bytes()


@cache
def _server_template(*, full: bool) -> str:
    url = fresh_database()
    upgrade(url)
    if full:
        with charter.stores.open(url, keys=KEYS) as store:
            fill(store)
    return url


def text_of(url: str) -> str:
    """Every cell of every table."""
    return repr(databases.contents(url))


def files_of(url: str) -> bytes:
    """The bytes of an SQLite database, and of the files beside it."""
    path = sqlite_path(url)
    assert path is not None
    return b"".join(file.read_bytes() for file in sorted(path.parent.glob(f"{path.name}*")))
