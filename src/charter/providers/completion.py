"""Plain text completion, as OpenAI-compatible servers offer it: one text goes in, what follows comes out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

from ..core.dialogue import Reply
from ..core.ports import Request
from .heard import Heard, Odd, stop_of, text
from .line import Format, Line, listen
from .openai_chat import STOPS, choice, streaming
from .sdk import asker, openai_client, sdk_errors

if TYPE_CHECKING:
    import httpx2


class Completion:
    """A model behind `/completions`; it has no roles and no calls beside the text."""

    dialect = "completion"
    native_tools = False

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
        self._line = Line("completion", model, base_url=base_url, api_key=api_key, window=window, transport=transport)
        self._client = openai_client(self._line)
        self._options = dict(options or {})
        self.name, self.model, self.window = self._line.name, self._line.model, self._line.window

    def __repr__(self) -> str:
        return f"Completion({self.model!r}, at={self._line.about.place!r})"

    def options(self, *, stream: bool, max_tokens: int) -> Mapping[str, Any]:
        return {**streaming(stream), "max_tokens": max_tokens, **self._options}

    def converse(self, request: Request, hear: Callable[[str], None]) -> Reply:
        import openai

        ask = asker(self._client, openai.Stream, "/completions")
        return listen(self._line, FORMAT, request, hear, ask=ask, errors=sdk_errors(openai))

    def close(self) -> None:
        self._line.http.close()


# ── reading ───────────────────────────────────────────────────────────────────────────────────────────────────────


def _whole(body: Mapping[str, Any], heard: Heard) -> str:
    found = choice(body, heard)
    if found is None or not isinstance(found.get("text"), str):
        raise Odd("there is no text in it")
    heard.stop = stop_of(found.get("finish_reason"), STOPS)
    return heard.say(found["text"])


def _event(body: Mapping[str, Any], heard: Heard) -> str:
    found = choice(body, heard)
    if found is None:
        return ""
    if found.get("finish_reason") is not None:
        heard.stop = stop_of(found["finish_reason"], STOPS)
    return heard.say(text(found.get("text"), "its text"))


FORMAT: Final = Format("completion", _whole, _event)
