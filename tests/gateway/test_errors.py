"""Every way a request can fail, as the official clients understand it; no error carries a word that was said."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from typing import Any

import anthropic
import httpx2
import openai
import pytest

from charter.core.errors import ProviderAuth, ProviderDown, ProviderOverflow, ProviderRate
from charter.core.policy import Actor
from charter.core.records import Author
from charter.testing import CutOff

from .doors import OPENAI_TOOL, Served, house_of, said, served

pytestmark = pytest.mark.requirement("N-13")
CANARY = "zebra-quartz-77"
HELLO: Any = [{"role": "user", "content": CANARY}]
BY = Author(Actor.OPERATOR, "root")


def ask(client: openai.OpenAI, **more: Any) -> Any:
    return client.chat.completions.create(**{"model": "assistant", "messages": HELLO, **more})


def ask_anthropic(client: anthropic.Anthropic, **more: Any) -> Any:
    return client.messages.create(**{"model": "assistant", "messages": HELLO, "max_tokens": 9, **more})


def test_a_key_that_nobody_has_is_an_authentication_error_for_both() -> None:
    with served(house_of()) as door:
        client = openai.OpenAI(api_key="chk_no", base_url=f"{door.base}/v1", max_retries=0)
        with client, pytest.raises(openai.AuthenticationError) as caught:
            ask(client)
        other = anthropic.Anthropic(api_key="chk_no", base_url=door.base, max_retries=0)
        with other, pytest.raises(anthropic.AuthenticationError):
            ask_anthropic(other)
    assert (caught.value.code, caught.value.type) == ("invalid_api_key", "authentication_error")


@pytest.mark.parametrize("role", ["sender", "approver"])
def test_who_only_sends_or_approves_has_no_say_here(role: str) -> None:
    with served(house_of()) as door, door.openai(role) as client, door.anthropic(role) as other:
        with pytest.raises(openai.PermissionDeniedError):
            ask(client)
        with pytest.raises(anthropic.PermissionDeniedError):
            ask_anthropic(other)
        with pytest.raises(openai.PermissionDeniedError):
            client.models.list()


def test_an_agent_that_is_not_there_is_a_model_that_is_not_found() -> None:
    with served(house_of()) as door, door.openai() as client, door.anthropic() as other:
        with pytest.raises(openai.NotFoundError) as caught:
            ask(client, model="gpt-5")
        with pytest.raises(anthropic.NotFoundError):
            ask_anthropic(other, model="claude-x")
        with pytest.raises(openai.NotFoundError):
            client.models.retrieve("gpt-5")
    assert (caught.value.code, caught.value.param) == ("model_not_found", "model")


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"n": 2}, "n"),
    ({"logprobs": True}, "logprobs"),
    ({"audio": {"voice": "x", "format": "mp3"}}, "audio"),
    ({"response_format": {"type": "json_object"}}, "response_format"),
    ({"temperature": 3}, "temperature"),
    ({"max_tokens": -1}, "max_tokens"),
    ({"messages": []}, "messages"),
    ({"messages": [{"role": "assistant", "content": CANARY}]}, "messages"),
    ({"messages": [{"role": "wizard", "content": CANARY}]}, "messages[0]"),
    ({"messages": [{"role": "user", "content": f"a\0{CANARY}"}]}, "messages[0]"),
    ({"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": CANARY}}]}]},
     "messages[0].content[0]"),
    ({"messages": [*HELLO, {"role": "tool", "tool_call_id": "c", "content": CANARY}]}, "messages[1]"),
    ({"tools": [{"type": "web_search"}]}, "tools[0].type"),
    ({"tools": [{"type": "function", "function": {"name": "no name"}}]}, "tools[0].name"),
    ({"tools": [{"type": "function", "function": {"name": "save_memory"}}]}, "tools"),
    ({"tools": [OPENAI_TOOL, OPENAI_TOOL]}, "tools"),
    ({"tools": [OPENAI_TOOL], "tool_choice": {"type": "function", "function": {"name": "x"}}}, "tool_choice"),
]  # fmt: skip


@pytest.mark.parametrize(("more", "param"), WRONG)
def test_what_is_wrong_is_named_by_its_parameter_and_nothing_is_asked(more: dict[str, Any], param: str) -> None:
    with served(house_of()) as door, door.openai() as client:
        with pytest.raises(openai.BadRequestError) as caught:
            ask(client, extra_body=more)
        assert door.bodies == []
    assert (caught.value.param, caught.value.code, caught.value.type) == (param, "BAD_VALUE", "invalid_request_error")
    assert CANARY not in str(caught.value)


@pytest.mark.parametrize("data", [b"", b"[]", b"{", b'{"model": "\xff"}', b"[" * 5000, b'{"model": "\\ud800"}'])
def test_bytes_that_are_no_request_are_refused(data: bytes) -> None:
    with served(house_of()) as door:
        headers = {"authorization": f"Bearer {door.key('user', 'ana')}"}
        for path in ("chat/completions", "responses", "messages"):
            answer = httpx2.post(f"{door.base}/v1/{path}", content=data, headers=headers)
            assert answer.status_code == 400


def paused(door: Served) -> None:
    door.house.store.pause("assistant", by=BY, at_ns=1)


def spent(door: Served) -> None:
    door.house.store.limit("assistant", by=BY, at_ns=1, tokens_per_day=0, turns_per_day=None)


@pytest.mark.parametrize(("make", "status", "code"), [(paused, 503, "AGENT_PAUSED"), (spent, 429, "AGENT_OVER_SPEND")])
def test_an_agent_that_may_not_speak_says_so_and_that_asking_again_is_of_no_use(
    make: Callable[[Served], None], status: int, code: str
) -> None:
    with served(house_of()) as door, door.openai() as client:
        make(door)
        with pytest.raises(openai.APIStatusError) as caught:
            ask(client)
    assert (caught.value.status_code, caught.value.code) == (status, code)
    assert caught.value.response.headers["x-should-retry"] == "false"


@pytest.mark.parametrize(
    ("error", "status", "code", "kind"),
    [
        (ProviderDown("p", "out of reach"), 503, "PROVIDER_DOWN", anthropic.InternalServerError),
        (ProviderRate("p", "too many", retry_after=7), 429, "PROVIDER_RATE", anthropic.RateLimitError),
        (ProviderAuth("p", "no key"), 502, "PROVIDER_AUTH", anthropic.InternalServerError),
        (ProviderOverflow("p", "too long"), 400, "context_length_exceeded", anthropic.BadRequestError),
        (ValueError(CANARY), 500, "INTERNAL_ERROR", anthropic.InternalServerError),
    ],
)
def test_a_model_that_fails_is_an_error_each_client_knows(
    error: Exception, status: int, code: str, kind: type[anthropic.APIStatusError]
) -> None:
    with served(house_of(error, error)) as door, door.openai() as client, door.anthropic() as other:
        with pytest.raises(openai.APIStatusError) as caught:
            ask(client)
        with pytest.raises(kind):
            ask_anthropic(other)
    assert (caught.value.status_code, caught.value.code) == (status, code)
    assert caught.value.response.headers.get("retry-after") == ("7" if status == 429 else None)
    assert CANARY not in str(caught.value)


def test_a_model_that_fails_in_the_middle_is_an_error_in_the_stream() -> None:
    cut = CutOff(("Once upon ", "a time there was a long road. " * 20), ProviderDown("p", "gone"))
    with served(house_of(cut, cut, cut)) as door, door.openai() as client, door.anthropic() as other:
        with pytest.raises(openai.APIError) as caught:
            list(ask(client, stream=True))
        with pytest.raises(anthropic.APIStatusError):
            list(ask_anthropic(other, stream=True))
        events: list[Any] = list(client.responses.create(model="assistant", input="Hello", stream=True))
    assert caught.value.code == "PROVIDER_DOWN"
    assert (events[-1].type, events[-1].response.status) == ("response.failed", "failed")


def test_one_at_a_time_per_sender_the_next_waits_and_is_told_when_it_takes_too_long() -> None:
    begun, free = threading.Event(), threading.Event()

    def slow(_: Any) -> Any:
        begun.set()
        free.wait(20)
        return said("Done.")

    house = house_of(slow, said("Other."))
    with served(house, patience_s=0.05) as door, door.openai() as client, door.openai(session="two") as other:
        first = threading.Thread(target=lambda: ask(client))
        first.start()
        begun.wait(20)
        with pytest.raises(openai.RateLimitError) as caught:
            ask(client)
        assert ask(other).choices[0].message.content == "Other."
        free.set()
        first.join()
    assert caught.value.code == "BUSY"


def test_an_error_has_the_vendors_very_shape() -> None:
    with served(house_of()) as door:
        body = json.dumps({"model": "assistant"})
        headers = {"authorization": f"Bearer {door.key('user', 'ana')}"}
        one = httpx2.post(f"{door.base}/v1/chat/completions", content=body, headers=headers).json()
        two = httpx2.post(f"{door.base}/v1/messages", content=body, headers=headers).json()
    message = "messages: there is no message of the user's with a text to answer"
    assert one == {
        "error": {"message": message, "type": "invalid_request_error", "param": "messages", "code": "BAD_VALUE"}
    }
    said_of = {"type": "invalid_request_error", "message": "max_tokens: is needed, and is a whole number"}
    assert two == {"type": "error", "error": {**said_of, "code": "BAD_VALUE"}}
