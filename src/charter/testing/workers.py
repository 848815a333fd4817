"""Contracts between workers: a long turn keeps its lane, and what another worker answered can be found (N-17)."""

from __future__ import annotations

from dataclasses import replace

from ..core.errors import BadValue, Busy
from ..core.ports import Store
from ..core.records import OutboxMessage, Settled
from .bad import BAD_TEXTS, BAD_TIMES
from .check import Contract, alike, refused, same
from .parts import ADDRESS, AGENT, LEASE, SECOND, failed, message, stage, take, turn, untouched


def a_turn_that_renews_its_lease_keeps_its_lane(store: Store) -> None:
    stage(store, message(1))
    take(store, "t1", lane="mira")
    same(store.renew(AGENT, "t1", until_ns=SECOND + 2 * LEASE), True, "whether it has its lease")
    refused(Busy, take, store, "t2", lane="mira", at_ns=SECOND + LEASE + 1)
    same(store.renew(AGENT, "t1", until_ns=5), True, "whether it has its lease")
    refused(Busy, take, store, "t2", lane="mira", at_ns=SECOND + 2 * LEASE - 1)
    store.settle(Settled(turn("t1")))
    same(store.renew(AGENT, "t1", until_ns=99 * LEASE), False, "whether a turn that ended has a lease")
    alike(take(store, "t2", lane="mira", at_ns=SECOND), [], "what the next turn takes")


def a_lease_that_was_lost_is_not_renewed(store: Store) -> None:
    stage(store, message(1))
    take(store, "t1", lane="mira")
    alike(take(store, "t2", lane="mira", at_ns=SECOND + LEASE), ["m1"], "what the turn that took over takes")
    for agent, name in ((AGENT, "t1"), (AGENT, "t3"), ("bob", "t2"), (AGENT, "")):
        same(store.renew(agent, name, until_ns=99 * LEASE), False, "whether it has a lease")
    refused(Busy, store.settle, Settled(turn("t1")))
    alike(take(store, "t3", lane="mira", at_ns=SECOND + 2 * LEASE), ["m1"], "what is taken when its time is over")


def a_turn_renews_its_own_lease_alone(store: Store) -> None:
    for name in ("mira", "bob"):
        take(store, f"of {name}", lane=name)
    store.renew(AGENT, "of mira", until_ns=SECOND + 2 * LEASE)
    refused(Busy, take, store, "t2", lane="mira", at_ns=SECOND + LEASE)
    alike(take(store, "t3", lane="bob", at_ns=SECOND + LEASE), [], "what is taken in the lane of another")


def a_message_tells_which_turn_answered_it(store: Store) -> None:
    same(store.answered_by(AGENT, "m1"), None, "who answered a message that is unknown")
    stage(store, message(1), message(2))
    same(store.answered_by(AGENT, "m1"), "", "who answered a message that waits")
    same(store.answered_by("bob", "m1"), None, "who answered it with another agent")
    take(store, "t1")
    same(store.answered_by(AGENT, "m1"), "", "who answered a message that is in hand")
    store.fail(failed("t1"))
    same(store.answered_by(AGENT, "m1"), "", "who answered a message that waits again")
    take(store, "t2")
    store.settle(Settled(turn("t2")))
    same((store.answered_by(AGENT, "m1"), store.answered_by(AGENT, "m2")), ("t2", "t2"), "who answered")


def whoever_waits_is_seen_however_many_messages_others_have(store: Store) -> None:
    same(len(store.next_of_each(AGENT)), 0, "whose messages wait")
    stage(store, *(message(number) for number in range(1, 250)))
    stage(store, message(250, "bob"), replace(message(251), channel="web"), message(252, "bob"))
    stage(store, message(253, "zoe"), agent="bob")
    alike([one.id for one in store.next_of_each(AGENT)], ["m1", "m250", "m251"], "the oldest of each, by each channel")
    take(store, "t1", lane="mira")
    alike([one.id for one in store.next_of_each(AGENT)], ["m21", "m250", "m251"], "what is in hand does not wait")
    alike([one.id for one in store.next_of_each("bob")], ["m253"], "those of another agent")


def _reply(store: Store, name: str, at_ns: int, *replies: OutboxMessage, agent: str = AGENT) -> None:
    take(store, name, agent=agent)
    store.settle(Settled(turn(name, at_ns=at_ns, agent=agent), replies))


def one_can_read_again_what_one_was_sent(store: Store) -> None:
    mine = [OutboxMessage(ADDRESS.lower(), f"part {part}", "web", part) for part in range(4)]
    _reply(store, "t9", 1, mine[1], mine[0], OutboxMessage("bob", "to bob"))
    _reply(store, "t1", 2, mine[2])
    _reply(store, "t2", 2, mine[3])
    _reply(store, "t3", 3, OutboxMessage(ADDRESS, "of another agent"), agent="bob")
    told = [("t9", mine[0]), ("t9", mine[1]), ("t1", mine[2]), ("t2", mine[3])]
    alike(store.replies(AGENT, ADDRESS), told, "what one was sent, the newest last")
    store.mark_sent(AGENT, "t9", mine[0], 5)
    alike(store.replies(AGENT, f" {ADDRESS} "), told, "the same when some of it was sent")
    alike(store.replies(AGENT, ADDRESS, limit=3), told[1:], "the newest three")
    alike(store.replies(AGENT, ADDRESS, turn_id="t9"), told[:2], "what a turn sent them")
    alike(store.replies(AGENT, ADDRESS, turn_id="t9", limit=1), told[1:2], "the newest of it")
    nothing = [store.replies(AGENT, ADDRESS, limit=limit) for limit in (0, -1)]
    nothing += [store.replies(AGENT, ADDRESS, turn_id="t3"), store.replies(AGENT, "zoe"), store.replies("eve", "bob")]
    alike([list(found) for found in nothing], [[]] * 5, "what nobody was sent")
    alike(store.replies(AGENT, "bob"), [("t9", OutboxMessage("bob", "to bob"))], "what another was sent")


def what_waits_to_be_sent_is_known_by_its_channel(store: Store) -> None:
    first, second = OutboxMessage("mira", "one", "telegram"), OutboxMessage("mira", "two", "telegram", 1)
    _reply(store, "t2", 2, second, first, OutboxMessage("bob", "three", "web"))
    _reply(store, "t1", 3, first)
    waits = [("t2", first), ("t2", second), ("t1", first)]
    alike(store.unsent_of(AGENT, "telegram"), waits, "what waits for a channel, oldest first")
    store.mark_sent(AGENT, "t2", first, 5)
    alike(store.unsent_of(AGENT, "telegram"), waits[1:], "what still waits")
    same([len(store.unsent_of(*where)) for where in ((AGENT, "web"), (AGENT, ""), ("bob", "web"))], [1, 0, 0])
    same(len(store.unsent(AGENT)), 3, "what waits for any")


def a_worker_that_asks_with_a_bad_value_is_refused(store: Store) -> None:
    stage(store, message(1))
    take(store, "t1")
    with untouched(store):
        for time in BAD_TIMES:
            refused(BadValue, store.renew, AGENT, "t1", until_ns=time)
        for text in BAD_TEXTS:
            for pair in ((text, "t1"), (AGENT, text)):
                refused(BadValue, store.renew, *pair, until_ns=5)
                refused(BadValue, store.answered_by, *pair)
                refused(BadValue, store.unsent_of, *pair)
            refused(BadValue, store.replies, text, "mira")
            refused(BadValue, store.replies, AGENT, "mira", turn_id=text)
            alike(store.replies(AGENT, text), [], "what a stranger was sent")


CONTRACTS: tuple[Contract, ...] = (
    a_turn_that_renews_its_lease_keeps_its_lane,
    a_lease_that_was_lost_is_not_renewed,
    a_turn_renews_its_own_lease_alone,
    a_message_tells_which_turn_answered_it,
    whoever_waits_is_seen_however_many_messages_others_have,
    one_can_read_again_what_one_was_sent,
    what_waits_to_be_sent_is_known_by_its_channel,
    a_worker_that_asks_with_a_bad_value_is_refused,
)
