"""Where a person's rows are: a name is one person, wherever it stands.

A user's name is the person's when it is the same to the letter; a sender's when `sender_key` makes it the same. An
Ethereum address is one person however it is written.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from ..core.chain import pseudonym
from ..core.errors import BadValue
from ..core.incoming import sender_key
from ..core.keyring import KeyRing
from .database import Row, marks, storable


class Column(NamedTuple):
    """A column with names of people; `prefix` stands before each, and `sort` says whose names they are."""

    table: str
    name: str
    sort: str = "user"
    prefix: str = ""


PROPOSER: Final = "CASE actor WHEN 'user' THEN proposed_by ELSE '' END"
NAMES: Final = (
    Column("layer_versions", "user_id"),
    Column("layer_versions", "updated_by", prefix="user:"),
    Column("prompt_layers", "updated_by_turn", prefix="user:"),
    Column("agent_configurations", "updated_by", prefix="user:"),
    Column("user_agent_prompt_customizations", "user_id"),
    Column("user_agent_prompt_customizations", "updated_by", prefix="user:"),
    Column("layer_labels", "set_by", prefix="user:"),
    Column("proposals", "user_id"),
    Column("proposals", PROPOSER),
    Column("proposals", "decided_by", prefix="user:"),
    Column("user_settings", "user_id"),
    Column("inbox_messages", "sender", "sender"),
    Column("inbox_messages", "user_id"),
    Column("outbox_messages", "recipient", "sender"),
    Column("turn_leases", "lane", "sender"),
    Column("conversations", "sender", "sender"),
    Column("conversation_entries", "sender", "sender"),
    Column("memory_owners", "user_id"),
    Column("agent_long_term_memory", "user_id"),
    Column("agent_long_term_memory", "said_by", "said"),
    Column("memory_sources", "source", "user", "user:"),
    Column("memory_sources", "source", "sender", "sender:"),
    Column("turn_records", "sender", "sender"),
    Column("turn_records", "user_id"),
    Column("legacy_user_agent_prompt_customizations", "user_id"),
    Column("legacy_agent_long_term_memory", "user_id"),
)
SHARED: Final = frozenset({"user_settings", "legacy_user_agent_prompt_customizations", "legacy_agent_long_term_memory"})
"""Tables whose rows belong to no chain: they have no agent, or are not of this Charter."""


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
                sql.append(f"CAST({column.name} AS TEXT) IN ({marks(len(held))})")
                values += held
        return Clause(f"({' OR '.join(sql)})", tuple(values)) if sql else NOBODY

    def notes(self) -> Clause:
        """The condition for notes: theirs, said by them, or made from what they said."""
        own = self.rows("agent_long_term_memory")
        told = self.rows("memory_sources")
        made = f"note_id IN (SELECT note_id FROM memory_sources WHERE {told.sql})"
        return Clause(f"({own.sql} OR {made})", (*own.values, *told.values))

    def chains(self, agent: str) -> list[str]:
        """Every chain of theirs with an agent, whether it is there or not."""
        codes = {code for name in self.names for code in (self.keys.person(name), pseudonym(name, None))}
        return [f"{agent}/{code}" for code in sorted(codes)]


def find(read: Callable[..., Any], keys: KeyRing, person: str) -> Theirs:
    """Looks for a person's names in every column that can hold one."""
    same = _same(person)
    key = _key(person)
    lower = "lower" if _is_address(key) else ""
    found: dict[Column, tuple[str, ...]] = {}
    for column in NAMES:
        cell = f"CAST({column.name} AS TEXT)"
        near = f"SELECT DISTINCT {cell} FROM {column.table} WHERE replace({lower}({cell}), ?, '') <> {lower}({cell})"
        rows: list[Row] = list(read(near, key))
        near_ones = sorted(row[0] for row in rows if row[0].startswith(column.prefix))
        found[column] = tuple(name for name in near_ones if same[column.sort](name[len(column.prefix) :]))
    names = {name[len(column.prefix) :] for column, held in found.items() for name in held}
    return Theirs(found, tuple(sorted(names)), keys)


def _same(person: str) -> Mapping[str, Callable[[str], bool]]:
    """Whether a name is this person's, by the sort of name it is."""
    if not storable("person", person).strip():
        raise BadValue("person", "must not be empty")
    key = _key(person)
    address = _is_address(key)

    def user(name: str) -> bool:
        return name == person or (address and name.lower() == key)

    return {
        "user": user,
        "sender": lambda name: _key(name) == key,
        "said": lambda name: user(name) or name == key,
    }


def _is_address(key: str) -> bool:
    return key.startswith("0x") and len(key) == 42


def _key(name: str) -> str:
    try:
        return sender_key(name)
    except BadValue:  # almost an address: as a user's name it is as good as any
        return name.strip()
