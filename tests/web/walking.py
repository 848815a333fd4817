"""A walk over the OpenAPI: every route with names of what is really there, and a body that it would take."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import httpx2
from fastapi import FastAPI

from .rooms import Person

SHA = "a" * 64
VIEW = {"message": "hi", "sender": "otto", "user": "otto"}
# What each route that changes something would take; a route that is not here has no body.
BODIES: dict[tuple[str, str], Any] = {
    ("post", "/api/agents/{agent}/chat"): {"text": "What is the weather like?"},
    ("post", "/api/agents/{agent}/chat/fresh"): None,
    ("post", "/api/agents/{agent}/inbox"): {"text": "Is it going to rain?", "id": "mine"},
    ("put", "/api/agents/{agent}/layers/{layer}"): {"content": "Speak plainly.", "expected_version": 1},
    ("post", "/api/agents/{agent}/layers/{layer}/rollback"): {"version": 1, "expected_version": 1},
    ("post", "/api/agents/{agent}/proposals"): {"layer": "soul", "content": "Be calm.", "expected_version": 1},
    ("post", "/api/agents/{agent}/proposals/{proposal}/approve"): {"sha256": SHA},
    ("post", "/api/agents/{agent}/proposals/{proposal}/reject"): {"sha256": SHA},
    ("post", "/api/agents/{agent}/approvals/{approval}"): {"decision": "deny", "sha256": SHA},
    ("put", "/api/agents/{agent}/instructions"): {"instructions": "Be short.", "expected_version": 1},
    ("delete", "/api/agents/{agent}/memory/{note}"): None,
    ("put", "/api/timezone"): {"timezone": "Europe/Berlin"},
    ("post", "/api/agents/{agent}/preview"): VIEW,
    ("post", "/api/agents/{agent}/preview/diff"): {"a": VIEW, "b": {**VIEW, "channel": "telegram"}},
    ("post", "/api/agents/{agent}/pause"): {"reason": "a test"},
    ("post", "/api/agents/{agent}/resume"): None,
    ("put", "/api/agents/{agent}/limit"): {"tokens_per_day": 10**9, "turns_per_day": None},
    ("post", "/api/tokens"): {"role": "operator", "name": "eve"},
    ("delete", "/api/tokens/{token}"): None,
}


@dataclass(frozen=True)
class Step:
    """One request of a walk: the route, its path with names in it, and its body."""

    method: str
    route: str
    path: str
    body: Any = field(default=None, repr=False)


def routes(app: FastAPI) -> list[tuple[str, str, Mapping[str, Any]]]:
    return [(method, path, row) for path, rows in app.openapi()["paths"].items() for method, row in rows.items()]


def changing(app: FastAPI) -> list[tuple[str, str]]:
    """Every route that changes something, or could."""
    return [(method, path) for method, path, _ in routes(app) if method != "get"]


def steps(app: FastAPI, names: Mapping[str, Sequence[str]]) -> Iterator[Step]:
    """Every route with every combination of these names; what asks for a person is asked for each of them too."""
    for method, route, row in routes(app):
        slots = re.findall(r"\{(\w+)\}", route)
        asked = [one["name"] for one in row.get("parameters", ()) if one["name"] in ("user", "sender", "q", "state")]
        for values in itertools.product(*(names[slot] for slot in slots)):
            path = route
            for slot, value in zip(slots, values, strict=True):
                path = path.replace(f"{{{slot}}}", value)
            yield Step(method, route, path, BODIES.get((method, route)))
            if method == "get":
                for query in asked:
                    if f"{{{query}}}" not in route:
                        yield from (Step(method, route, f"{path}?{query}={one}") for one in names[query])


def take(who: Person, step: Step, **more: Any) -> httpx2.Response:
    return who(step.method.upper(), step.path, step.body, **more)
