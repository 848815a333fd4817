"""OpenAI Responses: a request of that form is read, an answer of that form is written; nothing is kept for later."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from .asked import Api, Asked, Head, Heard, call_of, texts
from .chat import finish_of
from .errors import openai_error
from .reading import Body, chosen_in, few, flag, items, only, only_one, options, table, text, tool, unsupported, whole
from .sse import event

if TYPE_CHECKING:
    from ...core.dialogue import ToolCall, Usage
    from ...core.ports import ToolSpec
    from ...turn import Turn

READ: Final = frozenset(
    {"model", "input", "instructions", "stream", "max_output_tokens", "temperature", "top_p", "tools", "tool_choice",
     "parallel_tool_calls", "text"}
)  # fmt: skip
HARMLESS: Final = frozenset(
    {"user", "metadata", "store", "service_tier", "prompt_cache_key", "prompt_cache_retention", "safety_identifier",
     "reasoning", "include", "truncation", "stream_options", "client_metadata"}
)  # fmt: skip
PARTS: Final = {"input_text": "text", "output_text": "text", "text": "text", "refusal": "refusal"}
PLAIN_TEXT: Final = {"type": "text"}


def read(body: Body) -> Asked:
    """The request; BadValue names the parameter that is wrong."""
    only(body, READ | HARMLESS)
    wanted = table(body.get("text") or {}, "text")
    only_one(wanted, "format", PLAIN_TEXT, where="text.")
    tools, choice = _tools(body)
    heard = Heard()
    heard.says("system", text(body, "instructions", ""), "instructions")
    _hear_all(heard, body.get("input"))
    sampling = options(body, ("temperature", "top_p"))
    most = whole(body, "max_output_tokens")
    words, carried = heard.asked(tools, {**sampling, **choice}, most)
    echo = {
        "instructions": body.get("instructions"), "max_output_tokens": most, "tools": body.get("tools") or [],
        "tool_choice": body.get("tool_choice") or "auto", "temperature": sampling.get("temperature"),
        "top_p": sampling.get("top_p"), "metadata": body.get("metadata") or {}, "user": body.get("user"),
        "parallel_tool_calls": body.get("parallel_tool_calls") is not False,
    }  # fmt: skip
    return Asked(text(body, "model"), words, carried, flag(body, "stream"), echo=echo)


def _hear_all(heard: Heard, given: Any) -> None:
    if isinstance(given, str):
        heard.says("user", given, "input")
        return
    for index, item in enumerate(items({"input": given}, "input")):
        where = f"input[{index}]"
        kind = table(item, where).get("type", "message")
        if not isinstance(kind, str) or kind not in _ITEMS:
            unsupported(f"{where}.type")
        _ITEMS[kind](heard, item, where)


def _message(heard: Heard, item: dict[str, Any], where: str) -> None:
    heard.says(text(item, "role", where=f"{where}."), texts(item.get("content"), PARTS, f"{where}.content"), where)


def _call(heard: Heard, item: dict[str, Any], where: str) -> None:
    heard.calls([call_of(item.get("call_id"), item.get("name"), item.get("arguments"), where)])


def _result(heard: Heard, item: dict[str, Any], where: str) -> None:
    words = texts(item.get("output"), PARTS, f"{where}.output")
    heard.result(text(item, "call_id", where=f"{where}."), words, where)


def _passed_over(heard: Heard, item: dict[str, Any], where: str) -> None:
    """What another model thought is not this one's."""


_ITEMS: Final = {
    "message": _message,
    "function_call": _call,
    "function_call_output": _result,
    "reasoning": _passed_over,
}


def _tools(body: Body) -> tuple[tuple[ToolSpec, ...], dict[str, Any]]:
    specs = []
    for index, one in enumerate(few(items(body, "tools"))):
        where = f"tools[{index}]"
        if table(one, where).get("type") != "function":
            unsupported(f"{where}.type")
        specs.append(tool(one.get("name"), one.get("description"), one.get("parameters"), where=where))
    return chosen_in(body, specs, _named)


def _named(choice: Any) -> str:
    named = table(choice, "tool_choice")
    if named.get("type") != "function":
        unsupported("tool_choice.type")
    return text(named, "name", where="tool_choice.")


# ── answering ─────────────────────────────────────────────────────────────────────────────────────────────────────


def _usage(usage: Usage) -> dict[str, Any]:
    return {
        "input_tokens": usage.input,
        "input_tokens_details": {"cached_tokens": usage.cached or 0},
        "output_tokens": usage.output,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": usage.input + usage.output,
    }


def _response(head: Head, asked: Asked, status: str, output: list[Any], **more: Any) -> dict[str, Any]:
    return {
        "id": f"resp_{head.id}", "object": "response", "created_at": head.at, "status": status, "error": None,
        "incomplete_details": None, "model": head.model, "output": output, "previous_response_id": None,
        "reasoning": {"effort": None, "summary": None}, "store": False, "text": {"format": PLAIN_TEXT},
        "truncation": "disabled", "usage": None, **asked.echo, **more,
    }  # fmt: skip


def _message_item(head: Head, words: str, status: str) -> dict[str, Any]:
    content = [_text_part(words)] if status == "completed" else []
    return {"id": f"msg_{head.id}", "type": "message", "status": status, "role": "assistant", "content": content}


def _text_part(words: str) -> dict[str, Any]:
    return {"type": "output_text", "text": words, "annotations": [], "logprobs": []}


def _call_item(head: Head, number: int, call: ToolCall, status: str = "completed") -> dict[str, Any]:
    arguments = call.arguments if status == "completed" else ""
    return {
        "id": f"fc_{head.id}{number}", "type": "function_call", "status": status, "call_id": call.id,
        "name": call.name, "arguments": arguments,
    }  # fmt: skip


def _ended(head: Head, asked: Asked, turn: Turn, output: list[Any]) -> dict[str, Any]:
    cut = finish_of(turn) == "length"
    why = {"reason": "max_output_tokens"} if cut else None
    status = "incomplete" if cut else "completed"
    return _response(head, asked, status, output, incomplete_details=why, usage=_usage(turn.usage))


def whole_answer(head: Head, asked: Asked, turn: Turn) -> dict[str, Any]:
    said = [_message_item(head, turn.reply, "completed")] if turn.reply or not turn.calls else []
    calls = [_call_item(head, number, call) for number, call in enumerate(turn.calls)]
    return _ended(head, asked, turn, [*said, *calls])


class Events:
    """The events of one streamed answer, numbered."""

    def __init__(self, head: Head, asked: Asked) -> None:
        self._head, self._asked = head, asked
        self._number = 0
        self._words: list[str] = []

    def begin(self) -> bytes:
        begun = _response(self._head, self._asked, "in_progress", [])
        return self._event("response.created", response=begun) + self._event("response.in_progress", response=begun)

    def part(self, words: str) -> bytes:
        opened = b"" if self._words else self._open()
        self._words.append(words)
        return opened + self._of_text("response.output_text.delta", delta=words, logprobs=[])

    def _open(self) -> bytes:
        item = _message_item(self._head, "", "in_progress")
        added = self._event("response.output_item.added", output_index=0, item=item)
        return added + self._of_text("response.content_part.added", part=_text_part(""))

    def end(self, turn: Turn) -> bytes:
        words = "".join(self._words)
        sent, output = b"", []
        if self._words or not turn.calls:
            output.append(_message_item(self._head, words, "completed"))
            sent += b"" if self._words else self._open()
            sent += self._of_text("response.output_text.done", text=words, logprobs=[])
            sent += self._of_text("response.content_part.done", part=_text_part(words))
            sent += self._event("response.output_item.done", output_index=0, item=output[0])
        for number, call in enumerate(turn.calls):
            sent += self._call(len(output), number, call)
            output.append(_call_item(self._head, number, call))
        ended = _ended(self._head, self._asked, turn, output)
        return sent + self._event(f"response.{ended['status']}", response=ended)

    def _call(self, place: int, number: int, call: ToolCall) -> bytes:
        item = _call_item(self._head, number, call)
        begun = _call_item(self._head, number, call, "in_progress")
        where = {"output_index": place, "item_id": item["id"]}
        sent = self._event("response.output_item.added", output_index=place, item=begun)
        sent += self._event("response.function_call_arguments.delta", delta=call.arguments, **where)
        done = {"arguments": call.arguments, "name": call.name, **where}
        sent += self._event("response.function_call_arguments.done", **done)
        return sent + self._event("response.output_item.done", output_index=place, item=item)

    def fail(self, error: dict[str, Any]) -> bytes:
        said = error["error"]
        why = {"code": "server_error", "message": f"{said['message']} ({said['code']})"}
        return self._event("response.failed", response=_response(self._head, self._asked, "failed", [], error=why))

    def _of_text(self, name: str, /, **more: Any) -> bytes:
        return self._event(name, item_id=f"msg_{self._head.id}", output_index=0, content_index=0, **more)

    def _event(self, name: str, /, **more: Any) -> bytes:
        sent = event({"type": name, "sequence_number": self._number, **more}, name)
        self._number += 1
        return sent


API: Final = Api(read, whole_answer, Events, openai_error)
