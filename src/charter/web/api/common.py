"""What every route shares: who may call it is asked before a byte of its body is read, and how it fails is declared."""

from __future__ import annotations

import json
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from typing import TYPE_CHECKING, Annotated, Any, Final, cast

from fastapi import APIRouter, Depends, Path, Request
from fastapi.routing import APIRoute
from fastapi.security import APIKeyCookie, HTTPBearer
from pydantic import AfterValidator, BaseModel, ConfigDict, Field
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.responses import Response

from ...core.errors import BadValue
from ...core.served import Role
from ..who import COOKIE, Caller, by_cookie

if TYPE_CHECKING:
    from ...agent import Agent
    from ...charter import Charter
    from ...house import House
    from ...stores.store import SqlStore

TEXT_CHARS: Final = 100_000
NAME_CHARS: Final = 200
SIGNER: Final = "signer"  # in `x-roles`: who has no token, and signs what they say

# ── values ────────────────────────────────────────────────────────────────────────────────────────────────────────


def fit(text: str) -> str:
    """A text that every store can hold."""
    if "\0" in text:
        raise BadValue("text", f"a NUL character at {text.index(chr(0))}; a text cannot hold it")
    return text


Text = Annotated[str, Field(max_length=TEXT_CHARS), AfterValidator(fit)]
Words = Annotated[str, Field(min_length=1, max_length=TEXT_CHARS, pattern=r"\S"), AfterValidator(fit)]
Name = Annotated[str, Field(max_length=NAME_CHARS), AfterValidator(fit)]
Id = Annotated[str, Field(max_length=128, pattern=r"^[A-Za-z0-9_.:-]*$")]
Hash = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
Count = Annotated[int, Field(ge=0, lt=2**63)]


class Body(BaseModel):
    """What a request says: these fields and no other."""

    model_config = ConfigDict(extra="forbid", strict=True)


class Told(BaseModel):
    """What a response says."""

    model_config = ConfigDict(extra="forbid")


class Fault(Told):
    """A code for machines and a sentence for people; ids and sizes, never content."""

    code: str
    message: str


class Problem(Told):
    """Every error of the API."""

    error: Fault


# ── how a route fails ─────────────────────────────────────────────────────────────────────────────────────────────

FAILS: Final = {
    400: "A value is out of its range, or a text that cannot be kept.",
    401: "No token, or one that is unknown, late or revoked.",
    403: "Not theirs to see or do, refused by a gate, or from a page of another origin.",
    404: "There is nothing of this name.",
    409: "Someone changed it first, or it was decided or answered already.",
    413: "The body is too large.",
    415: "A body is JSON, and says so.",
    421: "Not a name of this server.",
    422: "The request is malformed, or its prompt cannot be made.",
    429: "Too many requests, or the agent's day is spent.",
    499: "The client went away.",
    501: "An optional part is not installed.",
    502: "The model did not answer.",
    503: "The agent is paused, or the store is out of reach.",
}
ALWAYS: Final = (400, 401, 403, 421, 422, 429, 503)
WRITING: Final = (404, 409, 413, 415)
TURNING: Final = (*WRITING, 499, 502)


def problems(*statuses: int) -> dict[int | str, dict[str, Any]]:
    return {status: {"model": Problem, "description": FAILS[status]} for status in statuses}


def open_to(*roles: Role | str, fails: tuple[int, ...] = (404,)) -> dict[str, Any]:
    """Who may call a route and how it fails, for its decorator; a route that does not say cannot be made."""
    return {"openapi_extra": {"x-roles": list(roles)}, "responses": problems(*fails)}


# ── the way in ────────────────────────────────────────────────────────────────────────────────────────────────────


class Route(APIRoute):
    """A route that looks at who calls, then at what is sent, then does its work."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        inner = super().get_route_handler()
        roles = tuple((self.openapi_extra or {})["x-roles"])

        async def handler(request: Request) -> Response:
            request.state.caller = await run_in_threadpool(admit, request, roles)
            if request.method not in ("GET", "HEAD"):
                await _json_alone(request, read_later=self.body_field is not None)
            return await inner(request)

        return handler


def admit(request: Request, roles: tuple[str, ...]) -> Caller | None:
    """The caller, when they have one of these roles and their token is for this agent; None for one who will sign."""
    if SIGNER in roles and by_cookie(request.headers) and COOKIE not in request.cookies:
        return None
    caller: Caller = request.app.state.who(request)
    caller.must_be(*cast(tuple[Role, ...], tuple(role for role in roles if role != SIGNER)))
    if agent := request.path_params.get("agent"):
        caller.may_reach(agent)
    return caller


async def _json_alone(request: Request, *, read_later: bool) -> None:
    """A body is JSON and says so, which a form of a foreign page cannot. Read here, its size is an error of ours."""
    body = await request.body()
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if body and kind != "application/json":
        raise HTTPException(415, "a body is JSON; send content-type application/json")
    if body and not read_later:
        try:
            json.loads(body)
        except (ValueError, RecursionError):
            raise HTTPException(422, "the body is not JSON; this route needs none") from None


def today() -> str:
    """The day spending counts to, in UTC."""
    return datetime.now(UTC).date().isoformat()


async def _caller(request: Request) -> Caller:
    return cast(Caller, request.state.caller)


async def _house(request: Request) -> House:
    return cast("House", request.app.state.house)


Who = Annotated[Caller, Depends(_caller)]
In = Annotated[Any, Depends(_house)]


@dataclass(frozen=True, slots=True)
class Here:
    """One request to one agent: the house, who calls, and the agent."""

    house: House
    caller: Caller
    agent: Agent

    @property
    def name(self) -> str:
        return self.agent.name

    @property
    def charter(self) -> Charter:
        return cast("Charter", self.agent.charter)

    @property
    def store(self) -> SqlStore:
        return self.house.store


async def _here(
    request: Request, agent: Annotated[str, Path(description="The name an agent is served under.")]
) -> Here:
    house = await _house(request)
    return Here(house, request.state.caller, house.agent(agent))


At = Annotated[Here, Depends(_here)]

# Nothing is read of these: `admit` has looked already. They say in the OpenAPI how one comes in.
SCHEMES: Final = (
    Depends(HTTPBearer(auto_error=False, description="A token's secret.")),
    Depends(APIKeyCookie(name=COOKIE, auto_error=False, description="What the pages keep of a token.")),
)


def room(tag: str) -> APIRouter:
    """A router for one kind of thing."""
    return APIRouter(
        prefix="/api", route_class=Route, tags=[tag], responses=problems(*ALWAYS), dependencies=list(SCHEMES)
    )  # fmt: skip


def owned(sender: str, name: str) -> str:
    """The key of a message: whose it is stands in it, so no name reaches another's."""
    return "w" + sha256(f"{sender}\n{name}".encode(errors="surrogatepass")).hexdigest()[:40]
