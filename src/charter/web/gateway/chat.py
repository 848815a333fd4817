"""OpenAI Chat Completions: a request of that form is read, and an answer of that form is written."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from ...core.dialogue import Usage
from .asked import Api, Asked, Head, Heard, call_of, texts
from .errors import openai_error
from .reading import Body, chosen_in, few, flag, items, only, only_one, options, table, text, tool, unsupported, whole
from .sse import DONE, event

if TYPE_CHECKING:
    from ...core.dialogue import ToolCall
    from ...core.ports import ToolSpec
    from ...turn import Turn

SAMPLING: Final = ("temperature", "top_p", "seed", "presence_penalty", "frequency_penalty")
READ: Final = frozenset(
    {"model", "messages", "stream", "stream_options", "max_tokens", "max_completion_tokens", "stop", "tools",
     "tool_choice", "parallel_tool_calls", "n", "response_format", "modalities", *SAMPLING}
)  # fmt: skip
# Hints, labels and what concerns the vendor's own house: an answer is as good without them.
HARMLESS: Final = frozenset(
    {"user", "metadata", "store", "service_tier", "prompt_cache_key", "prompt_cache_retention", "safety_identifier",
     "reasoning_effort", "verbosity", "prediction"}
)  # fmt: skip
DEFAULTS: Final[dict[str, Any]] = {"n": 1, "response_format": {"type": "text"}, "modalities": ["text"]}
MESSAGE: Final = frozenset({"role", "content", "name", "refusal", "tool_calls", "annotations", "reasoning_content"})
PARTS: Final = {"text": "text", "refusal": "refusal"}


def read(body: Body) -> Asked:
    """The request; BadValue names the parameter that is wrong."""
    only(body, READ | HARMLESS)
    for name, value in DEFAULTS.items():
        only_one(body, name, value)
    tools, choice = _tools(body)
    heard = Heard()
    for index, message in enumerate(items(body, "messages")):
        _hear(heard, table(message, f"messages[{index}]"), f"messages[{index}]")
    sampling = options(body, SAMPLING, stop="stop")
    most = whole(body, "max_completion_tokens", "max_tokens")
    words, carried = heard.asked(tools, {**sampling, **choice}, most)
    wants = table(body.get("stream_options") or {}, "stream_options")
    return Asked(text(body, "model"), words, carried, flag(body, "stream"), bool(wants.get("include_usage")))


def _hear(heard: Heard, message: dict[str, Any], where: str) -> None:
    role, words = text(message, "role", where=f"{where}."), texts(message.get("content"), PARTS, f"{where}.content")
    if role == "tool":
        heard.result(text(message, "tool_call_id", where=f"{where}."), words, where)
        return
    only(message, MESSAGE, where=f"{where}.")
    heard.says(role, words or text(message, "refusal", "", where=f"{where}."), where)
    calls = items(message, "tool_calls", where=f"{where}.") if role == "assistant" else []
    if calls:
        heard.calls([_call(one, f"{where}.tool_calls[{index}]") for index, one in enumerate(calls)])


def _call(one: Any, where: str) -> ToolCall:
    function = table(table(one, where).get("function"), f"{where}.function")
    return call_of(one.get("id"), function.get("name"), function.get("arguments"), where)


def _tools(body: Body) -> tuple[tuple[ToolSpec, ...], dict[str, Any]]:
    specs = []
    for index, one in enumerate(few(items(body, "tools"))):
        where = f"tools[{index}]"
        if table(one, where).get("type") != "function":
            unsupported(f"{where}.type")
        function = table(one.get("function"), f"{where}.function")
        specs.append(tool(function.get("name"), function.get("description"), function.get("parameters"), where=where))
    return chosen_in(body, specs, _named)


def _named(choice: Any) -> str:
    named = table(table(choice, "tool_choice").get("function"), "tool_choice.function")
    return text(named, "name", where="tool_choice.function.")


# ── answering ─────────────────────────────────────────────────────────────────────────────────────────────────────


def usage_of(usage: Usage) -> dict[str, Any]:
    return {
        "prompt_tokens": usage.input,
        "completion_tokens": usage.output,
        "total_tokens": usage.input + usage.output,
        "prompt_tokens_details": {"cached_tokens": usage.cached or 0},
    }


def finish_of(turn: Turn) -> str:
    if turn.calls:
        return "tool_calls"
    return "length" if turn.stop == "length" and turn.outcome == "done" else "stop"


def _called(turn: Turn) -> list[dict[str, Any]]:
    return [
        {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
        for call in turn.calls
    ]


def whole_answer(head: Head, asked: Asked, turn: Turn) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": turn.reply, "refusal": None}
    if turn.calls:
        message |= {"content": turn.reply or None, "tool_calls": _called(turn)}
    return {
        "id": f"chatcmpl-{head.id}",
        "object": "chat.completion",
        "created": head.at,
        "model": head.model,
        "choices": [{"index": 0, "message": message, "logprobs": None, "finish_reason": finish_of(turn)}],
        "usage": usage_of(turn.usage),
    }


class Chunks:
    """The events of one streamed answer."""

    def __init__(self, head: Head, asked: Asked) -> None:
        self._same = {
            "id": f"chatcmpl-{head.id}", "object": "chat.completion.chunk", "created": head.at, "model": head.model,
        }  # fmt: skip
        self._usage = asked.usage

    def begin(self) -> bytes:
        return self._chunk({"role": "assistant", "content": "", "refusal": None})

    def part(self, words: str) -> bytes:
        return self._chunk({"content": words})

    def end(self, turn: Turn) -> bytes:
        calls = [{"index": index, **call} for index, call in enumerate(_called(turn))]
        sent = self._chunk({"tool_calls": calls}) if calls else b""
        sent += self._chunk({}, finish_of(turn))
        if self._usage:
            sent += event({**self._same, "choices": [], "usage": usage_of(turn.usage)})
        return sent + DONE

    def fail(self, error: dict[str, Any]) -> bytes:
        return event(error)

    def _chunk(self, delta: dict[str, Any], finish: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        return event({**self._same, "choices": [choice], **({"usage": None} if self._usage else {})})


API: Final = Api(read, whole_answer, Chunks, openai_error)
