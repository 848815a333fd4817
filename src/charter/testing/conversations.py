"""Contracts of conversations: 20 exchanges of 200 senders, 500 characters of each side, whoever writes (S0-12)."""

from __future__ import annotations

from random import Random

from ..core.errors import BadValue, CharterError
from ..core.ports import Store
from ..core.records import Conversation, ConversationLog
from .check import Contract, alike, at_once, must, of, refused, same
from .parts import ADDRESS, AGENT, entry, message, untouched

Model = dict[str, tuple[list[int], int]]


def a_conversation_keeps_the_last_20_exchanges_the_oldest_first(store: Store) -> None:
    for number in range(23):
        store.append_conversation(AGENT, "mira", entry(number))
        kept = tuple(entry(n) for n in range(max(0, number - 19), number + 1))
        same(store.conversation(AGENT, "mira"), ConversationLog("mira", kept, number), "the conversation")
    same(store.conversation(AGENT, "Mira"), None, "the conversation with another")
    alike(store.conversations(AGENT), [Conversation("mira", 22, 20)], "the list")


def of_each_side_500_characters_stay(store: Store) -> None:
    for size, kept in ((0, 0), (499, 499), (500, 500), (501, 500), (9000, 500)):
        store.append_conversation(AGENT, f"s{size}", entry(1, body="é" * size, reply="👋" * size))
        wanted = ConversationLog(f"s{size}", (entry(1, body="é" * kept, reply="👋" * kept),), 1)
        same(store.conversation(AGENT, f"s{size}"), wanted, f"an exchange of {size} characters")


def an_address_of_the_wrong_length_is_refused_everywhere(store: Store) -> None:
    with untouched(store):
        for name in ("0x1", ADDRESS[:-1], f"{ADDRESS}0", f" {ADDRESS}0 "):
            refused(BadValue, store.append_conversation, AGENT, name, entry(1))
            refused(BadValue, store.stage, AGENT, message(1, name))
            refused(BadValue, store.conversation, AGENT, name)


def of_200_senders_the_least_recently_active_goes(store: Store) -> None:
    for number in range(200):
        store.append_conversation(AGENT, f"s{number:03}", entry(number, at_ns=1000 + number))
    store.append_conversation(AGENT, "s000", entry(500, at_ns=5000))
    store.append_conversation(AGENT, "new", entry(501, at_ns=6000))
    found = [one.sender for one in store.conversations(AGENT)]
    alike(found, ["new", "s000", *(f"s{n:03}" for n in range(199, 1, -1))], "the senders, most recently active first")
    same(store.conversation(AGENT, "s001"), None, "the least recently active one")
    store.append_conversation(AGENT, "s001", entry(502, at_ns=7000))
    same(
        store.conversation(AGENT, "s001"),
        ConversationLog("s001", (entry(502, at_ns=7000),), 7000),
        "one that came back",
    )


def among_equally_inactive_senders_the_smallest_key_goes(store: Store) -> None:
    names = [*(f"s{n:03}" for n in range(190)), "Z", "a", "z", "Ä", "ä", "é", "日", "ﬀ", "👋", "~"]
    for name in reversed(names):
        store.append_conversation(AGENT, name, entry(1, at_ns=7))
    for gone in range(1, 4):
        store.append_conversation(AGENT, f"new{gone}", entry(1, at_ns=8))
        left = [*sorted(f"new{n}" for n in range(1, gone + 1)), *sorted(names)[gone:]]
        alike([one.sender for one in store.conversations(AGENT)], left, "the senders, by activity and then key")


def the_one_who_just_spoke_stays_however_old_their_clock(store: Store) -> None:
    for number in range(200):
        store.append_conversation(AGENT, f"s{number:03}", entry(number, at_ns=1000 + number))
    store.append_conversation(AGENT, "late", entry(1, at_ns=0))
    same(store.conversation(AGENT, "late"), ConversationLog("late", (entry(1, at_ns=0),), 0), "who just spoke")
    same(store.conversation(AGENT, "s000"), None, "the least recently active of the others")
    store.append_conversation(AGENT, "s199", entry(2, at_ns=3))
    same(len(store.conversations(AGENT)), 200, "how many senders stay")


def an_exchange_that_comes_late_does_not_make_its_sender_look_inactive(store: Store) -> None:
    for number, at_ns in ((1, 9), (2, 3)):
        store.append_conversation(AGENT, "mira", entry(number, at_ns=at_ns))
    wanted = ConversationLog("mira", (entry(1, at_ns=9), entry(2, at_ns=3)), 9)
    same(store.conversation(AGENT, "mira"), wanted, "the conversation")


def the_limits_hold_for_each_agent_alone(store: Store) -> None:
    for number in range(200):
        store.append_conversation(AGENT, f"s{number}", entry(number))
    store.append_conversation("bob", "mira", entry(1000))
    same((len(store.conversations(AGENT)), len(store.conversations("bob"))), (200, 1), "how many senders stay")
    same(store.conversation(AGENT, "mira"), None, "another agent's conversation")


def the_limits_are_those_of_a_plain_model_whatever_is_said(store: Store) -> None:
    for seed in range(2):
        chance, model, agent = Random(seed), Model(), f"agent{seed}"
        few = [f"s{chance.randint(0, 400)}" for _ in range(6)]
        for number in range(420):
            key = chance.choice(few) if chance.random() < 0.3 else f"s{chance.randint(0, 330)}"
            at_ns = chance.choice((number, chance.randint(0, 60)))
            store.append_conversation(agent, key, entry(number, at_ns=at_ns))
            _say(model, key, number, at_ns)
        same(_said(store, agent), model, "the conversations")


def eight_threads_keep_the_limits_and_lose_nothing(store: Store) -> None:
    def talk(thread: int) -> int:
        most = 0
        for number in range(40):
            store.append_conversation(AGENT, "shared", entry(thread * 1000 + number, at_ns=10**6))
            store.append_conversation(AGENT, f"s{thread}-{number}", entry(number, at_ns=number))
            most = max(most, len(store.conversations(AGENT)))
        return most

    ends = at_once(8, talk)
    alike(of(CharterError, ends), [], "what went wrong")
    must(max(of(int, ends)) <= 200, "a list should never have more than 200 senders")
    same(len(store.conversations(AGENT)), 200, "how many senders stay")
    same(store.conversations(AGENT)[0], Conversation("shared", 10**6, 20), "the most recently active")
    said = _said(store, AGENT)
    spoken = said.pop("shared")[0]
    for thread in range(8):
        mine = [number % 1000 for number in spoken if number // 1000 == thread]
        alike(mine, range(40 - len(mine), 40), "the last words of a thread, in its order")
    same({len(numbers) for numbers, _ in said.values()}, {1}, "how often the others spoke")


def _say(model: Model, key: str, number: int, at_ns: int) -> None:
    kept, last = model.get(key, ([], 0))
    model[key] = ([*kept, number][-20:], max(last, at_ns))
    if len(model) > 200:
        del model[min((last, name) for name, (_, last) in model.items() if name != key)[1]]


def _said(store: Store, agent: str) -> Model:
    logs = [store.conversation(agent, one.sender) for one in store.conversations(agent)]
    return {log.sender: ([int(e.turn_id[1:]) for e in log.entries], log.last_activity_ns) for log in logs if log}


CONTRACTS: tuple[Contract, ...] = (
    a_conversation_keeps_the_last_20_exchanges_the_oldest_first,
    of_each_side_500_characters_stay,
    an_address_of_the_wrong_length_is_refused_everywhere,
    of_200_senders_the_least_recently_active_goes,
    among_equally_inactive_senders_the_smallest_key_goes,
    the_one_who_just_spoke_stays_however_old_their_clock,
    an_exchange_that_comes_late_does_not_make_its_sender_look_inactive,
    the_limits_hold_for_each_agent_alone,
    the_limits_are_those_of_a_plain_model_whatever_is_said,
    eight_threads_keep_the_limits_and_lose_nothing,
)
