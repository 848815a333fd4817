"""Contracts of chats: past exchanges of one sender, whole, since the chat began; never a byte of another's (N-18)."""

from __future__ import annotations

from collections.abc import Sequence

from ..core.errors import BadValue, NotStored
from ..core.ports import Store, Wanted
from ..core.records import ConversationEntry, Exchange, OutboxMessage, Settled
from .check import Contract, alike, refused, same
from .parts import ADDRESS, AGENT, LEASE, SECOND, entry, failed, message, stage, take, turn, untouched

LONG, MORE = "question é " * 200, "answer 👋 " * 200


def answer(store: Store, number: int, *parts: str, sender: str = "mira", body: str = "", at_ns: int = 0) -> None:
    """A whole turn that answers one message, in so many parts."""
    name, text = f"t{number}", body or f"asks {number}"
    stage(store, message(number, sender, text))
    take(store, name, lane=sender)
    replies = [OutboxMessage(sender, part, part=place) for place, part in enumerate(parts)]
    said = ConversationEntry(f"m{number}", text, "\n\n".join(parts), name, at_ns or number)
    store.settle(Settled(turn(name, sender=sender, at_ns=at_ns or number), replies, [(sender, said)]))


def a_chat_has_both_sides_whole_and_the_oldest_first(store: Store) -> None:
    answer(store, 1, MORE, "and more", body=LONG)
    answer(store, 2, "brief")
    wanted = [Exchange(1, "t1", LONG, f"{MORE}\n\nand more"), Exchange(2, "t2", "asks 2", "brief")]
    alike(store.exchanges(AGENT, "mira"), wanted, "the chat")
    alike(store.exchanges(AGENT, " mira "), wanted, "the chat, by a name with blanks around it")
    reads = store.for_turn(Wanted(AGENT, ("talk",), sender="mira"))
    alike(reads.exchanges(AGENT, "mira"), wanted, "the chat, as a turn reads it")
    alike([*store.exchanges(AGENT, "Mira"), *store.exchanges("bob", "mira")], [], "the chats of nobody")


def a_chat_keeps_the_last_20_exchanges(store: Store) -> None:
    for number in range(1, 24):
        answer(store, number, f"reply {number}")
    found = store.exchanges(AGENT, "mira")
    alike([one.seq for one in found], range(4, 24), "the numbers of the exchanges")
    alike([one.reply for one in found], [f"reply {number}" for number in range(4, 24)], "the replies")


def what_was_never_sent_or_staged_is_as_short_as_the_log_has_it(store: Store) -> None:
    store.append_conversation(AGENT, "mira", entry(1, body=LONG, reply=MORE))
    stage(store, message(2, body=LONG))
    take(store, "t2")
    replies = [OutboxMessage("mira", "one part", part=part) for part in (0, 2)]
    store.settle(Settled(turn("t2"), replies, [("mira", entry(2, body=LONG, reply="whole reply"))]))
    wanted = [Exchange(1, "t1", LONG[:500], MORE[:500]), Exchange(2, "t2", LONG, "whole reply")]
    alike(store.exchanges(AGENT, "mira"), wanted, "the chat")


def of_several_messages_that_are_answered_together_the_last_has_the_reply(store: Store) -> None:
    stage(store, *(message(number) for number in (1, 2, 3)))
    take(store, "t1")
    replies = ("", "", "to all")
    entries = [("mira", ConversationEntry(f"m{n}", f"message {n}", replies[n - 1], "t1", 5)) for n in (1, 2, 3)]
    store.settle(Settled(turn("t1"), [OutboxMessage("mira", "to all")], entries))
    wanted = [Exchange(n, "t1", f"message {n}", replies[n - 1]) for n in (1, 2, 3)]
    alike(store.exchanges(AGENT, "mira"), wanted, "the chat")


def a_chat_has_no_byte_of_another_sender(store: Store) -> None:
    asked = {name: f"{LONG} asks {name}" for name in ("mira", "bob")}
    stage(store, message(1, "mira", asked["mira"]), message(2, "bob", asked["bob"]), message(3, "bob", "SECRET"))
    take(store, "t1")
    replies = [OutboxMessage(name, f"told {name}") for name in ("mira", "bob", ADDRESS)]
    entries = [(name, ConversationEntry(f"m{n}", asked[name], "r", "t1", 5)) for n, name in ((1, "mira"), (2, "bob"))]
    theirs = entry(3, body=LONG)  # of a message that somebody else sent
    store.settle(Settled(turn("t1"), replies, [*entries, ("mira", theirs), (ADDRESS, theirs)]))
    wanted = {
        "mira": [Exchange(1, "t1", asked["mira"], "told mira"), Exchange(2, "t3", LONG[:500], "a")],
        "bob": [Exchange(1, "t1", asked["bob"], "told bob")],
        ADDRESS.lower(): [Exchange(1, "t3", LONG[:500], "a")],
    }
    for name, chat in wanted.items():
        alike(store.exchanges(AGENT, name), chat, f"the chat with {name}")
        reads = store.for_turn(Wanted(AGENT, ("talk",), sender=name))
        for other in wanted.keys() - {name} | {""}:
            refused(BadValue, reads.exchanges, AGENT, other)


def a_chat_that_begins_anew_has_what_is_said_from_then_on(store: Store) -> None:
    for number in (1, 2):
        answer(store, number, "r")
        answer(store, number + 10, "r", sender="bob")
    log = store.conversation(AGENT, "mira")
    store.fresh_start(AGENT, " mira ", 5)
    store.fresh_start(AGENT, "nobody", 5)
    alike(store.exchanges(AGENT, "mira"), [], "the chat that begins anew")
    same(store.conversation(AGENT, "mira"), log, "the log of what was said")
    same(len(store.exchanges(AGENT, "bob")), 2, "how many exchanges the other chat has")
    answer(store, 3, "r")
    alike([one.seq for one in store.exchanges(AGENT, "mira")], [3], "the chat that went on")
    store.fresh_start(AGENT, "mira", 6)
    alike(store.exchanges(AGENT, "mira"), [], "the chat that begins anew, again")


# ── what a turn saw ───────────────────────────────────────────────────────────────────────────────────────────────


def what_a_turn_saw_of_its_chat_can_be_read_again(store: Store) -> None:
    for number in range(1, 5):
        answer(store, number, f"r{number}", at_ns=number * SECOND)
    take(store, "t9", lane="mira")
    store.fail(failed("t9", at_ns=3 * SECOND + 1))
    for name, seqs in (("t1", []), ("t2", [1]), ("t4", [1, 2, 3]), ("t9", [1, 2, 3])):
        alike(_before(store, name), seqs, f"the exchanges before {name}")
    same(store.exchanges_before(AGENT, "mira", "t2")[0], Exchange(1, "t1", "asks 1", "r1"), "an exchange")
    store.fresh_start(AGENT, "mira", 5)
    answer(store, 5, "r5", at_ns=5 * SECOND)
    answer(store, 6, "r6", at_ns=6 * SECOND)
    for name, seqs in (("t6", [5]), ("t5", []), ("t3", [1, 2])):
        alike(_before(store, name), seqs, f"the exchanges before {name}, after the chat began anew")
    alike(store.exchanges_before(AGENT, "bob", "t6"), [], "the exchanges of a chat it was not in")
    refused(NotStored, store.exchanges_before, AGENT, "mira", "none")
    refused(NotStored, store.exchanges_before, "bob", "mira", "t1")


def _before(store: Store, name: str) -> Sequence[int]:
    return [one.seq for one in store.exchanges_before(AGENT, "mira", name)]


def what_a_turn_took_and_dealt_with_can_be_read_again(store: Store) -> None:
    messages = [message(number, body=LONG) for number in (1, 2)]
    stage(store, *messages)
    stage(store, message(1), agent="bob")
    take(store, "t1", agent="bob")
    take(store, "t0")
    store.fail(failed("t0"))
    take(store, "t1")
    store.settle(Settled(turn("t1")))
    stage(store, message(3))
    alike(store.messages_of(AGENT, "t1"), messages, "what the turn dealt with")
    alike([*store.messages_of(AGENT, "t0"), *store.messages_of(AGENT, "")], [], "what a turn that failed dealt with")


def a_turn_of_a_whole_agent_can_be_for_one_sender(store: Store) -> None:
    stage(store, *(message(number, ("mira", "bob")[number % 2]) for number in range(4)))
    for name, ids in (("mira", ["m0", "m2"]), ("eve", []), (" bob ", ["m1", "m3"])):
        took = store.take(AGENT, f"t {name}", sender=name, at_ns=SECOND, lease_ns=LEASE)
        alike([one.id for one in took], ids, f"what a turn for {name} takes")
        store.settle(Settled(turn(f"t {name}")))
    with untouched(store):
        refused(BadValue, store.take, AGENT, "t9", sender="x" * 501, at_ns=SECOND, lease_ns=LEASE)


CONTRACTS: tuple[Contract, ...] = (
    a_chat_has_both_sides_whole_and_the_oldest_first,
    a_chat_keeps_the_last_20_exchanges,
    what_was_never_sent_or_staged_is_as_short_as_the_log_has_it,
    of_several_messages_that_are_answered_together_the_last_has_the_reply,
    a_chat_has_no_byte_of_another_sender,
    a_chat_that_begins_anew_has_what_is_said_from_then_on,
    what_a_turn_saw_of_its_chat_can_be_read_again,
    what_a_turn_took_and_dealt_with_can_be_read_again,
    a_turn_of_a_whole_agent_can_be_for_one_sender,
)
