"""Processes that race: no version is lost or doubled, and no message is answered twice."""

from __future__ import annotations

from pathlib import Path

import pytest

from .places import KINDS, new
from .processes import ask

pytestmark = pytest.mark.requirement("N-03", "N-17", "S0-12", "S0-13")


@pytest.mark.parametrize("kind", KINDS)
def test_writers_that_compare_and_swap_lose_nothing_and_readers_see_whole_versions(kind: str, tmp_path: Path) -> None:
    told = ask("racing", "versions", new(kind, tmp_path), 4, 40, 2)
    assert (told["statuses"], told["wrong"], told["versions"]) == ([0], [], 160)


@pytest.mark.parametrize("kind", KINDS)
def test_a_message_is_answered_by_one_turn_though_workers_race_and_die(kind: str, tmp_path: Path) -> None:
    told = ask("racing", "messages", new(kind, tmp_path), 4, 60, 3)
    assert told["wrong"] == []
    assert told["deaths"] > 0


@pytest.mark.requirement("S1-08")
@pytest.mark.parametrize("kind", KINDS)
def test_an_approval_is_used_once_and_for_its_own_call_though_workers_race(kind: str, tmp_path: Path) -> None:
    told = ask("racing", "approvals", new(kind, tmp_path), 4, 300, 5)
    assert (told["statuses"], told["wrong"]) == ([0], [])
    assert 30 < told["used"] <= told["yes"] < told["attempts"]


@pytest.mark.requirement("S4-10")
@pytest.mark.parametrize("kind", KINDS)
def test_a_tick_is_begun_by_one_worker_though_workers_race_and_die(kind: str, tmp_path: Path) -> None:
    told = ask("racing", "ticks", new(kind, tmp_path), 6, 60)
    assert (told["wrong"], told["kept"]) == ([], 120)
    assert told["silent"] == told["deaths"] > 0
    assert set(told["statuses"]) == {0, -9}


@pytest.mark.deep
@pytest.mark.requirement("S1-08")
@pytest.mark.parametrize("kind", KINDS)
def test_of_100_000_attempts_to_use_approvals_none_succeeds_wrongly(kind: str, tmp_path: Path) -> None:
    told = ask("racing", "approvals", new(kind, tmp_path), 8, 16_500, 9)
    print(told)
    assert (told["statuses"], told["wrong"], told["attempts"] > 100_000) == ([0], [], True)


@pytest.mark.deep
@pytest.mark.parametrize(("kind", "layers"), [("sqlite", 1), ("postgres", 4)])
def test_32_processes_write_16_000_versions(kind: str, layers: int, tmp_path: Path) -> None:
    """On PostgreSQL of four layers: its lock is a fair queue, in which every swap makes all that wait a conflict."""
    told = ask("racing", "versions", new(kind, tmp_path), 32, 500, 8, layers)
    print(told)
    assert (told["statuses"], told["wrong"], told["versions"]) == ([0], [], 16_000)


@pytest.mark.deep
@pytest.mark.parametrize("kind", KINDS)
def test_two_hundred_messages_and_eight_workers(kind: str, tmp_path: Path) -> None:
    for seed in range(5):
        told = ask("racing", "messages", new(kind, tmp_path / str(seed)), 8, 200, seed)
        assert told["wrong"] == []
