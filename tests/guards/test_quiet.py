"""While a guard judges, the collector of garbage waits, and afterwards it is as it was (N-08)."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from charter.guards import check_message, check_update, scan_call, scan_file, scan_reply
from charter.guards.quiet import quietly

pytestmark = pytest.mark.requirement("N-08")
LINES = "\n".join(f"Line {number} tells of tram {number} and of nothing else." for number in range(400))
GUARDS: dict[str, Callable[[], Any]] = {
    "check_message": lambda: check_message(LINES),
    "check_update": lambda: check_update("instructions", LINES),
    "scan_file": lambda: scan_file(f"{LINES}\n", trust="project"),
    "scan_reply": lambda: scan_reply(LINES, "You are the clerk of the harbour office in Faro."),
    "scan_call": lambda: scan_call({"text": LINES}, "You are the clerk of the harbour office in Faro."),
}


@pytest.fixture(autouse=True)
def collector() -> Iterator[None]:
    """Whatever a test does to it, the collector goes on afterwards."""
    yield
    gc.enable()


def collections(work: Callable[[], Any]) -> int:
    """How often the collector ran meanwhile."""
    seen: list[str] = []

    def note(phase: str, _: dict[str, int]) -> None:
        seen.append(phase)

    gc.callbacks.append(note)
    try:
        work()
    finally:
        gc.callbacks.remove(note)
    return seen.count("start")


@pytest.mark.parametrize("guard", GUARDS)
def test_nothing_is_collected_while_a_text_is_judged(guard: str) -> None:
    GUARDS[guard]()  # the tables are read, which is not judging
    gc.collect()
    assert collections(GUARDS[guard]) == 0
    assert gc.isenabled()


@pytest.mark.parametrize("guard", GUARDS)
def test_nothing_that_a_guard_made_is_left_for_the_collector(guard: str) -> None:
    GUARDS[guard]()
    gc.collect()
    gc.disable()
    GUARDS[guard]()
    assert gc.collect() == 0


def test_without_the_wait_the_same_work_is_interrupted() -> None:
    def judge() -> list[list[int]]:
        return [[number] for number in range(10_000)]

    assert collections(judge) > 0
    assert collections(quietly(judge)) == 0


@pytest.mark.parametrize("before", [True, False])
def test_the_collector_is_left_as_it_was(before: bool) -> None:
    (gc.enable if before else gc.disable)()
    assert quietly(gc.isenabled)() is False
    assert gc.isenabled() is before


@pytest.mark.parametrize("before", [True, False])
def test_the_collector_is_left_as_it_was_when_a_guard_fails(before: bool) -> None:
    def fails() -> None:
        raise LookupError

    (gc.enable if before else gc.disable)()
    with pytest.raises(LookupError):
        quietly(fails)()
    assert gc.isenabled() is before


def test_what_is_given_is_handed_on_and_the_answer_back() -> None:
    def said(one: str, *, other: str) -> str:
        """A docstring."""
        return one + other

    assert quietly(said)("a", other="b") == "ab"
    assert quietly(said).__name__ == "said"
    assert quietly(said).__doc__ == "A docstring."
