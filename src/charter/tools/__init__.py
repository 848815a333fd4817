"""Tools, governed: functions of yours, the built-in ones and those of MCP servers all pass through the same gate."""

from __future__ import annotations

from .built_in import built_in
from .function import Toolmaker, tool
from .result import Result
from .rows import ruled

__all__ = ["Result", "Toolmaker", "built_in", "ruled", "tool"]
