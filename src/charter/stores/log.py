"""The change log in SQL: a row follows from the one before it, in the transaction of what it tells of."""

from __future__ import annotations

from ..core.chain import START, link_hash, pseudonym
from ..core.keyring import KeyRing
from ..core.records import Author, LogRow, Place
from ..written import ascii_json
from .database import Database, Run, named, storable

_HEAD = "SELECT seq, sha256 FROM chain_heads WHERE chain = ?"
_APPEND = """INSERT INTO change_log (chain, seq, kind, place, version, content_sha256, actor, at_ns, detail,
    prev_sha256, sha256, seal, key_id) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"""
_FIRST = "INSERT INTO chain_heads (seq, sha256, chain) VALUES (?, ?, ?)"
_NEXT = "UPDATE chain_heads SET seq = ?, sha256 = ? WHERE chain = ?"
_ROWS = """SELECT chain, seq, kind, place, version, content_sha256, actor, at_ns, detail, prev_sha256, sha256, seal
    FROM change_log WHERE chain = ? AND seq > ? ORDER BY seq"""


def chain_of(db: Database, agent: str, person: str = "") -> str:
    """The chain of an agent, or of one person with it: then the name is a pseudonym."""
    named("agent", agent)
    return f"{agent}/{db.keys.person(storable('person', person))}" if person else agent


def chain_then(keys: KeyRing, agent: str, person: str, key_id: str) -> str:
    """The chain that a row of this person was written to: the key of its hash tells whether there was one then."""
    if not person:
        return agent
    return f"{agent}/{keys.person(person) if key_id else pseudonym(person, None)}"


def chain_at(db: Database, place: Place) -> str:
    return chain_of(db, place.agent, place.user)


def actor_of(db: Database, by: Author, *, personal: bool) -> str:
    """Who, as the log keeps it: in a person's chain, and for a user anywhere, no name."""
    storable("author", by.mark)
    if by.actor == "user":
        return f"user:{db.keys.person(by.name)}"
    return str(by.actor) if personal and not by.turn else by.mark


def append(
    db: Database,
    run: Run,
    chain: str,
    *,
    kind: str,
    place: str,
    version: int = 0,
    content_sha256: str = "",
    actor: str,
    at_ns: int,
    detail: str = "",
) -> None:
    """One more row; the caller holds the chain's lock."""
    head = run(_HEAD, chain)
    seq, prev = (head[0][0] + 1, head[0][1]) if head else (1, START)
    fields = (prev, chain, seq, kind, place, version, content_sha256, actor, at_ns, detail)
    sha256 = link_hash(*fields, write=ascii_json)
    seal, key_id = db.keys.seal(sha256)
    run(
        _APPEND, chain, seq, kind, place, version, content_sha256, actor, at_ns, detail, prev, sha256, seal, key_id
    )  # fmt: skip
    run(_NEXT if head else _FIRST, seq, sha256, chain)


def rows(db: Database, chain: str, after: int = 0) -> list[LogRow]:
    """A chain, oldest first."""
    return [LogRow(*row) for row in db.read(_ROWS, chain, after)]
