"""Approvals: calls of tools that wait for a person; one word, once, over the hash of the call they saw (S1-08)."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import Path, Query

from ...app import now_ns
from ...core.errors import NotStored
from ...core.records import Approval as Kept
from .common import WRITING, At, Body, Hash, Here, Told, open_to, room

router = room("approvals")
PEOPLE = ("operator", "approver", "user")
State = Literal["open", "approved", "denied", "used", "expired"]


class Approval(Told):
    """A call that waits for a person, or waited; `arguments` is JSON, None when they were erased."""

    id: str
    turn: str
    tool: str
    arguments: str | None
    sha256: str
    user: str
    at_ns: int
    expires_at_ns: int
    state: State
    decided_by: str
    decided_at_ns: int


class Decision(Body):
    """Yes or no, to the call of this hash."""

    decision: Literal["approve", "deny"]
    sha256: Hash


@router.get("/agents/{agent}/approvals", response_model=list[Approval], **open_to(*PEOPLE))
def approvals(here: At, state: Annotated[State | None, Query()] = None) -> list[Approval]:
    """Calls that wait or waited, oldest first; to a user, those made for them."""
    here.store.expire(now_ns())
    return [_told(one) for one in here.store.approvals(here.name, state or "") if _theirs(here, one)]


@router.post("/agents/{agent}/approvals/{approval}", response_model=Approval, **open_to(*PEOPLE, fails=WRITING))
def decide(
    here: At, approval: Annotated[str, Path(max_length=200, description="The call's id.")], body: Decision
) -> Approval:
    """Say yes or no to one call; it can be made once."""
    found = here.store.approval(approval)
    if found.agent != here.name or not _theirs(here, found):
        raise NotStored("approval of this id")
    verdict: Literal["approved", "denied"] = "approved" if body.decision == "approve" else "denied"
    by = here.caller.author
    return _told(here.store.decide_approval(found.id, body.sha256, verdict, by=by, at_ns=now_ns()))


def _theirs(here: Here, found: Kept) -> bool:
    """A user decides about calls that were made for them and no others."""
    return here.caller.role != "user" or found.user == here.caller.name


def _told(found: Kept) -> Approval:
    return Approval(
        id=found.id, turn=found.turn_id, tool=found.tool, arguments=found.arguments, sha256=found.sha256,
        user=found.user, at_ns=found.at_ns, expires_at_ns=found.expires_at_ns, state=found.state,
        decided_by=found.decided_by, decided_at_ns=found.decided_at_ns,
    )  # fmt: skip
