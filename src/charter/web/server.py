"""One server over a house: API, gateway and pages, behind one door."""

from __future__ import annotations

import contextlib
import gc
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.responses import PlainTextResponse, Response

from .. import __version__, logs
from ..core.errors import CharterError, NotKnown
from .metrics import Metrics
from .outside import BodyTooLarge, Limits, Outside, Pace
from .problems import Form, answer_to, body_of, problem
from .who import COOKIE, Caller, Door, by_cookie

if TYPE_CHECKING:
    from starlette.requests import HTTPConnection

    from ..house import House

THREADS: Final = 64
GUESSES: Final = Limits(per_second=0.2, burst=20)  # of tokens, from one address


@dataclass(frozen=True, slots=True)
class Settings:
    """How a server behaves: the names it answers to, what a request may weigh, whether it stands behind TLS."""

    hosts: frozenset[str] = frozenset({"*"})
    limits: Limits = field(default_factory=Limits)
    secure: bool = False
    threads: int = THREADS


def make_app(house: House, key: bytes, settings: Settings | None = None) -> FastAPI:
    """The server's application; the same for one process, for many workers and for a test."""
    settings = settings or Settings()
    app = FastAPI(
        title="Charter", version=__version__, docs_url=None, redoc_url=None, openapi_url="/api/openapi.json",
        lifespan=_lifespan(settings), separate_input_output_schemas=False,
    )  # fmt: skip
    app.state.house, app.state.door, app.state.metrics = house, Door(house.store, key), Metrics()
    app.state.settings = settings
    app.state.who = _counted(app.state.door, Pace(GUESSES))
    _handle_errors(app)
    _watch_over(app)
    from . import api, gateway, pages

    app.include_router(api.router)
    app.router.routes.extend(gateway.routes(house, app.state.who))
    pages.join(app)
    app.add_middleware(_measured, metrics=app.state.metrics)
    app.add_middleware(Outside, hosts=lambda: settings.hosts, limits=settings.limits, form=form_of)
    return app


def _lifespan(settings: Settings) -> Callable[[FastAPI], contextlib.AbstractAsyncContextManager[None]]:
    @contextlib.asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        import anyio.to_thread

        anyio.to_thread.current_default_thread_limiter().total_tokens = settings.threads
        await anyio.to_thread.run_sync(warm)
        gc.collect()
        gc.freeze()  # what is there now stays: looked through again and again, it held up one request in a hundred
        yield
        gc.unfreeze()

    return lifespan


def warm() -> None:
    """Has the guards' word tables read before the first message, which would wait for them else."""
    from ..guards import check_message, check_update, scan_reply

    check_message("What is the weather like?")
    check_update("instructions", "Answer in short sentences.")
    scan_reply("It is sunny.", "Speak plainly about the weather and never about the sea.")


def _counted(door: Door, guesses: Pace) -> Callable[[HTTPConnection], Caller]:
    """The door, with a pace for those who try tokens that nobody has."""

    def who(request: HTTPConnection) -> Caller:
        try:
            return door.who(request)
        except NotKnown:
            if by_cookie(request.headers) and COOKIE not in request.cookies:
                raise  # who has no token does not guess one
            guesses.step(str(request.client.host if request.client else ""))
            raise

    return who


# ── errors ────────────────────────────────────────────────────────────────────────────────────────────────────────


def form_of(path: str) -> Form:
    """How an error is written there: a vendor's client knows its vendor's form alone."""
    from . import gateway

    return gateway.form_of(path) or body_of


def _handle_errors(app: FastAPI) -> None:
    def said(
        request: Request, status: int, code: str, message: str, headers: dict[str, str] | None = None
    ) -> Response:  # fmt: skip
        return problem(status, code, message, headers, form=form_of(request.scope["path"]))

    @app.exception_handler(CharterError)
    def known(request: Request, error: CharterError) -> Response:
        return answer_to(error, form_of(request.scope["path"]))

    @app.exception_handler(RequestValidationError)
    def malformed(request: Request, error: RequestValidationError) -> Response:
        first: dict[str, Any] = error.errors()[0] if error.errors() else {"loc": ("request",), "type": "malformed"}
        kind: str = first["type"]
        loc = first["loc"][:-1] if kind == "extra_forbidden" else first["loc"]  # the last is a word of the client's
        status = 400 if kind == "string_unicode" else 422
        where = ".".join(str(part) for part in loc)
        return said(request, status, "REQUEST_MALFORMED", f"{where}: {kind.replace('_', ' ')}")

    @app.exception_handler(HTTPException)
    def plain(request: Request, error: HTTPException) -> Response:
        status = error.status_code
        return said(request, status, f"HTTP_{status}", str(error.detail), dict(error.headers or {}))

    @app.exception_handler(BodyTooLarge)
    def heavy(request: Request, _: BodyTooLarge) -> Response:
        most = app.state.settings.limits.body_bytes
        return said(request, 413, "BODY_TOO_LARGE", f"a request has at most {most:,} bytes")

    @app.exception_handler(ClientDisconnect)
    def gone(request: Request, _: ClientDisconnect) -> Response:
        return said(request, 499, "CLIENT_GONE", "the client went away before its request was whole")

    @app.exception_handler(Exception)
    def unforeseen(request: Request, error: Exception) -> Response:
        logs.failed(error)
        return answer_to(error, form_of(request.scope["path"]))


# ── watching over it ──────────────────────────────────────────────────────────────────────────────────────────────


def _watch_over(app: FastAPI) -> None:
    @app.get("/healthz", include_in_schema=False)
    async def health() -> Response:
        """The process answers."""
        return PlainTextResponse("ok\n")

    @app.get("/readyz", include_in_schema=False)
    def ready() -> Response:
        """The store answers too, so turns can be taken."""
        app.state.house.store.db.read("SELECT 1")
        return PlainTextResponse("ok\n")

    @app.get("/metrics", include_in_schema=False)
    def metrics(request: Request) -> Response:
        """Counts of this process; for an operator's token, since they tell how busy it is."""
        app.state.who(request).must_be("operator")
        now = {"charter_turns_under_way": float(app.state.house.under_way)}
        return PlainTextResponse(app.state.metrics.text(now), media_type="text/plain; version=0.0.4")


def _measured(app: Any, metrics: Metrics) -> Any:
    """Counts every request by its route and status, and how long it took."""

    async def measured(scope: Any, receive: Any, send: Callable[[Any], Awaitable[None]]) -> None:
        if scope["type"] != "http":
            await app(scope, receive, send)
            return
        began, status = time.perf_counter(), "500"

        async def sending(message: Any) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = str(message["status"])
            await send(message)

        try:
            await app(scope, receive, sending)
        finally:
            route = getattr(scope.get("route"), "path", "none")
            metrics.count("charter_requests_total", route=route, status=status)
            metrics.took("charter_request_seconds", time.perf_counter() - began, route=route)

    return measured
