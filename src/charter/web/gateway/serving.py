"""One request is one turn: it runs in a thread, its words leave as they may, and who goes away ends it."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from starlette.responses import Response

from ... import logs
from ...agent import Unwatched, new_id
from ...channels.web import Parts
from ...core.errors import CharterError
from ...written import ascii_json
from .asked import Api, Asked, Head
from .choosing import agent_for, incoming_for
from .errors import Problem, problem_of
from .reading import body_of

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.types import Receive, Scope, Send

    from ...house import House
    from ...turn import Turn
    from ..who import Caller

PATIENCE_SECONDS: Final = 60.0
JSON: Final = "application/json"
ROLES: Final = ("operator", "user")
Who = Callable[["Request"], "Caller"]


class Quiet(Unwatched):
    """Looks on for a caller who waits for the whole: only whether they are still there counts."""

    def __init__(self, parts: Parts) -> None:
        self.stopped = parts.stopped  # type: ignore[method-assign]


@dataclass(slots=True)
class Work:
    """A request under way, between its thread and the loop; `asked` and `late` are known once the thread got there."""

    api: Api
    request: Request
    data: bytes = field(repr=False)
    parts: Parts
    id: str
    asked: Asked | None = field(default=None, repr=False)
    late: bool = False

    def __repr__(self) -> str:
        return f"Work({self.id!r})"

    def problem(self, error: BaseException) -> Problem:
        if not isinstance(error, CharterError):
            logs.failed(error)
        return problem_of(error, late=self.late)

    @property
    def head(self) -> Head:
        assert self.asked is not None
        return Head(self.id, int(time.time()), self.asked.model)


class Gateway:
    """Answers requests of both vendors' clients with turns of a house."""

    def __init__(self, house: House, who: Who, *, threads: int, patience_s: float = PATIENCE_SECONDS) -> None:
        self._house = house
        self._who = who
        self._patience_s = patience_s
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="gateway")

    def caller(self, request: Request) -> Caller:
        """Who calls; only people and their applications speak here."""
        return self._who(request).must_be(*ROLES)

    async def in_thread(self, work: Callable[[], Any]) -> Any:
        return await asyncio.get_running_loop().run_in_executor(self._pool, work)

    async def answer(self, api: Api, request: Request) -> Response:
        """One turn, whole or in parts; an error before the first word has its status."""
        work = Work(api, request, await request.body(), Parts(), new_id())
        turn = asyncio.get_running_loop().run_in_executor(self._pool, self._take, work)
        turn.add_done_callback(_looked_at)
        gone = asyncio.create_task(_gone(request.receive, work.parts))
        try:
            first = await _first(work.parts)
            if first is not None:
                return Streamed(work, turn, first, more=True)
            done = await turn
        except Exception as error:  # the one edge that answers: whatever a turn ended with
            return said(api, work.problem(error), work.id)
        finally:
            gone.cancel()
        assert work.asked is not None
        if work.asked.stream:
            return Streamed(work, turn, done.reply, more=False)
        return Response(ascii_json(api.whole(work.head, work.asked, done)), 200, named(work.id, done), JSON)

    def _take(self, work: Work) -> Turn:
        """In a thread: who it is, what is asked, and the turn."""
        began, limit = time.monotonic(), float("inf")
        try:
            caller = self.caller(work.request)
            asked = work.asked = work.api.read(body_of(work.data))
            headers = work.request.headers
            name = agent_for(caller, asked.model, headers, self._house.agents)
            incoming = incoming_for(caller, asked, headers, work.id)
            policy = self._house.agent(name).charter.channels.get(incoming.channel)
            limit = policy.max_seconds if policy is not None else limit
            watch = work.parts if asked.stream else Quiet(work.parts)
            return self._house.ask(name, incoming, watch, patience_s=self._patience_s)
        finally:
            work.late = time.monotonic() - began >= limit
            work.parts.end()


async def _first(parts: Parts) -> str | None:
    """The first words of a turn; None when it ended without any on the way."""
    async with contextlib.aclosing(aiter(parts)) as happened:  # type: ignore[type-var]
        async for one in happened:
            if one.kind == "text":
                return str(one.text)
    return None


def _looked_at(turn: asyncio.Future[Turn]) -> None:
    """So that a turn whose client went away is not reported as an error nobody saw: its record has it."""
    if not turn.cancelled():
        turn.exception()


async def _gone(receive: Receive, parts: Parts) -> None:
    """Ends the turn when the client goes away."""
    while (await receive())["type"] != "http.disconnect":
        pass
    parts.stop()


def named(message_id: str, turn: Turn | None = None) -> dict[str, str]:
    """The headers that both vendors' clients keep as the id of a request; the turn's own where it is known."""
    more = {} if turn is None else {"x-charter-turn": turn.id}
    return {"x-request-id": message_id, "request-id": message_id, "cache-control": "no-store", **more}


def said(api: Api, problem: Problem, message_id: str) -> Response:
    """An error in the vendor's form."""
    body = api.error(problem.status, problem.code, problem.message, problem.param)
    return Response(ascii_json(body), problem.status, {**named(message_id), **problem.headers}, JSON)


class Streamed(Response):
    """An answer in parts: the first is here already, and `more` may come."""

    def __init__(self, work: Work, turn: asyncio.Future[Turn], first: str, *, more: bool) -> None:
        super().__init__(None, 200, {**named(work.id), "x-accel-buffering": "no"}, "text/event-stream")
        del self.headers["content-length"]
        self._work, self._turn, self._first, self._more = work, turn, first, more

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        assert self._work.asked is not None
        events = self._work.api.stream(self._work.head, self._work.asked)
        gone = asyncio.create_task(_gone(receive, self._work.parts))

        async def sent(data: bytes, more: bool = True) -> None:
            await send({"type": "http.response.body", "body": data, "more_body": more})

        try:
            await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
            await sent(events.begin() + (events.part(self._first) if self._first else b""))
            if self._more:
                async for part in self._work.parts:
                    if part.kind == "text":
                        await sent(events.part(part.text))
            await sent(await self._last(events), more=False)
        finally:
            self._work.parts.stop()
            gone.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await gone

    async def _last(self, events: Any) -> bytes:
        try:
            return bytes(events.end(await self._turn))
        except Exception as error:  # words are out already: the error has to be said among them
            problem = self._work.problem(error)
            api = self._work.api
            return bytes(events.fail(api.error(problem.status, problem.code, problem.message, problem.param)))
