"""How servers of the five dialects say a reply: at once as a body, or as the events of a stream."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from charter.core.dialogue import Reply, ToolCall


def parts(text: str, size: int = 7) -> list[str]:
    return [text[at : at + size] for at in range(0, len(text), size)]


def sse(*events: object, names: bool = False) -> list[bytes]:
    out = []
    for event in events:
        name = f"event: {event['type']}\n" if names and isinstance(event, dict) else ""
        out.append(f"{name}data: {json.dumps(event)}\n\n".encode())
    return out


def _json(call: ToolCall) -> Any:
    """Arguments as an object; what is none goes out as the text it is."""
    try:
        return json.loads(call.arguments)
    except ValueError:
        return call.arguments


def _id(call: ToolCall, name: str = "id") -> dict[str, str]:
    return {name: call.id} if call.id else {}


# ── OpenAI chat ───────────────────────────────────────────────────────────────────────────────────────────────────

CHAT_STOPS: Final = {"end": "stop", "tools": "tool_calls", "length": "length", "refused": "content_filter"}


def _chat_usage(reply: Reply) -> dict[str, Any]:
    usage = reply.usage
    counts = {"prompt_tokens": usage.input, "completion_tokens": usage.output}
    return counts | ({} if usage.cached is None else {"prompt_tokens_details": {"cached_tokens": usage.cached}})


def chat_whole(reply: Reply) -> dict[str, Any]:
    calls = [
        {**_id(c), "type": "function", "function": {"name": c.name, "arguments": c.arguments}} for c in reply.calls
    ]
    message = {"role": "assistant", "content": reply.text or None} | ({"tool_calls": calls} if calls else {})
    choice = {"index": 0, "message": message, "finish_reason": CHAT_STOPS[reply.stop]}
    return {"object": "chat.completion", "choices": [choice], "usage": _chat_usage(reply)}


def _chat_delta(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
    return {"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


def chat_events(reply: Reply) -> list[bytes]:
    events = [_chat_delta({"role": "assistant", "content": ""})]
    events += [_chat_delta({"content": part}) for part in parts(reply.text)]
    for index, call in enumerate(reply.calls):
        begun = {"index": index, **_id(call), "type": "function", "function": {"name": call.name, "arguments": ""}}
        events.append(_chat_delta({"tool_calls": [begun]}))
        for part in parts(call.arguments):
            events.append(_chat_delta({"tool_calls": [{"index": index, "function": {"arguments": part}}]}))
    events.append(_chat_delta({}, CHAT_STOPS[reply.stop]))
    events.append({"choices": [], "usage": _chat_usage(reply)})
    return [*sse(*events), b"data: [DONE]\n\n"]


# ── plain completion ──────────────────────────────────────────────────────────────────────────────────────────────


def completion_whole(reply: Reply) -> dict[str, Any]:
    choice = {"index": 0, "text": reply.text, "finish_reason": CHAT_STOPS[reply.stop]}
    return {"object": "text_completion", "choices": [choice], "usage": _chat_usage(reply)}


def completion_events(reply: Reply) -> list[bytes]:
    events: list[dict[str, Any]] = [
        {"choices": [{"index": 0, "text": part, "finish_reason": None}]} for part in parts(reply.text)
    ]
    events.append({"choices": [{"index": 0, "text": "", "finish_reason": CHAT_STOPS[reply.stop]}]})
    return [*sse(*events, {"choices": [], "usage": _chat_usage(reply)}), b"data: [DONE]\n\n"]


# ── OpenAI responses ──────────────────────────────────────────────────────────────────────────────────────────────

_WHY: Final = {"length": "max_output_tokens", "refused": "content_filter"}


def _items(reply: Reply) -> list[dict[str, Any]]:
    text = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": reply.text}]}
    calls = [
        {"type": "function_call", **_id(c, "call_id"), "name": c.name, "arguments": c.arguments} for c in reply.calls
    ]
    return ([text] if reply.text else []) + calls


def responses_whole(reply: Reply) -> dict[str, Any]:
    usage = {"input_tokens": reply.usage.input, "output_tokens": reply.usage.output}
    details = {} if reply.usage.cached is None else {"input_tokens_details": {"cached_tokens": reply.usage.cached}}
    body = {"object": "response", "output": _items(reply), "usage": {**usage, **details}, "error": None}
    if reply.stop in _WHY:
        return {**body, "status": "incomplete", "incomplete_details": {"reason": _WHY[reply.stop]}}
    return {**body, "status": "completed", "incomplete_details": None}


def responses_events(reply: Reply) -> list[bytes]:
    events: list[dict[str, Any]] = [{"type": "response.created", "response": {"status": "in_progress", "output": []}}]
    for index, item in enumerate(_items(reply)):
        at = {"output_index": index}
        if item["type"] == "message":
            events.append({"type": "response.output_item.added", **at, "item": {**item, "content": []}})
            events += [{"type": "response.output_text.delta", **at, "delta": part} for part in parts(reply.text)]
        else:
            events.append({"type": "response.output_item.added", **at, "item": {**item, "arguments": ""}})
            for part in parts(item["arguments"]):
                events.append({"type": "response.function_call_arguments.delta", **at, "delta": part})
        events.append({"type": "response.output_item.done", **at, "item": item})
    whole = responses_whole(reply)
    return sse(*events, {"type": f"response.{whole['status']}", "response": whole}, names=True)


# ── Anthropic ─────────────────────────────────────────────────────────────────────────────────────────────────────

_ANTHROPIC_STOPS: Final = {"end": "end_turn", "tools": "tool_use", "length": "max_tokens", "refused": "refusal"}


def _anthropic_usage(reply: Reply) -> dict[str, Any]:
    read = reply.usage.cached or 0
    usage = {"input_tokens": reply.usage.input - read, "output_tokens": reply.usage.output}
    cached = {"cache_read_input_tokens": read, "cache_creation_input_tokens": 0}
    return usage | ({} if reply.usage.cached is None else cached)


def anthropic_whole(reply: Reply) -> dict[str, Any]:
    content: list[dict[str, Any]] = [{"type": "text", "text": reply.text}] if reply.text else []
    content += [{"type": "tool_use", **_id(c), "name": c.name, "input": _json(c)} for c in reply.calls]
    stop = {"stop_reason": _ANTHROPIC_STOPS[reply.stop], "stop_sequence": None}
    return {"type": "message", "role": "assistant", "content": content, **stop, "usage": _anthropic_usage(reply)}


def anthropic_events(reply: Reply) -> list[bytes]:
    usage = _anthropic_usage(reply)
    start: dict[str, Any] = {
        "type": "message",
        "content": [],
        "stop_reason": None,
        "usage": {**usage, "output_tokens": 1},
    }
    events: list[dict[str, Any]] = [{"type": "message_start", "message": start}, {"type": "ping"}]
    blocks: list[tuple[dict[str, Any], list[dict[str, str]]]] = []
    if reply.text:
        told = [{"type": "text_delta", "text": part} for part in parts(reply.text)]
        blocks.append(({"type": "text", "text": ""}, told))
    for call in reply.calls:
        given = [{"type": "input_json_delta", "partial_json": part} for part in ["", *parts(call.arguments)]]
        blocks.append(({"type": "tool_use", **_id(call), "name": call.name, "input": {}}, given))
    for index, (block, deltas) in enumerate(blocks):
        events.append({"type": "content_block_start", "index": index, "content_block": block})
        events += [{"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas]
        events.append({"type": "content_block_stop", "index": index})
    stop = {"stop_reason": _ANTHROPIC_STOPS[reply.stop], "stop_sequence": None}
    events.append({"type": "message_delta", "delta": stop, "usage": {"output_tokens": usage["output_tokens"]}})
    return sse(*events, {"type": "message_stop"}, names=True)


# ── Ollama ────────────────────────────────────────────────────────────────────────────────────────────────────────


def _ollama_end(reply: Reply) -> dict[str, Any]:
    counts = {"prompt_eval_count": reply.usage.input, "eval_count": reply.usage.output}
    return {"done": True, "done_reason": "length" if reply.stop == "length" else "stop", **counts}


def _ollama_message(text: str, calls: tuple[ToolCall, ...] = ()) -> dict[str, Any]:
    made = [{**_id(c), "function": {"name": c.name, "arguments": _json(c)}} for c in calls]
    return {"message": {"role": "assistant", "content": text} | ({"tool_calls": made} if made else {})}


def ollama_whole(reply: Reply) -> dict[str, Any]:
    return {**_ollama_message(reply.text, reply.calls), **_ollama_end(reply)}


def ollama_events(reply: Reply) -> list[bytes]:
    events = [{**_ollama_message(part), "done": False} for part in parts(reply.text)]
    events += [{**_ollama_message("", (call,)), "done": False} for call in reply.calls]
    events.append({**_ollama_message(""), **_ollama_end(reply)})
    return [json.dumps(event, ensure_ascii=False).encode() + b"\n" for event in events]


# ── all of them ───────────────────────────────────────────────────────────────────────────────────────────────────

WHOLE: Final[Mapping[str, Callable[[Reply], dict[str, Any]]]] = {
    "openai": chat_whole,
    "openai-responses": responses_whole,
    "anthropic": anthropic_whole,
    "ollama": ollama_whole,
    "completion": completion_whole,
}
EVENTS: Final[Mapping[str, Callable[[Reply], list[bytes]]]] = {
    "openai": chat_events,
    "openai-responses": responses_events,
    "anthropic": anthropic_events,
    "ollama": ollama_events,
    "completion": completion_events,
}


def said_forever(dialect: str) -> Iterator[bytes]:
    """Events of a stream that does not end."""
    said = [event for event in EVENTS[dialect](Reply("on and on ")) if b"on and" in event and b"completed" not in event]
    while True:
        yield said[0]
