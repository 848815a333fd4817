"""The one way to write a layer: who may, how long, what it says, on which version; then a new version and its proof."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from .core.errors import BadValue, Conflict, NotStored, Refused
from .core.layer import Layer
from .core.policy import Actor, Verdict, may_write
from .core.ports import Store
from .core.records import INIT, Author, Change, Decision, Head, Place, Proposal, Proposed, StoredLayer, Version
from .guards import Context, check_update

MAX_CHARS = 100_000
PROPOSAL_NS = 7 * 24 * 3600 * 10**9

REMEMBERED = 6  # versions a guard is shown, to see a text worn away step by step


class Guard(Protocol):
    """The gate over what a layer is to say; `context` is what it said before."""

    def __call__(self, target: str, content: str, *, context: Context | None = None) -> Verdict: ...


class Governed(Protocol):
    """What amend needs to know of a charter."""

    def agent(self, name: str = "") -> str:
        """This agent, or the charter's own when none is named."""

    def stored(self, layer_id: str, *, agent: str = "", user: str = "") -> tuple[Layer, Place]:
        """The layer and where its text is kept; an error when the charter has no such layer, or keeps it in a file."""

    def shipped(self, layer_id: str) -> str:
        """The text a layer starts with; empty when it starts with nothing."""

    def seeded(self) -> tuple[str, ...]:
        """The layers that start with a shipped text."""

    def has_room(self, layer_id: str, content: str) -> bool:
        """Whether this text could ever be shown whole inside the charter's limits."""


@dataclass(frozen=True, slots=True)
class Edit:
    """A text for a layer, made on a version of it."""

    layer_id: str
    content: str = field(repr=False)
    expected_version: int
    agent: str = ""
    user: str = ""
    reason: str = field(default="", repr=False)


def amend(
    store: Store,
    charter: Governed,
    edit: Edit,
    *,
    by: Author,
    at_ns: int,
    guard: Guard = check_update,
    tainted: bool = False,
) -> StoredLayer | Proposal:
    """Writes the next version, or stages it for a person; what is not allowed is Refused and recorded as refused.

    `tainted` says that text of others entered the turn: then even an allowed write becomes a proposal (N-09).
    """
    ready = prepare(store, charter, edit, by=by, at_ns=at_ns, guard=guard, tainted=tainted)
    if isinstance(ready, Change):
        return store.commit(ready)
    return store.propose(
        ready.place, ready.content, base_version=ready.base_version, by=by, reason=ready.reason, at_ns=at_ns,
        expires_at_ns=ready.expires_at_ns,
    )  # fmt: skip


def prepare(
    store: Store,
    charter: Governed,
    edit: Edit,
    *,
    by: Author,
    at_ns: int,
    guard: Guard = check_update,
    tainted: bool = False,
) -> Change | Proposed:
    """What amend is about to write, judged by every gate and not written yet: a turn writes at its end."""
    layer, place = _place(store, charter, edit, by, at_ns)
    content = edit.content.strip()
    verdict = _judge(charter, layer, content, by, _Seen(place, store, guard, by))
    if verdict.decision == "deny":
        store.refuse(place, verdict.code, by=by, at_ns=at_ns)
        raise Refused(verdict.code, verdict.reason)
    seed(store, charter, place, at_ns)
    if verdict.decision == "ask" or tainted:
        _at_version(store, place, edit.expected_version)
        return Proposed(place, content, edit.expected_version, by, edit.reason, at_ns + PROPOSAL_NS)
    return Change(place, content, edit.expected_version, by, at_ns)


def _place(store: Store, charter: Governed, edit: Edit, by: Author, at_ns: int) -> tuple[Layer, Place]:
    """Where the text is kept; an attempt at one that is not stored, a sealed one above all, is recorded too."""
    try:
        return charter.stored(edit.layer_id, agent=edit.agent, user=edit.user)
    except Refused as error:
        store.refuse(Place(charter.agent(edit.agent), edit.layer_id), error.code, by=by, at_ns=at_ns)
        raise


def seed(store: Store, charter: Governed, place: Place, at_ns: int) -> None:
    """The shipped text as version 1, by `init`, if there is no record yet; a later start never overwrites (S0-03)."""
    shipped = charter.shipped(place.layer_id) if place.head is Head.LAYER else ""
    if shipped and store.head(place) is None:
        with contextlib.suppress(Conflict):  # another process seeded it first
            store.commit(Change(place, shipped, 0, INIT, at_ns, "seed"))


def seed_all(store: Store, charter: Governed, agent: str, at_ns: int) -> None:
    """Every layer that starts with a shipped text."""
    for layer_id in charter.seeded():
        seed(store, charter, charter.stored(layer_id, agent=agent)[1], at_ns)


@dataclass(frozen=True, slots=True)
class _Seen:
    """A place with what a guard may know of it."""

    place: Place
    store: Store
    guard: Guard
    by: Author

    def judge(self, layer_id: str, content: str) -> Verdict:
        """The guard's verdict; an operator, who would have to approve it, is not asked to propose."""
        verdict = self.guard(layer_id, content, context=self._context())
        return Verdict("allow") if verdict.decision == "ask" and self.by.actor is Actor.OPERATOR else verdict

    def _context(self) -> Context:
        head = self.store.head(self.place)
        if head is None:
            return Context(by=str(self.by.actor))
        numbers = range(max(1, head.version - REMEMBERED + 1), head.version)
        older = [self.store.version(self.place, number).content for number in numbers]
        return Context(head.content or "", tuple(text for text in older if text), str(self.by.actor))


def _judge(charter: Governed, layer: Layer, content: str, by: Author, seen: _Seen) -> Verdict:
    """Every gate in order; the first that denies decides, else the first that asks."""
    place = seen.place
    gates: tuple[Callable[[], Verdict], ...] = (
        lambda: _may(layer, by),
        lambda: _own(place, by),
        lambda: _size(layer, place, content),
        lambda: seen.judge(layer.id, content),
        lambda: _room(charter, layer, content),
    )
    asked = None
    for gate in gates:
        verdict = gate()
        if verdict.decision == "deny":
            return verdict
        asked = asked or (verdict if verdict.decision == "ask" else None)
    return asked or Verdict("allow")


def _may(layer: Layer, by: Author) -> Verdict:
    if isinstance(by.actor, Actor):
        return may_write(by.actor, layer)
    return Verdict("deny", "LAYER_NOT_WRITABLE", "only an operator, the agent or a user changes a layer")


def _own(place: Place, by: Author) -> Verdict:
    """A user writes their own texts and nobody else's (S4-07)."""
    if by.actor is Actor.USER and by.name != place.user:
        return Verdict("deny", "LAYER_OF_ANOTHER", "a user may change only what is their own")
    if place.head is Head.INSTRUCTIONS and not place.user:
        return Verdict("deny", "USER_MISSING", "instructions belong to a user; name one")
    return Verdict("allow")


def _size(layer: Layer, place: Place, content: str) -> Verdict:
    limit = layer.max_content or MAX_CHARS
    if not content and place.head is not Head.INSTRUCTIONS:
        return Verdict("deny", "LAYER_EMPTY", f"{layer.id}: a text of 1 to {limit:,} characters; this one is empty")
    if len(content) > limit:
        reason = f"{layer.id}: at most {limit:,} characters; this one has {len(content):,}"
        return Verdict("deny", "LAYER_TOO_LONG", reason)
    return Verdict("allow")


def _room(charter: Governed, layer: Layer, content: str) -> Verdict:
    if charter.has_room(layer.id, content):
        return Verdict("allow")
    return Verdict("deny", "LAYER_NEVER_WHOLE", f"{layer.id}: could never be shown whole inside the charter's limits")


def _at_version(store: Store, place: Place, expected: int) -> None:
    head = store.head(place)
    current = head.version if head else 0
    if current != expected:
        raise Conflict(place.layer_id, expected=expected, current=current)


# ── going back ────────────────────────────────────────────────────────────────────────────────────────────────────


def rollback(
    store: Store, charter: Governed, edit: Edit, *, to: int, by: Author, at_ns: int, bury: bool = False,
    guard: Guard = check_update,
) -> StoredLayer:  # fmt: skip
    """An older text as a new version; a later edit by a person is not buried unless `bury` says so.

    `edit` names the layer and the version it is at; its content is not used.
    """
    layer, place = _place(store, charter, edit, by, at_ns)
    old = store.version(place, to)
    if old.content is None:
        raise NotStored(f"text of {edit.layer_id}@{to} any more: it was erased")
    verdict = _judge(charter, layer, old.content, by, _Seen(place, store, guard, by))
    if verdict.decision == "allow":
        verdict = _buries(layer, store.history(place), to, by, bury)
    if verdict.decision != "allow":
        store.refuse(place, verdict.code, by=by, at_ns=at_ns)
        raise Refused(verdict.code, verdict.reason)
    return store.commit(Change(place, old.content, edit.expected_version, by, at_ns, "rollback", to))


def _buries(layer: Layer, history: Sequence[Version], to: int, by: Author, bury: bool) -> Verdict:
    people = [row.version for row in history if row.version > to and row.actor in ("operator", "user")]
    if people and (not bury or by.actor is Actor.AGENT):
        reason = f"{layer.id}@{people[-1]} was written by a person; say --bury to go below it"
        return Verdict("deny", "BURIES_HUMAN_EDIT", reason)
    return Verdict("allow")


# ── proposals ─────────────────────────────────────────────────────────────────────────────────────────────────────


def approve(
    store: Store,
    charter: Governed,
    decision: Decision,
    *,
    guard: Guard = check_update,
    authorize: Callable[[Proposal, Decision], None] | None = None,
) -> StoredLayer:
    """Applies a proposal as the person saw it, once; what a gate denies today is denied, whenever it was proposed."""
    found = store.proposal(decision.proposal_id)
    layer, place = charter.stored(found.place.layer_id, agent=found.place.agent, user=found.place.user)
    _person(found, decision)
    if authorize is not None:
        authorize(found, decision)
    proposer = _judge(charter, layer, found.content or "", found.by, _Seen(place, store, guard, found.by))
    if proposer.decision == "deny" and found.state == "open" and found.content is not None:
        store.refuse(place, proposer.code, by=decision.by, at_ns=decision.at_ns)
        raise Refused(proposer.code, proposer.reason)
    return store.apply(decision)


def reject(store: Store, decision: Decision) -> Proposal:
    """Ends a proposal; nothing changes."""
    _person(store.proposal(decision.proposal_id), decision)
    return store.close_proposal(decision, "rejected")


def _person(found: Proposal, decision: Decision) -> None:
    """A person decides: an operator, or the user whose text it is; never the agent (N-04)."""
    by = decision.by
    if by.actor is Actor.OPERATOR and by.name:
        return
    if by.actor is Actor.USER and by.name and by.name == found.place.user:
        return
    raise Refused("APPROVER_NOT_A_PERSON", "an operator decides, or the user whose text it is; never the agent")


def label(
    store: Store, charter: Governed, name: str, layers: Mapping[str, int], *, agent: str, by: Author, at_ns: int
) -> int:
    """Gives versions of an agent's layers a name; how many. Only an operator names."""
    if by.actor is not Actor.OPERATOR:
        raise Refused("LABEL_NOT_ALLOWED", "only an operator names versions")
    if not layers:
        raise BadValue("layers", "no layer was named")
    for layer_id, version in layers.items():
        store.set_label(charter.stored(layer_id, agent=agent)[1], name, version, by=by, at_ns=at_ns)
    return len(layers)
