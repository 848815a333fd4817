"""The chat: a person's own words with one agent; it reads and sends without a script, and streams with one."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import anyio.to_thread
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from ... import logs
from ...agent import new_id
from ...channels.handed import handed
from ...core.errors import Answered, BadValue, CharterError, NotAllowed, NotStored
from ...core.incoming import Incoming
from ...turn import code_of
from ..api.chat import _turns
from ..api.common import owned
from ..problems import words_of
from .asked import house_of, pages, reachable, today, typed, who
from .drawn import go, is_part, page
from .waiting import open_calls, open_changes

if TYPE_CHECKING:
    from ...agent import Agent
    from ...house import House
    from ..who import Caller

router = pages()
MOST_CHARS: Final = 100_000


@dataclass(frozen=True, slots=True)
class Said:
    """One exchange of a chat as its page shows it."""

    turn: str
    text: str = field(repr=False)
    reply: str = field(repr=False)
    refused: bool = False


@dataclass(frozen=True, slots=True)
class Notice:
    """What became of a message that has no answer in the log: nothing was said, or why nothing could be."""

    kind: str
    text: str = field(repr=False)
    said: str = ""
    code: str = ""


# ── pages ─────────────────────────────────────────────────────────────────────────────────────────────────────────


@router.get("/")
def first(request: Request) -> Response:
    """The chat with the assistant, or with the first agent there is."""
    caller = who(request)
    if caller.role == "approver":
        return go("/waiting")
    names = reachable(house_of(request), caller)
    if not names:
        raise NotAllowed("this token is bound to an agent that is not served here")
    return go(f"/chat/{next(iter(names))}")


@router.get("/chat/{name}")
def chat(request: Request, name: str) -> Response:
    caller, agent = _at(request, name)
    return _drawn(request, caller, name, agent)


@router.post("/chat/{name}")
async def send(request: Request, name: str) -> Response:
    """A message of a form: one whole turn, then the page; sent again by a reload, it is answered once."""
    caller, agent = await run_in_threadpool(_at, request, name)
    fields = await typed(request)
    text = fields.get("text", "")
    if len(text) > MOST_CHARS:
        raise BadValue("text", f"at most {MOST_CHARS:,} characters")
    if not text.strip():
        return await run_in_threadpool(_drawn, request, caller, name, agent)
    turn = partial(_ask, house_of(request), name, incoming_of(caller, text, fields.get("id", "")))
    notice = await anyio.to_thread.run_sync(turn, limiter=_turns)  # what waits for a model holds no thread of others
    return await run_in_threadpool(_drawn, request, caller, name, agent, notice)


@router.post("/chat/{name}/fresh")
def fresh(request: Request, name: str) -> Response:
    """From here on the chat begins anew."""
    caller, agent = _at(request, name)
    agent.store.fresh_start(agent.name, caller.name, time.time_ns())
    return go(f"/chat/{name}")


# ── parts that a script puts into the page ────────────────────────────────────────────────────────────────────────


@router.get("/chat/{name}/turns/{turn}")
def said_in(request: Request, name: str, turn: str) -> Response:
    """What was said in one turn of this person's chat, drawn."""
    caller, agent = _at(request, name)
    found = [one for one in _said(agent, caller) if one.turn == turn]
    if not found:
        raise NotStored("exchange of this turn in your chat")
    return page("exchange.html", {"exchanges": found, "name": name})


@router.get("/chat/{name}/calls/{call}")
def waiting_call(request: Request, name: str, call: str) -> Response:
    """A call of a tool that waits for this person, with everything they say yes or no to."""
    caller, agent = _at(request, name)
    found = [one for one in open_calls(agent, caller.name) if one.id == call]
    if not found:
        raise NotStored("call of yours that waits under this id")
    return page("calls.html", {"calls": found, "name": name})


# ── what they show ────────────────────────────────────────────────────────────────────────────────────────────────


def _at(request: Request, name: str) -> tuple[Caller, Agent]:
    caller = who(request).must_be("user", "operator")
    caller.may_reach(name)
    return caller, house_of(request).agent(name)


def _said(agent: Agent, caller: Caller) -> list[Said]:
    refusal = agent.charter.refusal
    found = agent.store.exchanges(agent.name, caller.name)
    return [Said(one.turn_id, one.text, one.reply, bool(one.reply) and one.reply == refusal) for one in found]


def _waits(agent: Agent, caller: Caller, notice: Notice | None) -> list[str]:
    """What this person said that nobody answered yet; not what a notice speaks of."""
    told = notice.text if notice else ""
    staged = agent.store.staged(agent.name)
    return [one.body for one in staged if one.sender == caller.name and one.body != told]


def _drawn(request: Request, caller: Caller, name: str, agent: Agent, notice: Notice | None = None) -> Response:
    house = house_of(request)
    values: dict[str, Any] = {
        "me": caller, "name": name, "agents": reachable(house, caller), "exchanges": _said(agent, caller),
        "calls": open_calls(agent, caller.name), "changes": open_changes(agent, caller.name),
        "paused": agent.store.control(agent.name, today()).paused, "no_model": agent.provider.name == "none",
        "id": new_id(), "notice": notice, "waits": _waits(agent, caller, notice),
    }  # fmt: skip
    return page("log.html" if is_part(request) else "chat.html", values)


# ── a turn ────────────────────────────────────────────────────────────────────────────────────────────────────────


def incoming_of(caller: Caller, text: str, message_id: str) -> Incoming:
    """A message of this person, as the chat of the API has it."""
    return Incoming(
        channel=caller.channel or "web", sender=caller.name, user=caller.name, text=text,
        id=owned(caller.name, message_id or new_id()), operator=caller.role == "operator",
    )  # fmt: skip


def _ask(house: House, name: str, incoming: Incoming) -> Notice | None:
    """One turn; what the log will not show of it is told beside it."""
    try:
        turn = house.ask(name, incoming)
    except Answered:
        return None
    except CharterError as error:
        return Notice("failed", incoming.text, words_of(error), code_of(error))
    except Exception as error:  # the edge that answers: a stranger's error may carry text
        logs.failed(error)
        return Notice("failed", incoming.text, words_of(error), code_of(error))
    handed(house.agent(name), turn)
    return Notice("silent", incoming.text) if turn.outcome == "silent" else None
