"""One store over either database: each method is one function of the modules beside it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

from ..core.ports import AgentConfiguration, Wanted
from ..core.records import (
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
    Head,
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
from ..core.served import Peer, Run, RunState, Schedule, Token
from ..zones import time_zone
from . import (
    approvals,
    controls,
    conversations,
    layers,
    log,
    messages,
    notes,
    outbox,
    peers,
    proposals,
    schedules,
    tokens,
    turns,
)
from .database import Database, is_storable, named, one, when
from .reading import TurnReads, for_turn


class SqlStore:
    """Layers, proposals, approvals, messages, chats, memory, turns and people, each under whom they belong to."""

    def __init__(self, db: Database) -> None:
        self.db = db

    def __repr__(self) -> str:
        return f"SqlStore({self.db!r})"

    def __enter__(self) -> SqlStore:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self.db.close()

    def for_turn(self, want: Wanted) -> TurnReads:
        return for_turn(self.db, want)

    # ── layers ────────────────────────────────────────────────────────────────────────────────────────────────────

    def layer(self, agent: str, layer_id: str) -> StoredLayer | None:
        return layers.head(self.db, Place(agent, layer_id))

    def head(self, place: Place) -> StoredLayer | None:
        return layers.head(self.db, place)

    def commit(self, change: Change) -> StoredLayer:
        return layers.commit(self.db, change)

    def history(self, place: Place) -> list[Version]:
        return layers.history(self.db, place)

    def version(self, place: Place, number: int) -> Version:
        return layers.version(self.db, place, number)

    def version_at(self, place: Place, at_ns: int) -> Version | None:
        return layers.version_at(self.db, place, at_ns)

    def set_label(self, place: Place, label: str, number: int, *, by: Author, at_ns: int) -> Label:
        return layers.set_label(self.db, place, label, number, by, at_ns)

    def labels(self, agent: str) -> list[Label]:
        return layers.labels(self.db, agent)

    def refuse(self, place: Place, code: str, *, by: Author, at_ns: int) -> None:
        chain = log.chain_at(self.db, place)
        named("user", place.user, empty=True)
        with self.db.writing(chain) as run:
            log.append(
                self.db, run, chain, kind="refuse", place=named("layer", place.layer_id), detail=code,
                at_ns=when("at", at_ns),
                actor=log.actor_of(self.db, by, personal=bool(place.user)),
            )  # fmt: skip

    def log(self, chain: str, after: int = 0) -> list[LogRow]:
        return log.rows(self.db, chain, after)

    def chains(self) -> list[str]:
        return [row[0] for row in self.db.read("SELECT chain FROM chain_heads ORDER BY chain")]

    # ── proposals ─────────────────────────────────────────────────────────────────────────────────────────────────

    def propose(
        self, place: Place, content: str, *, base_version: int, by: Author, reason: str, at_ns: int, expires_at_ns: int
    ) -> Proposal:
        return proposals.propose(
            self.db, place, content,
            base_version=base_version, by=by, reason=reason, at_ns=at_ns, expires_at_ns=expires_at_ns,
        )  # fmt: skip

    def proposals(self, agent: str = "", state: str = "") -> list[Proposal]:
        return proposals.proposals(self.db, agent, state)

    def proposal(self, name: str) -> Proposal:
        return proposals.proposal(self.db, name)

    def apply(self, decision: Decision) -> StoredLayer:
        return proposals.apply(self.db, decision)

    def close_proposal(self, decision: Decision, state: Literal["rejected", "expired"]) -> Proposal:
        return proposals.close(self.db, decision, state)

    def expire(self, at_ns: int) -> int:
        return proposals.expire(self.db, at_ns) + approvals.expire(self.db, at_ns)

    # ── approvals and the stop switch ─────────────────────────────────────────────────────────────────────────────

    def request_approval(self, wanted: Approval) -> Approval:
        return approvals.request_approval(self.db, wanted)

    def approvals(self, agent: str = "", state: str = "") -> list[Approval]:
        return approvals.approvals(self.db, agent, state)

    def approval(self, name: str) -> Approval:
        return approvals.approval(self.db, name)

    def decide_approval(
        self, name: str, sha256: str, verdict: Literal["approved", "denied"], *, by: Author, at_ns: int
    ) -> Approval:
        return approvals.decide_approval(self.db, name, sha256, verdict, by=by, at_ns=at_ns)

    def use_approval(self, agent: str, user: str, tool: str, sha256: str, turn_id: str, at_ns: int) -> Approval | None:
        return approvals.use_approval(self.db, agent, user, tool, sha256, turn_id, at_ns)

    def control(self, agent: str, day: str) -> Control:
        return controls.control(self.db, agent, day)

    def pause(self, agent: str, *, by: Author, at_ns: int, reason: str = "") -> None:
        controls.pause(self.db, agent, by=by, at_ns=at_ns, reason=reason)

    def resume(self, agent: str, *, by: Author, at_ns: int) -> None:
        controls.resume(self.db, agent, by=by, at_ns=at_ns)

    def limit(
        self, agent: str, *, by: Author, at_ns: int, tokens_per_day: int | None, turns_per_day: int | None
    ) -> None:
        controls.limit(
            self.db, agent, by=by, at_ns=at_ns, tokens_per_day=tokens_per_day, turns_per_day=turns_per_day
        )  # fmt: skip

    # ── messages and turns ────────────────────────────────────────────────────────────────────────────────────────

    def stage(self, agent: str, message: InboxMessage) -> bool:
        return messages.stage(self.db, agent, message)

    def staged(self, agent: str) -> list[InboxMessage]:
        return messages.staged(self.db, agent)

    def waiting(self, agent: str) -> int:
        return messages.waiting(self.db, agent)

    def take(
        self, agent: str, turn_id: str, *, lane: str = "", sender: str = "", message: InboxMessage | None = None,
        at_ns: int, lease_ns: int, max_senders: int = 5, max_messages: int = 20, day: str = "",
        may: Callable[[Control], None] | None = None,
    ) -> list[InboxMessage]:  # fmt: skip
        return messages.take(
            self.db, agent, turn_id,
            lane=lane, sender=sender, message=message, at_ns=at_ns, lease_ns=lease_ns, max_senders=max_senders,
            max_messages=max_messages, day=day, may=may,
        )  # fmt: skip

    def renew(self, agent: str, turn_id: str, *, until_ns: int) -> bool:
        return messages.renew(self.db, agent, turn_id, until_ns=until_ns)

    def next_of_each(self, agent: str) -> list[InboxMessage]:
        return messages.next_of_each(self.db, agent)

    def answered_by(self, agent: str, message_id: str) -> str | None:
        return messages.answered_by(self.db, agent, message_id)

    def lapse(self, agent: str, at_ns: int) -> int:
        return messages.lapse(self.db, agent, at_ns)

    def settle(self, settled: Settled) -> None:
        messages.settle(self.db, settled)

    def fail(self, turn: TurnRecord) -> None:
        messages.fail(self.db, turn)

    def unsent(self, agent: str) -> list[tuple[str, OutboxMessage]]:
        return outbox.unsent(self.db, agent)

    def mark_sent(self, agent: str, turn_id: str, reply: OutboxMessage, at_ns: int) -> bool:
        return outbox.mark_sent(self.db, agent, turn_id, reply, at_ns)

    def unsent_of(self, agent: str, channel: str) -> list[tuple[str, OutboxMessage]]:
        return outbox.unsent_of(self.db, agent, channel)

    def replies(
        self, agent: str, recipient: str, *, turn_id: str = "", limit: int = 50
    ) -> list[tuple[str, OutboxMessage]]:
        return outbox.replies(self.db, agent, recipient, turn_id=turn_id, limit=limit)

    def append_conversation(self, agent: str, sender: str, entry: ConversationEntry) -> None:
        conversations.append_conversation(self.db, agent, sender, entry)

    def conversation(self, agent: str, sender: str) -> ConversationLog | None:
        return conversations.conversation(self.db, agent, sender)

    def conversations(self, agent: str) -> list[Conversation]:
        return conversations.conversations(self.db, agent)

    def exchanges(self, agent: str, sender: str) -> Sequence[Exchange]:
        return for_turn(self.db, Wanted(agent, ("talk",), sender=sender)).exchanges(agent, sender)

    def exchanges_before(self, agent: str, sender: str, turn_id: str) -> list[Exchange]:
        return conversations.exchanges_before(self.db, agent, sender, turn_id)

    def fresh_start(self, agent: str, sender: str, at_ns: int) -> None:
        conversations.fresh_start(self.db, agent, sender, at_ns)

    def messages_of(self, agent: str, turn_id: str) -> list[InboxMessage]:
        return messages.messages_of(self.db, agent, turn_id)

    def turn(self, agent: str, turn_id: str) -> TurnRecord:
        return turns.turn(self.db, agent, turn_id)

    def turns(self, agent: str, limit: int = 50) -> list[TurnRecord]:
        return turns.turns(self.db, agent, limit)

    # ── memory ────────────────────────────────────────────────────────────────────────────────────────────────────

    def remember(
        self, agent: str, user: str, text: str, *, day: str, at_ns: int = 0, provenance: Provenance = UNKNOWN
    ) -> Memory:
        return notes.remember(self.db, agent, user, text, day=day, at_ns=at_ns, provenance=provenance)

    def recent(self, agent: str, user: str, limit: int) -> Sequence[Memory]:
        return notes.recent(self.db, agent, user, limit)

    def recall(self, agent: str, user: str, query: str, limit: int) -> Sequence[Memory]:
        return notes.recall(self.db, agent, user, query, limit)

    def revoke(self, agent: str, source: str, *, by: Author, at_ns: int) -> int:
        return notes.revoke(self.db, agent, source, by=by, at_ns=at_ns)

    def forget_note(self, agent: str, user: str, note: str, *, by: Author, at_ns: int) -> None:
        notes.forget_note(self.db, agent, user, note, by=by, at_ns=at_ns)

    def sources(self, agent: str) -> Sequence[tuple[str, int]]:
        return notes.sources(self.db, agent)

    # ── served: tokens, schedules and peers ───────────────────────────────────────────────────────────────────────

    def add_token(self, token: Token, sha256: str) -> None:
        tokens.add_token(self.db, token, sha256)

    def token_of(self, sha256: str) -> Token | None:
        return tokens.token_of(self.db, sha256)

    def tokens(self) -> list[Token]:
        return tokens.tokens(self.db)

    def revoke_token(self, token_id: str, *, by: Author, at_ns: int) -> Token:
        return tokens.revoke_token(self.db, token_id, by=by, at_ns=at_ns)

    def add_schedule(self, schedule: Schedule) -> None:
        schedules.add_schedule(self.db, schedule)

    def schedule(self, schedule_id: str) -> Schedule:
        return schedules.schedule(self.db, schedule_id)

    def schedules(self, agent: str = "") -> list[Schedule]:
        return schedules.schedules(self.db, agent)

    def remove_schedule(self, schedule_id: str) -> Schedule:
        return schedules.remove_schedule(self.db, schedule_id)

    def begin_run(self, schedule_id: str, tick_ns: int, *, at_ns: int) -> bool:
        return schedules.begin_run(self.db, schedule_id, tick_ns, at_ns=at_ns)

    def end_run(
        self, schedule_id: str, tick_ns: int, *, state: RunState, turn_id: str = "", code: str = "", at_ns: int
    ) -> bool:
        return schedules.end_run(
            self.db, schedule_id, tick_ns, state=state, turn_id=turn_id, code=code, at_ns=at_ns
        )  # fmt: skip

    def runs(self, schedule_id: str, limit: int = 50) -> list[Run]:
        return schedules.runs(self.db, schedule_id, limit)

    def last_run(self, schedule_id: str) -> Run | None:
        return schedules.last_run(self.db, schedule_id)

    def add_pairing(
        self, code_sha256: str, *, agent: str, channel: str, user: str, by: Author, at_ns: int, expires_at_ns: int
    ) -> None:
        peers.add_pairing(
            self.db, code_sha256,
            agent=agent, channel=channel, user=user, by=by, at_ns=at_ns, expires_at_ns=expires_at_ns,
        )  # fmt: skip

    def pair(self, agent: str, channel: str, peer: str, code_sha256: str, *, at_ns: int) -> Peer | None:
        return peers.pair(self.db, agent, channel, peer, code_sha256, at_ns=at_ns)

    def peer(self, agent: str, channel: str, peer: str) -> Peer | None:
        return peers.peer(self.db, agent, channel, peer)

    def peers(self, agent: str = "", channel: str = "") -> list[Peer]:
        return peers.peers(self.db, agent, channel)

    def remove_peer(self, agent: str, channel: str, peer: str) -> Peer:
        return peers.remove_peer(self.db, agent, channel, peer)

    # ── users and agents ──────────────────────────────────────────────────────────────────────────────────────────

    def instructions(self, agent: str, user: str) -> str:
        if not is_storable(user):
            return ""
        found = layers.head(self.db, Place(agent, "instructions", user, Head.INSTRUCTIONS))
        return found.content if found else ""

    def instructions_version(self, agent: str, user: str) -> int:
        place = Place(agent, "instructions", user, Head.INSTRUCTIONS)
        found = layers.head(self.db, place) if is_storable(user) else None
        return found.version if found else 0

    def timezone(self, user: str) -> str | None:
        if not is_storable(user):
            return None
        row = one(self.db.read("SELECT timezone FROM user_settings WHERE user_id = ?", user))
        return row[0] if row else None

    def set_timezone(self, user: str, zone: str) -> None:
        """An IANA name; anything else is an error when it is written (S4-04)."""
        time_zone(zone)
        with self.db.writing() as run:
            run(
                """INSERT INTO user_settings (user_id, timezone) VALUES (?, ?)
                ON CONFLICT (user_id) DO UPDATE SET timezone = excluded.timezone""",
                named("user", user), zone,
            )  # fmt: skip

    def agent_configuration(self, agent: str) -> AgentConfiguration | None:
        row: Any = one(
            self.db.read(
                """SELECT COALESCE(soul, ''), COALESCE(CAST(identity AS TEXT), ''), soul_version, identity_version
                FROM agent_configurations WHERE agent_name = ?""",
                agent,
            )
        )
        return AgentConfiguration(*row) if row else None
