"""Every gate answers with a verdict; what no rule allows is denied."""

from __future__ import annotations

from itertools import product

import pytest

from charter.core.layer import Layer, Owner
from charter.core.policy import CHANNELS, Actor, ChannelPolicy, ToolClass, ToolPolicy, Verdict, decide, may_write
from charter.templates import Compiled

TEXT = Compiled("{{ text }}", "text.md")
DECISIONS = {
    ("operator", "sealed"): "deny",
    ("operator", "operator"): "allow",
    ("operator", "agent"): "allow",
    ("operator", "user"): "deny",
    ("operator", "turn"): "deny",
    ("agent", "sealed"): "deny",
    ("agent", "operator"): "ask",
    ("agent", "agent"): "allow",
    ("agent", "user"): "ask",
    ("agent", "turn"): "deny",
    ("user", "sealed"): "deny",
    ("user", "operator"): "deny",
    ("user", "agent"): "ask",
    ("user", "user"): "allow",
    ("user", "turn"): "deny",
}
CODES = {"allow": "OK", "ask": "LAYER_NEEDS_APPROVAL", "deny": "LAYER_NOT_WRITABLE"}


@pytest.mark.requirement("N-04", "S0-02")
@pytest.mark.parametrize(("actor", "owner"), list(product(Actor, Owner)))
def test_the_permission_table_holds_for_every_actor_and_owner(actor: Actor, owner: Owner) -> None:
    verdict = may_write(actor, Layer("memory", "8", TEXT, owner=owner))
    assert verdict.decision == DECISIONS[actor.value, owner.value]
    assert verdict.code == CODES[verdict.decision]


@pytest.mark.requirement("N-04")
def test_a_verdict_says_why_to_a_person_and_names_the_layer() -> None:
    sealed, operated = (Layer("memory", "8", TEXT, owner=owner) for owner in (Owner.SEALED, Owner.OPERATOR))
    assert may_write(Actor.AGENT, sealed).reason == "agent may not change memory (sealed)"
    assert may_write(Actor.AGENT, operated).reason == "agent may only propose a change to memory"
    assert may_write(Actor.OPERATOR, operated) == Verdict("allow", "OK", "")


POLICIES = {
    policy.name: policy
    for policy in (
        ToolPolicy("read", ToolClass.READ),
        ToolPolicy("draft", ToolClass.DRAFT),
        ToolPolicy("write", ToolClass.WRITE),
        ToolPolicy("run", ToolClass.EXECUTE),
        ToolPolicy("once", ToolClass.WRITE, max_per_turn=1, approval=False),
        ToolPolicy("never", ToolClass.READ, max_per_turn=0),
        ToolPolicy("asked", ToolClass.READ, approval=True),
        ToolPolicy("early", ToolClass.READ, frozenset({"Inferring"})),
        ToolPolicy("nowhere", ToolClass.READ, frozenset()),
    )
}
NOW = "ExecutingActions"
UNKNOWN = Verdict("deny", "TOOL_UNKNOWN", "no tool has this name; call a listed one, or answer in words")


@pytest.mark.requirement("S1-08", "S0-09")
@pytest.mark.parametrize(
    ("tool", "state", "calls", "verdict"),
    [
        ("read", NOW, 0, Verdict("allow")),
        ("read", NOW, 999, Verdict("allow")),
        ("draft", NOW, 0, Verdict("allow")),
        ("write", NOW, 0, Verdict("ask", "TOOL_NEEDS_APPROVAL", "WRITE needs a person's approval")),
        ("run", NOW, 0, Verdict("ask", "TOOL_NEEDS_APPROVAL", "EXECUTE needs a person's approval")),
        ("asked", NOW, 0, Verdict("ask", "TOOL_NEEDS_APPROVAL", "READ needs a person's approval")),
        ("once", NOW, 0, Verdict("allow")),
        ("once", NOW, 1, Verdict("deny", "TOOL_OVER_BUDGET", "at most 1 per turn")),
        ("once", NOW, 2, Verdict("deny", "TOOL_OVER_BUDGET", "at most 1 per turn")),
        ("never", NOW, 0, Verdict("deny", "TOOL_OVER_BUDGET", "at most 0 per turn")),
        ("read", "Inferring", 0, Verdict("deny", "TOOL_WRONG_STATE", "not allowed in state Inferring")),
        ("once", "Inferring", 9, Verdict("deny", "TOOL_WRONG_STATE", "not allowed in state Inferring")),
        ("early", "Inferring", 0, Verdict("allow")),
        ("early", NOW, 0, Verdict("deny", "TOOL_WRONG_STATE", "not allowed in state ExecutingActions")),
        ("nowhere", NOW, 0, Verdict("deny", "TOOL_WRONG_STATE", "not allowed in state ExecutingActions")),
        ("Read", NOW, 0, UNKNOWN),
        ("read ", NOW, 0, UNKNOWN),
        ("rea", NOW, 0, UNKNOWN),
        ("", NOW, 0, UNKNOWN),
    ],
)
def test_a_tool_is_decided_by_name_then_state_then_count_then_class(
    tool: str, state: str, calls: int, verdict: Verdict
) -> None:
    assert decide(tool, POLICIES, state=state, calls=calls) == verdict


@pytest.mark.requirement("S1-08")
@pytest.mark.parametrize("tool", [*POLICIES, "other"])
def test_without_policies_every_tool_is_denied(tool: str) -> None:
    assert decide(tool, {}, state=NOW, calls=0) == UNKNOWN


@pytest.mark.requirement("S1-08")
def test_there_are_eight_channels_and_those_to_the_outside_never_stream() -> None:
    assert list(CHANNELS.values()) == [
        ChannelPolicy("terminal", stream=True, markdown=True, max_chars=None),
        ChannelPolicy("cli_local", stream=True, markdown=True, max_chars=None),
        ChannelPolicy("web", stream=True, markdown=True, max_chars=None),
        ChannelPolicy("telegram", stream=False, markdown=False, max_chars=4096),
        ChannelPolicy("scheduled", stream=False, markdown=True, max_chars=None),
        ChannelPolicy("inbox", stream=False, markdown=False, max_chars=None),
        ChannelPolicy("external_email", stream=False, markdown=False, max_chars=None),
        ChannelPolicy("external_message", stream=False, markdown=False, max_chars=None),
    ]
    assert all(name == policy.name for name, policy in CHANNELS.items())
