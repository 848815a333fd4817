"""Turns are found by the beginning of an id, and messages and notes are those a turn could see; on both databases."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from charter import stores
from charter.core.errors import BadValue, NotStored
from charter.core.records import InboxMessage, Settled, TurnRecord
from charter.stores import migrate, past
from charter.stores.store import SqlStore
from stores.databases import KINDS, empty

from .taking import MO


@pytest.fixture(params=KINDS)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[SqlStore]:
    url = empty(request.param, tmp_path)
    migrate.upgrade(url)
    with stores.open(url) as opened:
        yield opened


def record(store: SqlStore, name: str, at_ns: int, **more: str) -> TurnRecord:
    """A turn that was taken and settled."""
    made = TurnRecord(**{"agent": "ada", "channel": "web", "payload_sha256": "p", **more}, id=name, at_ns=at_ns)  # type: ignore[arg-type]
    store.take(made.agent, name, lane=name, at_ns=at_ns, lease_ns=10**9)
    store.settle(Settled(made))
    return made


@pytest.mark.requirement("N-01")
def test_a_turn_is_found_by_its_id_or_by_six_characters_that_are_its_alone(store: SqlStore) -> None:
    for name in ("18c0aa01", "18c0aa02", "28c0aa03", "t1"):
        record(store, name, 1)
    record(store, "28c0aa03", 2, agent="bob")
    assert past.find(store.db, "t1").id == "t1"
    assert past.find(store.db, "18c0aa01").id == past.find(store.db, "18c0aa01", "ada").id == "18c0aa01"
    assert past.find(store.db, "28c0aa", "bob").agent == "bob"
    for name in ("18c0aa", "28c0aa", "28c0aa03"):
        with pytest.raises(BadValue, match="more than one turn has an id that begins so; give more of it, or --agent"):
            past.find(store.db, name)
    for name in ("18c0a", "99c0aa", "", "18c0aa%", "18c0aa\0"):
        with pytest.raises(NotStored, match="there is no turn of this id"):
            past.find(store.db, name)


@pytest.mark.requirement("N-01")
def test_the_newest_turns_are_listed_of_one_agent_or_of_all(store: SqlStore) -> None:
    for number, agent in enumerate(("ada", "bob", "ada")):
        record(store, f"t{number}", number, agent=agent)
    assert [one.id for one in past.newest(store.db)] == ["t2", "t1", "t0"]
    assert [one.id for one in past.newest(store.db, "ada", 1)] == ["t2"]
    assert past.newest(store.db, "ada", -1) == []


@pytest.mark.requirement("N-06")
def test_the_turn_before_reached_a_model_and_is_of_the_same_sender_where_that_is_asked(store: SqlStore) -> None:
    ana = {"sender": "ana"}
    record(store, "t1", 5, **ana)
    record(store, "t2", 5, **ana)
    record(store, "t3", 6, sender="zoe")
    record(store, "t4", 7, payload_sha256="", **ana)
    this = record(store, "t5", 8, **ana)
    found = past.before(store.db, this, same_sender=True)
    assert found is not None
    assert found.id == "t2"
    assert [one.id for one in (past.before(store.db, this, same_sender=False),) if one] == ["t3"]
    assert [one.id for one in (past.before(store.db, found, same_sender=True),) if one] == ["t1"]
    assert past.before(store.db, past.find(store.db, "t1"), same_sender=True) is None


@pytest.mark.requirement("N-01", "S0-14")
def test_the_messages_that_waited_are_those_that_had_come_and_nobody_had_answered(store: SqlStore) -> None:
    def stage(name: str, at_ns: int) -> None:
        store.stage("ada", InboxMessage(name, "zoe", name, at_ns))

    stage("early", 1)
    store.take("ada", "t1", at_ns=2, lease_ns=9)
    store.settle(Settled(TurnRecord("ada", "t1", 2, "inbox")))
    stage("mine", 3)
    stage("second", 3)
    store.take("ada", "t2", at_ns=5, lease_ns=9, max_messages=1)
    this = TurnRecord("ada", "t2", 5, "inbox")
    store.settle(Settled(this))
    stage("late", 7)
    assert [one.id for one in past.inbox_then(store.db, this, 6)] == ["second"]
    store.take("ada", "t3", at_ns=8, lease_ns=9)
    assert [one.id for one in past.inbox_then(store.db, this, 6)] == ["second"]
    store.settle(Settled(TurnRecord("ada", "t3", 8, "inbox")))
    assert [one.id for one in past.inbox_then(store.db, this, 6)] == ["second"]
    assert [one.id for one in past.inbox_then(store.db, TurnRecord("ada", "t4", 9, "inbox"), 9)] == []


@pytest.mark.requirement("N-01", "N-10")
def test_notes_are_ranked_as_the_store_ranked_them_then(store: SqlStore) -> None:
    texts = ("tea and toast", "tea for two, and tea again", "a cat", "tea with the cat", "toast")
    for number, text in enumerate(texts, 1):
        store.remember("ada", "ana", text, day="2026-01-01", at_ns=number)
    store.remember("ada", "bob", "tea, tea, tea", day="2026-01-01", at_ns=1)
    for query in ("tea", "the cat and its toast", "nothing of it", ""):
        then = past.NotesThen(store.db, "ada", "ana", read_ns=5)
        assert [one.id for one in then.recall(query, 3)] == [one.id for one in store.recall("ada", "ana", query, 3)]
    assert [one.text for one in past.NotesThen(store.db, "ada", "ana", read_ns=5).recent(2)] == ["toast", texts[3]]
    expected = [one.id for one in store.recall("ada", "ana", "tea", 9)]
    store.forget_note("ada", "ana", expected[0], by=MO, at_ns=6)
    store.remember("ada", "ana", "green tea", day="2026-01-02", at_ns=7)
    assert [one.id for one in past.NotesThen(store.db, "ada", "ana", read_ns=5).recall("tea", 9)] == expected
    after = past.NotesThen(store.db, "ada", "ana", read_ns=8)
    assert [one.id for one in after.recall("tea", 9)] == [one.id for one in store.recall("ada", "ana", "tea", 9)]
    assert "tea" not in repr(after)


@pytest.mark.requirement("N-01")
def test_a_turns_own_notes_are_not_among_those_it_found(store: SqlStore) -> None:
    ids = [store.remember("ada", "ana", f"note {n}", day="2026-01-01", at_ns=at).id for n, at in enumerate((1, 5, 5))]
    shown = frozenset({int(ids[1])})
    found = past.NotesThen(store.db, "ada", "ana", read_ns=6).without(1, at_ns=5, shown=shown)
    assert [one.id for one in found.recent(9)] == [ids[1], ids[0]]
    assert len(past.NotesThen(store.db, "ada", "ana", read_ns=6).without(0, at_ns=5, shown=shown).recent(9)) == 3
