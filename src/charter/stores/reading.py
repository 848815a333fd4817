"""What a turn reads, in one statement; the answer then serves every source of that turn and no other."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import chain
from typing import Any

from ..core.errors import BadValue, NotStored
from ..core.incoming import sender_key
from ..core.ports import AgentConfiguration, Wanted
from ..core.records import ConversationEntry, ConversationLog, Exchange, InboxMessage, Memory, StoredLayer
from .conversations import MAX_ENTRIES, TALK, woven
from .database import Database, Row, is_storable, marks
from .messages import LOOKED_AT, STAGED
from .notes import note_of, query_terms, rank

# Every part gives the same columns: its number, six texts, three numbers; then one more text and number, for recall.
_OPEN = f"""FROM (SELECT * FROM inbox_messages WHERE agent_name = ? AND {STAGED}
    ORDER BY seq LIMIT {LOOKED_AT}) i"""
_PARTS = {
    "layers": """SELECT 0, layer_id, content, updated_by_turn, '', '', '', version, updated_at_ns, 0, '', 0
        FROM prompt_layers WHERE agent_name = ?""",
    "labelled": """SELECT 0, v.layer_id, COALESCE(v.content, ''), v.updated_by, '', '', '', v.version, v.at_ns, 0, '', 0
        FROM layer_labels l JOIN layer_versions v ON v.agent_name = l.agent_name AND v.user_id = ''
        AND v.layer_id = l.layer_id AND v.version = l.version WHERE l.agent_name = ? AND l.label = ?""",
    "instructions": """SELECT 1, instructions, '', '', '', '', '', version, 0, 0, '', 0
        FROM user_agent_prompt_customizations WHERE user_id = ? AND agent_name = ?""",
    "timezone": """SELECT 2, COALESCE(timezone, ''), '', '', '', '', '', 0, 0, 0, '', 0
        FROM user_settings WHERE user_id = ?""",
    "agent": """SELECT 3, COALESCE(soul, ''), COALESCE(CAST(identity AS TEXT), ''), '', '', '', '',
        soul_version, identity_version, 0, '', 0 FROM agent_configurations WHERE agent_name = ?""",
    "inbox": f"""SELECT 4, message_id, sender, body, channel, user_id, '', seq, received_at_ns, 0, '', 0 {_OPEN}
        UNION ALL SELECT 5, '', '', '', '', '', '', count(*), 0, 0, '', 0
        FROM inbox_messages WHERE agent_name = ? AND {STAGED}""",
    "history": f"""SELECT 6, e.sender, e.sender_body, e.agent_reply, e.inbox_message_id, e.turn_id, '', e.seq,
        e.timestamp_ns, c.last_activity_ns, '', 0 FROM conversations c JOIN conversation_entries e
        ON e.agent_name = c.agent_name AND e.sender = c.sender AND e.seq > c.last_seq - ?
        WHERE c.agent_name = ? AND c.sender IN (SELECT CAST(? AS TEXT) UNION ALL SELECT i.sender {_OPEN})""",
    "talk": TALK,
    "recent": """SELECT 7, notes, day, said_by, channel, source_class, source, trust, note_id, 0, '', 0 FROM
        (SELECT * FROM agent_long_term_memory WHERE agent_name = ? AND user_id = ? AND revoked_at_ns = 0
        ORDER BY note_id DESC LIMIT ?) r""",
    "recall": """SELECT 8, p.term, m.notes, m.day, m.said_by, m.channel, m.source_class, p.note_id, p.tf, p.length,
        m.source, m.trust FROM memory_owners o JOIN memory_terms p ON p.owner_id = o.owner_id
        JOIN agent_long_term_memory m ON m.note_id = p.note_id
        WHERE o.agent_name = ? AND o.user_id = ? AND p.term IN ({marks})
        UNION ALL SELECT 9, '', '', '', '', '', '', notes, terms, 0, '', 0
        FROM memory_owners WHERE agent_name = ? AND user_id = ?""",
}

Values = Callable[[Wanted, str, Sequence[str]], tuple[Any, ...]]
_VALUES: dict[str, Values] = {
    "layers": lambda want, _, __: (want.agent,),
    "labelled": lambda want, _, __: (want.agent, want.label),
    "instructions": lambda want, _, __: (want.user, want.agent),
    "timezone": lambda want, _, __: (want.user,),
    "agent": lambda want, _, __: (want.agent,),
    "inbox": lambda want, _, __: (want.agent, want.agent),
    "history": lambda want, sender, _: (min(want.history, MAX_ENTRIES), want.agent, sender, want.agent),
    "talk": lambda want, sender, _: (want.agent, sender),
    "recent": lambda want, _, __: (want.agent, want.recent_of, max(want.recent, 0)),
    "recall": lambda want, _, terms: (want.agent, want.user, *terms, want.agent, want.user),
}  # fmt: skip
_WHOSE = {"instructions": "user", "timezone": "user", "recall": "user", "recent": "recent_of"}


@cache
def _plan(parts: tuple[str, ...], labelled: bool, terms: int) -> tuple[str, tuple[Values, ...]]:
    """The statement for these parts, and what gives each part its values."""
    names = [part for part in dict.fromkeys(parts) if part != "recall" or terms]
    if labelled:
        names = ["labelled" if part == "layers" else part for part in names]
    sql = " UNION ALL ".join(_PARTS[part].replace("{marks}", marks(terms)) for part in names)
    return sql, tuple(_VALUES[part] for part in names)


def for_turn(db: Database, want: Wanted) -> TurnReads:
    """Everything these parts need, read at once."""
    parts: tuple[str, ...] = want.parts
    if not (want.user.isascii() and want.recent_of.isascii()) or "\0" in want.user or "\0" in want.recent_of:
        parts = tuple(part for part in parts if part not in _WHOSE or is_storable(getattr(want, _WHOSE[part])))
    terms = query_terms(want.query) if "recall" in parts else []
    sql, givers = _plan(parts, bool(want.label), len(terms))
    got: dict[int, list[Row]] = defaultdict(list)
    if sql:
        asked = ("history" in parts or "talk" in parts) and is_storable(want.sender)
        sender = sender_key(want.sender) if asked else ""
        for row in db.read(sql, *chain.from_iterable([giver(want, sender, terms) for giver in givers])):
            got[row[0]].append(row)
    return TurnReads(want, got)


@dataclass(frozen=True, slots=True)
class TurnReads:
    """What one turn read; asked for anything else, it refuses instead of looking."""

    want: Wanted
    rows: Mapping[int, list[Row]] = field(repr=False)

    def layer(self, agent: str, layer_id: str) -> StoredLayer | None:
        self._asked("layers", agent)
        for row in self.rows.get(0, ()):
            if row[1] == layer_id:
                return StoredLayer(layer_id, row[2], row[8], row[3], row[7])
        if self.want.label:
            raise NotStored(
                f"version of {layer_id} labelled {self.want.label}", f"see: charter label {self.want.label} {layer_id}"
            )
        return None

    def staged(self, agent: str) -> Sequence[InboxMessage]:
        self._asked("inbox", agent)
        rows = sorted(self.rows.get(4, ()), key=lambda row: row[7])
        return [InboxMessage(row[1], row[2], row[3], row[8], row[4], row[5]) for row in rows]

    def waiting(self, agent: str) -> int:
        self._asked("inbox", agent)
        return int(self.rows[5][0][7])

    def conversation(self, agent: str, sender: str) -> ConversationLog | None:
        self._asked("history", agent)
        key = sender_key(sender)
        rows = sorted((row for row in self.rows.get(6, ()) if row[1] == key), key=lambda row: row[7])
        entries = tuple(ConversationEntry(row[4], row[2], row[3], row[5], row[8]) for row in rows)
        return ConversationLog(key, entries, rows[0][9]) if rows else None

    def exchanges(self, agent: str, sender: str) -> Sequence[Exchange]:
        self._asked("talk", agent)
        self._same("sender", sender_key(sender), sender_key(self.want.sender))
        return woven(self.rows.get(11, ()))

    def recent(self, agent: str, user: str, limit: int) -> Sequence[Memory]:
        self._asked("recent", agent)
        self._same("user", user, self.want.recent_of)
        rows = sorted(self.rows.get(7, ()), key=lambda row: -row[8])
        return [note_of(row[1:9]) for row in rows[: max(limit, 0)]]

    def recall(self, agent: str, user: str, query: str, limit: int) -> Sequence[Memory]:
        self._asked("recall", agent)
        self._same("user", user, self.want.user)
        self._same("query", query, self.want.query)
        if 9 not in self.rows or limit <= 0:
            return ()
        notes, total = self.rows[9][0][7:9]
        hits = self.rows.get(8, ())
        best = rank([(row[1], row[7], row[8], row[9], notes, total) for row in hits], limit)
        found = {row[7]: row for row in hits}
        return [note_of((*row[2:7], *row[10:12], note_id)) for note_id in best for row in (found[note_id],)]

    def instructions(self, agent: str, user: str) -> str:
        self._asked("instructions", agent)
        self._same("user", user, self.want.user)
        rows = self.rows.get(1)
        return rows[0][1] if rows else ""

    def instructions_version(self, agent: str, user: str) -> int:
        self._asked("instructions", agent)
        self._same("user", user, self.want.user)
        rows = self.rows.get(1)
        return int(rows[0][7]) if rows else 0

    def timezone(self, user: str) -> str | None:
        self._asked("timezone", self.want.agent)
        self._same("user", user, self.want.user)
        rows = self.rows.get(2)
        return rows[0][1] or None if rows else None

    def agent_configuration(self, agent: str) -> AgentConfiguration | None:
        self._asked("agent", agent)
        rows = self.rows.get(3)
        return AgentConfiguration(rows[0][1], rows[0][2], rows[0][7], rows[0][8]) if rows else None

    def _asked(self, part: str, agent: str) -> None:
        self._same("agent", agent, self.want.agent)
        if part not in self.want.parts:
            raise BadValue(part, "this turn did not read it; the charter's sources must name it")

    @staticmethod
    def _same(field: str, asked: str, read: str) -> None:
        if asked != read:
            raise BadValue(field, "this turn read for another one")
