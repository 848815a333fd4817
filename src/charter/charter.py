"""A loaded charter: its stack, its policies, where its layers read, and what may be written."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from functools import cached_property, lru_cache
from typing import Any

from .core.assemble import ESTIMATE, About, Assembly, Section, Settings, assemble
from .core.budget import Limits, Step
from .core.errors import (
    BudgetExceeded,
    Refused,
    UnknownChannel,
    UnknownLayer,
)
from .core.incoming import Incoming
from .core.layer import Layer, Owner, Stack
from .core.policy import ChannelPolicy, ToolPolicy
from .core.ports import Counter, Part, Reads, Store, Tool, ToolSpec, Wanted
from .core.records import Head, Place
from .core.text import Form, Piece, Trust, Value
from .lock import read_files, stamps, unchanged
from .sources import Ask, Gathered, Home, Source, World
from .sources.listing import WorkspaceSkills
from .sources.still import Still, Told, clock
from .sources.stored import Stored
from .written import canonical_json


@dataclass(frozen=True, slots=True)
class Guest:
    """A layer that is there only while an application calls with a system text of its own, `after` another."""

    layer: Layer
    after: str
    source: Source


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
    approvers: Sequence[str] = ()
    agent_tools: Sequence[str] = ()
    silence: str = ""
    refusal: str = ""
    world: World = field(default_factory=World)
    counter: Counter = ESTIMATE
    key: bytes | None = None
    guest: Guest | None = None
    stamps: dict[str, tuple[int, int, int]] = field(default_factory=dict)
    parts: dict[str, tuple[Part, ...]] = field(default_factory=dict)
    made: dict[str, tuple[Sequence[Gathered], Section, tuple[str, ...]]] = field(init=False, default_factory=dict)
    still: Still = field(init=False, default_factory=Still)
    worlds: dict[bool, World] = field(init=False, default_factory=dict)

    def __repr__(self) -> str:
        return f"Charter({self.name!r}, {self.version}, {len(self.stack.layers)} layers)"

    @cached_property
    def settings(self) -> Settings:
        """What holds for every prompt of this charter."""
        return Settings(self.name, self.version, self.limits, self.counter, self.key, canonical_json)

    def within(self, **changes: Any) -> Charter:
        """The same charter in another world: `within(workspace=…, store=…, tools=…)`."""
        return replace(self, world=replace(self.world, **changes))

    def assemble(
        self,
        incoming: Incoming,
        *,
        mode: str | None = None,
        world: World | None = None,
        reads: Reads | None = None,
    ) -> Assembly:
        """The prompt for this message, complete; or a typed error and nothing.

        `reads` is what a caller has read already (`read`), for one who needs more of it than the prompt.
        """
        if incoming.at is None:
            incoming = replace(incoming, at=datetime.now(UTC))
        if self.guest is not None and incoming.carried is not None and incoming.carried.system:
            return self.with_guest.assemble(incoming, mode=mode, world=world, reads=reads)
        chosen = self.choose_mode(incoming, mode)
        there = self.world if world is None else world
        sections = [section for section, _ in self.gather(incoming, mode=chosen, world=there, reads=reads)]
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
        self, incoming: Incoming, *, mode: str, world: World | None = None, reads: Reads | None = None
    ) -> Iterator[tuple[Section, tuple[str, ...]]]:
        """The sections of this message in order, each with the notices of what was left out on the way."""
        if incoming.channel not in self.channels:
            raise UnknownChannel("channel", incoming.channel, tuple(self.channels))
        self.check_files()
        shown = self.stack.mode(mode)
        there = self.world if world is None else world
        reads = self.read(incoming, mode=mode, world=there) if reads is None else reads
        seen: dict[str, Any] = {}
        began, first = clock(), Ask(incoming, shown, there, self.home, "", reads, seen)
        told = self.still.told(first)
        anew: dict[str, Told] = {}
        for layer in self.stack.layers:
            if layer.id in self.fixed:
                yield self.fixed[layer.id], ()
            elif layer.id in told:
                yield told[layer.id]
            elif shown.shows(layer.id):
                said = self._section(layer, Ask(incoming, shown, there, self.home, layer.id, reads, seen))
                if layer.id in self.of_files:
                    anew[layer.id] = said
                yield said
            else:
                yield Section(layer, {}), ()
        if anew:
            self.still.keep(first, anew, began)

    @cached_property
    def of_files(self) -> frozenset[str]:
        """The layers that follow from files which every prompt looks at."""
        rows = self.sources.items()
        return frozenset(name for name, row in rows if row and all(getattr(one, "still", False) for one in row))

    @cached_property
    def with_guest(self) -> Charter:
        """This charter with the guest's layer in its place, shown in every mode; it is the first to give way."""
        assert self.guest is not None
        layer, at = self.guest.layer, self.stack.position[self.guest.after] + 1
        layers = (*self.stack.layers[:at], layer, *self.stack.layers[at:])
        modes = {name: replace(mode, whole=mode.whole | {layer.id}) for name, mode in self.stack.modes.items()}
        shed = (Step(layer.id, "summary"), *self.limits.shed)
        return replace(
            self,
            stack=replace(self.stack, layers=layers, modes=modes),
            limits=replace(self.limits, shed=shed),
            sources={**self.sources, layer.id: (self.guest.source,)},
            templates={**self.templates, layer.id: ""},
            parts={},
            guest=None,
        )

    def with_tools(self, tools: Sequence[Tool], native: bool, store: Store) -> World:
        """This charter's world with the tools of a turn in it, each with the calls it has left."""
        specs = [_with_left(tool.spec, tool.policy.max_per_turn) for tool in tools]
        made = self.worlds.get(native)
        if made is None or made.store is not store or made.tools != specs:
            made = self.worlds[native] = replace(self.world, tools=specs, native_tools=native, store=store)
        return made

    def skill(self, name: str, agent: str) -> str | None:
        """A skill's whole text, as an agent of this charter may read it; None when it has none of this name."""
        mode = self.stack.mode(self.default_mode)
        ask = Ask(Incoming(agent=agent, at=0), mode, self.world, self.home, "skills")
        listings = [source for row in self.sources.values() for source in row if isinstance(source, WorkspaceSkills)]
        return next((text for listing in listings if (text := listing.whole(ask, name)) is not None), None)

    # ── what amend asks ───────────────────────────────────────────────────────────────────────────────────────────

    def agent(self, name: str = "") -> str:
        """This agent, or the charter's own when none is named."""
        return name or self.home.defaults.get("agent", "main")

    def stored(self, layer_id: str, *, agent: str = "", user: str = "") -> tuple[Layer, Place]:
        """The layer and where its text is kept; an error when there is none, or when it lies in a file."""
        if layer_id not in self.stack.position:
            raise UnknownLayer(f"{self.name} has no layer of this name; it has: {', '.join(self.stack.position)}")
        layer = self.stack.layers[self.stack.position[layer_id]]
        head = next((source.head for source in self.sources[layer_id] if hasattr(source, "head")), None)
        if layer.owner is Owner.SEALED or head is None:
            code = "LAYER_SEALED" if layer.owner is Owner.SEALED else "LAYER_NOT_STORED"
            raise Refused(code, f"{layer_id} is {layer.owner}, not stored: its text is in the charter's files")
        return layer, Place(self.agent(agent), layer_id, user if head is Head.INSTRUCTIONS else "", head)

    def layer_named(self, name: str) -> str:
        """The id of a layer, by its id or its label; a name that is neither is an error that lists the ids."""
        for layer in self.stack.layers:
            if name.strip() in (layer.id, layer.label):
                return layer.id
        raise UnknownLayer(f"{self.name} has no layer of this name; it has: {', '.join(self.stack.position)}")

    @cached_property
    def own_memory(self) -> bool:
        """Whether the agent keeps one memory of its own, not one per person (S0-04)."""
        return self._has("recent")

    @cached_property
    def one_at_a_time(self) -> bool:
        """Whether the agent takes one turn at a time; else one per sender (S0-15). Who sees its whole inbox does."""
        return self._has("inbox")

    @cached_property
    def talks(self) -> bool:
        """Whether past turns are sent as messages; a charter that shows them in a layer does not (N-18)."""
        return not self._has("history")

    def _has(self, kind: str) -> bool:
        configs: list[Any] = [
            getattr(source, "__struct_config__", None) for row in self.sources.values() for source in row
        ]
        return any(config is not None and config.tag == kind for config in configs)

    def shipped(self, layer_id: str) -> str:
        """The text a stored layer starts with."""
        names = [source.default for source in self.sources[layer_id] if isinstance(source, Stored)]
        return self.home.text(names[0]).strip() if names else ""

    def seeded(self) -> tuple[str, ...]:
        """The layers that start with a shipped text."""
        return tuple(layer.id for layer in self.stack.layers if layer.id not in self.fixed and self.shipped(layer.id))

    def has_room(self, layer_id: str, content: str) -> bool:
        """Whether this text could be shown whole, everything that may give way having given way but it."""
        layer = self.stack.layers[self.stack.position[layer_id]]
        if (self.limits.max_chars is None and self.limits.max_tokens is None) or layer.owner is Owner.USER:
            return True
        piece = Piece(content, "amendment", Trust.PROJECT, Form.MARKDOWN)
        shed = tuple(step for step in self.limits.shed if step.layer != layer_id)
        world = World(given={"no_host": True})
        empty = Incoming(channel="inbox", at=0)
        sections = [
            Section(layer, {**section.facts, "text": piece}) if section.layer.id == layer_id else section
            for section, _ in self.gather(empty, mode=self.default_mode, world=world)
        ]
        settings = Settings(self.name, self.version, replace(self.limits, shed=shed), self.counter)
        try:
            assemble(self.stack, sections, mode=self.default_mode, settings=settings)
        except BudgetExceeded:
            return False
        return True

    def read(
        self, incoming: Incoming, *, mode: str, world: World | None = None, also: tuple[Part, ...] = ()
    ) -> Reads | None:
        """Everything the shown layers need of the store, and what is asked for beside it, read at once."""
        world = self.world if world is None else world
        if world.store is None:
            return None
        if mode not in self.parts:
            shown = [layer.id for layer in self.stack.layers if self.stack.mode(mode).shows(layer.id)]
            rows = [getattr(source, "reads", ()) for name in shown for source in self.sources[name]]
            self.parts[mode] = tuple(dict.fromkeys(part for parts in rows for part in parts))
        agent = self.agent(incoming.agent)
        sender = incoming.sender or "unknown"
        parts = (*self.parts[mode], *also) if also else self.parts[mode]
        return world.store.for_turn(Wanted(agent, parts, incoming.owner, sender, incoming.text, world.label))

    def _section(self, layer: Layer, ask: Ask) -> tuple[Section, tuple[str, ...]]:
        """What a layer has to say; the same section as before when its sources answer the same, for it is rendered."""
        answers = [source.gather(ask) for source in self.sources[layer.id]]
        made = self.made.get(layer.id)
        if made is None or made[0] != answers:
            section = self._new_section(layer, answers)
            made = self.made[layer.id] = answers, section, tuple(n for answer in answers for n in answer.notices)
        return made[1], made[2]

    def _new_section(self, layer: Layer, answers: Sequence[Gathered]) -> Section:
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
            foreign=next((answer.foreign for answer in answers if answer.foreign), ""),
        )
        return Section(layer, facts, about=about, keep=True)

    def choose_mode(self, incoming: Incoming, mode: str | None = None) -> str:
        """As asked; else the first mode that names this model or channel; else the charter's default (S0-08, S2-03)."""
        asked = mode or incoming.mode
        if asked:
            return self.stack.mode(asked).name
        for candidate in self.stack.modes.values():
            model, names = incoming.model, candidate.models
            by_name = bool(names) and any(fnmatchcase(model.lower(), pattern) for pattern in names)
            by_size = candidate.below_billions > 0 and 0 < model_billions(model) < candidate.below_billions
            if by_name or by_size or incoming.channel in candidate.channels:
                return candidate.name
        return self.default_mode

    def check_files(self) -> None:
        """Verifies the locked files again when one of them changed on disk (N-02)."""
        if not unchanged(self.home.root, self.stamps):
            now = stamps(self.home.root, self.stamps)
            read_files(self.home.root)
            self.stamps.update(now)


def _with_left(spec: ToolSpec, left: int | None) -> ToolSpec:
    return spec if spec.left == left else replace(spec, left=left)


@lru_cache(maxsize=64)
def model_billions(model: str) -> float:
    """How many billions of parameters a model's name says it has, as in `llama3.1:8b` or `8x7b`; 0 when it does not."""
    found = re.search(r"(?<![a-z0-9.\[])(?:(\d+)x)?(\d+(?:\.\d+)?)([bm])(?![a-z0-9])", model.lower())
    if found is None:
        return 0
    size = float(found.group(2)) * int(found.group(1) or 1)
    return size if found.group(3) == "b" else size / 1000
