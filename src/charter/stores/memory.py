"""A store that lives in memory: the same limits as every store, nothing kept when the process ends."""

from __future__ import annotations

import math
import threading
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import replace

from ..core.errors import BadValue
from ..core.incoming import sender_key
from ..core.ports import ConversationEntry, ConversationLog, InboxMessage, Memory, StoredLayer
from ..zones import time_zone
from .terms import terms

MAX_ENTRIES = 20
MAX_SENDERS = 200
MAX_STORED_CHARS = 500


class MemoryStore:
    """Layers, inbox, conversations, memories and instructions, each under the agent and user they belong to."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._layers: dict[tuple[str, str], StoredLayer] = {}
        self._inbox: dict[str, list[InboxMessage]] = defaultdict(list)
        self._logs: dict[str, dict[str, ConversationLog]] = defaultdict(dict)
        self._notes: dict[tuple[str, str], list[Memory]] = defaultdict(list)
        self._instructions: dict[tuple[str, str], str] = {}
        self._zones: dict[str, str] = {}

    def __repr__(self) -> str:
        return f"MemoryStore({len(self._layers)} layers, {sum(map(len, self._logs.values()))} conversations)"

    # ── layers ────────────────────────────────────────────────────────────────────────────────────────────────────

    def layer(self, agent: str, layer_id: str) -> StoredLayer | None:
        return self._layers.get((agent, layer_id))

    def seed_layer(self, agent: str, layer_id: str, content: str, *, at_ns: int = 0) -> None:
        """Version 1 by `init`; a later start never overwrites it (S0-03)."""
        with self._lock:
            self._layers.setdefault((agent, layer_id), StoredLayer(layer_id, content, at_ns, "init", 1))

    def put_layer(self, agent: str, layer_id: str, content: str, *, by: str, at_ns: int = 0) -> StoredLayer:
        """The next version of a layer."""
        with self._lock:
            before = self._layers.get((agent, layer_id))
            record = StoredLayer(layer_id, content, at_ns, by, before.version + 1 if before else 1)
            self._layers[agent, layer_id] = record
            return record

    # ── inbox and conversations ───────────────────────────────────────────────────────────────────────────────────

    def stage(self, agent: str, message: InboxMessage) -> None:
        with self._lock:
            self._inbox[agent].append(replace(message, sender=sender_key(message.sender)))

    def staged(self, agent: str) -> Sequence[InboxMessage]:
        return tuple(self._inbox[agent])

    def conversation(self, agent: str, sender: str) -> ConversationLog | None:
        return self._logs[agent].get(sender_key(sender))

    def conversations(self, agent: str) -> list[ConversationLog]:
        """Every log, the most recently active first."""
        return sorted(self._logs[agent].values(), key=lambda log: (-log.last_activity_ns, log.sender))

    def append_conversation(self, agent: str, sender: str, entry: ConversationEntry) -> None:
        """Adds an exchange: 20 stay per sender, 200 senders stay, 500 characters stay of each side (S0-12)."""
        key = sender_key(sender)
        kept = replace(
            entry,
            sender_body=entry.sender_body[:MAX_STORED_CHARS],
            agent_reply=entry.agent_reply[:MAX_STORED_CHARS],
        )
        with self._lock:
            logs = self._logs[agent]
            before = logs[key].entries if key in logs else ()
            last = max(kept.timestamp_ns, logs[key].last_activity_ns if key in logs else 0)
            logs[key] = ConversationLog(key, (*before, kept)[-MAX_ENTRIES:], last)
            while len(logs) > MAX_SENDERS:
                del logs[min((log.last_activity_ns, name) for name, log in logs.items() if name != key)[1]]

    # ── memory ────────────────────────────────────────────────────────────────────────────────────────────────────

    def remember(self, agent: str, user: str, text: str, *, day: str) -> Memory:
        with self._lock:
            notes = self._notes[agent, user]
            note = Memory(str(len(notes) + 1), text, day)
            notes.append(note)
            return note

    def recent(self, agent: str, user: str, limit: int) -> Sequence[Memory]:
        return tuple(reversed(self._notes[agent, user][-limit:])) if limit > 0 else ()

    def recall(self, agent: str, user: str, query: str, limit: int) -> Sequence[Memory]:
        """The notes that fit the query best, by BM25; ties go to the newer note (S2-06)."""
        notes = self._notes[agent, user]
        wanted = set(terms(query))
        counted = [Counter(terms(note.text)) for note in notes]
        average = sum(map(Counter.total, counted)) / len(counted) if counted else 0.0
        held = {term: sum(term in counts for counts in counted) for term in wanted}
        scored = []
        for index, counts in enumerate(counted):
            score = math.fsum(
                _bm25(counts[term], held[term], len(notes), counts.total() / average)
                for term in sorted(wanted)
                if counts[term]
            )
            if score > 0:
                scored.append((-score, -index))
        return tuple(notes[-index] for _, index in sorted(scored)[:limit])

    # ── users ─────────────────────────────────────────────────────────────────────────────────────────────────────

    def instructions(self, agent: str, user: str) -> str:
        return self._instructions.get((agent, user), "")

    def set_instructions(self, agent: str, user: str, text: str) -> None:
        """Replaces the text of this user with this agent; empty clears it."""
        if not user:
            raise BadValue("user", "instructions belong to a user; none was named")
        self._instructions[agent, user] = text

    def timezone(self, user: str) -> str | None:
        return self._zones.get(user)

    def set_timezone(self, user: str, zone: str) -> None:
        """An IANA name; anything else is an error when it is written (S4-04)."""
        time_zone(zone)
        self._zones[user] = zone


def _bm25(count: int, held: int, notes: int, length: float) -> float:
    idf = math.log(1 + (notes - held + 0.5) / (held + 0.5))
    return idf * count * 2.2 / (count + 1.2 * (0.25 + 0.75 * length))
