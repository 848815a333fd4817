"""Proposals: changes that wait for a person, who decides once, over the hash of what they saw (N-04)."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import Path, Query

from ... import amend as amending
from ...app import authorizer, now_ns
from ...core.errors import NotStored, Refused
from ...core.policy import Actor
from ...core.records import Author, Decision
from ...core.records import Proposal as Kept
from .common import WRITING, At, Body, Count, Hash, Here, Name, Text, Told, open_to, room
from .layers import Changed, changed

router = room("proposals")
ProposalId = Annotated[str, Path(max_length=64, description="The proposal's id.")]
PEOPLE = ("operator", "approver", "user")


class Proposal(Told):
    """A change that waits, or what became of it. `content` is None when it was erased, and in a list."""

    id: str
    layer: str
    user: str
    base_version: int
    sha256: str
    by: str
    reason: str
    at_ns: int
    expires_at_ns: int
    state: Literal["open", "applied", "rejected", "expired"]
    decided_by: str
    decided_at_ns: int
    applied_version: int
    content: str | None


class Wish(Body):
    """A text one would like a layer to have; a person decides."""

    layer: Name
    content: Text
    expected_version: Count
    reason: Name = ""


class Word(Body):
    """A person's word, over the hash they saw; `signature` where the charter lists approvers."""

    sha256: Hash
    signature: Text = ""


@router.get("/agents/{agent}/proposals", response_model=list[Proposal], **open_to(*PEOPLE))
def proposals(
    here: At, state: Annotated[Literal["open", "applied", "rejected", "expired"] | None, Query()] = None
) -> list[Proposal]:
    """Changes that wait or waited, oldest first; to a user, those of their own text."""
    here.store.expire(now_ns())
    found = [one for one in here.store.proposals(here.name, state or "") if _theirs(here, one)]
    return [_told(one).model_copy(update={"content": None}) for one in found]


@router.get("/agents/{agent}/proposals/{proposal}", response_model=Proposal, **open_to(*PEOPLE))
def one_proposal(here: At, proposal: ProposalId) -> Proposal:
    """One change, with its text."""
    return _told(_find(here, proposal))


@router.post(
    "/agents/{agent}/proposals", response_model=Changed, status_code=201,
    **open_to("operator", "user", fails=WRITING),
)  # fmt: skip
def propose(here: At, body: Wish) -> Changed:
    """Propose a change, where the permission table lets one; nothing is written."""
    caller = here.caller
    user = caller.name if caller.role == "user" else ""
    name = here.charter.layer_named(body.layer)
    edit = amending.Edit(name, body.content, body.expected_version, here.name, user, body.reason)
    done = amending.amend(here.store, here.charter, edit, by=caller.author, at_ns=now_ns(), tainted=True)
    return changed(name, done)


@router.post(
    "/agents/{agent}/proposals/{proposal}/approve", response_model=Changed, **open_to(*PEOPLE, fails=WRITING)
)  # fmt: skip
def approve(here: At, proposal: ProposalId, body: Word) -> Changed:
    """Apply a change as it was seen, once; what a gate denies today is denied."""
    found = _seen(here, proposal, body)
    decision = Decision(found.id, body.sha256, _person(here), now_ns(), body.signature)
    done = amending.approve(here.store, here.charter, decision, authorize=authorizer(here.charter))
    return changed(found.place.layer_id, done)


@router.post(
    "/agents/{agent}/proposals/{proposal}/reject", response_model=Proposal, **open_to(*PEOPLE, fails=WRITING)
)  # fmt: skip
def reject(here: At, proposal: ProposalId, body: Word) -> Proposal:
    """End a proposal; nothing changes."""
    found = _seen(here, proposal, body)
    decision = Decision(found.id, body.sha256, _person(here), now_ns(), body.signature)
    return _told(amending.reject(here.store, decision))


def _person(here: Here) -> Author:
    return Author(Actor.USER if here.caller.role == "user" else Actor.OPERATOR, here.caller.name)


def _theirs(here: Here, found: Kept) -> bool:
    """A user sees changes of their own text and no others."""
    return here.caller.role != "user" or found.place.user == here.caller.name


def _find(here: Here, name: str) -> Kept:
    found = here.store.proposal(name)
    if found.place.agent != here.name or not _theirs(here, found):
        raise NotStored("proposal of this id")
    return found


def _seen(here: Here, name: str, body: Word) -> Kept:
    found = _find(here, name)
    if found.state == "open" and found.sha256 != body.sha256:
        raise Refused("PROPOSAL_SWAPPED", "what was seen is not what is stored; look at it again")
    return found


def _told(found: Kept) -> Proposal:
    return Proposal(
        id=found.id, layer=found.place.layer_id, user=found.place.user, base_version=found.base_version,
        sha256=found.sha256, by=found.by.mark, reason=found.reason, at_ns=found.at_ns,
        expires_at_ns=found.expires_at_ns, state=found.state, decided_by=found.decided_by,
        decided_at_ns=found.decided_at_ns, applied_version=found.applied_version, content=found.content,
    )  # fmt: skip
