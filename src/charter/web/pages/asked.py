"""A page is asked for by a person: who they are, what they typed, and a page that says so when it cannot be had."""

from __future__ import annotations

import time
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import parse_qs

from fastapi import APIRouter
from fastapi.routing import APIRoute
from starlette.requests import Request
from starlette.responses import Response

from ...core.errors import BadValue, CharterError, NotKnown
from ..problems import retry_after, status_of
from ..who import COOKIE, Caller
from .drawn import go, page

if TYPE_CHECKING:
    from ...house import House

FIRST: Final = "assistant"
MOST_FIELDS: Final = 10
TITLES: Final = {
    400: "That cannot be read",
    403: "Not with this token",
    404: "There is nothing here",
    409: "Somebody was first",
    429: "A little slower, please",
    503: "Not right now",
}
Handler = Callable[[Request], Coroutine[Any, Any, Response]]


class PageRoute(APIRoute):
    """A route that answers a person: who is not known is shown the door, and any other error is a page."""

    def get_route_handler(self) -> Handler:
        answer = super().get_route_handler()

        async def answering(request: Request) -> Response:
            try:
                return await answer(request)
            except NotKnown:
                return go("/enter")
            except CharterError as error:
                return trouble(request, error)

        return answering


def pages() -> APIRouter:
    """A router of pages; none of them is part of the API."""
    return APIRouter(route_class=PageRoute, include_in_schema=False, default_response_class=Response)


def trouble(request: Request, error: CharterError) -> Response:
    """The page of an error: what happened and the way back, with a status machines read."""
    status = status_of(error)
    values = {"title": TITLES.get(status, "That did not work"), "said": str(error), "me": known(request)}
    answer = page("trouble.html", values, status=status)
    answer.headers.update(retry_after(error))
    return answer


# ── who asks ──────────────────────────────────────────────────────────────────────────────────────────────────────


def who(request: Request) -> Caller:
    """Who asks for this page; a browser that never came in is no guess at a token."""
    if COOKIE not in request.cookies and not {"authorization", "x-api-key"} & set(request.headers):
        raise NotKnown("this page is for people who came in")
    caller: Caller = request.app.state.who(request)
    return caller


def known(request: Request) -> Caller | None:
    try:
        return who(request)
    except CharterError:
        return None


def house_of(request: Request) -> House:
    house: House = request.app.state.house
    return house


def reachable(house: House, caller: Caller) -> dict[str, str]:
    """The agents this person may talk with, each with what its charter says of itself; the assistant comes first."""
    names = sorted(house.agents, key=lambda name: name != FIRST)
    return {name: getattr(house.agent(name).charter, "about", "") for name in names if caller.agent in ("", name)}


async def typed(request: Request) -> dict[str, str]:
    """The fields of a form a browser sent; line ends as people mean them."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/x-www-form-urlencoded":
        raise BadValue("form", "a form of a page is sent as application/x-www-form-urlencoded")
    try:
        body = (await request.body()).decode("ascii")
        found = parse_qs(body, keep_blank_values=True, max_num_fields=MOST_FIELDS, errors="strict")
    except ValueError:
        raise BadValue("form", "the form cannot be read") from None
    return {name: values[0].replace("\r\n", "\n") for name, values in found.items()}


def today() -> str:
    """The day spending counts to, in UTC."""
    return time.strftime("%Y-%m-%d", time.gmtime())
