"""The gateway: a client of OpenAI's or Anthropic's points its base address here and gets the governed agent (N-13)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import TYPE_CHECKING, Final

from starlette.responses import Response
from starlette.routing import Match, Route

from ...core.errors import CharterError, UnknownAgent
from ...written import ascii_json
from . import chat, messages, responses
from .choosing import PREFIX, reachable
from .errors import problem_of
from .models import model_of, models_of
from .serving import JSON, PATIENCE_SECONDS, Gateway, said

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.types import Scope

    from ...house import House
    from ..problems import Form
    from .asked import Api
    from .serving import Who

THREADS: Final = 64
ROOT: Final = "/v1/"
PATHS: Final = {
    "/v1/chat/completions": chat.API,
    "/v1/responses": responses.API,
    "/v1/messages": messages.API,
}


class Named(Route):
    """A route that whoever counts requests can name."""

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        match, found = super().matches(scope)
        return match, {**found, "route": self}


def form_of(path: str) -> Form | None:
    """How an error is written on a path of the gateway, also one that no turn came of; None on any other path."""
    api = PATHS.get(path, chat.API) if path.startswith(ROOT) else None
    return None if api is None else lambda status, code, words: ascii_json(api.error(status, code, words, ""))


def routes(house: House, who: Who, *, threads: int = THREADS, patience_s: float = PATIENCE_SECONDS) -> list[Route]:
    """The gateway's routes; `who` says who makes a request, or raises."""
    gateway = Gateway(house, who, threads=threads, patience_s=patience_s)

    def of(api: Api) -> Callable[[Request], Awaitable[Response]]:
        async def endpoint(request: Request) -> Response:
            return await gateway.answer(api, request)

        return endpoint

    asked = [Named(path, of(api), methods=["POST"]) for path, api in PATHS.items()]
    listed = partial(_models, gateway, house)
    return [*asked, Named("/v1/models", listed), Named("/v1/models/{name:path}", listed)]


async def _models(gateway: Gateway, house: House, request: Request) -> Response:
    """The agents this key is for, or one of them, in the form of who asks."""
    anthropic = "anthropic-version" in request.headers
    api = messages.API if anthropic else chat.API
    try:
        caller = await gateway.in_thread(partial(gateway.caller, request))
        names = reachable(caller, house.agents)
        if (asked := request.path_params.get("name")) is None:
            body = models_of(names, anthropic=anthropic)
        elif (name := asked.removeprefix(PREFIX)) in names:
            body = model_of(name, anthropic=anthropic)
        else:
            raise UnknownAgent("model", name, names)
    except CharterError as error:
        return said(api, problem_of(error), "")
    return Response(ascii_json(body), 200, media_type=JSON)
