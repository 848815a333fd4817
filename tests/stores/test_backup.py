"""A backup is one moment, whole or refused; what was restored is what was there, on either database (N-20)."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Any

import pytest

from charter import stores
from charter.core.errors import (
    FileRefused,
    StoreDamaged,
    StoreUnavailable,
)
from charter.stores import migrate
from charter.stores.audit import audit
from charter.stores.backup import backup, restore
from charter.stores.memory import MemoryStore
from charter.stores.people import forget
from charter.stores.revisions import HEAD
from charter.stores.tables import schema_tables

from . import databases
from .backups import lines
from .databases import KINDS
from .filled import ADA, DAY, KEYS, OLGA, fill, filled, new
from .tampering import hand
from .writers import writing

pytestmark = pytest.mark.requirement("N-20")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A backup of a filled store."""
    path = tmp_path_factory.mktemp("made") / "made.backup"
    with MemoryStore(KEYS) as store:
        fill(store)
        backup(store.db, path, at_ns=7)
    return path


# ── there and back ────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("to", KINDS)
@pytest.mark.parametrize("kind", KINDS)
def test_what_was_restored_is_what_was_there(kind: str, to: str, tmp_path: Path) -> None:
    _, store = filled(kind, tmp_path / "from")
    _, copy = new(to, tmp_path / "to")
    with store, copy:
        done = backup(store.db, tmp_path / "one", at_ns=7)
        back = restore(copy.db, tmp_path / "one")
        assert (back.counts, back.sha256, back.at_ns, back.rows, back.tables) == (
            done.counts, done.sha256, 7, done.rows, 27,
        )  # fmt: skip
        assert audit(copy.db, heads=audit(store.db).heads).problems == ()
        backup(copy.db, tmp_path / "two", at_ns=7)
        one, two = (sorted(map(repr, lines(tmp_path / name)[:-1])) for name in ("one", "two"))
        assert one == two
        copy.remember(ADA, "bob", "life goes on", day=DAY)
        assert audit(copy.db).problems == ()


@pytest.mark.parametrize("to", KINDS)
@pytest.mark.parametrize("kind", KINDS)
def test_a_number_that_was_given_once_is_not_given_again_after_a_restore(kind: str, to: str, tmp_path: Path) -> None:
    _, store = filled(kind, tmp_path / "from")
    _, copy = new(to, tmp_path / "to")
    with store, copy:
        last = store.remember(ADA, "zoe", "the last note", day=DAY)
        forget(store.db, "zoe", by=OLGA, at_ns=99)
        backup(store.db, tmp_path / "file", at_ns=7)
        restore(copy.db, tmp_path / "file")
        assert int(copy.remember(ADA, "zoe", "the next note", day=DAY).id) == int(last.id) + 1
        assert audit(copy.db).problems == ()


@pytest.mark.parametrize("kind", KINDS)
def test_a_backup_made_while_another_process_writes_is_one_moment(kind: str, tmp_path: Path) -> None:
    url, store = filled(kind, tmp_path / "from")
    _, copy = new("sqlite", tmp_path / "to")
    with store, copy:
        before = audit(store.db)
        with writing(url) as wrote:

            def wait_for_a_write(done: int, table: str) -> None:
                wrote.readline()

            backup(store.db, tmp_path / "file", at_ns=7, say=wait_for_a_write)
        restore(copy.db, tmp_path / "file")
        then, after = audit(copy.db, heads=before.heads), audit(store.db, heads=before.heads)
        assert (then.problems, after.problems) == ((), ())
        assert audit(store.db, heads=then.heads).problems == ()
        assert before.entries <= then.entries < after.entries


@pytest.mark.parametrize("kind", KINDS)
def test_an_old_assistants_archive_comes_along_with_every_column_and_the_way_back_stays_open(
    kind: str, tmp_path: Path
) -> None:
    url = databases.old(kind, tmp_path)
    migrate.upgrade(url)
    there, copy = new(KINDS[kind == "sqlite"], tmp_path / "to")
    with stores.open(url) as store, copy:
        backup(store.db, tmp_path / "file", at_ns=7)
        restore(copy.db, tmp_path / "file")
        assert audit(copy.db).problems == ()
        backup(copy.db, tmp_path / "again", at_ns=7)
    kept = [sorted(map(repr, archive(tmp_path / name))) for name in ("file", "again")]
    assert kept[0] == kept[1]
    assert migrate.downgrade(there, "0001") == ["0004", "0003", "0002"]
    ask = "SELECT CAST(user_id AS TEXT), notes FROM {}agent_long_term_memory ORDER BY 1, 2"
    assert databases.run(there, ask.format("")) == databases.run(url, ask.format("legacy_"))


def archive(path: Path) -> list[Any]:
    """The lines of a backup that tell of the archive."""
    found = lines(path)
    return found[found.index(next(value for value in found if "legacy_agent" in str(value)[:40])) : -1]


# ── the file ──────────────────────────────────────────────────────────────────────────────────────────────────────


def test_only_its_owner_may_read_a_backup_and_the_same_state_gives_the_same_bytes(made: Path, tmp_path: Path) -> None:
    assert made.stat().st_mode & 0o777 == 0o600
    with MemoryStore(KEYS) as store:
        restore(store.db, made)
        for name in ("new folder/one", "two"):
            backup(store.db, tmp_path / name, at_ns=7)
    assert (tmp_path / "new folder/one").read_bytes() == (tmp_path / "two").read_bytes()
    assert (tmp_path / "new folder").stat().st_mode & 0o777 == 0o700


def test_a_file_that_is_there_is_replaced_only_when_told(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("mine")
    with MemoryStore() as store:
        with pytest.raises(FileRefused, match="is there already"):
            backup(store.db, path, at_ns=7)
        assert (path.read_text(), os.listdir(tmp_path)) == ("mine", ["file"])
        assert backup(store.db, path, at_ns=7, replace=True).rows == 0
    assert lines(path)[0] == {"format": "charter-backup-1", "revision": HEAD, "at_ns": 7}


def test_one_that_appears_meanwhile_is_not_replaced(tmp_path: Path) -> None:
    path = tmp_path / "file"

    def be_first(done: int, table: str) -> None:
        path.write_text("first")

    with MemoryStore() as store, pytest.raises(FileRefused, match="is there already"):
        backup(store.db, path, at_ns=7, say=be_first)
    assert (path.read_text(), os.listdir(tmp_path)) == ("first", ["file"])


def test_a_backup_that_fails_leaves_nothing_and_what_was_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "file"
    path.write_text("the last good one")

    def full(handle: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def stop(done: int, table: str) -> None:
        raise KeyboardInterrupt

    with MemoryStore() as store:
        with pytest.raises(KeyboardInterrupt):
            backup(store.db, path, at_ns=7, replace=True, say=stop)
        monkeypatch.setattr(os, "fsync", full)
        with pytest.raises(StoreUnavailable, match="No space left"):
            backup(store.db, path, at_ns=7, replace=True)
    assert (path.read_text(), os.listdir(tmp_path)) == ("the last good one", ["file"])


def test_progress_is_told_table_by_table_and_ends_with_all_rows(made: Path, tmp_path: Path) -> None:
    told: list[tuple[int, str]] = []
    with MemoryStore(KEYS) as store:
        done = restore(store.db, made, say=lambda rows, table: told.append((rows, table)))
        assert told[-1][0] == done.rows
        told.clear()
        backup(store.db, tmp_path / "file", at_ns=7, say=lambda rows, table: told.append((rows, table)))
    assert [table for _, table in told] == list(schema_tables())
    assert [rows for rows, _ in told] == sorted(rows for rows, _ in told)
    assert told[-1][0] == done.rows


def test_a_text_that_is_not_text_any_more_stops_a_backup(tmp_path: Path) -> None:
    url, store = filled("sqlite", tmp_path / "from")
    with store, hand(url) as mine:
        for garbage in ("CAST(x'ff41' AS TEXT)", "x'00'"):
            mine.run(f"UPDATE inbox_messages SET body = {garbage}")
            with pytest.raises(StoreDamaged, match="table inbox_messages: a"):
                backup(store.db, tmp_path / "file", at_ns=7)
    assert not (tmp_path / "file").exists()
