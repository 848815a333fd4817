"""What a request to the gateway meets before it is read is said in the vendor's form too, by the whole server."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from dataclasses import replace
from typing import Any

import anthropic
import httpx2
import openai
import pytest
from fastapi import FastAPI

from charter import logs
from charter.web import server
from charter.web.gateway import PATHS
from charter.web.outside import Limits
from charter.web.problems import body_of
from charter.web.server import Settings
from web.rooms import HOST, QUICK, Person, house, person, served

pytestmark = pytest.mark.requirement("N-13")
JSON = {"content-type": "application/json"}
LARGE = b'{"model": "' + b"x" * 3000 + b'"}'


def small_app(limits: Limits = QUICK) -> FastAPI:
    return served(house(), Settings(hosts=frozenset({HOST}), limits=replace(limits, body_bytes=2000)))


async def in_chunks() -> AsyncIterator[bytes]:
    for start in range(0, len(LARGE), 500):
        yield LARGE[start : start + 500]


def in_form(path: str, answer: httpx2.Response) -> bool:
    """Whether this is an error as the clients of this path read it."""
    body = answer.json()
    if path == "/v1/messages":
        return body.get("type") == "error" and set(body["error"]) == {"type", "message", "code"}
    return set(body) == {"error"} and set(body["error"]) == {"message", "type", "param", "code"}


REFUSALS: dict[str, tuple[Mapping[str, str], Any, int, str]] = {
    "no token": ({"authorization": ""}, b"{}", 401, "invalid_api_key"),
    "a foreign page": ({"origin": "https://evil.test"}, b"{}", 403, "ORIGIN_FOREIGN"),
    "a foreign name": ({"host": "evil.test"}, b"{}", 421, "HOST_UNKNOWN"),
    "a length that is none": ({"content-length": "1e3"}, b"{}", 400, "BAD_LENGTH"),
    "a length of other digits": ({"content-length": "²".encode("latin-1")}, b"{}", 400, "BAD_LENGTH"),  # type: ignore[dict-item]
    "a length beyond numbers": ({"content-length": "9" * 5000}, b"{}", 400, "BAD_LENGTH"),
    "too large": ({}, LARGE, 413, "BODY_TOO_LARGE"),
    "too large, in chunks": ({}, None, 413, "BODY_TOO_LARGE"),
    "no JSON": ({}, b"{", 400, "BAD_VALUE"),
}


@pytest.mark.parametrize("what", REFUSALS)
@pytest.mark.parametrize("path", PATHS)
def test_whatever_refuses_a_request_says_so_in_the_vendors_form(path: str, what: str) -> None:
    headers, body, status, code = REFUSALS[what]
    app = small_app()
    mira = person(app, "user", "mira")
    more: dict[str, Any] = {"headers": {**JSON, **headers}, **({"content": in_chunks()} if body is None else {})}
    answer = mira("POST", path, body, **more)
    assert (answer.status_code, answer.json()["error"]["code"]) == (status, code)
    assert in_form(path, answer)


@pytest.mark.parametrize("path", PATHS)
def test_who_asks_too_often_or_for_what_is_not_there_is_told_so_in_the_vendors_form(path: str) -> None:
    app = small_app(Limits(per_second=0.1, burst=2))
    mira = person(app, "user", "mira")
    wrong, _, late = (mira(method, path, None) for method in ("GET", "GET", "POST"))
    assert [(one.status_code, in_form(path, one)) for one in (wrong, late)] == [(405, True), (429, True)]
    assert in_form("/v1/embeddings", person(app, "user", "otto")("POST", "/v1/embeddings", {}))


def test_the_clients_read_what_is_said_before_the_gateway() -> None:
    app = small_app()
    secret = person(app, "user", "mira").secret
    hello: Any = [{"role": "user", "content": "x" * 3000}]

    async def ask() -> tuple[openai.APIStatusError, anthropic.APIStatusError]:
        transport = httpx2.ASGITransport(app=app)
        async with httpx2.AsyncClient(transport=transport, trust_env=False) as client:
            one = openai.AsyncOpenAI(api_key=secret, base_url=f"http://{HOST}/v1", http_client=client, max_retries=0)
            with pytest.raises(openai.APIStatusError) as first:
                await one.chat.completions.create(model="assistant", messages=hello)
            other = anthropic.AsyncAnthropic(
                api_key=secret, base_url=f"http://{HOST}", http_client=client, max_retries=0
            )
            with pytest.raises(anthropic.RequestTooLargeError) as second:
                await other.messages.create(model="assistant", messages=hello, max_tokens=5)
        return first.value, second.value

    first, second = asyncio.run(ask())
    assert (first.status_code, first.code) == (413, "BODY_TOO_LARGE")
    assert str(second.type) == "request_too_large"


def test_without_the_form_of_the_path_an_anthropic_client_would_be_told_something_it_does_not_know(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(server, "form_of", lambda _: body_of)
    app = small_app()
    assert not in_form("/v1/messages", Person(app)("POST", "/v1/messages", LARGE, headers=JSON))


@pytest.mark.parametrize("path", [*PATHS, "/api/agents/assistant/chat"])
def test_a_client_that_goes_away_in_the_middle_of_its_request_is_no_failure_of_ours(
    path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    failures: list[BaseException] = []
    monkeypatch.setattr(logs, "failed", failures.append)
    app = small_app()
    said: list[Any] = []
    events: list[dict[str, Any]] = [
        {"type": "http.request", "body": b'{"te', "more_body": True}, {"type": "http.disconnect"},
    ]  # fmt: skip
    headers = {"host": HOST, "authorization": f"Bearer {person(app, 'user', 'mira').secret}", **JSON}
    scope = {
        "type": "http", "http_version": "1.1", "method": "POST", "scheme": "http", "path": path, "query_string": b"",
        "headers": [(name.encode(), value.encode()) for name, value in headers.items()], "client": ("127.0.0.1", 1),
    }  # fmt: skip

    async def receive() -> dict[str, Any]:
        return events.pop(0) if events else {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        said.append(message)

    asyncio.run(app(scope, receive, send))
    assert failures == []
    assert said[0]["status"] == 499
    assert json.loads(said[1]["body"])["error"]["code"] == "CLIENT_GONE"
