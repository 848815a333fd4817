"""Contracts of approvals: a call waits for a person, bound to its hash; one approval is one execution (S1-08)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

from ..core.errors import BadValue, NotStored, Refused
from ..core.ports import Store
from ..core.records import Approval
from .bad import BAD_KEYS, BAD_NAMES, BAD_TEXTS, BAD_TIMES, bad_authors_and_times
from .check import Contract, alike, at_once, must, of, refused, same, there
from .parts import AGENT, OPERATOR, untouched, user, verified

TILL, MANY = 100, 8
CALL = Approval("a-1", AGENT, "t1", "send_mail", '{"to": "é", "body": "hello"}', "f" * 64, 3, TILL, "ana")
OTHERS: tuple[dict[str, Any], ...] = (
    {"sha256": "e" * 64}, {"tool": "send_mails"}, {"user": "bob"}, {"user": ""}, {"user": "Ana"}, {"agent": "bob"},
)  # fmt: skip


def decide(
    store: Store, what: Approval = CALL, verdict: Literal["approved", "denied"] = "approved", at_ns: int = 5
) -> Approval:
    return store.decide_approval(what.id, what.sha256, verdict, by=OPERATOR, at_ns=at_ns)


def use(store: Store, what: Approval = CALL, turn: str = "t2", at_ns: int = 6) -> Approval | None:
    return store.use_approval(what.agent, what.user, what.tool, what.sha256, turn, at_ns)


def given(store: Store, what: Approval = CALL) -> None:
    """A call that a person said yes to."""
    store.request_approval(what)
    decide(store, what)


def code(store: Store, name: str, sha256: str, *, at_ns: int = 5) -> str:
    """Why a decision is refused."""
    call = store.decide_approval
    return refused(Refused, call, name, sha256, "approved", by=OPERATOR, at_ns=at_ns).code


def a_call_waits_for_a_person_and_is_not_made_meanwhile(store: Store) -> None:
    same(store.request_approval(replace(CALL, state="approved", decided_by="t1")), CALL, "what waits")
    same(store.approval("a-1"), CALL, "the approval, read again")
    alike(store.approvals(AGENT, "open"), [CALL], "the open approvals")
    with untouched(store, "ana"):
        same(use(store), None, "an approval that nobody gave")
    refused(NotStored, store.approval, "a-2")


def a_call_that_waits_already_is_not_asked_about_twice(store: Store) -> None:
    store.request_approval(CALL)
    with untouched(store, "ana"):
        again = replace(CALL, id="a-2", turn_id="t9", at_ns=4, expires_at_ns=999)
        same(store.request_approval(again), CALL, "the same call, asked about again")
        same(store.request_approval(CALL), CALL, "the same call and id")
        refused(BadValue, store.request_approval, replace(CALL, sha256="e" * 64))
    for number, other in enumerate(OTHERS):
        another = replace(CALL, id=f"b-{number}", **other)
        same(store.request_approval(another), another, "another call, which waits for itself")
    late = replace(CALL, id="a-3", at_ns=TILL, expires_at_ns=2 * TILL)
    same(store.request_approval(late), late, "the same call, after its time was over")
    same(store.approval("a-1").state, "expired", "the state of what nobody decided in time")
    verified(store)


def one_approval_is_one_execution_of_exactly_that_call(store: Store) -> None:
    given(store)
    with untouched(store, "ana", "bob"):
        for other in OTHERS:
            same(use(store, replace(CALL, **other)), None, "an approval for another call")
        same(use(store, at_ns=TILL), None, "an approval whose time is over")
    used = replace(
        CALL, state="used", decided_by=OPERATOR.mark, decided_at_ns=5, used_by_turn="t2"
    )  # fmt: skip
    same(use(store), used, "the approval")
    with untouched(store, "ana"):
        for turn in ("t2", "t3"):
            same(use(store, turn=turn), None, "an approval that was used")
        same(code(store, "a-1", CALL.sha256), "APPROVAL_USED", "why it is refused")
    same(store.approval("a-1"), used, "the approval, read again")
    verified(store)


def a_decision_is_made_once_about_what_was_seen_and_in_time(store: Store) -> None:
    store.request_approval(CALL)
    with untouched(store, "ana"):
        same(code(store, "a-1", "e" * 64), "APPROVAL_SWAPPED", "why another hash is refused")
        same(code(store, "a-1", CALL.sha256, at_ns=TILL), "APPROVAL_EXPIRED", "why it is refused when it is late")
        refused(NotStored, decide, store, replace(CALL, id="a-2"))
        refused(BadValue, store.decide_approval, "a-1", CALL.sha256, "open", by=OPERATOR, at_ns=5)
    approved = replace(CALL, state="approved", decided_by="admin:olga", decided_at_ns=TILL - 1)
    same(decide(store, at_ns=TILL - 1), approved, "what was decided")
    with untouched(store, "ana"):
        for verdict in ("approved", "denied"):
            refused(Refused, store.decide_approval, "a-1", CALL.sha256, verdict, by=OPERATOR, at_ns=5)
    verified(store)


def a_call_that_was_denied_is_not_made(store: Store) -> None:
    store.request_approval(CALL)
    same(decide(store, verdict="denied").state, "denied", "the state")
    with untouched(store, "ana"):
        same(use(store), None, "an approval that was denied")
        same(code(store, "a-1", CALL.sha256), "APPROVAL_DENIED", "why it is refused")
    again = replace(CALL, id="a-2", at_ns=7)
    same(store.request_approval(again), again, "the same call, asked about after a no")


def a_call_is_made_as_often_as_it_was_approved(store: Store) -> None:
    for number in range(3):
        given(store, replace(CALL, id=f"a-{number}", at_ns=number))
    used = [there(use(store, turn=f"t{number}"), "an approval").id for number in range(3)]
    alike(used, ["a-0", "a-1", "a-2"], "the approvals, the oldest first")
    same(use(store), None, "one more than was approved")


def an_approval_ends_with_its_time(store: Store) -> None:
    store.request_approval(CALL)
    given(store, replace(CALL, id="a-2", sha256="e" * 64))
    same(store.expire(TILL - 1), 0, "how many ended before their time")
    same((store.expire(TILL), store.expire(TILL)), (2, 0), "how many ended, and again")
    same({found.state for found in store.approvals()}, {"expired"}, "their state")
    same(use(store, replace(CALL, sha256="e" * 64)), None, "an approval that ended, when the clock went back")
    verified(store)


def approvals_are_listed_by_agent_and_state_the_oldest_first(store: Store) -> None:
    calls = [replace(CALL, id=f"a-{n}", sha256=f"{n}" * 64, at_ns=at) for n, at in enumerate((5, 3, 4))]
    for call in (*calls, replace(CALL, id="b-0", agent="bob")):
        store.request_approval(call)
    decide(store, calls[2])
    alike([one.id for one in store.approvals(AGENT)], ["a-1", "a-2", "a-0"], "those of an agent")
    alike([one.id for one in store.approvals(AGENT, "open")], ["a-1", "a-0"], "those that are open")
    alike([one.id for one in store.approvals(state="approved")], ["a-2"], "those that were approved")
    alike([one.id for one in store.approvals()], ["a-1", "b-0", "a-2", "a-0"], "all of them")
    alike([*store.approvals("eve"), *store.approvals(AGENT, "lost")], [], "none of them")


def every_step_of_a_call_is_a_row_of_the_chain_of_whose_it_is(store: Store) -> None:
    given(store)
    use(store)
    own = replace(CALL, id="a-2", user="")
    store.request_approval(own)
    store.decide_approval("a-2", own.sha256, "denied", by=user("ana"), at_ns=7)
    store.expire(TILL)
    mine = next(chain for chain in store.chains() if chain.startswith(f"{AGENT}/"))
    rows = store.log(mine)
    alike([row.kind for row in rows], ["ask-call", "approve-call", "use-call"], "the rows of a person's call")
    same({(row.place, row.content_sha256) for row in rows}, {("send_mail", CALL.sha256)}, "what they tell of")
    alike([row.actor for row in rows], ["t1", "operator", "t2"], "who did it")
    alike([row.kind for row in store.log(AGENT)], ["ask-call", "deny-call"], "the rows of the agent's own call")
    said = "".join(f"{row.actor} {row.detail}" for chain in store.chains() for row in store.log(chain))
    must("hello" not in said and "user:ana" not in said, "no row should tell of a text or a name")
    verified(store)


# ── many at once, and bad values ──────────────────────────────────────────────────────────────────────────────────


def of_many_turns_that_use_one_approval_one_does(store: Store) -> None:
    for number in range(6):
        call = replace(CALL, id=f"a-{number}", at_ns=number, user=("ana", "")[number % 2])
        given(store, call)
        ends = at_once(MANY, lambda n, call=call: use(store, call, f"t{n}"))  # type: ignore[misc]
        (used,) = of(Approval, ends)
        same(ends.count(None), MANY - 1, "how many found it used")
        same((store.approval(call.id), used.used_by_turn), (used, f"t{ends.index(used)}"), "who used it")
    verified(store)


def of_a_yes_and_a_no_at_once_one_counts(store: Store) -> None:
    for number in range(6):
        call = store.request_approval(replace(CALL, id=f"a-{number}", at_ns=number))
        verdicts: list[Any] = ["approved", "denied"] * 3
        ends = at_once(6, lambda n, call=call, said=verdicts: decide(store, call, said[n]))  # type: ignore[misc]
        (decided,) = of(Approval, ends)
        same(len(of(Refused, ends)), 5, "how many were told that it was decided")
        same((store.approval(call.id), decided.state), (decided, verdicts[ends.index(decided)]), "what was decided")
        if decided.state == "approved":
            must(use(store, call), "what was approved should be usable")
    verified(store)


def a_call_that_many_ask_about_is_asked_about_once(store: Store) -> None:
    ends = at_once(MANY, lambda n: store.request_approval(replace(CALL, id=f"a-{n}", turn_id=f"t{n}")))
    (waits,) = store.approvals()
    alike(ends, [waits] * MANY, "what they were told")
    verified(store)


def a_call_with_a_bad_value_is_refused(store: Store) -> None:
    good = Approval("a-1", AGENT, "t1", "mail", "{}", "f" * 64, 5, 9, "ana")
    given: list[dict[str, Any]] = [{field: name} for field in ("id", "agent", "turn_id", "tool") for name in BAD_NAMES]
    given += [{"user": name} for name in BAD_KEYS]
    given += [{"sha256": text} for text in ("", "x" * 129, *BAD_TEXTS)]
    given += [{"arguments": text} for text in (None, *BAD_TEXTS)]
    given += [{field: time} for field in ("at_ns", "expires_at_ns") for time in BAD_TIMES]
    given += [{"id": "two words"}]
    with untouched(store, "ana"):
        for bad in given:
            refused(BadValue, store.request_approval, replace(good, **bad))
    store.request_approval(good)
    decided: dict[str, Any] = {"name": "a-1", "sha256": "f" * 64, "verdict": "approved", "by": OPERATOR, "at_ns": 6}
    used: dict[str, Any] = {
        "agent": AGENT, "user": "ana", "tool": "mail", "sha256": "f" * 64, "turn_id": "t2", "at_ns": 6,
    }  # fmt: skip
    with untouched(store, "ana"):
        wrong = [*bad_authors_and_times(), {"verdict": "yes"}, {"name": "a\0"}]
        for bad in wrong:
            refused(BadValue, store.decide_approval, **decided | bad)
        for time in BAD_TIMES:
            refused(BadValue, store.use_approval, **used | {"at_ns": time})
        for name in BAD_NAMES:
            refused(BadValue, store.use_approval, **used | {"turn_id": name})
        for text in BAD_TEXTS:
            for field in ("agent", "user", "tool", "sha256"):
                refused(BadValue, store.use_approval, **used | {field: text})


CONTRACTS: tuple[Contract, ...] = (
    a_call_waits_for_a_person_and_is_not_made_meanwhile,
    a_call_that_waits_already_is_not_asked_about_twice,
    one_approval_is_one_execution_of_exactly_that_call,
    a_decision_is_made_once_about_what_was_seen_and_in_time,
    a_call_that_was_denied_is_not_made,
    a_call_is_made_as_often_as_it_was_approved,
    an_approval_ends_with_its_time,
    approvals_are_listed_by_agent_and_state_the_oldest_first,
    every_step_of_a_call_is_a_row_of_the_chain_of_whose_it_is,
    of_many_turns_that_use_one_approval_one_does,
    of_a_yes_and_a_no_at_once_one_counts,
    a_call_that_many_ask_about_is_asked_about_once,
    a_call_with_a_bad_value_is_refused,
)
