"""The i-th statement fails, for every i of every operation: a typed error or success, the state before or after."""

from __future__ import annotations

import sqlite3
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

import psycopg
import pytest

from charter.core.errors import CharterError
from charter.stores.store import SqlStore

from .hooks import watched
from .killed import hang_up
from .places import KINDS, impatient, new
from .whole import Rows, rows_of, shape_of, wrong
from .work import CANARY, OPERATIONS, stage

pytestmark = pytest.mark.requirement("N-17", "N-03", "S0-13")


def _sqlite(kind: type[sqlite3.Error], name: str) -> Callable[[], Exception]:
    def error() -> Exception:
        made = kind(f"{name} near {CANARY!r}")
        made.sqlite_errorname, made.sqlite_errorcode = name, getattr(sqlite3, name)
        return made

    return error


def _postgres(kind: type[psycopg.Error]) -> Callable[[], Exception]:
    return lambda: kind(f"{kind.__name__}: DETAIL: Failing row contains ({CANARY})")


@dataclass(frozen=True, slots=True)
class Fault:
    """A way for a statement to fail: not run, or run and then reported as failed; once, or with all that follow."""

    error: Callable[[], Exception]
    when: Literal["before", "after"] = "before"
    lasting: bool = False


FAULTS: Final[dict[str, tuple[Fault, ...]]] = {
    "sqlite": (
        Fault(_sqlite(sqlite3.OperationalError, "SQLITE_FULL")),
        Fault(_sqlite(sqlite3.OperationalError, "SQLITE_IOERR"), "after"),
        Fault(_sqlite(sqlite3.OperationalError, "SQLITE_IOERR"), lasting=True),
        Fault(_sqlite(sqlite3.OperationalError, "SQLITE_BUSY")),
        Fault(_sqlite(sqlite3.DatabaseError, "SQLITE_CORRUPT"), lasting=True),
        Fault(_sqlite(sqlite3.OperationalError, "SQLITE_READONLY"), "after", lasting=True),
    ),
    "postgres": (
        Fault(_postgres(psycopg.errors.DiskFull)),
        Fault(_postgres(psycopg.OperationalError), "after"),
        Fault(_postgres(psycopg.errors.DeadlockDetected), lasting=True),
        Fault(_postgres(psycopg.errors.QueryCanceled)),
        Fault(_postgres(psycopg.errors.AdminShutdown), "after", lasting=True),
        Fault(_postgres(psycopg.errors.UniqueViolation)),
    ),
}


class Statements:
    """Counts statements, and lets one of them fail."""

    def __init__(self) -> None:
        self.count, self.at, self.fault = 0, 0, Fault(Exception)
        self.instead: Callable[[], None] | None = None

    def arm(self, at: int, fault: Fault, instead: Callable[[], None] | None = None) -> None:
        self.count, self.at, self.fault, self.instead = 0, at, fault, instead

    def disarm(self) -> bool:
        """Whether it came to the failure."""
        reached, self.at = self.count >= self.at, 0
        return reached

    def __call__(self, when: str, what: str) -> None:
        if not self.at or what.startswith("PRAGMA"):
            return
        self.count += when == "before"
        due = self.count == self.at or (self.fault.lasting and self.count > self.at)
        if due and when == self.fault.when:
            if self.instead is None:
                raise self.fault.error()
            self.instead()


@dataclass(frozen=True, slots=True)
class Stage:
    """A store whose statements can fail, and another one of the same database."""

    kind: str
    url: str
    store: SqlStore
    other: SqlStore
    statements: Statements


@pytest.fixture(scope="module", params=KINDS)
def stage_(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    url, statements = new(request.param, tmp_path_factory.mktemp("statements")), Statements()
    with watched(statements), impatient(url) as store, impatient(url) as other:
        yield Stage(request.param, url, store, other, statements)


def leaks(error: BaseException) -> bool:
    """Whether an error says a text, wherever people look at it."""
    return CANARY in "".join([str(error), repr(error), *traceback.format_exception(error)])


def state_after(at: Stage, name: str) -> Rows:
    """The state an operation leaves when nothing fails."""
    agent = f"{name} done"
    if not any(rows_of(at.store, agent).values()):
        OPERATIONS[name].prepare(at.store, agent)
        OPERATIONS[name].act(at.store, agent)
    return shape_of(at.store, agent)


def attempt(at: Stage, name: str, number: int, fault: Fault, instead: Callable[[], None] | None = None) -> bool:
    """One operation, its statement of this number failing; whether it had so many."""
    agent, after = f"{name} {number} {id(fault)}", state_after(at, name)
    OPERATIONS[name].prepare(at.store, agent)
    before = rows_of(at.store, agent)
    at.statements.arm(number, fault, instead)
    error: BaseException | None = None
    try:
        OPERATIONS[name].act(at.store, agent)
    except CharterError as raised:
        error = raised
    reached = at.statements.disarm()
    assert error is None or (reached and not leaks(error)), error
    assert (shape_of(at.store, agent) == after) or (error is not None and rows_of(at.store, agent) == before)
    assert wrong(at.store, agent) == []
    for store in (at.store, at.other):  # usable: here and for everybody else
        assert stage(store, f"{agent} {id(store)}", 1) is True
    return reached


@pytest.mark.parametrize("name", OPERATIONS)
def test_a_statement_that_fails_leaves_the_state_before_or_after(stage_: Stage, name: str) -> None:
    faults, number = FAULTS[stage_.kind], 1
    while attempt(stage_, name, number, faults[number % len(faults)]):
        number += 1
    assert number > 3


@pytest.mark.deep
@pytest.mark.parametrize("name", OPERATIONS)
def test_every_statement_may_fail_in_every_way(stage_: Stage, name: str) -> None:
    for fault in FAULTS[stage_.kind]:
        number = 1
        while attempt(stage_, name, number, fault):
            number += 1
        assert number > 3


def lost_at_every_statement(url: str, folder: Path, names: Iterator[str]) -> int:
    """Takes the connection away before each statement; how often."""
    statements, lost = Statements(), 0
    with watched(statements), impatient(url) as store, impatient(url) as other:
        at = Stage("postgres", url, store, other, statements)
        for name in names:
            number = 1
            while attempt(at, name, number, Fault(Exception), lambda: hang_up(url)):
                number += 1
            lost += number - 1
    return lost


def test_a_connection_lost_before_any_statement_leaves_the_state_before_or_after(tmp_path: Path) -> None:
    assert lost_at_every_statement(new("postgres", tmp_path), tmp_path, iter(["next version", "apply"])) > 20


@pytest.mark.deep
def test_a_connection_lost_before_any_statement_of_any_operation(tmp_path: Path) -> None:
    assert lost_at_every_statement(new("postgres", tmp_path), tmp_path, iter(OPERATIONS)) > 200
