"""Previews: what the model would see, made by the steps of a live turn up to where it would be sent (N-11)."""

from __future__ import annotations

import difflib
from datetime import UTC, datetime
from typing import Annotated, Any, Literal

import msgspec
from pydantic import Field, JsonValue
from starlette.responses import Response

from ...converse import _options, look_back
from ...core.assemble import Assembly
from ...core.dialogue import Talk
from ...core.errors import BadValue
from ...core.incoming import Incoming, nanoseconds
from ...course import Course
from ...turn import UNWATCHED, _assemble
from .common import WRITING, At, Body, Here, Id, Name, Text, Told, open_to, room

router = room("preview")
OPERATOR = open_to("operator", fails=WRITING)
STAND_IN = "(your message)"


class View(Body):
    """Whose message, by which channel, when; and in which dialect it would leave, the live model's when left out."""

    channel: Name = "web"
    sender: Annotated[Name, Field(max_length=500)] = ""
    user: Name = ""
    message: Text = ""
    at: Annotated[str, Field(max_length=64)] = ""
    provider: Literal["", "openai", "openai-responses", "anthropic", "ollama", "completion"] = ""
    model: Name = ""
    mode: Annotated[str, Field(max_length=64)] = ""
    tool_policy: Id = ""
    task: Id = ""


class Pair(Body):
    """Two views to compare."""

    a: View
    b: View


class Shown(Told):
    """A layer as it would be sent; `reason` says why it is not whole."""

    id: str
    label: str
    title: str
    owner: str
    role: str
    disposition: str
    reason: str
    bytes: int
    tokens: int
    sha256: str
    text: str


class Left(Told):
    """A layer that would not be sent, and why."""

    layer: str
    id: str
    disposition: str
    reason: str


class Preview(Told):
    """What would leave: layer by layer, and as the body a provider is sent."""

    charter: str
    version: str
    mode: str
    stack_sha256: str
    tokens: int
    layers: list[Shown]
    left_out: list[Left]
    dialect: str
    payload: dict[str, JsonValue]


class Step(Told):
    """One layer in two views; `diff` has the lines that differ."""

    id: str
    how: Literal["same", "changed", "only in a", "only in b"]
    diff: list[str]


class Difference(Told):
    a: str
    b: str
    layers: list[Step]


@router.post("/agents/{agent}/preview", response_model=Preview, **OPERATOR)
def preview(here: At, view: View) -> Response:
    """What the model would see for this message; nothing is sent, and nothing is kept."""
    return Response(msgspec.json.encode(_preview(here, view)), media_type="application/json")


@router.post("/agents/{agent}/preview/diff", response_model=Difference, **OPERATOR)
def compare(here: At, pair: Pair) -> Difference:
    """What differs between two views, layer by layer."""
    a, b = (_assembled(here, view).assembly for view in (pair.a, pair.b))
    assert a is not None and b is not None  # noqa: PT018
    first, second = _texts(a), _texts(b)
    names = [name for name in here.charter.stack.position if name in first or name in second]
    return Difference(
        a=a.stack_sha256, b=b.stack_sha256, layers=[_step(name, first.get(name), second.get(name)) for name in names]
    )


# ── the steps of a turn ───────────────────────────────────────────────────────────────────────────────────────────


def _assembled(here: Here, view: View) -> Course:
    """A turn as far as its prompt: it takes no message and no lane, and nothing of it is kept."""
    agent, stack = here.agent, here.charter.stack
    message = view.message or (STAND_IN if stack.layers[-1].role == "user" else "")
    incoming = Incoming(
        channel=view.channel, sender=view.sender or view.user or ("unknown" if message.strip() else ""),
        text=message, at=view.at or datetime.now(UTC), agent=agent.name, user=view.user, mode=view.mode or None,
        model=view.model or agent.provider.model, tool_policy=view.tool_policy, task=view.task,
    )  # fmt: skip
    if not 0 <= nanoseconds(incoming.time) < 2**63:
        raise BadValue("at", "a time that can be kept lies between 1970 and 2262")
    course = Course(agent, incoming, "preview", UNWATCHED)
    _assemble(course)
    return course


def _preview(here: Here, view: View) -> dict[str, Any]:
    course = _assembled(here, view)
    found = course.assembly
    assert found is not None
    look_back(course)
    dialect = view.provider or here.agent.provider.dialect
    return {
        "charter": here.charter.name, "version": here.charter.version, "mode": found.mode,
        "stack_sha256": found.stack_sha256, "tokens": found.tokens,
        "layers": [_shown(part) for part in found.parts],
        "left_out": [
            {"layer": one.layer, "id": one.id, "disposition": one.disposition, "reason": one.reason}
            for one in found.left_out
        ],
        "dialect": dialect, "payload": _payload(course, found, dialect, view.model),
    }  # fmt: skip


def _payload(course: Course, found: Assembly, dialect: str, model: str) -> dict[str, Any]:
    """The body as it would leave; in another dialect than the live model's, without the fields that are its own."""
    provider, talk = course.agent.provider, Talk(course.before)
    live = dialect == provider.dialect
    options = _options(course, stream=False, words=False) if live else None
    named = model or (provider.model if live else None)
    return found.payload(dialect, model=named, max_tokens=course.reply_tokens, talk=talk, options=options)


def _shown(part: Any) -> dict[str, Any]:
    layer = part.section.layer
    return {
        "id": layer.id, "label": layer.label, "title": layer.title, "owner": str(layer.owner), "role": str(layer.role),
        "disposition": part.disposition, "reason": part.reason, "bytes": part.bytes, "tokens": part.tokens,
        "sha256": part.sha256, "text": part.text,
    }  # fmt: skip


def _texts(found: Assembly) -> dict[str, str]:
    return {part.section.layer.id: part.text for part in found.parts}


def _step(name: str, a: str | None, b: str | None) -> Step:
    if a is None or b is None:
        only = b if a is None else a
        return Step(id=name, how="only in b" if a is None else "only in a", diff=(only or "").splitlines())
    if a == b:
        return Step(id=name, how="same", diff=[])
    lines = difflib.unified_diff(a.splitlines(), b.splitlines(), "a", "b", lineterm="")
    return Step(id=name, how="changed", diff=list(lines))
