"""Histories by chance: everything people, agents and operators do to a store, in any order."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from random import Random
from typing import Any, Final

from charter.amend import Edit, amend, approve, label, reject, rollback, seed_all
from charter.core.errors import CharterError
from charter.core.policy import Actor
from charter.core.records import (
    Approval,
    Author,
    Change,
    ConversationEntry,
    Decision,
    InboxMessage,
    Note,
    OutboxMessage,
    Place,
    Proposed,
    Provenance,
    Settled,
)
from charter.core.text import Trust
from charter.folder import load
from charter.stores.people import forget
from charter.stores.prune import prune
from charter.stores.store import SqlStore

from .filled import DAY, LEASE, OLGA, in_turn, put, record, user, wishes

SOVEREIGN, ASSISTANT = load("sovereign"), load("assistant")
AGENTS: Final = ("automaton", "assistant")
PEOPLE: Final = ("bob", "mira", " bob", "0xAbCdEf0000000000000000000000000000001234")
WORDS: Final = ("tea", "leeks", "maps", "東京", "rain")


Deed = Callable[["History"], None]


class History:
    """A store, and the chance that drives it; time goes on by itself."""

    def __init__(self, store: SqlStore, seed: int, deeds: Sequence[Deed] = ()) -> None:
        self.store = store
        self.deeds = deeds or DEEDS
        self.chance = Random(seed)
        self.now = 1_000

    def go_on(self, steps: int) -> list[str]:
        """Does this many things; the names of those that were not refused."""
        done = []
        for _ in range(steps):
            self.now += self.chance.choice((0, 1, 1, 50))
            deed = self.chance.choice(self.deeds)
            with suppress(CharterError):  # what is refused is refused; the store must be clean either way
                deed(self)
                done.append(deed.__name__)
        return done

    @property
    def agent(self) -> str:
        return self.chance.choice(AGENTS)

    @property
    def person(self) -> str:
        return self.chance.choice(PEOPLE)

    @property
    def text(self) -> str:
        return " ".join(self.chance.choices(WORDS, k=self.chance.randint(1, 9)))

    @property
    def author(self) -> Author:
        return self.chance.choice((OLGA, in_turn(f"turn-{self.now}"), user(self.person)))


def amends(of: History) -> None:
    layer = of.chance.choice(("inbox", "memory", "decision_loop"))
    head = of.store.layer("automaton", layer)
    edit = Edit(layer, of.text, head.version if head else 1, reason=of.text)
    amend(of.store, SOVEREIGN, edit, by=of.author, at_ns=of.now, tainted=of.chance.random() < 0.3)


def seeds(of: History) -> None:
    seed_all(of.store, SOVEREIGN, of.chance.choice(("automaton", "second")), of.now)


def wants(of: History) -> None:
    name = of.person
    place = wishes(name, "assistant")
    head = of.store.head(place)
    edit = Edit("instructions", of.text, head.version if head else 0, user=name)
    amend(of.store, ASSISTANT, edit, by=user(name), at_ns=of.now, tainted=of.chance.random() < 0.3)


def configures(of: History) -> None:
    layer = of.chance.choice(("soul", "identity"))
    place = ASSISTANT.stored(layer)[1]
    put(of.store, place, json.dumps({"name": of.text}) if layer == "identity" else of.text, at_ns=of.now)


def goes_back(of: History) -> None:
    head = of.store.layer("automaton", "inbox")
    edit = Edit("inbox", "", head.version if head else 0)
    rollback(of.store, SOVEREIGN, edit, to=of.chance.randint(1, 3), by=OLGA, at_ns=of.now, bury=True)


def names(of: History) -> None:
    label(of.store, SOVEREIGN, of.chance.choice(WORDS[:2]), {"inbox": of.chance.randint(1, 3)}, agent="automaton",
          by=OLGA, at_ns=of.now)  # fmt: skip


def decides(of: History) -> None:
    found = of.chance.choice(of.store.proposals(state="open") or [None])
    if found is not None:
        decision = Decision(found.id, found.sha256, OLGA, of.now, of.chance.choice(("", "signed")))
        charter = ASSISTANT if found.place.agent == "assistant" else SOVEREIGN
        approve(of.store, charter, decision) if of.chance.random() < 0.6 else reject(of.store, decision)


def expires(of: History) -> None:
    of.store.expire(of.now + of.chance.choice((0, 10**18)))


def remembers(of: History) -> None:
    owner = of.chance.choice(("", of.person))
    before = of.store.recent(agent := of.agent, owner, 3)
    said = of.person
    told = Provenance(
        of.chance.choice(("", said)), "web", of.chance.choice(("user", "sender", "web")),
        of.chance.choice(("", "web:page", f"user:{said}", f"sender:{said}")), of.chance.choice(list(Trust)),
        tuple(note.id for note in before if of.chance.random() < 0.4),
    )  # fmt: skip
    of.store.remember(agent, owner, of.text, day=DAY, at_ns=of.now, provenance=told)


def revokes(of: History) -> None:
    source = of.chance.choice(("web:page", f"user:{of.person}", f"sender:{of.person}"))
    of.store.revoke(of.agent, source, by=of.author, at_ns=of.now)


def takes_back(of: History) -> None:
    owner = of.chance.choice(("", of.person))
    agent = of.agent
    for note in of.store.recent(agent, owner, 1):
        of.store.forget_note(agent, owner, note.id, by=of.author, at_ns=of.now)


def talks(of: History) -> None:
    """A turn from message to reply; now and then it fails, or never ends."""
    agent, name, turn = of.agent, of.person, f"turn-{of.chance.getrandbits(40):x}"
    lane = of.chance.choice(("", name.strip().lower() if name.startswith("0x") else name.strip()))
    message = InboxMessage(f"m-{turn}", name, of.text, of.now, user=of.chance.choice(("", name)))
    of.store.stage(agent, message)
    of.store.take(agent, turn, lane=lane, at_ns=of.now, lease_ns=LEASE if of.chance.random() < 0.1 else 5)
    who = {"sender": name, "user": of.chance.choice(("", of.person))}
    end = of.chance.random()
    if end < 0.2:
        of.store.fail(record(agent, turn, of.now, outcome="failed", code="MODEL_FAILED", **who))
    elif end < 0.9:
        entry = ConversationEntry("m", of.text, of.text, turn, of.now)
        detail = of.chance.choice(("{}", json.dumps({"model": of.text})))
        made = Settled(
            record(agent, turn, of.now, detail=detail, **who), [OutboxMessage(name, of.text)], [(name, entry)]
        )
        of.store.settle(_with_tools(of, made) if of.chance.random() < 0.5 else made)
        if of.chance.random() < 0.5:
            of.store.mark_sent(agent, turn, OutboxMessage(name, ""), of.now)


def _with_tools(of: History, made: Settled) -> Settled:
    """The same turn, which changed, kept and proposed something; now and then on a version that was never there."""
    agent, by, owner = made.turn.agent, in_turn(made.turn.id), made.turn.user or made.turn.sender
    place = of.chance.choice((wishes(owner, agent), Place(agent, "inbox")))
    head = of.store.head(place)
    base = (head.version if head else 0) + (of.chance.random() < 0.1)
    told = Provenance(owner, "web", "user", f"user:{owner}")
    return replace(
        made,
        changes=[Change(place, of.text, base, by, of.now)],
        notes=[Note(of.chance.choice(("", owner)), of.text, DAY, told)],
        proposals=[Proposed(wishes(of.person, agent), of.text, base, by, of.text, of.now + 9)],
    )


def calls(of: History) -> None:
    """A call that is asked about; then maybe decided and used, by whoever it may be."""
    agent, name, digest = of.agent, of.chance.choice(("", of.person)), of.chance.choice("abc") * 64
    made = Approval(f"a-{of.chance.getrandbits(60):x}", agent, "t1", "mail", of.text, digest, of.now, of.now + 60, name)
    waits = of.store.request_approval(made)
    if of.chance.random() < 0.7:
        verdict: Any = of.chance.choice(("approved", "approved", "denied"))
        of.store.decide_approval(waits.id, digest, verdict, by=of.author, at_ns=of.now)
    if of.chance.random() < 0.6:
        of.store.use_approval(agent, name, "mail", digest, f"turn-{of.now}", of.now)


def stops(of: History) -> None:
    agent, deed = of.agent, of.chance.random()
    if deed < 0.3:
        of.store.pause(agent, by=of.author, at_ns=of.now, reason=of.text)
    elif deed < 0.7:
        of.store.resume(agent, by=of.author, at_ns=of.now)
    else:
        most = of.chance.choice((None, 5))
        of.store.limit(agent, by=of.author, at_ns=of.now, tokens_per_day=most, turns_per_day=7)


def begins_anew(of: History) -> None:
    of.store.fresh_start(of.agent, of.person, of.now)


def refuses(of: History) -> None:
    of.store.refuse(wishes(of.person), "LAYER_TOO_LONG", by=of.author, at_ns=of.now)


def sets_a_zone(of: History) -> None:
    of.store.set_timezone(of.person, of.chance.choice(("UTC", "Asia/Tokyo")))


def is_forgotten(of: History) -> None:
    forget(of.store.db, of.person, by=of.chance.choice((OLGA, user(of.person))), at_ns=of.now)


def is_pruned(of: History) -> None:
    before = of.now - of.chance.choice((-5, 0, 100))
    prune(of.store.db, inbox_before_ns=before, outbox_before_ns=before, turns_before_ns=before, at_ns=of.now)


def writes_for_another(of: History) -> None:
    """What no gate lets through, but the store itself would take: a user who changes what is not theirs."""
    by = Author(Actor.USER, of.person)
    place = of.chance.choice((wishes(of.person), ASSISTANT.stored("soul")[1]))
    put(of.store, place, of.text, by, of.now)
    head = of.store.head(place)
    made = of.store.propose(
        place, of.text, base_version=head.version if head else 0, by=by, reason=of.text, at_ns=of.now,
        expires_at_ns=of.now + 9,
    )  # fmt: skip
    if of.chance.random() < 0.5:
        of.store.close_proposal(Decision(made.id, made.sha256, Author(Actor.USER, of.person), of.now), "rejected")
    if place.head == "soul":
        of.store.set_label(place, "mine", 1, by=by, at_ns=of.now)


DEEDS: Final[tuple[Deed, ...]] = (
    amends, amends, seeds, wants, wants, wants, configures, goes_back, names, decides, decides, expires, remembers,
    remembers, remembers, revokes, takes_back, talks, talks, talks, refuses, sets_a_zone, is_forgotten, is_pruned,
    writes_for_another, calls, calls, calls, stops, begins_anew,
)  # fmt: skip
