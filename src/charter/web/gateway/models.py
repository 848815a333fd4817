"""The agents a caller may speak to, as both vendors list models."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, Final

BEGAN: Final = 1_700_000_000  # a list of models has a date each; an agent has none that matters


def model_of(name: str, *, anthropic: bool) -> dict[str, Any]:
    """One agent as a model."""
    if anthropic:
        at = datetime.fromtimestamp(BEGAN, UTC).isoformat()
        return {"type": "model", "id": name, "display_name": name, "created_at": at}
    return {"id": name, "object": "model", "created": BEGAN, "owned_by": "charter"}


def models_of(names: Sequence[str], *, anthropic: bool) -> dict[str, Any]:
    """All of them."""
    data = [model_of(name, anthropic=anthropic) for name in names]
    if anthropic:
        edge = {"first_id": names[0], "last_id": names[-1]} if names else {"first_id": None, "last_id": None}
        return {"data": data, "has_more": False, **edge}
    return {"object": "list", "data": data}
