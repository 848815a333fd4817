"""A clock that goes back: leases end, proposals are decided once, versions and their proof stay in order."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from charter.core.errors import BadValue, Busy, Refused
from charter.core.records import Change, Decision
from charter.stores.store import SqlStore

from .places import KINDS, new
from .whole import wrong
from .work import LEASE, NOW, OPERATOR, decision, opened, persona, propose, settle, stage, take, text

pytestmark = pytest.mark.requirement("N-17", "N-04", "S0-13", "S0-12")


@pytest.fixture(scope="module", params=KINDS)
def store(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SqlStore]:
    with opened(new(request.param, Path(tmp_path_factory.mktemp("clock")))) as kept:
        yield kept


def test_a_lease_taken_before_the_clock_went_back_ends_a_lease_later(store: SqlStore) -> None:
    stage(store, "leases", 1)
    assert len(take(store, "leases", "t1", NOW)) == 1
    with pytest.raises(Busy):
        take(store, "leases", "t2", 1000)
    with pytest.raises(Busy):
        take(store, "leases", "t2", 1000 + LEASE - 1)
    (message,) = take(store, "leases", "t2", 1000 + LEASE)
    with pytest.raises(Busy):
        settle(store, "leases", "t1", [message])
    settle(store, "leases", "t2", [message])
    assert wrong(store, "leases") == []


def test_a_clock_that_goes_back_and_forth_gives_a_message_to_one_turn_at_a_time(store: SqlStore) -> None:
    stage(store, "jumps", 1)
    held = ""
    for number, at_ns in enumerate((NOW, 5, NOW * 2, 7, 3, NOW, 2 * LEASE, 1, LEASE + 2, NOW * 3, 0)):
        try:
            if take(store, "jumps", f"t{number}", at_ns):
                held = f"t{number}"
        except Busy:
            pass
        owners = store.db.read("SELECT turn_id, state FROM inbox_messages WHERE agent_name = 'jumps'")
        assert owners == [(held, "taken")]
        assert wrong(store, "jumps") == []


def test_a_proposal_is_open_by_the_clock_of_who_decides_and_is_decided_once(store: SqlStore) -> None:
    made = propose(store, "late", 0, expires=NOW + 10)
    assert store.expire(NOW + 9) == 0
    early = Decision(made.id, made.sha256, OPERATOR, NOW - 500)
    with pytest.raises(Refused, match="PROPOSAL_EXPIRED"):
        store.apply(Decision(made.id, made.sha256, OPERATOR, NOW + 10))
    store.apply(early)
    with pytest.raises(Refused, match="PROPOSAL_APPLIED"):
        store.apply(early)
    assert store.expire(NOW + 11) == 0
    assert wrong(store, "late") == []


def test_a_proposal_that_expired_stays_so_when_the_clock_goes_back(store: SqlStore) -> None:
    propose(store, "over", 0, expires=NOW + 10)
    before = decision(store, "over", at_ns=NOW)
    assert store.expire(NOW + 10) == 1
    with pytest.raises(Refused, match="PROPOSAL_EXPIRED"):
        store.apply(before)
    assert store.head(persona("over")) is None
    assert wrong(store, "over") == []


def test_versions_are_in_the_order_they_were_written_whatever_the_clock_said(store: SqlStore) -> None:
    for version, at_ns in enumerate((NOW, 5, NOW // 2, 0), 1):
        store.commit(Change(persona("order"), text("order", version), version - 1, OPERATOR, at_ns))
    assert [(row.version, row.at_ns) for row in store.history(persona("order"))] == [
        (1, NOW), (2, 5), (3, NOW // 2), (4, 0),
    ]  # fmt: skip
    head = store.head(persona("order"))
    assert head is not None
    assert (head.version, head.content) == (4, text("order", 4))
    assert wrong(store, "order") == []


@pytest.mark.parametrize("at_ns", [-1, 2**63])
def test_a_time_that_cannot_be_kept_is_refused_and_nothing_is_written(store: SqlStore, at_ns: int) -> None:
    for attempt in (
        lambda: store.commit(Change(persona("never"), "text", 0, OPERATOR, at_ns)),
        lambda: take(store, "never", "t1", at_ns),
        lambda: propose(store, "never", 0, expires=at_ns),
    ):
        with pytest.raises(BadValue):
            attempt()
    assert store.head(persona("never")) is None
    assert store.proposals("never") == []
