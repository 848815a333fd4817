"""Ctrl-C ends a turn where it may end, and never between what belongs together."""

from __future__ import annotations

import signal
import threading

import pytest

from charter.channels.stop import Stop
from charter.core.state import State


def press() -> None:
    signal.raise_signal(signal.SIGINT)


@pytest.mark.requirement("S0-15")
@pytest.mark.parametrize("state", [State.LOADING, State.INFERRING, State.ACTING])
def test_where_nothing_is_being_written_it_breaks_the_turn_at_once_and_only_once(state: State) -> None:
    stop = Stop()
    with stop.listening():
        stop.moved(state)
        with pytest.raises(KeyboardInterrupt):
            press()
        press()  # what the first one began, giving the messages back, is left to end
        assert stop.asked


@pytest.mark.requirement("S0-15", "S0-13")
@pytest.mark.parametrize("state", [State.IDLE, State.PERSISTING, State.SLEEPING, State.FAULTED])
def test_where_something_is_being_written_it_is_kept_for_the_turn_to_see(state: State) -> None:
    stop = Stop()
    with stop.listening():
        stop.moved(state)
        press()
        assert stop.asked


def test_a_turn_begins_unasked_whatever_became_of_the_one_before() -> None:
    stop = Stop()
    with stop.listening():
        press()
    with stop.listening():
        assert not stop.asked


def test_a_turn_in_another_thread_leaves_signals_alone() -> None:
    before = signal.getsignal(signal.SIGINT)
    seen: list[object] = []

    def turn() -> None:
        with Stop().listening():
            seen.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=turn)
    thread.start()
    thread.join()
    assert seen == [before]
