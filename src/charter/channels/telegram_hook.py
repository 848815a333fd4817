"""A webhook: who does not know its secret is refused, and a message is kept before it is said to have come."""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import json
import socket
from collections.abc import Awaitable, Callable, Iterator, MutableMapping
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from ..core.errors import BadValue, MissingExtra

if TYPE_CHECKING:
    from .telegram import Telegram

SECRET_HEADER: Final = b"x-telegram-bot-api-secret-token"
MOST_BYTES: Final = 1_000_000

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]


def path_of(url: str) -> str:
    """The path a webhook listens on; Telegram delivers to https alone."""
    parts = urlsplit(url)
    if parts.scheme != "https" or not parts.hostname or parts.query or parts.fragment:
        raise BadValue("--webhook", "an address that Telegram can reach: https://host/path")
    return parts.path or "/"


class Hook:
    """The ASGI application: one path, one method, one secret."""

    def __init__(self, bot: Telegram, *, path: str, secret: str) -> None:
        self._bot = bot
        self._path = path
        self._secret = secret.encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            status = await self._status(scope, receive)
            headers = [(b"content-length", b"0"), (b"connection", b"close")]
            await send({"type": "http.response.start", "status": status, "headers": headers})
            await send({"type": "http.response.body", "body": b""})

    async def _status(self, scope: Scope, receive: Receive) -> int:
        given = dict(scope["headers"]).get(SECRET_HEADER, b"")
        if not hmac.compare_digest(given, self._secret):
            return 403
        if scope["path"] != self._path:
            return 404
        if scope["method"] != "POST":
            return 405
        body = await _body(receive)
        if body is None:
            return 413
        try:
            update = self._bot.wire.read(json.loads(body))
        except (ValueError, RecursionError):
            update = None
        if update is None:  # it will not be better the next time, so Telegram may forget it
            self._bot.desk.failed(code="TELEGRAM_UNREADABLE")
            return 200
        return 200 if await self._bot.receive(update) else 503  # the latter is delivered again


async def _body(receive: Receive) -> bytes | None:
    """The whole body; None when it is too long."""
    body = b""
    while len(body) <= MOST_BYTES:
        event = await receive()
        body += event.get("body", b"")
        if not event.get("more_body", False):
            return body if len(body) <= MOST_BYTES else None
    return None


def listening(host: str, port: int) -> socket.socket:
    """A socket on this address, before Telegram is told to deliver there."""
    try:
        return socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
    except (OSError, OverflowError) as error:
        why = getattr(error, "strerror", "") or "no such port"
        raise BadValue("--port", f"cannot listen on {host} port {port}: {why}") from None


async def serving(hook: Hook, at: socket.socket) -> None:
    """Serves the hook until this is cancelled; it writes no log and takes no signals."""
    try:
        import uvicorn
    except ImportError:
        raise MissingExtra("serve", "a webhook") from None

    class Server(uvicorn.Server):
        @contextlib.contextmanager
        def capture_signals(self) -> Iterator[None]:
            yield  # they are the command's

    config = uvicorn.Config(
        hook, lifespan="off", log_config=None, log_level="critical", access_log=False, server_header=False,
        timeout_graceful_shutdown=5,
    )  # fmt: skip
    server = Server(config)
    task = asyncio.create_task(server.serve(sockets=[at]))
    try:
        await asyncio.shield(task)
    finally:
        server.should_exit = True
        await task
        at.close()
