"""Contracts of proposals: a change waits for a person, bound to what they saw, and is decided once (N-04)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ..core.errors import NotStored, Refused
from ..core.ports import Store
from ..core.records import Author, Decision, Place, Proposal, StoredLayer
from .check import Contract, alike, at_once, must, of, refused, same, there
from .parts import AGENT, OPERATOR, RULES, SOUL, agent_in, decision, put, untouched, user, verified, wishes

TILL = 100


def propose(store: Store, place: Place = RULES, content: str = "proposed", **more: Any) -> Proposal:
    head = store.head(place)
    given: dict[str, Any] = {"base_version": head.version if head else 0, "by": agent_in("t1"), "at_ns": 3} | more
    return store.propose(place, content, reason="because", expires_at_ns=TILL, **given)


def code(store: Store, what: Decision) -> str:
    """Why an approval is refused."""
    return refused(Refused, store.apply, what).code


def a_proposal_waits_and_changes_nothing(store: Store) -> None:
    put(store, RULES, "one")
    waits = propose(store)
    same(store.layer(AGENT, "rules"), StoredLayer("rules", "one", 1, "admin:olga", 1), "the layer")
    wanted = Proposal(waits.id, RULES, 1, "proposed", waits.sha256, agent_in("t1"), "because", 3, TILL)
    same(waits, wanted, "the proposal")
    same(store.proposal(waits.id), wanted, "the proposal, read again")
    alike(store.proposals(AGENT, "open"), [wanted], "the open proposals")
    refused(NotStored, store.proposal, "p-none")


def an_approval_applies_a_proposal_once_exactly_as_it_was_seen(store: Store) -> None:
    for place in (RULES, SOUL, wishes("ana")):
        put(store, place, "one")
        waits = propose(store, place)
        what = Decision(waits.id, waits.sha256, OPERATOR, 5, "signed")
        same(store.apply(what), StoredLayer(place.layer_id, "proposed", 5, "t1", 2), "what was written")
        same(there(store.head(place)).content, "proposed", "the text now")
        decided = replace(waits, state="applied", decided_by=OPERATOR.mark, decided_at_ns=5, applied_version=2)
        same(store.proposal(waits.id), replace(decided, signature="signed"), "the proposal")
        with untouched(store, "ana"):
            same(code(store, what), "PROPOSAL_APPLIED", "why it is refused")
    verified(store)


def a_rejected_proposal_changes_nothing_and_stays_rejected(store: Store) -> None:
    put(store, RULES, "one")
    waits = propose(store)
    what = decision(waits.id, waits.sha256)
    ended = store.close_proposal(what, "rejected")
    same((ended.state, ended.decided_by, ended.applied_version), ("rejected", "admin:olga", 0), "the proposal")
    with untouched(store):
        same(code(store, what), "PROPOSAL_REJECTED", "why it is refused")
        refused(Refused, store.close_proposal, what, "rejected")
    same(there(store.layer(AGENT, "rules")).version, 1, "the layer's version")


def a_decision_after_a_decision_is_refused_and_says_what_was_decided(store: Store) -> None:
    put(store, RULES, "one")
    applied, over = propose(store), propose(store)
    store.apply(decision(applied.id, applied.sha256))
    store.expire(TILL)
    for waits, state in ((applied, "APPLIED"), (over, "EXPIRED")):
        what = decision(waits.id, waits.sha256)
        told = refused(Refused, store.close_proposal, what, "rejected")
        same((told.code, code(store, what)), (f"PROPOSAL_{state}", f"PROPOSAL_{state}"), "why it is refused")


def a_proposal_cannot_be_approved_when_its_time_is_over(store: Store) -> None:
    late, last = propose(store, content="late"), propose(store, content="last")
    with untouched(store):
        for at_ns in (TILL, TILL + 1, 10**18):
            same(code(store, decision(late.id, late.sha256, at_ns=at_ns)), "PROPOSAL_EXPIRED", "why it is refused")
    same(store.apply(decision(last.id, last.sha256, at_ns=TILL - 1)).content, "last", "the text now")


def what_is_over_expires_once_and_nothing_else_does(store: Store) -> None:
    over = propose(store, content="over")
    waits = store.propose(RULES, "waits", base_version=0, by=user("ana"), reason="", at_ns=4, expires_at_ns=TILL + 1)
    gone = propose(store, content="gone")
    store.close_proposal(decision(gone.id, gone.sha256), "rejected")
    same(store.expire(TILL - 1), 0, "how many expired before their time")
    same((store.expire(TILL), store.expire(TILL)), (1, 0), "how many expired, and again")
    states = {found.id: found.state for found in store.proposals()}
    same(states, {over.id: "expired", waits.id: "open", gone.id: "rejected"}, "the states")
    same(store.layer(AGENT, "rules"), None, "the layer")


def a_proposal_made_on_another_version_is_stale(store: Store) -> None:
    put(store, RULES, "one")
    waits = propose(store)
    early = propose(store, base_version=0)
    ahead = propose(store, base_version=2)
    put(store, RULES, "two")
    put(store, RULES, "three")
    with untouched(store):
        for found in (waits, early, ahead):
            same(code(store, decision(found.id, found.sha256)), "PROPOSAL_STALE", "why it is refused")


def an_approval_of_another_text_is_refused(store: Store) -> None:
    one, two = propose(store, content="one"), propose(store, content="two")
    must(one.sha256 != two.sha256, "two texts have the same hash")
    with untouched(store):
        for sha256 in (two.sha256, "", one.sha256[:-1], one.sha256.upper(), "0" * 64):
            same(code(store, decision(one.id, sha256)), "PROPOSAL_SWAPPED", "why it is refused")


def proposals_are_listed_by_agent_and_state_the_oldest_first(store: Store) -> None:
    names = [propose(store, content=f"{n}", at_ns=n).id for n in (3, 1, 2)]
    other = propose(store, Place("bob", "rules"), at_ns=2)
    ended = propose(store, at_ns=9, by=user("ana"))
    store.close_proposal(decision(ended.id, ended.sha256), "rejected")
    ids = [names[1], names[2], names[0]]
    alike([found.id for found in store.proposals(AGENT)], [*ids, ended.id], "those of one agent")
    alike([found.id for found in store.proposals(AGENT, "open")], ids, "the open ones of one agent")
    alike([found.id for found in store.proposals(state="rejected")], [ended.id], "the rejected ones")
    same({found.id for found in store.proposals()}, {*ids, other.id, ended.id}, "all of them")
    for by in (OPERATOR, agent_in("t9"), user("ben"), Author("init")):
        same(store.proposal(propose(store, by=by).id).by, by, "who proposed")


def of_many_approvals_at_once_exactly_one_applies(store: Store) -> None:
    put(store, RULES, "one")
    waits = propose(store)
    ends = at_once(12, lambda _: store.apply(decision(waits.id, waits.sha256)))
    same(len(of(StoredLayer, ends)), 1, "how many applied it")
    alike([told.code for told in of(Refused, ends)], ["PROPOSAL_APPLIED"] * 11, "why the others are refused")
    same(there(store.layer(AGENT, "rules")).version, 2, "the layer's version")
    verified(store)


def of_rival_proposals_and_decisions_at_once_one_wins(store: Store) -> None:
    put(store, RULES, "one")
    rivals = [propose(store, content=f"rival {number}") for number in range(8)]
    ends = at_once(8, lambda n: store.apply(decision(rivals[n].id, rivals[n].sha256)))
    same(len(of(StoredLayer, ends)), 1, "how many were applied")
    alike([told.code for told in of(Refused, ends)], ["PROPOSAL_STALE"] * 7, "why the others are refused")
    waits = propose(store)
    what = decision(waits.id, waits.sha256)

    def decide(number: int) -> object:
        return store.apply(what) if number % 2 else store.close_proposal(what, "rejected")

    same(len(of(Refused, at_once(8, decide))), 7, "how many decisions were refused")
    verified(store)


CONTRACTS: tuple[Contract, ...] = (
    a_proposal_waits_and_changes_nothing,
    an_approval_applies_a_proposal_once_exactly_as_it_was_seen,
    a_rejected_proposal_changes_nothing_and_stays_rejected,
    a_decision_after_a_decision_is_refused_and_says_what_was_decided,
    a_proposal_cannot_be_approved_when_its_time_is_over,
    what_is_over_expires_once_and_nothing_else_does,
    a_proposal_made_on_another_version_is_stale,
    an_approval_of_another_text_is_refused,
    proposals_are_listed_by_agent_and_state_the_oldest_first,
    of_many_approvals_at_once_exactly_one_applies,
    of_rival_proposals_and_decisions_at_once_one_wins,
)
