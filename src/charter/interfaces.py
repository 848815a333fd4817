"""The entry points the five designs name; each is one call into the same engine."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

from .core.assemble import Section, Settings, assemble, fill
from .core.incoming import Incoming, moment, sender_key
from .core.layer import Owner
from .core.ports import InboxMessage, Store, ToolSpec
from .core.text import Facts, Structure
from .folder import Charter, load
from .sources import AgentDef, World
from .sources.skills import Skill
from .sources.vitals import StaticVitals
from .stores.memory import MemoryStore

__all__ = [
    "AgentDef",
    "DynamicContext",
    "PromptBuilder",
    "PromptLayerView",
    "assemble_system_prompt",
    "assemble_system_prompt_compact",
    "build_agent_prompt",
    "build_dynamic_context",
    "build_system_prompt",
    "build_system_prompt_minimal_runtime",
    "build_system_prompt_with_session_runtime",
    "get_prompt_layers",
]


@cache
def _charter(name: str) -> Charter:
    return load(name)


# ── sovereign (seed 000) ──────────────────────────────────────────────────────────────────────────────────────────


class DynamicContext(str):
    """Layer 10 as the engine rendered it: every outside value in it is framed already."""

    __slots__ = ()


def build_dynamic_context(
    snapshot: Mapping[str, Any] | None = None,
    staged_messages: Iterable[InboxMessage] = (),
    *,
    store: Store | None = None,
    tools: Sequence[ToolSpec] | None = None,
    at: datetime | str | None = None,
    compact: bool = False,
) -> DynamicContext:
    """Layer 10 for this moment: state, messages that wait, what was said before with their senders, notes, tools.

    `snapshot` holds the vitals (cycles_balance, burn_per_hour, base_wallet, eth_balance, turn_number, state).
    """
    charter = _charter("sovereign")
    given = _Staged(store or MemoryStore(), tuple(staged_messages))
    world = World(store=given, tools=tools, vitals=StaticVitals(snapshot) if snapshot is not None else None)
    incoming = Incoming(channel="inbox", at=moment(at) or datetime.now(UTC))
    mode = "compact" if compact else "full"
    *_, (section, _) = charter.gather(incoming, mode=mode, world=world)
    return DynamicContext(fill(section.layer.template, section.facts, charter.stack.structure))


def assemble_system_prompt(dynamic_context: str, *, store: Store | None = None, soul: str = "") -> str:
    """All eleven layers with this text as layer 10."""
    return _sovereign(dynamic_context, "full", store, soul)


def assemble_system_prompt_compact(dynamic_context: str, *, store: Store | None = None, soul: str = "") -> str:
    """Layers 0, 1, 5 and 10 whole, the others a line each."""
    return _sovereign(dynamic_context, "compact", store, soul)


def _sovereign(dynamic_context: str, mode: str, store: Store | None, soul: str) -> str:
    charter = _charter("sovereign")
    world = World(store=store, given={"soul": soul})
    sections = [s for s, _ in charter.gather(Incoming(channel="inbox", at=0), mode=mode, world=world)]
    situation = charter.stack.layers[-1]
    told = Told(str(dynamic_context), contained=isinstance(dynamic_context, DynamicContext))
    layers = (*charter.stack.layers[:-1], replace(situation, template=told))
    stack = replace(charter.stack, layers=layers)
    sections[-1] = Section(layers[-1], {})
    limits = replace(charter.limits, shed=tuple(step for step in charter.limits.shed if step.layer != situation.id))
    return assemble(stack, sections, mode=mode, settings=Settings(charter.name, charter.version, limits)).reveal()


class Told:
    """A layer's text that a program hands in whole: contained already, or an operator's Markdown."""

    __slots__ = ("_text",)
    starts: frozenset[str] = frozenset()
    headings: tuple[str, ...] = ()

    def __init__(self, text: str, *, contained: bool) -> None:
        stack = _charter("sovereign").stack
        titles = Structure([layer.title for layer in stack.layers], stack.joiner)
        self._text = text if contained else titles.escape(text)

    def quick(self, facts: Facts) -> str:
        return self._text

    def render(self, values: Mapping[str, object]) -> str:
        return self._text


@dataclass(frozen=True, slots=True)
class PromptLayerView:
    """A layer as an operator sees it."""

    layer_id: str
    title: str
    owner: Owner
    immutable: bool
    content: str
    version: int
    updated_by: str

    def __repr__(self) -> str:
        return f"PromptLayerView({self.layer_id!r}, version={self.version})"


def get_prompt_layers(store: Store | None = None, *, agent: str = "") -> list[PromptLayerView]:
    """Every layer: the sealed as they are, the agent's from the store; operators only (S0-11)."""
    charter = _charter("sovereign")
    world = World(store=store)
    views = []
    for section, _ in charter.gather(Incoming(channel="inbox", at=0, agent=agent), mode="full", world=world):
        layer = section.layer
        content = "" if layer.owner is Owner.TURN else fill(layer.template, section.facts, charter.stack.structure)
        stored = layer.owner is Owner.AGENT
        views.append(
            PromptLayerView(
                layer.id, layer.title, layer.owner, layer.owner is Owner.SEALED, content,
                int(section.about.version) if stored else 1,
                (section.about.origin or "init") if stored else "charter",
            )
        )  # fmt: skip
    return views


class _Staged:
    """A store in which these messages wait besides what the other store holds."""

    def __init__(self, inner: Store, messages: tuple[InboxMessage, ...]) -> None:
        self._inner = inner
        self._messages = tuple(replace(message, sender=sender_key(message.sender)) for message in messages)

    def staged(self, agent: str) -> Sequence[InboxMessage]:
        return (*self._inner.staged(agent), *self._messages)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


# ── workspace (seed 002) ──────────────────────────────────────────────────────────────────────────────────────────


class PromptBuilder:
    """Prompts from a workspace folder (S2-02)."""

    def __init__(
        self,
        workspace: Path | str,
        *,
        user: str | None = None,
        now: datetime | str | None = None,
        store: Store | None = None,
    ) -> None:
        self.workspace = Path(workspace)
        self._user = user
        self._now = now
        self._store = store

    def build(
        self, agent: str | AgentDef, channel: str = "terminal", user_message: str = "", mode: str = "full"
    ) -> str:
        """The system prompt for this agent, channel and message."""
        given = {"agent": agent} if isinstance(agent, AgentDef) else {}
        incoming = Incoming(
            channel=channel,
            text=user_message,
            at=moment(self._now) or datetime.now(UTC),
            agent=agent if isinstance(agent, str) else agent.id,
            user=self._user or "",
        )
        world = World(workspace=self.workspace, store=self._store, given=given)
        return _charter("workspace").assemble(incoming, mode=mode, world=world).reveal()


# ── gateway (seed 003) ────────────────────────────────────────────────────────────────────────────────────────────


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
    return _charter("gateway").assemble(incoming, mode=mode, world=world).reveal()


def _tool(tool: ToolSpec | Mapping[str, Any]) -> ToolSpec:
    """A tool as given, or from a mapping with name, description and parameters."""
    if isinstance(tool, ToolSpec):
        return tool
    return ToolSpec(str(tool["name"]), str(tool.get("description", "")), dict(tool.get("parameters") or {}))


# ── assistant (seed 004) ──────────────────────────────────────────────────────────────────────────────────────────


def build_agent_prompt(
    soul: str | None,
    identity: Mapping[str, Any] | None,
    channel: str | None,
    user_instructions: str | None,
    timezone: str | None = None,
    tool_names: list[str] | None = None,
) -> str:
    """The assistant's prompt from its parts (S4-01)."""
    given = {
        "soul": soul,
        "identity": identity,
        "instructions": user_instructions,
        "timezone": timezone,
        "no_channel": channel is None,
    }
    world = World(tools=tuple(ToolSpec(name) for name in tool_names or ()), given=given)
    incoming = Incoming(channel="web" if channel is None else channel, at=datetime.now(UTC))
    return _charter("assistant").assemble(incoming, world=world).reveal()
