"""Revisions: a database at head is what `schema/*.sql` says, each step is whole or not there, one process takes it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from typing import Any

import pytest

import charter.stores
from charter.core.errors import BadValue, MissingExtra, StoreDamaged, StoreError, StoreTooNew, StoreUnavailable
from charter.stores import migrate
from charter.stores.migrate import current, downgrade, upgrade
from charter.stores.revisions import HEAD, REVISIONS

from . import databases
from .children import state
from .databases import KINDS, Row, run

pytestmark = pytest.mark.requirement("S4-08")

SECRET = "postgresql://tim:hunter2@127.0.0.1:1/assistant"


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def from_schema(kind: str, folder: Path) -> Mapping[str, list[Row]]:
    """How a database is built that was made from the schema file alone."""
    url = databases.empty(kind, folder)
    databases.script(url, resources.files(charter.stores).joinpath(f"schema/{kind}.sql").read_text("utf-8"))
    return databases.catalogue(url)


def without(built: Mapping[str, list[Row]], *starts: str) -> dict[str, list[Row]]:
    return {what: [row for row in rows if not str(row[0]).startswith(starts)] for what, rows in built.items()}


# ── head ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_new_database_brought_to_head_is_what_the_schema_file_says(kind: str, tmp_path: Path) -> None:
    (tmp_path / "schema").mkdir()
    url = databases.empty(kind, tmp_path)
    assert (upgrade(url), current(url)) == (list(REVISIONS), HEAD)
    built = databases.catalogue(url)
    assert built == from_schema(kind, tmp_path / "schema")
    assert len(built["columns"]) > 150
    assert any("WHEREstate<>'done'" in str(row[-1]).replace("::text", "").replace("(", "") for row in _indexes(built))


def _indexes(built: Mapping[str, list[Row]]) -> list[Row]:
    return built["indexes"] + built.get("written", [])


def test_an_old_database_brought_to_head_differs_from_the_schema_in_its_archive_alone(
    kind: str, tmp_path: Path
) -> None:
    (tmp_path / "schema").mkdir()
    url = databases.old(kind, tmp_path)
    upgrade(url)
    other = ("legacy_", "agent_tools", "active_customizations", "sqlite_sequence")
    assert without(databases.catalogue(url), *other) == without(from_schema(kind, tmp_path / "schema"), *other)
    assert "uq_user_agent_instructions" in str(databases.catalogue(url))


def test_revisions_are_those_the_code_names_in_one_line() -> None:
    from alembic.config import Config
    from alembic.script import ScriptDirectory

    config = Config()
    config.set_main_option("script_location", str(Path(migrate.__file__).with_name("migrations")))
    scripts = ScriptDirectory.from_config(config)
    assert [script.revision for script in scripts.walk_revisions()] == list(reversed(REVISIONS))


# ── which revision a database is at ───────────────────────────────────────────────────────────────────────────────


def test_asking_which_revision_it_is_makes_nothing(kind: str, tmp_path: Path) -> None:
    url = databases.empty(kind, tmp_path)
    assert (current(url), downgrade(url, "0001")) == (None, [])
    assert list(tmp_path.iterdir()) == []
    if kind == "postgres":
        assert databases.tables(url) == []


def test_an_old_database_that_says_nothing_of_itself_is_at_the_first_revision(kind: str, tmp_path: Path) -> None:
    url = databases.old(kind, tmp_path)
    before = databases.contents(url)
    assert (current(url), upgrade(url, "0001"), downgrade(url, "0001")) == ("0001", [], [])
    assert databases.contents(url) == before
    assert (upgrade(url), upgrade(url), current(url)) == (["0002", "0003", "0004"], [], HEAD)


def test_an_old_database_with_one_table_of_three_is_old_all_the_same(kind: str, tmp_path: Path) -> None:
    url = databases.empty(kind, tmp_path)
    databases.script(
        url,
        """CREATE TABLE agent_long_term_memory (user_id TEXT, agent_name TEXT, notes TEXT);
        INSERT INTO agent_long_term_memory VALUES ('u', 'a', 'first'), ('u', 'a', 'second'), (NULL, 'a', 'own'),
        ('u', NULL, 'nobody''s')""",
    )
    assert (current(url), upgrade(url)) == ("0001", ["0002", "0003", "0004"])
    with charter.stores.open(url) as store:
        assert [note.text for note in store.recent("a", "u", 5)] == ["second", "first"]
        assert [note.text for note in store.recent("a", "", 5)] == ["own"]
        store.remember("a", "u", "third", day="2026-02-18")
    downgrade(url, "0001")
    assert run(url, "SELECT user_id, agent_name, notes FROM agent_long_term_memory ORDER BY notes") == [
        ("u", "a", "first"), ("u", None, "nobody's"), (None, "a", "own"), ("u", "a", "second\n\nthird"),
    ]  # fmt: skip


def test_a_database_of_a_newer_charter_is_left_alone(kind: str, tmp_path: Path) -> None:
    url = databases.empty(kind, tmp_path)
    upgrade(url)
    run(url, "UPDATE alembic_version SET version_num = '0999'")
    before = databases.contents(url)
    for call in (current, upgrade, lambda url: downgrade(url, "0001")):
        with pytest.raises(StoreTooNew, match="at revision '0999', newer than this Charter"):
            call(url)
    assert databases.contents(url) == before


@pytest.mark.parametrize(
    ("tables", "said"),
    [
        ("CREATE TABLE agent_configurations (agent_name TEXT, soul TEXT)", "has no column system_prompt"),
        ("CREATE TABLE agent_long_term_memory (id TEXT)", "has no column agent_name, notes, user_id"),
        ("CREATE TABLE conversations (id TEXT)", "already has other tables named conversations; nothing was changed"),
        ("CREATE TABLE agent_controls (id TEXT)", "already has other tables named agent_controls; nothing was changed"),
        ("CREATE TABLE legacy_agent_configurations (id TEXT)", "other tables named legacy_agent_configurations;"),
    ],
)
def test_tables_of_others_under_our_names_are_not_touched(kind: str, tables: str, said: str, tmp_path: Path) -> None:
    url = databases.empty(kind, tmp_path)
    databases.script(url, tables)
    built = databases.catalogue(url)
    with pytest.raises(StoreDamaged, match=said):
        upgrade(url)
    assert databases.catalogue(url) == built


# ── what goes wrong ───────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("call", [current, upgrade, lambda url: downgrade(url, "0001")])
def test_a_file_that_is_no_database_stays_as_it_is(call: Any, tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("Dear diary, this is no database. " * 40)
    with pytest.raises(StoreDamaged, match="not a database"):
        call(f"sqlite:///{path}")
    assert path.read_text() == "Dear diary, this is no database. " * 40


@pytest.mark.parametrize("call", [current, upgrade, lambda url: downgrade(url, "0001")])
def test_a_server_out_of_reach_is_said_without_its_address(call: Any) -> None:
    with pytest.raises(StoreUnavailable) as raised:
        call(SECRET)
    assert str(raised.value) == "PostgreSQL: no connection; check that the server runs and the address is right"
    assert (raised.value.__cause__, raised.value.__suppress_context__) == (None, True)


@pytest.mark.parametrize("url", ["mysql://a", "sqlite://", "sqlite:///", "postgresql://u:p%zz@h/db"])
def test_an_address_that_is_none_is_refused_without_showing_it(url: str) -> None:
    with pytest.raises(BadValue) as raised:
        current(url)
    assert "p%zz" not in str(raised.value)


def test_an_unknown_revision_is_refused(tmp_path: Path) -> None:
    for call in (upgrade, downgrade):
        with pytest.raises(BadValue, match=r"^revision: known are 0001, 0002, 0003, 0004$"):
            call(f"sqlite:///{tmp_path / 'a.db'}", "0007")


def test_without_the_driver_the_command_to_get_it_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    for call in (current, upgrade):
        with pytest.raises(MissingExtra, match=r"pip install 'charter\[postgres\]'"):
            call(SECRET)


def test_a_locked_database_is_said_to_be_locked(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    url = databases.old(kind, tmp_path)
    monkeypatch.setattr(migrate, "WAIT_SECONDS", 0.05)
    held = {"sqlite": "BEGIN IMMEDIATE", "postgres": "LOCK TABLE agent_long_term_memory IN ACCESS SHARE MODE"}
    monkeypatch.setitem(migrate._BEGIN, "postgresql", ("SET LOCAL lock_timeout = '50ms'",))
    with databases.opened(url) as ask_it:
        ask_it(held[kind])
        with pytest.raises(StoreUnavailable, match="locked"):
            upgrade(url)
    assert (current(url), upgrade(url)) == ("0001", ["0002", "0003", "0004"])


def test_an_error_in_the_middle_leaves_everything_and_shows_no_text_of_anyone(kind: str, tmp_path: Path) -> None:
    url = databases.old(kind, tmp_path)
    upgrade(url)
    for agent in ("Café-Bot", "retired_agent"):
        run(url, "UPDATE user_agent_prompt_customizations SET instructions = 'hunter2' WHERE agent_name = ?", agent)
    run(url, "CREATE UNIQUE INDEX narrow ON legacy_user_agent_prompt_customizations (customization_type)"
        " WHERE priority = 0 AND customization_type = 'instructions'")  # fmt: skip
    before = state(url)
    with pytest.raises(StoreError) as raised:
        downgrade(url, "0001")
    table = "legacy_user_agent_prompt_customizations"
    assert str(raised.value) in (
        f"{tmp_path / 'charter.db'}: SQLITE_CONSTRAINT_UNIQUE",
        f"PostgreSQL: table {table} does not take the change (23505); nothing was changed",
    )
    assert state(url) == before


# ── what it leaves behind ─────────────────────────────────────────────────────────────────────────────────────────


def test_a_new_file_can_be_read_by_its_owner_alone_and_nothing_is_left_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "100 % odd #1?.db"
    upgrade(f"sqlite:///{path}")
    assert (path.stat().st_mode & 0o777, [file.name for file in path.parent.iterdir()]) == (0o600, [path.name])


def test_what_migrates_is_imported_only_when_something_is_migrated(tmp_path: Path) -> None:
    code = f"""
import sys
from charter.stores import migrate
assert migrate.current("sqlite:///{tmp_path / "none.db"}") is None
print([name for name in ("alembic", "sqlalchemy", "psycopg") if name in sys.modules])
"""
    assert subprocess.check_output([sys.executable, "-c", code], text=True) == "[]\n"
