"""The erasing itself: each sort of row has its own end, and what others must still prove is told in their chains."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from ..core.chain import pseudonym
from ..core.records import Author
from . import approvals, log
from .database import Database, Run, marks
from .layers import ERASED
from .notes import unindex
from .theirs import NAMES, NOBODY, PROPOSER, Theirs

_AT_ONCE = 500
_DELETED = (
    "user_settings", "inbox_messages", "outbox_messages", "turn_leases", "conversations", "conversation_entries",
    "memory_owners", "legacy_user_agent_prompt_customizations", "legacy_agent_long_term_memory",
)  # fmt: skip
_MARKED = tuple(column for column in NAMES if column.prefix == "user:" and column.table != "memory_sources")


@dataclass(slots=True)
class Erasure:
    """One person's erasure, inside a transaction that holds every chain it writes to."""

    db: Database
    run: Run
    theirs: Theirs
    agents: list[str]
    by: Author
    at_ns: int
    counts: Counter[str] = field(default_factory=Counter)
    ends: dict[str, int] = field(default_factory=dict)

    def whole(self) -> dict[str, int]:
        """All of it; how many rows of each table."""
        self._stop_turns()
        self._end_proposals()
        self._end_approvals()
        self._notes()
        self._senders()
        self._find_ends()
        self._instructions()
        self._proposals()
        self._approvals()
        self._turns()
        self._served()
        self._marks()
        for table in _DELETED:
            self._count(table, "DELETE FROM {table} WHERE {where}", self.theirs.rows(table))
        told = ", ".join(f"{table} {count}" for table, count in sorted(self.counts.items()) if count)
        for chain in sorted(self.ends) if told else ():
            self._tell(chain, "person", told)
        return {table: count for table, count in self.counts.items() if count}

    def _count(self, table: str, sql: str, where: tuple[str, tuple[object, ...]], *values: object) -> None:
        if where != NOBODY:
            spoken = sql.format(table=table, where=where[0])
            self.counts[table] += len(self.run(f"{spoken} RETURNING 1", *values, *where[1]))

    def _tell(self, chain: str, place: str, detail: str = "") -> None:
        actor = log.actor_of(self.db, self.by, personal=chain not in self.agents)
        log.append(
            self.db, self.run, chain, kind="forget", place=place, actor=actor, at_ns=self.at_ns, detail=detail
        )  # fmt: skip

    # ── what is under way ─────────────────────────────────────────────────────────────────────────────────────────

    def _stop_turns(self) -> None:
        """Turns that have something of theirs in hand cannot be kept; what else they took waits again."""
        inbox, lanes = self.theirs.rows("inbox_messages"), self.theirs.rows("turn_leases")
        turns = self.run(
            f"""SELECT agent_name, turn_id FROM inbox_messages WHERE state = 'taken' AND {inbox.sql}
            UNION SELECT agent_name, turn_id FROM turn_leases WHERE {lanes.sql}""",
            *inbox.values, *lanes.values,
        )  # fmt: skip
        for agent, turn_id in turns:
            self.run(
                """UPDATE inbox_messages SET state = 'staged', turn_id = ''
                WHERE agent_name = ? AND turn_id = ? AND state = 'taken'""",
                agent, turn_id,
            )  # fmt: skip
            self._count("turn_leases", "DELETE FROM {table} WHERE {where}", _turn(agent, turn_id))

    def _end_proposals(self) -> None:
        """Open ones expire; one they made for a text that is not theirs is named in that text's chain."""
        where = self.theirs.rows("proposals", "user_id", PROPOSER)
        mine = self._users("proposals")
        rows = self.run(
            f"""SELECT proposal_id, agent_name, user_id, layer_id, sha256, key_id, state FROM proposals
            WHERE {where.sql}""",
            *where.values,
        )
        for name, agent, user, layer, sha256, key_id, state in rows:
            chain = log.chain_then(self.db.keys, agent, user, key_id)
            if state == "open":
                self._expire(chain, name, layer, sha256)
            if user not in mine:
                self._tell(chain, "proposal", name)
                self._count(
                    "proposals",
                    "UPDATE {table} SET content = NULL, reason = '', proposed_by = 'erased' WHERE {where}",
                    ("proposal_id = ?", (name,)),
                )

    def _expire(self, chain: str, name: str, layer: str, sha256: str) -> None:
        self.run(
            "UPDATE proposals SET state = 'expired', decided_at_ns = ?, decided_by = 'init' WHERE proposal_id = ?",
            self.at_ns, name,
        )  # fmt: skip
        log.append(
            self.db, self.run, chain, kind="expired", place=layer, content_sha256=sha256, actor="init",
            at_ns=self.at_ns, detail=name,
        )  # fmt: skip

    def _end_approvals(self) -> None:
        """A call of theirs that waits, or that was approved, is not made any more."""
        where = self.theirs.rows("tool_approvals", "user_id")
        waits = f"SELECT approval_id FROM tool_approvals WHERE state IN ('open', 'approved') AND {where.sql}"
        for (name,) in self.run(waits, *where.values):
            approvals.end_in(self.db, self.run, name, self.at_ns)

    # ── what is told in the chains of others ──────────────────────────────────────────────────────────────────────

    def _notes(self) -> None:
        """Their notes go with what finds them; a note of another owner is taken out of recall and named."""
        where = self.theirs.notes()
        mine = self._users("agent_long_term_memory")
        rows = self.run(
            f"""SELECT note_id, agent_name, user_id, length, key_id, revoked_at_ns FROM agent_long_term_memory
            WHERE {where.sql}""",
            *where.values,
        )
        for note_id, agent, user, length, key_id, revoked in rows:
            if user not in mine:
                self._tell(log.chain_then(self.db.keys, agent, user, key_id), f"memory:{note_id}")
                if not revoked:
                    unindex(self.run, agent, user, note_id, length)
        owners = self.theirs.rows("memory_owners")
        self.run(
            f"DELETE FROM memory_terms WHERE owner_id IN (SELECT owner_id FROM memory_owners WHERE {owners.sql})",
            *owners.values,
        )
        for start in range(0, len(rows), _AT_ONCE):
            ids = tuple(row[0] for row in rows[start : start + _AT_ONCE])
            self.run(f"DELETE FROM memory_sources WHERE note_id IN ({marks(len(ids))})", *ids)
            some = (f"note_id IN ({marks(len(ids))})", ids)
            self._count("agent_long_term_memory", "DELETE FROM {table} WHERE {where}", some)

    def _marks(self) -> None:
        """Where they are named as who changed a text of another, the name goes; the log keeps its pseudonym."""
        nameless: set[str] = set()
        for table, name, of in (
            ("layer_versions", "updated_by", "user_id, key_id"),
            ("proposals", "decided_by", "user_id, key_id"),
            ("layer_labels", "set_by", "'', ''"),
        ):
            where = self.theirs.rows(table, name)
            rows = self.run(f"SELECT DISTINCT agent_name, {of} FROM {table} WHERE {where.sql}", *where.values)
            nameless |= {log.chain_then(self.db.keys, *row) for row in rows}
        for table, name, chain in (
            ("tool_approvals", "decided_by", "chain"), ("agent_controls", "paused_by", "agent_name"),
        ):  # fmt: skip
            where = self.theirs.rows(table, name)
            rows = self.run(f"SELECT DISTINCT {chain} FROM {table} WHERE {where.sql}", *where.values)
            nameless |= {row[0] for row in rows}
        where = self.theirs.rows("agent_controls")
        self.run(f"UPDATE agent_controls SET reason = '' WHERE {where.sql}", *where.values)
        for column in _MARKED:
            where = self.theirs.rows(column.table, column.name)
            self._count(column.table, f"UPDATE {{table}} SET {column.name} = 'erased' WHERE {{where}}", where)
        for chain in sorted(nameless):
            for code in sorted({code for name in self.theirs.names for code in self._codes(name)}):
                self._tell(chain, "name", f"user:{code}")

    def _senders(self) -> None:
        """Where they were the sender in a turn of another user, that turn loses their name."""
        where = self.theirs.rows("turn_records", "sender")
        mine = self._users("turn_records")
        rows = self.run(
            f"SELECT agent_name, turn_id, user_id, chain FROM turn_records WHERE {where.sql}", *where.values
        )
        for agent, turn_id, user, chain in rows:
            if user and user not in mine:
                self._tell(chain, "turn", turn_id)
                self._count("turn_records", "UPDATE {table} SET sender = '' WHERE {where}", _turn(agent, turn_id))

    # ── what stays without text or name ───────────────────────────────────────────────────────────────────────────

    def _find_ends(self) -> None:
        """Their chains, and the entry of each that will tell of this."""
        for chain in (chain for agent in self.agents for chain in self.theirs.chains(agent)):
            rows = self.run("SELECT seq + 1 FROM chain_heads WHERE chain = ?", chain)
            if rows:
                self.ends[chain] = rows[0][0]

    def _erased(self, agent: str, user: str, key_id: str) -> str:
        """Who a row is of now: a pseudonym, and the entry that says since when."""
        chain = log.chain_then(self.db.keys, agent, user, key_id)
        return f"{ERASED}{chain.rpartition('/')[2]}:{self.ends.setdefault(chain, 1)}"

    def _instructions(self) -> None:
        """The text now goes; its versions keep their hashes."""
        users = self.theirs.rows("user_agent_prompt_customizations", "user_id")
        self._count("user_agent_prompt_customizations", "DELETE FROM {table} WHERE {where}", users)
        where = self.theirs.rows("layer_versions", "user_id")
        rows = self.run(
            f"SELECT DISTINCT agent_name, user_id, key_id FROM layer_versions WHERE {where.sql}", *where.values
        )
        for agent, user, key_id in rows:
            self._count(
                "layer_versions",
                "UPDATE {table} SET content = NULL, updated_by = 'erased', user_id = ? WHERE {where}",
                ("agent_name = ? AND user_id = ? AND key_id = ?", (agent, user, key_id)),
                self._erased(agent, user, key_id),
            )

    def _proposals(self) -> None:
        where = self.theirs.rows("proposals", "user_id")
        rows = self.run(
            f"SELECT proposal_id, agent_name, user_id, key_id FROM proposals WHERE {where.sql}", *where.values
        )
        for name, agent, user, key_id in rows:
            self._count(
                "proposals",
                """UPDATE {table} SET content = NULL, reason = '', proposed_by = 'erased', decided_by = 'erased',
                user_id = ? WHERE {where}""",
                ("proposal_id = ?", (name,)),
                self._erased(agent, user, key_id),
            )

    def _approvals(self) -> None:
        self._count(
            "tool_approvals",
            """UPDATE {table} SET arguments = NULL, user_id = '',
            decided_by = CASE WHEN decided_by = '' THEN '' ELSE 'erased' END WHERE {where}""",
            self.theirs.rows("tool_approvals", "user_id"),
        )

    def _turns(self) -> None:
        where = self.theirs.rows("turn_records")
        self._count("turn_records", "UPDATE {table} SET sender = '', user_id = '' WHERE {where}", where)

    # ── what is served ────────────────────────────────────────────────────────────────────────────────────────────

    def _served(self) -> None:
        """Their tokens open nothing, nothing runs for them by the clock, and nobody on a channel is them."""
        for table, those in (
            ("schedule_runs", self.theirs.runs()),
            ("schedules", self.theirs.rows("schedules")),
            ("api_tokens", self.theirs.rows("api_tokens", "name")),
            ("channel_peers", self.theirs.rows("channel_peers", "peer", "user_id")),
            ("channel_pairings", self.theirs.rows("channel_pairings", "user_id")),
        ):
            self._count(table, "DELETE FROM {table} WHERE {where}", those)

    # ── names ─────────────────────────────────────────────────────────────────────────────────────────────────────

    def _users(self, table: str) -> tuple[str, ...]:
        """Their names as users in a table."""
        return tuple(
            name
            for column, held in self.theirs.found.items()
            for name in held
            if (column.table, column.name) == (table, "user_id")
        )

    def _codes(self, name: str) -> Iterable[str]:
        return self.db.keys.person(name), pseudonym(name, None)


def _turn(agent: str, turn_id: str) -> tuple[str, tuple[str, str]]:
    return "agent_name = ? AND turn_id = ?", (agent, turn_id)
