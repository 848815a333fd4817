"""What a charter's [[tool]] rows say of a tool wins over what the tool says of itself."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ..core.errors import BadValue
from ..core.policy import ToolPolicy
from ..core.ports import Tool, ToolSpec
from .function import check_policy


def ruled(tools: Iterable[Tool], specs: Iterable[ToolSpec], policies: Mapping[str, ToolPolicy]) -> dict[str, Tool]:
    """The tools by name, each told and governed as the charter says; two of one name are an error.

    A row without a description or parameters leaves the tool's own.
    """
    rows = {spec.name: spec for spec in specs}
    out: dict[str, Tool] = {}
    for tool in tools:
        name = tool.spec.name
        if name in out:
            raise BadValue("tools", f"two tools are named {name}; rename one")
        policy = policies.get(name, tool.policy)
        check_policy(policy)
        row = rows.get(name, tool.spec)
        spec = ToolSpec(
            name,
            row.description or tool.spec.description,
            row.parameters or tool.spec.parameters,
            policy.max_per_turn,
        )
        out[name] = Tool(spec, policy, tool.call, tool.own, tool.foreign, tool.stages, tool.inside)
    return out
