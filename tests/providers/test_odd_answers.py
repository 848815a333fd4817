"""Whatever a server sends, a provider gives a whole reply or a ProviderError that holds nothing of it."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from functools import cache
from typing import Any

import httpx2
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from charter.core.dialogue import Reply, ToolCall, Usage
from charter.core.errors import ProviderAuth, ProviderDown, ProviderError, ProviderNonsense, ProviderRate, WireMismatch
from charter.core.ports import Provider, Request
from charter.testing import CANARY, request_for, small_prompt

from .rigs import MAKERS
from .spoken import EVENTS, WHOLE, sse

GOOD = Reply("The tide is high.", (ToolCall("c1", "note", '{"text": "six"}'),), Usage(300, 9, 64), "tools")
PLAIN = Reply("The tide is high.", usage=Usage(300, 9, 64))
odd_values: st.SearchStrategy[Any] = st.sampled_from(
    [None, True, 0, -1, 1.5, 10**40, "", CANARY, "\ud800", [], [CANARY], [[]], {}, {"type": CANARY}, [None], [{}]]
)


class Server:
    """Answers with these bytes, whatever is asked."""

    def __init__(self, dialect: str) -> None:
        self.body, self.media, self.status = b"", "application/json", 200
        transport = httpx2.MockTransport(self._answer)
        self.provider: Provider = MAKERS[dialect]("m-1", base_url="http://model.test", transport=transport)
        self.requests = [request_for(self.provider, small_prompt(), stream=stream) for stream in (False, True)]

    def _answer(self, request: httpx2.Request) -> httpx2.Response:
        return httpx2.Response(self.status, headers={"content-type": self.media}, content=self.body)

    def say(self, body: bytes, *, stream: bool) -> Reply:
        self.body = body
        self.media = "text/event-stream" if stream and self.provider.name != "ollama" else "application/json"
        request: Request = self.requests[stream]
        return self.provider.converse(request, lambda part: None)


server = cache(Server)


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield path
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, one in inside:
        yield from places(one, (*path, key))


def changed(value: Any, path: tuple[Any, ...], new: Any, *, gone: bool) -> Any:
    """The value with another one, or none, at a place."""
    if not path:
        return new
    value = copy.deepcopy(value)
    at = value
    for key in path[:-1]:
        at = at[key]
    if gone:
        del at[path[-1]]
    else:
        at[path[-1]] = new
    return value


def check_whole_or_error(dialect: str, body: bytes, *, stream: bool) -> None:
    try:
        reply = server(dialect).say(body, stream=stream)
    except ProviderError as error:
        told = error
    else:
        assert isinstance(reply, Reply)
        assert all(isinstance(call.arguments, str) and call.name and call.id for call in reply.calls)
        assert isinstance(reply.text, str)
        assert reply.usage.input >= 0
        reply.text.encode()
        return
    assert not isinstance(told, WireMismatch)
    assert CANARY not in f"{told} {told!r} {told.args}"
    assert (told.__cause__, told.__context__) == (None, None)


@pytest.mark.parametrize("dialect", MAKERS)
@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_a_body_with_anything_anywhere_is_a_reply_or_an_error(dialect: str, data: st.DataObject) -> None:
    body = WHOLE[dialect](PLAIN if dialect == "completion" else GOOD)
    for _ in range(data.draw(st.integers(1, 2))):
        path = data.draw(st.sampled_from(list(places(body))))
        body = changed(body, path, data.draw(odd_values), gone=data.draw(st.booleans()))
    check_whole_or_error(dialect, json.dumps(body).encode(), stream=False)


@pytest.mark.parametrize("dialect", MAKERS)
@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_a_stream_with_anything_anywhere_is_a_reply_or_an_error(dialect: str, data: st.DataObject) -> None:
    events = EVENTS[dialect](PLAIN if dialect == "completion" else GOOD)
    number = data.draw(st.integers(0, len(events) - 1))
    start, _, rest = events[number].partition(b"{")
    if rest:
        event = json.loads(b"{" + rest)
        path = data.draw(st.sampled_from(list(places(event))))
        event = changed(event, path, data.draw(odd_values), gone=data.draw(st.booleans()))
        events[number] = start + json.dumps(event).encode() + b"\n\n"
    check_whole_or_error(dialect, b"".join(events), stream=True)


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("dialect", MAKERS)
@settings(max_examples=30, deadline=None)
@given(noise=st.binary(max_size=60) | st.text(max_size=30).map(lambda text: f"data: {text}\n\n".encode()))
def test_noise_is_never_a_reply(dialect: str, stream: bool, noise: bytes) -> None:
    with pytest.raises(ProviderNonsense) as told:
        server(dialect).say(noise, stream=stream)
    assert told.value.__context__ is None


@pytest.mark.parametrize("dialect", MAKERS)
@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_a_stream_that_stops_anywhere_before_its_end_is_no_reply(dialect: str, data: st.DataObject) -> None:
    whole = b"".join(EVENTS[dialect](PLAIN))
    last = {"openai": b'"stop"', "completion": b'"stop"', "anthropic": b'"end_turn"', "ollama": b'"done": true'}
    end = whole.index(last.get(dialect, b"response.completed"))
    at = data.draw(st.integers(0, end))
    with pytest.raises(ProviderNonsense):
        server(dialect).say(whole[:at], stream=True)


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("dialect", MAKERS)
def test_json_so_deep_that_nobody_can_read_it_is_nonsense(dialect: str, stream: bool) -> None:
    deep = b'{"choices":' + b"[" * 200_000
    body = deep if not stream or dialect == "ollama" else b"event: message_start\ndata: " + deep + b"\n\n"
    with pytest.raises(ProviderNonsense, match="cannot be read: RecursionError"):
        server(dialect).say(body, stream=stream)


def test_an_error_inside_a_stream_is_of_its_kind() -> None:
    begun = [b"".join(EVENTS[dialect](PLAIN)[:2]) for dialect in ("openai", "anthropic", "openai-responses")]
    overloaded = {"type": "error", "error": {"type": "overloaded_error", "message": CANARY}}
    failed = {"status": "failed", "error": {"code": "rate_limit_exceeded", "message": CANARY}, "output": []}
    for dialect, body, wanted in (
        ("openai", begun[0] + sse({"error": {"code": "invalid_api_key", "message": CANARY}})[0], ProviderAuth),
        ("anthropic", begun[1] + sse(overloaded, names=True)[0], ProviderDown),
        ("openai-responses", begun[2] + sse({"type": "response.failed", "response": failed})[0], ProviderRate),
        ("openai-responses", begun[2] + sse({"type": "error", "code": "server_error"})[0], ProviderDown),
        ("ollama", json.dumps({"error": f"about {CANARY}"}).encode(), ProviderNonsense),
    ):
        with pytest.raises(wanted) as told:
            server(dialect).say(body, stream=True)
        assert CANARY not in str(told.value)


# ── what servers really do, beside the specification ──────────────────────────────────────────────────────────────


def chat_says(message: dict[str, Any], **more: Any) -> Reply:
    choice = {"message": message, "finish_reason": more.pop("finish", "stop")}
    return server("openai").say(json.dumps({"choices": [choice], **more}).encode(), stream=False)


def test_a_refusal_is_a_refusal_whatever_the_stop_says() -> None:
    reply = chat_says({"content": None, "refusal": "I will not."})
    assert (reply.text, reply.stop) == ("I will not.", "refused")
    deltas = [{"choices": [{"delta": {"refusal": part}, "finish_reason": None}]} for part in ("I will", " not.")]
    end = {"choices": [{"delta": {}, "finish_reason": "stop"}]}
    reply = server("openai").say(b"".join(sse(*deltas, end)), stream=True)
    assert (reply.text, reply.stop) == ("I will not.", "refused")
    item = {"type": "message", "content": [{"type": "refusal", "refusal": "No."}]}
    body = json.dumps({"status": "completed", "output": [item]}).encode()
    reply = server("openai-responses").say(body, stream=False)
    assert (reply.text, reply.stop) == ("No.", "refused")


def test_text_in_blocks_arguments_as_an_object_and_calls_that_end_with_stop_are_understood() -> None:
    blocks = [{"type": "text", "text": "a"}, {"type": "reasoning", "text": "hidden"}, {"type": "text", "text": "b"}]
    call = {"id": "c", "function": {"name": "note", "arguments": {"text": "Zoë"}}}
    reply = chat_says({"content": blocks, "tool_calls": [call]})
    assert (reply.text, reply.stop) == ("ab", "tools")
    assert reply.calls == (ToolCall("c", "note", '{"text": "Zoë"}'),)


def test_cached_tokens_are_found_where_each_server_puts_them() -> None:
    usage = {"prompt_tokens": 300, "completion_tokens": 2}
    for more in (
        {"usage": {**usage, "prompt_tokens_details": {"cached_tokens": 256}}},
        {"usage": {**usage, "prompt_cache_hit_tokens": 256}},
        {"usage": usage, "timings": {"cache_n": 256, "prompt_n": 44}},
    ):
        assert chat_says({"content": "hi"}, **more).usage == Usage(300, 2, 256)
    assert chat_says({"content": "hi"}, usage=usage).usage == Usage(300, 2, None)
    assert chat_says({"content": "hi"}).usage == Usage()


def test_a_stream_of_responses_that_comes_only_at_its_end_is_heard_then() -> None:
    whole = {"type": "response.completed", "response": WHOLE["openai-responses"](GOOD)}
    late = server("openai-responses")
    parts: list[str] = []
    late.body, late.media = sse(whole)[0], "text/event-stream"
    reply = late.provider.converse(late.requests[True], parts.append)
    assert (parts, reply.text, reply.calls) == (["The tide is high."], "The tide is high.", GOOD.calls)


def test_thinking_is_not_part_of_what_is_said() -> None:
    thought = {"type": "thinking", "thinking": CANARY, "signature": "s"}
    body = WHOLE["anthropic"](PLAIN)
    body["content"].insert(0, thought)
    assert server("anthropic").say(json.dumps(body).encode(), stream=False).text == PLAIN.text
    events = EVENTS["anthropic"](PLAIN)
    start = {"type": "content_block_start", "index": 0, "content_block": {"type": "thinking", "thinking": ""}}
    delta = {"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": CANARY}}
    events[1:1] = sse(start, delta, names=True)
    assert server("anthropic").say(b"".join(events), stream=True).text == PLAIN.text
