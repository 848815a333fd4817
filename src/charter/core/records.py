"""What a store keeps, as plain values; texts of people and layers never show in a repr."""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from .policy import Actor
from .text import Trust

# ── layers and who changed them ───────────────────────────────────────────────────────────────────────────────────


class Head(enum.StrEnum):
    """Where the current text of a stored layer lies."""

    LAYER = "layer"
    SOUL = "soul"
    IDENTITY = "identity"
    INSTRUCTIONS = "instructions"


@dataclass(frozen=True, slots=True)
class Place:
    """One stored text: a layer of an agent, or of one user with that agent."""

    agent: str
    layer_id: str
    user: str = ""
    head: Head = Head.LAYER


@dataclass(frozen=True, slots=True)
class Author:
    """Who changes something; an agent acts in a turn, and the first text of a layer is by nobody (`init`)."""

    actor: Actor | Literal["init"]
    name: str = ""
    turn: str = ""

    @property
    def mark(self) -> str:
        """What a record says of it: the turn, `admin:<who>`, `user:<who>` or `init` (S0-03)."""
        if self.actor is Actor.OPERATOR:
            return f"admin:{self.name}"
        if self.actor is Actor.USER:
            return f"user:{self.name}"
        return self.turn if self.actor is Actor.AGENT else "init"


INIT = Author("init")


@dataclass(frozen=True, slots=True)
class StoredLayer:
    """The text of a layer that can change, at one version (S0-03); `content` is None once it was erased."""

    layer_id: str
    content: str = field(repr=False)
    updated_at_ns: int
    updated_by_turn: str
    version: int


@dataclass(frozen=True, slots=True)
class Version:
    """One entry of a layer's history."""

    version: int
    content: str | None = field(repr=False)
    sha256: str
    key_id: str
    actor: str
    by: str
    at_ns: int
    restores: int | None = None


@dataclass(frozen=True, slots=True)
class Change:
    """A version about to be written: bound to the version it was made on, and to the proposal it comes from."""

    place: Place
    content: str = field(repr=False)
    expected_version: int
    by: Author
    at_ns: int
    kind: Literal["seed", "amend", "rollback"] = "amend"
    restores: int | None = None


@dataclass(frozen=True, slots=True)
class Label:
    """A name for one version of a layer."""

    layer_id: str
    label: str
    version: int
    by: str
    at_ns: int


ProposalState = Literal["open", "applied", "rejected", "expired"]


@dataclass(frozen=True, slots=True)
class Proposal:
    """A change that waits for a person: bound to the hash of its content and the version it was made on (N-04)."""

    id: str
    place: Place
    base_version: int
    content: str | None = field(repr=False)
    sha256: str
    by: Author
    reason: str = field(repr=False)
    at_ns: int
    expires_at_ns: int
    state: ProposalState = "open"
    decided_by: str = ""
    decided_at_ns: int = 0
    applied_version: int = 0
    signature: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True)
class Decision:
    """What a person decided about a proposal, over the hash they saw; `signature` where approvers have keys."""

    proposal_id: str
    sha256: str
    by: Author
    at_ns: int
    signature: str = field(default="", repr=False)


# ── messages ──────────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class InboxMessage:
    """A message that waits for a turn."""

    id: str
    sender: str
    body: str = field(repr=False)
    received_at_ns: int = 0
    channel: str = "inbox"
    user: str = ""


@dataclass(frozen=True, slots=True)
class OutboxMessage:
    """A reply, whole, to the one it is for."""

    recipient: str
    body: str = field(repr=False)
    channel: str = "inbox"
    part: int = 0


@dataclass(frozen=True, slots=True)
class ConversationEntry:
    """One exchange: a message and the reply that was sent for it (S0-12)."""

    inbox_message_id: str
    sender_body: str = field(repr=False)
    agent_reply: str = field(repr=False)
    turn_id: str
    timestamp_ns: int


@dataclass(frozen=True, slots=True)
class ConversationLog:
    """What was said with one sender, oldest first."""

    sender: str
    entries: tuple[ConversationEntry, ...]
    last_activity_ns: int


@dataclass(frozen=True, slots=True)
class Conversation:
    """A conversation in a list: with whom, how much, when last (S0-11)."""

    sender: str
    last_activity_ns: int
    count: int


# ── memory ────────────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class Provenance:
    """Where a note comes from: who said it, through which channel, from what sort of source (N-10).

    `source` names the one origin it can be revoked by; `derived_from` are notes it was made from, whose sources and
    lower trust it takes over.
    """

    said_by: str = ""
    channel: str = ""
    source_class: Literal["user", "agent", "operator", "sender", "tool", "web", "project", "import"] = "agent"
    source: str = ""
    trust: Trust = Trust.OUTSIDE
    derived_from: tuple[str, ...] = ()


UNKNOWN = Provenance()
FOREIGN = frozenset({"sender", "tool", "web", "project", "import"})  # sources that are neither agent, operator nor user


@dataclass(frozen=True, slots=True)
class Memory:
    """A note with the day it was made."""

    id: str
    text: str = field(repr=False)
    day: str
    provenance: Provenance = field(default=UNKNOWN, repr=False)


# ── approvals, controls and spending ──────────────────────────────────────────────────────────────────────────────

ApprovalState = Literal["open", "approved", "denied", "used", "expired"]


@dataclass(frozen=True, slots=True)
class Approval:
    """One call of a tool that waits for a person: bound to the hash of the call, good for one execution (S1-08)."""

    id: str
    agent: str
    turn_id: str
    tool: str
    arguments: str | None = field(repr=False)
    sha256: str
    at_ns: int
    expires_at_ns: int
    user: str = ""
    state: ApprovalState = "open"
    decided_by: str = ""
    decided_at_ns: int = 0
    used_by_turn: str = ""


@dataclass(frozen=True, slots=True)
class Control:
    """Whether an agent may act, and how much it may spend in a day; None is no limit (N-19)."""

    paused: bool = False
    by: str = ""
    at_ns: int = 0
    reason: str = field(default="", repr=False)
    tokens_per_day: int | None = None
    turns_per_day: int | None = None
    tokens_today: int = 0
    turns_today: int = 0


# ── turns ─────────────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class TurnRecord:
    """What is kept of a turn: hashes, codes and counts (N-01); `manifest` is the manifest's JSON, `detail` is JSON too:
    which model, the hash and usage of every call of it, every verdict, the hashes of the messages beside the layers."""

    agent: str
    id: str
    at_ns: int
    channel: str
    sender: str = ""
    user: str = ""
    charter: str = ""
    charter_version: str = ""
    mode: str = ""
    outcome: Literal["done", "failed", "silent", "refused"] = "done"
    code: str = "OK"
    stack_sha256: str = ""
    payload_sha256: str = ""
    tools_sha256: str = ""
    manifest: str = field(default="{}", repr=False)
    counts: Mapping[str, int] = field(default_factory=dict)
    detail: str = field(default="{}", repr=False)


@dataclass(frozen=True, slots=True)
class Note:
    """A note about to be kept."""

    user: str
    text: str = field(repr=False)
    day: str
    provenance: Provenance = field(default=UNKNOWN, repr=False)


@dataclass(frozen=True, slots=True)
class Proposed:
    """A proposal about to be staged."""

    place: Place
    content: str = field(repr=False)
    base_version: int
    by: Author
    reason: str = field(repr=False)
    expires_at_ns: int


class Exchange(NamedTuple):
    """One past message of a chat and what was answered, whole; `seq` counts the exchanges with this sender (N-18).

    A turn reads a whole chat of them, and a tuple is made in a third of the time.
    """

    seq: int
    turn_id: str
    text: str
    reply: str

    def __repr__(self) -> str:
        return f"Exchange(seq={self.seq!r}, turn_id={self.turn_id!r})"


@dataclass(frozen=True, slots=True)
class Settled:
    """Everything a successful turn writes, at once: what it took, what it sent, what is remembered of it (S0-13),
    and what its tools changed; all of it or, when a text moved meanwhile, nothing and Conflict."""

    turn: TurnRecord
    replies: Sequence[OutboxMessage] = ()
    entries: Sequence[tuple[str, ConversationEntry]] = ()
    changes: Sequence[Change] = ()
    notes: Sequence[Note] = ()
    proposals: Sequence[Proposed] = ()


@dataclass(frozen=True, slots=True)
class LogRow:
    """One row of the change log; see `core/chain.py` for what its hash covers."""

    chain: str
    seq: int
    kind: str
    place: str
    version: int
    content_sha256: str
    actor: str
    at_ns: int
    detail: str
    prev_sha256: str
    sha256: str
    seal: str = ""
