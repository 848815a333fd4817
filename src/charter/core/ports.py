"""Every seam to the world, on one page: the core asks through these and imports nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, Protocol

from .dialogue import Reply
from .policy import ToolPolicy, Verdict
from .records import (
    UNKNOWN,
    Approval,
    Author,
    Change,
    Control,
    Conversation,
    ConversationEntry,
    ConversationLog,
    Decision,
    Exchange,
    InboxMessage,
    Label,
    LogRow,
    Memory,
    OutboxMessage,
    Place,
    Proposal,
    Provenance,
    Settled,
    StoredLayer,
    TurnRecord,
    Version,
)
from .served import Served
from .text import Facts
from .wire import Expected


class Template(Protocol):
    """A layer's wording, compiled. Values are encoded before they reach it."""

    @property
    def starts(self) -> frozenset[str]:
        """Names of the slots that stand at the start of a line."""

    @property
    def headings(self) -> tuple[str, ...]:
        """Heading lines the template writes; one that ends with a space goes on with a value."""

    @property
    def quick(self) -> Callable[[Facts], str | None]:
        """The fast way to the same bytes, for a template of text and slots with plain values; else None."""

    def render(self, values: Mapping[str, object]) -> str:
        """The text with encoded values in place; a name without a value is an error."""


class Counter(Protocol):
    """Counts tokens of UTF-8 text; `name` goes into the manifest."""

    @property
    def name(self) -> str: ...

    def __call__(self, data: bytes) -> int: ...


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool as a model is told of it; `left` is how often it may still be called this turn."""

    name: str
    description: str = field(default="", repr=False)
    parameters: Mapping[str, Any] = field(default_factory=dict, repr=False)
    left: int | None = None


# ── models ────────────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class Request:
    """One call of a model: the body that was assembled, what must be found in it, and how long it may take."""

    payload: Mapping[str, Any] = field(repr=False)
    expected: Expected = field(repr=False)
    timeout_s: float = 120.0
    stream: bool = False


class Provider(Protocol):
    """A model behind one wire format. It sends the payload as it is, or raises a ProviderError; it never retries
    elsewhere. `native_tools` says that calls travel beside the text; `window` is the model's, in tokens."""

    @property
    def name(self) -> str: ...

    @property
    def dialect(self) -> str: ...

    @property
    def model(self) -> str: ...

    @property
    def native_tools(self) -> bool: ...

    @property
    def window(self) -> int | None: ...

    def options(self, *, stream: bool, max_tokens: int) -> Mapping[str, Any]:
        """This provider's own fields of a body."""

    def converse(self, request: Request, hear: Callable[[str], None]) -> Reply:
        """The model's answer; `hear` gets the text part by part when the request streams, and may raise to stop it."""

    def close(self) -> None:
        """Lets go of connections, and of a model that was loaded."""


# ── tools ─────────────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class Tool:
    """What a model may call in one turn, made for that turn: whoever it acts for is closed over, never an argument.

    `own` says that it writes only what belongs to the person who speaks; `foreign`, that what it answers is text of
    others; `stages`, that it leaves its change to a person by itself when the turn is tainted (N-09); `inside`, that it
    is part of Charter and cannot hang.
    """

    spec: ToolSpec
    policy: ToolPolicy
    call: Callable[[Mapping[str, Any]], str] = field(repr=False)
    own: bool = False
    foreign: bool = True
    stages: bool = False
    inside: bool = False


class Acting(Protocol):
    """In whose name the tools of a turn act; writes are kept and done at the turn's end, all or none."""

    @property
    def agent(self) -> str: ...

    @property
    def user(self) -> str: ...

    @property
    def at(self) -> datetime: ...

    def amend(self, layer_id: str, content: str) -> str:
        """Writes a layer of the agent's own, or stages it for a person; a sentence that says which. Else Refused."""

    def propose(self, layer_id: str, content: str, reason: str) -> str:
        """Stages a change of a layer for a person; a sentence that says so. Else Refused."""

    def instruct(self, instructions: str) -> str:
        """Replaces the user's standing instructions, or stages it; a sentence that says which. Else Refused."""

    def instructions(self) -> str:
        """The user's standing instructions, whole."""

    def remember(self, text: str) -> str:
        """Keeps a note; a sentence that says so."""

    def recall(self, query: str, limit: int) -> Sequence[Memory]:
        """Notes that fit the query best; the newest without one."""

    def skill(self, name: str) -> str | None:
        """A skill's whole text, None when there is none of this name."""


class Approver(Protocol):
    """A person who may say yes to one call; `by` is who they are."""

    @property
    def by(self) -> Author: ...

    def ask(self, wanted: Approval) -> Verdict:
        """allow, or deny; `ask` when nobody is there to say, and it waits."""


# ── stores ────────────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class AgentConfiguration:
    """What an operator set for an agent: its soul, and its identity as JSON text; version 0 is not set."""

    soul: str = field(repr=False)
    identity: str = field(repr=False)
    soul_version: int = 0
    identity_version: int = 0


Part = Literal["layers", "instructions", "timezone", "agent", "inbox", "history", "talk", "recent", "recall"]


@dataclass(frozen=True, slots=True)
class Wanted:
    """What one turn reads, asked at once: for whom, and which parts its sources need."""

    agent: str
    parts: tuple[Part, ...]
    user: str = ""
    sender: str = ""
    query: str = field(default="", repr=False)
    label: str = ""
    history: int = 20
    recent: int = 20
    recent_of: str = ""


class Reads(Protocol):
    """What a turn reads. Every key has its owner in it, so no call can reach another's rows."""

    def layer(self, agent: str, layer_id: str) -> StoredLayer | None: ...

    def staged(self, agent: str) -> Sequence[InboxMessage]: ...

    def waiting(self, agent: str) -> int: ...

    def conversation(self, agent: str, sender: str) -> ConversationLog | None: ...

    def exchanges(self, agent: str, sender: str) -> Sequence[Exchange]:
        """The last 20 exchanges of a chat since it began anew, whole, oldest first."""

    def recent(self, agent: str, user: str, limit: int) -> Sequence[Memory]: ...

    def recall(self, agent: str, user: str, query: str, limit: int) -> Sequence[Memory]: ...

    def instructions(self, agent: str, user: str) -> str: ...

    def instructions_version(self, agent: str, user: str) -> int:
        """The version of a user's instructions; 0 when there are none."""

    def timezone(self, user: str) -> str | None: ...

    def agent_configuration(self, agent: str) -> AgentConfiguration | None: ...


class Readable(Protocol):
    """What a prompt needs of a store."""

    def for_turn(self, want: Wanted) -> Reads:
        """Everything a turn reads, in one round trip."""


class Store(Reads, Readable, Served, Protocol):
    """Where what changes is kept; for tokens, schedules and peers see `core/served.py`. Every write is all or nothing;
    `charter.testing.check_store` holds a store to it."""

    # layers: the one write is `commit`, called by amend alone
    def head(self, place: Place) -> StoredLayer | None: ...

    def commit(self, change: Change) -> StoredLayer: ...

    def history(self, place: Place) -> Sequence[Version]: ...

    def version(self, place: Place, number: int) -> Version: ...

    def version_at(self, place: Place, at_ns: int) -> Version | None:
        """The newest version that was there at this time."""

    def set_label(self, place: Place, label: str, number: int, *, by: Author, at_ns: int) -> Label: ...

    def labels(self, agent: str) -> Sequence[Label]: ...

    def refuse(self, place: Place, code: str, *, by: Author, at_ns: int) -> None:
        """Records that a change was refused, and why."""

    # proposals
    def propose(
        self, place: Place, content: str, *, base_version: int, by: Author, reason: str, at_ns: int, expires_at_ns: int
    ) -> Proposal: ...

    def proposals(self, agent: str = "", state: str = "") -> Sequence[Proposal]: ...

    def proposal(self, name: str) -> Proposal: ...

    def apply(self, decision: Decision) -> StoredLayer: ...

    def close_proposal(self, decision: Decision, state: Literal["rejected", "expired"]) -> Proposal: ...

    def expire(self, at_ns: int) -> int:
        """Ends every proposal and approval whose time is over; how many."""

    # approvals: the hash of a call is made by who asks; who decides is a person, which the caller makes sure of
    def request_approval(self, wanted: Approval) -> Approval:
        """Has a call wait for a person; the one that waits already for the very same call, if there is one."""

    def approvals(self, agent: str = "", state: str = "") -> Sequence[Approval]: ...

    def approval(self, name: str) -> Approval: ...

    def decide_approval(
        self, name: str, sha256: str, verdict: Literal["approved", "denied"], *, by: Author, at_ns: int
    ) -> Approval: ...

    def use_approval(self, agent: str, user: str, tool: str, sha256: str, turn_id: str, at_ns: int) -> Approval | None:
        """Takes one approval of exactly this call, once; None when there is none to take."""

    # the stop switch and the day's spending; `day` is YYYY-MM-DD in UTC
    def control(self, agent: str, day: str) -> Control: ...

    def pause(self, agent: str, *, by: Author, at_ns: int, reason: str = "") -> None: ...

    def resume(self, agent: str, *, by: Author, at_ns: int) -> None: ...

    def limit(
        self, agent: str, *, by: Author, at_ns: int, tokens_per_day: int | None, turns_per_day: int | None
    ) -> None: ...

    # messages and turns
    def stage(self, agent: str, message: InboxMessage) -> bool: ...

    def take(
        self, agent: str, turn_id: str, *, lane: str = "", sender: str = "", message: InboxMessage | None = None,
        at_ns: int, lease_ns: int, max_senders: int = 5, max_messages: int = 20, day: str = "",
        may: Callable[[Control], None] | None = None,
    ) -> Sequence[InboxMessage]:  # fmt: skip
        """Begins a turn: Busy when another has the lane, Paused when a person stopped the agent. `lane` is a sender,
        or empty for the whole agent; with `sender`, only messages of that one are taken. A `message` is staged too,
        in the same transaction; it waits when the lane is another's, and is not staged when the agent is paused.
        `may` is asked first, with the agent's control on this `day`; what it raises is raised, and nothing is done."""

    def lapse(self, agent: str, at_ns: int) -> int:
        """Ends leases that are over: what a turn that died had taken waits again. How many there were."""

    def settle(self, settled: Settled) -> None: ...

    def fail(self, turn: TurnRecord) -> None: ...

    def unsent(self, agent: str) -> Sequence[tuple[str, OutboxMessage]]: ...

    def mark_sent(self, agent: str, turn_id: str, reply: OutboxMessage, at_ns: int) -> bool: ...

    def append_conversation(self, agent: str, sender: str, entry: ConversationEntry) -> None: ...

    def conversations(self, agent: str) -> Sequence[Conversation]: ...

    def fresh_start(self, agent: str, sender: str, at_ns: int) -> None:
        """A chat with this sender begins anew here."""

    def exchanges_before(self, agent: str, sender: str, turn_id: str) -> Sequence[Exchange]:
        """What a turn could read of its chat, as far as it is still kept."""

    def messages_of(self, agent: str, turn_id: str) -> Sequence[InboxMessage]:
        """What a turn took and dealt with, as far as it is still kept."""

    def turn(self, agent: str, turn_id: str) -> TurnRecord: ...

    def turns(self, agent: str, limit: int = 50) -> Sequence[TurnRecord]: ...

    # memory and people
    def remember(
        self, agent: str, user: str, text: str, *, day: str, at_ns: int = 0, provenance: Provenance = UNKNOWN
    ) -> Memory: ...

    def revoke(self, agent: str, source: str, *, by: Author, at_ns: int) -> int: ...

    def forget_note(self, agent: str, user: str, note: str, *, by: Author, at_ns: int) -> None: ...

    def sources(self, agent: str) -> Sequence[tuple[str, int]]: ...

    def set_timezone(self, user: str, zone: str) -> None: ...

    def log(self, chain: str, after: int = 0) -> Sequence[LogRow]: ...

    def chains(self) -> Sequence[str]: ...

    def close(self) -> None: ...


class Vitals(Protocol):
    """How the agent is doing: one call, plain values."""

    def read(self) -> Mapping[str, str | int | float]: ...
