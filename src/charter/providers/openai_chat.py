"""OpenAI's Chat Completions, and every server that speaks like it, through the official client."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

from ..core.dialogue import Reply, Stop, Usage
from ..core.ports import Request
from .facts import facts_of
from .heard import Heard, Odd, arguments, count, items, mapping, refuse_error, stop_of, text
from .line import Format, Line, listen
from .sdk import asker, openai_client, sdk_errors

if TYPE_CHECKING:
    import httpx2

STOPS: Final[Mapping[str, Stop]] = {
    "stop": "end",
    "eos": "end",
    "eos_token": "end",
    "stop_sequence": "end",
    "tool_calls": "tools",
    "function_call": "tools",
    "length": "length",
    "content_filter": "refused",
}


class OpenAIChat:
    """A model behind `/chat/completions`."""

    dialect = "openai"
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
        name: str = "openai",
    ) -> None:
        self._line = Line(
            "openai", model, base_url=base_url, api_key=api_key, window=window, transport=transport, name=name
        )
        self._client = openai_client(self._line)
        self._options = dict(options or {})
        self.name, self.model, self.window = self._line.name, self._line.model, self._line.window

    def __repr__(self) -> str:
        return f"OpenAIChat({self.model!r}, at={self._line.about.place!r})"

    def options(self, *, stream: bool, max_tokens: int) -> Mapping[str, Any]:
        # OpenAI's newer models refuse max_tokens; other servers know nothing else.
        own = self._line.base_url == facts_of("openai").base_url
        limit = "max_completion_tokens" if own else "max_tokens"
        return {**streaming(stream), limit: max_tokens, **self._options}

    def converse(self, request: Request, hear: Callable[[str], None]) -> Reply:
        import openai

        ask = asker(self._client, openai.Stream, "/chat/completions")
        return listen(self._line, FORMAT, request, hear, ask=ask, errors=sdk_errors(openai))

    def close(self) -> None:
        self._line.http.close()


def streaming(stream: bool) -> dict[str, Any]:
    """The fields of a body that streams and tells its usage, or does not."""
    return {"stream": True, "stream_options": {"include_usage": True}} if stream else {"stream": False}


# ── reading ───────────────────────────────────────────────────────────────────────────────────────────────────────


def whole(body: Mapping[str, Any], heard: Heard) -> str:
    found = choice(body, heard)
    if found is None:
        raise Odd("there is no choice in it")
    message = mapping(found.get("message"), "its message")
    for place, call in enumerate(items(message.get("tool_calls"), "its calls")):
        _call(place, mapping(call, "a call"), heard)
    heard.stop = stop_of(found.get("finish_reason"), STOPS)
    return _spoken(message, heard)


def event(body: Mapping[str, Any], heard: Heard) -> str:
    found = choice(body, heard)
    if found is None:
        return ""
    delta = mapping(found.get("delta") or {}, "its delta")
    for piece in items(delta.get("tool_calls"), "its calls"):
        piece = mapping(piece, "a call")
        key = heard.key_for(piece.get("index"), text(piece.get("id"), "a call's id"))
        _call(key, piece, heard)
    if found.get("finish_reason") is not None:
        heard.stop = stop_of(found["finish_reason"], STOPS)
    return _spoken(delta, heard)


FORMAT: Final = Format("openai", whole, event)


def choice(body: Mapping[str, Any], heard: Heard) -> Mapping[str, Any] | None:
    """The one choice that was asked for, None in an event that only counts."""
    refuse_error(body)
    if body.get("usage") is not None:
        heard.usage = _usage(mapping(body["usage"], "its usage"), body)
    elif "choices" not in body:
        raise Odd("there are no choices in it")
    found = items(body.get("choices"), "its choices")
    return mapping(found[0], "its choice") if found else None


def _usage(usage: Mapping[str, Any], body: Mapping[str, Any]) -> Usage:
    """What was counted; how much came from a cache stands in one of three places, as the server likes."""
    details = mapping(usage.get("prompt_tokens_details") or {}, "its usage")
    timings = mapping(body.get("timings") or {}, "its timings")
    places = (details.get("cached_tokens"), usage.get("prompt_cache_hit_tokens"), timings.get("cache_n"))
    cached = next((count(value, "its cached tokens") for value in places if value is not None), None)
    given, made = usage.get("prompt_tokens"), usage.get("completion_tokens")
    return Usage(count(given, "its prompt tokens"), count(made, "its completion tokens"), cached)


def _call(key: object, call: Mapping[str, Any], heard: Heard) -> None:
    function = mapping(call.get("function") or {}, "a call's function")
    heard.call(
        key,
        name=text(function.get("name"), "a call's name"),
        call_id=text(call.get("id"), "a call's id"),
        arguments=arguments(function.get("arguments")),
    )


def _spoken(message: Mapping[str, Any], heard: Heard) -> str:
    content, refusal = message.get("content"), text(message.get("refusal"), "its refusal")
    if isinstance(content, list):
        blocks = [mapping(block, "a block of its text") for block in content]
        content = "".join(text(block.get("text"), "its text") for block in blocks if block.get("type") == "text")
    heard.refused = heard.refused or bool(refusal)
    return heard.say(text(content, "its text") + refusal)
