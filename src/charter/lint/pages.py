"""Every file a charter and its world can put before a model, each read once, with its layer and its trust."""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from ..config import CharterConfig, LayerConfig
from ..core.errors import BadValue, FileRefused
from ..core.text import Trust
from ..folder import Charter
from ..sources import World, listing, pages, people
from ..sources.files import list_dir, read_file
from ..sources.project import ProjectFile, project_files
from ..sources.skills import Skill, load_skills
from .prose import line_at
from .report import Hit

Kind = Literal["template", "text", "skill", "data"]
OWN_NAMES = ("default", "routing", "path")
MAX_IMPORTS = 50


@dataclass(frozen=True, slots=True)
class Page:
    """One file; `file` is relative to the charter's folder.

    Pages of one `choice`, and pages of different agents, never stand in one prompt together.
    """

    file: str
    text: str = field(repr=False)
    kind: Kind
    layer: str = ""
    trust: Trust = Trust.OPERATOR
    choice: str = ""
    agent: str = ""
    writable: bool = False
    fields: bool = False

    @property
    def is_prose(self) -> bool:
        return self.kind != "data"

    def stands_with(self, other: Page) -> bool:
        """Whether both can be in one prompt."""
        return self.choice != other.choice and (not self.agent or not other.agent or self.agent == other.agent)


class Shelf:
    """The pages found so far, and what was found but cannot be used."""

    def __init__(self, charter: Charter, world: World) -> None:
        self.charter = charter
        self.world = world
        self.pages: dict[str, Page] = {}
        self.skills: list[tuple[str, Skill]] = []
        self.dead: list[Hit] = []
        self.unreadable: list[Hit] = []

    def shown(self, root: Path, name: str) -> str:
        """A file's name relative to the charter's folder."""
        return Path(os.path.relpath(root / name, self.charter.home.root)).as_posix()

    def put(self, page: Page) -> None:
        self.pages.setdefault(page.file, page)

    def own(self, name: str, row: LayerConfig, kind: Kind, **more: Any) -> None:
        """A file of the charter itself."""
        if name in self.charter.home.files:
            text = self.charter.home.text(name)
            self.put(Page(name, text, kind if name.endswith(".md") else "data", row.id, **more))

    def take(self, root: Path, name: str, kind: Kind, row: LayerConfig, **more: Any) -> Page | None:
        """A file of the world, when it is there and may be read."""
        shown = self.shown(root, name)
        try:
            found = read_file(root, name)
        except FileRefused as refused:
            self.unreadable.append(Hit("error", shown, 1, f"cannot be read: {refused.reason}"))
            return None
        if found is None:
            return None
        more.setdefault("choice", row.id)
        page = Page(shown, found.text, kind, row.id, writable=is_writable(row), **more)
        self.put(page)
        return page

    def folders(self, root: Path, name: str) -> list[str]:
        try:
            return [folder for folder in list_dir(root, name, folders_only=True) if not folder.startswith(".")]
        except FileRefused as refused:
            self.unreadable.append(Hit("error", self.shown(root, name), 1, f"cannot be read: {refused.reason}"))
            return []

    @property
    def workspace(self) -> Path:
        return self.world.workspace or self.charter.home.root / "workspace"


def is_writable(row: LayerConfig) -> bool:
    """Whether someone else than the operator may rewrite the layer's text."""
    return row.owner in ("agent", "user")


def collect(charter: Charter, config: CharterConfig, world: World) -> Shelf:
    """Every page, the charter's own first."""
    shelf = Shelf(charter, world)
    for row in config.layer:
        if row.template:
            shelf.own(row.template, row, "template", choice=row.template)
    for row, source in own_sources(config):
        has_fields = isinstance(source, pages.PromptFile)
        for name in named_by(source, charter):
            shelf.own(name, row, "text", choice=row.id, writable=is_writable(row), fields=has_fields)
        if reader := _READERS.get(type(source)):
            reader(shelf, row, source)
    for name, found in charter.home.files.items():
        shelf.put(Page(name, found.text, "data", choice=name))
    return shelf


def own_sources(config: CharterConfig) -> Iterator[tuple[LayerConfig, Any]]:
    """Each source with its layer."""
    return ((row, source) for row in config.layer for source in row.source)


def pattern(path: str) -> re.Pattern[str]:
    """What a path such as `channels/{channel}.md` can name; group 1 is the name that is filled in."""
    before, brace, after = path.partition("{")
    rest = after.partition("}")[2] if brace else ""
    return re.compile(rf"{re.escape(before)}([^/]+){re.escape(rest)}" if brace else f"({re.escape(path)})")


def named_by(source: Any, charter: Charter) -> list[str]:
    """The charter's files that a source names."""
    patterns = [pattern(value) for key in OWN_NAMES if (value := getattr(source, key, ""))]
    return [name for name in charter.home.files if any(wanted.fullmatch(name) for wanted in patterns)]


# ── files of the world, by source ─────────────────────────────────────────────────────────────────────────────────


def _agent_files(shelf: Shelf, row: LayerConfig, source: Any) -> None:
    for agent in shelf.folders(shelf.workspace, "agents"):
        shelf.take(shelf.workspace, f"agents/{agent}/AGENT.md", "text", row, agent=agent, fields=True)


def _workspace_page(shelf: Shelf, row: LayerConfig, source: pages.Page) -> None:
    for path in source.paths:
        for agent in shelf.folders(shelf.workspace, "agents") if "{agent}" in path else [""]:
            shelf.take(shelf.workspace, path.replace("{agent}", agent), "text", row, agent=agent)


def _data_files(shelf: Shelf, row: LayerConfig, source: pages.WorkspaceFiles) -> None:
    for name in source.names if shelf.world.data_dir else ():
        shelf.take(shelf.world.data_dir or Path(), name, "text", row, choice=name)


def _soul(shelf: Shelf, row: LayerConfig, source: people.Soul) -> None:
    if shelf.world.data_dir and source.file:
        shelf.take(shelf.world.data_dir, source.file, "text", row)


def _identity(shelf: Shelf, row: LayerConfig, source: people.IdentityFile) -> None:
    if shelf.world.data_dir:
        shelf.take(shelf.world.data_dir, "IDENTITY.md", "data", row, fields=True)


def _user(shelf: Shelf, row: LayerConfig, source: people.UserFile) -> None:
    if shelf.world.data_dir:
        shelf.take(shelf.world.data_dir, "USER.md", "data", row, fields=True)


def _skills(shelf: Shelf, row: LayerConfig, source: listing.WorkspaceSkills) -> None:
    root, folder = shelf.workspace, "skills"
    if not source.agent_must_allow:
        if shelf.world.skills_dir is None:
            return
        root, folder = shelf.world.skills_dir.parent, shelf.world.skills_dir.name
    found, notices = load_skills(root, folder)
    for skill in found:
        page = shelf.take(root, f"{skill.path}/SKILL.md", "skill", row, trust=Trust.PROJECT, choice="skills")
        if page:
            shelf.skills.append((page.file, skill))
    shelf.dead += [Hit("warning", shelf.shown(root, folder), 1, notice.strip("[]")) for notice in notices]


def _project(shelf: Shelf, row: LayerConfig, source: pages.ProjectContext) -> None:
    world = shelf.world
    if world.project_dir is None:
        return
    try:
        found = project_files(world.project_dir, root=world.project_root)
    except BadValue as error:
        shelf.unreadable.append(Hit("error", "charter.toml", 1, str(error)))
        return
    base = Path(os.path.realpath(world.project_dir if world.project_root is None else world.project_root))
    shelf.dead += [Hit("warning", shelf.shown(base, "."), 1, notice.strip("[]")) for notice in found.notices]
    for file in found.files:
        ups = file.path.count("../") if world.project_root is None else 0
        place, name = Path(os.path.normpath(base.joinpath(*[".."] * ups))), file.path.removeprefix("../" * ups)
        _project_file(shelf, row, place, name, file)


def _project_file(shelf: Shelf, row: LayerConfig, place: Path, name: str, file: ProjectFile) -> None:
    """A file of the project and the files it imports; what it fails to import is a dead include."""
    wanted, read = [name], list[Page]()
    while wanted and len(read) <= MAX_IMPORTS:
        target = wanted.pop(0)
        page = shelf.take(place, target, "text", row, trust=Trust.PROJECT, choice=shelf.shown(place, target))
        if page and page not in read:
            read.append(page)
            wanted += _imported(page.text, place, target)
    for notice in file.notices:
        path, _, reason = notice.strip("[]").removeprefix("import left out: ").partition(" — ")
        at = [(page.file, line_at(page.text, found)) for page in read if (found := page.text.find(f"@{path}")) >= 0]
        where = at[0] if at else (shelf.shown(place, name), 1)
        shelf.dead.append(Hit("warning", *where, f"the import of {path} is left out: {reason}"))


def _imported(text: str, place: Path, name: str) -> Iterator[str]:
    """Files below `place` that a text may import; whether one does is the project source's to say."""
    for match in re.finditer(r"(?<!\S)@([\w.-][\w./-]*\w)", text):
        target = posixpath.normpath(posixpath.join(posixpath.dirname(name), match[1]))
        if not target.startswith("..") and (place / target).is_file():
            yield target


_READERS: dict[type, Callable[[Shelf, LayerConfig, Any], None]] = {
    pages.AgentFile: _agent_files,
    pages.Page: _workspace_page,
    pages.WorkspaceFiles: _data_files,
    pages.ProjectContext: _project,
    people.Soul: _soul,
    people.IdentityFile: _identity,
    people.UserFile: _user,
    listing.WorkspaceSkills: _skills,
}
