"""A backup is one file that proves itself: every row of one committed state, and at its end the hash of all before.

The form, `charter-backup-1`, is a contract. The file is gzip; in it, one JSON value per line, ASCII:

    {"format": "charter-backup-1", "revision": "0004", "at_ns": 0}
    {"table": "prompt_layers", "columns": ["agent_name", …], "last": 0}
    ["ada", …]                                 a row of that table; then more rows, then the next table
    {"rows": {"prompt_layers": 1, …}, "sha256": "…"}

`last` is the highest number a numbering column ever gave, 0 where there is none; `sha256` is that of all lines before
the last, line ends included. Keys are not in it: who has the file can read every text, and needs the keys to prove it.
The archive of an old assistant comes along with every column it has, as texts; where it is restored it is text.
"""

from __future__ import annotations

import contextlib
import gzip
import hashlib
import json
import os
import secrets
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, Final

from ..core.errors import BadValue, FileMissing, FileRefused, StoreDamaged, StoreOutdated, StoreTooNew, StoreUnavailable
from ..home import private_folder, sync_folder
from .database import Database, Run, Stream, marks
from .revisions import HEAD, REVISIONS
from .tables import cells, counters, quoted, schema_tables, stored_columns

FORMAT: Final = "charter-backup-1"
Say = Callable[[int, str], None]
_HEADER_BYTES = 4_096
_VALUES_AT_ONCE = 900
_SAID_EVERY = 1_000


@dataclass(frozen=True, slots=True)
class Summary:
    """What a backup holds."""

    counts: dict[str, int]
    sha256: str
    at_ns: int
    rows: int = field(init=False)
    tables: int = field(init=False)

    def __post_init__(self) -> None:
        """How many rows there are, in how many tables."""
        object.__setattr__(self, "rows", sum(self.counts.values()))
        object.__setattr__(self, "tables", sum(map(bool, self.counts.values())))


# ── writing ───────────────────────────────────────────────────────────────────────────────────────────────────────


def backup(db: Database, path: Path, *, at_ns: int, replace: bool = False, say: Say | None = None) -> Summary:
    """Writes every row there is, as of one moment, while others go on; the file appears whole or not at all.

    Only its owner may read it. A file that is there stays as it is, unless `replace`.
    """
    if path.exists() and not replace:
        raise FileRefused(path.name, "is there already; name another file, or say that it may be replaced")
    made = path.with_name(f".{path.name}.{secrets.token_hex(6)}")
    try:
        private_folder(path.parent)
        with open(os.open(made, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            summary = _write(db, file, at_ns, say)
            file.flush()
            os.fsync(file.fileno())
        if replace:
            made.replace(path)
        else:
            os.link(made, path)
        sync_folder(path.parent)
    except FileExistsError:
        raise FileRefused(path.name, "is there already; name another file, or say that it may be replaced") from None
    except OSError as error:
        raise StoreUnavailable(
            f"{path}: {error.strerror}; nothing was written, check the folder and its disk"
        ) from None
    finally:
        made.unlink(missing_ok=True)
    return summary


def _write(db: Database, file: BinaryIO, at_ns: int, say: Say | None) -> Summary:
    digest = hashlib.sha256()
    counts: dict[str, int] = {}
    with gzip.GzipFile("", "wb", fileobj=file, mtime=0) as packed, db.snapshot() as run:

        def put(value: object) -> None:
            line = f"{json.dumps(value, separators=(',', ':'))}\n".encode("ascii")
            digest.update(line)
            packed.write(line)

        put({"format": FORMAT, "revision": HEAD, "at_ns": at_ns})
        for table in schema_tables():
            columns = stored_columns(run, db.kind, table)
            put({"table": table, "columns": columns, "last": _last(run, db.kind, table)})
            counts[table] = 0
            for row in run(f"SELECT {cells(table, columns)} FROM {table}"):
                put(_whole(table, row))
                counts[table] += 1
                _tell(say, counts, table)
            _tell(say, counts, table, end=True)
        sha256 = digest.hexdigest()
        put({"rows": counts, "sha256": sha256})
    return Summary(counts, sha256, at_ns)


def _whole(table: str, row: tuple[Any, ...]) -> tuple[Any, ...]:
    """A row that can be put back as it is."""
    for cell in row:
        if isinstance(cell, str) and not cell.isascii():
            try:
                cell.encode()
            except UnicodeEncodeError:
                raise StoreDamaged(f"table {table}: a text is not UTF-8; run: charter db verify") from None
        elif not isinstance(cell, str | int | None):
            raise StoreDamaged(f"table {table}: a value is neither a number nor a text; run: charter db verify")
    return row


def _last(run: Stream, kind: str, table: str) -> int:
    """The highest number that was ever given: a number of a row that is gone is not given again."""
    if table not in counters():
        return 0
    rows = run(_LAST[kind].format(table=table, column=counters()[table]))
    return max((row[0] or 0 for row in rows), default=0)


_LAST = {
    "sqlite": "SELECT seq FROM sqlite_sequence WHERE name = '{table}'",
    "postgres": "SELECT pg_sequence_last_value(pg_get_serial_sequence('{table}', '{column}')::regclass)",
}


def _tell(say: Say | None, counts: dict[str, int], table: str, *, end: bool = False) -> None:
    if say is not None and (end or counts[table] % _SAID_EVERY == 0):
        say(sum(counts.values()), table)


# ── reading ───────────────────────────────────────────────────────────────────────────────────────────────────────


def restore(db: Database, path: Path, *, say: Say | None = None) -> Summary:
    """Puts every row of a backup into an empty database, all or none; a file that is not whole writes nothing."""
    for _ in _read(path):  # proved before anything is locked, and again while it is written
        pass
    with db.writing() as run:
        _empty(db, run)
        counts: dict[str, int] = {}
        numbers: dict[str, int] = {}
        for found in _read(path):
            if isinstance(found, Summary):
                summary = found
            else:
                table, columns, numbers[table], rows = found
                if rows and not counts.get(table) and table.startswith("legacy_"):
                    _make_archive(run, table, columns)
                counts[table] = counts.get(table, 0) + len(rows)
                _insert(run, table, columns, rows)
                _tell(say, counts, table, end=True)
        for table, last in numbers.items():
            _number_on(db.kind, run, table, last)
    return summary


def _empty(db: Database, run: Run) -> None:
    tables = list(schema_tables())
    if db.kind == "postgres":
        run(f"LOCK TABLE {', '.join(tables)} IN EXCLUSIVE MODE")
    full = [table for table in tables if run(f"SELECT 1 FROM {table} LIMIT 1")]
    if full:
        raise BadValue("database", f"not empty ({full[0]} has rows); restore into a new one")


def _make_archive(run: Run, table: str, columns: list[str]) -> None:
    """The archive as the old assistant had it: maybe with more columns and fewer rules than a new database has."""
    run(f"DROP TABLE {table}")
    run(f"CREATE TABLE {table} ({', '.join(f'{quoted(name)} TEXT' for name in columns)})")


def _insert(run: Run, table: str, columns: list[str], rows: list[list[Any]]) -> None:
    if rows:
        holes = ", ".join([f"({marks(len(columns))})"] * len(rows))
        values = [cell for row in rows for cell in row]
        run(f"INSERT INTO {table} ({', '.join(map(quoted, columns))}) VALUES {holes}", *values)


def _number_on(kind: str, run: Run, table: str, last: int) -> None:
    """The next row gets the number after the last one that was ever given."""
    if not last:
        return
    if kind == "postgres":
        run(f"SELECT setval(pg_get_serial_sequence('{table}', '{counters()[table]}'), ?)", last)
    else:
        run("DELETE FROM sqlite_sequence WHERE name = ?", table)
        run("INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)", table, last)


Part = tuple[str, list[str], int, list[list[Any]]]


def _read(path: Path) -> Iterator[Part | Summary]:
    """The rows of a backup, some at a time, each with its table and the last number given; at the end what it proves.

    A file that is not a whole backup of this revision ends with an error.
    """
    if not path.exists():
        raise FileMissing(path.name, "restore")
    try:
        with gzip.open(path, "rb") as file:
            yield from _parts(path, file)
    except (EOFError, zlib.error, gzip.BadGzipFile, ValueError, KeyError, TypeError, RecursionError):
        raise _damaged(path) from None
    except OSError as error:
        raise StoreUnavailable(f"{path}: {error.strerror}; check that it is there and yours to read") from None


def _parts(path: Path, file: Any) -> Iterator[Part | Summary]:
    digest = hashlib.sha256()
    try:
        header = _header(path, file.readline(_HEADER_BYTES), digest)
    except gzip.BadGzipFile:
        raise FileRefused(path.name, "not a backup of Charter's") from None
    counts: dict[str, int] = {}
    part: Part = ("", [], 0, [])
    for line in file:
        value = json.loads(line)
        table, columns, last, rows = part
        if isinstance(value, list):
            rows.append(_fitting(value, len(columns)))
            counts[table] += 1
            if len(rows) * len(columns) >= _VALUES_AT_ONCE:
                yield part
                part = (table, columns, last, [])
        else:
            if table:
                yield part
            if "sha256" in value:
                _end(file, value, counts, digest.hexdigest())
                yield Summary(counts, value["sha256"], header["at_ns"])
                return
            part = _begin(value, counts)
        digest.update(line)
    raise EOFError


def _header(path: Path, line: bytes, digest: Any) -> dict[str, Any]:
    with contextlib.suppress(ValueError):
        value = json.loads(line)
        if isinstance(value, dict) and str(value.get("format", "")).startswith("charter-backup-"):
            _same_age(path, value["format"], str(value.get("revision")))
            digest.update(line)
            return value
    raise FileRefused(path.name, "not a backup of Charter's")


def _same_age(path: Path, form: str, revision: str) -> None:
    if form != FORMAT or (revision != HEAD and revision not in REVISIONS):
        raise StoreTooNew(f"{path}: a backup by a newer Charter ({form}, revision {revision[:32]!r}); install that one")
    if revision != HEAD:
        raise StoreOutdated(
            f"{path}: a backup at revision {revision}, this Charter is at {HEAD}; restore it with the Charter that "
            "made it, then run: charter db upgrade"
        )


def _begin(value: dict[str, Any], counts: dict[str, int]) -> Part:
    """The table whose rows follow; the archive of an old assistant may have more columns than the schema."""
    table, columns, last = value["table"], list(map(str, value["columns"])), int(value["last"])
    known = schema_tables()[table]
    if table in counts or (columns != known and not (table.startswith("legacy_") and set(known) < set(columns))):
        raise ValueError
    counts[table] = 0
    return table, columns, last, []


def _fitting(row: list[Any], cells: int) -> list[Any]:
    if not cells or len(row) != cells or not all(isinstance(cell, str | int | None) for cell in row):
        raise ValueError
    return row


def _end(file: Any, value: dict[str, Any], counts: dict[str, int], sha256: str) -> None:
    if value != {"rows": counts, "sha256": sha256} or set(counts) != set(schema_tables()) or file.read(1):
        raise ValueError


def _damaged(path: Path) -> StoreDamaged:
    return StoreDamaged(f"{path}: not whole: cut off or changed since it was written; nothing was restored")
