"""A layer is a named place for text; a Stack is layers in their one order, and a Stack that exists is valid."""

from __future__ import annotations

import enum
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from .errors import DuplicateLayer, ModeDropsLayer, NoBase, StackError, UnknownMode, UserLayerNotLast
from .text import Facts, Structure, Trust

if TYPE_CHECKING:  # ports know records, which know policy, which knows layers
    from .ports import Template


class Owner(enum.StrEnum):
    """Who may change a layer. Position gives order, the owner gives power."""

    SEALED = "sealed"
    OPERATOR = "operator"
    AGENT = "agent"
    USER = "user"
    TURN = "turn"


class Role(enum.StrEnum):
    """The message role a layer is sent in."""

    SYSTEM = "system"
    USER = "user"


class Volatility(enum.IntEnum):
    """How often a layer's bytes change, from never to every turn."""

    STATIC = 0
    STORED = 1
    SESSION = 2
    TURN = 3


@dataclass(frozen=True, slots=True)
class Layer:
    """Where text comes from and what rules it; never what it is."""

    id: str
    label: str
    template: Template = field(repr=False)
    title: str = ""
    owner: Owner = Owner.OPERATOR
    role: Role = Role.SYSTEM
    required: bool = False
    accepts: Trust = Trust.OUTSIDE
    volatility: Volatility = Volatility.STATIC
    visible: bool = False
    summary: Template | None = field(default=None, repr=False)
    max_content: int | None = None
    prefix: str = field(init=False, repr=False, compare=False)
    quick: Callable[[Facts], str | None] | None = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """`prefix` begins the layer's line of the stack hash; `quick` fills a template that nothing else rules."""
        object.__setattr__(self, "prefix", f"{self.label}:{self.id}:")
        object.__setattr__(self, "quick", None if self.title or self.accepts else self.template.quick)


@dataclass(frozen=True, slots=True)
class Mode:
    """Which layers stand whole and which as their one line, the rest being absent; and whether tools are offered."""

    name: str
    whole: frozenset[str]
    summary: frozenset[str] = frozenset()
    models: tuple[str, ...] = ()
    channels: tuple[str, ...] = ()
    tools: bool = True
    below_billions: float = 0

    def shows(self, layer_id: str) -> bool:
        return layer_id in self.whole or layer_id in self.summary


_ID = re.compile(r"[a-z][a-z0-9_]{0,63}\Z")
_LABEL = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,15}\Z")


@dataclass(frozen=True)
class Stack:
    """Layers in order, how they are joined, and the modes they can be shown in."""

    layers: tuple[Layer, ...]
    modes: Mapping[str, Mode]
    joiner: str = "\n\n"
    gap: str = "\n\n"

    def __post_init__(self) -> None:
        _check_ids(self.layers)
        _check_roles(self.layers)
        if not self.modes:
            raise StackError("a stack needs at least one mode")
        for mode in self.modes.values():
            _check_mode(mode, self.layers)

    @cached_property
    def base(self) -> Layer:
        """The layer without which there is no prompt."""
        return next(layer for layer in self.layers if layer.required)

    @cached_property
    def position(self) -> dict[str, int]:
        return {layer.id: index for index, layer in enumerate(self.layers)}

    @cached_property
    def structure(self) -> Structure:
        """Headings and separators that are ours in this stack."""
        titles = [layer.title for layer in self.layers if layer.title]
        return Structure(titles + [h for layer in self.layers for h in layer.template.headings], self.joiner)

    def mode(self, name: str) -> Mode:
        if name not in self.modes:
            raise UnknownMode("mode", name, tuple(self.modes))
        return self.modes[name]


def _check_ids(layers: tuple[Layer, ...]) -> None:
    seen: set[str] = set()
    for layer in layers:
        if not _ID.match(layer.id) or not _LABEL.match(layer.label):
            raise StackError(
                f"layer {layer.id!r}: an id is lower-case letters, digits and _, a label is short and plain"
            )
        if layer.id in seen or layer.label in seen:
            raise DuplicateLayer(f"layer {layer.id!r} or label {layer.label!r} stands twice")
        seen |= {layer.id, layer.label}


def _check_roles(layers: tuple[Layer, ...]) -> None:
    required = [layer for layer in layers if layer.required]
    if not required or required[0].role is not Role.SYSTEM or required[0].owner not in (Owner.SEALED, Owner.OPERATOR):
        raise NoBase(
            "a stack needs a base: its first required layer must be a system layer owned by sealed or operator"
        )
    for layer in layers[:-1]:
        if layer.role is Role.USER:
            raise UserLayerNotLast(f"layer {layer.id!r} has the user role but is not last")


def _check_mode(mode: Mode, layers: tuple[Layer, ...]) -> None:
    known = {layer.id for layer in layers}
    if both := sorted(mode.whole & mode.summary):
        raise StackError(f"mode {mode.name!r} shows layers both whole and as one line: {', '.join(both)}")
    if unknown := sorted((mode.whole | mode.summary) - known):
        raise StackError(f"mode {mode.name!r} names layers that do not exist: {', '.join(unknown)}")
    for layer in layers:
        if layer.required and not mode.shows(layer.id):
            raise ModeDropsLayer(f"mode {mode.name!r} drops the required layer {layer.id!r}")
        if layer.id in mode.summary and layer.summary is None:
            raise StackError(f"mode {mode.name!r} shows {layer.id!r} as one line, but the layer has no summary")
