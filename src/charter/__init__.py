"""Charter assembles, governs and records what an AI agent is told before it speaks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .agent import Agent
    from .core.assemble import Assembly, Section, assemble
    from .core.errors import CharterError
    from .core.incoming import Incoming
    from .core.layer import Layer, Owner, Stack
    from .core.manifest import Manifest, stack_hash
    from .core.policy import Verdict
    from .core.ports import ToolSpec
    from .folder import Charter, load
    from .sources import AgentDef, World
    from .tools import tool
    from .turn import Turn, take_turn

__version__ = "0.1.0"
__all__ = [
    "Agent", "AgentDef", "Assembly", "Charter", "CharterError", "Incoming", "Layer", "Manifest", "Owner", "Section",
    "Stack", "ToolSpec", "Turn", "Verdict", "World", "assemble", "load", "stack_hash", "take_turn", "tool",
]  # fmt: skip

_HOMES = {
    "Agent": "agent", "AgentDef": "sources", "Assembly": "core.assemble", "Charter": "folder",
    "CharterError": "core.errors",
    "Incoming": "core.incoming", "Layer": "core.layer", "Manifest": "core.manifest", "Owner": "core.layer",
    "Section": "core.assemble", "Stack": "core.layer", "ToolSpec": "core.ports", "Verdict": "core.policy",
    "Turn": "turn", "World": "sources", "assemble": "core.assemble", "load": "folder", "stack_hash": "core.manifest",
    "take_turn": "turn", "tool": "tools",
}  # fmt: skip


def __getattr__(name: str) -> Any:
    """Names are imported when they are first used, so that `import charter` stays quick."""
    if name not in _HOMES:
        raise AttributeError(f"module 'charter' has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(f".{_HOMES[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
