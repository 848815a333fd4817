"""The door for people: a token becomes a cookie no script can read, and leaving drops it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.concurrency import run_in_threadpool
from starlette.requests import HTTPConnection, Request
from starlette.responses import PlainTextResponse, Response

from ...core.errors import NotKnown
from ..who import COOKIE, COOKIE_SECONDS
from .asked import known, pages, typed
from .drawn import go, page, serve_file

if TYPE_CHECKING:
    from ..server import Settings
    from ..who import Caller, Door

router = pages()


@router.get("/static/{name}")
async def static(request: Request, name: str) -> Response:
    return serve_file(name, request.url.query)


@router.get("/enter")
def door(request: Request) -> Response:
    return page("enter.html", {"me": known(request), "refused": False})


@router.get("/enter/who")
def in_as(request: Request) -> Response:
    """Whose way in this is: the id of their token, or nothing. The door asks before it lets a link in."""
    me = known(request)
    return PlainTextResponse(me.token_id if me else "", headers={"cache-control": "no-store"})


@router.post("/enter")
async def enter(request: Request) -> Response:
    """Lets in whoever has a token; it is not said what was wrong with one that opens nothing."""
    secret = (await typed(request)).get("token", "").strip().removeprefix("#")
    try:
        caller = await run_in_threadpool(_bearer, request, secret)
    except NotKnown:
        return page("enter.html", {"me": None, "refused": True}, status=401)
    settings: Settings = request.app.state.settings
    opened: Door = request.app.state.door
    answer = go(home_of(caller))
    answer.set_cookie(
        COOKIE, opened.cookie(secret), max_age=COOKIE_SECONDS, httponly=True, samesite="strict", secure=settings.secure
    )
    return answer


@router.post("/leave")
def leave(request: Request) -> Response:
    settings: Settings = request.app.state.settings
    answer = go("/enter")
    answer.delete_cookie(COOKIE, httponly=True, samesite="strict", secure=settings.secure)
    return answer


def home_of(caller: Caller) -> str:
    """The first page of somebody: a chat, or what waits for them."""
    return "/waiting" if caller.role == "approver" else "/"


def _bearer(request: Request, secret: str) -> Caller:
    """Whose secret this is, at the same door and the same pace as every other way in."""
    header = b"Bearer " + secret.encode(errors="replace")
    asking = HTTPConnection(
        {"type": "http", "headers": [(b"authorization", header)], "client": request.scope.get("client")}
    )
    caller: Caller = request.app.state.who(asking)
    return caller
