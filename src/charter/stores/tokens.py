"""Tokens in SQL: a secret is known by its hash alone; a token that was revoked opens nothing."""

from __future__ import annotations

import re
from typing import get_args

from ..core.errors import BadValue, NotStored
from ..core.records import Author
from ..core.served import Role, Token
from .conversations import MAX_SENDER_CHARS
from .database import Database, named, one, storable, when

_HASH = re.compile("[0-9a-f]{64}")
_COLUMNS = "token_id, role, name, agent_name, channel, made_by, at_ns, expires_at_ns, revoked_at_ns"
_ADD = f"""INSERT INTO api_tokens ({_COLUMNS}, sha256) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT DO NOTHING RETURNING 1"""
_OF = f"SELECT {_COLUMNS} FROM api_tokens WHERE sha256 = ? AND revoked_at_ns = 0"
_ALL = f"SELECT {_COLUMNS} FROM api_tokens ORDER BY at_ns, token_id"
_REVOKE = f"""UPDATE api_tokens SET revoked_by = CASE WHEN revoked_at_ns = 0 THEN ? ELSE revoked_by END,
    revoked_at_ns = CASE WHEN revoked_at_ns = 0 THEN ? ELSE revoked_at_ns END WHERE token_id = ? RETURNING {_COLUMNS}"""


def add_token(db: Database, token: Token, sha256: str) -> None:
    """Keeps who the bearer of a secret is, under the hash of the secret."""
    if token.role not in get_args(Role):
        raise BadValue("role", f"one of {', '.join(get_args(Role))}")
    cells = (
        named("token", token.id), token.role, named("name", token.name, limit=MAX_SENDER_CHARS),
        named("agent", token.agent, empty=True), named("channel", token.channel, empty=True),
        storable("author", token.by), when("at", token.at_ns), when("expires", token.expires_at_ns),
        when("revoked", token.revoked_at_ns), hashed(sha256),
    )  # fmt: skip
    with db.writing() as run:
        if not run(_ADD, *cells):
            raise BadValue("token", "there is one of this id or this secret already; make a new one")


def hashed(sha256: str) -> str:
    """A hash as it is kept; never the secret itself."""
    if not _HASH.fullmatch(sha256):
        raise BadValue("hash", "the SHA-256 of a secret in 64 hex digits, not the secret")
    return sha256


def token_of(db: Database, sha256: str) -> Token | None:
    """Whose token has this hash; None when there is none, or it was revoked."""
    row = one(db.read(_OF, sha256))
    return Token(*row) if row else None


def tokens(db: Database) -> list[Token]:
    """Every token, oldest first, those that were revoked too."""
    return [Token(*row) for row in db.read(_ALL)]


def revoke_token(db: Database, token_id: str, *, by: Author, at_ns: int) -> Token:
    """From here on the token opens nothing; one that was revoked before stays as it was."""
    mark = storable("author", by.mark)
    with db.writing() as run:
        row = one(run(_REVOKE, mark, max(when("at", at_ns), 1), token_id))
    if row is None:
        raise NotStored("token of this id", "see: charter token list")
    return Token(*row)
