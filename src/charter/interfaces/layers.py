"""The sovereign design's queries and writes over layers and conversations, for any charter (S0-09, S0-10, S0-11).

Each is the sovereign charter's when no other is named.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import Any

from ..amend import Edit, amend, seed_all
from ..charter import Charter
from ..core.assemble import Section, fill
from ..core.errors import Refused, UnknownLayer
from ..core.incoming import Incoming
from ..core.layer import Owner
from ..core.policy import Actor
from ..core.ports import Store
from ..core.records import Author, Conversation, ConversationLog, Place, Proposal, StoredLayer
from .loaded import loaded


@dataclass(frozen=True, slots=True)
class PromptLayerView:
    """A layer as an operator sees it; what is built each turn, or is a person's own, is shown without its text.

    `stored` says that its text can be changed with `update_prompt_layer_admin`, on `version`.
    """

    layer_id: str
    title: str
    owner: Owner
    immutable: bool
    content: str
    version: int
    updated_by: str
    label: str = field(default="", compare=False)
    updated_at_ns: int = field(default=0, compare=False)
    sha256: str = field(default="", compare=False)
    stored: bool = field(default=False, compare=False)

    def __repr__(self) -> str:
        return f"PromptLayerView({self.layer_id!r}, version={self.version})"


def get_prompt_layers(
    store: Store | None = None, *, agent: str = "", charter: Charter | None = None
) -> list[PromptLayerView]:
    """Every layer in order: the sealed as they are, what is stored from the store; operators only (S0-11)."""
    charter = charter or loaded("sovereign")
    world = replace(charter.world, store=store)
    incoming = Incoming(channel="inbox", at=0, agent=agent)
    gathered = charter.gather(incoming, mode=charter.default_mode, world=world)
    return [_view(charter, section, store, agent) for section, _ in gathered]


def _view(charter: Charter, section: Section, store: Store | None, agent: str) -> PromptLayerView:
    layer, about = section.layer, section.about
    shown = charter.stack.mode(charter.default_mode).shows(layer.id) and layer.owner not in (Owner.TURN, Owner.USER)
    content = fill(layer.template, section.facts, charter.stack.structure) if shown else ""
    place = _place(charter, layer.id, agent)
    head = store.head(place) if store is not None and place is not None else None
    if head is not None:
        version, by = head.version, head.updated_by_turn
    elif layer.owner is Owner.AGENT:
        version, by = int(about.version), about.origin or "init"
    else:
        version, by = (1 if place is None else 0), "charter"
    return PromptLayerView(
        layer.id, layer.title, layer.owner, layer.owner is Owner.SEALED, content, version, by,
        label=layer.label, updated_at_ns=head.updated_at_ns if head else 0,
        sha256=sha256(content.encode(errors="surrogatepass")).hexdigest() if content else "", stored=place is not None,
    )  # fmt: skip


def _place(charter: Charter, layer_id: str, agent: str) -> Place | None:
    """Where a layer's text is kept; None when it is in a file, or a person's own."""
    try:
        layer, place = charter.stored(layer_id, agent=agent)
    except Refused:
        return None
    return None if layer.owner is Owner.USER else place


# ── writing (S0-09, S0-10) ────────────────────────────────────────────────────────────────────────────────────────

Id = int | str


def update_prompt_layer(
    layer_id: Id, content: str, *, store: Store, turn: str, at_ns: int, expected_version: int | None = None
) -> StoredLayer | Proposal:
    """The agent's own change of a layer from 6 to 9, in a turn; the next turn uses the new text."""
    edit = Edit(layer_name(layer_id), content, -1)
    return _update(edit, store, Author(Actor.AGENT, turn=turn), at_ns, expected_version)


def update_prompt_layer_admin(
    layer_id: Id, content: str, *, store: Store, by: str, at_ns: int, expected_version: int | None = None,
    reason: str = "", agent: str = "", charter: Charter | None = None,
) -> StoredLayer | Proposal:  # fmt: skip
    """An operator's change of a layer: the same validation as the agent's, recorded as theirs (`admin:<by>`)."""
    edit = Edit(layer_name(layer_id, charter), content, -1, agent, reason=reason)
    return _update(edit, store, Author(Actor.OPERATOR, by), at_ns, expected_version, charter)


def _update(
    edit: Edit, store: Store, by: Author, at_ns: int, expected: int | None, charter: Charter | None = None
) -> StoredLayer | Proposal:
    charter = charter or loaded("sovereign")
    if expected is None:
        seed_all(store, charter, edit.agent, at_ns)
        place = _place(charter, edit.layer_id, edit.agent) if edit.layer_id in charter.stack.position else None
        head = store.head(place) if place is not None else None
        expected = head.version if head else 0
    return amend(store, charter, replace(edit, expected_version=expected), by=by, at_ns=at_ns)


def layer_name(layer_id: Id, charter: Charter | None = None) -> str:
    """A layer's id; the design's numbers 0 to 10 are understood too."""
    layers = (charter or loaded("sovereign")).stack.layers
    if isinstance(layer_id, str) and not layer_id.isdecimal():
        return layer_id
    if not 0 <= int(layer_id) < len(layers):
        raise UnknownLayer(f"there are layers 0 to {len(layers) - 1}")
    return layers[int(layer_id)].id


# ── conversations (S0-11) ─────────────────────────────────────────────────────────────────────────────────────────


def list_conversations(store: Store, *, agent: str = "", charter: Charter | None = None) -> list[Conversation]:
    """Everyone the agent talks with: last activity and count, newest first; operators only."""
    return list(store.conversations((charter or loaded("sovereign")).agent(agent)))


def get_conversation(
    sender: str, *, store: Store, agent: str = "", charter: Charter | None = None
) -> ConversationLog | None:
    """What was said with one sender, oldest first; operators only."""
    return store.conversation((charter or loaded("sovereign")).agent(agent), sender)


def get_observability_snapshot(store: Store, *, agent: str = "", charter: Charter | None = None) -> dict[str, Any]:
    """Every layer with its version and author, and every conversation, for an operator's page."""
    layers = [
        {
            "layer_id": view.layer_id, "title": view.title, "immutable": view.immutable, "version": view.version,
            "updated_by": view.updated_by, "content": view.content,
        }
        for view in get_prompt_layers(store, agent=agent, charter=charter)
    ]  # fmt: skip
    talks = [
        {"sender": row.sender, "last_activity_ns": row.last_activity_ns, "count": row.count}
        for row in list_conversations(store, agent=agent, charter=charter)
    ]
    return {"prompt_layers": layers, "conversations": talks}
