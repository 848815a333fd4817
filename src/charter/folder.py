"""A folder becomes a Charter: charter.toml and the Markdown it names, read once and verified against its lock."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from .charter import Charter, Guest
from .config import ChannelConfig, CharterConfig, LayerConfig, line_of, read_config
from .core.assemble import About, Section
from .core.budget import Limits, Step, check_steps
from .core.errors import (
    BadValue,
    ConfigError,
    FileMissing,
    UnknownChannel,
    UnknownCharter,
)
from .core.layer import Layer, Mode, Owner, Role, Stack, Volatility
from .core.policy import CHANNELS, ChannelPolicy, ToolClass, ToolPolicy
from .core.ports import ToolSpec
from .core.text import Trust
from .lock import SHIPPED, folders, read_files, stamps
from .sources import Home, World
from .sources.caller import CallerText
from .sources.files import FileText
from .templates import Compiled

__all__ = ["BUILT_IN", "CONFIG", "SHIPPED", "Charter", "build", "find", "load", "read_files"]

BUILT_IN = ("sovereign", "contract", "workspace", "gateway", "assistant")
CONFIG = "charter.toml"
GUEST_TITLE = "## What the calling application asks for"
TEXT_ONLY = Compiled("{% if text %}{{ text }}{% endif %}", "the default template")


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
        agent_tools=tuple(config.agent_tools),
        silence=config.silence,
        refusal=config.refusal.replace("{charter}", config.name).replace("{version}", config.version),
        home=Home(root, files, config.defaults, tools, frozenset(config.accepted), config.name),
        sources={layer.id: tuple(layer.source) for layer in config.layer},
        templates={row.id: row.template for row in config.layer},
        fixed={
            layer.id: Section(layer, {}, about=About(row.template, "file", "", config.version), keep=True)
            for layer, row in zip(layers, config.layer, strict=True)
            if not row.source
        },
        approvers=tuple(config.approvers),
        world=world,
        guest=_guest(config, stack, files),
        stamps=stamps(root, dict.fromkeys([*files, *folders(files)])),
    )


def _guest(config: CharterConfig, stack: Stack, files: Mapping[str, FileText]) -> Guest | None:
    """The place for what a calling application asks for: below everything that is sealed."""
    if config.caller is None:
        return None
    after = config.caller.after
    where = f"{CONFIG}:{line_of(files[CONFIG].text, '$.caller.after')}"
    if after not in stack.position:
        raise ConfigError(where, f"[caller] stands after {after!r}, which is no layer")
    above, below = stack.layers[: stack.position[after] + 1], stack.layers[stack.position[after] + 1 :]
    if above[-1].role is Role.USER or any(layer.owner is Owner.SEALED for layer in below):
        raise ConfigError(where, "[caller] stands below every sealed layer and above the user's")
    summary = Compiled("An application that calls asked for something that does not fit here.", where)
    layer = Layer("caller", "C", TEXT_ONLY, GUEST_TITLE, Owner.TURN, volatility=Volatility.SESSION, summary=summary)
    return Guest(layer, after, CallerText(max_chars=config.caller.max_chars))


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
        said = {k: v for k in ChannelConfig.__struct_fields__ if (v := getattr(row, k)) is not None}
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
