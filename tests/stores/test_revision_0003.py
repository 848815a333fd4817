"""Revision 0003: an older database comes along with its data and its proofs; what a detail adds is proved too."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from charter import stores
from charter.core.errors import StoreOutdated
from charter.core.records import Settled, TurnRecord
from charter.stores.audit import audit
from charter.stores.migrate import current, downgrade, upgrade
from charter.stores.turns import record_hash

from . import databases
from .databases import KINDS
from .filled import ADA, DAY, KEYS, OLGA, RULES, decide, filled, new, put, record, take_turns, user, wishes

PAGE = Path(__file__).parents[2] / "docs" / "stores.md"
PLAIN = TurnRecord(
    "automaton", "t1", 1, "inbox", "mira", "ana", "sovereign", "1", "full", "done", "OK", "a" * 64, "b" * 64, "c" * 64,
    "{}", {"input": 7, "output": 5},
)  # fmt: skip


@pytest.mark.requirement("S4-08", "N-01", "N-03")
@pytest.mark.parametrize("kind", KINDS)
def test_a_database_at_0002_comes_up_with_its_data_and_its_chains_still_verify(kind: str, tmp_path: Path) -> None:
    (tmp_path / "plain").mkdir()
    other = databases.empty(kind, tmp_path / "plain")
    upgrade(other, "0002")
    url, store = new(kind, tmp_path)
    with store:
        put(store, RULES, "Rules.")
        put(store, wishes("mira"), "Wishes.", user("mira"))
        decide(store, wishes("mira"), user("mira"))
        store.remember(ADA, "mira", "tea", day=DAY)
        take_turns(store, "mira", "marzipan", detail="{}")
        turns, anchor = store.turns(ADA), audit(store.db).heads
    assert downgrade(url, "0002") == ["0004", "0003"]
    assert databases.catalogue(url) == databases.catalogue(other)
    with pytest.raises(StoreOutdated, match="needs 0004; run: charter db upgrade"):
        stores.open(url)
    before = databases.contents(url)
    assert (upgrade(url), current(url)) == (["0003", "0004"], "0004")
    untouched = before.keys() - {"alembic_version", "turn_records", "conversations"}
    assert {name: databases.contents(url)[name] for name in untouched} == {name: before[name] for name in untouched}
    with stores.open(url, keys=KEYS) as store:
        assert (store.turns(ADA), audit(store.db, heads=anchor).problems) == (turns, ())
        take_turns(store, "bob", "celery")
        assert [len(one.reply) > 0 for one in store.exchanges(ADA, "mira")] == [True, True]
        assert audit(store.db, heads=anchor).problems == ()


@pytest.mark.requirement("S4-08", "N-03")
@pytest.mark.parametrize("kind", KINDS)
def test_what_the_way_back_takes_away_is_named_by_the_next_audit(kind: str, tmp_path: Path) -> None:
    url, store = filled(kind, tmp_path)
    with store:
        gone = len(store.approvals())
        store.pause(ADA, by=OLGA, at_ns=90)
    downgrade(url, "0002")
    assert [name for name in databases.tables(url) if name.startswith(("tool_", "agent_c", "agent_s"))] == [
        "agent_configurations"
    ]
    upgrade(url)
    with stores.open(url, keys=KEYS) as store:
        problems = audit(store.db).problems
    assert sum("tells of an approval that is not there" in problem for problem in problems) == gone == 15
    assert sum("is not the record" in problem for problem in problems) == 2
    assert sum("tells of a switch or a limit that is not there" in problem for problem in problems) == 4
    assert len(problems) == 21


# ── the hash of a record ──────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.requirement("N-01")
def test_the_hashes_of_records_are_those_of_the_page() -> None:
    page = PAGE.read_text()
    for turn in (PLAIN, replace(PLAIN, detail='{"model":"é"}')):
        assert f"| `{record_hash(turn)}` |" in page


@pytest.mark.requirement("N-01")
def test_a_record_without_a_detail_has_the_hash_it_had_before_there_was_one_and_any_detail_another() -> None:
    details = ("{}", "", "{ }", "null", '{"a": 1}', '{"a":1}')
    hashes = [record_hash(replace(PLAIN, detail=detail)) for detail in details]
    assert hashes[0] == record_hash(PLAIN)
    assert len(set(hashes)) == len(details)
    moved = (replace(PLAIN, detail="x"), replace(PLAIN, manifest="x"), replace(PLAIN, code="x"))
    assert len({record_hash(turn) for turn in moved}) == 3
    assert record_hash(replace(PLAIN, sender="zoe", user="")) == record_hash(PLAIN)


@pytest.mark.requirement("N-01")
def test_a_record_whose_detail_was_taken_away_or_given_is_found(tmp_path: Path) -> None:
    for detail, other in (("{}", '{"a": 1}'), ('{"a": 1}', "{}"), ('{"a": 1}', '{"a": 2}')):
        _, store = new("sqlite", tmp_path)
        with store:
            store.take(ADA, "t1", at_ns=1, lease_ns=9)
            store.settle(Settled(record(ADA, "t1", 2, detail=detail)))
            assert audit(store.db).problems == ()
            with store.db.writing() as run:
                run("UPDATE turn_records SET detail = ?", other)
            assert audit(store.db).problems == (f"{ADA} turn t1: is not the record {ADA} entry 1 has the hash of",)
