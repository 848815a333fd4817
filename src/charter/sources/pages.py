"""Sources that are Markdown files: a charter's prompts, a workspace's pages, an agent's own file."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar, Literal

import msgspec

from ..core.errors import BadValue, UnknownAgent
from ..core.text import Value
from . import project
from .ask import Ask, Gathered, operator_line, operator_markdown, project_markdown
from .files import FileText, list_dir, show_name
from .frontmatter import bool_field, split, text_field
from .known import Looks, read_file

FILE_CHARS = 20_000
AGENT_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")


@dataclass(frozen=True, slots=True)
class AgentDef:
    """An agent as AGENT.md describes it, or as a program hands it in (S2-02)."""

    id: str
    system_prompt: str
    name: str | None = None
    model: str | None = None
    allow_skills: bool = False

    def __post_init__(self) -> None:
        if not AGENT_ID.fullmatch(self.id):
            raise BadValue("agent", "an agent's id is 1 to 64 letters, digits, _ and -")

    def __repr__(self) -> str:
        return f"AgentDef({self.id!r}, {len(self.system_prompt)} characters)"


class PromptFile(msgspec.Struct, tag_field="kind", tag="prompt", forbid_unknown_fields=True, frozen=True):
    """A versioned file of the charter, chosen by a value of the request (S1-01)."""

    path: str
    by: Literal["", "agent", "channel", "tool_policy", "task"] = ""
    optional: bool = False

    def gather(self, ask: Ask) -> Gathered:
        name = self._name(ask)
        if name is None:
            return Gathered({"text": None})
        path = self.path.replace("{" + self.by + "}", name)
        if path not in ask.home.files:
            raise UnknownAgent(self.by.replace("_", " "), name, self._known(ask))
        page = split(ask.home.text(path), path)
        return Gathered(
            {"text": operator_markdown(page.body, path)},
            file=path,
            source="file",
            version=text_field(page.fields, "version", path) or "",
        )

    def _name(self, ask: Ask) -> str | None:
        if not self.by:
            return ""
        asked: str = ask.role if self.by == "agent" else getattr(ask.incoming, self.by)
        given = asked or ask.home.defaults.get(self.by, "")
        if not given and not self.optional:
            raise BadValue(self.by, "is needed here; give it with the request or in [defaults]")
        return given or None

    def _known(self, ask: Ask) -> tuple[str, ...]:
        before, _, after = self.path.partition("{" + self.by + "}")
        inner = (name[len(before) : len(name) - len(after)] for name in ask.home.files if name.startswith(before))
        return tuple(sorted(name for name in inner if name and "/" not in name))


class Page(msgspec.Struct, tag_field="kind", tag="page", forbid_unknown_fields=True, frozen=True):
    """The first of some files of the workspace that exists; {agent} in a path is the agent's id."""

    still: ClassVar[bool] = True
    paths: tuple[str, ...]
    max_chars: int = FILE_CHARS

    def gather(self, ask: Ask) -> Gathered:
        workspace, looks = ask.workspace, looks_of(ask)
        for path in self.paths:
            name = path.replace("{agent}", ask.role)
            found = read_file(workspace, name, looks=looks)
            page = None if found is None else _page(found, name, self.max_chars)
            if page is not None:
                return page
        return Gathered({"text": None})


@lru_cache(maxsize=64)
def _page(found: FileText, name: str, limit: int) -> Gathered | None:
    """The answer that is this file; None for one with nothing in it."""
    text = found.text.strip()
    return Gathered({"text": operator_markdown(text, name, limit)}, file=name, source="file") if text else None


def looks_of(ask: Ask) -> Looks:
    """How the files of this prompt were when they were first looked at."""
    looks: Looks = ask.seen.setdefault("looks", {})
    return looks


class AgentFile(msgspec.Struct, tag_field="kind", tag="agent", forbid_unknown_fields=True, frozen=True):
    """The body of the agent's AGENT.md (S2-01)."""

    still: ClassVar[bool] = True
    max_chars: int = FILE_CHARS

    def gather(self, ask: Ask) -> Gathered:
        return _persona(read_agent(ask), "agent" in ask.world.given, self.max_chars)


@lru_cache(maxsize=64)
def _persona(agent: AgentDef, handed_in: bool, limit: int) -> Gathered:
    origin = f"agents/{agent.id}/AGENT.md"
    return Gathered(
        {"text": operator_markdown(agent.system_prompt, origin, limit)},
        file="inline" if handed_in else origin,
        source="inline" if handed_in else "file",
    )


def read_agent(ask: Ask) -> AgentDef:
    """The agent of this turn; one that does not exist is an error that lists those that do (S2-08)."""
    if "agent" not in ask.seen:
        ask.seen["agent"] = _read_agent(ask)
    found: AgentDef = ask.seen["agent"]
    return found


def _read_agent(ask: Ask) -> AgentDef:
    given = ask.world.given.get("agent")
    if isinstance(given, AgentDef):
        return given
    role = ask.role
    path = f"agents/{role}/AGENT.md"
    found = read_file(ask.workspace, path, looks=looks_of(ask)) if AGENT_ID.fullmatch(role) else None
    if found is None:
        names = (show_name(name) for name in list_dir(ask.workspace, "agents", folders_only=True))
        raise UnknownAgent("agent", role, tuple(names))
    return _described(role, found)


@lru_cache(maxsize=64)
def _described(agent: str, found: FileText) -> AgentDef:
    path = found.path
    page = split(found.text, path)
    return AgentDef(
        id=agent,
        system_prompt=page.body,
        name=text_field(page.fields, "name", path),
        model=text_field(page.fields, "model", path),
        allow_skills=bool_field(page.fields, "allow_skills", path),
    )


class WorkspaceFiles(msgspec.Struct, tag_field="kind", tag="workspace_files", forbid_unknown_fields=True, frozen=True):
    """Some files of the data directory, each under its own name (S3-07)."""

    names: tuple[str, ...]
    max_chars: int = FILE_CHARS

    def gather(self, ask: Ask) -> Gathered:
        files: list[Value] = []
        for name in self.names:
            found = read_file(ask.world.data_dir, name) if ask.world.data_dir else None
            body = without_leading_comments(found.text) if found else ""
            if body:
                files.append(
                    {"name": operator_line(name, "charter"), "text": operator_markdown(body, name, self.max_chars)}
                )
        return Gathered({"files": files}, file=", ".join(self.names), source="file")


def without_leading_comments(text: str) -> str:
    """The text without the HTML comments it opens with; one that never ends is kept as it is."""
    return re.sub(r"\A(?:\s*<!--.*?-->)+", "", text, flags=re.DOTALL).strip()


class ProjectContext(msgspec.Struct, tag_field="kind", tag="project", forbid_unknown_fields=True, frozen=True):
    """CLAUDE.md, rules and AGENTS.md from the project up to the root, outermost first (S3-04)."""

    max_chars: int = FILE_CHARS
    max_total: int = 5 * FILE_CHARS

    def gather(self, ask: Ask) -> Gathered:
        found, left_out = self._find(ask)
        files: list[Value] = []
        notices: list[str] = [*left_out, *(notice for file in found for notice in file.notices)]
        for file in found:
            text, caught = project_markdown(file.text.strip(), file.path, self.max_chars, ask.home.accepted)
            files.append({"path": file.path, "text": text})
            notices += caught
        facts: dict[str, Value] = {"files": files, "notices": left_out}
        return Gathered(
            facts,
            file="project files" if files else "",
            source="file",
            foreign="project files" if files else "",
            notices=tuple(notices),
        )

    def _find(self, ask: Ask) -> tuple[list[project.ProjectFile], list[str]]:
        """The files that fit the limit for all of them, the nearest to the project staying first; what is left out."""
        if "project_text" in ask.world.given:
            return [project.ProjectFile("CLAUDE.md", str(ask.world.given["project_text"]))], []
        if ask.world.project_dir is None:
            return [], []
        found = project.project_files(ask.world.project_dir, root=ask.world.project_root)
        room, kept, left_out = self.max_total, list[project.ProjectFile](), list(found.notices)
        for file in reversed(found.files):
            size = min(len(file.text), self.max_chars)
            if not file.text.strip():
                continue
            if size > room:
                left_out.append(f"[left out: {file.path} — over {self.max_total:,} characters of project files]")
                continue
            room -= size
            kept.append(file)
        return kept[::-1], left_out
