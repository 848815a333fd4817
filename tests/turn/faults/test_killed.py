"""A process that is killed in the middle of a turn: its message is answered once, and nothing of it is half there."""

from __future__ import annotations

from pathlib import Path

import pytest

from .killed import POINTS
from .programs import ask
from .rooms import address

pytestmark = pytest.mark.requirement("S0-13", "S0-15", "N-03", "N-17")


@pytest.mark.parametrize(("kind", "charter"), [("sqlite", "sovereign"), ("postgres", "assistant")])
def test_a_turn_killed_at_any_point_is_as_if_it_had_not_been_or_is_whole(
    kind: str, charter: str, tmp_path: Path
) -> None:
    told = ask("faults.killed", "points", address(kind, tmp_path), charter)
    assert (told["points"], told["wrong"]) == (len(POINTS), [])


def test_a_turn_that_wrote_before_its_end_would_be_found_half_done(tmp_path: Path) -> None:
    told = ask("faults.killed", "twin", address("sqlite", tmp_path))
    assert told["wrong"] == [
        "in a tool: agent_long_term_memory was written to",
        "in a tool: memory_terms was written to",
    ]


@pytest.mark.deep
@pytest.mark.parametrize(("kind", "charter"), [("sqlite", "assistant"), ("postgres", "sovereign")])
def test_the_other_charter_on_the_other_store(kind: str, charter: str, tmp_path: Path) -> None:
    told = ask("faults.killed", "points", address(kind, tmp_path), charter)
    assert (told["points"], told["wrong"]) == (len(POINTS), [])
