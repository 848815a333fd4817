"""OpenAI's Responses, through the official client; nothing is stored there, the conversation is ours to keep."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

from ..core.dialogue import Reply, Stop, Usage
from ..core.ports import Request
from .heard import ErrorAnswer, Heard, Odd, arguments, count, items, mapping, refuse_error, stop_of, text
from .line import Format, Line, listen
from .sdk import asker, openai_client, sdk_errors

if TYPE_CHECKING:
    import httpx2

_CUT_SHORT: Final[Mapping[str, Stop]] = {"max_output_tokens": "length", "content_filter": "refused"}


class OpenAIResponses:
    """A model behind `/responses`."""

    dialect = "openai-responses"
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
        self._line = Line(
            "openai-responses", model, base_url=base_url, api_key=api_key, window=window, transport=transport
        )
        self._client = openai_client(self._line)
        self._options = dict(options or {})
        self.name, self.model, self.window = self._line.name, self._line.model, self._line.window

    def __repr__(self) -> str:
        return f"OpenAIResponses({self.model!r}, at={self._line.about.place!r})"

    def options(self, *, stream: bool, max_tokens: int) -> Mapping[str, Any]:
        # Both are the server's to decide unless said: it would keep the conversation, and may drop its middle.
        kept = {"store": False, "truncation": "disabled"}
        return {"stream": stream, "max_output_tokens": max_tokens, **kept, **self._options}

    def converse(self, request: Request, hear: Callable[[str], None]) -> Reply:
        import openai

        ask = asker(self._client, openai.Stream, "/responses")
        return listen(self._line, FORMAT, request, hear, ask=ask, errors=sdk_errors(openai))

    def close(self) -> None:
        self._line.http.close()


# ── reading ───────────────────────────────────────────────────────────────────────────────────────────────────────


def _whole(body: Mapping[str, Any], heard: Heard) -> str:
    said = [_item(place, item, heard) for place, item in enumerate(_output(body))]
    _ended(body, heard)
    return heard.say("".join(said))


def _event(body: Mapping[str, Any], heard: Heard) -> str:
    kind = text(body.get("type"), "an event's type")
    place = body.get("output_index")
    if kind in ("response.output_text.delta", "response.refusal.delta"):
        heard.refused = heard.refused or kind == "response.refusal.delta"
        return heard.say(text(body.get("delta"), "its text"))
    if kind == "response.function_call_arguments.delta":
        heard.call(place, arguments=text(body.get("delta"), "a call's arguments"))
    elif kind in ("response.output_item.added", "response.output_item.done"):
        item = mapping(body.get("item"), "an item of it")
        if item.get("type") == "function_call":
            _call(place, item, heard, done=kind.endswith("done"))
    elif kind in ("response.completed", "response.incomplete", "response.failed"):
        return _last(mapping(body.get("response"), "its end"), heard)
    elif kind == "error":
        raise ErrorAnswer(body)
    return ""


FORMAT: Final = Format("openai-responses", _whole, _event)


def _last(response: Mapping[str, Any], heard: Heard) -> str:
    """The end of a stream repeats it whole; what did not come in parts comes now."""
    silent = heard.silent
    said = [_item(place, item, heard) for place, item in enumerate(_output(response))]
    _ended(response, heard)
    return heard.say("".join(said)) if silent else ""


def _output(body: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    refuse_error(body)
    if "output" not in body:
        raise Odd("there is no output in it")
    return [mapping(item, "an item of it") for item in items(body["output"], "its output")]


def _item(place: int, item: Mapping[str, Any], heard: Heard) -> str:
    if item.get("type") == "function_call":
        _call(place, item, heard, done=True)
    if item.get("type") != "message":
        return ""
    blocks = [mapping(block, "a block of its text") for block in items(item.get("content"), "its text")]
    heard.refused = heard.refused or any(block.get("type") == "refusal" for block in blocks)
    told = [block.get("text", block.get("refusal")) for block in blocks]
    return "".join(text(part, "its text") for part in told)


def _call(place: object, item: Mapping[str, Any], heard: Heard, *, done: bool) -> None:
    call_id = text(item.get("call_id") or item.get("id"), "a call's id")
    heard.call(place, name=text(item.get("name"), "a call's name"), call_id=call_id)
    if done:
        heard.whole_arguments(place, arguments(item.get("arguments")))


def _ended(body: Mapping[str, Any], heard: Heard) -> None:
    usage = mapping(body.get("usage") or {}, "its usage")
    details = mapping(usage.get("input_tokens_details") or {}, "its usage")
    cached = details.get("cached_tokens")
    heard.usage = Usage(
        count(usage.get("input_tokens"), "its input tokens"),
        count(usage.get("output_tokens"), "its output tokens"),
        None if cached is None else count(cached, "its cached tokens"),
    )
    if body.get("status") == "incomplete":
        why = mapping(body.get("incomplete_details") or {}, "its end")
        heard.stop = stop_of(why.get("reason"), _CUT_SHORT)
    else:
        heard.stop = stop_of(body.get("status"), {"completed": "end"})
