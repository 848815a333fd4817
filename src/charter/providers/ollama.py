"""Ollama, natively: the window is asked for by name, and a prompt it did not read whole is an error, not an answer."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

from ..core.dialogue import Reply, Stop, Usage
from ..core.ports import Request
from .heard import ErrorAnswer, Heard, Odd, arguments, count, items, mapping, refuse_error, stop_of, text
from .line import Answers, Format, Line, listen, streams
from .sdk import http_errors, seconds

if TYPE_CHECKING:
    import httpx2

_STOPS: Final[Mapping[str, Stop]] = {"stop": "end", "length": "length"}


class Ollama:
    """A model behind `/api/chat`. Ollama's own `/v1` ignores the window and cuts the prompt without a word."""

    dialect = "ollama"
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
        self._line = Line("ollama", model, base_url=base_url, api_key=api_key, window=window, transport=transport)
        self._options = dict(options or {})
        self.name, self.model, self.window = self._line.name, self._line.model, self._line.window

    def __repr__(self) -> str:
        return f"Ollama({self.model!r}, at={self._line.about.place!r})"

    def options(self, *, stream: bool, max_tokens: int) -> Mapping[str, Any]:
        # Newer servers answer with an error instead of cutting when these two are off; older ones do not know them.
        whole = {"truncate": False, "shift": False}
        sizes = {"num_ctx": self.window, "num_predict": max_tokens, **self._options}
        return {"stream": stream, **whole, "options": sizes}

    def converse(self, request: Request, hear: Callable[[str], None]) -> Reply:
        prompt, window = estimate(request.payload), _window(request.payload)
        if window and prompt > window:
            raise self._line.about.overflow(f"the prompt is about {prompt:,} tokens, the window holds {window:,}")
        reply = listen(self._line, FORMAT, request, hear, ask=self._ask, errors=http_errors())
        read = reply.usage.input
        if read * 2 < prompt or (window and read >= window):
            raise self._line.about.overflow(f"it read {read:,} tokens of a prompt of about {prompt:,}")
        return reply

    def close(self) -> None:
        self._line.http.close()

    def _ask(self, request: Request) -> Answers:
        line, key = self._line, self._line.api_key
        headers = {"authorization": f"Bearer {key}"} if key else {}
        url, limits = f"{line.base_url}/api/chat", seconds(request.timeout_s)
        with line.http.stream("POST", url, json=dict(request.payload), headers=headers, timeout=limits) as response:
            if response.status_code >= 300:
                raise ErrorAnswer(_error(response.read()), response.status_code, response)
            if streams(request):
                yield from map(json.loads, _lines(response.iter_bytes()))
            else:
                yield json.loads(response.read())


def estimate(payload: Mapping[str, Any]) -> int:
    """About how many tokens a body's texts are; rather too few, so that what is far below it was not read."""
    texts = [str(message.get("content") or "") for message in payload.get("messages", ())]
    return sum(len(told.encode(errors="surrogatepass")) for told in texts) // 4


def _window(payload: Mapping[str, Any]) -> int | None:
    asked = payload.get("options", {}).get("num_ctx")
    return asked if isinstance(asked, int) else None


def _error(data: bytes) -> object:
    with suppress(ValueError, RecursionError):
        found: object = json.loads(data)
        return found
    return None


def _lines(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Whole lines, cut at line feeds alone: a text may hold other characters that some take for the end of a line."""
    rest = b""
    for chunk in chunks:
        *lines, rest = (rest + chunk).split(b"\n")
        yield from filter(bytes.strip, lines)
    if rest.strip():
        yield rest


# ── reading: an event of a stream looks like an answer ────────────────────────────────────────────────────────────


def _event(body: Mapping[str, Any], heard: Heard) -> str:
    refuse_error(body)
    message = mapping(body.get("message"), "its message")
    for call in items(message.get("tool_calls"), "its calls"):
        _call(mapping(call, "a call"), heard)
    if body.get("done"):
        heard.usage = Usage(
            count(body.get("prompt_eval_count"), "its prompt tokens"), count(body.get("eval_count"), "its tokens")
        )
        heard.stop = stop_of(body.get("done_reason", "stop"), _STOPS)
    return heard.say(text(message.get("content"), "its text"))


def _whole(body: Mapping[str, Any], heard: Heard) -> str:
    refuse_error(body)
    if not body.get("done"):
        raise Odd("it is not done")
    return _event(body, heard)


FORMAT: Final = Format("ollama", _whole, _event)


def _call(call: Mapping[str, Any], heard: Heard) -> None:
    function = mapping(call.get("function"), "a call's function")
    call_id = text(call.get("id"), "a call's id")
    name = text(function.get("name"), "a call's name")
    heard.call(object(), name=name, call_id=call_id, arguments=arguments(function.get("arguments")))
