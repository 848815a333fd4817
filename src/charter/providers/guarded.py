"""The wire guard: the last look before the socket; the one body that was assembled passes, once, and nothing else."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from time import monotonic
from typing import Any, Final
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import httpx2

from ..core.errors import ProviderDown, ProviderError, ProviderNonsense, WireMismatch
from ..core.ports import Request
from ..core.wire import Expected, check

MAX_ANSWER_BYTES: Final = 32 * 1024 * 1024
_LOOPBACK: Final = ("localhost", "127.0.0.1", "::1")


@dataclass(slots=True)
class Call:
    """A request under way: what must be found in it, and what the guard has seen of it so far.

    `verdict` is why the guard stopped it; the clients put errors of their own around it, and it must come out as it is.
    """

    provider: str
    expected: Expected = field(repr=False)
    timeout_s: float
    deadline: float
    sent: bool = False
    answered: bool = False
    verdict: ProviderError | None = None


_UNDER_WAY: ContextVar[Call | None] = ContextVar("charter_call_under_way", default=None)


def begin(provider: str, request: Request) -> Call:
    """The call of this request, from now on."""
    return Call(provider, request.expected, request.timeout_s, monotonic() + request.timeout_s)


@contextmanager
def under_way(call: Call) -> Iterator[None]:
    """Inside, this thread may send what the call expects; outside, nothing at all."""
    token = _UNDER_WAY.set(call)
    try:
        yield
    finally:
        _UNDER_WAY.reset(token)


class Guarded(httpx2.BaseTransport):
    """A transport that reads every body back and passes on the one that is expected."""

    def __init__(self, inner: httpx2.BaseTransport) -> None:
        self._inner = inner

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        call = _UNDER_WAY.get()
        if call is None:
            raise WireMismatch("wire", "a request that no turn asked for; nothing was sent")
        try:
            _look(request, call)
        except WireMismatch as refusal:
            call.verdict = refusal
            raise
        call.sent = True
        response = self._inner.handle_request(request)
        call.answered = True
        assert isinstance(response.stream, httpx2.SyncByteStream)
        return httpx2.Response(
            response.status_code,
            headers=response.headers,
            stream=_Watched(response.stream, call),
            extensions=response.extensions,
        )

    def close(self) -> None:
        self._inner.close()


def _look(request: httpx2.Request, call: Call) -> None:
    if call.sent:
        raise WireMismatch(call.provider, "the request was sent before; it is never sent twice")
    body = None
    with suppress(ValueError, RecursionError):
        body = json.loads(request.read(), object_pairs_hook=_only_once)
    if not isinstance(body, dict):  # raised here and not where it was found: an error of JSON carries the text
        raise WireMismatch(call.provider, "the body is not a JSON object that can be checked; nothing was sent")
    check(body, call.expected, call.provider)


def _only_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object whose keys stand once: of two, a server may read the one that was not checked."""
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError
    return found


class _Watched(httpx2.SyncByteStream):
    """An answer's bytes, up to the call's deadline and a size that no answer has."""

    def __init__(self, inner: httpx2.SyncByteStream, call: Call) -> None:
        self._inner = inner
        self._call = call

    def __iter__(self) -> Iterator[bytes]:
        size = 0
        for chunk in self._inner:
            size += len(chunk)
            if size > MAX_ANSWER_BYTES:
                self._stop(ProviderNonsense(self._call.provider, f"the answer is over {MAX_ANSWER_BYTES:,} bytes"))
            if monotonic() > self._call.deadline:
                seconds = f"{self._call.timeout_s:g}"
                self._stop(ProviderDown(self._call.provider, f"no whole answer within {seconds} s", "try again later"))
            yield chunk

    def _stop(self, verdict: ProviderError) -> None:
        self._call.verdict = verdict
        raise verdict

    def close(self) -> None:
        self._inner.close()


def way_to(base_url: str) -> httpx2.BaseTransport:
    """The real transport: through the environment's proxy where there is one, never to this machine itself."""
    place = urlsplit(base_url)
    host = place.hostname or ""
    proxy = None if host in _LOOPBACK or proxy_bypass(host) else getproxies().get(place.scheme)
    return httpx2.HTTPTransport(proxy=proxy)
