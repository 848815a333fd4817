"""S3-11: the three entry points by the design's names and signatures, each one call into the same engine."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import pytest

import charter
from charter.core.incoming import Incoming
from charter.core.ports import ToolSpec
from charter.interfaces import (
    build_system_prompt,
    build_system_prompt_minimal_runtime,
    build_system_prompt_with_session_runtime,
)
from charter.sources.skills import Skill

EXAMPLE = Path(__file__).parents[2] / "examples/gateway"
TOOLS = (ToolSpec("exec", "Run a command.", {"type": "object"}), ToolSpec("read_memory", "Search memory."))
SKILLS = (Skill("commit", "Commits.", "", "/skills/commit"),)
RUNTIME = {"os": "linux", "shell": "zsh", "sandbox": {"enabled": True}}
FIXED = {"no_host": True, "runtime": RUNTIME}


def engine(*, mode: str = "full", **world: Any) -> str:
    return charter.load("gateway", **world).assemble(Incoming(channel="web", at=0), mode=mode).reveal()


def titles(prompt: str) -> list[str]:
    """The headings of ours; the walk to the top of the file system may bring others."""
    ours = {layer.title for layer in charter.load("gateway").stack.layers if layer.title}
    return [line for line in prompt.splitlines() if line in ours]


def shape(function: Any) -> list[tuple[str, bool, object]]:
    """Every parameter: its name, whether it is keyword-only, and its default (… when it has none)."""
    return [
        (p.name, p.kind is p.KEYWORD_ONLY, ... if p.default is p.empty else p.default)
        for p in inspect.signature(function).parameters.values()
    ]


@pytest.mark.requirement("S3-11")
def test_the_signatures_are_those_of_the_design() -> None:
    assert shape(build_system_prompt) == [
        ("tools", False, ...),
        ("native_tools", True, True),
        ("project_dir", True, None),
    ]
    assert shape(build_system_prompt_with_session_runtime) == [
        ("tools", False, ...),
        ("data_dir", True, ...),
        ("project_dir", True, None),
        ("skills", True, None),
        ("runtime", True, None),
        ("native_tools", True, True),
    ]
    assert shape(build_system_prompt_minimal_runtime) == [
        ("data_dir", True, ...),
        ("project_dir", True, None),
        ("runtime", True, None),
    ]


@pytest.mark.requirement("S3-11")
@pytest.mark.parametrize("native", [True, False])
def test_the_simple_one_is_tools_and_project_and_nothing_of_the_session(native: bool) -> None:
    project = EXAMPLE / "project"
    prompt = build_system_prompt(TOOLS, native_tools=native, project_dir=project)
    assert prompt == engine(tools=TOOLS, native_tools=native, project_dir=project, given={"no_host": True})
    assert titles(prompt) == [
        "## Project Context", "## Runtime", "## Long-Term Memory", "## Available Tools",
        *(() if native else ("## How to Call Tools",)), "## Guidelines",
    ]  # fmt: skip
    assert build_system_prompt([]) == engine(tools=(), given={"no_host": True})


@pytest.mark.requirement("S3-11")
@pytest.mark.parametrize("native", [True, False])
def test_the_full_one_is_the_engine_with_everything(native: bool) -> None:
    data, project = EXAMPLE / "data", EXAMPLE / "project"
    prompt = build_system_prompt_with_session_runtime(
        TOOLS, data_dir=data, project_dir=project, skills=SKILLS, runtime=RUNTIME, native_tools=native
    )
    given = {**FIXED, "skills": SKILLS}
    assert prompt == engine(tools=TOOLS, native_tools=native, data_dir=data, project_dir=project, given=given)
    assert titles(prompt) == [
        "## Soul", "## Project Context", "## Runtime", "## Available Skills", "## Workspace Files",
        "## Long-Term Memory", "## Available Tools", *(() if native else ("## How to Call Tools",)), "## Guidelines",
    ]  # fmt: skip


@pytest.mark.requirement("S3-11")
def test_the_minimal_one_has_no_tools_skills_routing_or_silence() -> None:
    data, project = EXAMPLE / "data", EXAMPLE / "project"
    prompt = build_system_prompt_minimal_runtime(data_dir=data, project_dir=project, runtime=RUNTIME)
    assert prompt == engine(mode="minimal", data_dir=data, project_dir=project, given=FIXED)
    assert prompt.startswith(
        "You are a helpful assistant. Answer questions clearly and concisely.\n\n"
        "Your name is Juniper 🦉.\nYou are a barn owl.\nYour vibe: quiet, exact, a little dry.\n\n## Soul\n"
    )
    assert (
        "\n\n## Runtime\n"
        "Host: os=linux | shell=zsh | timezone=Europe/Lisbon | location=Porto, Portugal\n"
        "Sandbox(exec): enabled=true\n\n"
        "## Workspace Files\n### AGENTS.md\n\n"
    ) in prompt
    for word in ("## Guidelines", "## Available", "Execution routing", "Silent replies", "tool_call"):
        assert word not in prompt


@pytest.mark.requirement("S3-11")
def test_without_anything_the_minimal_one_is_the_introduction() -> None:
    assert build_system_prompt_minimal_runtime(data_dir=None, runtime={}) == (
        "You are a helpful assistant. Answer questions clearly and concisely."
    )


@pytest.mark.requirement("S3-11")
def test_a_tool_may_be_a_mapping_and_a_folder_may_be_text(tmp_path: Path) -> None:
    (tmp_path / "SOUL.md").write_text("Quiet.")
    as_mappings = [{"name": t.name, "description": t.description, "parameters": t.parameters} for t in TOOLS]
    for native in (True, False):
        assert build_system_prompt_with_session_runtime(
            as_mappings, data_dir=str(tmp_path), runtime={}, native_tools=native
        ) == build_system_prompt_with_session_runtime(TOOLS, data_dir=tmp_path, runtime={}, native_tools=native)
    assert build_system_prompt([{"name": "exec"}]) == build_system_prompt([ToolSpec("exec")])
