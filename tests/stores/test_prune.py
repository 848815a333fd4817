"""What is old and done goes when its time is over, nothing else does, and the log still proves (N-20)."""

from __future__ import annotations

from pathlib import Path

import pytest

from charter.core.errors import BadValue
from charter.core.records import InboxMessage, Settled
from charter.stores import prune as module
from charter.stores.audit import audit
from charter.stores.memory import MemoryStore
from charter.stores.people import forget
from charter.stores.prune import prune
from charter.stores.store import SqlStore

from . import databases
from .databases import KINDS
from .filled import ADA, KEYS, LATER, LEASE, OLGA, fill, filled, new, record, take_turns

pytestmark = pytest.mark.requirement("N-20")


def left(url: str, table: str, what: str) -> list[object]:
    return sorted(row[0] for row in databases.run(url, f"SELECT {what} FROM {table}"))


def told(store: SqlStore) -> list[tuple[str, str]]:
    """What the log tells of pruning, by place."""
    rows = (row for chain in store.chains() for row in store.log(chain))
    return sorted((row.place, row.detail) for row in rows if row.kind == "prune")


@pytest.mark.parametrize("kind", KINDS)
def test_messages_that_were_dealt_with_go_and_those_that_wait_stay(kind: str, tmp_path: Path) -> None:
    url, store = filled(kind, tmp_path)
    with store:
        assert prune(store.db, inbox_before_ns=62, at_ns=99) == {"inbox_messages": 4}
        assert left(url, "inbox_messages", "state") == ["done"] * 4 + ["staged"] * 2
        assert prune(store.db, inbox_before_ns=LATER, at_ns=99) == {"inbox_messages": 4}
        assert left(url, "inbox_messages", "state") == ["staged"] * 2
        assert told(store) == [("inbox", f"4 before {before}") for before in (LATER, 62)]
        assert audit(store.db).problems == ()


@pytest.mark.parametrize("kind", KINDS)
def test_replies_that_were_sent_go_and_those_that_were_not_stay(kind: str, tmp_path: Path) -> None:
    _, store = filled(kind, tmp_path)
    with store:
        unsent = store.unsent(ADA)
        assert prune(store.db, outbox_before_ns=62, at_ns=99) == {}
        assert prune(store.db, outbox_before_ns=63, at_ns=99) == {"outbox_messages": 4}
        assert prune(store.db, outbox_before_ns=LATER, at_ns=99) == {}
        assert store.unsent(ADA) == unsent
        assert told(store) == [("outbox", "4 before 63")]
        assert audit(store.db).problems == ()


@pytest.mark.parametrize("kind", KINDS)
def test_turns_that_are_old_go_and_each_chain_says_up_to_when(kind: str, tmp_path: Path) -> None:
    url, store = filled(kind, tmp_path)
    with store:
        anchor = audit(store.db).heads
        assert prune(store.db, turns_before_ns=62, at_ns=99) == {"turn_records": 2, "tool_approvals": 9}
        assert left(url, "turn_records", "at_ns") == [62, 62, 64, 64]
        assert prune(store.db, turns_before_ns=65, at_ns=99) == {"turn_records": 4}
        assert prune(store.db, turns_before_ns=65, at_ns=99) == {}
        assert told(store) == [
            *[("calls", "3 before 62")] * 3, *[("turns", "1 before 62")] * 2, *[("turns", "2 before 65")] * 2
        ]  # fmt: skip
        assert (audit(store.db, heads=anchor).problems, audit(store.db).turns) == ((), 0)


def test_a_turn_younger_than_the_last_pruning_is_still_missed_when_it_is_gone() -> None:
    with MemoryStore(KEYS) as store:
        fill(store)
        prune(store.db, turns_before_ns=62, at_ns=99)
        with store.db.writing() as run:
            run("DELETE FROM turn_records WHERE at_ns = 62 AND sender LIKE 'mira%'")
        assert [problem for problem in audit(store.db).problems if "is not there" in problem] != []


def test_a_turn_that_is_written_after_a_pruning_with_an_older_time_is_not_taken_for_pruned() -> None:
    with MemoryStore(KEYS) as store:
        fill(store)
        prune(store.db, turns_before_ns=LATER, at_ns=99)
        store.take(ADA, "turn-6-0", lane="zoe", at_ns=100, lease_ns=LEASE)
        store.settle(Settled(record(ADA, "turn-6-0", 5, sender="bob")))
        assert audit(store.db).problems == ()
        with store.db.writing() as run:
            run("DELETE FROM turn_records")
        assert len(audit(store.db).problems) == 1


@pytest.mark.parametrize("kind", KINDS)
def test_calls_of_as_long_ago_go_with_turns_unless_a_person_is_still_asked(kind: str, tmp_path: Path) -> None:
    url, store = filled(kind, tmp_path)
    with store:
        prune(store.db, turns_before_ns=52, at_ns=99)
        assert left(url, "tool_approvals", "at_ns") == [51] * 3 + [52] * 3 + [53] * 3 + [54] * 3
        prune(store.db, turns_before_ns=60, at_ns=99)
        assert left(url, "tool_approvals", "state") == ["approved"] * 3 + ["open"] * 3
        assert prune(store.db, turns_before_ns=60, at_ns=LATER)["tool_approvals"] == 6
        assert (store.approvals(), audit(store.db).problems) == ([], ())


def test_a_call_that_still_waits_is_missed_when_it_is_gone_though_others_of_its_time_were_pruned() -> None:
    with MemoryStore(KEYS) as store:
        fill(store)
        prune(store.db, turns_before_ns=60, at_ns=99)
        with store.db.writing() as run:
            run("DELETE FROM tool_approvals WHERE state = 'approved'")
        assert [problem.partition(": ")[2] for problem in audit(store.db).problems] == [
            "tells of an approval that is not there"
        ] * 3


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_goes_without_a_time_of_its_own(kind: str, tmp_path: Path) -> None:
    url, store = filled(kind, tmp_path)
    with store:
        before = databases.contents(url)
        assert prune(store.db, at_ns=LATER) == {}
        assert prune(store.db, inbox_before_ns=0, outbox_before_ns=0, turns_before_ns=0, at_ns=LATER) == {}
        for times in ({"inbox_before_ns": -1}, {"turns_before_ns": 2**63}):
            with pytest.raises(BadValue, match="nanoseconds"):
                prune(store.db, at_ns=LATER, **times)
        assert databases.contents(url) == before


@pytest.mark.parametrize("kind", KINDS)
def test_turns_of_many_people_go_in_steps(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "CHAINS_AT_ONCE", 3)
    _, store = new(kind, tmp_path)
    with store:
        for number in range(8):
            take_turns(store, f"p{number}", "x" * (number + 1))
        assert prune(store.db, turns_before_ns=LATER, at_ns=99) == {"turn_records": 24}
        assert told(store) == [("turns", f"3 before {LATER}")] * 8
        assert audit(store.db).problems == ()


@pytest.mark.parametrize("kind", KINDS)
def test_pruning_and_forgetting_go_together_in_either_order(kind: str, tmp_path: Path) -> None:
    _, store = filled(kind, tmp_path)
    with store:
        prune(store.db, turns_before_ns=53, at_ns=99)
        forget(store.db, "bob", by=OLGA, at_ns=100)
        forget(store.db, "mira", by=OLGA, at_ns=100)
        assert prune(store.db, turns_before_ns=LATER, at_ns=101) == {"turn_records": 6, "tool_approvals": 7}
        assert audit(store.db).problems == ()


def test_a_message_whose_row_is_gone_can_be_staged_again() -> None:
    with MemoryStore() as store:
        fill(store)
        again = InboxMessage("m-6-0", "bob", "the same again")
        assert not store.stage(ADA, again)
        prune(store.db, inbox_before_ns=LATER, at_ns=99)
        assert store.stage(ADA, again)
