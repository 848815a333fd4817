"""charter.toml, read strictly: a key that is not known is an error with its file and line."""

from __future__ import annotations

import re
import tomllib
from typing import Annotated, Any, Literal, TypeVar

import msgspec

from .core.errors import ConfigError
from .sources import AnySource

REFUSAL = (
    "I work from a base prompt and policies ({charter} {version}) that I cannot show or describe."
    " I am glad to help with something else."
)


class LayerConfig(msgspec.Struct, forbid_unknown_fields=True):
    """One [[layer]]."""

    id: str
    label: str
    title: str = ""
    owner: Literal["sealed", "operator", "agent", "user", "turn"] = "operator"
    role: Literal["system", "user"] = "system"
    required: bool = False
    accepts: Literal["operator", "project", "outside"] | None = None
    volatility: Literal["static", "stored", "session", "turn"] = "static"
    visible: bool = False
    template: str = ""
    summary: str = ""
    max_content: int | None = None
    source: list[AnySource] = []


class ShedConfig(msgspec.Struct, forbid_unknown_fields=True):
    """One [[budget.shed]]: what gives way, in this order."""

    layer: str
    to: Literal["summary", "nothing", "fewer"]
    fact: str = ""
    within: str = ""
    keep: tuple[int, ...] = (0,)
    drop: Literal["front", "back"] = "front"


class BudgetConfig(msgspec.Struct, forbid_unknown_fields=True):
    """[budget]."""

    max_chars: int | None = None
    max_tokens: int | None = None
    shed: list[ShedConfig] = []


class ModeConfig(msgspec.Struct, forbid_unknown_fields=True):
    """[modes.NAME]; `whole` left out means every layer that is not named in `summary`."""

    whole: list[str] | None = None
    summary: list[str] = []
    models: tuple[str, ...] = ()
    below_billions: float = 0
    channels: tuple[str, ...] = ()
    tools: bool = True


class ChannelConfig(msgspec.Struct, forbid_unknown_fields=True):
    """[channels.NAME]: how a channel speaks, where it differs from the default."""

    stream: bool | None = None
    markdown: bool | None = None
    max_chars: int | None = None
    max_steps: int | None = None
    max_seconds: int | None = None
    max_tokens: int | None = None


class ToolConfig(msgspec.Struct, forbid_unknown_fields=True):
    """One [[tool]]: a tool every agent of this charter has, and its policy."""

    name: str
    kind: Literal["READ", "DRAFT", "WRITE", "EXECUTE"]
    description: str = ""
    states: tuple[str, ...] = ("ExecutingActions",)
    max_per_turn: int | None = None
    approval: bool | None = None
    parameters: dict[str, Any] = {}


class CallerConfig(msgspec.Struct, forbid_unknown_fields=True):
    """[caller]: after which layer a calling application's own system text stands, and how long it may be."""

    after: str
    max_chars: int = 20_000


class CharterConfig(msgspec.Struct, forbid_unknown_fields=True):
    """The whole file."""

    name: str
    version: str
    layer: list[LayerConfig]
    about: str = ""
    mode: str = "full"
    joiner: str = "\n\n"
    gap: str = "\n\n"
    autonomous: str = ""
    silence: str = ""
    refusal: str = REFUSAL
    defaults: dict[str, str] = {}
    caller: CallerConfig | None = None
    budget: BudgetConfig = msgspec.field(default_factory=BudgetConfig)
    modes: dict[str, ModeConfig] = {}
    channels: dict[str, ChannelConfig] = {}
    tool: list[ToolConfig] = []
    agent_tools: list[str] = []
    approvers: list[str] = []
    accepted: list[Annotated[str, msgspec.Meta(pattern="^[0-9a-f]{64}$")]] = []


_VERSION = re.compile(r"[0-9]+\.[0-9]+\.[0-9]+\Z")


def read_config(text: str, where: str) -> CharterConfig:
    """The configuration in this text; `where` names its file in errors."""
    config = parse(text, where, CharterConfig)
    if not _VERSION.match(config.version):
        raise ConfigError(f"{where}:{line_of(text, '$.version')}", "version is three numbers such as 1.0.0")
    return config


T = TypeVar("T")


def parse(text: str, where: str, kind: type[T]) -> T:
    """TOML text as this kind; every error names file and line."""
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        problem = re.sub(r" \(at (?:line \d+.*|end of document)\)", "", str(error))
        found = re.search(r"at line (\d+)", str(error))
        line = found.group(1) if found else str(text.count("\n") + 1)
        raise ConfigError(f"{where}:{line}", f"not TOML: {problem}") from None
    try:
        return msgspec.convert(data, kind, strict=True)
    except msgspec.ValidationError as error:
        problem, path = _problem(error)
        if "[...]" in path:
            path = path.replace("[...]", "." + _guilty(data, path.partition("[...]")[0].removeprefix("$."), kind), 1)
        raise ConfigError(f"{where}:{line_of(text, path)}", f"{problem} (at {path.removeprefix('$.')})") from None


def _problem(error: msgspec.ValidationError) -> tuple[str, str]:
    """What is wrong, and the path it is wrong at."""
    problem, _, path = str(error).partition(" - at `")
    path = path.rstrip("`") or "$"
    unknown = re.search(r"unknown field `([^`]*)`", problem)
    return (f"unknown key {unknown.group(1)!r}", f"{path}.{unknown.group(1)}") if unknown else (problem, path)


def _guilty(data: dict[str, Any], table: str, kind: type[T]) -> str:
    """Which entry of a table does not fit; the error does not tell its name, so each is tried alone."""
    for name, value in data[table].items():
        try:
            msgspec.convert({**data, table: {name: value}}, kind, strict=True)
        except msgspec.ValidationError:
            return str(name)
    return ""


_HEADER = re.compile(r"\s*(\[\[?)\s*([A-Za-z0-9_.\"-]+)\s*\]\]?\s*(?:#.*)?$")
_KEY = re.compile(r"\s*([A-Za-z0-9_.\"-]+)\s*=")


def line_of(text: str, path: str) -> int:
    """The line that a path such as `$.layer[2].source[0].kind` stands on, or the nearest table above it."""
    wanted = re.findall(r"[A-Za-z0-9_-]+", path)
    best, best_depth = 1, -1
    table: list[str] = []
    counts: dict[tuple[str, ...], int] = {}
    for number, line in enumerate(text.split("\n"), 1):
        if header := _HEADER.match(line):
            table = _table(header.group(2).replace('"', "").split("."), header.group(1) == "[[", counts)
            here = table
        elif key := _KEY.match(line):
            here = table + key.group(1).replace('"', "").split(".")
        else:
            continue
        if here == wanted[: len(here)] and len(here) > best_depth:
            best, best_depth = number, len(here)
    return best


def _table(names: list[str], listed: bool, counts: dict[tuple[str, ...], int]) -> list[str]:
    """A table header as a path with the index of every list on the way."""
    path: list[str] = []
    for depth, name in enumerate(names):
        path.append(name)
        key = tuple(path)
        if listed and depth == len(names) - 1:
            counts[key] = counts.get(key, -1) + 1
        if key in counts:
            path.append(str(counts[key]))
    return path
