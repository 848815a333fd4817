"""Every gate answers with a Verdict; what no rule allows is denied."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

from .layer import Layer, Owner

Decision = Literal["allow", "ask", "deny"]


@dataclass(frozen=True, slots=True)
class Verdict:
    """The one answer of every gate: a decision, a code for machines, a reason for people."""

    decision: Decision
    code: str = "OK"
    reason: str = ""


class ToolClass(enum.StrEnum):
    """What a tool can do to the world."""

    READ = "READ"
    DRAFT = "DRAFT"
    WRITE = "WRITE"
    EXECUTE = "EXECUTE"


@dataclass(frozen=True, slots=True)
class ToolPolicy:
    """When and how often a tool may be called; `approval` None means: as its class says."""

    name: str
    kind: ToolClass
    states: frozenset[str] = frozenset({"ExecutingActions"})
    max_per_turn: int | None = None
    approval: bool | None = None


@dataclass(frozen=True, slots=True)
class ChannelPolicy:
    """How a channel speaks: in parts or whole, in which form, and how far one turn of it may go.

    `max_chars` is the length of one message; `max_steps` calls of the model, `max_seconds` and `max_tokens` (read and
    written together) are of one turn.
    """

    name: str
    stream: bool = False
    markdown: bool = True
    max_chars: int | None = None
    max_steps: int = 8
    max_seconds: int = 300
    max_tokens: int = 100_000


# Every charter accepts these channels and no other; a charter may change how one speaks.
CHANNELS: Final[Mapping[str, ChannelPolicy]] = {
    policy.name: policy
    for policy in (
        ChannelPolicy("terminal", stream=True),
        ChannelPolicy("cli_local", stream=True),
        ChannelPolicy("web", stream=True),
        ChannelPolicy("telegram", markdown=False, max_chars=4096),
        ChannelPolicy("scheduled"),
        ChannelPolicy("inbox", markdown=False),
        ChannelPolicy("external_email", markdown=False),
        ChannelPolicy("external_message", markdown=False),
    )
}


class Actor(enum.StrEnum):
    """Who wants to change a layer."""

    OPERATOR = "operator"
    AGENT = "agent"
    USER = "user"


_MAY_WRITE = {
    (Actor.OPERATOR, Owner.OPERATOR),
    (Actor.OPERATOR, Owner.AGENT),
    (Actor.AGENT, Owner.AGENT),
    (Actor.USER, Owner.USER),
}
_MAY_PROPOSE = {(Actor.AGENT, Owner.OPERATOR), (Actor.USER, Owner.AGENT), (Actor.AGENT, Owner.USER)}


def may_write(actor: Actor, layer: Layer) -> Verdict:
    """The permission table, actor × owner (N-04)."""
    if (actor, layer.owner) in _MAY_WRITE:
        return Verdict("allow")
    if (actor, layer.owner) in _MAY_PROPOSE:
        return Verdict("ask", "LAYER_NEEDS_APPROVAL", f"{actor} may only propose a change to {layer.id}")
    return Verdict("deny", "LAYER_NOT_WRITABLE", f"{actor} may not change {layer.id} ({layer.owner})")


def decide(tool: str, policies: Mapping[str, ToolPolicy], *, state: str, calls: int) -> Verdict:
    """Whether a tool may be called now, `calls` times having been called this turn (S0-09, S1-08)."""
    policy = policies.get(tool)
    if policy is None:
        return Verdict("deny", "TOOL_UNKNOWN", "no tool has this name; call a listed one, or answer in words")
    if state not in policy.states:
        return Verdict("deny", "TOOL_WRONG_STATE", f"not allowed in state {state}")
    if policy.max_per_turn is not None and calls >= policy.max_per_turn:
        return Verdict("deny", "TOOL_OVER_BUDGET", f"at most {policy.max_per_turn} per turn")
    needs_person = policy.kind in (ToolClass.WRITE, ToolClass.EXECUTE) if policy.approval is None else policy.approval
    if needs_person:
        return Verdict("ask", "TOOL_NEEDS_APPROVAL", f"{policy.kind} needs a person's approval")
    return Verdict("allow")
