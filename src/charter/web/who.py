"""Who is at the door: the bearer of a token, or of a cookie that was made from one; nobody else comes in."""

from __future__ import annotations

import hmac
import secrets
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, Final

from ..core.errors import BadValue, NotAllowed, NotKnown
from ..core.policy import Actor
from ..core.records import Author
from ..core.served import Role, Token

if TYPE_CHECKING:
    from starlette.requests import HTTPConnection

    from ..core.served import Served

PREFIX: Final = "chk_"
COOKIE: Final = "charter"
COOKIE_SECONDS: Final = 30 * 24 * 3600
ROLES: Final[tuple[Role, ...]] = ("operator", "approver", "user", "sender")


@dataclass(frozen=True, slots=True)
class Caller:
    """Someone who was let in: what they may do, who they are, and the agent and channel their token is bound to."""

    role: Role
    name: str
    agent: str = ""
    channel: str = ""
    token_id: str = ""

    @property
    def author(self) -> Author:
        """Who they are in a record."""
        return Author(Actor.OPERATOR if self.role in ("operator", "approver") else Actor.USER, self.name)

    def must_be(self, *roles: Role) -> Caller:
        """This caller, when they have one of these roles."""
        if self.role not in roles:
            raise NotAllowed(f"this needs the role {' or '.join(roles)}; the token has {self.role}")
        return self

    def may_reach(self, agent: str) -> None:
        """Refuses an agent that this token is not for."""
        if self.agent and self.agent != agent:
            raise NotAllowed("this token is bound to another agent")


# ── tokens ────────────────────────────────────────────────────────────────────────────────────────────────────────


def new_secret() -> str:
    """A secret for a new token; it is shown once, and only its hash is kept."""
    return PREFIX + secrets.token_urlsafe(32)


def hash_of(secret: str) -> str:
    """What is kept of a secret: it has 256 bits of its own, so a plain hash hides it."""
    return sha256(secret.encode(errors="surrogatepass")).hexdigest()


def make_token(store: Served, role: Role, name: str, *, agent: str = "", channel: str = "", by: str = "",
               days: float = 0) -> tuple[Token, str]:  # fmt: skip
    """A new token and its secret."""
    if role not in ROLES:
        raise BadValue("role", f"one of {', '.join(ROLES)}")
    if ":" in name:  # telegram:5 is a chat, ana:work a session of Ana's: nobody is called so and reads what is theirs
        raise BadValue("name", "has no colon: before one stands a channel or a person, after it a chat or a session")
    secret, now = new_secret(), time.time_ns()
    expires = now + int(days * 86_400 * 10**9) if days else 0
    token = Token(secrets.token_hex(6), role, name, agent, channel, by, now, expires)
    store.add_token(token, hash_of(secret))
    return token, secret


# ── the door ──────────────────────────────────────────────────────────────────────────────────────────────────────


class Door:
    """Knows people by their tokens. `key` signs cookies; it is the installation's, so every worker takes them."""

    def __init__(self, store: Served, key: bytes, *, clock: Callable[[], int] = time.time_ns) -> None:
        self._store = store
        self._key = hmac.new(key, b"charter cookies", sha256).digest()
        self._clock = clock

    def __repr__(self) -> str:
        return "Door()"

    def who(self, request: HTTPConnection) -> Caller:
        """Who makes this request; NotKnown when nobody can tell."""
        digest = self._digest(request)
        token = self._store.token_of(digest) if digest else None
        if token is None or (token.expires_at_ns and token.expires_at_ns <= self._clock()):
            raise NotKnown("a token is needed; make one: charter token add --role user --name NAME")
        return Caller(token.role, token.name, token.agent, token.channel, token.id)

    def _digest(self, request: HTTPConnection) -> str:
        """The hash of the token that came with a request."""
        secret, cookie = presented(request)
        return hash_of(secret) if secret else self._read_cookie(cookie)

    # ── cookies ───────────────────────────────────────────────────────────────────────────────────────────────────

    def cookie(self, secret: str) -> str:
        """What a browser keeps: the token's hash and an end, signed; the secret itself stays with its owner."""
        ends = self._clock() // 10**9 + COOKIE_SECONDS
        return self._signed(f"{hash_of(secret)}.{ends}")

    def _signed(self, text: str) -> str:
        return f"{text}.{hmac.new(self._key, text.encode(), sha256).hexdigest()}"

    def _read_cookie(self, cookie: str) -> str:
        text, _, _ = cookie.rpartition(".")
        if not hmac.compare_digest(self._signed(text).encode(), cookie.encode(errors="replace")):
            return ""
        digest, _, ends = text.partition(".")
        return digest if int(ends) > self._clock() // 10**9 else ""


def presented(request: HTTPConnection) -> tuple[str, str]:
    """What comes with a request to say whose it is: a secret, as a bearer or as an Anthropic client's key, or a cookie
    where there is no such header. Who counts requests and who lets in look at the same."""
    scheme, _, secret = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer" and secret.strip():
        return secret.strip(), ""
    if key := request.headers.get("x-api-key", "").strip():
        return key, ""
    return "", request.cookies.get(COOKIE, "") if by_cookie(request.headers) else ""


def by_cookie(headers: Collection[str]) -> bool:
    """Whether a request with these headers speaks by its cookie: a browser sends one without being asked."""
    return not {"authorization", "x-api-key"} & set(headers)
