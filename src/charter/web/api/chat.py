"""A chat: one message, one turn; its answer whole, or part by part while the person is there to hear it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, Literal

import anyio.to_thread
from fastapi import Request
from starlette.responses import Response, StreamingResponse

from ... import logs
from ...app import now_ns
from ...channels.handed import handed
from ...channels.web import Asking, Parts, Said
from ...core.errors import Answered, UnknownChannel
from ...core.incoming import Incoming
from ...core.policy import Actor
from ...core.records import Author
from ...turn import Turn, code_of
from ..problems import status_of, words_of
from .common import TURNING, WRITING, At, Body, Here, Id, Told, Words, open_to, owned, room

if TYPE_CHECKING:
    pass

CHANNEL: Final = "web"
STREAM: Final = "text/event-stream"
TURNS: Final = 256  # that one process has under way
PING_SECONDS: Final = 15.0
PING: Final = b": still here\n\n"
UNBUFFERED: Final = {"cache-control": "no-store", "x-accel-buffering": "no"}
# Turns have threads of their own: one that waits for a person must not keep that person's word from coming in.
_turns: Final = anyio.CapacityLimiter(TURNS)
_under_way: Final[set[asyncio.Task[Any]]] = set()

router = room("chat")


class Message(Body):
    """What a person says. `id` is theirs to choose: the same one again is answered once, and told again."""

    text: Words
    id: Id = ""


class Spent(Told):
    """Tokens; `cached` is None when nobody said."""

    input: int
    output: int
    cached: int | None


class Answer(Told):
    """What came of a message. `outcome` is done, silent, refused or answered (it was before, and nothing was done
    again); `parts` are what was sent, in the form of the channel; `approvals` are calls that wait for this person."""

    id: str
    turn: str
    outcome: Literal["done", "silent", "refused", "failed", "answered"]
    code: str
    reply: str
    parts: list[str]
    usage: Spent | None
    approvals: list[str]


# ── routes ────────────────────────────────────────────────────────────────────────────────────────────────────────

_STREAMED: Final = {
    "content": {STREAM: {"schema": {"type": "string"}}},
    "description": "The answer; with `Accept: text/event-stream` the events text, call, approval, then done or error.",
}
_CHAT: Final = open_to("user", "operator", fails=TURNING)


@router.post(
    "/agents/{agent}/chat", response_model=Answer,
    openapi_extra=_CHAT["openapi_extra"], responses={**_CHAT["responses"], 200: _STREAMED},
)  # fmt: skip
async def chat(here: At, message: Message, request: Request) -> Response:
    """Say something and hear the answer."""
    asked = Asked(here, message.id or here.agent.new_id(), _incoming(here, message))
    if STREAM in request.headers.get("accept", ""):
        return StreamingResponse(asked.events(), media_type=STREAM, headers=UNBUFFERED)
    return await asked.whole(request)


@router.post("/agents/{agent}/chat/fresh", status_code=204, **open_to("user", "operator", fails=WRITING))
def begin_anew(here: At) -> None:
    """Begin the chat anew: what was said stays in the record, and the agent is not told of it any more."""
    here.store.fresh_start(here.name, here.caller.name, now_ns())


def _incoming(here: Here, message: Message) -> Incoming:
    caller = here.caller
    channel = caller.channel or CHANNEL
    if channel not in here.charter.channels:
        raise UnknownChannel("channel", channel, tuple(here.charter.channels))
    return Incoming(
        channel=channel, sender=caller.name, user=caller.name, text=message.text,
        operator=caller.role == "operator",
    )  # fmt: skip


# ── a turn ────────────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class Asked:
    """One message on its way: `id` as its sender knows it."""

    here: Here
    id: str
    incoming: Incoming

    async def whole(self, request: Request) -> Response:
        """The answer at once; who goes away meanwhile stops the turn."""
        parts = Parts()
        turn = self._begin(parts, None)
        gone = asyncio.create_task(_gone(request))
        try:
            await asyncio.wait({turn, gone}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            gone.cancel()
            if not turn.done():
                parts.stop()
        return Response((await turn).model_dump_json(), media_type="application/json")

    async def events(self) -> AsyncIterator[bytes]:
        """The turn as it goes; a call that needs this person's word is shown, and waits for it."""
        parts = Parts()
        by = _person(self.here)
        turn = self._begin(parts, Asking(by, parts, self.here.store.approval))
        try:
            async for said in _with_pings(parts):
                yield PING if said is None else event(said.kind, _told(said))
            yield event("done", json.loads((await turn).model_dump_json()))
        except Exception as error:  # the edge that answers: the status is sent already
            yield event("error", _failed(error))
        finally:
            parts.stop()

    def _begin(self, parts: Parts, approver: Asking | None) -> asyncio.Task[Answer]:
        """The turn, in a thread of its own; it is kept until its end, whoever still waits for it."""
        task = asyncio.create_task(anyio.to_thread.run_sync(self._take, parts, approver, limiter=_turns))
        _under_way.add(task)
        task.add_done_callback(_ended)
        return task

    def _take(self, parts: Parts, approver: Asking | None) -> Answer:
        here, incoming = self.here, replace(self.incoming, id=owned(self.incoming.sender, self.id))
        try:
            turn = here.house.ask(here.name, incoming, parts, approver=approver)
        except Answered:
            return self._again(incoming.id)
        finally:
            parts.end()
        handed(here.agent, turn)
        return self._answer(turn)

    def _answer(self, turn: Turn) -> Answer:
        here, usage = self.here, turn.usage
        waiting = [one.id for one in here.store.approvals(here.name, "open") if one.turn_id == turn.id]
        spent = Spent(input=usage.input, output=usage.output, cached=usage.cached)
        return Answer(
            id=self.id, turn=turn.id, outcome=turn.outcome, code=turn.code, reply=turn.reply,  # type: ignore[arg-type]
            parts=list(turn.parts), usage=spent, approvals=waiting,
        )  # fmt: skip

    def _again(self, key: str) -> Answer:
        """A message that was answered before, or by another worker: what was said then."""
        here = self.here
        given = here.house.given(here.name, key) or ()
        turn = here.store.answered_by(here.name, key) or ""
        return Answer(
            id=self.id, turn=turn, outcome="answered", code=Answered.code, reply="\n\n".join(given),
            parts=list(given), usage=None, approvals=[],
        )  # fmt: skip


def _person(here: Here) -> Author:
    return Author(Actor.OPERATOR if here.caller.role == "operator" else Actor.USER, here.caller.name)


def _ended(task: asyncio.Task[Any]) -> None:
    """Lets go of a turn; one that failed after its asker went away is in the record, and nobody is left to tell."""
    _under_way.discard(task)
    if not task.cancelled():
        task.exception()


async def _gone(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


# ── events ────────────────────────────────────────────────────────────────────────────────────────────────────────


async def _with_pings(parts: Parts) -> AsyncIterator[Said | None]:
    """What is said, and None now and then while nothing is, so that no proxy takes a slow model for a dead one."""
    coming = aiter(parts)
    following = asyncio.ensure_future(anext(coming, None))
    try:
        while True:
            done, _ = await asyncio.wait({following}, timeout=PING_SECONDS)
            if done and (said := following.result()) is None:
                return
            yield said if done else None
            if done:
                following = asyncio.ensure_future(anext(coming, None))
    finally:
        following.cancel()


def _told(said: Said) -> dict[str, Any]:
    if said.kind == "text":
        return {"text": said.text}
    if said.kind == "call" and said.verdict is not None:
        return {"tool": said.name, "decision": said.verdict.decision, "code": said.verdict.code}
    wanted = said.approval
    assert wanted is not None
    return {
        "id": wanted.id, "tool": wanted.tool, "arguments": wanted.arguments, "sha256": wanted.sha256,
        "expires_at_ns": wanted.expires_at_ns,
    }  # fmt: skip


def _failed(error: Exception) -> dict[str, Any]:
    if status_of(error) == 500:
        logs.failed(error)
    return {"error": {"code": code_of(error), "message": words_of(error)}, "status": status_of(error)}


def event(kind: str, data: Any) -> bytes:
    """One server-sent event; its data is JSON on one line."""
    return f"event: {kind}\ndata: {json.dumps(data)}\n\n".encode()
