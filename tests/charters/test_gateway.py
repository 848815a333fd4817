"""S3: twelve components in the design's order, each there only when it has something to say."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import charter
from charter.core.assemble import Assembly
from charter.core.errors import UnknownChannel
from charter.core.incoming import Incoming
from charter.core.ports import ToolSpec
from charter.report import component_rows, gateway_rows
from charter.sources.skills import Skill

IDS = [
    "introduction", "identity", "soul", "user", "project", "runtime", "skills", "workspace_files", "memory_hint",
    "tools", "tool_format", "guidelines",
]  # fmt: skip
MINIMAL = ["introduction", "identity", "soul", "user", "project", "runtime", "workspace_files"]
EXEC = ToolSpec("exec", "Run a command.", {"type": "object"})
RECALL = ToolSpec("read_memory", "Search memory.")
WITH_TOOLS = "You are a helpful assistant with access to tools for executing shell commands."
WITHOUT_TOOLS = "You are a helpful assistant. Answer questions clearly and concisely."
BARE_GUIDELINES = (
    "## Guidelines\nNo tools are available here. Answer from what you know and what this conversation shows. "
    "Do not write as if you had run, opened or searched anything; say what you would need to look up."
)


def write(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


def assembled(*, mode: str = "full", given: dict[str, Any] | None = None, **world: Any) -> Assembly:
    """The prompt with nothing detected from this machine; tools are none unless named."""
    engine = charter.load("gateway", **{"tools": (), **world}, given={"no_host": True, **(given or {})})
    return engine.assemble(Incoming(channel="web", at=0), mode=mode)


def ids(assembly: Assembly) -> list[str]:
    return [part.section.layer.id for part in assembly.parts]


def everything(root: Path) -> dict[str, Any]:
    data = write(
        root / "data",
        {
            "IDENTITY.md": "---\nname: Juniper\n---\n",
            "SOUL.md": "Quiet.",
            "USER.md": "---\nname: Mira\n---\n",
            "AGENTS.md": "One thing at a time.",
            "TOOLS.md": "Prefer rg.",
        },
    )
    project = write(root / "project", {"CLAUDE.md": "Ferry times."})
    return {
        "data_dir": data,
        "project_dir": project,
        "project_root": project,
        "tools": (EXEC, RECALL),
        "native_tools": False,
        "given": {"runtime": {"os": "linux"}, "skills": (Skill("commit", "Commits.", "", "/skills/commit"),)},
    }


@pytest.mark.requirement("S3-01")
def test_the_twelve_components_have_the_ids_of_the_design_in_its_order() -> None:
    layers = charter.load("gateway").stack.layers
    assert [layer.id for layer in layers] == IDS
    assert [layer.label for layer in layers] == [str(number) for number in range(1, 13)]


@pytest.mark.requirement("S3-01")
def test_with_everything_to_say_all_twelve_stand_in_order(tmp_path: Path) -> None:
    assembly = assembled(**everything(tmp_path))
    assert ids(assembly) == IDS
    assert [part.text.partition("\n")[0] for part in assembly.parts] == [
        WITH_TOOLS, "Your name is Juniper.", "## Soul", "The user's name is Mira.", "## Project Context", "## Runtime",
        "## Available Skills", "## Workspace Files", "## Long-Term Memory", "## Available Tools",
        "## How to Call Tools", "## Guidelines",
    ]  # fmt: skip
    assert assembly.reveal() == "\n\n".join(part.text for part in assembly.parts)
    assert all(part.text == part.text.strip("\n") for part in assembly.parts)
    assert assembly.manifest.left_out == ()


@pytest.mark.requirement("S3-01", "S3-02")
def test_with_nothing_to_say_only_introduction_and_guidelines_stand() -> None:
    assembly = assembled()
    assert assembly.reveal() == f"{WITHOUT_TOOLS}\n\n{BARE_GUIDELINES}"
    assert [(left.id, left.reason) for left in assembly.manifest.left_out] == [
        (name, "nothing to say") for name in IDS[1:-1]
    ]


@pytest.mark.requirement("S3-01")
@pytest.mark.parametrize(
    ("files", "more", "added"),
    [
        ({"IDENTITY.md": "---\nname: Juniper\n---\n"}, {}, ["identity", "soul"]),
        ({"SOUL.md": "Quiet."}, {}, ["soul"]),
        ({"USER.md": "---\nname: Mira\n---\n"}, {}, ["user"]),
        ({"USER.md": "---\nlocation: Porto\n---\n"}, {}, ["runtime"]),
        ({"AGENTS.md": "One."}, {}, ["workspace_files"]),
        ({"TOOLS.md": "Two."}, {}, ["workspace_files"]),
        ({}, {"given": {"project_text": "Ferry times."}}, ["project"]),
        ({}, {"given": {"runtime": {"os": "linux"}}}, ["runtime"]),
        ({}, {"given": {"runtime": {"sandbox": {"enabled": False}}}}, ["runtime"]),
        ({}, {"given": {"skills": [Skill("commit", "Commits.", "", "skills/commit")]}}, ["skills"]),
        ({}, {"tools": [EXEC]}, ["runtime", "tools"]),
        ({}, {"tools": [RECALL]}, ["runtime", "memory_hint", "tools"]),
        ({}, {"tools": [EXEC], "native_tools": False}, ["runtime", "tools", "tool_format"]),
        ({}, {"native_tools": False}, []),
    ],
)
def test_each_component_is_there_when_it_has_something_to_say_and_only_then(
    tmp_path: Path, files: dict[str, str], more: dict[str, Any], added: list[str]
) -> None:
    assembly = assembled(data_dir=write(tmp_path, files), **more)
    assert ids(assembly) == ["introduction", *added, "guidelines"]


@pytest.mark.requirement("S3-02")
def test_the_introduction_differs_with_and_without_tools() -> None:
    assert assembled(tools=[EXEC]).parts[0].text == WITH_TOOLS
    assert assembled(tools=[]).parts[0].text == WITHOUT_TOOLS
    assert assembled(tools=[EXEC], mode="minimal").parts[0].text == WITHOUT_TOOLS


@pytest.mark.requirement("S3-11")
def test_minimal_has_no_tools_skills_routing_or_silence_whatever_is_there(tmp_path: Path) -> None:
    assembly = assembled(**everything(tmp_path), mode="minimal")
    assert ids(assembly) == MINIMAL
    prompt = assembly.reveal()
    for word in ("exec", "read_memory", "tool_call", "commit", "routing", "Silent", "empty reply", "Guidelines"):
        assert word not in prompt
    assert "\n\n## Runtime\nHost: os=linux\n\n## Workspace Files\n" in prompt
    assert (assembly.tools, assembly.manifest.tools_sha256) == ((), None)
    assert [left.reason for left in assembly.manifest.left_out] == ["not in mode minimal"] * 5


@pytest.mark.requirement("S3-01")
def test_a_channel_that_does_not_exist_is_an_error() -> None:
    with pytest.raises(UnknownChannel, match=r"^unknown channel 'sms'; known: terminal, "):
        charter.load("gateway").assemble(Incoming(channel="sms", at=0))


# ── guidelines ────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.requirement("S3-10")
def test_the_guidelines_say_which_tool_when_not_to_parrot_and_when_to_be_silent() -> None:
    text = assembled(tools=[EXEC]).parts[-1].text
    assert text == (
        "## Guidelines\n"
        "- Answer directly when you already know, or when the question is about ideas rather than the state of "
        "something.\n"
        "- Use `exec` to run, build, measure or inspect. Use file tools to read and edit files; they are safer than "
        "shell redirection.\n"
        "- Use the browser for pages that must be rendered, clicked or filled in.\n"
        "- Use memory tools for what was said or decided before today.\n"
        "- Call only tools that are listed. Run independent lookups first, changes last, and check each change.\n"
        "- Do not parrot raw tool output. Give the finding and quote only the lines that prove it.\n"
        "- Silent replies: when tool output the user can see has already said everything, return an empty reply. "
        'An empty reply is not sent. Never put a filler acknowledgement such as "Done" or "OK" in its place.'
    )


@pytest.mark.requirement("S3-10")
def test_without_tools_the_guidelines_say_so_and_nothing_of_silence() -> None:
    assert assembled().parts[-1].text == BARE_GUIDELINES


# ── sizes ─────────────────────────────────────────────────────────────────────────────────────────────────────────

# The design's figures: one number is met within a quarter, a range is met inside it.
SIZES = [
    ("Minimal (no tools, no context)", (150, 250), (37, 63), "200", "50"),
    ("Soul + identity + guidelines", (1_500, 2_500), (375, 625), "2,000", "500"),
    ("Typical with tools", (3_750, 6_250), (937, 1_563), "5,000", "1,250"),
    ("Full (tools + project context + skills)", (7_000, 10_000), (1_750, 2_500), "7,000-10,000", "1,750-2,500"),
    ("Large (many MCP tools + full context)", (12_000, 15_000), (3_000, 3_750), "12,000-15,000", "3,000-3,750"),
]


@pytest.mark.requirement("S3-12")
def test_the_five_configurations_are_measured_beside_the_figures_of_the_design() -> None:
    rows = gateway_rows()
    assert [(row["name"], row["design_characters"], row["design_tokens"]) for row in rows] == [
        (name, characters, tokens) for name, _, _, characters, tokens in SIZES
    ]
    for row, (_, characters, tokens, _, _) in zip(rows, SIZES, strict=True):
        assert characters[0] <= row["characters"] <= characters[1], row
        assert tokens[0] <= row["tokens"] <= tokens[1], row


@pytest.mark.requirement("S3-12", "N-05")
def test_the_size_report_has_a_row_per_component_and_one_for_tool_schemas_sent_beside_the_prompt(
    tmp_path: Path,
) -> None:
    fallback = assembled(**everything(tmp_path))
    rows = component_rows(fallback)
    assert [row["id"] for row in rows] == IDS
    assert [row["characters"] for row in rows] == [len(part.text) for part in fallback.parts]
    assert [row["tokens"] for row in rows] == [(len(part.text.encode()) + 3) // 4 for part in fallback.parts]
    assert sum(row["share"] for row in rows) == pytest.approx(1)
    native = component_rows(assembled(tools=[EXEC]))
    assert [row["id"] for row in native] == ["introduction", "runtime", "tools", "guidelines", "(tool schemas)"]
    assert native[-1]["tokens"] == assembled(tools=[EXEC]).manifest.tools_tokens > 0
