"""Contracts of values no store can keep: each is refused by name on every store, and nothing of the call is written."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, get_args

from ..core.errors import BadValue
from ..core.ports import Part, Store, Wanted
from ..core.records import (
    Approval,
    Author,
    Change,
    InboxMessage,
    OutboxMessage,
    Place,
    Provenance,
    Settled,
)
from .bad import (
    BAD_KEYS,
    BAD_NAMES,
    BAD_NOTES,
    BAD_SENDERS,
    BAD_TEXTS,
    BAD_TIMES,
    bad_authors_and_times,
    bad_entries,
    bad_places,
    bad_records,
    bad_replies,
)
from .check import Contract, refused, same
from .parts import (
    AGENT,
    DAY,
    LEASE,
    OPERATOR,
    RULES,
    SECOND,
    SOUL,
    agent_in,
    decision,
    entry,
    failed,
    message,
    put,
    take,
    turn,
    untouched,
    wishes,
)


def a_layer_of_a_bad_name_time_or_text_is_refused(store: Store) -> None:
    put(store, RULES, "one")
    good = Change(RULES, "two", 1, OPERATOR, 5)
    with untouched(store, "ana"):
        for name in BAD_NAMES:
            for place in (Place(name, "rules"), Place(AGENT, name)):
                refused(BadValue, store.commit, replace(good, place=place))
            refused(BadValue, store.commit, replace(good, place=wishes(name), expected_version=0))
        for text in BAD_TEXTS:
            refused(BadValue, store.commit, replace(good, content=text))
            for place in (SOUL, wishes("ana")):
                refused(BadValue, store.commit, replace(good, place=place, content=text, expected_version=0))
            for by in (Author(OPERATOR.actor, text), agent_in(text)):
                refused(BadValue, store.commit, replace(good, by=by))
        for time in BAD_TIMES:
            refused(BadValue, store.commit, replace(good, at_ns=time))
        refused(BadValue, store.commit, replace(good, expected_version=2**63))
        refused(BadValue, store.version, RULES, 2**63)


def a_decision_with_a_bad_value_is_refused(store: Store) -> None:
    waits = store.propose(RULES, "two", base_version=0, by=OPERATOR, reason="", at_ns=1, expires_at_ns=99)
    good = decision(waits.id, waits.sha256)
    with untouched(store):
        bad = [replace(good, at_ns=time) for time in BAD_TIMES]
        bad += [replace(good, by=Author(OPERATOR.actor, text)) for text in BAD_TEXTS]
        bad += [replace(good, proposal_id=text) for text in BAD_TEXTS]
        bad += [replace(good, signature=text) for text in BAD_TEXTS]
        for what in bad:
            refused(BadValue, store.apply, what)
            refused(BadValue, store.close_proposal, what, "rejected")


def a_label_or_refusal_with_a_bad_value_is_refused(store: Store) -> None:
    put(store, RULES, "one")
    label: dict[str, Any] = {"place": RULES, "label": "prod", "number": 1, "by": OPERATOR, "at_ns": 5}
    refusal: dict[str, Any] = {"place": RULES, "code": "LAYER_EMPTY", "by": OPERATOR, "at_ns": 5}
    with untouched(store, "ana"):
        for name in (*BAD_NAMES, "x" * 41):
            refused(BadValue, store.set_label, **label | {"label": name})
        for place in bad_places():
            refused(BadValue, store.refuse, **refusal | {"place": place})
        for bad in bad_authors_and_times():
            refused(BadValue, store.set_label, **label | bad)
            refused(BadValue, store.refuse, **refusal | bad)
        for text in BAD_TEXTS:
            refused(BadValue, store.refuse, **refusal | {"code": text})
        refused(BadValue, store.set_label, **label | {"number": 2**63})


def a_proposal_with_a_bad_value_is_refused(store: Store) -> None:
    good: dict[str, Any] = {
        "place": RULES, "content": "x", "base_version": 1, "by": OPERATOR, "reason": "", "at_ns": 5, "expires_at_ns": 9,
    }  # fmt: skip
    with untouched(store, "ana"):
        for place in (wishes(""), Place(AGENT, "rules", "ana"), *bad_places()):
            refused(BadValue, store.propose, **good | {"place": place})
        for bad in bad_authors_and_times():
            refused(BadValue, store.propose, **good | bad)
        for field in ("content", "reason"):
            for text in BAD_TEXTS:
                refused(BadValue, store.propose, **good | {field: text})
        for field in ("expires_at_ns", "base_version"):
            for number in BAD_TIMES:
                refused(BadValue, store.propose, **good | {field: number})


def a_message_with_a_bad_value_is_refused(store: Store) -> None:
    good = InboxMessage("m1", "mira", "hello", 5)
    with untouched(store):
        for name in BAD_NAMES:
            refused(BadValue, store.stage, name, good)
            refused(BadValue, store.stage, AGENT, replace(good, id=name))
        for name in BAD_KEYS:
            refused(BadValue, store.stage, AGENT, replace(good, user=name))
        for name in BAD_SENDERS:
            refused(BadValue, store.stage, AGENT, replace(good, sender=name))
        for text in BAD_TEXTS:
            refused(BadValue, store.stage, AGENT, replace(good, body=text))
            refused(BadValue, store.stage, AGENT, replace(good, channel=text))
        for time in BAD_TIMES:
            refused(BadValue, store.stage, AGENT, replace(good, received_at_ns=time))


def a_turn_that_begins_with_a_bad_value_is_refused(store: Store) -> None:
    store.stage(AGENT, message(1))
    good: dict[str, Any] = {"agent": AGENT, "turn_id": "t0", "at_ns": SECOND, "lease_ns": LEASE}
    with untouched(store):
        for name in BAD_NAMES:
            refused(BadValue, store.take, **good | {"agent": name})
            refused(BadValue, store.take, **good | {"turn_id": name})
        for name in BAD_SENDERS[1:]:
            refused(BadValue, store.take, **good | {"lane": name})
        for time in BAD_TIMES:
            refused(BadValue, store.take, **good | {"at_ns": time})
            refused(BadValue, store.take, **good | {"lease_ns": time})
        refused(BadValue, store.take, **good | {"at_ns": 2**63 - 1})
    same(take(store, "t1"), ["m1"], "what a turn takes after all this")


def a_turn_that_ends_with_a_bad_value_is_refused(store: Store) -> None:
    store.stage(AGENT, message(1))
    take(store, "t1")
    with untouched(store):
        for record in bad_records(turn("t1")):
            refused(BadValue, store.settle, Settled(record, [OutboxMessage("mira", "hi")], [("mira", entry(1))]))
            refused(BadValue, store.fail, replace(record, outcome="failed"))
        for reply in bad_replies(OutboxMessage("mira", "hi")):
            refused(BadValue, store.settle, Settled(turn("t1"), [OutboxMessage("bob", "hi"), reply]))
        for name, one in bad_entries(entry(1)):
            refused(BadValue, store.settle, Settled(turn("t1"), (), [("bob", entry(1)), (name, one)]))
            refused(BadValue, store.append_conversation, AGENT, name, one)
        for name in BAD_NAMES:
            refused(BadValue, store.append_conversation, name, "mira", entry(1))
            refused(BadValue, store.fresh_start, name, "mira", 5)
        for name in BAD_SENDERS:
            refused(BadValue, store.fresh_start, AGENT, name, 5)
        for time in BAD_TIMES:
            refused(BadValue, store.mark_sent, AGENT, "t1", OutboxMessage("mira", "hi"), time)
    store.fail(failed("t1"))
    same(store.waiting(AGENT), 1, "how many messages wait")


def a_note_with_a_bad_value_is_refused(store: Store) -> None:
    good: dict[str, Any] = {"agent": AGENT, "user": "ana", "text": "tea", "day": DAY}
    bad = [{"agent": name} for name in BAD_NAMES]
    bad += [{"user": name} for name in BAD_KEYS]
    bad += [{"text": text} for text in ("", " \n\t", *BAD_TEXTS)]
    wrong: list[Any] = [{"at_ns": time} for time in BAD_TIMES]
    wrong += [{"provenance": Provenance(said_by=name)} for name in BAD_KEYS]
    wrong += [{"provenance": Provenance(channel=text)} for text in BAD_TEXTS]
    wrong += [{"provenance": Provenance(source=text)} for text in ("x" * 501, "👋" * 251, "two\nlines", *BAD_TEXTS)]
    wrong += [{"provenance": Provenance(derived_from=(name,))} for name in BAD_NOTES]
    with untouched(store, "ana"):
        for given in (*bad, *wrong):
            refused(BadValue, store.remember, **good | given)


def a_note_is_not_taken_back_with_a_bad_value(store: Store) -> None:
    note = store.remember(AGENT, "ana", "tea", day=DAY, provenance=Provenance(source="web"))
    gone: dict[str, Any] = {"agent": AGENT, "user": "ana", "note": note.id, "by": OPERATOR, "at_ns": 5}
    revoked: dict[str, Any] = {"agent": AGENT, "source": "web", "by": OPERATOR, "at_ns": 5}
    with untouched(store, "ana"):
        for name in BAD_NOTES:
            refused(BadValue, store.forget_note, **gone | {"note": name})
        for text in BAD_TEXTS:
            refused(BadValue, store.revoke, **revoked | {"source": text})
        for bad in bad_authors_and_times():
            refused(BadValue, store.forget_note, **gone | bad)
            refused(BadValue, store.revoke, **revoked | bad)


def a_question_that_no_name_can_answer_is_refused(store: Store) -> None:
    for text in BAD_TEXTS:
        for ask in (
            store.labels, store.proposals, store.proposal, store.staged, store.waiting, store.unsent, store.turns,
            store.conversations, store.sources, store.agent_configuration, store.log, store.approvals, store.approval,
        ):  # fmt: skip
            refused(BadValue, ask, text)
        refused(BadValue, store.layer, text, "rules")
        refused(BadValue, store.layer, AGENT, text)
        refused(BadValue, store.head, wishes(text))
        refused(BadValue, store.history, Place(AGENT, text))
        refused(BadValue, store.version, Place(text, "rules"), 1)
        refused(BadValue, store.turn, AGENT, text)
        refused(BadValue, store.messages_of, AGENT, text)
        refused(BadValue, store.exchanges_before, AGENT, "mira", text)
        refused(BadValue, store.version_at, Place(text, "rules"), 1)
        refused(BadValue, store.control, text, DAY)
        refused(BadValue, store.for_turn, Wanted(text, ("layers",)))


def a_person_whose_name_cannot_be_kept_is_a_stranger_to_every_question(store: Store) -> None:
    store.remember(AGENT, "ana", "tea", day=DAY)
    for text in BAD_TEXTS:
        want = Wanted(AGENT, get_args(Part), user=text, sender=text, query="tea", recent_of=text)
        for reads in (store, store.for_turn(want)):
            found = (reads.instructions(AGENT, text), reads.timezone(text), reads.conversation(AGENT, text))
            same(found, ("", None, None), "what is known of a stranger")
            same([*reads.recent(AGENT, text, 5), *reads.recall(AGENT, text, "tea", 5)], [], "a stranger's notes")
            same(list(reads.exchanges(AGENT, text)), [], "a stranger's chat")


def names_at_their_longest_are_kept(store: Store) -> None:
    wide = "".join(chr(0x1F300 + n) for n in range(250))  # four bytes each
    agent, who, name = wide[:200], wide[25:225], wide[50:]
    put(store, Place(agent, name), "one")
    put(store, wishes(who, agent), "two")
    store.set_label(Place(agent, name), wide[:40], 1, by=OPERATOR, at_ns=5)
    store.stage(agent, InboxMessage(name, wide, "hello", user=who))
    same([one.id for one in store.take(agent, name, lane=wide, at_ns=1, lease_ns=LEASE)], [name], "the message")
    record = turn(name, agent=agent, sender=wide, user=who)
    store.settle(Settled(record, [OutboxMessage(wide, "hi")], [(wide, entry(1))]))
    note = store.remember(agent, who, "tea", day=DAY, provenance=Provenance(said_by=who, source=wide))
    call = Approval(name, agent, name, wide[10:210], "{}", "f" * 128, 1, 9, who)
    same(store.request_approval(call), store.approval(name), "the call")
    same(store.turn(agent, name), record, "the turn")
    same([one.sender for one in store.conversations(agent)], [wide], "the sender")
    same((store.instructions(agent, who), list(store.recent(agent, who, 5))), ("two", [note]), "what is the user's")
    same((store.unsent(agent)[0][1].recipient, list(store.sources(agent))), (wide, [(wide, 1)]), "recipient and source")


CONTRACTS: tuple[Contract, ...] = (
    a_layer_of_a_bad_name_time_or_text_is_refused,
    a_decision_with_a_bad_value_is_refused,
    a_label_or_refusal_with_a_bad_value_is_refused,
    a_proposal_with_a_bad_value_is_refused,
    a_message_with_a_bad_value_is_refused,
    a_turn_that_begins_with_a_bad_value_is_refused,
    a_turn_that_ends_with_a_bad_value_is_refused,
    a_note_with_a_bad_value_is_refused,
    a_note_is_not_taken_back_with_a_bad_value,
    a_question_that_no_name_can_answer_is_refused,
    a_person_whose_name_cannot_be_kept_is_a_stranger_to_every_question,
    names_at_their_longest_are_kept,
)
