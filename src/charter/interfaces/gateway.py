"""The entry points of the gateway design (seed 003)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ..core.incoming import Incoming
from ..core.ports import ToolSpec
from ..sources import World
from ..sources.skills import Skill
from .loaded import loaded


def build_system_prompt(
    tools: Sequence[ToolSpec | Mapping[str, Any]], *, native_tools: bool = True, project_dir: Path | str | None = None
) -> str:
    """Tools and, where given, the project's files."""
    return _gateway(tools, native_tools=native_tools, project_dir=project_dir, given={"no_host": True})


def build_system_prompt_with_session_runtime(
    tools: Sequence[ToolSpec | Mapping[str, Any]],
    *,
    data_dir: Path | str | None,
    project_dir: Path | str | None = None,
    skills: Iterable[Skill] | None = None,
    runtime: Mapping[str, Any] | None = None,
    native_tools: bool = True,
) -> str:
    """Everything: identity, soul, user, project, runtime, skills, files, tools."""
    given: dict[str, Any] = {"skills": tuple(skills or ())}
    if runtime is not None:
        given |= {"runtime": runtime, "no_host": True}
    return _gateway(tools, native_tools=native_tools, data_dir=data_dir, project_dir=project_dir, given=given)


def build_system_prompt_minimal_runtime(
    *, data_dir: Path | str | None, project_dir: Path | str | None = None, runtime: Mapping[str, Any] | None = None
) -> str:
    """For calls without tools: no tools, skills, routing or silence."""
    given = {} if runtime is None else {"runtime": runtime, "no_host": True}
    return _gateway((), data_dir=data_dir, project_dir=project_dir, given=given, mode="minimal")


def _gateway(
    tools: Sequence[ToolSpec | Mapping[str, Any]],
    *,
    native_tools: bool = True,
    data_dir: Path | str | None = None,
    project_dir: Path | str | None = None,
    given: Mapping[str, Any],
    mode: str = "full",
) -> str:
    world = World(
        data_dir=None if data_dir is None else Path(data_dir),
        project_dir=None if project_dir is None else Path(project_dir),
        tools=tuple(_tool(tool) for tool in tools),
        native_tools=native_tools,
        given=given,
    )
    incoming = Incoming(channel="web", at=datetime.now(UTC))
    return loaded("gateway").assemble(incoming, mode=mode, world=world).reveal()


def _tool(tool: ToolSpec | Mapping[str, Any]) -> ToolSpec:
    """A tool as given, or from a mapping with name, description and parameters."""
    if isinstance(tool, ToolSpec):
        return tool
    return ToolSpec(str(tool["name"]), str(tool.get("description", "")), dict(tool.get("parameters") or {}))
