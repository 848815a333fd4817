"""S2: six layers from a folder of Markdown, the design's example byte for byte, and one engine behind the builder."""

from __future__ import annotations

import inspect
import re
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

import charter
from charter.core.errors import BadValue, UnknownChannel, UnknownMode
from charter.core.incoming import Incoming
from charter.interfaces import AgentDef, PromptBuilder
from charter.stores.memory import MemoryStore

AT = "2026-02-26T14:30:00+00:00"
EXAMPLES = Path(__file__).parents[2] / "examples"
MESSAGE = "Keep your responses concise, please."
AGENT = """\
---
name: Pickle
model: claude-sonnet-4-20250514
allow_skills: true
---
You are Pickle, a helpful AI assistant.
"""
FILES = {
    "agents/pickle/AGENT.md": AGENT,
    "SOUL.md": "[Content from SOUL.md]\n",
    "TOOLS.md": "[Content from TOOLS.md]\n",
    "skills/brainstorming/SKILL.md": "---\nname: Brainstorming\ndescription: Turn ideas into designs...\n---\nAsk.\n",
}
# The design's Example Output, word for word; N-07 puts the memory into a frame, here a JSON string.
EXAMPLE = """\
You are Pickle, a helpful AI assistant.

## Personality

[Content from SOUL.md]

## Tool Usage Guidelines

[Content from TOOLS.md]

## Available Skills

### Skill: Brainstorming
Description: Turn ideas into designs...

## Memory

### Recalled Memories
- [2024-01-15] User prefers concise responses...

## Runtime Context

- Agent ID: pickle
- Model: claude-sonnet-4-20250514
- Channel: telegram
- Current time: 2026-02-26 14:30 UTC""".replace(
    "User prefers concise responses...", '"User prefers concise responses..."'
)
IDENTITY, SOUL, TOOLS, SKILLS, MEMORY, RUNTIME = re.split(r"\n\n(?=## )", EXAMPLE)


def store() -> MemoryStore:
    kept = MemoryStore()
    kept.remember("pickle", "ana", "User prefers concise responses...", day="2024-01-15")
    return kept


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def builder(workspace: Path) -> PromptBuilder:
    return PromptBuilder(workspace, user="ana", now=AT, store=store())


@pytest.mark.requirement("S2-01", "S2-02", "S2-05", "S2-06", "S2-07", "N-07")
def test_the_example_of_the_design_comes_out_byte_for_byte(workspace: Path) -> None:
    assert builder(workspace).build("pickle", "telegram", MESSAGE) == EXAMPLE


@pytest.mark.requirement("S2-01")
def test_the_six_layers_have_the_ids_and_headings_of_the_design_in_its_order() -> None:
    layers = charter.load("workspace").stack.layers
    assert [(layer.id, layer.title) for layer in layers] == [
        ("identity", ""),
        ("soul", "## Personality"),
        ("tools", "## Tool Usage Guidelines"),
        ("skills", "## Available Skills"),
        ("memory", "## Memory"),
        ("runtime", "## Runtime Context"),
    ]


@pytest.mark.requirement("S2-02")
def test_the_builder_is_called_as_the_design_says() -> None:
    init = inspect.signature(PromptBuilder).parameters
    assert list(init) == ["workspace", "user", "now", "store"]
    assert [init[name].kind for name in ("user", "now", "store")] == [inspect.Parameter.KEYWORD_ONLY] * 3
    assert [init[name].default for name in ("user", "now", "store")] == [None] * 3
    assert str(inspect.signature(PromptBuilder.build)) == (
        "(self, agent: 'str | AgentDef', channel: 'str' = 'terminal', user_message: 'str' = '', "
        "mode: 'str' = 'full') -> 'str'"
    )
    assert str(inspect.signature(AgentDef)) == (
        "(id: 'str', system_prompt: 'str', name: 'str | None' = None, model: 'str | None' = None, "
        "allow_skills: 'bool' = False) -> None"
    )


@pytest.mark.requirement("S2-02")
@pytest.mark.parametrize("mode", ["full", "minimal", "none"])
@pytest.mark.parametrize("channel", ["terminal", "telegram", "scheduled"])
def test_the_builder_is_the_one_engine(workspace: Path, channel: str, mode: str) -> None:
    engine = charter.load("workspace", workspace=workspace, store=store())
    incoming = Incoming(channel=channel, text=MESSAGE, at=AT, agent="pickle", user="ana")
    assert builder(workspace).build("pickle", channel, MESSAGE, mode) == engine.assemble(incoming, mode=mode).reveal()


@pytest.mark.requirement("S2-02")
def test_an_agent_handed_in_stands_for_its_file(workspace: Path) -> None:
    (workspace / "agents/pickle/AGENT.md").unlink()
    agent = AgentDef(
        "pickle", "You are Pickle, a helpful AI assistant.", "Pickle", "claude-sonnet-4-20250514", allow_skills=True
    )
    assert builder(workspace).build(agent, "telegram", MESSAGE) == EXAMPLE
    assert repr(agent) == "AgentDef('pickle', 39 characters)"


@pytest.mark.requirement("S2-02", "S2-05", "S2-07")
def test_an_agent_handed_in_wins_over_the_file_of_its_id_and_says_only_what_it_knows(workspace: Path) -> None:
    prompt = builder(workspace).build(AgentDef("pickle", "You are somebody else."), "telegram", MESSAGE)
    runtime = "## Runtime Context\n\n- Agent ID: pickle\n- Channel: telegram\n- Current time: 2026-02-26 14:30 UTC"
    assert prompt == "\n\n".join(("You are somebody else.", SOUL, TOOLS, MEMORY, runtime))


@pytest.mark.requirement("S2-01")
def test_an_agents_own_soul_wins_over_the_workspaces_and_only_for_that_agent(workspace: Path) -> None:
    (workspace / "agents/pickle/SOUL.md").write_text("Sour, but kind.\n")
    (workspace / "agents/scout").mkdir()
    (workspace / "agents/scout/AGENT.md").write_text("You are Scout.")
    assert "## Personality\n\nSour, but kind.\n\n## Tool" in builder(workspace).build("pickle")
    assert "[Content from SOUL.md]" not in builder(workspace).build("pickle")
    assert SOUL in builder(workspace).build("scout")


@pytest.mark.requirement("S2-01")
def test_a_blank_soul_of_the_agent_leaves_the_workspaces(workspace: Path) -> None:
    (workspace / "agents/pickle/SOUL.md").write_text(" \n\n")
    assert builder(workspace).build("pickle", "telegram", MESSAGE) == EXAMPLE


# ── modes ─────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.requirement("S2-03")
def test_full_is_all_six_minimal_is_identity_and_tools_none_is_identity_alone(workspace: Path) -> None:
    build = builder(workspace).build
    assert build("pickle", "telegram", MESSAGE, "full") == EXAMPLE
    assert build("pickle", "telegram", MESSAGE, "minimal") == f"{IDENTITY}\n\n{TOOLS}"
    assert build("pickle", "telegram", MESSAGE, "none") == IDENTITY


@pytest.mark.requirement("S2-03")
def test_a_mode_that_does_not_exist_is_an_error(workspace: Path) -> None:
    with pytest.raises(UnknownMode, match=r"^unknown mode 'compact'; known: full, minimal, none$"):
        builder(workspace).build("pickle", mode="compact")


@pytest.mark.requirement("S2-03")
@pytest.mark.parametrize("channel", sorted(charter.load("workspace").channels))
def test_a_scheduled_run_is_minimal_and_every_other_channel_full(workspace: Path, channel: str) -> None:
    engine = charter.load("workspace", workspace=workspace, store=store())
    incoming = Incoming(channel=channel, text=MESSAGE, at=AT, agent="pickle", user="ana")
    expected = f"{IDENTITY}\n\n{TOOLS}" if channel == "scheduled" else EXAMPLE.replace("telegram", channel)
    assert engine.assemble(incoming).reveal() == expected


@pytest.mark.requirement("S2-03")
def test_a_scheduled_run_that_is_told_otherwise_is_as_told(workspace: Path) -> None:
    engine = charter.load("workspace", workspace=workspace, store=store())
    run = Incoming(channel="scheduled", text=MESSAGE, at=AT, agent="pickle", user="ana")
    full = EXAMPLE.replace("telegram", "scheduled")
    assert engine.assemble(replace(run, mode="full")).reveal() == full
    assert engine.assemble(run, mode="none").reveal() == IDENTITY
    assert builder(workspace).build("pickle", "scheduled", MESSAGE, mode="full") == full
    assert builder(workspace).build("pickle", "scheduled", MESSAGE, mode="minimal") == f"{IDENTITY}\n\n{TOOLS}"


@pytest.mark.requirement("S2-03", "S2-08")
def test_a_mode_reads_only_the_files_it_shows(workspace: Path) -> None:
    (workspace / "SOUL.md").write_bytes(b"\xff")
    assert builder(workspace).build("pickle", mode="minimal") == f"{IDENTITY}\n\n{TOOLS}"


# ── runtime ───────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.requirement("S2-07")
def test_the_model_of_the_request_wins_over_the_agents(workspace: Path) -> None:
    engine = charter.load("workspace", workspace=workspace)
    incoming = Incoming(channel="web", at=AT, agent="pickle", model="claude-opus-4")
    runtime = engine.assemble(incoming).parts[-1].text
    assert runtime == (
        "## Runtime Context\n\n- Agent ID: pickle\n- Model: claude-opus-4\n- Channel: web\n"
        "- Current time: 2026-02-26 14:30 UTC"
    )


@pytest.mark.requirement("S2-07")
def test_an_unknown_model_leaves_its_line_out(workspace: Path) -> None:
    (workspace / "agents/pickle/AGENT.md").write_text("You are Pickle.")
    prompt = builder(workspace).build("pickle", "inbox")
    assert prompt.partition("## Runtime Context\n\n")[2] == (
        "- Agent ID: pickle\n- Channel: inbox\n- Current time: 2026-02-26 14:30 UTC"
    )


@pytest.mark.requirement("S2-07")
@pytest.mark.parametrize(
    ("now", "shown"),
    [
        ("2026-02-26T14:30:59.999+00:00", "2026-02-26 14:30 UTC"),
        ("2026-02-26T00:30:00+02:00", "2026-02-25 22:30 UTC"),
        ("2026-02-26T14:30:00", "2026-02-26 14:30 UTC"),
        (datetime(2026, 2, 26, 14, 30, tzinfo=UTC), "2026-02-26 14:30 UTC"),
    ],
)
def test_the_time_is_in_utc_to_the_minute(workspace: Path, now: str | datetime, shown: str) -> None:
    assert PromptBuilder(workspace, now=now).build("pickle").endswith(f"\n- Current time: {shown}")


@pytest.mark.requirement("S2-07")
def test_without_a_given_time_the_prompt_has_the_time_of_the_call(workspace: Path) -> None:
    before = datetime.now(UTC)
    line = PromptBuilder(workspace).build("pickle").rpartition("\n")[2]
    after = datetime.now(UTC)
    assert line in {f"- Current time: {moment:%Y-%m-%d %H:%M} UTC" for moment in (before, after)}


@pytest.mark.requirement("S2-07")
def test_a_time_that_is_none_and_a_channel_that_is_none_are_errors(workspace: Path) -> None:
    with pytest.raises(BadValue, match=r"^at: not a time; use ISO-8601 such as 2026-02-26T14:30:00\+00:00$"):
        PromptBuilder(workspace, now="yesterday").build("pickle")
    with pytest.raises(UnknownChannel, match=r"^unknown channel 'sms'; known: terminal, cli_local, web, telegram, "):
        builder(workspace).build("pickle", "sms")


@pytest.mark.requirement("N-06")
def test_no_layer_stands_above_a_more_stable_one_and_a_minute_changes_only_the_last_line(workspace: Path) -> None:
    layers = charter.load("workspace").stack.layers
    assert [layer.volatility for layer in layers] == sorted(layer.volatility for layer in layers)
    later = PromptBuilder(workspace, user="ana", now="2026-02-26T14:31:00+00:00", store=store())
    assert later.build("pickle", "telegram", MESSAGE) == EXAMPLE.replace("14:30 UTC", "14:31 UTC")


@pytest.mark.requirement("S2-01", "S2-05")
def test_the_example_workspace_gives_skills_to_pickle_and_none_to_scout() -> None:
    build = PromptBuilder(EXAMPLES / "workspace", now=AT).build
    headings = re.findall(r"^##+ .*$", build("pickle"), re.MULTILINE)
    assert headings == [
        "## Personality", "## Tool Usage Guidelines", "## Available Skills", "### Skill: brainstorming",
        "### Skill: release-notes", "## Runtime Context",
    ]  # fmt: skip
    assert "## Available Skills" not in build("scout")
