"""In whose name tools act: this user, this agent, this turn; what they write is kept and written at the turn's end."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Protocol

from .amend import Edit, Governed, Guard, prepare
from .core.errors import BadValue, Refused
from .core.incoming import nanoseconds
from .core.policy import Actor
from .core.ports import Store
from .core.records import Author, Change, Head, Memory, Note, Place, Proposed, Provenance

if TYPE_CHECKING:
    from .core.incoming import Incoming

NOTE_CHARS = 4000


class Layered(Governed, Protocol):
    """What a turn's tools need to know of a charter, beside what amend does."""

    def layer_named(self, name: str) -> str:
        """The id of a layer, by its id or its label."""

    @property
    def own_memory(self) -> bool:
        """Whether the agent keeps one memory of its own, not one per person."""


class InTurn:
    """The tools' way to the store for one turn. Its writes are read by the turn when it ends."""

    def __init__(
        self,
        charter: Layered,
        store: Store,
        incoming: Incoming,
        *,
        agent: str,
        turn: str,
        guard: Guard,
        versions: Callable[[str], int | None] = lambda _: None,
        skills: Callable[[str], str | None] = lambda _: None,
    ) -> None:
        self.agent = agent
        self.user = incoming.owner
        self.at: datetime = incoming.time.astimezone(UTC)
        self.at_ns = nanoseconds(self.at)
        self.versions = versions
        self.foreign: list[str] = []
        self.changes: dict[Place, Change] = {}
        self.proposals: list[Proposed] = []
        self.notes: list[Note] = []
        self._charter = charter
        self._store = store
        self._incoming = incoming
        self._turn = turn
        self._guard = guard
        self._skills = skills

    def __repr__(self) -> str:
        return f"InTurn({self.agent!r}, {len(self.changes)} changes, {len(self.notes)} notes)"

    # ── taint (N-09) ──────────────────────────────────────────────────────────────────────────────────────────────

    @property
    def may_amend(self) -> bool:
        """Whether the agent may change its own layers now: an operator speaks, or nobody does; and nothing of others
        was read."""
        return not self.foreign and (self._incoming.operator or not self._incoming.text)

    @property
    def tainted(self) -> bool:
        """Whether text of others entered this turn; a person's own words do not taint what is their own."""
        return bool(self.foreign)

    def entered(self, whose: str) -> None:
        """Text of others entered the turn, and it stays so until the turn ends."""
        if whose not in self.foreign:
            self.foreign.append(whose)

    # ── layers ────────────────────────────────────────────────────────────────────────────────────────────────────

    def amend(self, layer_id: str, content: str) -> str:
        return self._change(self._edit(layer_id, content), Author(Actor.AGENT, turn=self._turn), not self.may_amend)

    def propose(self, layer_id: str, content: str, reason: str) -> str:
        edit = replace(self._edit(layer_id, content), reason=reason)
        return self._change(edit, Author(Actor.AGENT, turn=self._turn), True)

    def _edit(self, layer_id: str, content: str) -> Edit:
        name = self._charter.layer_named(layer_id)
        seen = self.versions(name)
        return Edit(name, content, self._version(name, "") if seen is None else seen, agent=self.agent)

    def instruct(self, instructions: str) -> str:
        if not self.user:
            raise Refused("USER_MISSING", "nobody is speaking, so there is nobody whose instructions these are")
        seen = self.versions("instructions")
        version = self._version("instructions", self.user) if seen is None else seen
        edit = Edit("instructions", instructions, version, agent=self.agent, user=self.user)
        return self._change(edit, Author(Actor.USER, self.user, self._turn), self.tainted)

    def _version(self, layer_id: str, user: str) -> int:
        """The version a change is made on; a layer that is not stored yet is seeded as version 1 by the change."""
        try:
            _, place = self._charter.stored(layer_id, agent=self.agent, user=user)
        except Refused:
            return 0  # the change itself is refused, and that is recorded
        head = self._store.head(place)
        if head is None:
            return 1 if place.head is Head.LAYER and self._charter.shipped(layer_id) else 0
        return head.version

    def _change(self, edit: Edit, by: Author, staged: bool) -> str:
        ready = prepare(
            self._store, self._charter, edit, by=by, at_ns=self.at_ns, guard=self._guard, tainted=staged
        )  # fmt: skip
        if isinstance(ready, Proposed):
            self.proposals.append(ready)
            return f"{edit.layer_id}: staged as a proposal; a person will approve or reject it. Nothing changed yet."
        self.changes[ready.place] = ready  # a second text in one turn stands in place of the first
        return f"{edit.layer_id}: saved as version {ready.expected_version + 1}, used from the next turn on."

    def instructions(self) -> str:
        for place, change in self.changes.items():
            if place.head is Head.INSTRUCTIONS:
                return change.content
        return self._store.instructions(self.agent, self.user) if self.user else ""

    # ── memory ────────────────────────────────────────────────────────────────────────────────────────────────────

    @property
    def memory_of(self) -> str:
        """Whose memory it is: the agent's own, or that of the person who speaks."""
        return "" if self._charter.own_memory else self.user

    def remember(self, text: str) -> str:
        said = text.strip()
        if not said or len(said) > NOTE_CHARS:
            raise BadValue("text", f"a note has 1 to {NOTE_CHARS:,} characters; this one has {len(said):,}")
        self.notes.append(Note(self.memory_of, said, self.at.date().isoformat(), self._provenance()))
        return "Saved."

    def _provenance(self) -> Provenance:
        """Who said it, through which channel, from what sort of source (N-10)."""
        incoming = self._incoming
        if self.foreign:
            kind, source = "tool", f"turn:{self._turn}"
        elif not incoming.text:
            kind, source = "agent", f"turn:{self._turn}"
        elif incoming.operator:
            kind, source = "operator", f"operator:{self.user}"
        else:
            kind, source = ("user", f"user:{self.user}") if self.memory_of else ("sender", f"sender:{self.user}")
        return Provenance(self.user, incoming.channel, kind, source)  # type: ignore[arg-type]

    def recall(self, query: str, limit: int) -> Sequence[Memory]:
        fresh = [Memory("new", note.text, note.day, note.provenance) for note in self.notes]
        if not query.strip():
            return [*fresh, *self._store.recent(self.agent, self.memory_of, limit)][:limit]
        return [*fresh, *self._store.recall(self.agent, self.memory_of, query, limit)][:limit]

    def skill(self, name: str) -> str | None:
        return self._skills(name)
