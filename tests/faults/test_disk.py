"""A disk that fails: at the i-th call, for every i, the state is the one before or the one after."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from .disk import built
from .processes import ask
from .work import OPERATIONS

MAIN: Final = ("next version", "propose", "apply", "take", "settle with changes", "use", "remember")

pytestmark = pytest.mark.requirement("N-03", "N-17")


@pytest.fixture(scope="module")
def shim(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built(tmp_path_factory.mktemp("shim"))


@pytest.mark.parametrize(("opening", "name"), [("open", "settle with changes"), ("opening", "next version")])
def test_a_call_that_fails_leaves_the_state_before_or_after(
    opening: str, name: str, shim: Path, tmp_path: Path
) -> None:
    told = ask("disk", "failing", tmp_path, 12, opening, name, preload=shim)
    assert told["wrong"] == []
    assert told["faults"] > 20


def test_a_database_that_cannot_be_made_is_whole_or_not_there(shim: Path, tmp_path: Path) -> None:
    told = ask("disk", "creating", tmp_path, 24, preload=shim)
    assert told["wrong"] == []
    assert told["faults"] > 10


@pytest.mark.deep
@pytest.mark.parametrize(
    ("step", "opening", "names"),
    [(1, "open", MAIN), (1, "opening", ("next version",)), (6, "open", tuple(set(OPERATIONS) - set(MAIN)))],
    ids=["main operations", "with the opening", "other operations"],
)
def test_every_call_may_fail_in_every_way(
    step: int, opening: str, names: tuple[str, ...], shim: Path, tmp_path: Path
) -> None:
    told = ask("disk", "failing", tmp_path, step, opening, *sorted(names), preload=shim)
    print(told)
    assert told["wrong"] == []


@pytest.mark.deep
def test_every_call_of_the_making_may_fail_in_every_way(shim: Path, tmp_path: Path) -> None:
    told = ask("disk", "creating", tmp_path, 1, preload=shim)
    print(told)
    assert told["wrong"] == []
