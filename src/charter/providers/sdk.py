"""The official clients, as we use them: no retries, no redirects, no tracing, and the guard under every request."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from ..core.errors import MissingExtra
from ..core.ports import Request
from .line import Answers, Errors, Line, streams

if TYPE_CHECKING:
    import anthropic
    import openai

CONNECT_SECONDS: Final = 10.0
NO_KEY: Final = "none"  # servers of one's own ask for none, and the clients want one

Ask = Callable[[Request], Answers]


def openai_client(line: Line) -> openai.OpenAI:
    """OpenAI's client on this line."""
    try:
        import openai
    except ImportError:
        raise MissingExtra("openai", f"the provider {line.name}") from None
    return openai.OpenAI(api_key=line.api_key or NO_KEY, base_url=line.base_url, http_client=line.http, max_retries=0)


def anthropic_client(line: Line) -> anthropic.Anthropic:
    """Anthropic's client on this line; told to trace nothing, or an environment variable could put prompts in spans."""
    try:
        import anthropic
    except ImportError:
        raise MissingExtra("anthropic", f"the provider {line.name}") from None
    return anthropic.Anthropic(
        api_key=line.api_key or NO_KEY,
        base_url=line.base_url,
        http_client=line.http,
        max_retries=0,
        open_telemetry={"traces": False, "propagation": False},
    )


def asker(client: Any, stream_of: Any, path: str) -> Ask:
    """How a request goes through a client: the payload as it is, the answer as plain JSON values."""

    def ask(request: Request) -> Answers:
        sent = {"body": dict(request.payload), "cast_to": object, "options": {"timeout": seconds(request.timeout_s)}}
        if not streams(request):
            yield client.post(path, **sent)
            return
        with client.post(path, **sent, stream=True, stream_cls=stream_of[object]) as events:
            yield from events

    return ask


def seconds(most: float) -> Any:
    """A client's time limits: short for the connection, `most` for every other step."""
    import httpx2

    return httpx2.Timeout(most, connect=min(most, CONNECT_SECONDS))


def http_errors() -> Errors:
    """What the HTTP client itself raises."""
    import httpx2

    return Errors((httpx2.TimeoutException,), (httpx2.TransportError,), ())


def sdk_errors(sdk: Any) -> Errors:
    """What a client raises, with what the HTTP client raises through it."""
    http = http_errors()
    return Errors(
        (sdk.APITimeoutError, *http.too_slow), (sdk.APIConnectionError, *http.unreachable), (sdk.APIError, *http.told)
    )
