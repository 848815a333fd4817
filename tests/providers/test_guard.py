"""The wire guard: nothing leaves that no turn asked for, nothing leaves twice, and nothing waits for ever."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import httpx2
import pytest

from charter.core.dialogue import Reply, Usage
from charter.core.errors import CharterError, ProviderDown, ProviderNonsense, WireMismatch
from charter.core.ports import Request
from charter.providers import guarded
from charter.providers.guarded import Guarded, begin, under_way, way_to
from charter.providers.openai_chat import OpenAIChat
from charter.testing import request_for, small_prompt

from .rigs import MAKERS, SocketRig
from .spoken import EVENTS, WHOLE

pytestmark = pytest.mark.requirement("S1-03")

OK = Reply("fine", usage=Usage(300, 1))


class Counting(httpx2.BaseTransport):
    """Answers every request and counts them."""

    def __init__(self, *bodies: bytes) -> None:
        self.seen = 0
        self._bodies = bodies or (b"{}",)

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        self.seen += 1
        self._chunks = Chunks(self._bodies)
        return httpx2.Response(200, headers={"content-type": "application/json"}, stream=self._chunks)

    @property
    def closed(self) -> bool:
        return self._chunks.closed


class Chunks(httpx2.SyncByteStream):
    def __init__(self, chunks: tuple[bytes, ...]) -> None:
        self._chunks = chunks
        self.closed = False

    def __iter__(self) -> Iterator[bytes]:
        yield from self._chunks

    def close(self) -> None:
        self.closed = True


def chat(transport: httpx2.BaseTransport) -> OpenAIChat:
    return OpenAIChat("m-1", base_url="http://model.test/v1", transport=transport)


def asked() -> Request:
    return request_for(chat(Counting()), small_prompt())


def send(guard: Guarded, content: bytes, call: guarded.Call | None) -> httpx2.Response:
    request = httpx2.Request("POST", "http://model.test/v1", content=content)
    if call is None:
        return guard.handle_request(request)
    with under_way(call):
        return guard.handle_request(request)


def test_a_request_that_no_turn_asked_for_is_refused() -> None:
    inner = Counting()
    with pytest.raises(WireMismatch, match=r"^wire: a request that no turn asked for; nothing was sent$"):
        send(Guarded(inner), json.dumps(asked().payload).encode(), None)
    assert inner.seen == 0


def test_the_clients_cannot_be_used_past_the_provider() -> None:
    inner = Counting()
    provider = chat(inner)
    with pytest.raises(WireMismatch, match="no turn asked for"):
        provider._client.models.list()
    assert inner.seen == 0


def test_a_request_passes_once_and_never_again() -> None:
    inner, request = Counting(), asked()
    guard, call, body = Guarded(inner), begin("openai", request), json.dumps(request.payload).encode()
    assert send(guard, body, call).read() == b"{}"
    with pytest.raises(WireMismatch, match=r"^openai: the request was sent before; it is never sent twice$"):
        send(guard, body, call)
    assert inner.seen == 1


@pytest.mark.parametrize(
    "spoil",
    [
        lambda body: b"",
        lambda body: b"[]",
        lambda body: b'"text"',
        lambda body: body + b" {}",
        lambda body: body[:-1] + b',"model":"m-1"}',
        lambda body: b'{"messages":[],' + body[1:],
        lambda body: b"\xff" + body,
        lambda body: b"[" * 100_000,
    ],
)
def test_a_body_that_two_readers_could_read_in_two_ways_is_refused(spoil: Callable[[bytes], bytes]) -> None:
    inner, request = Counting(), asked()
    with pytest.raises(WireMismatch, match=r"^openai: the body is not a JSON object that can be checked") as told:
        send(Guarded(inner), spoil(json.dumps(request.payload).encode()), begin("openai", request))
    assert inner.seen == 0
    assert told.value.__context__ is None


def test_the_same_content_in_another_spelling_of_json_passes() -> None:
    inner, request = Counting(), asked()
    body = json.dumps(request.payload, indent=3, sort_keys=True, ensure_ascii=True).encode()
    assert send(Guarded(inner), body, begin("openai", request)).status_code == 200


@pytest.mark.parametrize("fault", ["too many", "broken", "overloaded"])
@pytest.mark.parametrize("dialect", ["openai", "openai-responses", "anthropic", "completion"])
def test_a_client_that_would_try_again_cannot(dialect: str, fault: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    rig = SocketRig(dialect)
    try:
        monkeypatch.setattr(rig.made._client, "max_retries", 2)
        monkeypatch.setattr(rig.made._client, "_sleep_for_retry", lambda **given: None)
        rig.answer(fault, fault, fault)
        with pytest.raises(WireMismatch, match="never sent twice"):
            rig.provider.converse(request_for(rig.provider, small_prompt()), lambda part: None)
        assert len(rig.stub.bodies) == 1
    finally:
        rig.close()


@pytest.mark.parametrize("dialect", MAKERS)
def test_a_redirect_is_not_followed(dialect: str) -> None:
    rig, other = SocketRig(dialect), SocketRig(dialect)
    try:
        for status in (301, 302, 307, 308):
            rig.stub.answers[:] = [(status, f"text/plain\r\nlocation: {other.stub.url}/v1", b"")]
            with pytest.raises(CharterError, match=rf"the request was refused \({status}\); check the base URL 127"):
                rig.provider.converse(request_for(rig.provider, small_prompt()), lambda part: None)
        assert (len(rig.stub.bodies), other.stub.bodies) == (4, [])
    finally:
        rig.close()
        other.close()


@pytest.mark.parametrize("dialect", MAKERS)
def test_an_answer_that_trickles_in_ends_at_the_deadline(dialect: str, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter(range(0, 100_000, 4))
    monkeypatch.setattr(guarded, "monotonic", lambda: float(next(clock)))
    rig = SocketRig(dialect)
    try:
        rig.answer("endless")
        parts: list[str] = []
        with pytest.raises(ProviderDown, match=rf"^{dialect}: no whole answer within 10 s; try again later$") as told:
            rig.provider.converse(request_for(rig.provider, small_prompt(), stream=True), parts.append)
        assert told.value.__context__ is None
        assert len(parts) < 5
        assert rig.left()
    finally:
        rig.close()


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("dialect", MAKERS)
def test_an_answer_without_end_is_given_up(dialect: str, stream: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guarded, "MAX_ANSWER_BYTES", 1_000)
    long = Reply("tide " * 400, usage=Usage(300, 400))
    body = b"".join(EVENTS[dialect](long)) if stream else json.dumps(WHOLE[dialect](long)).encode()
    made = MAKERS[dialect]("m-1", base_url="http://model.test", transport=Counting(body))
    with pytest.raises(ProviderNonsense, match=rf"^{dialect}: the answer is over 1,000 bytes"):
        made.converse(request_for(made, small_prompt(), stream=stream), lambda part: None)


@pytest.mark.parametrize(
    ("url", "environment", "proxied"),
    [
        ("https://api.openai.com/v1", {"HTTPS_PROXY": "http://proxy.test:3128"}, True),
        ("https://api.openai.com/v1", {"HTTP_PROXY": "http://proxy.test:3128"}, False),
        ("https://api.openai.com/v1", {"HTTPS_PROXY": "http://proxy.test:3128", "NO_PROXY": "openai.com"}, False),
        ("http://127.0.0.1:11434", {"HTTP_PROXY": "http://proxy.test:3128"}, False),
        ("http://localhost:8080/v1", {"HTTP_PROXY": "http://proxy.test:3128"}, False),
        ("http://model.lan:8080/v1", {"HTTP_PROXY": "http://proxy.test:3128"}, True),
        ("http://model.lan:8080/v1", {}, False),
    ],
)
def test_a_proxy_of_the_environment_stands_behind_the_guard_and_never_before_this_machine(
    url: str, environment: dict[str, str], proxied: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    made: list[Any] = []
    monkeypatch.setattr(httpx2, "HTTPTransport", lambda *, proxy: made.append(proxy))
    way_to(url)
    assert made == ["http://proxy.test:3128" if proxied else None]


def test_the_stream_of_a_reply_is_closed_when_it_was_read() -> None:
    transport = Counting(json.dumps(WHOLE["openai"](OK)).encode())
    made = chat(transport)
    assert made.converse(request_for(made, small_prompt()), lambda part: None).text == "fine"
    assert transport.closed


@pytest.mark.parametrize("dialect", MAKERS)
@pytest.mark.parametrize(
    "raised", [httpx2.ReadTimeout("x"), ValueError("x"), ProviderDown("me", "x"), RecursionError(), KeyboardInterrupt()]
)
def test_what_a_listener_raises_is_never_taken_for_the_providers_own(dialect: str, raised: BaseException) -> None:
    def hear(part: str) -> None:
        raise raised

    transport = Counting(*EVENTS[dialect](OK))
    made = MAKERS[dialect]("m-1", base_url="http://model.test", transport=transport)
    with pytest.raises(type(raised)) as told:
        made.converse(request_for(made, small_prompt(), stream=True), hear)
    assert told.value is raised
    assert transport.closed


def test_an_answer_that_comes_at_once_is_heard_at_once_by_whoever_listens() -> None:
    made = chat(Counting(json.dumps(WHOLE["openai"](OK)).encode()))
    parts: list[str] = []
    made.converse(replace(request_for(made, small_prompt()), stream=True), parts.append)
    assert parts == ["fine"]
