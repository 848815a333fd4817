"""Contracts of what a turn reads: the same as one by one, at one moment, and nothing it did not ask for (S0-14)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import combinations
from typing import get_args

from ..core.errors import BadValue
from ..core.ports import Part, Reads, Store, Wanted
from ..core.records import Approval, Place
from .check import Contract, alike, must, refused, same
from .parts import (
    ADDRESS,
    AGENT,
    DAY,
    IDENTITY,
    OPERATOR,
    RULES,
    SOUL,
    entry,
    everything,
    message,
    put,
    run,
    stage,
    take,
    turn,
    user,
    wishes,
)

PARTS: tuple[Part, ...] = get_args(Part)
WANT = Wanted(AGENT, PARTS, user="ana", sender="mira", query="tea and cake", recent_of="ana")
ASKED: dict[Part, tuple[Callable[[Reads], object], ...]] = {
    "layers": (
        lambda reads: reads.layer(AGENT, "rules"),
        lambda reads: reads.layer(AGENT, "tone"),
        lambda reads: reads.layer(AGENT, "none"),
    ),
    "instructions": (lambda reads: reads.instructions(AGENT, "ana"),),
    "timezone": (lambda reads: reads.timezone("ana"),),
    "agent": (lambda reads: reads.agent_configuration(AGENT),),
    "inbox": (lambda reads: list(reads.staged(AGENT)), lambda reads: reads.waiting(AGENT)),
    "history": (lambda reads: reads.conversation(AGENT, "mira"), lambda reads: reads.conversation(AGENT, " mira ")),
    "talk": (lambda reads: list(reads.exchanges(AGENT, "mira")), lambda reads: list(reads.exchanges(AGENT, " mira "))),
    "recent": (lambda reads: list(reads.recent(AGENT, "ana", 5)), lambda reads: list(reads.recent(AGENT, "ana", 20))),
    "recall": (
        lambda reads: list(reads.recall(AGENT, "ana", WANT.query, 5)),
        lambda reads: list(reads.recall(AGENT, "ana", WANT.query, 1)),
    ),
}


def fill(store: Store) -> None:
    """Something of every part, and as much of others."""
    for agent in (AGENT, "bob"):
        for name in ("rules", "tone"):
            put(store, Place(agent, name), f"{name} of {agent}", at_ns=3)
        put(store, Place(agent, "soul", head=SOUL.head), f"soul of {agent}")
        put(store, Place(agent, "identity", head=IDENTITY.head), f'{{"name": "{agent}"}}')
        for who in ("ana", "bob", "mira"):
            put(store, wishes(who, agent), f"wishes of {who} with {agent}", by=user(who))
            for number in range(7):
                store.remember(agent, who, f"{'tea' if number % 2 else 'cake'} {number} of {who} with {agent}", day=DAY)
        for number in range(30):
            sender = ("mira", "bob", ADDRESS)[number % 3]
            store.append_conversation(agent, sender, entry(number, body=f"{sender} to {agent}"))
            stage(store, message(number, ("bob", ADDRESS)[number % 2], f"waits for {agent}"), agent=agent)
    for who, zone in (("ana", "Europe/Lisbon"), ("bob", "Asia/Tokyo")):
        store.set_timezone(who, zone)


def what_a_turn_reads_is_what_it_would_read_one_by_one(store: Store) -> None:
    for full in (False, True):
        if full:
            fill(store)
        for size in (1, 2, len(PARTS)):
            for parts in combinations(PARTS, size):
                reads = store.for_turn(replace(WANT, parts=parts))
                for part in parts:
                    for ask in ASKED[part]:
                        same(ask(reads), ask(store), f"what a turn reads of {part}")
    parts_again: tuple[Part, ...] = ("inbox", "inbox", "recent", "recent")
    reads = store.for_turn(replace(WANT, parts=parts_again))
    alike(reads.staged(AGENT), store.staged(AGENT), "what a turn reads that asked twice")
    alike(reads.recent(AGENT, "ana", 9), store.recent(AGENT, "ana", 9), "what a turn reads that asked twice")


def a_turn_reads_what_was_said_with_its_own_senders_and_no_others(store: Store) -> None:
    fill(store)
    away = ADDRESS.replace("AbC", "DeF")
    for name in ("eve", away):
        store.append_conversation(AGENT, name, entry(1))
    for sender, none in (("mira", "eve"), ("eve", away), (f" {away} ", "eve"), ("", "eve"), ("nobody", "mira")):
        reads = store.for_turn(replace(WANT, sender=sender))
        for name in ("bob", ADDRESS, sender or "bob"):
            same(reads.conversation(AGENT, name), store.conversation(AGENT, name), f"what was said with {name!r}")
        same(reads.conversation(AGENT, none), None, f"what was said with {none!r}")
    for last in (0, 3, 20, 99):
        log = store.for_turn(replace(WANT, history=last)).conversation(AGENT, "mira")
        wanted = [f"t{number}" for number in range(0, 30, 3)][-last:] if last else []
        alike([one.turn_id for one in log.entries] if log else [], wanted, f"the last {last} exchanges")


def a_turn_cannot_read_a_part_it_did_not_ask_for(store: Store) -> None:
    fill(store)
    for part in PARTS:
        parts = tuple(other for other in PARTS if other != part)
        for wanted in (parts, ()):
            reads = store.for_turn(replace(WANT, parts=wanted))
            for ask in ASKED[part]:
                refused(BadValue, ask, reads)


def a_turn_cannot_read_for_another_agent_user_or_question(store: Store) -> None:
    fill(store)
    reads = store.for_turn(WANT)
    for agent in ("bob", "", "Ada"):
        refused(BadValue, reads.layer, agent, "rules")
        refused(BadValue, reads.staged, agent)
        refused(BadValue, reads.waiting, agent)
        refused(BadValue, reads.conversation, agent, "mira")
        refused(BadValue, reads.exchanges, agent, "mira")
        refused(BadValue, reads.recent, agent, "ana", 5)
        refused(BadValue, reads.recall, agent, "ana", WANT.query, 5)
        refused(BadValue, reads.instructions, agent, "ana")
        refused(BadValue, reads.agent_configuration, agent)
    for who in ("bob", "", "Ana", "mira"):
        refused(BadValue, reads.recent, AGENT, who, 5)
        refused(BadValue, reads.recall, AGENT, who, WANT.query, 5)
        refused(BadValue, reads.instructions, AGENT, who)
        refused(BadValue, reads.timezone, who)
    for who in ("bob", "", "Mira"):
        refused(BadValue, reads.exchanges, AGENT, who)
    refused(BadValue, reads.recall, AGENT, "ana", "cake", 5)


def what_a_turn_has_read_does_not_change_under_it(store: Store) -> None:
    fill(store)
    reads = store.for_turn(WANT)
    before = {part: [ask(reads) for ask in asks] for part, asks in ASKED.items()}
    put(store, RULES, "changed")
    put(store, SOUL, "changed")
    put(store, wishes("ana"), "changed")
    store.set_timezone("ana", "UTC")
    store.append_conversation(AGENT, "mira", entry(99))
    store.remember(AGENT, "ana", "tea, newly", day=DAY)
    store.forget_note(AGENT, "ana", store.recent(AGENT, "ana", 9)[-1].id, by=OPERATOR, at_ns=9)
    take(store, "t1", lane="bob")
    same({part: [ask(reads) for ask in asks] for part, asks in ASKED.items()}, before, "what the turn has read")
    later = store.for_turn(WANT)
    must(all(asks[0](later) != before[part][0] for part, asks in ASKED.items()), "the next turn should read it anew")


def reading_writes_nothing_and_printing_shows_no_text(store: Store) -> None:
    fill(store)
    stage(store, message(77, "mira", "SECRET"))
    put(store, RULES, "SECRET")
    put(store, SOUL, "SECRET")
    put(store, wishes("ana"), "SECRET")
    store.append_conversation(AGENT, "mira", entry(77, body="SECRET", reply="SECRET"))
    store.remember(AGENT, "ana", "SECRET tea", day=DAY)
    waits = store.propose(RULES, "SECRET", base_version=2, by=OPERATOR, reason="", at_ns=3, expires_at_ns=9)
    run(store, turn("t1", detail='{"a": "SECRET"}'), reply="mira")
    store.request_approval(Approval("a-1", AGENT, "t1", "mail", "SECRET", "f" * 64, 3, 9, "ana"))
    store.pause(AGENT, by=OPERATOR, at_ns=3, reason="SECRET")
    before = everything(store, "ana")
    reads = store.for_turn(WANT)
    found = [ask(reads) for part, asks in ASKED.items() if part != "instructions" for ask in asks]
    kept = {name: value for name, value in before.items() if name != "wishes"}
    must("SECRET" not in repr((store, reads, waits, found, kept)), "a text should not show when printed")
    same(everything(store, "ana"), before, "the store after reading")


CONTRACTS: tuple[Contract, ...] = (
    what_a_turn_reads_is_what_it_would_read_one_by_one,
    a_turn_reads_what_was_said_with_its_own_senders_and_no_others,
    a_turn_cannot_read_a_part_it_did_not_ask_for,
    a_turn_cannot_read_for_another_agent_user_or_question,
    what_a_turn_has_read_does_not_change_under_it,
    reading_writes_nothing_and_printing_shows_no_text,
)
