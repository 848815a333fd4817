"""Whatever somebody changes beside Charter is found and named; what Charter itself does is never called tampering."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import psycopg
import pytest

from charter.stores.audit import audit
from charter.stores.audit_log import MAX_FINDINGS
from charter.stores.memory import MemoryStore
from charter.stores.store import SqlStore
from charter.stores.tables import schema_tables

from .databases import KINDS
from .filled import ADA, DAY, KEYS, OLGA, RULES, fill, filled
from .tampering import COLUMNS, NOT_COVERED, PARTLY_COVERED, Hand, hand, other_values

COVERED = [pair for pair in COLUMNS if pair[0] not in NOT_COVERED]
AUDITED = sorted({table for table, _ in COVERED})
REFUSED = (sqlite3.IntegrityError, psycopg.IntegrityError)
OTHER_KEYS: dict[str, dict[str, object]] = {
    "prompt_layers": {"layer_id": "other"},
    "layer_versions": {"version": 99},
    "layer_labels": {"label": "other"},
    "proposals": {"proposal_id": "p-other"},
    "change_log": {"seq": 999},
    "chain_heads": {"chain": "other"},
    "agent_configurations": {"agent_name": "other"},
    "user_agent_prompt_customizations": {"user_id": "other"},
    "memory_owners": {"owner_id": 999, "user_id": "other"},
    "agent_long_term_memory": {"note_id": 999},
    "memory_terms": {"term": "other"},
    "memory_sources": {"source": "other"},
    "turn_records": {"turn_id": "other"},
    "tool_approvals": {"approval_id": "a-other", "sha256": "0" * 64},
    "agent_controls": {"agent_name": "other"},
}
NAMES_AND_TEXTS = ("bob", "mira", "celery", "marzipan", "olga", "Rules of", "Shipped")


@dataclass(frozen=True)
class Desk:
    """A filled store and a hand in its database."""

    kind: str
    store: SqlStore
    hand: Hand

    def problems(self) -> tuple[str, ...]:
        return audit(self.store.db).problems

    def some(self, table: str, where: str = "") -> list[tuple[object, ...]]:
        """Some rows of a table, from all over it; on PostgreSQL, where each costs more, one."""
        rows = self.hand.rows(table, where)
        return rows[:: max(1, len(rows) // (3 if self.kind == "sqlite" else 1))]


@pytest.fixture(scope="module", params=KINDS)
def desk(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    url, store = filled(request.param, tmp_path_factory.mktemp("desk"))
    with store, hand(url) as mine:
        yield Desk(request.param, store, mine)


def unfound(desk: Desk, table: str, column: str, where: str = "") -> list[object]:
    """Values that somebody put in place of this column's, and no audit named a problem."""
    rows, at = desk.hand.rows(table), schema_tables()[table].index(column)
    missed, tried = [], 0
    for row in desk.some(table, where):
        for value in other_values(column, row, rows, at):
            with contextlib.suppress(*REFUSED), desk.hand.changed(table, row, **{column: value}):
                tried += 1
                missed += [] if desk.problems() else [value]
    assert tried > 0, "nothing was changed"
    return missed


# ── one value, one row ────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.requirement("N-03", "N-10")
def test_a_store_that_charter_alone_wrote_has_no_problem(desk: Desk) -> None:
    found = audit(desk.store.db)
    assert (found.problems, found.notices) == ((), ())
    assert (found.chains, found.versions, found.turns, found.notes) == (4, 17, 6, 9)
    assert sorted(found.heads) == sorted(desk.store.chains())
    assert found.entries == sum(len(desk.store.log(chain)) for chain in found.heads)


@pytest.mark.requirement("N-03", "N-10", "N-01", "S1-09")
@pytest.mark.parametrize(("table", "column"), COVERED)
def test_a_value_that_was_changed_is_found(desk: Desk, table: str, column: str) -> None:
    but, _ = PARTLY_COVERED.get((table, column), ("", ""))
    assert unfound(desk, table, column, f"NOT ({but})" if but else "") == []


@pytest.mark.parametrize(("table", "column"), sorted(PARTLY_COVERED))
def test_a_row_is_listed_as_not_covered_only_if_it_is_not(desk: Desk, table: str, column: str) -> None:
    but, why = PARTLY_COVERED[table, column]
    assert why
    assert unfound(desk, table, column, but) != []


@pytest.mark.parametrize("table", sorted(NOT_COVERED))
def test_a_table_is_listed_as_not_covered_only_if_it_is_not(desk: Desk, table: str) -> None:
    assert NOT_COVERED[table]
    for column in schema_tables()[table] if desk.hand.rows(table) else ():
        assert unfound(desk, table, column) != [], column


@pytest.mark.requirement("N-03", "N-10")
@pytest.mark.parametrize("table", AUDITED)
def test_a_row_that_was_taken_away_is_found(desk: Desk, table: str) -> None:
    for row in desk.some(table):
        with desk.hand.without(table, row):
            assert desk.problems(), row
    assert desk.problems() == ()


@pytest.mark.requirement("N-03", "N-10")
@pytest.mark.parametrize("table", AUDITED)
def test_a_row_that_was_added_is_found(desk: Desk, table: str) -> None:
    row = dict(zip(schema_tables()[table], desk.hand.rows(table)[0], strict=True))
    with desk.hand.with_row(table, tuple({**row, **OTHER_KEYS[table]}.values())):
        assert desk.problems()


def test_what_was_put_back_as_it_was_is_clean_again(desk: Desk) -> None:
    assert desk.problems() == ()


# ── what findings say ─────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.requirement("N-20")
def test_a_finding_names_places_and_numbers_but_no_text_and_no_person(tmp_path: Path) -> None:
    url, store = filled("sqlite", tmp_path)
    with store, hand(url) as mine:
        for table in ("layer_versions", "agent_long_term_memory", "proposals", "turn_records", "memory_terms"):
            column = {"layer_versions": "content", "agent_long_term_memory": "notes", "proposals": "reason"}.get(table)
            column = column or ("mode" if table == "turn_records" else "term")
            mine.run(f"UPDATE {table} SET {column} = {column} || ' marzipan by bob'")
        mine.run("UPDATE memory_owners SET notes = notes + 1")
        mine.run("DELETE FROM user_agent_prompt_customizations WHERE user_id = 'mira'")
        found = audit(store.db)
    said = "\n".join((*found.problems, *found.notices))
    mira = f"{ADA}/{KEYS.person('mira')}"
    assert f"{mira} instructions@2: its text does not have the hash it was written with" in found.problems
    assert f"{mira} instructions: has versions, but its text now is not there" in found.problems
    assert [word for word in NAMES_AND_TEXTS if word in said] == []


def test_a_name_that_holds_a_text_is_not_repeated(tmp_path: Path) -> None:
    url, store = filled("sqlite", tmp_path)
    with store, hand(url) as mine:
        mine.run("UPDATE layer_versions SET layer_id = ? WHERE layer_id = 'tone'", "secret\n" * 90)
        problems = audit(store.db).problems
    assert any("<630 characters>@1" in problem for problem in problems)
    assert "secret" not in "".join(problems)


def test_a_flood_of_problems_is_counted_not_listed() -> None:
    with MemoryStore(KEYS) as store:
        for number in range(MAX_FINDINGS + 7):
            store.refuse(RULES, "X", by=OLGA, at_ns=number)
        with store.db.writing() as run:
            run("UPDATE change_log SET detail = 'Y'")
        problems = audit(store.db).problems
    assert len(problems) == MAX_FINDINGS + 1
    assert problems[-1] == "and 7 more problems"


# ── what should not be there at all ───────────────────────────────────────────────────────────────────────────────


@pytest.fixture(scope="module")
def strange(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    url, store = filled("sqlite", tmp_path_factory.mktemp("strange"))
    with store, hand(url) as mine:
        yield Desk("sqlite", store, mine)


@pytest.mark.parametrize("table", AUDITED)
def test_bytes_fractions_and_broken_text_are_found_and_do_not_stop_the_audit(strange: Desk, table: str) -> None:
    row = strange.hand.rows(table)[-1]
    for column in schema_tables()[table]:
        for value in (b"\xff\xfe", 1.5, "\0 no number"):
            with contextlib.suppress(*REFUSED), strange.hand.changed(table, row, **{column: value}):
                assert strange.problems(), (column, value)
        with contextlib.suppress(*REFUSED), strange.hand.garbled(table, row, column):
            assert strange.problems(), (column, "not UTF-8")
    assert strange.problems() == ()


def test_a_store_in_memory_is_audited_as_any_other() -> None:
    with MemoryStore(KEYS) as store:
        fill(store)
        assert audit(store.db).problems == ()
        store.remember(ADA, "mira", "more", day=DAY)
        with store.db.writing() as run:
            run("UPDATE agent_long_term_memory SET notes = 'less' WHERE notes = 'more'")
        assert audit(store.db).problems != ()
