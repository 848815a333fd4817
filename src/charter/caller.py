"""A caller that keeps its own chat: its words are sent whole and defused, and its tools are offered, never run here."""

from __future__ import annotations

import json
from collections.abc import Container, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from .converse import readable, result_message
from .core.dialogue import Said, Talk, ToolCall
from .core.errors import BadValue
from .core.policy import ToolClass, ToolPolicy
from .core.ports import Tool
from .core.text import Piece, spoken

if TYPE_CHECKING:
    from .core.assemble import Assembly
    from .core.carried import Carried


def their_tools(carried: Carried | None, known: Container[str]) -> dict[str, Tool]:
    """The caller's tools; a call of one goes back to the caller, who decides about it.

    A name that the agent's own tools have, or that stands twice, is an error: nobody could tell whose call it is.
    """
    tools: dict[str, Tool] = {}
    for spec in carried.tools if carried is not None else ():
        if spec.name in known or spec.name in tools:
            raise BadValue("tools", f"the agent has a tool named {spec.name!r} already; give yours another name")
        tools[spec.name] = Tool(spec, ToolPolicy(spec.name, ToolClass.DRAFT, approval=False), _elsewhere)
    return tools


def _elsewhere(_: Mapping[str, Any]) -> str:
    raise AssertionError("a tool of the caller's is not run here")


def refuse_unplaced(carried: Carried, assembly: Assembly) -> None:
    """A system text of the caller's that no layer took is an error: it is never dropped unseen."""
    texts = (text for part in assembly.parts for text in part.section.texts)
    if carried.system.strip() and not any(isinstance(text, Piece) and text.origin == "caller" for text in texts):
        raise BadValue("system", "this agent's charter has no place for a system text of the caller's; leave it out")


def their_talk(carried: Carried, assembly: Assembly, *, native: bool) -> Talk:
    """The caller's chat as the messages it is sent as; for a model without tool calling, calls are words too."""
    before, after = (_messages(said, assembly, native) for said in (carried.before, carried.after))
    return Talk(before, after)


def _messages(talk: Sequence[Said], assembly: Assembly, native: bool) -> tuple[Said, ...]:
    return tuple([_message(said, assembly, native) for said in talk])


def _message(said: Said, assembly: Assembly, native: bool) -> Said:
    if said.role == "user":
        return Said("user", assembly.past(said.text))
    if native:
        return replace(said, text=spoken(said.text), calls=tuple(map(readable, said.calls)))
    if said.role == "tool":
        return Said("user", result_message(said.name, said.text))
    return Said("assistant", spoken("\n".join(filter(None, (said.text, *map(_written, said.calls))))))


def _written(call: ToolCall) -> str:
    arguments = json.loads(readable(call).arguments or "{}")
    return json.dumps({"tool": call.name, "arguments": arguments}, ensure_ascii=False)
