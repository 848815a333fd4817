"""A process that is killed: what was acknowledged is there, whole, and the next one opens at once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from .places import new
from .processes import ask

pytestmark = pytest.mark.requirement("N-03", "N-17", "S0-13")


def clean(told: Any) -> None:
    assert told["wrong"] == []
    assert told["median"] < 1  # a restart, in seconds


def target(kind: str, folder: Path) -> str:
    return str(folder) if kind == "sqlite" else new(kind, folder)


@pytest.mark.parametrize(("kind", "kills"), [("sqlite", 40), ("postgres", 10)])
def test_a_writer_killed_at_random_loses_nothing_it_acknowledged(kind: str, kills: int, tmp_path: Path) -> None:
    told = ask("killed", "random", target(kind, tmp_path), kills, 7)
    clean(told)
    assert told["acknowledged"] > kills


@pytest.mark.parametrize(("kind", "every"), [("sqlite", 1), ("postgres", 9)])
def test_an_operation_killed_at_any_of_its_steps_is_done_or_not_begun(kind: str, every: int, tmp_path: Path) -> None:
    told = ask("killed", "steps", target(kind, tmp_path), 1, every)
    clean(told)
    assert told["kills"] == told["steps"] > 300 // every


def test_a_database_whose_making_is_killed_at_any_step_is_whole_for_the_next_one(tmp_path: Path) -> None:
    clean(ask("killed", "created", tmp_path, 1))


@pytest.mark.deep
@pytest.mark.parametrize(("kind", "kills"), [("sqlite", 2000), ("postgres", 200)])
def test_two_thousand_kills_at_random_lose_nothing(kind: str, kills: int, tmp_path: Path) -> None:
    told = ask("killed", "random", target(kind, tmp_path), kills, 11)
    print(told)
    clean(told)


@pytest.mark.deep
@pytest.mark.parametrize(("kind", "times"), [("sqlite", 20), ("postgres", 2)])
def test_twenty_kills_at_each_step_lose_nothing(kind: str, times: int, tmp_path: Path) -> None:
    told = ask("killed", "steps", target(kind, tmp_path), times)
    print(told)
    clean(told)


@pytest.mark.deep
def test_twenty_kills_at_each_step_of_the_making_lose_nothing(tmp_path: Path) -> None:
    told = ask("killed", "created", tmp_path, 20)
    print(told)
    clean(told)
