"""Anthropic's Messages, through the official client."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

from ..core.dialogue import Reply, Stop, Usage
from ..core.ports import Request
from .heard import Heard, Odd, arguments, count, items, mapping, refuse_error, stop_of, text
from .line import Format, Line, listen
from .sdk import anthropic_client, asker, sdk_errors

if TYPE_CHECKING:
    import httpx2

_STOPS: Final[Mapping[str, Stop]] = {
    "end_turn": "end",
    "stop_sequence": "end",
    "tool_use": "tools",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "refused",
}
_INPUTS: Final = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")


class AnthropicMessages:
    """A model behind `/v1/messages`."""

    dialect = "anthropic"
    native_tools = True

    def __init__(
        self,
        model: str = "",
        *,
        base_url: str = "",
        api_key: str = "",
        window: int | None = None,
        options: Mapping[str, Any] | None = None,
        transport: httpx2.BaseTransport | None = None,
    ) -> None:
        self._line = Line("anthropic", model, base_url=base_url, api_key=api_key, window=window, transport=transport)
        self._client = anthropic_client(self._line)
        self._options = dict(options or {})
        self.name, self.model, self.window = self._line.name, self._line.model, self._line.window

    def __repr__(self) -> str:
        return f"AnthropicMessages({self.model!r}, at={self._line.about.place!r})"

    def options(self, *, stream: bool, max_tokens: int) -> Mapping[str, Any]:
        return {"stream": stream, "max_tokens": max_tokens, **self._options}

    def converse(self, request: Request, hear: Callable[[str], None]) -> Reply:
        import anthropic

        ask = asker(self._client, anthropic.Stream, "/v1/messages")
        return listen(self._line, FORMAT, request, hear, ask=ask, errors=sdk_errors(anthropic))

    def close(self) -> None:
        self._line.http.close()


# ── reading ───────────────────────────────────────────────────────────────────────────────────────────────────────


def _whole(body: Mapping[str, Any], heard: Heard) -> str:
    refuse_error(body)
    if "content" not in body:
        raise Odd("there is no content in it")
    _count(body, heard)
    said = [_block(place, block, heard) for place, block in enumerate(items(body["content"], "its content"))]
    heard.stop = stop_of(body.get("stop_reason"), _STOPS)
    return heard.say("".join(said))


def _event(body: Mapping[str, Any], heard: Heard) -> str:
    refuse_error(body)
    kind = body.get("type")
    if kind == "message_start":
        _count(mapping(body.get("message"), "its start"), heard)
    elif kind == "content_block_start":
        return heard.say(_block(body.get("index"), body.get("content_block"), heard))
    elif kind == "content_block_delta":
        return _delta(body.get("index"), mapping(body.get("delta"), "its delta"), heard)
    elif kind == "message_delta":
        _count(body, heard)
        why = mapping(body.get("delta"), "its end").get("stop_reason")
        heard.stop = heard.stop if why is None else stop_of(why, _STOPS)
    return ""


FORMAT: Final = Format("anthropic", _whole, _event)


def _block(place: object, value: object, heard: Heard) -> str:
    """A block whole, or as a stream opens it: then a call's input is still empty, and comes in deltas."""
    block = mapping(value, "a block of it")
    if block.get("type") == "tool_use":
        name, call_id = text(block.get("name"), "a call's name"), text(block.get("id"), "a call's id")
        given = block.get("input")
        heard.call(place, name=name, call_id=call_id, arguments=arguments(given) if given else "")
    return text(block.get("text"), "its text") if block.get("type") == "text" else ""


def _delta(place: object, delta: Mapping[str, Any], heard: Heard) -> str:
    if delta.get("type") == "input_json_delta":
        heard.call(place, arguments=text(delta.get("partial_json"), "a call's arguments"))
    return heard.say(text(delta.get("text"), "its text") if delta.get("type") == "text_delta" else "")


def _count(body: Mapping[str, Any], heard: Heard) -> None:
    """Input counts come at the start and again, whole, at the end; what was read from a cache is not in the first."""
    usage = mapping(body.get("usage") or {}, "its usage")
    before, read, made = heard.usage, usage.get("cache_read_input_tokens"), usage.get("output_tokens")
    whole = not before.input or all(usage.get(name) is not None for name in _INPUTS)
    heard.usage = Usage(
        sum(count(usage.get(name), "its input tokens") for name in _INPUTS) if whole else before.input,
        before.output if made is None else count(made, "its output tokens"),
        before.cached if read is None else count(read, "its cached tokens"),
    )
