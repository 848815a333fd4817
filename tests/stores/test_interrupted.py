"""A migration that is killed leaves what was there; of several that begin at once, one does the work."""

from __future__ import annotations

import contextlib
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from charter.stores import migrate
from charter.stores.migrate import current, downgrade, upgrade
from charter.stores.revisions import HEAD

from . import databases
from .children import ask, state
from .databases import KINDS, run

pytestmark = pytest.mark.requirement("S4-08")


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_of_four_processes_one_migrates_and_the_others_find_it_done(kind: str, tmp_path: Path) -> None:
    old, new = databases.old(kind, tmp_path), databases.empty(kind, tmp_path / "new")
    assert sorted(ask("together", old, "4")) == [[], [], [], ["0002", "0003", "0004"]]
    assert sorted(ask("together", new, "4")) == [[], [], [], ["0001", "0002", "0003", "0004"]]
    assert (current(old), current(new)) == (HEAD, HEAD)


def test_the_revision_is_read_with_the_lock_already_held(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url, free, read = databases.old(kind, tmp_path), [], migrate._at
    asked = {"sqlite": "BEGIN IMMEDIATE", "postgres": f"SELECT 1 WHERE pg_try_advisory_xact_lock({migrate._LOCK})"}

    def reading(connection: Any) -> str | None:
        with contextlib.suppress(sqlite3.OperationalError), databases.opened(url, wait=0) as other:
            free.append(bool(other(asked[kind])) or kind == "sqlite")
        return read(connection)

    monkeypatch.setattr(migrate, "_at", reading)
    assert (upgrade(url), downgrade(url, "0001")) == (["0002", "0003", "0004"], ["0004", "0003", "0002"])
    assert not any(free)


def test_threads_may_migrate_different_databases_at_once(tmp_path: Path) -> None:
    urls = [databases.old("sqlite", _made(tmp_path / str(number))) for number in range(6)]
    with ThreadPoolExecutor(6) as threads:
        assert list(threads.map(upgrade, urls)) == [["0002", "0003", "0004"]] * 6
        assert list(threads.map(current, urls)) == [HEAD] * 6


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder


def test_killed_at_any_statement_sqlite_is_as_it_was(tmp_path: Path) -> None:
    url = databases.old("sqlite", tmp_path)
    up = ask("killed", "upgrade", url, "1")
    assert (up["wrong"], up["status"], up["killed"] > 50, up["journals"] > 40) == ([], 0, True, True)
    upgrade(url)
    run(url, "PRAGMA journal_mode = WAL")
    down = ask("killed", "downgrade", url, "1")
    assert (down["wrong"], down["status"], down["killed"] > 30, down["journals"] > 20) == ([], 0, True, True)


def test_killed_with_half_of_it_on_the_disk_sqlite_is_as_it_was(tmp_path: Path) -> None:
    url = databases.old("sqlite", tmp_path)
    with databases.opened(url) as ask_it:
        for number in range(300):
            note = " ".join(f"word{number}x{n}" for n in range(900))
            ask_it("INSERT INTO agent_long_term_memory VALUES (?, ?, 'assistant', ?, NULL, NULL)", number, number, note)
    done = ask("killed", "upgrade", url, "57")
    assert done == {"killed": 1, "journals": 1, "spilled": 1, "wrong": [], "status": 0}


def test_killed_at_some_statements_postgresql_is_as_it_was(tmp_path: Path) -> None:
    url = databases.old("postgres", tmp_path)
    up = ask("killed", "upgrade", url, "9")
    assert (up["wrong"], up["status"], up["killed"] > 5) == ([], 0, True)
    upgrade(url)
    assert ask("killed", "downgrade", url, "9")["wrong"] == []
    assert state(url)[0] == HEAD
