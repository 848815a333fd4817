"""What waits for a person: calls of tools and changes of layers, each with everything that is decided about."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ...agent import Agent
    from ...core.records import Approval, Proposal


@dataclass(frozen=True, slots=True)
class OpenCall:
    """A call that waits: its tool, its arguments in full, and the hash a decision is made over."""

    id: str
    agent: str
    tool: str
    user: str
    sha256: str
    expires_at_ns: int
    arguments: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class OpenChange:
    """A change of a layer that waits: the text it would have, and the one it has."""

    id: str
    agent: str
    layer: str
    user: str
    by: str
    at_ns: int
    sha256: str
    base_version: int
    content: str = field(repr=False)
    before: str = field(repr=False)
    reason: str = field(repr=False)


def open_calls(agent: Agent, user: str | None = None) -> list[OpenCall]:
    """The calls of an agent that wait; of one person when they are named."""
    now = time.time_ns()
    return [
        OpenCall(one.id, one.agent, one.tool, one.user, one.sha256, one.expires_at_ns, _pretty(one))
        for one in agent.store.approvals(agent.name, "open")
        if user in (None, one.user) and one.expires_at_ns > now and one.arguments is not None
    ]  # fmt: skip


def _pretty(call: Approval) -> str:
    """Arguments one under the other when they are JSON; else as the model wrote them."""
    try:
        return json.dumps(json.loads(call.arguments or ""), indent=2, ensure_ascii=False)
    except (ValueError, RecursionError):
        return call.arguments or ""


def open_changes(agent: Agent, user: str = "") -> list[OpenChange]:
    """The changes that wait: of the agent's own layers, or of one person's text, which is theirs to decide."""
    now = time.time_ns()
    return [
        _change(agent, one)
        for one in agent.store.proposals(agent.name, "open")
        if one.place.user == user and one.expires_at_ns > now and one.content is not None
    ]


def _change(agent: Agent, one: Proposal) -> OpenChange:
    head = agent.store.head(one.place)
    return OpenChange(
        one.id, one.place.agent, one.place.layer_id, one.place.user, one.by.mark, one.at_ns, one.sha256,
        one.base_version, one.content or "", (head.content or "") if head else "", one.reason,
    )  # fmt: skip
