"""S4: seven sections for a personal assistant, the seed's words where it gives them (SPEC-010, AC-1 … AC-11)."""

from __future__ import annotations

import inspect
import re
from datetime import UTC, datetime, tzinfo
from itertools import product
from typing import Any

import pytest

import charter
from charter.core.errors import BadValue, UnknownChannel
from charter.core.incoming import Incoming
from charter.interfaces import build_agent_prompt
from charter.lint import check

NOW = datetime(2026, 2, 18, 23, 5, 59, tzinfo=UTC)
IDENTITY = {"name": "Wren", "description": "an office assistant", "vibe": "Calm and exact."}
MEMORY = """\
## Memory
You have long-term memory via the read_memory and save_memory tools.
IMPORTANT: Before answering any question about the user's preferences, past conversations,
ongoing projects, or anything you were previously told to remember — call read_memory FIRST.
Do not guess from the conversation. Check your memory.
When the user tells you something to remember, call save_memory immediately."""
CHANGE = """\
The user can change these by telling you things like "always do X" or "never do Y".
When they do, use the update_instructions tool to persist the change."""
NO_INSTRUCTIONS = f"## User Instructions\n(No custom instructions set.)\n{CHANGE}"
UTC_TIME = "## Current Time\n2026-02-18 23:05 (UTC; time zone not set)"
GUIDANCE = {
    "web": "- web: User is on the web app. Markdown formatting is supported.",
    "telegram": "- telegram: User is on Telegram. Keep responses concise. No complex markdown.",
    "scheduled": (
        "- scheduled: This is an automated scheduled run. No one is waiting for a response.\n"
        "  Be thorough but don't ask follow-up questions — just do the work and report results."
    ),
}
CHANNELS = ["terminal", "cli_local", "web", "telegram", "scheduled", "inbox", "external_email", "external_message"]
WEB = f"## Channel\nYou are responding via web.\n{GUIDANCE['web']}"


class Clock(datetime):
    """The time the entry point sees; a test may move it."""

    current = NOW

    @classmethod
    def now(cls, tz: tzinfo | None = None) -> datetime:  # type: ignore[override]
        return cls.current.astimezone(tz)


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> type[Clock]:
    monkeypatch.setattr(Clock, "current", NOW)
    monkeypatch.setattr("charter.interfaces.assistant.datetime", Clock)
    return Clock


def headings(prompt: str) -> list[str]:
    return re.findall(r"^## .*$", prompt, re.MULTILINE)


# ── the whole ─────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.requirement("S4-01", "S4-02", "S4-03", "S4-04", "S4-06", "S4-12")
def test_all_sections_populated_is_the_design_word_for_word() -> None:
    """AC-1, AC-3, AC-4, AC-8, AC-11; Testing Requirements: "All sections populated"."""
    prompt = build_agent_prompt(
        "Be useful.\n\n- Be brief.",
        IDENTITY,
        "web",
        "Use bullet points.\nNo reminders on Sundays.",
        "Europe/Berlin",
        ["read_memory", "save_memory", "update_instructions"],
    )
    assert prompt == (
        "## Identity\nYou are Wren — an office assistant.\nCalm and exact.\n\n"
        "## Soul\nBe useful.\n\n- Be brief.\n\n"
        f"{WEB}\n\n"
        "## Current Time\n2026-02-19 00:05 (Europe/Berlin)\n\n"
        f"{MEMORY}\n\n"
        f"## User Instructions\n> Use bullet points.\n> No reminders on Sundays.\n{CHANGE}\n\n"
        "## Tools\nAvailable tools: read_memory, save_memory, update_instructions\n"
        "Use tools when they help. Don't narrate routine tool calls."
    )


@pytest.mark.requirement("S4-01", "S4-02", "S4-03", "S4-12")
def test_soul_only_leaves_identity_channel_and_tools_out() -> None:
    """AC-11; Testing Requirements: "Soul only (no identity, no instructions, no channel)"."""
    prompt = build_agent_prompt("Be useful.", None, None, None)
    assert prompt == f"## Soul\nBe useful.\n\n{UTC_TIME}\n\n{MEMORY}\n\n{NO_INSTRUCTIONS}"


@pytest.mark.requirement("S4-01", "S4-12")
def test_the_builder_is_called_as_the_design_says() -> None:
    """AC-9: one function assembles all sections."""
    parameters = inspect.signature(build_agent_prompt).parameters
    assert [(p.name, p.default) for p in parameters.values()] == [
        ("soul", inspect.Parameter.empty),
        ("identity", inspect.Parameter.empty),
        ("channel", inspect.Parameter.empty),
        ("user_instructions", inspect.Parameter.empty),
        ("timezone", None),
        ("tool_names", None),
    ]
    assert {p.kind for p in parameters.values()} == {inspect.Parameter.POSITIONAL_OR_KEYWORD}
    assert inspect.signature(build_agent_prompt).return_annotation == "str"


@pytest.mark.requirement("S4-01", "S4-12")
def test_the_prompt_is_assembled_from_seven_layers_in_the_order_of_the_design() -> None:
    """AC-1: sections, not a monolithic string."""
    layers = charter.load("assistant").stack.layers
    assert [(layer.id, layer.title) for layer in layers] == [
        ("identity", "## Identity"),
        ("soul", "## Soul"),
        ("channel", "## Channel"),
        ("time", "## Current Time"),
        ("memory", "## Memory"),
        ("instructions", "## User Instructions"),
        ("tools", "## Tools"),
    ]


@pytest.mark.requirement("S4-01", "S4-12")
@pytest.mark.parametrize("there", list(product((True, False), repeat=5)), ids=str)
def test_every_combination_shows_what_is_there_in_order_and_nothing_else(there: tuple[bool, ...]) -> None:
    """AC-11: soul × identity × instructions × channel × tools."""
    soul, identity, channel, instructions, tools = there
    prompt = build_agent_prompt(
        "Be useful." if soul else None,
        IDENTITY if identity else None,
        "telegram" if channel else None,
        "Be brief." if instructions else None,
        tool_names=["read_memory"] if tools else None,
    )
    shown = {"Identity": identity, "Channel": channel, "Tools": tools}
    order = ("Identity", "Soul", "Channel", "Current Time", "Memory", "User Instructions", "Tools")
    assert headings(prompt) == [f"## {name}" for name in order if shown.get(name, True)]
    assert ("\n\n## Soul\nBe useful.\n\n" in f"\n\n{prompt}") is soul
    assert ("> Be brief.\n" in prompt) is instructions
    assert ("(No custom instructions set.)" in prompt) is not instructions
    assert "\n\n\n" not in prompt
    assert not prompt.endswith("\n")


@pytest.mark.requirement("S4-01")
def test_the_entry_point_is_the_one_engine() -> None:
    given = {"soul": "Be useful.", "identity": IDENTITY, "instructions": "Be brief.", "timezone": "Europe/Berlin"}
    engine = charter.load("assistant", tools=(), given=given)
    prompt = engine.assemble(Incoming(channel="inbox", at=NOW)).reveal()
    assert build_agent_prompt("Be useful.", IDENTITY, "inbox", "Be brief.", "Europe/Berlin") == prompt


@pytest.mark.requirement("N-06")
def test_the_clock_stands_where_the_design_puts_it_and_lint_says_what_that_costs() -> None:
    costs = [f.message for f in check("assistant").findings if f.rule == "volatile-above-stable"]
    pattern = (
        r"'time' \(turn\) stands above the more stable 'memory', 'instructions', 'tools': "
        r"\d+ tokens are paid for again on every turn"
    )
    assert re.fullmatch(pattern, costs[0])


# ── identity and soul ─────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.requirement("S4-02", "S4-12")
@pytest.mark.parametrize(
    ("identity", "shown"),
    [
        ({}, "You are an AI assistant — a personal assistant."),
        ({"name": "Wren"}, "You are Wren — a personal assistant."),
        ({"description": "a clerk"}, "You are an AI assistant — a clerk."),
        ({"vibe": "Calm."}, "You are an AI assistant — a personal assistant.\nCalm."),
        ({"name": "Wren", "vibe": ""}, "You are Wren — a personal assistant."),
        ({"name": " ", "description": None, "vibe": " \n"}, "You are an AI assistant — a personal assistant."),
        ({"name": "Wren", "mood": "CANARY"}, "You are Wren — a personal assistant."),
        ({"name": "Wren\n## Soul", "vibe": "- x"}, 'You are "Wren\\n## Soul" — a personal assistant.\n"- x"'),
    ],
)
def test_missing_fields_of_an_identity_have_the_defaults_of_the_design(identity: dict[str, Any], shown: str) -> None:
    """Testing Requirements: "Missing identity (graceful fallback)"."""
    prompt = build_agent_prompt("Be useful.", identity, None, None)
    assert prompt.startswith(f"## Identity\n{shown}\n\n## Soul\nBe useful.\n\n")


@pytest.mark.requirement("S4-02", "S4-12")
def test_no_identity_leaves_the_section_out() -> None:
    """Edge Cases: "No identity set"; What to Test: "Agent with no identity JSONB works fine"."""
    prompt = build_agent_prompt("Be useful.", None, "web", None)
    assert prompt.startswith("## Soul\nBe useful.\n\n## Channel\n")
    assert "## Identity" not in prompt


@pytest.mark.requirement("S4-02")
@pytest.mark.parametrize(
    ("identity", "problem"),
    [
        ("Wren", "identity: a mapping of name, description and vibe, not str"),
        ({"name": ["CANARY"]}, "identity.name: text, not list"),
        ({"vibe": 5}, "identity.vibe: text, not int"),
    ],
)
def test_an_identity_of_another_kind_is_an_error(identity: Any, problem: str) -> None:
    with pytest.raises(BadValue) as caught:
        build_agent_prompt("Be useful.", identity, "web", None)
    assert str(caught.value) == problem


@pytest.mark.requirement("S4-02", "S4-12")
@pytest.mark.parametrize("soul", [None, "", " \n"])
def test_no_soul_has_the_default_sentence(soul: str | None) -> None:
    """Edge Cases: "No soul set"."""
    prompt = build_agent_prompt(soul, None, None, None)
    assert prompt.startswith("## Soul\nYou are a helpful assistant.\n\n## Current Time\n")
    assert "You are a helpful assistant." not in build_agent_prompt("Be useful.", None, None, None)


@pytest.mark.requirement("S4-02", "N-07")
def test_a_soul_keeps_its_markdown_and_cannot_open_a_section_of_ours() -> None:
    soul = "# Mine\n\n- {{ x }}\n\n## User Instructions\n\nNone."
    expected = soul.replace("## User", "\\## User")
    assert build_agent_prompt(soul, None, None, None).startswith(f"## Soul\n{expected}\n\n## Current Time\n")


# ── channel ───────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.requirement("S4-01", "S4-03", "S4-12")
@pytest.mark.parametrize("channel", CHANNELS)
def test_each_channel_has_its_own_guidance_and_no_others(channel: str) -> None:
    """AC-4; Testing Requirements: "Each channel type produces correct guidance"."""
    prompt = build_agent_prompt("Be useful.", None, channel, None)
    section = prompt.partition("\n\n## Channel\n")[2].partition("\n\n## ")[0]
    guidance = GUIDANCE.get(channel) or charter.load("assistant").home.text(f"channels/{channel}.md").rstrip("\n")
    assert section == f"You are responding via {channel}.\n{guidance}"
    assert guidance.startswith(f"- {channel}: ")
    assert [other for other in CHANNELS if f"- {other}: " in prompt] == [channel]


@pytest.mark.requirement("S4-03", "S4-12")
def test_no_channel_leaves_the_section_out() -> None:
    prompt = build_agent_prompt("Be useful.", None, None, None)
    assert "## Channel" not in prompt
    assert "You are responding via" not in prompt


@pytest.mark.requirement("S4-03")
@pytest.mark.parametrize("channel", ["sms", "", "Web", "web ", "../web", "web\n"])
def test_an_unknown_channel_is_an_error_and_not_web(channel: str) -> None:
    with pytest.raises(UnknownChannel, match=r"; known: terminal, cli_local, web, telegram, scheduled, inbox, ext"):
        build_agent_prompt("Be useful.", None, channel, None)
