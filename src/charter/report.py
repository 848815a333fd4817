"""Sizes by component, and the gateway design's five configurations measured beside the figures it gives (S3-12)."""

from __future__ import annotations

from typing import Any

from .core.assemble import Assembly
from .core.incoming import Incoming
from .core.ports import ToolSpec
from .folder import load
from .sources import World
from .sources.skills import Skill

_COMMAND = {
    "type": "object",
    "properties": {"command": {"type": "string", "description": "The command line."}, "timeout": {"type": "integer"}},
    "required": ["command"],
}
_FEW = tuple(
    ToolSpec(name, f"{name}: does one thing for the user and reports what it found.", _COMMAND)
    for name in ("exec", "browser", "read_file", "write_file", "read_memory")
)
_LONG = "A tool of an external server with a description of an ordinary length, cut where the list demands it."
_MANY = tuple(ToolSpec(f"mcp_server_{i}_tool", _LONG, _COMMAND) for i in range(40))
_PROJECT = "Instructions of a project of ordinary size. " * 70
_SHORT = "Does a well-described piece of work when it is asked for."
_SKILLS = tuple(Skill(f"skill-{i}", _SHORT, "", f"skills/skill-{i}") for i in range(8))
_RUNTIME = {"host": "devbox", "os": "linux", "arch": "x86_64", "shell": "zsh", "provider": "openai", "model": "gpt-5"}
_FULL = ("7,000-10,000", "1,750-2,500")
_LARGE = ("12,000-15,000", "3,000-3,750")
_IDENTITY = {"name": "Juniper", "emoji": "🦉", "creature": "barn owl", "vibe": "quiet and exact"}


def component_rows(assembly: Assembly) -> list[dict[str, Any]]:
    """A row per component with its characters, tokens and share of the prompt."""
    whole = max(sum(len(part.text) for part in assembly.parts), 1)
    rows: list[dict[str, Any]] = [
        {"id": p.section.layer.id, "characters": len(p.text), "tokens": p.tokens, "share": len(p.text) / whole}
        for p in assembly.parts
    ]
    if assembly.tools:
        rows.append({"id": "(tool schemas)", "characters": 0, "tokens": assembly.beside.tokens, "share": 0.0})
    return rows


def gateway_rows() -> list[dict[str, Any]]:
    """The design's five configurations, measured."""
    plain: dict[str, Any] = {"no_host": True, "runtime": _RUNTIME}
    persona = {**plain, "identity_fields": _IDENTITY}
    some = {**persona, "project_text": _PROJECT[:1500]}
    whole = {**persona, "project_text": _PROJECT, "skills": _SKILLS}
    return [
        _row("Minimal (no tools, no context)", World(given=plain), "minimal", ("200", "50")),
        _row("Soul + identity + guidelines", World(given=persona), "full", ("2,000", "500")),
        _row("Typical with tools", World(tools=_FEW, given=some), "full", ("5,000", "1,250")),
        _row("Full (tools + project context + skills)", World(tools=_FEW, given=whole), "full", _FULL),
        _row("Large (many MCP tools + full context)", World(tools=_MANY, given=whole), "full", _LARGE),
    ]


def _row(name: str, world: World, mode: str, design: tuple[str, str]) -> dict[str, Any]:
    incoming = Incoming(channel="web", at="2026-01-01T00:00:00+00:00")
    assembly = load("gateway").assemble(incoming, mode=mode, world=world)
    return {
        "name": name,
        "characters": len(assembly.reveal()),
        "tokens": sum(part.tokens for part in assembly.parts),
        "design_characters": design[0],
        "design_tokens": design[1],
    }
