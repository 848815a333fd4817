"""The store as one turn read it: what came later is not there, and what is gone since leaves a reason."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Final

from .core.carried import Carried
from .core.errors import NotStored
from .core.incoming import Incoming, sender_key
from .core.ports import AgentConfiguration
from .core.records import ConversationLog, Exchange, Head, InboxMessage, Memory, Place, StoredLayer, Version
from .stores.past import NotesThen, inbox_then

if TYPE_CHECKING:
    from .core.ports import Wanted
    from .kept import Kept
    from .stores.store import SqlStore

SEEN_AT_ONCE: Final = 200  # messages that a turn looks at
HEADING: Final = 64  # bytes of a layer that are probably not its text
CALLER: Final = "caller"  # where the piece of a calling application's own system text comes from
_ASKED: Final = ("tool_policy", "task", "session", "model", "provider")


class Past:
    """What a turn read, as far as it is still kept. `gone` says of a layer why its text is not as it was.

    In place of a text that is gone stands another of about its size: so whatever gives way to a limit is the same.
    """

    def __init__(self, store: SqlStore, kept: Kept) -> None:
        self._store = store
        self._kept = kept
        self.gone: dict[str, str] = {}

    def __repr__(self) -> str:
        return f"Past({self._kept.record.id!r})"

    def for_turn(self, want: Wanted) -> Past:
        return self

    # ── the message ───────────────────────────────────────────────────────────────────────────────────────────────

    @cached_property
    def taken(self) -> list[InboxMessage]:
        """The messages the turn answered, as far as they are kept."""
        record = self._kept.record
        if record.outcome != "failed":
            return self._store.messages_of(record.agent, record.id)
        mine = [message for message in self._waited if message.sender == record.sender]
        return mine[: record.counts.get("messages", 0)]

    @property
    def whole(self) -> bool:
        """Whether everything the turn answered is still kept."""
        return len(self.taken) == self._kept.record.counts.get("messages", 0)

    @property
    def forgotten(self) -> bool:
        """Whether the person who spoke was erased since: a message has a sender, and this turn has none any more."""
        record = self._kept.record
        return record.counts.get("messages", 0) > 0 and not record.sender and not record.user

    @property
    def incoming(self) -> Incoming:
        """The message as the turn had it, or one of about its size."""
        record, asked = self._kept.record, self._kept.detail.get("asked", {})
        return Incoming(
            channel=record.channel, sender=record.sender, text=self._text_asked, at=self._kept.at, agent=record.agent,
            user=record.user, mode=record.mode, carried=self._carried, operator=bool(asked.get("operator")),
            **{name: asked.get(name, "") for name in _ASKED},
        )  # fmt: skip

    @property
    def _text_asked(self) -> str:
        if self._kept.carried:
            return self._told
        return "\n\n".join(message.body for message in self.taken) if self.whole else "x"

    @cached_property
    def _told(self) -> str:
        """The message of a caller that keeps its chat: its exchange is in the log, as long as logs go back."""
        record = self._kept.record
        log = self._store.conversation(record.agent, record.sender)
        return next((entry.sender_body for entry in log.entries if entry.turn_id == record.id), "x") if log else "x"

    @property
    def _carried(self) -> Carried | None:
        """What the caller handed in, with other words: its own are not kept."""
        if not self._kept.carried:
            return None
        origins = ((one, [piece["origin"] for piece in one["pieces"]]) for one in self._kept.stack)
        entry = next((one for one, found in origins if CALLER in found), None)
        if entry is None:
            return Carried()
        self.gone[entry["id"]] = "what the calling application asked for is not kept, only its hash"
        return Carried(system="x" * max(entry["bytes"] - HEADING, 1))

    # ── layers ────────────────────────────────────────────────────────────────────────────────────────────────────

    def layer(self, agent: str, layer_id: str) -> StoredLayer | None:
        found = self.version(Place(agent, layer_id))
        if found is None:
            return None
        return StoredLayer(layer_id, self._text(layer_id, found), found.at_ns, found.by, found.version)

    def instructions(self, agent: str, user: str) -> str:
        if self.forgotten:
            self.gone["instructions"] = "it was erased with the person it belonged to"
        found = self.version(Place(agent, "instructions", user, Head.INSTRUCTIONS)) if user else None
        return self._text("instructions", found) if found else ""

    def instructions_version(self, agent: str, user: str) -> int:
        found = self.version(Place(agent, "instructions", user, Head.INSTRUCTIONS)) if user else None
        return found.version if found else 0

    def agent_configuration(self, agent: str) -> AgentConfiguration | None:
        soul = self.version(Place(agent, "soul", head=Head.SOUL))
        identity = self.version(Place(agent, "identity", head=Head.IDENTITY))
        if soul is None and identity is None:
            return None
        return AgentConfiguration(
            self._text("soul", soul) if soul else "",
            self._identity(identity) if identity else "",
            soul.version if soul else 0,
            identity.version if identity else 0,
        )

    def version(self, place: Place) -> Version | None:
        """The version the turn saw: the one its record names, else the one before its own, else the newest of then."""
        name = place.layer_id
        entry = self._kept.entry(name)
        number = int(entry["version"]) if entry and entry["version"].isdigit() else self._kept.wrote.get(name, 0) - 1
        if number < 0:
            return self._store.version_at(place, self._kept.read_ns)
        try:
            return self._store.version(place, number) if number else None
        except NotStored:
            if number > 1 or place.head is not Head.LAYER:  # the first of a layer is what the charter ships
                self.gone[name] = f"version {number} is not in this store"
            return None

    def _text(self, name: str, found: Version) -> str:
        if found.content is None:
            self.gone[name] = f"the text of version {found.version} was erased"
            entry = self._kept.entry(name)
            return "x" * max(entry["bytes"] - HEADING if entry else 1, 1)
        self._prove(name, found, found.content)
        return found.content

    def _identity(self, found: Version) -> str:
        if found.content is None:
            self.gone["identity"] = f"the text of version {found.version} was erased"
            return '{"name": "x"}'
        self._prove("identity", found, found.content)
        return found.content

    def _prove(self, name: str, found: Version, content: str) -> None:
        """A text that is not the one its history vouches for was changed behind the store's back."""
        if self._store.db.keys.proves(content, found.sha256, found.key_id) is False:
            self.gone[name] = f"the text of version {found.version} was tampered with; see: charter db verify"

    # ── messages ──────────────────────────────────────────────────────────────────────────────────────────────────

    @cached_property
    def _waited(self) -> list[InboxMessage]:
        return inbox_then(self._store.db, self._kept.record, self._kept.read_ns)

    @cached_property
    def _others(self) -> list[InboxMessage]:
        mine = {message.id for message in self.taken}
        return [message for message in self._waited if message.id not in mine]

    def staged(self, agent: str) -> Sequence[InboxMessage]:
        return self._others[:SEEN_AT_ONCE]

    def waiting(self, agent: str) -> int:
        return len(self._others)

    def conversation(self, agent: str, sender: str) -> ConversationLog | None:
        log, record = self._store.conversation(agent, sender), self._kept.record
        if log is None:
            return None
        here = next((index for index, entry in enumerate(log.entries) if entry.turn_id == record.id), None)
        entries = log.entries[:here] if here is not None else tuple(
            entry for entry in log.entries if (entry.timestamp_ns, entry.turn_id) < (record.at_ns, record.id)
        )  # fmt: skip
        return ConversationLog(log.sender, entries, log.last_activity_ns) if entries else None

    def exchanges(self, agent: str, sender: str) -> Sequence[Exchange]:
        """Those the turn read; which of them it sent, its record says."""
        record, seen = self._kept.record, frozenset(self._kept.detail.get("past", ()))
        if not seen:
            return ()
        found = self._store.exchanges_before(agent, sender_key(sender), record.id)
        return [exchange for exchange in found if exchange.seq in seen]

    # ── memory and people ─────────────────────────────────────────────────────────────────────────────────────────

    def recent(self, agent: str, user: str, limit: int) -> Sequence[Memory]:
        return self._notes(agent, user).recent(limit)

    def recall(self, agent: str, user: str, query: str, limit: int) -> Sequence[Memory]:
        return self._notes(agent, user).recall(query, limit) if self.whole else ()

    def _notes(self, agent: str, user: str) -> NotesThen:
        kept = self._kept
        own = kept.detail.get("wrote", {}).get("notes", 0)
        notes = NotesThen(self._store.db, agent, user, read_ns=kept.read_ns)
        return notes.without(own, at_ns=kept.record.at_ns, shown=self._shown)

    @property
    def _shown(self) -> frozenset[int]:
        origins = [piece["origin"] for entry in self._kept.stack for piece in entry["pieces"]]
        numbers = [origin.removeprefix("memory:") for origin in origins if origin.startswith("memory:")]
        return frozenset(int(number) for number in numbers if number.isdigit())

    def timezone(self, user: str) -> str | None:
        return self._store.timezone(user)
