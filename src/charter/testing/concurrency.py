"""Contracts of many at once: whatever two do together, one of them was first and nothing is lost (N-17)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from threading import Event

from ..core.errors import Busy, CharterError, Conflict
from ..core.ports import Store, Wanted
from ..core.records import Change, Note, OutboxMessage, Place, Settled, StoredLayer
from .check import Contract, alike, at_once, must, of, same, there
from .parts import (
    AGENT,
    DAY,
    LEASE,
    OPERATOR,
    RULES,
    SECOND,
    SOUL,
    agent_in,
    entry,
    failed,
    message,
    put,
    stage,
    take,
    turn,
    user,
    verified,
    wishes,
)

MANY = 8


def of_many_changes_made_on_one_version_one_is_written(store: Store) -> None:
    for place in (RULES, wishes("ana"), RULES):
        _race_for(store, place)
    verified(store)


def _race_for(store: Store, place: Place) -> None:
    head = store.head(place)
    base = head.version if head else 0
    ends = at_once(MANY, lambda n: store.commit(Change(place, f"on {base} by {n}", base, agent_in(f"t{n}"), n)))
    (won,) = of(StoredLayer, ends)
    alike([told.current for told in of(Conflict, ends)], [base + 1] * (MANY - 1), "what the others are told")
    same(store.head(place), won, "the text now")
    alike([row.version for row in store.history(place)], range(1, base + 2), "the versions")


def many_writers_of_one_chain_leave_no_hole_in_it(store: Store) -> None:
    def write(number: int) -> None:
        for step in range(6):
            store.remember(AGENT, "ana", f"note {number} {step}", day=DAY)
            store.refuse(wishes("ana"), "LAYER_EMPTY", by=user("ana"), at_ns=step)
            store.propose(wishes("ana"), "x", base_version=0, by=OPERATOR, reason="", at_ns=step, expires_at_ns=9)

    alike(of(CharterError, at_once(MANY, write)), [], "what went wrong")
    (chain,) = store.chains()
    same(len(store.log(chain)), MANY * 18, "how many rows the chain has")
    verified(store)


def a_message_that_many_stage_is_staged_once(store: Store) -> None:
    ends = at_once(MANY, lambda number: store.stage(AGENT, message(1, body=f"by {number}")))
    same(sorted(map(bool, ends)), [False] * (MANY - 1) + [True], "who was told that it is new")
    same(store.staged(AGENT)[0].body, f"by {ends.index(True)}", "whose message waits")
    same(store.waiting(AGENT), 1, "how many wait")


def of_many_turns_that_begin_at_once_one_takes_the_messages(store: Store) -> None:
    stage(store, *(message(number, f"s{number % 2}") for number in range(8)))
    for number in range(3):
        _race_to_take(store, SECOND + number * LEASE)
    lanes = at_once(MANY, lambda n: take(store, f"lane{n}", lane=f"s{n % 4}"))
    same((len(of(list, lanes)), len(of(Busy, lanes))), (4, 4), "how many had a lane, and how many found it busy")


def _race_to_take(store: Store, at_ns: int) -> None:
    ends = at_once(MANY, lambda n: take(store, f"t{n} at {at_ns}", at_ns=at_ns))
    alike(of(list, ends), [[f"m{n}" for n in range(8)]], "what was taken, by whoever it was")
    same(len(of(Busy, ends)), MANY - 1, "how many found the lane busy")


def turns_of_many_senders_end_at_once_and_each_leaves_its_own(store: Store) -> None:
    stage(store, *(message(number, f"s{number % MANY}") for number in range(2 * MANY)))

    def whole(number: int) -> None:
        for step in range(3):
            name = f"t{number}.{step}"
            took = take(store, name, lane=f"s{number}")
            alike(took, [] if step else [f"m{number}", f"m{number + MANY}"], "what a turn takes")
            reply = OutboxMessage(f"s{number}", f"reply {name}")
            store.settle(Settled(turn(name, sender=f"s{number}"), [reply], [(f"s{number}", entry(number))]))

    alike(of(CharterError, at_once(MANY, whole)), [], "what went wrong")
    same((store.waiting(AGENT), len(store.unsent(AGENT)), len(store.turns(AGENT))), (0, 24, 24), "what they left")
    same({one.count for one in store.conversations(AGENT)}, {3}, "how many exchanges each has")
    verified(store)


def a_turn_that_ends_while_another_takes_over_is_whole_or_nothing(store: Store) -> None:
    for number in range(12):
        _end_and_take_over(store, f"agent{number}")
    verified(store)


def _end_and_take_over(store: Store, agent: str) -> None:
    stage(store, *(message(number) for number in range(3)), agent=agent)
    take(store, "old", agent=agent)

    def act(number: int) -> list[str]:
        if number:
            return take(store, f"new{number}", agent=agent, at_ns=SECOND + LEASE)
        store.settle(Settled(turn("old", agent=agent), [OutboxMessage("mira", "hi")], [("mira", entry(1))]))
        return []

    ended, *others = at_once(3, act)
    alike(_wrong([ended, *others]), [], "what went wrong")
    left = (len(store.turns(agent)), len(store.unsent(agent)), len(store.conversations(agent)))
    same(left, (0, 0, 0) if isinstance(ended, Busy) else (1, 1, 1), "what the first turn left")
    taken = [name for end in of(list, others) for name in end]
    alike(taken, ["m0", "m1", "m2"] if isinstance(ended, Busy) else [], "what the second turn took")


def _wrong(ends: Sequence[object]) -> list[CharterError]:
    """Whatever went wrong but that someone else was first."""
    return [end for end in of(CharterError, ends) if not isinstance(end, Busy)]


def a_reply_that_many_send_is_sent_by_one(store: Store) -> None:
    reply = OutboxMessage("mira", "hello")
    take(store, "t1")
    store.settle(Settled(turn("t1"), [reply]))
    ends = at_once(MANY, lambda _: store.mark_sent(AGENT, "t1", reply, 5))
    same(sorted(map(bool, ends)), [False] * (MANY - 1) + [True], "who was told to be the first")


def turns_that_change_the_same_texts_end_one_after_the_other(store: Store) -> None:
    places = [RULES, wishes("ana"), wishes("bob"), SOUL]

    def whole(number: int) -> int:
        lost = 0
        for step in range(3):
            name, who = f"t{number}.{step}", ("ana", "bob")[number % 2]
            take(store, name, lane=f"s{number}")
            heads = [(place, store.head(place)) for place in (places if number % 2 else places[::-1])]
            by = agent_in(name)
            changes = [Change(place, f"by {name}", head.version if head else 0, by, 5) for place, head in heads]
            notes = [Note(owner, f"note of {name}", DAY) for owner in ("", who)]
            made = Settled(turn(name, user=who), changes=changes, notes=notes)
            try:
                store.settle(made)
            except Conflict:
                lost += 1
                store.settle(replace(made, changes=()))
        return lost

    ends = at_once(4, whole)
    alike(of(CharterError, ends), [], "what went wrong")
    lost = sum(of(int, ends))
    alike([len(store.history(place)) for place in places], [12 - lost] * 4, "the versions of each text")
    same([len(store.recent(AGENT, name, 99)) for name in ("", "ana", "bob")], [12, 6, 6], "the notes")
    verified(store)


def a_reader_sees_a_whole_change_or_none_of_it(store: Store) -> None:
    rounds, done = 12, Event()

    def write() -> None:
        for step in range(rounds):
            stage(store, message(step))
            take(store, f"t{step}", lane="mira")
            entries = [("mira", entry(step)), ("bob", entry(step))]
            store.settle(Settled(turn(f"t{step}", at_ns=step), [OutboxMessage("mira", "hi")], entries))
            put(store, RULES, f"text {step}", at_ns=step)

    def act(number: int) -> None:
        if number == 0:
            try:
                write()
            finally:
                done.set()
        while not done.is_set():
            reads = store.for_turn(Wanted(AGENT, ("inbox", "history", "layers"), sender="mira"))
            same(len(reads.staged(AGENT)), reads.waiting(AGENT), "how many messages wait")
            log, layer = reads.conversation(AGENT, "mira"), reads.layer(AGENT, "rules")
            said, version = len(log.entries) if log else 0, layer.version if layer else 0
            must(said - 1 <= version <= said, "a turn should see one moment")
            if layer:
                same(layer.content, f"text {layer.version - 1}", "the text of a version")

    alike(of(CharterError, at_once(4, act)), [], "what went wrong")
    same(there(store.layer(AGENT, "rules")).version, rounds, "the layer's version")


def a_failed_turn_among_many_gives_its_messages_to_one_at_most(store: Store) -> None:
    stage(store, *(message(number) for number in range(4)))
    for number in range(6):
        _fail_and_take(store, number)
    same(store.waiting(AGENT), 4, "how many messages wait")
    verified(store)


def _fail_and_take(store: Store, step: int) -> None:
    take(store, f"old{step}")

    def act(number: int) -> str:
        if number == 0:
            store.fail(failed(f"old{step}"))
            return ""
        alike(take(store, f"new{step}.{number}"), ["m0", "m1", "m2", "m3"], "what it takes")
        return f"new{step}.{number}"

    ends = at_once(4, act)
    alike(_wrong(ends), [], "what went wrong")
    began = [name for name in of(str, ends) if name]
    must(len(began) <= 1, "one turn at most should have the lane")
    for name in began:
        store.fail(failed(name))


CONTRACTS: tuple[Contract, ...] = (
    of_many_changes_made_on_one_version_one_is_written,
    many_writers_of_one_chain_leave_no_hole_in_it,
    a_message_that_many_stage_is_staged_once,
    of_many_turns_that_begin_at_once_one_takes_the_messages,
    turns_of_many_senders_end_at_once_and_each_leaves_its_own,
    a_turn_that_ends_while_another_takes_over_is_whole_or_nothing,
    a_reply_that_many_send_is_sent_by_one,
    turns_that_change_the_same_texts_end_one_after_the_other,
    a_reader_sees_a_whole_change_or_none_of_it,
    a_failed_turn_among_many_gives_its_messages_to_one_at_most,
)
