"""Whatever was written by whom and in which order: a read for one person returns no byte of another's (S0-14)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from random import Random
from typing import Final, NamedTuple

import pytest

from charter.core.policy import Actor
from charter.core.ports import Part, Reads, Wanted
from charter.core.records import (
    Approval,
    Author,
    Change,
    ConversationEntry,
    Head,
    InboxMessage,
    Note,
    OutboxMessage,
    Place,
    Provenance,
    Settled,
    TurnRecord,
)
from charter.stores import outbox, reading
from charter.stores.store import SqlStore

from .held import RINGS, new_store
from .surgery import without

pytestmark = pytest.mark.requirement("S0-14", "S0-12", "S0-13", "S1-08", "S2-06", "S4-07", "N-10", "N-17", "N-18")

PEOPLE: Final = 250
WORD: Final = re.compile(r"w[0-9a-f]{16}w")
QUERY: Final = "tea, wish and said?"
OF_ONE: Final[tuple[Part, ...]] = ("instructions", "timezone", "history", "talk", "recent", "recall")
EVERY_PART: Final[tuple[Part, ...]] = (*OF_ONE, "layers", "agent", "inbox")
STEMS: Final = (
    "bob", "Bob", "bo", "bobby", "b%b", "b_b", "b'b", 'b"b', "b\\b", "system", "0", "日本", "é", "e\u0301", "ﬁ", "a b",
    "a/b", "a:b", "?", "$1", "👋",
)  # fmt: skip


class Person(NamedTuple):
    """A person, and a word that stands in everything of theirs and nowhere else."""

    name: str
    word: str


def people(chance: Random) -> list[Person]:
    """Names that look alike on purpose: prefixes of each other, cases, wildcards, letters that look the same."""
    names = [f"{STEMS[number % len(STEMS)]}{number // len(STEMS) or ''}" for number in range(PEOPLE - 20)]
    names += [f"0x{chance.getrandbits(160):040x}" for _ in range(20)]
    return [Person(name, f"w{chance.getrandbits(64):016x}w") for name in names]


class Schedule:
    """A random order of writes by many people to one agent of a store."""

    def __init__(self, store: SqlStore, seed: int) -> None:
        self.store, self.chance, self.agent = store, Random(seed), f"agent{seed}"
        self.everyone = people(self.chance)
        self.clock = 0
        self.notes: dict[str, list[str]] = {}

    def run(self, writes: int) -> list[Person]:
        """Does so many things; who did any."""
        deeds = (
            self.say, self.say, self.note, self.note, self.wish, self.stage, self.turn, self.turn, self.zone,
            self.forget, self.call, self.anew,
        )  # fmt: skip
        # Most writes are of a few people, so that their rows lie between those of others.
        often = self.chance.sample(self.everyone, 12)
        seen: dict[Person, None] = {}
        for _ in range(writes):
            self.clock += 1
            who = self.chance.choice(often if self.chance.random() < 0.6 else self.everyone)
            self.chance.choice(deeds)(who)
            seen[who] = None
        return list(seen)

    def say(self, who: Person) -> None:
        entry = ConversationEntry(f"m{self.clock}", f"said {who.word}", f"told {who.word}", f"t{who.word}", self.clock)
        self.store.append_conversation(self.agent, f" {who.name} ", entry)

    def note(self, who: Person) -> None:
        made_from = self.notes.setdefault(who.name, [])
        origin = tuple(self.chance.sample(made_from, min(len(made_from), self.chance.randint(0, 2))))
        told = Provenance(who.word, who.word, "user", f"user:{who.word}", derived_from=origin)
        text = f"tea {who.word} {self.clock}"
        made_from.append(self.store.remember(self.agent, who.name, text, day="2026-01-02", provenance=told).id)

    def wish(self, who: Person) -> None:
        place = self.place(who)
        head = self.store.head(place)
        by = Author(Actor.USER, who.name)
        self.store.commit(Change(place, f"wish {who.word}", head.version if head else 0, by, self.clock))

    def stage(self, who: Person) -> None:
        body = f"asks {who.word}"
        self.store.stage(self.agent, InboxMessage(f"{who.word}{self.clock}", who.name, body, self.clock, user=who.name))

    def turn(self, who: Person) -> None:
        name = f"turn{self.clock}"
        took = self.store.take(self.agent, name, lane=who.name, at_ns=self.clock, lease_ns=1)
        assert words_in(took) <= {who.word}
        record = TurnRecord(self.agent, name, self.clock, "inbox", who.name, who.name, detail='{"n": 1}')
        entries = [
            (who.name, ConversationEntry(one.id, one.body, f"told {who.word}", name, self.clock)) for one in took
        ]
        replies = [OutboxMessage(who.name, f"told {who.word} {part}", part=part) for part in range(2)]
        notes = [
            Note(who.name, f"tea {who.word} in {name}", "2026-01-02", Provenance(who.word, source=f"user:{who.word}"))
        ]
        self.store.settle(Settled(record, replies, entries, notes=notes))

    def call(self, who: Person) -> None:
        """A call whose hash is the same for all: only its owner's yes counts for it."""
        asked = Approval(
            f"{self.agent}-{self.clock}", self.agent, "t1", "mail", who.word, "f" * 64, self.clock, 10**9, who.name
        )
        waits = self.store.request_approval(asked)
        assert words_in(waits) <= {who.word}
        if self.chance.random() < 0.7:
            self.store.decide_approval(
                waits.id, waits.sha256, "approved", by=Author(Actor.USER, who.name), at_ns=self.clock
            )  # fmt: skip

    def anew(self, who: Person) -> None:
        self.store.fresh_start(self.agent, who.name, self.clock)

    def zone(self, who: Person) -> None:
        self.store.set_timezone(who.name, "Europe/Lisbon")

    def forget(self, who: Person) -> None:
        self.store.revoke(self.agent, f"user:{who.word}", by=Author(Actor.USER, who.name), at_ns=self.clock)
        self.notes.pop(who.name, None)

    def place(self, who: Person) -> Place:
        return Place(self.agent, "instructions", who.name, Head.INSTRUCTIONS)


def answers(store: SqlStore, schedule: Schedule, who: Person) -> Iterator[object]:
    """Everything a store tells that is asked for one person, one by one and as a turn asks."""
    agent, place = schedule.agent, schedule.place(who)
    want = Wanted(agent, OF_ONE, who.name, who.name, QUERY, recent_of=who.name)
    for reads in (store, store.for_turn(want), store.for_turn(replace(want, parts=EVERY_PART))):
        yield _of_one(reads, agent, who)
    yield store.head(place), store.history(place)
    yield [store.exchanges_before(agent, who.name, turn.id) for turn in store.turns(agent, 5)]
    yield store.replies(agent, who.name), [
        store.replies(agent, who.name, turn_id=turn.id) for turn in store.turns(agent, 5)
    ]  # fmt: skip
    yield store.use_approval(agent, who.name, "mail", "f" * 64, "last", schedule.clock)
    yield store.take(agent, f"last {who.word}", lane=who.name, at_ns=10**9, lease_ns=1)


def _of_one(reads: Reads, agent: str, who: Person) -> list[object]:
    return [
        reads.conversation(agent, who.name),
        reads.conversation(agent, f" {who.name}\n"),
        reads.exchanges(agent, who.name),
        reads.recent(agent, who.name, 20),
        reads.recall(agent, who.name, QUERY, 20),
        reads.instructions(agent, who.name),
        reads.timezone(who.name),
    ]


def words_in(value: object) -> set[str]:
    return set(WORD.findall(_whole(value)))


def _whole(value: object) -> str:
    """A value with the texts that its repr leaves out."""
    if isinstance(value, list | tuple):
        return " ".join(map(_whole, value))
    names = getattr(type(value), "__slots__", ())
    return " ".join(_whole(getattr(value, name)) for name in names) if names else str(value)


def hold(store: SqlStore, seed: int) -> int:
    """Runs one schedule and asks for some who wrote and some who may not have; how many answers had words in them."""
    schedule = Schedule(store, seed)
    chance, told = schedule.chance, 0
    wrote = schedule.run(chance.randint(40, 120))
    for who in (*chance.sample(wrote, 12), *chance.sample(schedule.everyone, 2)):
        for answer in answers(store, schedule, who):
            words = words_in(answer)
            assert words <= {who.word}, f"schedule {seed}"
            told += bool(words)
    for chain in store.chains():
        if chain.partition("/")[0] == schedule.agent:
            assert not words_in(store.log(chain)), f"schedule {seed}"
    return told


def run_all(kind: str, folder: Path, seeds: range) -> None:
    """50 schedules share a store, each with an agent of its own, so that each finds the rows of many others."""
    for start in range(seeds.start, seeds.stop, 50):
        with new_store(kind, folder, RINGS["keyed"]) as store:
            told = [hold(store, seed) for seed in range(start, min(start + 50, seeds.stop))]
            assert sum(told) > 20 * len(told)  # who asks is told their own


@pytest.mark.parametrize("start", range(0, 200, 50))
def test_in_a_file_nobody_is_told_a_byte_of_another(start: int, tmp_path: Path) -> None:
    run_all("sqlite", tmp_path, range(start, start + 50))


def test_on_postgresql_nobody_is_told_a_byte_of_another(tmp_path: Path) -> None:
    run_all("postgres", tmp_path, range(1000, 1020))


@pytest.mark.deep
@pytest.mark.parametrize("start", range(10_000, 20_000, 1000))
def test_in_a_file_nobody_is_told_a_byte_of_another_in_10_000_schedules(start: int, tmp_path: Path) -> None:
    run_all("sqlite", tmp_path, range(start, start + 1000))


@pytest.mark.deep
def test_on_postgresql_nobody_is_told_a_byte_of_another_in_500_schedules(tmp_path: Path) -> None:
    run_all("postgres", tmp_path, range(20_000, 20_500))


@pytest.mark.parametrize("part", ["recall", "recent", "instructions", "history", "talk"])
def test_a_turn_that_forgets_whose_rows_it_reads_is_found_out(
    part: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    anyone = reading._PARTS[part].replace("user_id = ?", "user_id >= substr(?, 99)")
    anyone = anyone.replace("c.sender = ?", "c.sender >= substr(?, 99)")
    monkeypatch.setitem(reading._PARTS, part, anyone)
    if part == "history":
        without(monkeypatch, reading.TurnReads, "conversation", "if row[1] == key", "")
    reading._plan.cache_clear()
    with new_store("memory", tmp_path) as store, pytest.raises(AssertionError, match=r"^schedule "):
        list(map(partial(hold, store), range(20)))
    reading._plan.cache_clear()


@pytest.mark.parametrize(("name", "whose"), [("_SENT_TO", "recipient = ?"), ("_SENT_IN", "recipient || '' = ?")])
def test_a_reader_of_replies_that_forgets_whose_they_are_is_found_out(
    name: str, whose: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert whose in getattr(outbox, name)
    monkeypatch.setattr(outbox, name, getattr(outbox, name).replace(whose, "recipient >= substr(?, 99)"))
    with new_store("memory", tmp_path) as store, pytest.raises(AssertionError, match=r"^schedule "):
        list(map(partial(hold, store), range(20)))
