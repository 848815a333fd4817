"""The sovereign design's queries and writes over stored layers and conversations (S0-09, S0-10, S0-11)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..amend import Edit, amend, seed_all
from ..core.assemble import fill
from ..core.errors import UnknownLayer
from ..core.incoming import Incoming
from ..core.layer import Owner
from ..core.policy import Actor
from ..core.ports import Store
from ..core.records import Author, Conversation, ConversationLog, Proposal, StoredLayer
from ..sources import World
from .loaded import loaded


@dataclass(frozen=True, slots=True)
class PromptLayerView:
    """A layer as an operator sees it."""

    layer_id: str
    title: str
    owner: Owner
    immutable: bool
    content: str
    version: int
    updated_by: str

    def __repr__(self) -> str:
        return f"PromptLayerView({self.layer_id!r}, version={self.version})"


def get_prompt_layers(store: Store | None = None, *, agent: str = "") -> list[PromptLayerView]:
    """Every layer: the sealed as they are, the agent's from the store; operators only (S0-11)."""
    charter = loaded("sovereign")
    world = World(store=store)
    views = []
    for section, _ in charter.gather(Incoming(channel="inbox", at=0, agent=agent), mode="full", world=world):
        layer = section.layer
        content = "" if layer.owner is Owner.TURN else fill(layer.template, section.facts, charter.stack.structure)
        stored = layer.owner is Owner.AGENT
        views.append(
            PromptLayerView(
                layer.id, layer.title, layer.owner, layer.owner is Owner.SEALED, content,
                int(section.about.version) if stored else 1,
                (section.about.origin or "init") if stored else "charter",
            )
        )  # fmt: skip
    return views


# ── writing (S0-09, S0-10) ────────────────────────────────────────────────────────────────────────────────────────

Id = int | str


def update_prompt_layer(
    layer_id: Id, content: str, *, store: Store, turn: str, at_ns: int, expected_version: int | None = None
) -> StoredLayer | Proposal:
    """The agent's own change of a layer from 6 to 9, in a turn; the next turn uses the new text."""
    return _update(layer_id, content, store, Author(Actor.AGENT, turn=turn), at_ns, expected_version)


def update_prompt_layer_admin(
    layer_id: Id, content: str, *, store: Store, by: str, at_ns: int, expected_version: int | None = None
) -> StoredLayer | Proposal:
    """An operator's change of a layer from 6 to 9: the same validation, recorded as theirs."""
    return _update(layer_id, content, store, Author(Actor.OPERATOR, by), at_ns, expected_version)


def _update(
    layer_id: Id, content: str, store: Store, by: Author, at_ns: int, expected: int | None
) -> StoredLayer | Proposal:
    charter = loaded("sovereign")
    name = layer_name(layer_id)
    if expected is None:
        seed_all(store, charter, "", at_ns)
        head = store.layer(charter.agent(), name)
        expected = head.version if head else 0
    return amend(store, charter, Edit(name, content, expected), by=by, at_ns=at_ns)


def layer_name(layer_id: Id) -> str:
    """A layer's id; the design's numbers 0 to 10 are understood too."""
    layers = loaded("sovereign").stack.layers
    if isinstance(layer_id, str) and not layer_id.isdecimal():
        return layer_id
    if not 0 <= int(layer_id) < len(layers):
        raise UnknownLayer(f"sovereign has layers 0 to {len(layers) - 1}")
    return layers[int(layer_id)].id


# ── conversations (S0-11) ─────────────────────────────────────────────────────────────────────────────────────────


def list_conversations(store: Store, *, agent: str = "") -> list[Conversation]:
    """Everyone the agent talks with: last activity and count, newest first; operators only."""
    return list(store.conversations(loaded("sovereign").agent(agent)))


def get_conversation(sender: str, *, store: Store, agent: str = "") -> ConversationLog | None:
    """What was said with one sender, oldest first; operators only."""
    return store.conversation(loaded("sovereign").agent(agent), sender)


def get_observability_snapshot(store: Store, *, agent: str = "") -> dict[str, Any]:
    """Every layer with its version and author, and every conversation, for an operator's page."""
    layers = [
        {
            "layer_id": view.layer_id, "title": view.title, "immutable": view.immutable, "version": view.version,
            "updated_by": view.updated_by, "content": view.content,
        }
        for view in get_prompt_layers(store, agent=agent)
    ]  # fmt: skip
    talks = [
        {"sender": row.sender, "last_activity_ns": row.last_activity_ns, "count": row.count}
        for row in list_conversations(store, agent=agent)
    ]
    return {"prompt_layers": layers, "conversations": talks}
