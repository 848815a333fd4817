"""Peers in SQL: whoever writes on a channel is a stranger until a code that an operator made says who they are."""

from __future__ import annotations

from ..core.errors import BadValue, NotStored
from ..core.records import Author
from ..core.served import Peer
from .database import Database, named, one, storable, when
from .tokens import hashed

_COLUMNS = "agent_name, channel, peer, user_id, made_by, at_ns"
_WHO = "agent_name = ? AND channel = ? AND peer = ?"
_ADD = """INSERT INTO channel_pairings (code_sha256, agent_name, channel, user_id, made_by, at_ns, expires_at_ns)
    VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (code_sha256) DO NOTHING RETURNING 1"""
_USE = """DELETE FROM channel_pairings WHERE code_sha256 = ? AND agent_name = ? AND channel = ? AND expires_at_ns > ?
    RETURNING user_id, made_by"""
_PAIR = f"""INSERT INTO channel_peers ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (agent_name, channel, peer)
    DO UPDATE SET user_id = excluded.user_id, made_by = excluded.made_by, at_ns = excluded.at_ns"""


def add_pairing(
    db: Database, code_sha256: str, *, agent: str, channel: str, user: str, by: Author, at_ns: int, expires_at_ns: int
) -> None:
    """Keeps the hash of a code by which somebody on this channel becomes this user; codes that are late go."""
    cells = (
        hashed(code_sha256), named("agent", agent), named("channel", channel), named("user", user),
        storable("author", by.mark), when("at", at_ns), when("expires", expires_at_ns),
    )  # fmt: skip
    with db.writing() as run:
        run("DELETE FROM channel_pairings WHERE expires_at_ns <= ?", at_ns)
        if not run(_ADD, *cells):
            raise BadValue("code", "there is this code already; make another one")


def pair(db: Database, agent: str, channel: str, peer: str, code_sha256: str, *, at_ns: int) -> Peer | None:
    """Who a peer is from here on, by a code that is used up with it; None when no such code waits for this channel."""
    cells = (named("agent", agent), named("channel", channel), named("peer", peer))
    at = when("at", at_ns)
    with db.writing() as run:
        used = one(run(_USE, code_sha256, agent, channel, at))
        if used is None:
            return None
        user, by = used
        run(_PAIR, *cells, user, by, at)
    return Peer(*cells, user, by, at)


def peer(db: Database, agent: str, channel: str, name: str) -> Peer | None:
    """Who a peer is; None for a stranger."""
    row = one(db.read(f"SELECT {_COLUMNS} FROM channel_peers WHERE {_WHO}", agent, channel, name))
    return Peer(*row) if row else None


def peers(db: Database, agent: str = "", channel: str = "") -> list[Peer]:
    """Everybody who was paired: with one agent, on one channel, or all."""
    rows = db.read(
        f"""SELECT {_COLUMNS} FROM channel_peers WHERE (agent_name = ? OR ? = '') AND (channel = ? OR ? = '')
        ORDER BY agent_name, channel, peer""",
        agent, agent, channel, channel,
    )  # fmt: skip
    return [Peer(*row) for row in rows]


def remove_peer(db: Database, agent: str, channel: str, name: str) -> Peer:
    """Makes a peer a stranger again; who they were."""
    with db.writing() as run:
        row = one(run(f"DELETE FROM channel_peers WHERE {_WHO} RETURNING {_COLUMNS}", agent, channel, name))
    if row is None:
        raise NotStored("peer of this name on this channel")
    return Peer(*row)
