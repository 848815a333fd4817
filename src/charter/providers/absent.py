"""No model yet: a server starts without one, and every turn says what to do."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ..core.dialogue import Reply
from ..core.errors import CharterError
from ..core.ports import Request


class Absent:
    """Stands where a model should be; asking it raises why there is none."""

    name = "none"
    dialect = "openai"
    model = "none"
    native_tools = True
    window: int | None = None

    def __init__(self, error: CharterError) -> None:
        self.error = error

    def options(self, *, stream: bool, max_tokens: int) -> Mapping[str, Any]:
        return {}

    def converse(self, request: Request, hear: Callable[[str], None]) -> Reply:
        raise self.error.with_traceback(None)

    def close(self) -> None: ...
