"""Tokens: an operator of every agent makes and revokes them; a secret is shown once and kept as a hash."""

from __future__ import annotations

from typing import Annotated

from fastapi import Path
from pydantic import Field

from ...app import now_ns
from ...core.errors import NotAllowed, UnknownChannel
from ...core.policy import CHANNELS
from ...core.served import Role
from ...core.served import Token as Kept
from ..who import Caller, make_token
from .common import WRITING, Body, In, Name, Told, Who, open_to, room

router = room("tokens")


class Token(Told):
    """A token, never its secret; 0 is not."""

    id: str
    role: Role
    name: str
    agent: str
    channel: str
    by: str
    at_ns: int
    expires_at_ns: int
    revoked_at_ns: int


class Made(Token):
    """A new token; its secret is shown this once."""

    secret: str = Field(repr=False)


class Wanted(Body):
    """Whom a token is for: `agent` binds it to one, `channel` says by which its messages come."""

    role: Role
    name: Annotated[Name, Field(min_length=1)]
    agent: Name = ""
    channel: Name = ""
    days: Annotated[float, Field(ge=0, le=36_500, strict=False)] = 0


@router.get("/tokens", response_model=list[Token], **open_to("operator", fails=()))
def tokens(who: Who, house: In) -> list[Token]:
    """Every token, oldest first, those that were revoked too."""
    _of_every_agent(who)
    return [_told(one) for one in house.store.tokens()]


@router.post("/tokens", response_model=Made, status_code=201, **open_to("operator", fails=WRITING))
def make(who: Who, house: In, body: Wanted) -> Made:
    """Make a token."""
    _of_every_agent(who)
    if body.agent:
        house.agent(body.agent)
    if body.channel and body.channel not in CHANNELS:
        raise UnknownChannel("channel", body.channel, tuple(CHANNELS))
    token, secret = make_token(
        house.store, body.role, body.name, agent=body.agent, channel=body.channel, by=who.author.mark, days=body.days
    )
    return Made(**_told(token).model_dump(), secret=secret)


@router.delete("/tokens/{token}", response_model=Token, **open_to("operator", fails=WRITING))
def revoke(
    who: Who, house: In, token: Annotated[str, Path(max_length=64, description="The token's id.")]
) -> Token:  # fmt: skip
    """Revoke a token: from here on it opens nothing."""
    _of_every_agent(who)
    return _told(house.store.revoke_token(token, by=who.author, at_ns=now_ns()))


def _of_every_agent(who: Caller) -> None:
    """Who is bound to one agent could else make themselves a token for all."""
    if who.agent:
        raise NotAllowed("tokens are for an operator of every agent; this token is bound to one")


def _told(token: Kept) -> Token:
    return Token(**{name: getattr(token, name) for name in Token.model_fields})
