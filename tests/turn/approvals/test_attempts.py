"""Attempts by the thousand: nothing is executed without one human approval of exactly that call, in time and unused."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..faults.rooms import opened
from .attempts import Driver, told, used_up

pytestmark = pytest.mark.requirement("S1-08", "N-17")


def attempts(kind: str, folder: Path, number: int, seed: int) -> Driver:
    """So many attempts; asserts that what was executed is what people said yes to, by their book and by the store's."""
    with opened(kind, folder) as store:
        driver = Driver(store, seed)
        driver.go(number)
        assert driver.book.wrong == []
        assert used_up(store, list(driver.agents)) == driver.book.executed.total()
        assert driver.book.executed["executed"] < driver.book.said["given"] < driver.attempts
    return driver


@pytest.mark.parametrize(("kind", "number"), [("memory", 1_600), ("sqlite", 200), ("postgres", 200)])
def test_two_thousand_attempts_execute_what_people_approved_and_nothing_else(
    kind: str, number: int, tmp_path: Path
) -> None:
    driver = attempts(kind, tmp_path, number, 7)
    assert driver.book.executed["executed"] > number // 20


@pytest.mark.deep
@pytest.mark.parametrize(
    ("kind", "number", "seed"),
    [*(("memory", 30_000, seed) for seed in range(3)), ("sqlite", 5_000, 4), ("postgres", 5_000, 5)],
)
def test_a_hundred_thousand_attempts(kind: str, number: int, seed: int, tmp_path: Path) -> None:
    driver = attempts(kind, tmp_path, number, seed)
    print(told(driver))
