"""Contracts of a turn's end: it leaves all it should or nothing, its record stays, a reply goes out once (N-01)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ..core.errors import BadValue, Busy, CharterError, Conflict, NotStored, StoreError
from ..core.ports import Store
from ..core.records import (
    UNKNOWN,
    Change,
    Control,
    ConversationEntry,
    ConversationLog,
    Note,
    OutboxMessage,
    Place,
    Proposed,
    Provenance,
    Settled,
    StoredLayer,
    TurnRecord,
)
from .check import Contract, alike, must, refused, same
from .parts import (
    AGENT,
    DAY,
    LEASE,
    RULES,
    SECOND,
    SOUL,
    agent_in,
    entry,
    everything,
    failed,
    message,
    put,
    run,
    stage,
    take,
    turn,
    untouched,
    user,
    verified,
    wishes,
)

FULL = TurnRecord(
    AGENT, "t1", 2 * SECOND, "inbox", "mira", "ana", "sovereign", "1.2.3", "full", "done", "OK", "a" * 64, "b" * 64,
    "c" * 64, '{"layers": [{"id": "x", "sha256": "é"}]}', {"tokens": 12, "bytes": 2**40}, '{"model": "stub", "é": []}',
)  # fmt: skip
REPLY = OutboxMessage("mira", "hello, whole " * 200, "web", 0)


def a_turn_that_worked_leaves_all_it_should_at_once(store: Store) -> None:
    stage(store, message(1), message(2, "bob"))
    take(store, "t1")
    entries = [("mira", entry(1)), (" bob ", entry(2))]
    store.settle(Settled(FULL, [REPLY, OutboxMessage("bob", "hi")], entries))
    same(store.waiting(AGENT), 0, "how many messages wait")
    alike(store.unsent(AGENT), [("t1", OutboxMessage("bob", "hi")), ("t1", REPLY)], "the replies")
    same(store.conversation(AGENT, "mira"), ConversationLog("mira", (entry(1),), 1), "what is remembered of mira")
    same(store.conversation(AGENT, "bob"), ConversationLog("bob", (entry(2),), 2), "what is remembered of bob")
    same(store.turn(AGENT, "t1"), FULL, "the record")
    alike(take(store, "t2"), [], "what the next turn takes")
    verified(store)


def a_turn_that_cannot_leave_everything_leaves_nothing(store: Store) -> None:
    stage(store, message(1))
    run(store, turn("t0"), reply="mira")
    stage(store, message(2))
    take(store, "t1")
    bad = ConversationEntry("m2", "body\0", "reply", "t1", 5)
    for settled, error in (
        (Settled(FULL, [REPLY], [("mira", entry(2)), ("bob", bad)]), BadValue),
        (Settled(FULL, [REPLY], [("bob", entry(2, at_ns=-1))]), BadValue),
        (Settled(FULL, [REPLY, OutboxMessage("", "to nobody")], [("bob", entry(2))]), BadValue),
        (Settled(FULL, [REPLY, REPLY], [("bob", entry(2))]), StoreError),
        (Settled(replace(FULL, at_ns=-1), [REPLY], [("bob", entry(2))]), BadValue),
        (Settled(replace(FULL, outcome="failed"), [REPLY], [("bob", entry(2))]), BadValue),
    ):
        with untouched(store):
            refused(error, store.settle, settled)
    refused(Busy, take, store, "t2")
    store.settle(Settled(FULL, [REPLY], [("mira", entry(2))]))
    same(store.turn(AGENT, "t1"), FULL, "the record, once it was right")
    verified(store)


def a_turn_that_lost_its_lane_leaves_nothing(store: Store) -> None:
    stage(store, message(1))
    take(store, "t1")
    alike(take(store, "t2", at_ns=SECOND + LEASE), ["m1"], "what the turn that took over takes")
    with untouched(store):
        refused(Busy, store.settle, Settled(FULL, [REPLY], [("mira", entry(1))]))
        refused(Busy, store.settle, Settled(turn("never"), [REPLY], [("mira", entry(1))]))
        refused(Busy, store.fail, failed("t1"))
    store.settle(Settled(turn("t2"), [REPLY], [("mira", entry(1))]))
    same([found.id for found in store.turns(AGENT)], ["t2"], "the turns")
    refused(NotStored, store.turn, AGENT, "t1")


def a_failed_turn_leaves_its_messages_waiting_and_only_its_record(store: Store) -> None:
    stage(store, *(message(number, f"s{number % 3}") for number in range(4)))
    before = everything(store)
    took = take(store, "t1")
    record = failed("t1", sender="mira")
    refused(BadValue, store.fail, replace(record, outcome="done"))
    store.fail(record)
    after = everything(store)
    same(after.pop("turns"), [record], "the record")
    same([row.kind for row in after.pop("log")], ["turn"], "the log")
    same(after.pop("control"), Control(turns_today=1), "what was spent")
    same(after, {name: value for name, value in before.items() if name in after}, "everything else")
    alike(take(store, "t2"), took, "what the next turn takes at once")


# ── what tools changed ────────────────────────────────────────────────────────────────────────────────────────────

OWN = agent_in("t1")
MADE = Settled(
    FULL,
    [REPLY],
    [("mira", entry(1))],
    [Change(RULES, "rules", 0, OWN, 7), Change(wishes("ana"), "be brief", 1, OWN, 7)],
    [Note("ana", "likes tea", DAY, Provenance("ana", "web", "user", "user:ana")), Note("", "own note", DAY)],
    [Proposed(SOUL, "kinder", 0, OWN, "because", 99), Proposed(wishes("bob"), "x", 3, OWN, "", 99)],
)


def begun(store: Store) -> list[str]:
    """A turn under way, and a text that it changes; the ids of its messages."""
    put(store, wishes("ana"), "be long", by=user("ana"))
    stage(store, message(1))
    return take(store, "t1")


def a_turn_leaves_what_its_tools_changed_with_all_else(store: Store) -> None:
    begun(store)
    store.settle(MADE)
    same(store.layer(AGENT, "rules"), StoredLayer("rules", "rules", 7, "t1", 1), "the layer")
    same(store.instructions(AGENT, "ana"), "be brief", "the instructions")
    (note,), (own,) = store.recent(AGENT, "ana", 5), store.recent(AGENT, "", 5)
    same((note.text, note.day, note.provenance.source), ("likes tea", DAY, "user:ana"), "the note of a user")
    alike([found.text for found in store.recall(AGENT, "ana", "tea", 5)], ["likes tea"], "what is recalled")
    same((own.text, own.provenance), ("own note", UNKNOWN), "the agent's own note")
    waits = {found.place: found for found in store.proposals(AGENT, "open")}
    same((waits[SOUL].content, waits[SOUL].by, waits[SOUL].at_ns), ("kinder", OWN, FULL.at_ns), "the proposal")
    same(waits[wishes("bob")].base_version, 3, "the version of the other proposal")
    kinds = [row.kind for chain in store.chains() for row in store.log(chain)]
    same(
        sorted(kinds), ["amend", "amend", "amend", "propose", "propose", "remember", "remember", "turn"], "the log"
    )  # fmt: skip
    times = {row.at_ns for chain in store.chains() for row in store.log(chain) if row.kind in ("remember", "propose")}
    same(times, {FULL.at_ns}, "when notes and proposals were made")
    same((store.waiting(AGENT), store.turn(AGENT, "t1")), (0, FULL), "the rest of the turn")
    verified(store)


def a_turn_whose_text_somebody_else_changed_leaves_nothing(store: Store) -> None:
    begun(store)
    put(store, wishes("ana"), "be longer", by=user("ana"))
    with untouched(store, "ana", "bob"):
        told = refused(Conflict, store.settle, MADE)
        same((told.expected, told.current), (1, 2), "the versions the conflict names")
        refused(Busy, take, store, "t2")
    store.settle(replace(MADE, changes=[MADE.changes[0], replace(MADE.changes[1], expected_version=2)]))
    same(store.instructions(AGENT, "ana"), "be brief", "the instructions, once it was right")


def a_turn_that_makes_a_bad_change_note_or_proposal_leaves_nothing(store: Store) -> None:
    begun(store)
    change, note, proposed = MADE.changes[0], MADE.notes[0], MADE.proposals[0]
    bad: list[tuple[type[CharterError], dict[str, Any]]] = [
        (BadValue, {"changes": [change, replace(change, place=place)]})
        for place in (Place("bob", "rules"), Place(AGENT, ""), Place(AGENT, "rules", "ana"))
    ]
    bad += [(Conflict, {"changes": [change, change]}), (BadValue, {"changes": [replace(change, content="\0")]})]
    bad += [(BadValue, {"notes": [note, wrong]}) for wrong in (replace(note, text=" "), replace(note, day="today"))]
    bad += [(BadValue, {"notes": [replace(note, user="x" * 201)]})]
    bad += [(NotStored, {"notes": [replace(note, provenance=Provenance(derived_from=("77",)))]})]
    bad += [
        (BadValue, {"proposals": [proposed, replace(proposed, **given)]})
        for given in (
            {"place": Place("bob", "rules")},
            {"content": "\ud800"},
            {"expires_at_ns": -1},
            {"base_version": -1},
        )
    ]
    with untouched(store, "ana", "bob"):
        for error, given in bad:
            refused(error, store.settle, replace(MADE, **given))
    store.settle(MADE)
    verified(store)


# ── records ───────────────────────────────────────────────────────────────────────────────────────────────────────


def a_turns_record_comes_back_as_it_was(store: Store) -> None:
    take(store, "t1")
    store.settle(Settled(FULL))
    plain = turn("t2", at_ns=3 * SECOND)
    run(store, plain)
    same((store.turn(AGENT, "t1"), store.turn(AGENT, "t2")), (FULL, plain), "the records")
    for agent, name in (("bob", "t1"), (AGENT, "t3"), (AGENT, ""), ("", "t1")):
        refused(NotStored, store.turn, agent, name)


def turns_are_listed_newest_first_and_no_more_than_asked_for(store: Store) -> None:
    times = {"t1": 5, "t2": 9, "t3": 9, "t4": 7}
    for name, at_ns in times.items():
        run(store, turn(name, at_ns=at_ns))
    run(store, turn("other", agent="bob"))
    alike([found.id for found in store.turns(AGENT)], ["t3", "t2", "t4", "t1"], "the turns")
    alike([found.id for found in store.turns(AGENT, 2)], ["t3", "t2"], "two of them")
    alike([*store.turns(AGENT, 0), *store.turns(AGENT, -1)], [], "none of them")


def no_two_turns_of_an_agent_have_one_id(store: Store) -> None:
    run(store, turn("t1"), reply="mira")
    stage(store, message(1))
    take(store, "t1")
    with untouched(store):
        refused(Conflict, store.settle, Settled(turn("t1", channel="web"), (), [("mira", entry(1))]))
        refused(StoreError, store.settle, Settled(turn("t1"), [OutboxMessage("mira", "again")]))
        refused(Conflict, store.fail, failed("t1"))
    run(store, turn("t1", agent="bob"))
    same(store.turn("bob", "t1").agent, "bob", "another agent's turn of the same id")


def every_turn_is_a_row_of_a_chain_that_proves_its_record(store: Store) -> None:
    records = [FULL, turn("t2", sender="bob"), turn("t3"), replace(FULL, id="t4", counts={"tokens": 13})]
    for record in records:
        run(store, record)
    take(store, "t5")
    store.fail(failed("t5", detail='{"why": 1}'))
    rows = [row for chain in store.chains() for row in store.log(chain) if row.kind == "turn"]
    same({row.place: row.actor for row in rows}, {f"t{n}": "done" for n in range(1, 5)} | {"t5": "failed"}, "the rows")
    same(len({row.content_sha256 for row in rows}), 5, "how many different records they prove")
    alike([row.place for row in store.log(AGENT)], ["t3", "t5"], "the agent's own chain, of turns without a person")
    verified(store)


# ── replies ───────────────────────────────────────────────────────────────────────────────────────────────────────


def a_reply_goes_out_once(store: Store) -> None:
    replies = [REPLY, replace(REPLY, part=1), OutboxMessage(" bob ", "hi")]
    for name, at_ns in (("t2", 20), ("t1", 10)):
        take(store, name)
        store.settle(Settled(turn(name, at_ns=at_ns), replies))
    kept = [replace(replies[2], recipient="bob"), *replies[:2]]
    alike(store.unsent(AGENT), [(name, reply) for name in ("t1", "t2") for reply in kept], "the replies, oldest first")
    must(store.mark_sent(AGENT, "t1", REPLY, 30), "the first to send a reply should be told so")
    must(not store.mark_sent(AGENT, "t1", REPLY, 31), "the second should be told that it was sent")
    for agent, name, reply in (("bob", "t1", REPLY), (AGENT, "t9", REPLY), (AGENT, "t2", replace(REPLY, part=7))):
        must(not store.mark_sent(agent, name, reply, 32), "a reply that is not there cannot be sent")
    must(store.mark_sent(AGENT, "t2", OutboxMessage("  bob", ""), 33), "a recipient is known by a key")
    same(len(store.unsent(AGENT)), 4, "how many replies wait")
    alike(store.unsent("bob"), [], "another agent's replies")


CONTRACTS: tuple[Contract, ...] = (
    a_turn_that_worked_leaves_all_it_should_at_once,
    a_turn_that_cannot_leave_everything_leaves_nothing,
    a_turn_that_lost_its_lane_leaves_nothing,
    a_failed_turn_leaves_its_messages_waiting_and_only_its_record,
    a_turn_leaves_what_its_tools_changed_with_all_else,
    a_turn_whose_text_somebody_else_changed_leaves_nothing,
    a_turn_that_makes_a_bad_change_note_or_proposal_leaves_nothing,
    a_turns_record_comes_back_as_it_was,
    turns_are_listed_newest_first_and_no_more_than_asked_for,
    no_two_turns_of_an_agent_have_one_id,
    every_turn_is_a_row_of_a_chain_that_proves_its_record,
    a_reply_goes_out_once,
)
