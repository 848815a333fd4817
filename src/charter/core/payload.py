"""What leaves for a provider: one pure function per wire format; none reorders, drops or merges away a layer."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from .errors import UnknownDialect
from .layer import Role, Volatility
from .ports import ToolSpec
from .text import framed, spoken

MAX_BREAKPOINTS: Final = 4  # Anthropic's


@dataclass(frozen=True, slots=True)
class Block:
    """A layer's text as sent, with the joiner that stands before it; `message` marks the user's own words."""

    id: str
    role: Role
    text: str = field(repr=False)
    volatility: Volatility
    tokens: int = 0
    message: bool = False


def with_joiners(blocks: Sequence[Block], joiner: str) -> tuple[Block, ...]:
    """The blocks with the joiners inside: before each system block, and after the last one when a user block follows.

    So a user block holds the user layer alone, and the texts concatenate to the whole prompt.
    """
    out: list[Block] = []
    for index, block in enumerate(blocks):
        text = block.text if index == 0 or block.role is Role.USER else joiner + block.text
        follows = index + 1 < len(blocks) and blocks[index + 1].role is Role.USER
        out.append(replace(block, text=text + joiner if follows else text))
    return tuple(out)


def spoken_message(text: str) -> Block:
    """The message that is answered, for a charter without a user layer: its role is its frame."""
    return Block("message", Role.USER, spoken(text), Volatility.TURN, message=True)


def _split(blocks: Sequence[Block]) -> tuple[list[Block], str]:
    system = [block for block in blocks if block.role is Role.SYSTEM]
    return system, "".join(block.text for block in blocks if block.role is Role.USER)


def _messages(blocks: Sequence[Block]) -> list[dict[str, Any]]:
    system, user = _split(blocks)
    messages = [{"role": "system", "content": "".join(block.text for block in system)}]
    return [*messages, {"role": "user", "content": user}] if user else messages


def _openai(blocks: Sequence[Block], tools: Sequence[ToolSpec], max_tokens: int) -> dict[str, Any]:
    out: dict[str, Any] = {"messages": _messages(blocks)}
    if tools:
        out["tools"] = [{"type": "function", "function": _function(tool)} for tool in tools]
    return out


def _openai_responses(blocks: Sequence[Block], tools: Sequence[ToolSpec], max_tokens: int) -> dict[str, Any]:
    system, user = _split(blocks)
    out: dict[str, Any] = {
        "instructions": "".join(block.text for block in system),
        "input": [{"role": "user", "content": [{"type": "input_text", "text": user}]}] if user else [],
    }
    if tools:
        out["tools"] = [{"type": "function", **_function(tool)} for tool in tools]
    return out


def _anthropic(blocks: Sequence[Block], tools: Sequence[ToolSpec], max_tokens: int) -> dict[str, Any]:
    system, user = _split(blocks)
    marked = breakpoints(system)
    out: dict[str, Any] = {
        "system": [
            {"type": "text", "text": block.text} | ({"cache_control": {"type": "ephemeral"}} if index in marked else {})
            for index, block in enumerate(system)
        ],
        "messages": [{"role": "user", "content": [{"type": "text", "text": user}]}] if user else [],
        "max_tokens": max_tokens,
    }
    if tools:
        out["tools"] = [
            {"name": tool.name, "description": tool.description, "input_schema": _schema(tool)} for tool in tools
        ]
    return out


def _ollama(blocks: Sequence[Block], tools: Sequence[ToolSpec], max_tokens: int) -> dict[str, Any]:
    return {**_openai(blocks, tools, max_tokens), "stream": False}


def _completion(blocks: Sequence[Block], tools: Sequence[ToolSpec], max_tokens: int) -> dict[str, Any]:
    """Plain text has no roles, so the message stands in the frame that outside text has everywhere."""
    return {"prompt": "".join("\n\n" + framed(block.text) if block.message else block.text for block in blocks)}


DIALECTS: Final[dict[str, Callable[[Sequence[Block], Sequence[ToolSpec], int], dict[str, Any]]]] = {
    "openai": _openai,
    "openai-responses": _openai_responses,
    "anthropic": _anthropic,
    "ollama": _ollama,
    "completion": _completion,
}


def payload(
    dialect: str, blocks: Sequence[Block], *, tools: Sequence[ToolSpec] = (), model: str | None = None, max_tokens: int
) -> dict[str, Any]:
    """The request body for a dialect; `model` is left out when none is known."""
    if dialect not in DIALECTS:
        raise UnknownDialect("dialect", dialect, tuple(DIALECTS))
    body = DIALECTS[dialect](blocks, tools, max_tokens)
    return {"model": model, **body} if model else body


def breakpoints(blocks: Sequence[Block]) -> frozenset[int]:
    """Where a cached prefix ends: after each run of equal volatility above the first layer of a turn; 4 at most."""
    ends = [
        index
        for index, block in enumerate(blocks)
        if block.volatility < Volatility.TURN
        and (index + 1 == len(blocks) or blocks[index + 1].volatility > block.volatility)
        and all(earlier.volatility < Volatility.TURN for earlier in blocks[:index])
    ]
    return frozenset(ends[-MAX_BREAKPOINTS:])


def _schema(tool: ToolSpec) -> dict[str, Any]:
    return dict(tool.parameters) or {"type": "object", "properties": {}}


def _function(tool: ToolSpec) -> dict[str, Any]:
    return {"name": tool.name, "description": tool.description, "parameters": _schema(tool)}


def tools_json(tools: Sequence[ToolSpec]) -> bytes:
    """The tool schemas in canonical JSON: what is counted and hashed."""
    if not tools:
        return b""
    return json.dumps(
        [_function(tool) for tool in tools], sort_keys=True, separators=(",", ":"), ensure_ascii=False
    ).encode(errors="backslashreplace")
