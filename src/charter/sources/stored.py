"""Sources over the store: layers that change, the inbox, what was said before, and what is remembered."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import msgspec

from ..core.incoming import sender_key
from ..core.ports import Part
from ..core.records import FOREIGN, Head, InboxMessage, Memory
from ..core.text import Form, Piece, Value, shorten
from .ask import Ask, Gathered, agent_markdown, operator_markdown

SENDER_CHARS = 80
NOTE_CHARS = 500


class Stored(msgspec.Struct, tag_field="kind", tag="stored", forbid_unknown_fields=True, frozen=True):
    """A layer from the store; without a record, the charter's default text (S0-03)."""

    reads: ClassVar[tuple[Part, ...]] = ("layers",)
    head: ClassVar[Head] = Head.LAYER
    default: str

    def gather(self, ask: Ask) -> Gathered:
        default = ask.home.text(self.default).strip()
        record = ask.reads.layer(ask.agent, ask.layer_id) if ask.reads else None
        if record is None or record.content.strip() == default:
            return Gathered(
                {"text": operator_markdown(default, self.default)},
                file=self.default,
                source="file",
                origin=record.updated_by_turn if record else "init",
                version=str(record.version if record else 1),
            )
        return Gathered(
            {"text": agent_markdown(record.content.strip(), f"store:{ask.layer_id}@{record.version}")},
            file=f"store:{ask.layer_id}",
            source="inline",
            origin=record.updated_by_turn,
            version=str(record.version),
            amended=True,
        )


class Inbox(msgspec.Struct, tag_field="kind", tag="inbox", forbid_unknown_fields=True, frozen=True):
    """The messages that wait, the one being answered among them: previews only, and how many more there are (S0-04)."""

    reads: ClassVar[tuple[Part, ...]] = ("inbox",)
    max_senders: int = 5
    max_messages: int = 20
    preview: int = 140

    def gather(self, ask: Ask) -> Gathered:
        taken, waiting = staged(ask, self.max_senders, self.max_messages)
        obligations: list[Value] = [
            {
                "sender": shorten(message.sender, SENDER_CHARS),
                "preview": said(message.body, "inbox", self.preview),
            }
            for message in taken
        ]
        others = any(message.sender != ask.incoming.sender for message in taken)
        return Gathered(
            {"obligations": obligations, "count": len(taken), "waiting": waiting},
            origin="inbox",
            foreign="other senders" if others else "",
        )


def staged(ask: Ask, max_senders: int, max_messages: int) -> tuple[list[InboxMessage], int]:
    """The messages this turn takes, the one being answered among them, oldest first; and how many must wait."""
    incoming = ask.incoming
    waiting = list(ask.reads.staged(ask.agent)) if ask.reads else []
    unseen = ask.reads.waiting(ask.agent) - len(waiting) if ask.reads else 0
    now = InboxMessage("now", incoming.sender or "unknown", incoming.text)
    if incoming.text:
        same = [m for m in waiting if m.sender == now.sender and m.body == now.body]
        now = same[0] if same else now
        waiting = [m for m in waiting if m is not now]
    taken: list[InboxMessage] = []
    senders = {now.sender} if incoming.text else set()
    max_messages -= bool(incoming.text)
    for message in waiting:
        if len(taken) == max_messages:
            break
        if message.sender in senders or len(senders) < max_senders:
            senders.add(message.sender)
            taken.append(message)
    left = len(waiting) - len(taken) + unseen
    return (taken + [now] if incoming.text else taken), left


class History(msgspec.Struct, tag_field="kind", tag="history", forbid_unknown_fields=True, frozen=True):
    """What was said before with the senders of this turn, and with nobody else (S0-14)."""

    reads: ClassVar[tuple[Part, ...]] = ("inbox", "history")
    last: int = 5
    last_in: dict[str, int] = {}
    shown: int = 220
    max_senders: int = 5
    max_messages: int = 20

    def gather(self, ask: Ask) -> Gathered:
        taken, _ = staged(ask, self.max_senders, self.max_messages)
        last = self.last_in.get(ask.mode.name, self.last)
        history: list[Value] = []
        for sender in sorted({sender_key(message.sender) for message in taken}):
            log = ask.reads.conversation(ask.agent, sender) if ask.reads else None
            if log is not None and log.entries and last:
                entries: list[Value] = [
                    {
                        "body": said(entry.sender_body, "conversation", self.shown),
                        "reply": said(entry.agent_reply, "conversation", self.shown),
                    }
                    for entry in log.entries[-last:]
                ]
                history.append({"sender": shorten(sender, SENDER_CHARS), "entries": entries})
        others = any(sender_key(message.sender) != ask.incoming.sender for message in taken)
        foreign = "other senders" if others and history else ""
        return Gathered({"history": history}, origin="conversations", foreign=foreign)


class Recall(msgspec.Struct, tag_field="kind", tag="recall", forbid_unknown_fields=True, frozen=True):
    """Memories that fit the message, of this user with this agent only (S2-06)."""

    reads: ClassVar[tuple[Part, ...]] = ("recall",)
    limit: int = 5

    def gather(self, ask: Ask) -> Gathered:
        incoming, store = ask.incoming, ask.reads
        found = store.recall(ask.agent, incoming.owner, incoming.text, self.limit) if store and incoming.text else ()
        return Gathered({"memories": _memories(found)}, origin="memory", foreign=_foreign(found))


class Recent(msgspec.Struct, tag_field="kind", tag="recent", forbid_unknown_fields=True, frozen=True):
    """The newest of the agent's own memories (S0-04)."""

    reads: ClassVar[tuple[Part, ...]] = ("recent",)
    limit: int = 5

    def gather(self, ask: Ask) -> Gathered:
        found = ask.reads.recent(ask.agent, "", self.limit) if ask.reads else ()
        return Gathered({"memories": _memories(found)}, origin="memory", foreign=_foreign(found))


def _memories(found: Sequence[Memory]) -> list[Value]:
    return [{"day": note.day, "text": said(note.text, f"memory:{note.id}", NOTE_CHARS)} for note in found]


def _foreign(found: Sequence[Memory]) -> str:
    """Notes that others had a hand in; their lineage came with them (N-10)."""
    return "memories of others" if any(note.provenance.source_class in FOREIGN for note in found) else ""


def said(text: str, origin: str, limit: int) -> Piece:
    """What someone said, quoted, at most `limit` characters of it."""
    size = len(text)
    if size <= limit:
        return Piece(text, origin, form=Form.QUOTED, original=size, kept=size)
    return Piece(shorten(text, limit), origin, form=Form.QUOTED, original=size, kept=limit)
