"""What is a person's own: their instructions, what is remembered of them, their time zone."""

from __future__ import annotations

from typing import Annotated

from fastapi import Path, Query

from ... import amend as amending
from ...app import now_ns
from ...core.errors import NotAllowed, NotStored
from ...core.policy import Actor
from ...core.records import Author, Head
from ...core.records import Memory as Kept
from .common import WRITING, At, Body, Count, Here, In, Name, Text, Told, Who, open_to, room
from .layers import Changed, changed

router = room("own")
PERSON = ("user", "operator")
Whose = Annotated[
    str | None,
    Query(max_length=200, description="An operator may name a person, to read; empty is the agent itself."),
]


class Instructions(Told):
    """A person's standing instructions for an agent; version 0 is none yet."""

    instructions: str
    version: int


class NewInstructions(Body):
    """Instructions, made on a version; an empty text clears them."""

    instructions: Text
    expected_version: Count


class Note(Told):
    """Something remembered, and where it comes from."""

    id: str
    day: str
    text: str
    said_by: str
    channel: str
    source_class: str
    source: str
    trust: str


class Zone(Told):
    """A time zone by its IANA name; None is not set."""

    timezone: str | None


class NewZone(Body):
    timezone: Name


# ── instructions ──────────────────────────────────────────────────────────────────────────────────────────────────


@router.get("/agents/{agent}/instructions", response_model=Instructions, **open_to(*PERSON))
def instructions(here: At, user: Whose = None) -> Instructions:
    """One's own instructions."""
    whose = _whose(here, user)
    _layer(here)
    text = here.store.instructions(here.name, whose)
    return Instructions(instructions=text, version=here.store.instructions_version(here.name, whose))


@router.put("/agents/{agent}/instructions", response_model=Changed, **open_to(*PERSON, fails=WRITING))
def instruct(here: At, body: NewInstructions) -> Changed:
    """Replace one's own instructions, through every gate; a text a gate wonders about waits for a person."""
    name, person = _layer(here), here.caller.name
    edit = amending.Edit(name, body.instructions, body.expected_version, here.name, person)
    done = amending.amend(here.store, here.charter, edit, by=Author(Actor.USER, person), at_ns=now_ns())
    return changed(name, done)


def _layer(here: Here) -> str:
    """The layer that holds instructions of people; an agent of a charter without one takes none."""
    charter = here.charter
    for layer in charter.stack.layers:
        if any(getattr(source, "head", None) is Head.INSTRUCTIONS for source in charter.sources[layer.id]):
            return layer.id
    raise NotStored("layer for instructions in this agent's charter")


# ── memory ────────────────────────────────────────────────────────────────────────────────────────────────────────


@router.get("/agents/{agent}/memory", response_model=list[Note], **open_to(*PERSON))
def memory(
    here: At,
    q: Annotated[str, Query(max_length=2000, description="What to look for; the newest when left out.")] = "",
    limit: Annotated[int, Query(ge=1, le=200)] = 20,
    user: Whose = None,
) -> list[Note]:
    """What is remembered of one: what fits best, or the newest."""
    whose = _whose(here, user)
    store = here.store
    found = store.recall(here.name, whose, q, limit) if q.strip() else store.recent(here.name, whose, limit)
    return [_note(one) for one in found]


@router.delete("/agents/{agent}/memory/{note}", status_code=204, **open_to(*PERSON, fails=WRITING))
def forget(here: At, note: Annotated[str, Path(max_length=20, pattern="^[0-9]+$", description="The note.")]) -> None:
    """Forget one note of one's own."""
    here.store.forget_note(here.name, here.caller.name, note, by=_as_person(here), at_ns=now_ns())


def _as_person(here: Here) -> Author:
    return Author(Actor.USER, here.caller.name)


def _whose(here: Here, user: str | None) -> str:
    """Whose it is that is read: one's own, or, to an operator who says so, another's."""
    if user is None or user == here.caller.name:
        return here.caller.name
    if here.caller.role != "operator":
        raise NotAllowed("this is another person's; leave out user=")
    return user


def _note(found: Kept) -> Note:
    origin = found.provenance
    return Note(
        id=found.id, day=found.day, text=found.text, said_by=origin.said_by, channel=origin.channel,
        source_class=origin.source_class, source=origin.source, trust=origin.trust.name.lower(),
    )  # fmt: skip


# ── time zone ─────────────────────────────────────────────────────────────────────────────────────────────────────


@router.get("/timezone", response_model=Zone, **open_to(*PERSON, fails=()))
def timezone(who: Who, house: In) -> Zone:
    """One's own time zone."""
    return Zone(timezone=house.store.timezone(who.name))


@router.put("/timezone", response_model=Zone, **open_to(*PERSON, fails=WRITING))
def set_timezone(who: Who, house: In, body: NewZone) -> Zone:
    """Set one's own time zone."""
    house.store.set_timezone(who.name, body.timezone)
    return Zone(timezone=body.timezone)
