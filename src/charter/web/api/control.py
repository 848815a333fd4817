"""The stop switch and the day's spending (N-19); operators only."""

from __future__ import annotations

from typing import Final

from ...app import now_ns
from .common import WRITING, At, Body, Count, Here, Name, Told, open_to, room, today

router = room("control")
CHANGES: Final = open_to("operator", fails=WRITING)


class Control(Told):
    """Whether an agent may act, and what it spent and may spend in a day (UTC); None is no limit."""

    paused: bool
    by: str
    at_ns: int
    reason: str
    tokens_per_day: int | None
    turns_per_day: int | None
    tokens_today: int
    turns_today: int


class Why(Body):
    reason: Name = ""


class Limits(Body):
    """What an agent may spend in a day; None is no limit."""

    tokens_per_day: Count | None
    turns_per_day: Count | None


@router.get("/agents/{agent}/control", response_model=Control, **open_to("operator"))
def control(here: At) -> Control:
    """Whether the agent may act, and what it spent today."""
    return _told(here)


@router.post("/agents/{agent}/pause", response_model=Control, **CHANGES)
def pause(here: At, body: Why | None = None) -> Control:
    """Stop the agent at once: no turn of it begins, and one under way ends at its next step."""
    reason = body.reason if body else ""
    here.store.pause(here.name, by=here.caller.author, at_ns=now_ns(), reason=reason)
    return _told(here)


@router.post("/agents/{agent}/resume", response_model=Control, **CHANGES)
def resume(here: At) -> Control:
    """Let the agent act again."""
    here.store.resume(here.name, by=here.caller.author, at_ns=now_ns())
    return _told(here)


@router.put("/agents/{agent}/limit", response_model=Control, **CHANGES)
def limit(here: At, body: Limits) -> Control:
    """Set what the agent may spend in a day."""
    here.store.limit(
        here.name, by=here.caller.author, at_ns=now_ns(),
        tokens_per_day=body.tokens_per_day, turns_per_day=body.turns_per_day,
    )  # fmt: skip
    return _told(here)


def _told(here: Here) -> Control:
    found = here.store.control(here.name, today())
    return Control(**{name: getattr(found, name) for name in Control.model_fields})
