"""Tools of MCP servers join through the same gate: they execute unless configured, and all they say is text of others.

One thread with an event loop keeps the connection; everything else here is plain calls. A server that is slow, dies or
answers nonsense is a Refused with a code, never a hang and never its words.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
import re
import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from concurrent.futures import CancelledError, Future
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, TypeVar

from ..core.errors import BadValue, MissingExtra, Refused
from ..core.policy import ToolClass, ToolPolicy
from ..core.ports import Tool, ToolSpec
from .contained import Uncontained, schema, words
from .function import NAME
from .result import Result, answered

if TYPE_CHECKING:
    import mcp

MAX_TOOLS: Final = 128
CLOSING_S: Final = 15.0
THREAD: Final = "charter-mcp"
_SERVER_NAME: Final = re.compile(r"(?!.*__)[a-zA-Z0-9_-]{1,32}")

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Server:
    """An MCP server: a command that speaks on its standard streams, or the address of one; never both.

    `kinds` gives classes to tools by the server's own names for them; one that is not named there executes.
    """

    name: str
    command: tuple[str, ...] = field(default=(), repr=False)
    url: str = field(default="", repr=False)
    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    kinds: Mapping[str, str] = field(default_factory=dict)
    start_s: float = 30.0
    timeout_s: float = 30.0

    def __post_init__(self) -> None:
        if not _SERVER_NAME.fullmatch(self.name):
            raise BadValue("mcp server", "a name is 1 to 32 of a-z, A-Z, 0-9, _ and -, without two _ in a row")
        if bool(self.command) == bool(self.url):
            raise BadValue(self.name, "give a command or a url, one of them")
        if self.url and not self.url.startswith(("https://", "http://")):
            raise BadValue(self.name, "the url of an MCP server begins with https:// or http://")
        if not {*self.kinds.values()} <= {*ToolClass}:
            raise BadValue(self.name, f"a kind is one of: {', '.join(ToolClass)}")
        if not (self.start_s > 0 and self.timeout_s > 0):
            raise BadValue(self.name, "start_s and timeout_s are more than 0")


def connect(server: Server) -> Connection:
    """The server, started or reached, with its tools listed; Refused when it does not come up."""
    try:
        import mcp  # noqa: F401
    except ImportError:
        raise MissingExtra("mcp", "a tool of an MCP server") from None
    return Connection(server)


class Connection:
    """A server that is up; `tools` are its tools, `notices` says which were left out and why. Close it when done."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self.tools: tuple[Tool, ...] = ()
        self.notices: tuple[str, ...] = ()
        self._up: Future[list[mcp.Tool]] = Future()
        self._loop = asyncio.new_event_loop()
        self._stop = asyncio.Event()
        self._client: mcp.Client | None = None
        self._thread = threading.Thread(target=self._run, name=f"{THREAD}-{server.name}", daemon=True)
        _hush()
        self._thread.start()
        try:
            self._take(self._up.result(server.start_s + CLOSING_S))
        except BaseException:
            self.close()
            raise

    def __repr__(self) -> str:
        return f"Connection({self.server.name!r}, {len(self.tools)} tools)"

    def __enter__(self) -> Connection:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Ends the connection, and the server if it was started here; again is no harm."""
        with contextlib.suppress(RuntimeError):  # the loop is closed already
            self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(CLOSING_S)

    # ── in the thread of the connection ───────────────────────────────────────────────────────────────────────────

    def _run(self) -> None:
        try:
            self._loop.run_until_complete(self._keep())
        finally:
            self._loop.run_until_complete(self._loop.shutdown_asyncgens())
            self._loop.close()

    async def _keep(self) -> None:
        """Up, then waiting until it is closed; what goes wrong on the way goes to whoever waits."""
        try:
            async with contextlib.AsyncExitStack() as stack:
                async with asyncio.timeout(self.server.start_s):
                    self._client = await stack.enter_async_context(_client(self.server))
                    listed = await _list(self._client)
                self._up.set_result(listed)
                await self._stop.wait()
        except Exception as error:  # the edge to another program: whatever it is, it becomes one of our answers
            if not self._up.done():
                self._up.set_exception(_refused(error, self.server.name, self.server.start_s))
        finally:
            self._client = None

    async def _call(self, name: str, arguments: dict[str, Any]) -> Result:
        if self._client is None:
            raise ConnectionError
        async with asyncio.timeout(self.server.timeout_s):
            return _answer(await self._client.call_tool(name, arguments))

    # ── in the thread of whoever calls ────────────────────────────────────────────────────────────────────────────

    def _take(self, listed: list[mcp.Tool]) -> None:
        tools: dict[str, Tool] = {}
        notices: list[str] = []
        for number, found in enumerate(listed):
            name = f"{self.server.name}__{found.name}"
            try:
                if len(tools) == MAX_TOOLS:
                    raise Uncontained(f"more than {MAX_TOOLS} tools")
                if not NAME.fullmatch(name) or name in tools:
                    raise Uncontained("its name is taken, too long or not plain")
                tools[name] = self._tool(name, found)
            except Uncontained as error:
                shown = found.name if NAME.fullmatch(found.name) else f"tool {number + 1}"
                notices.append(f"{self.server.name}: {shown} is left out: {error}")
        self.tools, self.notices = tuple(tools.values()), tuple(notices)

    def _tool(self, name: str, found: mcp.Tool) -> Tool:
        def call(arguments: Mapping[str, Any]) -> str:
            return self._ask(name, lambda: self._call(found.name, _sendable(name, arguments)))

        policy = ToolPolicy(name, ToolClass(self.server.kinds.get(found.name, "EXECUTE")))
        return Tool(ToolSpec(name, words(found.description or ""), schema(found.input_schema)), policy, call)

    def _ask(self, name: str, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Runs it in the connection's thread and waits, never longer than the server may take and a little."""
        coroutine = work()
        try:
            waiting = asyncio.run_coroutine_threadsafe(coroutine, self._loop)
        except RuntimeError:  # the loop is closed
            coroutine.close()
            raise _refused(ConnectionError(), name, 0) from None
        try:
            return waiting.result(self.server.timeout_s + CLOSING_S)
        except (Exception, CancelledError) as error:  # the edge to another program, again
            raise _refused(error, name, self.server.timeout_s) from None
        finally:
            waiting.cancel()


# ── the client ────────────────────────────────────────────────────────────────────────────────────────────────────


def _client(server: Server) -> mcp.Client:
    """A client that offers the server nothing to ask of us, and keeps nothing of what it said."""
    import mcp

    transport = _program(server) if server.command else _address(server)
    return mcp.Client(transport, cache=None, input_required_max_rounds=1)


@contextlib.asynccontextmanager
async def _program(server: Server) -> AsyncIterator[Any]:
    """A program of ours, with the settings it was given and a few harmless ones; what it complains of is not shown."""
    import mcp

    command, *rest = server.command
    asked = mcp.StdioServerParameters(
        command=command, args=rest, env=dict(server.env), encoding_error_handler="replace"
    )
    with Path(os.devnull).open("w") as quiet:
        async with mcp.stdio_client(asked, errlog=quiet) as streams:
            yield streams


@contextlib.asynccontextmanager
async def _address(server: Server) -> AsyncIterator[Any]:
    import httpx2
    from mcp.client.streamable_http import streamable_http_client

    timeout = httpx2.Timeout(server.start_s, read=server.timeout_s)
    async with (
        httpx2.AsyncClient(headers=dict(server.headers), timeout=timeout) as http,
        streamable_http_client(server.url, http_client=http) as streams,
    ):
        yield streams


async def _list(client: mcp.Client) -> list[mcp.Tool]:
    listed: list[mcp.Tool] = []
    cursor: str | None = None
    while len(listed) <= MAX_TOOLS:
        page = await client.list_tools(cursor=cursor)
        listed += page.tools
        cursor = page.next_cursor
        if cursor is None or not page.tools:
            break
    return listed


def _answer(result: mcp.types.CallToolResult) -> Result:
    """A result as text; what is not text is named with its size."""
    parts = [_part(part) for part in result.content]
    if not parts and result.structured_content is not None:
        parts = [json.dumps(result.structured_content, ensure_ascii=False)]
    text = "\n".join(parts) or "(the tool answered with nothing)"
    return answered(f"The tool reports an error:\n{text}" if result.is_error else text, foreign=True)


def _part(part: mcp.types.ContentBlock) -> str:
    if part.type == "text":
        return part.text
    if part.type == "resource":
        inner = part.resource
        return getattr(inner, "text", None) or f"[a resource of type {inner.mime_type}]"
    if part.type == "resource_link":
        return f"[a link: {part.uri}]"
    return f"[{part.type} of type {part.mime_type}, {len(part.data):,} characters of base64]"


def _sendable(name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments that can be written as JSON; what cannot would end the connection for everyone."""
    try:
        json.dumps(dict(arguments), ensure_ascii=False, allow_nan=False).encode()
    except (TypeError, ValueError, RecursionError):
        raise Refused("TOOL_BAD_ARGUMENTS", f"{name}: arguments that are no JSON object; correct the call") from None
    return dict(arguments)


def _refused(error: BaseException, name: str, within_s: float) -> Refused:
    """What went wrong, as a code and a reason of ours; a server's own words are never in it."""
    from httpx2 import TimeoutException, TransportError
    from mcp.types import CONNECTION_CLOSED, REQUEST_TIMEOUT

    while isinstance(error, BaseExceptionGroup) and len(error.exceptions) == 1:
        error = error.exceptions[0]
    code = getattr(error, "code", None)
    if isinstance(error, Refused):
        return error
    if isinstance(error, TimeoutError | TimeoutException) or code == REQUEST_TIMEOUT:
        return Refused("TOOL_TIMEOUT", f"{name}: no answer within {within_s:g} s; try something else")
    if isinstance(error, OSError | TransportError | CancelledError) or code == CONNECTION_CLOSED:
        return Refused("TOOL_DOWN", f"{name}: the server is not running or out of reach; use another tool")
    if isinstance(code, int):
        return Refused("TOOL_FAILED", f"{name}: the server answered with error {code}; try something else")
    return Refused("TOOL_NONSENSE", f"{name}: the server's answer cannot be read ({type(error).__name__})")


_LOGS: Final = (
    "client",
    "httpx2",
    *(f"httpcore2.{part}" for part in ("connection", "http11", "http2", "proxy", "socks")),
)


def _hush() -> None:
    """What the client logs in our thread may hold a server's words and keys, so it is dropped where it is made."""
    own = [name for name in logging.root.manager.loggerDict if name.partition(".")[0] == "mcp"]
    for log in map(logging.getLogger, (*own, *_LOGS)):
        if _not_ours not in log.filters:
            log.addFilter(_not_ours)


def _not_ours(record: logging.LogRecord) -> bool:
    return not (record.threadName or "").startswith(THREAD)
