"""Layers: what an agent is told, layer by layer, and the one way an operator changes it."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from fastapi import Path

from ... import amend as amending
from ...app import now_ns
from ...core.records import Author, Place, Proposal, StoredLayer, Version
from ...interfaces import PromptLayerView, get_observability_snapshot, get_prompt_layers, update_prompt_layer_admin
from .common import WRITING, At, Body, Count, Here, Name, Text, Told, open_to, room

router = room("layers")
LayerId = Annotated[str, Path(max_length=64, description="The layer's id.")]
Number = Annotated[int, Path(ge=1, lt=2**63, description="A version's number.")]
OPERATOR: Final = open_to("operator")
CHANGES: Final = open_to("operator", fails=WRITING)


class Layer(Told):
    """A layer as it stands. What is built each turn, or is a person's own, has no text here."""

    id: str
    label: str
    title: str
    owner: str
    badge: Literal["immutable", "mutable"]
    stored: bool
    version: int
    updated_by: str
    updated_at_ns: int
    sha256: str
    text: str


class Row(Told):
    """One version in a layer's history; `characters` is None when its text was erased."""

    version: int
    by: str
    actor: str
    at_ns: int
    sha256: str
    restores: int | None
    labels: list[str]
    characters: int | None


class Written(Row):
    """The same with its text, as it was written."""

    text: str | None


class Change(Body):
    """A text for a layer, made on a version of it; 0 is before the first."""

    content: Text
    expected_version: Count
    reason: Name = ""


class Back(Body):
    """An older version whose text to take again; `bury` says: even over a later edit by a person."""

    version: Count
    expected_version: Count
    bury: bool = False


class Changed(Told):
    """What became of a change: written as `version`, or proposed and waiting for a person."""

    state: Literal["written", "proposed"]
    layer: str
    version: int
    by: str
    proposal: str


class SnapshotLayer(Told):
    layer_id: str
    title: str
    immutable: bool
    version: int
    updated_by: str
    content: str


class SnapshotTalk(Told):
    sender: str
    last_activity_ns: int
    count: int


class Snapshot(Told):
    """Everything an operator sees of an agent at once."""

    prompt_layers: list[SnapshotLayer]
    conversations: list[SnapshotTalk]


# ── reading ───────────────────────────────────────────────────────────────────────────────────────────────────────


@router.get("/agents/{agent}/layers", response_model=list[Layer], **OPERATOR)
def layers(here: At) -> list[Layer]:
    """Every layer in order: its badge, version, who changed it and when, its hash and text."""
    return [_layer(view) for view in get_prompt_layers(here.store, agent=here.name, charter=here.charter)]


@router.get("/agents/{agent}/layers/{layer}/history", response_model=list[Row], **OPERATOR)
def history(here: At, layer: LayerId) -> list[Row]:
    """Every version of a stored layer, oldest first; none when it stands as the charter ships it."""
    place = _place(here, layer)
    return [_row(here, place, version) for version in here.store.history(place)]


@router.get("/agents/{agent}/layers/{layer}/history/{version}", response_model=Written, **OPERATOR)
def one_version(here: At, layer: LayerId, version: Number) -> Written:
    """One version with its text."""
    place = _place(here, layer)
    found = here.store.version(place, version)
    return Written(**_row(here, place, found).model_dump(), text=found.content)


@router.get("/agents/{agent}/snapshot", response_model=Snapshot, **OPERATOR)
def snapshot(here: At) -> Snapshot:
    """Layers and conversations at once, for a page that watches an agent."""
    return Snapshot(**get_observability_snapshot(here.store, agent=here.name, charter=here.charter))


# ── changing ──────────────────────────────────────────────────────────────────────────────────────────────────────


@router.put("/agents/{agent}/layers/{layer}", response_model=Changed, **CHANGES)
def change(here: At, layer: LayerId, body: Change) -> Changed:
    """Write the next version of a layer, through every gate; someone who changed it first is a conflict."""
    name = here.charter.layer_named(layer)
    done = update_prompt_layer_admin(
        name, body.content, store=here.store, by=here.caller.name, at_ns=now_ns(),
        expected_version=body.expected_version, reason=body.reason, agent=here.name, charter=here.charter,
    )  # fmt: skip
    return changed(name, done)


@router.post("/agents/{agent}/layers/{layer}/rollback", response_model=Changed, **CHANGES)
def go_back(here: At, layer: LayerId, body: Back) -> Changed:
    """Take an older text as a new version, through the same gates."""
    edit = amending.Edit(here.charter.layer_named(layer), "", body.expected_version, here.name)
    by: Author = here.caller.author
    done = amending.rollback(
        here.store, here.charter, edit, to=body.version, by=by, at_ns=now_ns(), bury=body.bury
    )  # fmt: skip
    return changed(edit.layer_id, done)


def changed(layer: str, done: StoredLayer | Proposal) -> Changed:
    if isinstance(done, Proposal):
        return Changed(
            state="proposed", layer=layer, version=done.base_version, by=done.by.mark, proposal=done.id
        )  # fmt: skip
    return Changed(state="written", layer=layer, version=done.version, by=done.updated_by_turn, proposal="")


def _place(here: Here, layer: str) -> Place:
    return here.charter.stored(here.charter.layer_named(layer), agent=here.name)[1]


def _layer(view: PromptLayerView) -> Layer:
    return Layer(
        id=view.layer_id, label=view.label, title=view.title, owner=str(view.owner),
        badge="immutable" if view.immutable else "mutable", stored=view.stored, version=view.version,
        updated_by=view.updated_by, updated_at_ns=view.updated_at_ns, sha256=view.sha256, text=view.content,
    )  # fmt: skip


def _row(here: Here, place: Place, found: Version) -> Row:
    labels = [row.label for row in here.store.labels(here.name)
              if (row.layer_id, row.version) == (place.layer_id, found.version)]  # fmt: skip
    return Row(
        version=found.version, by=found.by, actor=found.actor, at_ns=found.at_ns, sha256=found.sha256,
        restores=found.restores, labels=labels, characters=None if found.content is None else len(found.content),
    )  # fmt: skip
