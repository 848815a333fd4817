"""A turn has one way through its states; whatever else is tried is an error."""

from __future__ import annotations

import itertools

import pytest

from charter.core.errors import BadMove
from charter.core.state import MOVES, State, move

pytestmark = pytest.mark.requirement("S0-15")

LINE = (State.LOADING, State.INFERRING, State.ACTING, State.PERSISTING, State.SLEEPING)


@pytest.mark.parametrize("start", [State.IDLE, State.SLEEPING, State.FAULTED])
def test_a_turn_goes_from_loading_to_sleeping(start: State) -> None:
    now = start
    for state in LINE:
        now = move(now, state)
    assert now is State.SLEEPING


@pytest.mark.parametrize("start", list(State))
def test_failure_may_come_from_anywhere(start: State) -> None:
    assert move(start, State.FAULTED) is State.FAULTED


def test_any_other_move_is_an_error_that_says_what_could_follow() -> None:
    allowed = {(State.IDLE, State.LOADING), (State.SLEEPING, State.LOADING), (State.FAULTED, State.LOADING)}
    allowed |= set(itertools.pairwise(LINE)) | {(state, State.FAULTED) for state in State}
    for pair in itertools.product(State, State):
        if pair in allowed:
            assert move(*pair) is pair[1]
        else:
            with pytest.raises(BadMove, match=f"an agent that is {pair[0]} cannot become {pair[1]}; it can become: "):
                move(*pair)


def test_the_states_have_the_names_of_the_design() -> None:
    names = ["Idle", "Sleeping", "LoadingContext", "Inferring", "ExecutingActions", "Persisting", "Faulted"]
    assert [str(state) for state in State] == names
    assert set(MOVES) == set(State)
