"""Turns that were taken: hashes, codes and counts of each, and what changed between two of them; operators only."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any

from fastapi import Path, Query
from pydantic import JsonValue

from ...compare import compare
from ...core.records import TurnRecord
from ...kept import Kept, read_back
from ...stores import past
from .common import At, Here, Told, open_to, room

router = room("turns")
TurnId = Annotated[str, Path(max_length=64, description="A turn's id, or the first 6 or more characters of it.")]


class Turn(Told):
    """A turn in a list."""

    id: str
    at_ns: int
    channel: str
    sender: str
    user: str
    charter: str
    charter_version: str
    mode: str
    outcome: str
    code: str
    provider: str
    model: str
    stack_sha256: str
    payload_sha256: str
    tools_sha256: str
    counts: dict[str, int]


class Whole(Turn):
    """Everything that is kept of a turn: every call of the model with its hash and usage, every verdict."""

    detail: dict[str, JsonValue]


class Change(Told):
    """One layer in two turns, and who wrote what came between."""

    layer: str
    id: str
    how: str
    kind: str
    first: str
    second: str
    written: list[dict[str, JsonValue]]
    why: str


class Difference(Told):
    """What two turns have and have not in common."""

    first: str
    second: str
    layers: list[Change]
    facts: list[dict[str, str]]


@router.get("/agents/{agent}/turns", response_model=list[Turn], **open_to("operator"))
def turns(here: At, limit: Annotated[int, Query(ge=1, le=500)] = 50) -> list[Turn]:
    """The newest turns, newest first."""
    return [Turn(**_told(read_back(row))) for row in past.newest(here.store.db, here.name, limit)]


@router.get("/agents/{agent}/turns/{turn}", response_model=Whole, **open_to("operator"))
def one_turn(here: At, turn: TurnId) -> Whole:
    """One turn."""
    kept = _find(here, turn)
    return Whole(**_told(kept), detail=dict(kept.detail))


@router.get("/agents/{agent}/turns/{turn}/manifest", response_model=dict[str, JsonValue], **open_to("operator"))
def manifest(here: At, turn: TurnId) -> dict[str, Any]:
    """A turn's manifest: its layers in order with their hashes; empty when it ended before its prompt was made."""
    return dict(_find(here, turn).manifest)


@router.get("/agents/{agent}/turns/{first}/diff/{second}", response_model=Difference, **open_to("operator"))
def diff(here: At, first: TurnId, second: TurnId) -> Difference:
    """What changed between two turns, and who changed it."""
    return Difference(**asdict(compare(here.store, _find(here, first), _find(here, second))))


def _find(here: Here, turn: str) -> Kept:
    return read_back(past.find(here.store.db, turn, here.name))


def _told(kept: Kept) -> dict[str, Any]:
    row: TurnRecord = kept.record
    told = {name: getattr(row, name) for name in Turn.model_fields if hasattr(row, name)}
    return {**told, "provider": kept.detail.get("provider", ""), "model": kept.detail.get("model", "")}
