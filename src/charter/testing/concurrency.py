"""Contracts of many at once: whatever two do together, one of them was first and nothing is lost (N-17)."""

from __future__ import annotations

from threading import Event

from ..core.errors import Busy, CharterError, Conflict
from ..core.ports import Store, Wanted
from ..core.records import Change, OutboxMessage, Settled, StoredLayer
from .check import Contract, alike, at_once, must, of, same, there
from .parts import (
    AGENT,
    DAY,
    LEASE,
    OPERATOR,
    RULES,
    SECOND,
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
)  # fmt: skip

MANY = 8


def of_many_changes_made_on_one_version_one_is_written(store: Store) -> None:
    for number, place in enumerate((RULES, wishes("ana"), RULES)):
        head = store.head(place)
        base = head.version if head else 0
        changes = [Change(place, f"{number} by {n}", base, agent_in(f"t{n}"), n) for n in range(MANY)]
        ends = at_once(MANY, lambda n, changes=changes: store.commit(changes[n]))  # type: ignore[misc]
        (won,) = of(StoredLayer, ends)
        alike([told.current for told in of(Conflict, ends)], [base + 1] * (MANY - 1), "what the others are told")
        same(store.head(place), won, "the text now")
        alike([row.version for row in store.history(place)], range(1, base + 2), "the versions")
    verified(store)


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
    for round_, at_ns in enumerate((SECOND, SECOND + LEASE, SECOND + 2 * LEASE)):
        ends = at_once(MANY, lambda n, round_=round_, at_ns=at_ns: take(store, f"t{round_}.{n}", at_ns=at_ns))  # type: ignore[misc]
        alike(of(list, ends), [[f"m{n}" for n in range(8)]], "what was taken, by whoever it was")
        same(len(of(Busy, ends)), MANY - 1, "how many found the lane busy")
    lanes = at_once(MANY, lambda n: take(store, f"lane{n}", lane=f"s{n % 4}"))
    same((len(of(list, lanes)), len(of(Busy, lanes))), (4, 4), "how many had a lane, and how many found it busy")


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
    for round_ in range(12):
        agent = f"agent{round_}"
        stage(store, *(message(number) for number in range(3)), agent=agent)
        take(store, "old", agent=agent)

        def act(number: int, agent: str = agent) -> list[str]:
            if number:
                return take(store, f"new{number}", agent=agent, at_ns=SECOND + LEASE)
            store.settle(Settled(turn("old", agent=agent), [OutboxMessage("mira", "hi")], [("mira", entry(1))]))
            return ["settled"]

        ends = at_once(3, act)
        alike(
            [end for end in ends if isinstance(end, CharterError) and not isinstance(end, Busy)], [], "what went wrong"
        )
        ended = ends[0] == ["settled"]
        left = (len(store.turns(agent)), len(store.unsent(agent)), len(store.conversations(agent)))
        same(left, (1, 1, 1) if ended else (0, 0, 0), "what the first turn left")
        taken = [name for end in of(list, ends[1:]) for name in end]
        alike(taken, [] if ended else ["m0", "m1", "m2"], "what the second turn took")
    verified(store)


def a_reply_that_many_send_is_sent_by_one(store: Store) -> None:
    reply = OutboxMessage("mira", "hello")
    take(store, "t1")
    store.settle(Settled(turn("t1"), [reply]))
    ends = at_once(MANY, lambda _: store.mark_sent(AGENT, "t1", reply, 5))
    same(sorted(map(bool, ends)), [False] * (MANY - 1) + [True], "who was told to be the first")


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


def a_failed_turn_among_many_gives_its_messages_to_exactly_one(store: Store) -> None:
    stage(store, *(message(number) for number in range(4)))
    for round_ in range(6):
        take(store, f"old{round_}")

        def act(number: int, round_: int = round_) -> list[str]:
            if number == 0:
                store.fail(failed(f"old{round_}", at_ns=round_))
                return []
            return take(store, f"new{round_}.{number}")

        ends = at_once(4, act)
        alike(
            [end for end in ends if isinstance(end, CharterError) and not isinstance(end, Busy)], [], "what went wrong"
        )
        winners = [number for number, end in enumerate(ends) if number and isinstance(end, list)]
        must(len(winners) <= 1, "one turn at most should have the lane")
        for number in winners:
            alike(ends[number], ["m0", "m1", "m2", "m3"], "what it takes")  # type: ignore[arg-type]
            store.fail(failed(f"new{round_}.{number}", at_ns=round_))
    same(store.waiting(AGENT), 4, "how many messages wait")
    verified(store)


CONTRACTS: tuple[Contract, ...] = (
    of_many_changes_made_on_one_version_one_is_written,
    many_writers_of_one_chain_leave_no_hole_in_it,
    a_message_that_many_stage_is_staged_once,
    of_many_turns_that_begin_at_once_one_takes_the_messages,
    turns_of_many_senders_end_at_once_and_each_leaves_its_own,
    a_turn_that_ends_while_another_takes_over_is_whole_or_nothing,
    a_reply_that_many_send_is_sent_by_one,
    a_reader_sees_a_whole_change_or_none_of_it,
    a_failed_turn_among_many_gives_its_messages_to_exactly_one,
)
