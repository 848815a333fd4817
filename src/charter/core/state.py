"""The states of a turn and the moves between them; any other move is an error (S0-15)."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from typing import Final

from .errors import BadMove


class State(enum.StrEnum):
    """What an agent is doing."""

    IDLE = "Idle"
    SLEEPING = "Sleeping"
    LOADING = "LoadingContext"
    INFERRING = "Inferring"
    ACTING = "ExecutingActions"
    PERSISTING = "Persisting"
    FAULTED = "Faulted"

    __hash__ = str.__hash__  # an Enum's own is slower, and a state is looked up in every move


MOVES: Final[Mapping[State, frozenset[State]]] = {
    State.IDLE: frozenset({State.LOADING}),
    State.SLEEPING: frozenset({State.LOADING}),
    State.LOADING: frozenset({State.INFERRING}),
    State.INFERRING: frozenset({State.ACTING}),
    State.ACTING: frozenset({State.PERSISTING}),
    State.PERSISTING: frozenset({State.SLEEPING}),
    State.FAULTED: frozenset({State.LOADING}),
}


def move(now: State, to: State) -> State:
    """The state after this one; failure may come from anywhere, and a faulted agent starts again at its next tick."""
    if to is State.FAULTED or to in MOVES[now]:
        return to
    raise BadMove(f"an agent that is {now} cannot become {to}; it can become: {', '.join(sorted(MOVES[now]))}")
