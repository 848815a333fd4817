"""The entry point of the assistant design (seed 004)."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from ..core.incoming import Incoming
from ..core.ports import ToolSpec
from ..sources import World
from .loaded import loaded


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
    return loaded("assistant").assemble(incoming, world=world).reveal()
