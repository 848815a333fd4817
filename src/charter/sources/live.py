"""Sources of the moment: the channel, the clock, the runtime, the host and the tools at hand."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, ClassVar

import msgspec

from ..core.errors import BadValue
from ..core.ports import Part, ToolSpec
from ..core.text import Form, Piece, Value, quote, shorten
from ..zones import time_zone
from .ask import Ask, Gathered, operator_markdown
from .host import detect_host
from .pages import read_agent
from .people import user_fields

TOOL_LINE_CHARS = 160


class Channel(msgspec.Struct, tag_field="kind", tag="channel", forbid_unknown_fields=True, frozen=True):
    """The current channel and its guidance, no other's (S4-03)."""

    path: str = ""

    def gather(self, ask: Ask) -> Gathered:
        if ask.world.given.get("no_channel"):
            return Gathered({"channel": None, "guidance": None})
        name = ask.incoming.channel
        facts: dict[str, Value] = {"channel": name, "guidance": None}
        if not self.path:
            return Gathered(facts)
        path = self.path.replace("{channel}", name)
        facts["guidance"] = operator_markdown(ask.home.text(path).strip("\n"), path)
        return Gathered(facts, file=path, source="file")


class Clock(msgspec.Struct, tag_field="kind", tag="clock", forbid_unknown_fields=True, frozen=True):
    """The time of the message: in UTC, and in the user's zone when it is known (S2-07, S4-04)."""

    reads: ClassVar[tuple[Part, ...]] = ("timezone",)

    def gather(self, ask: Ask) -> Gathered:
        zone = ask.world.given.get("timezone") or _stored_zone(ask)
        utc = at if (at := ask.incoming.time).tzinfo is UTC else at.astimezone(UTC)
        iso = utc.isoformat(timespec="seconds")
        minute = f"{iso[:10]} {iso[11:16]}"
        facts: dict[str, Value] = {
            "utc": minute,
            "local": _minute(utc.astimezone(time_zone(str(zone)))) if zone else minute,
            "timezone": str(zone) if zone else None,
            "iso": iso.replace("+00:00", "Z"),
        }
        return Gathered(facts)


def _stored_zone(ask: Ask) -> str | None:
    return ask.reads.timezone(ask.incoming.owner) if ask.reads else None


def _minute(moment: datetime) -> str:
    return moment.isoformat(" ", "minutes")[:16]


class Runtime(msgspec.Struct, tag_field="kind", tag="runtime", forbid_unknown_fields=True, frozen=True):
    """Agent, model and channel of this turn; what is not known is None (S2-07)."""

    def gather(self, ask: Ask) -> Gathered:
        agent = read_agent(ask)
        return Gathered(
            {
                "agent_id": agent.id,
                "model": ask.incoming.model or agent.model,
                "channel": ask.incoming.channel,
            }
        )


_HOST_KEYS = (
    "host", "os", "arch", "shell", "provider", "model", "session", "sudo_non_interactive", "timezone",
    "accept_language", "location",
)  # fmt: skip
_SANDBOX_KEYS = ("enabled", "mode", "backend", "scope", "image", "workspace_mount", "network")


class Host(msgspec.Struct, tag_field="kind", tag="host", forbid_unknown_fields=True, frozen=True):
    """The host and sandbox lines, detected when asked; the request wins over USER.md, that over the host (S3-05)."""

    routing: str = ""

    def gather(self, ask: Ask) -> Gathered:
        incoming = ask.incoming
        given: Any = ask.world.given.get("runtime") or {}
        _known_keys("runtime", given, (*_HOST_KEYS, "sandbox"))
        detected = {} if ask.world.given.get("no_host") else detect_host()
        request = {"provider": incoming.provider, "model": incoming.model, "session": incoming.session}
        sandbox = given.get("sandbox") or {}
        _known_keys("runtime.sandbox", sandbox, _SANDBOX_KEYS)
        known = {**detected, **user_fields(ask), **_texts(request), **_texts(incoming.facts), **_texts(given)}
        facts: dict[str, Value] = {
            "host": _pairs(known, _HOST_KEYS),
            "sandbox": _pairs(_texts(sandbox), _SANDBOX_KEYS),
            "routing": operator_markdown(ask.home.text(self.routing).strip(), self.routing)
            if self.routing and ask.tools
            else None,
        }
        return Gathered(facts, origin="host")


def _known_keys(field: str, values: object, known: tuple[str, ...]) -> None:
    """Refuses what is not a mapping of known keys; nothing is dropped silently."""
    if not isinstance(values, Mapping) or not set(values) <= set(known):
        raise BadValue(field, f"a mapping with keys from: {', '.join(known)}")


def _texts(values: Mapping[str, object]) -> dict[str, str]:
    """Values as text, the empty ones left out."""
    out = {}
    for key, value in values.items():
        text = str(value).lower() if isinstance(value, bool) else "" if value is None else str(value)
        if text.strip() and not isinstance(value, Mapping):
            out[key] = text.strip()
    return out


def _pairs(values: Mapping[str, str], keys: tuple[str, ...]) -> list[Value]:
    return [{"key": Piece(key, "charter"), "value": values[key]} for key in keys if key in values]


class Tools(msgspec.Struct, tag_field="kind", tag="tools", forbid_unknown_fields=True, frozen=True):
    """The tools at hand: a line each, or whole schemas where the provider has no tool calling of its own (S3-09)."""

    def gather(self, ask: Ask) -> Gathered:
        facts: dict[str, Value] = {
            "tools": [_tool(tool) for tool in ask.tools],
            "names": [_tool_name(tool.name) for tool in ask.tools],
            "native": ask.world.native_tools,
        }
        return Gathered(facts, origin="tools")


class ToolFlags(msgspec.Struct, tag_field="kind", tag="tool_flags", forbid_unknown_fields=True, frozen=True):
    """Whether there are tools, and of which sort: switches only, so that a sealed layer may ask."""

    memory: tuple[str, ...] = ()

    def gather(self, ask: Ask) -> Gathered:
        facts: dict[str, Value] = {
            "has_tools": bool(ask.tools),
            "has_memory_tools": any(tool.name in self.memory for tool in ask.tools),
            "native": ask.world.native_tools,
        }
        return Gathered(facts)


def _tool_name(name: str) -> Value:
    """A tool's name; one that could read as two items of a list is quoted."""
    return Piece(name, "tool", form=Form.QUOTED if set(name) & set(", :") else Form.LINE)


def _tool(tool: ToolSpec) -> Value:
    schema = json.dumps(dict(tool.parameters), sort_keys=True, ensure_ascii=False)
    return {
        "name": _tool_name(tool.name),
        "description": shorten(" ".join(tool.description.split()), TOOL_LINE_CHARS),
        "full_description": " ".join(tool.description.split()),
        "schema": Piece(schema, f"tool:{shorten(quote(tool.name), 80)}", form=Form.JSON),
        "left": tool.left,
    }
