"""A folder becomes a Charter: charter.toml and the Markdown it names, read once and verified against its lock."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from functools import cached_property
from pathlib import Path
from typing import Any

from . import lock as locks
from .config import CharterConfig, LayerConfig, line_of, read_config
from .core.assemble import ESTIMATE, About, Assembly, Section, Settings, assemble
from .core.budget import Limits, Step, check_steps
from .core.errors import BadValue, ConfigError, FileMissing, Tampered, UnknownChannel, UnknownCharter
from .core.incoming import Incoming
from .core.layer import Layer, Mode, Owner, Role, Stack, Volatility
from .core.policy import CHANNELS, ChannelPolicy, ToolClass, ToolPolicy
from .core.ports import Counter, ToolSpec
from .core.text import Trust, Value
from .sources import Ask, Gathered, Home, Source, World
from .sources.files import FileText, read_file
from .templates import Compiled

BUILT_IN = ("sovereign", "contract", "workspace", "gateway", "assistant")
CONFIG = "charter.toml"
SHIPPED = Path(__file__).parent / "charters"
TEXT_ONLY = Compiled("{% if text %}{{ text }}{% endif %}", "the default template")


@dataclass(frozen=True, repr=False)
class Charter:
    """A loaded charter: its stack, its policies, and where its layers read."""

    name: str
    version: str
    about: str
    stack: Stack
    limits: Limits
    default_mode: str
    channels: Mapping[str, ChannelPolicy]
    tool_policies: Mapping[str, ToolPolicy]
    autonomous: str
    home: Home
    sources: Mapping[str, Sequence[Source]]
    templates: Mapping[str, str]
    fixed: Mapping[str, Section]
    world: World = field(default_factory=World)
    counter: Counter = ESTIMATE
    key: bytes | None = None
    stamps: dict[str, tuple[int, int, int]] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"Charter({self.name!r}, {self.version}, {len(self.stack.layers)} layers)"

    @cached_property
    def settings(self) -> Settings:
        """What holds for every prompt of this charter."""
        return Settings(self.name, self.version, self.limits, self.counter, self.key)

    def within(self, **changes: Any) -> Charter:
        """The same charter in another world: `within(workspace=…, store=…, tools=…)`."""
        return replace(self, world=replace(self.world, **changes))

    def assemble(self, incoming: Incoming, *, mode: str | None = None, world: World | None = None) -> Assembly:
        """The prompt for this message, complete; or a typed error and nothing."""
        if incoming.at is None:
            incoming = replace(incoming, at=datetime.now(UTC))
        chosen = self.choose_mode(incoming, mode)
        there = self.world if world is None else world
        sections = [section for section, _ in self.gather(incoming, mode=chosen, world=there)]
        tools = tuple(self.home.tools if there.tools is None else there.tools)
        sent = there.native_tools and self.stack.mode(chosen).tools
        return assemble(
            self.stack,
            sections,
            mode=chosen,
            settings=self.settings,
            message=incoming.text if incoming.text.strip() else self.autonomous,
            tools=tools if sent else (),
        )

    def gather(
        self, incoming: Incoming, *, mode: str, world: World | None = None
    ) -> Iterator[tuple[Section, tuple[str, ...]]]:
        """The sections of this message in order, each with the notices of what was left out on the way."""
        if incoming.channel not in self.channels:
            raise UnknownChannel("channel", incoming.channel, tuple(self.channels))
        self.check_files()
        shown = self.stack.mode(mode)
        for layer in self.stack.layers:
            if layer.id in self.fixed:
                yield self.fixed[layer.id], ()
            elif shown.shows(layer.id):
                ask = Ask(incoming, shown, self.world if world is None else world, self.home, layer.id)
                yield self._section(layer, ask)
            else:
                yield Section(layer, {}), ()

    def _section(self, layer: Layer, ask: Ask) -> tuple[Section, tuple[str, ...]]:
        answers = [source.gather(ask) for source in self.sources[layer.id]]
        facts: dict[str, Value] = {"cut": {step.fact: 0 for step in self.limits.shed if step.layer == layer.id}}
        for answer in answers:
            facts |= answer.facts
        sealed = layer.owner is Owner.SEALED
        template = self.templates[layer.id]
        main = next((answer for answer in answers if answer.file), Gathered({}))
        about = About(
            file=main.file or template or "inline",
            source=main.source or ("file" if sealed and template else "inline"),
            origin=main.origin or "+".join(answer.origin for answer in answers if answer.origin),
            version=main.version or self.version,
            amended=main.amended,
        )
        section = Section(layer, facts, about=about)
        return section, tuple(notice for answer in answers for notice in answer.notices)

    def choose_mode(self, incoming: Incoming, mode: str | None = None) -> str:
        """As asked; else the first mode that names this model or channel; else the charter's default (S0-08, S2-03)."""
        asked = mode or incoming.mode
        if asked:
            return self.stack.mode(asked).name
        for candidate in self.stack.modes.values():
            by_name = any(fnmatchcase(incoming.model.lower(), pattern) for pattern in candidate.models)
            by_size = 0 < model_billions(incoming.model) < candidate.below_billions
            if by_name or by_size or incoming.channel in candidate.channels:
                return candidate.name
        return self.default_mode

    def check_files(self) -> None:
        """Verifies the locked files again when one of them changed on disk (N-02)."""
        now = _stamps(self.home.root, self.stamps)
        if now != self.stamps:
            read_files(self.home.root)
            self.stamps.update(now)


def model_billions(model: str) -> float:
    """How many billions of parameters a model's name says it has, as in `llama3.1:8b` or `8x7b`; 0 when it does not."""
    found = re.search(r"(?<![a-z0-9.\[])(?:(\d+)x)?(\d+(?:\.\d+)?)([bm])(?![a-z0-9])", model.lower())
    if found is None:
        return 0
    size = float(found.group(2)) * int(found.group(1) or 1)
    return size if found.group(3) == "b" else size / 1000


def load(name_or_path: str | os.PathLike[str], **world: Any) -> Charter:
    """A built-in charter by name, or any folder with a charter.toml; keywords say where its layers read."""
    root = find(name_or_path)
    return build(root, read_files(root), World(**world))


def find(name_or_path: str | os.PathLike[str]) -> Path:
    """The folder of a charter."""
    name = os.fspath(name_or_path)
    if name in BUILT_IN:
        return SHIPPED / name
    root = Path(name)
    if not (root / CONFIG).is_file():
        raise UnknownCharter("charter", name, (*BUILT_IN, "or a folder with a charter.toml"))
    return root.resolve()


def read_files(root: Path, *, verified: bool = True) -> dict[str, FileText]:
    """Every file of a charter folder, each opened once; verified against the lock unless a new lock is being made."""
    files: dict[str, FileText] = {}
    for name in locks.locked_names(root):
        found = read_file(root, name)
        if found is not None:
            files[name] = found
    if verified:
        lock = locks.read_lock(root)
        if lock is None and root.parent == SHIPPED:
            raise Tampered(root.name, (locks.LOCK,))
        locks.verify_files(root, lock, files)
    return files


def _folders(files: Mapping[str, FileText]) -> set[str]:
    """The folders of these files; a file that is added or taken away changes its folder's stamp."""
    return {parent.as_posix() for name in files for parent in Path(name).parents}


def _stamps(root: Path, names: Mapping[str, object]) -> dict[str, tuple[int, int, int]]:
    stamps = {}
    for name in names:
        try:
            stat = os.stat(root / name)
        except OSError:
            continue
        stamps[name] = (stat.st_mtime_ns, stat.st_size, stat.st_ino)
    return stamps


# ── from configuration to types ───────────────────────────────────────────────────────────────────────────────────


def build(root: Path, files: Mapping[str, FileText], world: World) -> Charter:
    """The charter these files describe."""
    if CONFIG not in files:
        raise FileMissing(CONFIG, f"the charter folder {root.name}")
    config = read_config(files[CONFIG].text, CONFIG)
    layers = tuple(_layer(layer, config, files) for layer in config.layer)
    stack = Stack(layers, _modes(config), config.joiner, config.gap)
    limits = Limits(
        config.budget.max_chars,
        config.budget.max_tokens,
        tuple(Step(s.layer, s.to, s.fact, s.within, s.keep, s.drop) for s in config.budget.shed),
    )
    check_steps(limits, stack)
    _check_referenced(config, files)
    stack.mode(config.mode)
    policies = {
        t.name: ToolPolicy(t.name, ToolClass(t.kind), frozenset(t.states), t.max_per_turn, t.approval)
        for t in config.tool
    }
    tools = [ToolSpec(t.name, t.description, t.parameters, t.max_per_turn) for t in config.tool]
    return Charter(
        name=config.name,
        version=config.version,
        about=config.about,
        stack=stack,
        limits=limits,
        default_mode=config.mode,
        channels=_channels(config),
        tool_policies=policies,
        autonomous=config.autonomous,
        home=Home(root, files, config.defaults, tools),
        sources={layer.id: tuple(layer.source) for layer in config.layer},
        templates={row.id: row.template for row in config.layer},
        fixed={
            layer.id: Section(layer, {}, about=About(row.template, "file", "", config.version), keep=True)
            for layer, row in zip(layers, config.layer, strict=True)
            if not row.source
        },
        world=world,
        stamps=_stamps(root, dict.fromkeys([*files, *_folders(files)])),
    )


def _layer(row: LayerConfig, config: CharterConfig, files: Mapping[str, FileText]) -> Layer:
    if row.template and row.template not in files:
        raise FileMissing(row.template, f"layer {row.id!r} in {CONFIG}")
    template = Compiled(files[row.template].text, row.template) if row.template else TEXT_ONLY
    accepts = row.accepts or ("operator" if row.owner == "sealed" else "outside")
    where = f"{CONFIG}:{line_of(files[CONFIG].text, f'$.layer[{config.layer.index(row)}].summary')}"
    if not row.template and not row.source:
        raise ConfigError(where, f"layer {row.id!r} has neither a template nor a source")
    return Layer(
        id=row.id,
        label=row.label,
        template=template,
        title=row.title,
        owner=Owner(row.owner),
        role=Role(row.role),
        required=row.required,
        accepts=Trust[accepts.upper()],
        volatility=Volatility[row.volatility.upper()],
        visible=row.visible,
        summary=Compiled(row.summary, where) if row.summary else None,
        max_content=row.max_content,
    )


def _modes(config: CharterConfig) -> dict[str, Mode]:
    every = [layer.id for layer in config.layer]
    rows = config.modes.items()
    for row in config.modes.values():
        if unknown := [name for name in row.channels if name not in CHANNELS]:
            raise UnknownChannel("channel", unknown[0], tuple(CHANNELS))
    modes = {
        name: Mode(
            name,
            frozenset(row.whole if row.whole is not None else set(every) - set(row.summary)),
            frozenset(row.summary),
            tuple(model.lower() for model in row.models),
            row.channels,
            row.tools,
            row.below_billions,
        )
        for name, row in rows
    }
    return modes or {"full": Mode("full", frozenset(every))}


def _channels(config: CharterConfig) -> dict[str, ChannelPolicy]:
    channels = dict(CHANNELS)
    for name, row in config.channels.items():
        if name not in channels:
            raise UnknownChannel("channel", name, tuple(CHANNELS))
        said = {k: v for k in ("stream", "markdown", "max_chars") if (v := getattr(row, k)) is not None}
        channels[name] = replace(channels[name], **said)
    return channels


def _check_referenced(config: CharterConfig, files: Mapping[str, FileText]) -> None:
    """Files that sources name must be there, so that nothing fails later than at load."""
    for layer in config.layer:
        for source in layer.source:
            for attribute in ("default", "routing"):
                name = getattr(source, attribute, "")
                if name and name not in files:
                    raise FileMissing(name, f"layer {layer.id!r} in {CONFIG}")
            path = getattr(source, "path", "")
            for name in [path.replace("{channel}", channel) for channel in CHANNELS] if "{channel}" in path else [path]:
                if name and "{" not in name and name not in files:
                    raise FileMissing(name, f"layer {layer.id!r} in {CONFIG}")
    names = [tool.name for tool in config.tool]
    for number, name in enumerate(names):
        if name in names[:number]:
            line = line_of(files[CONFIG].text, f"$.tool[{number}].name")
            raise ConfigError(f"{CONFIG}:{line}", f"a second tool named {name!r}")
    for name in config.defaults:
        if not name.isidentifier():
            raise BadValue("defaults", f"{len(name)}-character key is not a plain name")
