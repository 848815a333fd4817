"""What every request passes before anything reads it: the right host, an origin of ours, a size, a pace."""

from __future__ import annotations

import re
import threading
import time
from collections import Counter, OrderedDict
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from dataclasses import dataclass
from typing import Any, Final

from starlette.requests import HTTPConnection

from ..core.errors import TooMany
from .problems import Form
from .who import COOKIE, by_cookie, hash_of, presented

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

SAFE: Final = frozenset({"GET", "HEAD", "OPTIONS"})
CONTENT_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; font-src 'self'; connect-src 'self'; "
    "form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)
HEADERS: Final = tuple(
    (name.encode(), value.encode())
    for name, value in {
        "content-security-policy": CONTENT_POLICY,
        "x-content-type-options": "nosniff",
        "x-frame-options": "DENY",
        "referrer-policy": "no-referrer",
        "cross-origin-opener-policy": "same-origin",
        "cross-origin-resource-policy": "same-origin",
    }.items()
)
_LENGTH: Final = re.compile("[0-9]{1,19}")
KEPT: Final = 10_000  # callers whose pace is remembered


@dataclass(frozen=True, slots=True)
class Limits:
    """What one request may weigh, and how many one caller may make: `per_second`, and `burst` in a row.

    `at_once` is how many of theirs may be under way: what waits for a model holds a thread, and one caller is not to
    hold all of them.
    """

    body_bytes: int = 1_000_000
    per_second: float = 50.0
    burst: int = 200
    at_once: int = 32


class Outside:
    """The outermost layer. `hosts` are the names this server answers to, with their ports; "*" is any name; `form` is
    how an error is written on a path."""

    def __init__(
        self, app: App, *, hosts: Callable[[], frozenset[str]], limits: Limits, form: Callable[[str], Form]
    ) -> None:
        self._app = app
        self._hosts = hosts
        self._form = form
        self._limits = limits
        self._pace = Pace(limits)
        self._under_way: Counter[str] = Counter()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request = HTTPConnection(scope)
        who = _who(request)
        refused = self._refuse(scope, request.headers, who)
        if refused is not None:
            await _say(send, self._form(scope["path"]), *refused)
            return
        self._under_way[who] += 1
        try:
            await self._app(scope, _Capped(receive, self._limits.body_bytes), _with_headers(send))
        finally:
            self._under_way[who] -= 1
            if not self._under_way[who]:
                del self._under_way[who]

    def _refuse(self, scope: Scope, headers: Mapping[str, str], who: str) -> tuple[int, str, str, str] | None:
        """Status, code, message and how long to wait, for a request that goes no further."""
        hosts = self._hosts()
        if "*" not in hosts and headers.get("host", "").lower() not in hosts:
            return 421, "HOST_UNKNOWN", "this server does not answer to that name; start it with --host-name NAME", ""
        if scope["method"] not in SAFE and (said := _foreign(scope, headers, hosts)):
            return 403, "ORIGIN_FOREIGN", said, ""
        length = headers.get("content-length", "0")
        if not _LENGTH.fullmatch(length):
            return 400, "BAD_LENGTH", "content-length is not a number", ""
        if int(length) > self._limits.body_bytes:
            return 413, "BODY_TOO_LARGE", f"a request has at most {self._limits.body_bytes:,} bytes", ""
        try:
            if self._under_way[who] >= self._limits.at_once:
                raise TooMany(f"at most {self._limits.at_once} requests at once", retry_after=1.0)
            self._pace.step(who)
        except TooMany as error:
            return 429, error.code, str(error), str(int(error.retry_after) + 1)
        return None


def _foreign(scope: Scope, headers: Mapping[str, str], hosts: frozenset[str]) -> str:
    """Why a request that changes something does not come from a page of ours; empty when it may."""
    origin = headers.get("origin", "")
    site = headers.get("sec-fetch-site", "")
    if origin:
        name = origin.partition("://")[2].lower()
        same = name in hosts if "*" not in hosts else name == headers.get("host", "").lower()
        return "" if same else "the request comes from a page of another origin"
    if site and site not in ("same-origin", "none"):
        return "the request comes from a page of another site"
    if COOKIE in headers.get("cookie", "") and by_cookie(headers):
        return "a request by cookie names its origin; send the Origin header, or a token"
    return ""


def _who(request: HTTPConnection) -> str:
    """Whose pace this is: that of a token, in whichever form it comes, else that of an address. Only a hash is held."""
    secret, cookie = presented(request)
    digest = hash_of(secret) if secret else cookie.partition(".")[0][:64]
    return digest or (request.client.host if request.client else "")


class Pace:
    """A bucket of requests for each caller, refilled as time goes."""

    def __init__(self, limits: Limits, clock: Callable[[], float] = time.monotonic) -> None:
        self._limits = limits
        self._clock = clock
        self._lock = threading.Lock()
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def step(self, who: str, cost: float = 1.0) -> None:
        """Takes one request from this caller's bucket; TooMany when it is empty."""
        now, limits = self._clock(), self._limits
        with self._lock:
            left, since = self._buckets.pop(who, (float(limits.burst), now))
            left = min(left + (now - since) * limits.per_second, float(limits.burst))
            enough = left >= cost
            self._buckets[who] = (left - cost if enough else left, now)
            if len(self._buckets) > KEPT:
                self._buckets.popitem(last=False)
        if not enough:
            raise TooMany("too many requests", retry_after=(cost - left) / limits.per_second)


class _Capped:
    """Hands on the body of a request while it is within its size; more than that is an error the app answers."""

    def __init__(self, receive: Receive, most: int) -> None:
        self._receive = receive
        self._left = most

    async def __call__(self) -> Message:
        message = await self._receive()
        if message["type"] == "http.request":
            self._left -= len(message.get("body", b""))
            if self._left < 0:
                raise BodyTooLarge
        return message


class BodyTooLarge(Exception):
    """A body without a length went past what a request may weigh."""


def _with_headers(send: Send) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            there = {name for name, _ in message["headers"]}
            message["headers"] = [*message["headers"], *(row for row in HEADERS if row[0] not in there)]
        await send(message)

    return sending


async def _say(send: Send, form: Form, status: int, code: str, message: str, wait: str) -> None:
    body = form(status, code, message)
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode()), *HEADERS]
    if wait:
        headers.append((b"retry-after", wait.encode()))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
