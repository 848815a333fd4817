"""A store that hands every value on as it came, so that containment is proved without a store's own refusals."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from charter.core.incoming import sender_key
from charter.core.records import ConversationEntry, ConversationLog, InboxMessage, Memory, StoredLayer


class RawStore:
    """Lists in memory; what is put in comes out."""

    def __init__(self) -> None:
        self.layers: dict[tuple[str, str], StoredLayer] = {}
        self.inbox: dict[str, list[InboxMessage]] = defaultdict(list)
        self.logs: dict[tuple[str, str], list[ConversationEntry]] = defaultdict(list)
        self.notes: dict[tuple[str, str], list[Memory]] = defaultdict(list)
        self.wishes: dict[tuple[str, str], str] = {}

    def for_turn(self, want: object) -> Any:
        return self

    def layer(self, agent: str, layer_id: str) -> StoredLayer | None:
        return self.layers.get((agent, layer_id))

    def put_layer(self, agent: str, layer_id: str, content: str, *, by: str) -> None:
        version = self.layers[agent, layer_id].version + 1 if (agent, layer_id) in self.layers else 1
        self.layers[agent, layer_id] = StoredLayer(layer_id, content, 0, by, version)

    def stage(self, agent: str, message: InboxMessage) -> None:
        self.inbox[agent].append(InboxMessage(message.id, sender_key(message.sender), message.body))

    def staged(self, agent: str) -> list[InboxMessage]:
        return self.inbox[agent]

    def waiting(self, agent: str) -> int:
        return len(self.inbox[agent])

    def append_conversation(self, agent: str, sender: str, entry: ConversationEntry) -> None:
        self.logs[agent, sender_key(sender)].append(entry)

    def conversation(self, agent: str, sender: str) -> ConversationLog | None:
        entries = self.logs.get((agent, sender_key(sender)))
        return ConversationLog(sender_key(sender), tuple(entries), 0) if entries else None

    def remember(self, agent: str, user: str, text: str, *, day: str) -> None:
        notes = self.notes[agent, user]
        notes.append(Memory(str(len(notes) + 1), text, day))

    def recent(self, agent: str, user: str, limit: int) -> list[Memory]:
        return self.notes[agent, user][: -limit - 1 : -1]

    def recall(self, agent: str, user: str, query: str, limit: int) -> list[Memory]:
        return self.recent(agent, user, limit)

    def set_instructions(self, agent: str, user: str, text: str) -> None:
        self.wishes[agent, user] = text

    def instructions(self, agent: str, user: str) -> str:
        return self.wishes.get((agent, user), "")

    def instructions_version(self, agent: str, user: str) -> int:
        return int((agent, user) in self.wishes)

    def timezone(self, user: str) -> str | None:
        return None

    def agent_configuration(self, agent: str) -> None:
        return None
