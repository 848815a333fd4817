"""A disk that fails: at the i-th call, for every i, the state is the one before or the one after."""

from __future__ import annotations

from pathlib import Path

import pytest

from .disk import built
from .processes import ask

pytestmark = pytest.mark.requirement("N-03", "N-17")


@pytest.fixture(scope="module")
def shim(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built(tmp_path_factory.mktemp("shim"))


def test_a_call_that_fails_leaves_the_state_before_or_after(shim: Path, tmp_path: Path) -> None:
    told = ask("disk", "failing", tmp_path, 6, "next version", "settle", preload=shim)
    assert told["wrong"] == []
    assert told["faults"] > 20


def test_a_database_that_cannot_be_made_is_whole_or_not_there(shim: Path, tmp_path: Path) -> None:
    told = ask("disk", "creating", tmp_path, 8, preload=shim)
    assert told["wrong"] == []
    assert told["faults"] > 10


@pytest.mark.deep
def test_every_call_of_every_operation_may_fail_in_every_way(shim: Path, tmp_path: Path) -> None:
    told = ask("disk", "failing", tmp_path, 1, preload=shim)
    print(told)
    assert told["wrong"] == []


@pytest.mark.deep
def test_every_call_of_the_making_may_fail_in_every_way(shim: Path, tmp_path: Path) -> None:
    told = ask("disk", "creating", tmp_path, 1, preload=shim)
    print(told)
    assert told["wrong"] == []
