"""A charter ready to be checked: its configuration, its pages, and the view its defaults give."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, Final

from ..config import CharterConfig, line_of, read_config
from ..core.assemble import Assembly, Section
from ..core.errors import CharterError, ConfigError, FileMissing, FileRefused, Tampered, TemplateRefused
from ..core.incoming import Incoming
from ..core.layer import Owner, Role
from ..core.text import Piece, Trust, pieces_of
from ..folder import CONFIG, Charter, load
from ..sources import World
from ..sources.skills import Skill
from .pages import Kind, Page, collect, own_sources, pattern
from .report import Hit

WHEN: Final = datetime(2026, 1, 1, tzinfo=UTC)
NEXT: Final = "Fix this and check again; what depends on it was not checked."


@dataclass(frozen=True)
class Subject:
    """What the rules look at; `assembly` is the default view, or None with the `failure` that kept it from being."""

    charter: Charter
    config: CharterConfig
    incoming: Incoming
    world: World
    pages: tuple[Page, ...]
    skills: tuple[tuple[str, Skill], ...]
    dead: tuple[Hit, ...]
    unreadable: tuple[Hit, ...]
    sections: tuple[Section, ...] = ()
    assembly: Assembly | None = None
    failure: CharterError | None = None

    def line(self, path: str) -> int:
        """The line of charter.toml that a path such as `layer[2].title` stands on."""
        return line_of(self.charter.home.text(CONFIG), f"$.{path}")

    def layer_line(self, layer_id: str, key: str = "id") -> int:
        index = next((i for i, row in enumerate(self.config.layer) if row.id == layer_id), 0)
        return self.line(f"layer[{index}].{key}")


def read_subject(name_or_path: str | os.PathLike[str], incoming: Incoming | None, world: World | None) -> Subject:
    """The charter with everything that is read; raises only when the charter itself cannot load."""
    charter = load(name_or_path)
    config = read_config(charter.home.text(CONFIG), CONFIG)
    there = charter.world if world is None else world
    there = replace(there, given={"no_host": True, **there.given})  # the same findings on every machine
    shelf = collect(charter, config, there)
    subject = Subject(
        charter,
        config,
        _asked(charter, config, incoming, tuple(shelf.pages.values())),
        there,
        tuple(shelf.pages.values()),
        tuple(shelf.skills),
        tuple(shelf.dead),
        tuple(shelf.unreadable),
    )
    return _with_view(subject)


def channel_paths(config: CharterConfig) -> list[tuple[int, int, str]]:
    """Paths with {channel} in them, each with the indexes of its layer and source."""
    return [
        (i, j, path)
        for i, row in enumerate(config.layer)
        for j, source in enumerate(row.source)
        if "{channel}" in (path := getattr(source, "path", ""))
    ]


def channels_without_file(charter: Charter, path: str) -> list[str]:
    return [name for name in charter.channels if path.replace("{channel}", name) not in charter.home.files]


def _asked(charter: Charter, config: CharterConfig, incoming: Incoming | None, pages: tuple[Page, ...]) -> Incoming:
    """The request of the default view: a channel and an agent that have files, a message where a layer needs one."""
    if incoming is not None:
        return incoming if incoming.at is not None else replace(incoming, at=WHEN)
    lacking = {name for _, _, path in channel_paths(config) for name in channels_without_file(charter, path)}
    channel = next((name for name in charter.channels if name not in lacking), "terminal")
    needs_text = charter.stack.layers[-1].role is Role.USER
    return Incoming(channel=channel, text="(a message)" if needs_text else "", at=WHEN, agent=_agent(charter, pages))


def _agent(charter: Charter, pages: tuple[Page, ...]) -> str:
    """The default agent; where the workspace has no such one, its first."""
    agents = [page.agent for page in pages if page.fields and re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_-]*", page.agent)]
    return "" if not agents or charter.home.defaults.get("agent", "main") in agents else agents[0]


def _with_view(subject: Subject) -> Subject:
    charter, incoming = subject.charter, subject.incoming
    if any(incoming.channel in channels_without_file(charter, path) for _, _, path in channel_paths(subject.config)):
        return subject
    try:
        mode = charter.choose_mode(incoming)
        sections = tuple(section for section, _ in charter.gather(incoming, mode=mode, world=subject.world))
        subject = replace(subject, sections=sections, pages=(*subject.pages, *_stored(sections, subject)))
        return replace(subject, assembly=charter.assemble(incoming, mode=mode, world=subject.world))
    except CharterError as failure:
        return replace(subject, failure=failure)


def _stored(sections: tuple[Section, ...], subject: Subject) -> list[Page]:
    """Texts of writable layers that are in no file: what an agent or a user had stored."""
    files = {page.file for page in subject.pages}
    return [
        Page(piece.origin, piece.text, _kind(piece), section.layer.id, piece.trust, section.layer.id, writable=True)
        for section in sections
        if section.layer.owner in (Owner.AGENT, Owner.USER)
        for piece in pieces_of(section.facts)
        if piece.origin not in files
    ]


def _kind(piece: Piece) -> Kind:
    """Outside text is encoded where it is shown, so it is no Markdown of anyone's."""
    return "data" if piece.trust is Trust.OUTSIDE else "text"


# ── errors as findings ────────────────────────────────────────────────────────────────────────────────────────────


def hit_of(error: CharterError, config: str) -> Hit:
    """An error of ours as an error at its place; `config` is the text of charter.toml."""
    file, line = place_of(error, config)
    message = str(error).removeprefix(f"{file}:{line}: ").removeprefix(f"{file}: ")
    message, _, step = message.partition("; ")
    return Hit("error", file, line, message, f"{step[0].upper()}{step[1:]}." if step else NEXT)


def place_of(error: CharterError, config: str) -> tuple[str, int]:
    """The file and line an error is about; charter.toml when it names neither."""
    if isinstance(error, ConfigError | TemplateRefused):
        file, _, line = error.where.rpartition(":")
        return (file, int(line)) if file and line.isdecimal() else (error.where, 1)
    if isinstance(error, FileMissing):
        return CONFIG, _line_with(config, f'"{error.where}"')
    if isinstance(error, FileRefused):
        return error.where, 1
    if isinstance(error, Tampered):
        return error.files[0], 1
    layer, name = re.search(r"layer '([a-z0-9_]+)'", str(error)), re.search(r"'([a-z0-9_]+)'", str(error))
    wanted = f'id = "{layer[1]}"' if layer else f'"{name[1]}"' if name else "[[layer]]"
    return CONFIG, _line_with(config, wanted)


def _line_with(text: str, wanted: str) -> int:
    at = text.find(wanted)
    return text.count("\n", 0, at) + 1 if at >= 0 else 1


def used_names(subject: Subject) -> list[re.Pattern[str]]:
    """What charter.toml names: templates, and what its sources read of the charter's own."""
    rows: list[Any] = [row.template for row in subject.config.layer if row.template]
    for _, source in own_sources(subject.config):
        rows += [value for key in ("default", "routing", "path") if (value := getattr(source, key, ""))]
    return [pattern(name) for name in rows]
