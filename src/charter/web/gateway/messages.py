"""Anthropic Messages: a request of that form is read, and an answer of that form is written."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from ...core.errors import BadValue
from .asked import Api, Asked, Head, Heard, call_of, texts
from .chat import finish_of
from .errors import anthropic_error
from .reading import Body, chosen, few, flag, items, only, options, table, text, tool, unsupported, whole
from .sse import event

if TYPE_CHECKING:
    from ...core.dialogue import ToolCall, Usage
    from ...core.ports import ToolSpec
    from ...turn import Turn

SAMPLING: Final = ("temperature", "top_p", "top_k")
READ: Final = frozenset(
    {"model", "messages", "system", "max_tokens", "stop_sequences", "stream", "tools", "tool_choice", *SAMPLING}
)
HARMLESS: Final = frozenset({"metadata", "service_tier", "thinking", "cache_control", "inference_geo", "speed"})
TEXT: Final = {"text": "text"}
THOUGHT: Final = ("thinking", "redacted_thinking")  # of another model: passed over
CHOICES: Final = {"auto": "auto", "none": "none", "any": "required", "tool": "required"}
STOPS: Final = {"stop": "end_turn", "tool_calls": "tool_use", "length": "max_tokens"}


def read(body: Body) -> Asked:
    """The request; BadValue names the parameter that is wrong."""
    only(body, READ | HARMLESS)
    tools, choice = _tools(body)
    heard = Heard()
    heard.says("system", texts(body.get("system"), TEXT, "system"), "system")
    for index, message in enumerate(items(body, "messages")):
        _hear(heard, table(message, f"messages[{index}]"), f"messages[{index}]")
    most = whole(body, "max_tokens")
    if most is None:
        raise BadValue("max_tokens", "is needed, and is a whole number")
    sampling = options(body, SAMPLING, stop="stop_sequences")
    words, carried = heard.asked(tools, {**sampling, **choice}, most)
    return Asked(text(body, "model"), words, carried, flag(body, "stream"))


def _hear(heard: Heard, message: dict[str, Any], where: str) -> None:
    """A message; the answers of tools in it come first, as they answer the calls before it."""
    role, content = text(message, "role", where=f"{where}."), message.get("content")
    if isinstance(content, str) or role not in ("user", "assistant"):
        heard.says(role, texts(content, TEXT, f"{where}.content"), where)
        return
    parts = enumerate(items(message, "content", where=f"{where}."))
    blocks = [(table(one, f"{where}.content[{n}]"), f"{where}.content[{n}]") for n, one in parts]
    used, answered = "tool_use" if role == "assistant" else "", "tool_result" if role == "user" else ""
    for one, place in blocks:
        if answered and one.get("type") == answered:
            heard.result(text(one, "tool_use_id", where=f"{place}."), _result(one, place), place)
    rest = [one for one, _ in blocks if one.get("type") not in (used, answered) and one.get("type") not in THOUGHT]
    said = texts(rest, TEXT, f"{where}.content")
    calls = [call_of(one.get("id"), one.get("name"), one.get("input"), place) for one, place in blocks
             if used and one.get("type") == used]  # fmt: skip
    if said or not blocks:
        heard.says(role, said, where)
    if calls:
        if not said:
            heard.says("assistant", "", where)
        heard.calls(calls)


def _result(one: dict[str, Any], place: str) -> str:
    words = texts(one.get("content"), TEXT, f"{place}.content")
    return f"(the tool failed) {words}" if one.get("is_error") else words


def _tools(body: Body) -> tuple[tuple[ToolSpec, ...], dict[str, Any]]:
    specs = []
    for index, one in enumerate(few(items(body, "tools"))):
        where = f"tools[{index}]"
        if table(one, where).get("type", "custom") not in ("custom", None):
            unsupported(f"{where}.type")
        specs.append(tool(one.get("name"), one.get("description"), one.get("input_schema"), where=where))
    given = table(body.get("tool_choice") or {"type": "auto"}, "tool_choice")
    kind = given.get("type")
    if not isinstance(kind, str) or kind not in CHOICES:
        unsupported("tool_choice.type")
    name = text(given, "name", where="tool_choice.") if kind == "tool" else ""
    offered, option = chosen(specs, CHOICES[kind], name)
    one_by_one = {"parallel_tool_calls": False} if offered and given.get("disable_parallel_tool_use") else {}
    return offered, {**option, **one_by_one}


# ── answering ─────────────────────────────────────────────────────────────────────────────────────────────────────


def _usage(usage: Usage) -> dict[str, Any]:
    cached = usage.cached or 0
    return {
        "input_tokens": max(usage.input - cached, 0),
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": cached,
        "output_tokens": usage.output,
    }


def _message(head: Head, content: list[Any], stop: str | None, usage: dict[str, Any]) -> dict[str, Any]:
    return {
        "id": f"msg_{head.id}", "type": "message", "role": "assistant", "model": head.model, "content": content,
        "stop_reason": stop, "stop_sequence": None, "usage": usage,
    }  # fmt: skip


def _used(call: ToolCall, given: dict[str, Any]) -> dict[str, Any]:
    return {"type": "tool_use", "id": call.id, "name": call.name, "input": given}


def whole_answer(head: Head, asked: Asked, turn: Turn) -> dict[str, Any]:
    said = [{"type": "text", "text": turn.reply}] if turn.reply else []
    calls = [_used(call, json.loads(call.arguments or "{}")) for call in turn.calls]
    return _message(head, [*said, *calls], STOPS[finish_of(turn)], _usage(turn.usage))


class Events:
    """The events of one streamed answer."""

    def __init__(self, head: Head, asked: Asked) -> None:
        self._head = head
        self._spoke = False

    def begin(self) -> bytes:
        nothing = {"input_tokens": 0, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0,
                   "output_tokens": 0}  # fmt: skip
        return _event("message_start", message=_message(self._head, [], None, nothing))

    def part(self, words: str) -> bytes:
        opened = b"" if self._spoke else _block(0, {"type": "text", "text": ""})
        self._spoke = True
        return opened + _event("content_block_delta", index=0, delta={"type": "text_delta", "text": words})

    def end(self, turn: Turn) -> bytes:
        sent = _event("content_block_stop", index=0) if self._spoke else b""
        for index, call in enumerate(turn.calls, int(self._spoke)):
            sent += _block(index, _used(call, {}))
            delta = {"type": "input_json_delta", "partial_json": call.arguments or "{}"}
            sent += _event("content_block_delta", index=index, delta=delta)
            sent += _event("content_block_stop", index=index)
        ended = {"stop_reason": STOPS[finish_of(turn)], "stop_sequence": None}
        return sent + _event("message_delta", delta=ended, usage=_usage(turn.usage)) + _event("message_stop")

    def fail(self, error: dict[str, Any]) -> bytes:
        return event(error, "error")


def _block(index: int, block: dict[str, Any]) -> bytes:
    return _event("content_block_start", index=index, content_block=block)


def _event(name: str, /, **more: Any) -> bytes:
    return event({"type": name, **more}, name)


API: Final = Api(read, whole_answer, Events, anthropic_error)
