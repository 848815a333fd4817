"""A file that is not a whole backup of this age is refused with a reason, and nothing of it is written."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from charter.core.errors import (
    BadValue,
    CharterError,
    FileMissing,
    FileRefused,
    StoreDamaged,
    StoreOutdated,
    StoreTooNew,
    StoreUnavailable,
)
from charter.stores import backup as module
from charter.stores.backup import backup, restore
from charter.stores.memory import MemoryStore
from charter.stores.tables import schema_tables

from . import databases
from .backups import lines, write
from .databases import KINDS
from .filled import KEYS, fill, new

pytestmark = pytest.mark.requirement("N-20")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A backup of a filled store."""
    path = tmp_path_factory.mktemp("made") / "made.backup"
    with MemoryStore(KEYS) as store:
        fill(store)
        backup(store.db, path, at_ns=7)
    return path


def refusal(path: Path) -> CharterError:
    """How restoring ends, into a store that stays empty."""
    with MemoryStore(KEYS) as store:
        with pytest.raises(CharterError) as told:
            restore(store.db, path)
        with store.db.snapshot() as run:
            assert [table for table in schema_tables() if list(run(f"SELECT * FROM {table}"))] == []
    return told.value


# ── what is refused ───────────────────────────────────────────────────────────────────────────────────────────────


def test_a_file_that_was_cut_anywhere_is_refused_and_writes_nothing(made: Path, tmp_path: Path) -> None:
    data = made.read_bytes()
    for size in {0, 1, 9, 10, 11, len(data) - 1, len(data) - 8, *range(0, len(data), len(data) // 25)}:
        path = tmp_path / "cut"
        path.write_bytes(data[:size])
        assert isinstance(refusal(path), StoreDamaged if size > 20 else StoreDamaged | FileRefused), size


def test_a_file_with_a_bit_that_flipped_is_refused_and_writes_nothing(made: Path, tmp_path: Path) -> None:
    data = made.read_bytes()
    for at in {2, 10, len(data) - 1, len(data) - 5, *range(10, len(data), len(data) // 40)}:
        path = tmp_path / "flipped"
        path.write_bytes(data[:at] + bytes([data[at] ^ 4]) + data[at + 1 :])
        assert isinstance(refusal(path), StoreDamaged | FileRefused), at


def test_lines_that_were_taken_added_or_changed_under_the_old_trailer_are_refused(made: Path, tmp_path: Path) -> None:
    *body, trailer = lines(made)
    row = next(at for at, value in enumerate(body) if isinstance(value, list))
    for changed in (body[:row] + body[row + 1 :], [*body[: row + 1], *body[row:]], [*body, trailer]):
        assert isinstance(refusal(write(tmp_path / "changed", changed, **trailer)), StoreDamaged)
    made_again = write(tmp_path / "same", body)
    made_again.write_bytes(made_again.read_bytes() + gzip.compress(b"more\n"))
    assert isinstance(refusal(made_again), StoreDamaged)


def test_rows_that_do_not_fit_their_table_are_refused_though_the_hash_is_right(made: Path, tmp_path: Path) -> None:
    *body, _ = lines(made)
    row = next(at for at, value in enumerate(body) if isinstance(value, list))
    table = body[row - 1]
    for changed in (
        [*body[:row], body[row][1:], *body[row + 1 :]],
        [*body[:row], [*body[row][1:], {}], *body[row + 1 :]],
        [*body[:row], [*body[row][1:], 1.5], *body[row + 1 :]],
        [*body[: row - 1], {**table, "columns": table["columns"][1:]}, *body[row:]],
        [*body[: row - 1], {**table, "table": "sqlite_master"}, *body[row:]],
        [*body, table],
        [body[0], *body[row + 3 :]],
    ):
        assert isinstance(refusal(write(tmp_path / "changed", changed)), StoreDamaged)


def test_a_backup_of_another_age_is_refused_and_says_which_charter_reads_it(made: Path, tmp_path: Path) -> None:
    head, *rest = lines(made)[:-1]
    for header, kind in (
        ({"revision": "0001"}, StoreOutdated),
        ({"revision": "0009"}, StoreTooNew),
        ({"format": "charter-backup-2"}, StoreTooNew),
    ):
        assert isinstance(refusal(write(tmp_path / "aged", [{**head, **header}, *rest])), kind)


def test_files_that_are_no_backup_are_refused(tmp_path: Path) -> None:
    for data in (b"", b"hello\n", b"SQLite format 3\0", gzip.compress(b"{}\n"), gzip.compress(b"hello"), b"\x1f\x8b"):
        (tmp_path / "file").write_bytes(data)
        told = refusal(tmp_path / "file")
        assert isinstance(told, FileRefused | StoreDamaged), data
    assert isinstance(refusal(tmp_path), StoreUnavailable)
    assert isinstance(refusal(tmp_path / "none"), FileMissing)


@pytest.mark.parametrize("kind", KINDS)
def test_a_database_that_is_not_empty_is_refused_and_stays_as_it_is(kind: str, made: Path, tmp_path: Path) -> None:
    url, store = new(kind, tmp_path)
    with store:
        store.set_timezone("bob", "UTC")
        before = databases.contents(url)
        with pytest.raises(BadValue, match=r"not empty \(user_settings has rows\)"):
            restore(store.db, made)
        assert databases.contents(url) == before


@pytest.mark.parametrize("kind", KINDS)
def test_a_file_that_changed_after_it_was_proved_writes_nothing(
    kind: str, made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url, store = new(kind, tmp_path / "to")
    *body, trailer = lines(made)
    row = next(at for at, value in enumerate(body) if isinstance(value, list))
    changed = [*body[:row], [*body[row][:2], "changed", *body[row][3:]], *body[row + 1 :]]
    path = write(tmp_path / "file", changed, sha256=trailer["sha256"])
    reads = iter((lambda _: iter(()), module._read))  # as if the file had been whole when it was looked at first
    monkeypatch.setattr(module, "_read", lambda path: next(reads)(path))
    with store:
        before = databases.contents(url)
        with pytest.raises(StoreDamaged, match="nothing was restored"):
            restore(store.db, path)
        assert databases.contents(url) == before
