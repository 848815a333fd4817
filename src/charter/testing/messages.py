"""Contracts of the inbox: a message is staged once, taken by one turn, and back when that turn dies (S0-13, N-17)."""

from __future__ import annotations

from ..core.errors import Busy
from ..core.ports import Store
from ..core.records import InboxMessage, Settled
from .check import Contract, alike, must, refused, same
from .parts import ADDRESS, AGENT, LEASE, SECOND, entry, failed, message, run, stage, take, turn


def a_message_is_staged_once_by_its_id(store: Store) -> None:
    first = InboxMessage("m1", "mira", "hello", 5, "web", "ana")
    must(store.stage(AGENT, first), "a new message should be new")
    for again in (first, InboxMessage("m1", "bob", "other", 6)):
        must(not store.stage(AGENT, again), "a message of the same id should not be new")
    must(store.stage("bob", first), "another agent's message should be new")
    alike(store.staged(AGENT), [first], "the messages that wait")
    run(store, turn("t1"))
    must(not store.stage(AGENT, first), "a message that is done should not be new")
    alike(store.staged(AGENT), [], "the messages that wait after the turn")


def messages_wait_in_the_order_they_came_and_all_are_counted(store: Store) -> None:
    for number in range(230):
        store.stage(AGENT, message(229 - number, f"s{number % 7}"))
    alike([found.id for found in store.staged(AGENT)], [f"m{229 - n}" for n in range(200)], "the first 200")
    same((store.waiting(AGENT), store.waiting("bob")), (230, 0), "how many wait")
    alike(take(store, "t1", lane="s1"), [f"m{229 - n}" for n in range(1, 141, 7)], "those of one sender")
    same(store.waiting(AGENT), 210, "how many wait after a turn took its own")


def a_whole_text_of_any_length_comes_back(store: Store) -> None:
    body = "é東\r\n'%s?\\" * 20_000
    stage(store, message(1, "mira", body))
    same(store.staged(AGENT)[0].body, body, "the message")


def a_sender_is_known_by_a_trimmed_key_and_an_address_in_lower_case(store: Store) -> None:
    keys = {ADDRESS: ADDRESS.lower(), f" {ADDRESS}\n": ADDRESS.lower(), "0X" + ADDRESS[2:]: ADDRESS.lower()}
    keys |= {" Mira ": "Mira", "0xyz": "0xyz", "ÄÖ": "ÄÖ", "x\ny": "x\ny", "0x": "0x", "é": "é", "e\u0301": "e\u0301"}
    for number, (name, key) in enumerate(keys.items()):
        agent = f"agent{number}"
        stage(store, message(1, name), agent=agent)
        store.append_conversation(agent, name, entry(1))
        same(store.staged(agent)[0].sender, key, f"the sender {name!r} of a message")
        same([one.sender for one in store.conversations(agent)], [key], f"the sender {name!r} of a conversation")
        same(store.conversation(agent, name), store.conversation(agent, key), "the conversation under either name")
        alike(take(store, "t1", agent=agent, lane=name), ["m1"], f"what a turn for {name!r} takes")


# ── taking ────────────────────────────────────────────────────────────────────────────────────────────────────────


def a_turn_takes_5_senders_and_20_messages_at_most_the_oldest_first(store: Store) -> None:
    for number in range(60):
        stage(store, message(number, f"s{number % 7}"))
    wanted = [n for n in range(60) if n % 7 < 5][:20]
    alike(take(store, "t1"), [f"m{n}" for n in wanted], "what the first turn takes")
    left = [n for n in range(60) if n not in wanted]
    alike([found.id for found in store.staged(AGENT)], [f"m{n}" for n in left], "what waits")
    store.fail(failed("t1"))
    found = store.take(AGENT, "t2", at_ns=SECOND, lease_ns=LEASE, max_senders=2, max_messages=3)
    alike([one.id for one in found], ["m0", "m1", "m7"], "what a turn with other limits takes")
    same(found[0], message(0, "s0"), "a message that was taken")


def a_turn_of_one_sender_takes_theirs_and_leaves_the_rest(store: Store) -> None:
    for number in range(6):
        stage(store, message(number, ("mira", "bob", "Mira")[number % 3]))
    alike(take(store, "t1", lane="bob"), ["m1", "m4"], "what bob's turn takes")
    alike(take(store, "t2", lane="mira"), ["m0", "m3"], "what mira's turn takes meanwhile")
    alike(take(store, "t3", lane="nobody"), [], "what a turn of a stranger takes")
    alike([found.id for found in store.staged(AGENT)], ["m2", "m5"], "what waits")


def while_a_turn_is_under_way_its_lane_is_busy_and_no_other_is(store: Store) -> None:
    stage(store, message(1), message(2, "bob"))
    stage(store, message(1), agent="bob")
    alike(take(store, "t1"), ["m1", "m2"], "what the first turn takes")
    stage(store, message(3))
    for at_ns in (SECOND, SECOND + LEASE - 1):
        refused(Busy, take, store, "t2", at_ns=at_ns)
    alike([found.id for found in store.staged(AGENT)], ["m3"], "what waits")
    alike(take(store, "t2", agent="bob"), ["m1"], "what another agent's turn takes")
    alike(take(store, "t1", at_ns=SECOND + 1), ["m3"], "what the same turn takes later")
    refused(Busy, take, store, "t2", at_ns=SECOND + LEASE)
    alike(take(store, "t4", lane="mira"), [], "what another lane takes")


def a_turn_that_died_gives_its_messages_back_when_its_lease_is_over(store: Store) -> None:
    stage(store, *(message(number, f"s{number}") for number in range(4)))
    took = take(store, "t1")
    same(store.waiting(AGENT), 0, "how many wait")
    stage(store, message(9))
    alike(take(store, "t2", at_ns=SECOND + LEASE), [*took, "m9"], "what the next turn takes, in the old order")
    refused(Busy, store.fail, failed("t1"))
    store.fail(failed("t2"))
    same(store.waiting(AGENT), 5, "how many wait")


def a_clock_that_went_back_holds_a_lane_for_one_lease_at_most(store: Store) -> None:
    stage(store, message(1))
    late, now = 10**18, 5 * SECOND
    take(store, "t1", at_ns=late)
    refused(Busy, take, store, "t2", at_ns=now)
    refused(Busy, take, store, "t2", at_ns=now + LEASE - 1)
    alike(take(store, "t2", at_ns=now + LEASE), ["m1"], "what the next turn takes a lease later")


def a_lease_that_is_over_lapses_and_gives_its_messages_back(store: Store) -> None:
    for sender in ("mira", "bob"):
        store.stage(AGENT, InboxMessage(f"of {sender}", sender, "hello", 5))
    store.take(AGENT, "t1", lane="mira", at_ns=SECOND, lease_ns=LEASE)
    store.take(AGENT, "t2", lane="bob", at_ns=3 * SECOND, lease_ns=LEASE)
    same(store.lapse(AGENT, SECOND + LEASE - 1), 0, "leases that are over just before the first ends")
    same(store.lapse(AGENT, SECOND + LEASE), 1, "leases that are over when the first ends")
    alike([found.id for found in store.staged(AGENT)], ["of mira"], "what waits again")
    same(store.lapse(AGENT, SECOND + LEASE), 0, "leases that are over when nothing more ended")
    refused(Busy, store.settle, Settled(turn("t1")))


CONTRACTS: tuple[Contract, ...] = (
    a_lease_that_is_over_lapses_and_gives_its_messages_back,
    a_message_is_staged_once_by_its_id,
    messages_wait_in_the_order_they_came_and_all_are_counted,
    a_whole_text_of_any_length_comes_back,
    a_sender_is_known_by_a_trimmed_key_and_an_address_in_lower_case,
    a_turn_takes_5_senders_and_20_messages_at_most_the_oldest_first,
    a_turn_of_one_sender_takes_theirs_and_leaves_the_rest,
    while_a_turn_is_under_way_its_lane_is_busy_and_no_other_is,
    a_turn_that_died_gives_its_messages_back_when_its_lease_is_over,
    a_clock_that_went_back_holds_a_lane_for_one_lease_at_most,
)
