"""The operator's view: every agent, every layer with its author, the conversations, the turns, and what waits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import Response

from ...core.errors import NotStored
from . import seen
from .asked import house_of, pages, today, who
from .drawn import is_part, page
from .waiting import open_calls, open_changes

if TYPE_CHECKING:
    from ...agent import Agent
    from ..who import Caller

router = pages()
RECENT_TURNS: Final = 30


@router.get("/agents")
def every(request: Request) -> Response:
    """All agents of this server at a glance."""
    caller = who(request).must_be("operator")
    rows = [_row(name, agent) for name, agent in _theirs(request, caller).items()]
    return page("agents.html", {"me": caller, "agents": rows})


@router.get("/agents/{name}")
def one(request: Request, name: str) -> Response:
    """One agent: what it is told, whom it talks with, and how it did."""
    caller, agent = _at(request, name)
    store = agent.store
    values = {
        "me": caller, "layers": seen.layers(agent), "calls": open_calls(agent), "changes": open_changes(agent),
        "turns": seen.turns(store.turns(agent.name, RECENT_TURNS)),
        "control": store.control(agent.name, today()),
        **_talks(name, agent), **_about(name, agent),
    }  # fmt: skip
    return page("agent.html", values)


@router.get("/agents/{name}/conversations")
def conversation(request: Request, name: str) -> Response:
    """The exchanges with one sender: a part for a page that is there, else a page."""
    caller, agent = _at(request, name)
    sender = request.query_params.get("with", "")
    log = agent.store.conversation(agent.name, sender)
    if log is None:
        raise NotStored("conversation with this sender", "it may have been forgotten")
    values: dict[str, Any] = {"log": log, **_about(name, agent)}
    if is_part(request):
        return page("exchanges.html", values)
    return page("conversation.html", {"me": caller, **values, **_talks(name, agent)})


@router.get("/waiting")
def waiting(request: Request) -> Response:
    """Everything that waits for a person, over all agents."""
    caller = who(request).must_be("operator", "approver")
    there = list(_theirs(request, caller).items())
    calls = [(name, call) for name, agent in there for call in open_calls(agent)]
    changes = [(name, change) for name, agent in there for change in open_changes(agent)]
    return page("waiting.html", {"me": caller, "all_calls": calls, "all_changes": changes})


# ── what they show ────────────────────────────────────────────────────────────────────────────────────────────────


def _at(request: Request, name: str) -> tuple[Caller, Agent]:
    caller = who(request).must_be("operator")
    caller.may_reach(name)
    return caller, house_of(request).agent(name)


def _theirs(request: Request, caller: Caller) -> dict[str, Agent]:
    return {name: agent for name, agent in house_of(request).agents.items() if caller.agent in ("", name)}


def _about(name: str, agent: Agent) -> dict[str, Any]:
    return {
        "name": name, "charter": agent.charter.name, "charter_version": agent.charter.version,
        "about": getattr(agent.charter, "about", ""), "model": f"{agent.provider.name} {agent.provider.model}",
        "no_model": agent.provider.name == "none",
    }  # fmt: skip


def _row(name: str, agent: Agent) -> dict[str, Any]:
    talks = agent.store.conversations(agent.name)
    return {
        **_about(name, agent), "paused": agent.store.control(agent.name, today()).paused,
        "talks": len(talks), "last_ns": talks[0].last_activity_ns if talks else 0,
        "waits": len(open_calls(agent)) + len(open_changes(agent)),
    }  # fmt: skip


def _talks(name: str, agent: Agent) -> dict[str, Any]:
    """Conversations newest first, each with the address of its page; a name may hold anything, so it is a query."""
    rows = agent.store.conversations(agent.name)
    return {"talks": [(row, f"/agents/{name}/conversations?{urlencode({'with': row.sender})}") for row in rows]}
