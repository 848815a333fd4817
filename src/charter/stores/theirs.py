"""Where a person's rows are: a name is one person, whether it stands as user, sender, recipient or who said it.

A name is the same to the letter, but an Ethereum address is, however it is written. One with blanks around it is
looked for as it is, and if nobody is called that, as a sender's is: without them. With a user go the names they are
written to by: their chats on a channel, and the sessions in which a client of the gateway spoke for them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from ..core.chain import pseudonym
from ..core.errors import BadValue
from ..core.keyring import KeyRing
from .database import marks, storable

_ADDRESS = re.compile("0[xX][0-9a-fA-F]{40}")


class Column(NamedTuple):
    """A column with names of people; `prefix` stands before each."""

    table: str
    name: str
    prefix: str = ""

    @property
    def cell(self) -> str:
        """The column as text; an old assistant may have kept names as something else."""
        return f"CAST({self.name} AS TEXT)" if self.table.startswith("legacy_") else self.name


PROPOSER: Final = "CASE WHEN actor = 'user' AND content IS NOT NULL THEN proposed_by ELSE '' END"
NAMES: Final = (
    Column("layer_versions", "user_id"),
    Column("layer_versions", "updated_by", "user:"),
    Column("prompt_layers", "updated_by_turn", "user:"),
    Column("agent_configurations", "updated_by", "user:"),
    Column("user_agent_prompt_customizations", "user_id"),
    Column("user_agent_prompt_customizations", "updated_by", "user:"),
    Column("layer_labels", "set_by", "user:"),
    Column("proposals", "user_id"),
    Column("proposals", PROPOSER),
    Column("proposals", "decided_by", "user:"),
    Column("tool_approvals", "user_id"),
    Column("tool_approvals", "decided_by", "user:"),
    Column("agent_controls", "paused_by", "user:"),
    Column("user_settings", "user_id"),
    Column("inbox_messages", "sender"),
    Column("inbox_messages", "user_id"),
    Column("outbox_messages", "recipient"),
    Column("turn_leases", "lane"),
    Column("conversations", "sender"),
    Column("conversation_entries", "sender"),
    Column("memory_owners", "user_id"),
    Column("agent_long_term_memory", "user_id"),
    Column("agent_long_term_memory", "said_by"),
    Column("memory_sources", "source", "user:"),
    Column("memory_sources", "source", "sender:"),
    Column("turn_records", "sender"),
    Column("turn_records", "user_id"),
    Column("api_tokens", "name"),
    Column("api_tokens", "made_by", "user:"),
    Column("api_tokens", "revoked_by", "user:"),
    Column("schedules", "recipient"),
    Column("schedules", "user_id"),
    Column("schedules", "made_by", "user:"),
    Column("channel_peers", "peer"),
    Column("channel_peers", "user_id"),
    Column("channel_peers", "made_by", "user:"),
    Column("channel_pairings", "user_id"),
    Column("channel_pairings", "made_by", "user:"),
    Column("legacy_user_agent_prompt_customizations", "user_id"),
    Column("legacy_agent_long_term_memory", "user_id"),
)
SHARED: Final = frozenset(
    {"user_settings", "api_tokens", "legacy_user_agent_prompt_customizations", "legacy_agent_long_term_memory"}
)
"""Tables whose rows belong to no chain: they may have no agent, or are not of this Charter."""


class Clause(NamedTuple):
    """A condition and its values."""

    sql: str
    values: tuple[Any, ...]


NOBODY: Final = Clause("1 = 0", ())


@dataclass(frozen=True, slots=True)
class Theirs:
    """The names of one person as they stand in each column, and the pseudonyms of these names."""

    found: Mapping[Column, tuple[str, ...]]
    names: tuple[str, ...]
    keys: KeyRing

    def rows(self, table: str, *columns: str) -> Clause:
        """The condition for their rows of a table: by these columns, or by any."""
        sql: list[str] = []
        values: list[str] = []
        for column, held in self.found.items():
            if column.table == table and held and (not columns or column.name in columns):
                sql.append(f"{column.cell} IN ({marks(len(held))})")
                values += held
        return Clause(f"({' OR '.join(sql)})", tuple(values)) if sql else NOBODY

    def notes(self) -> Clause:
        """The condition for notes: theirs, said by them, or made from what is known to come from them."""
        own = self.rows("agent_long_term_memory")
        told = self.rows("memory_sources")
        made = f"note_id IN (SELECT note_id FROM memory_sources WHERE {told.sql})"
        return Clause(f"({own.sql} OR {made})", (*own.values, *told.values))

    def runs(self) -> Clause:
        """The condition for runs of schedules: of those that are theirs."""
        own = self.rows("schedules")
        made = Clause(f"schedule_id IN (SELECT schedule_id FROM schedules WHERE {own.sql})", own.values)
        return made if own != NOBODY else NOBODY

    def chains(self, agent: str) -> list[str]:
        """Every chain of theirs with an agent, whether it is there or not."""
        codes = {code for name in self.names for code in (self.keys.person(name), pseudonym(name, None))}
        return [f"{agent}/{code}" for code in sorted(codes)]


def find(read: Callable[..., Any], keys: KeyRing, person: str) -> Theirs:
    """Looks for a person's names in every column that can hold one."""
    if not storable("person", person).strip():
        raise BadValue("person", "must not be empty")
    theirs = _find(read, keys, person)
    return theirs if theirs.names or person == person.strip() else _find(read, keys, person.strip())


def _find(read: Callable[..., Any], keys: KeyRing, person: str) -> Theirs:
    lower, wanted = ("lower", person.lower()) if _ADDRESS.fullmatch(person) else ("", person)
    names = [wanted, *_also(read, person)]
    found: dict[Column, tuple[str, ...]] = {}
    for column in NAMES:
        same = (
            f"SELECT DISTINCT {column.cell} FROM {column.table} WHERE {lower}({column.cell}) IN ({marks(len(names))})"
        )
        found[column] = tuple(sorted(row[0] for row in read(same, *(f"{column.prefix}{name}" for name in names))))
    called = {name[len(column.prefix) :] for column, held in found.items() for name in held}
    return Theirs(found, tuple(sorted(called)), keys)


def _also(read: Callable[..., Any], user: str) -> list[str]:
    """The senders that are this user and nobody else."""
    chats = {f"{row[0]}:{row[1]}" for row in read("SELECT channel, peer FROM channel_peers WHERE user_id = ?", user)}
    senders = (row[0] for row in read("SELECT DISTINCT sender FROM turn_records WHERE user_id = ?", user))
    return sorted(chats | {sender for sender in senders if sender.startswith(f"{user}:")})
