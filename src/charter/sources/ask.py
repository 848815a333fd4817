"""What a source is asked and what it answers: a source returns facts, each with its trust; a template lays them out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from ..core.incoming import Incoming
from ..core.layer import Mode
from ..core.ports import Readable, Reads, ToolSpec, Vitals
from ..core.text import Facts, Form, Piece, Trust, cap
from ..guards.files import quarantine, scan_file
from .files import FileText


@dataclass(frozen=True, slots=True)
class World:
    """Where sources read: folders, a store, tools. None means: the charter's own default.

    `given` holds values that a program hands in instead of having them read (soul, identity, instructions, host …).
    """

    workspace: Path | None = None
    data_dir: Path | None = None
    project_dir: Path | None = None
    project_root: Path | None = None
    skills_dir: Path | None = None
    store: Readable | None = None
    label: str = ""
    tools: Sequence[ToolSpec] | None = None
    native_tools: bool = True
    vitals: Vitals | None = None
    given: Mapping[str, Any] = field(default_factory=dict, repr=False)


@dataclass(frozen=True, slots=True)
class Home:
    """The charter's own files as they were read and verified, its defaults, and the hashes of findings it accepts."""

    root: Path
    files: Mapping[str, FileText] = field(repr=False)
    defaults: Mapping[str, str] = field(default_factory=dict)
    tools: Sequence[ToolSpec] = ()
    accepted: frozenset[str] = frozenset()
    name: str = ""
    workspace: Path = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "workspace", self.root / "workspace")

    def text(self, name: str) -> str:
        return self.files[name].text


class Ask:
    """One question to a source; `seen` is what sources of this very prompt found already, so nobody looks twice.

    One is asked for every layer of every prompt, and a plain class is made in a third of the time.
    """

    __slots__ = ("home", "incoming", "layer_id", "mode", "reads", "seen", "world")

    def __init__(
        self,
        incoming: Incoming,
        mode: Mode,
        world: World,
        home: Home,
        layer_id: str,
        reads: Reads | None = None,
        seen: dict[str, Any] | None = None,
    ) -> None:
        self.incoming = incoming
        self.mode = mode
        self.world = world
        self.home = home
        self.layer_id = layer_id
        self.reads = reads
        self.seen = {} if seen is None else seen

    def __repr__(self) -> str:
        return f"Ask({self.layer_id!r}, mode={self.mode.name!r})"

    @property
    def agent(self) -> str:
        return self.incoming.agent or self.home.defaults.get("agent", "main")

    @property
    def role(self) -> str:
        """Whose files describe this agent: its own; one that bears its charter's name has the charter's own role."""
        named = self.incoming.agent
        return self.home.defaults.get("agent", "main") if named == self.home.name else self.agent

    @property
    def tools(self) -> Sequence[ToolSpec]:
        if not self.mode.tools:
            return ()
        return self.home.tools if self.world.tools is None else self.world.tools

    @property
    def workspace(self) -> Path:
        return self.world.workspace or self.home.workspace


class Gathered(NamedTuple):
    """A source's answer: facts, and what the manifest should say of them."""

    facts: Facts
    file: str = ""
    source: str = ""
    origin: str = ""
    version: str = ""
    amended: bool = False
    foreign: str = ""
    notices: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"Gathered({len(self.facts)} facts, file={self.file!r}, origin={self.origin!r})"


class Source(Protocol):
    """The one method everything that feeds a layer has; one that is `still` answers from the files it looked at, the
    agent's role and nothing else."""

    def gather(self, ask: Ask) -> Gathered: ...


def operator_markdown(text: str, origin: str, limit: int | None = None) -> Piece:
    """Markdown of the operator's, capped before anything else happens to it."""
    return _markdown(text, origin, Trust.OPERATOR, limit)


def project_markdown(
    text: str, origin: str, limit: int, accepted: frozenset[str] = frozenset()
) -> tuple[Piece, tuple[str, ...]]:
    """Markdown of a project: capped, then suspicious spans quarantined, with a notice when there were any."""
    piece = _markdown(text, origin, Trust.PROJECT, limit)
    clean, notices = quarantined(piece.text, origin, accepted)
    return replace(piece, text=clean), notices


def agent_markdown(text: str, origin: str) -> Piece:
    """Markdown the agent wrote itself."""
    return _markdown(text, origin, Trust.PROJECT, None)


def quarantined(text: str, origin: str, accepted: frozenset[str] = frozenset()) -> tuple[str, tuple[str, ...]]:
    """Project text with suspicious spans taken out, each leaving a visible mark, and a notice when there were any."""
    spans = scan_file(text, trust=Trust.PROJECT, pinned=accepted).spans if text.strip() else ()
    if not spans:
        return text, ()
    codes = ", ".join(sorted({span.code for span in spans}))
    return quarantine(text, spans), (f"{origin}: {len(spans)} span(s) quarantined ({codes})",)


def _markdown(text: str, origin: str, trust: Trust, limit: int | None) -> Piece:
    if limit is None:
        return Piece(text, origin, trust, Form.MARKDOWN)
    capped = cap(text, limit)
    return Piece(capped.text, origin, trust, Form.MARKDOWN, capped.original, capped.kept)


def operator_line(text: str, origin: str) -> Piece:
    """A one-line value of the operator's."""
    return Piece(" ".join(text.split()), origin, Trust.OPERATOR, Form.LINE)
