"""A request is read or refused by the name of what is wrong, whatever stands in whatever place of it."""

from __future__ import annotations

import copy
import time
from collections.abc import Iterator
from typing import Any

import pytest

from charter.core.errors import BadValue
from charter.web.gateway import chat, messages, responses
from charter.web.gateway.asked import Api, Asked

from .doors import ANTHROPIC_TOOL, OPENAI_TOOL, RESPONSES_TOOL

pytestmark = pytest.mark.requirement("N-13")
ODD: list[Any] = [
    None, True, 0, -1, 1.5, 1e308, 2**70, "", "x", "\0", [], [[]], [1], [None], ["x"], [{}], {}, {"type": []},
    {"type": {}}, {"type": "text"}, {"a": {"b": [1]}},
]  # fmt: skip
CALL: Any = {"id": "a", "type": "function", "function": {"name": "weather", "arguments": '{"town": "Porto"}'}}
WHOLE: dict[str, tuple[Api, dict[str, Any]]] = {
    "chat": (chat.API, {
        "model": "assistant", "stream": True, "stream_options": {"include_usage": True}, "temperature": 1, "seed": 1,
        "stop": ["a"], "max_tokens": 5, "parallel_tool_calls": False, "tools": [OPENAI_TOOL],
        "tool_choice": {"type": "function", "function": {"name": "weather"}},
        "messages": [
            {"role": "system", "content": "s"}, {"role": "user", "content": [{"type": "text", "text": "hi"}]},
            {"role": "assistant", "content": None, "refusal": "no", "tool_calls": [CALL]},
            {"role": "tool", "tool_call_id": "a", "content": [{"type": "text", "text": "r"}]},
            {"role": "user", "content": "go"},
        ],
    }),
    "responses": (responses.API, {
        "model": "assistant", "stream": True, "instructions": "i", "max_output_tokens": 5, "metadata": {"a": "b"},
        "text": {"format": {"type": "text"}}, "tools": [RESPONSES_TOOL],
        "tool_choice": {"type": "function", "name": "weather"},
        "input": [
            {"role": "user", "content": [{"type": "input_text", "text": "hi"}]}, {"type": "reasoning"},
            {"type": "function_call", "call_id": "a", "name": "weather", "arguments": "{}"},
            {"type": "function_call_output", "call_id": "a", "output": "r"}, {"role": "user", "content": "go"},
        ],
    }),
    "messages": (messages.API, {
        "model": "assistant", "stream": True, "max_tokens": 5, "system": [{"type": "text", "text": "s"}],
        "stop_sequences": ["a"], "top_k": 1, "tools": [ANTHROPIC_TOOL],
        "tool_choice": {"type": "tool", "name": "weather", "disable_parallel_tool_use": True},
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": "hi"}]},
            {"role": "assistant", "content": [
                {"type": "thinking", "thinking": "x"}, {"type": "text", "text": "t"},
                {"type": "tool_use", "id": "a", "name": "weather", "input": {"town": "Porto"}}]},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "a", "is_error": True,
                 "content": [{"type": "text", "text": "r"}]},
                {"type": "text", "text": "go"}]},
        ],
    }),
}  # fmt: skip


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, part in inside:
        yield (*path, name)
        yield from places(part, (*path, name))


def changed(body: Any, path: tuple[Any, ...], odd: Any) -> Any:
    found = copy.deepcopy(body)
    at = found
    for name in path[:-1]:
        at = at[name]
    at[path[-1]] = odd
    return found


@pytest.mark.parametrize("name", WHOLE)
def test_an_odd_value_in_any_place_is_read_or_refused(name: str) -> None:
    api, body = WHOLE[name]
    assert isinstance(api.read(body), Asked)
    refused = 0
    for path in places(body):
        for odd in ODD:
            try:
                api.read(changed(body, path, odd))
            except BadValue:
                refused += 1
    assert refused > 300


def many_calls(count: int) -> dict[str, dict[str, Any]]:
    """A chat of one turn with so many calls, each with its answer, in each form."""
    ids = [str(number) for number in range(count)]
    user = {"role": "user", "content": "hi"}
    return {
        "chat": {"model": "assistant", "messages": [
            user, {"role": "assistant", "tool_calls": [{**CALL, "id": one} for one in ids]},
            *({"role": "tool", "tool_call_id": one, "content": "r"} for one in ids)]},
        "responses": {"model": "assistant", "input": [
            user, *({"type": "function_call", "call_id": one, "name": "weather", "arguments": "{}"} for one in ids),
            *({"type": "function_call_output", "call_id": one, "output": "r"} for one in ids)]},
        "messages": {"model": "assistant", "max_tokens": 5, "messages": [
            user, {"role": "assistant", "content": [
                {"type": "tool_use", "id": one, "name": "weather", "input": {}} for one in ids]},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": one, "content": "r"} for one in ids]}]},
    }  # fmt: skip


@pytest.mark.parametrize("name", WHOLE)
def test_a_body_of_many_calls_does_not_hold_up_everybody_else(name: str) -> None:
    """As many as fit into a body; looking for each among all of them took ten seconds of the whole process."""
    body = many_calls(8000)[name]
    began = time.process_time()
    asked = WHOLE[name][0].read(body)
    assert time.process_time() - began < 2
    assert len(asked.carried.after) == 8001


@pytest.mark.parametrize("name", WHOLE)
def test_an_answer_is_taken_once_and_after_its_call(name: str) -> None:
    body = many_calls(1)[name]
    talk = body["messages" if "messages" in body else "input"]
    again = talk[-1] if name != "messages" else {"role": "user", "content": [*talk[-1]["content"]]}
    for wrong in ([*talk, again], [*talk[:-1], {"role": "user", "content": "and"}, talk[-1]]):
        with pytest.raises(BadValue, match="answers no call"):
            WHOLE[name][0].read({**body, ("messages" if "messages" in body else "input"): wrong})
