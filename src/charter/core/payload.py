"""What leaves for a provider: one pure function per wire format; none reorders, drops or merges away a layer."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from .dialogue import NO_TALK, Said, Talk, ToolCall
from .errors import UnknownDialect
from .layer import Role, Volatility
from .ports import ToolSpec
from .text import framed, spoken

MAX_BREAKPOINTS: Final = 4  # Anthropic's


class Block(NamedTuple):
    """A layer's text as sent, with the joiner that stands before it; `message` marks the user's own words."""

    id: str
    role: Role
    text: str
    volatility: Volatility
    tokens: int = 0
    message: bool = False

    def __repr__(self) -> str:
        facts = ("id", "role", "volatility", "tokens", "message")
        return f"Block({', '.join(f'{name}={getattr(self, name)!r}' for name in facts)})"


Bare = tuple[str, Role, str, Volatility, int, bool]  # a block before it is one


def with_joiners(blocks: Sequence[Bare], joiner: str) -> tuple[Block, ...]:
    """The blocks with the joiners inside: before each system block, and after the last one when a user block follows.

    So a user block holds the user layer alone, and the texts concatenate to the whole prompt.
    """
    out: list[Block] = []
    last, user = len(blocks) - 1, Role.USER
    for index, (name, role, text, volatility, tokens, message) in enumerate(blocks):
        if index and role is not user:
            text = joiner + text
        if index < last and blocks[index + 1][1] is user:
            text += joiner
        out.append(Block(name, role, text, volatility, tokens, message))
    return tuple(out)


def spoken_message(text: str) -> Block:
    """The message that is answered, for a charter without a user layer: its role is its frame."""
    return Block("message", Role.USER, spoken(text), Volatility.TURN, message=True)


def _split(blocks: Sequence[Block]) -> tuple[list[Block], str]:
    system, user = Role.SYSTEM, Role.USER
    return [one for one in blocks if one.role is system], "".join([one.text for one in blocks if one.role is user])


# ── OpenAI chat, and Ollama's like it ─────────────────────────────────────────────────────────────────────────────


def _openai(blocks: Sequence[Block], talk: Talk, tools: Sequence[ToolSpec], max_tokens: int) -> dict[str, Any]:
    return _chat(blocks, talk, tools, _openai_said)


def _chat(
    blocks: Sequence[Block], talk: Talk, tools: Sequence[ToolSpec], said: Callable[[Said], dict[str, Any]]
) -> dict[str, Any]:
    system, user = _split(blocks)
    messages: list[dict[str, Any]] = [{"role": "system", "content": "".join([block.text for block in system])}]
    messages += [said(message) for message in talk.before]
    messages += [{"role": "user", "content": user}] if user else []
    messages += [said(message) for message in talk.after]
    out: dict[str, Any] = {"messages": messages}
    if tools:
        out["tools"] = [{"type": "function", "function": _function(tool)} for tool in tools]
    return out


def _openai_said(said: Said) -> dict[str, Any]:
    if said.role == "tool":
        return {"role": "tool", "tool_call_id": said.call_id, "content": said.text}
    message: dict[str, Any] = {"role": said.role, "content": said.text}
    if said.calls:
        message["tool_calls"] = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": _arguments_text(call)}}
            for call in said.calls
        ]
    return message


def _ollama(blocks: Sequence[Block], talk: Talk, tools: Sequence[ToolSpec], max_tokens: int) -> dict[str, Any]:
    return {**_chat(blocks, talk, tools, _ollama_said), "stream": False}


def _ollama_said(said: Said) -> dict[str, Any]:
    if said.role == "tool":
        return {"role": "tool", "tool_name": said.name, "content": said.text}
    message: dict[str, Any] = {"role": said.role, "content": said.text}
    if said.calls:
        message["tool_calls"] = [
            {"function": {"name": call.name, "arguments": _arguments(call)}} for call in said.calls
        ]
    return message


# ── OpenAI responses ──────────────────────────────────────────────────────────────────────────────────────────────


def _openai_responses(
    blocks: Sequence[Block], talk: Talk, tools: Sequence[ToolSpec], max_tokens: int
) -> dict[str, Any]:
    system, user = _split(blocks)
    said = [item for message in talk.before for item in _responses_said(message)]
    said += [_responses_text("user", user)] if user else []
    said += [item for message in talk.after for item in _responses_said(message)]
    out: dict[str, Any] = {"instructions": "".join(block.text for block in system), "input": said}
    if tools:
        # not strict, which is this API's default and takes no optional parameter
        out["tools"] = [{"type": "function", "strict": False, **_function(tool)} for tool in tools]
    return out


def _responses_text(role: str, text: str) -> dict[str, Any]:
    return {"role": role, "content": [{"type": "output_text" if role == "assistant" else "input_text", "text": text}]}


def _responses_said(said: Said) -> list[dict[str, Any]]:
    if said.role == "tool":
        return [{"type": "function_call_output", "call_id": said.call_id, "output": said.text}]
    items = [_responses_text(said.role, said.text)] if said.text else []
    return items + [
        {"type": "function_call", "call_id": call.id, "name": call.name, "arguments": _arguments_text(call)}
        for call in said.calls
    ]


# ── Anthropic ─────────────────────────────────────────────────────────────────────────────────────────────────────


def _anthropic(blocks: Sequence[Block], talk: Talk, tools: Sequence[ToolSpec], max_tokens: int) -> dict[str, Any]:
    system, user = _split(blocks)
    marked = breakpoints(system)
    messages = _anthropic_talk(talk.before)
    messages += [{"role": "user", "content": [{"type": "text", "text": user}]}] if user else []
    messages += _anthropic_talk(talk.after)
    out: dict[str, Any] = {
        "system": [
            {"type": "text", "text": block.text} | ({"cache_control": {"type": "ephemeral"}} if index in marked else {})
            for index, block in enumerate(system)
        ],
        "messages": messages,
        "max_tokens": max_tokens,
    }
    if tools:
        out["tools"] = [
            {"name": tool.name, "description": tool.description, "input_schema": _schema(tool)} for tool in tools
        ]
    return out


def _anthropic_talk(talk: Sequence[Said]) -> list[dict[str, Any]]:
    """Messages in order; the results of calls made together go back together."""
    messages: list[dict[str, Any]] = []
    for number, said in enumerate(talk):
        if said.role == "tool":
            result = {"type": "tool_result", "tool_use_id": said.call_id, "content": said.text}
            if number and talk[number - 1].role == "tool":
                messages[-1]["content"].append(result)
            else:
                messages.append({"role": "user", "content": [result]})
        else:
            content: list[dict[str, Any]] = [{"type": "text", "text": said.text}] if said.text else []
            calls = [{"type": "tool_use", "id": c.id, "name": c.name, "input": _arguments(c)} for c in said.calls]
            messages.append({"role": said.role, "content": content + calls})
    return messages


# ── plain text ────────────────────────────────────────────────────────────────────────────────────────────────────


def _completion(blocks: Sequence[Block], talk: Talk, tools: Sequence[ToolSpec], max_tokens: int) -> dict[str, Any]:
    """Plain text has no roles, so what was said stands in the frame that outside text has everywhere."""
    system, _ = _split(blocks)
    message = "".join(
        "\n\n" + framed(block.text) if block.message else block.text for block in blocks if block.role is Role.USER
    )
    parts = [
        "".join(block.text for block in system),
        completion_talk(talk.before),
        message,
        completion_talk(talk.after),
    ]
    return {"prompt": "".join(parts)}


def completion_talk(said: Sequence[Said]) -> str:
    """What was said, for plain text: a line that names who, then their words in the frame."""
    return "".join(f"\n\n[{_who(one)}]\n{framed(one.text)}" for one in said if one.text)


def _who(said: Said) -> str:
    return {"user": "user", "assistant": "you", "tool": "tool result"}[said.role]


# ── all of them ───────────────────────────────────────────────────────────────────────────────────────────────────

DIALECTS: Final[dict[str, Callable[[Sequence[Block], Talk, Sequence[ToolSpec], int], dict[str, Any]]]] = {
    "openai": _openai,
    "openai-responses": _openai_responses,
    "anthropic": _anthropic,
    "ollama": _ollama,
    "completion": _completion,
}


def payload(
    dialect: str,
    blocks: Sequence[Block],
    *,
    talk: Talk = NO_TALK,
    tools: Sequence[ToolSpec] = (),
    model: str | None = None,
    max_tokens: int,
    options: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """The request body for a dialect; `options` are a provider's own fields (stream, temperature …), added as they are.

    What was said before stands between the layers and the message; what was said since stands after it.
    """
    if dialect not in DIALECTS:
        raise UnknownDialect("dialect", dialect, tuple(DIALECTS))
    body = DIALECTS[dialect](blocks, talk, tools, max_tokens)
    return {**({"model": model} if model else {}), **body, **(options or {})}


def messages_before(dialect: str, talk: Talk) -> int:
    """How many messages of a body stand between the layers and the message that is answered."""
    if dialect == "anthropic":
        return len(_anthropic_talk(talk.before))
    if dialect == "openai-responses":
        return sum(len(_responses_said(said)) for said in talk.before)
    return len(talk.before)


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


def _arguments(call: ToolCall) -> dict[str, Any]:
    """A call's arguments as an object; what is not one is sent back as an empty one, its error is in the result."""
    try:
        found = json.loads(call.arguments)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _arguments_text(call: ToolCall) -> str:
    return _WRITTEN(_arguments(call))


_WRITTEN: Final = json.JSONEncoder(ensure_ascii=False).encode


def tools_json(tools: Sequence[ToolSpec]) -> bytes:
    """The tool schemas in canonical JSON: what is counted and hashed."""
    if not tools:
        return b""
    return _CANONICAL([_function(tool) for tool in tools]).encode(errors="backslashreplace")


_CANONICAL: Final = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode
