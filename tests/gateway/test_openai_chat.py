"""The official OpenAI client, unmodified, chats, streams and calls its tools through the gateway (N-13)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from .doors import OPENAI_TOOL, asks_weather, house_of, said, served

pytestmark = pytest.mark.requirement("N-13")
HELLO: Any = [{"role": "user", "content": "Hello"}]


def test_a_chat_is_answered_in_the_vendors_form_with_what_it_cost() -> None:
    with served(house_of(said("Good morning."))) as door, door.openai() as client:
        answer = client.chat.completions.create(model="assistant", messages=HELLO)
    choice = answer.choices[0]
    assert (choice.message.role, choice.message.content, choice.finish_reason) == ("assistant", "Good morning.", "stop")
    assert (answer.object, answer.model, choice.message.refusal) == ("chat.completion", "assistant", None)
    assert answer.id.startswith("chatcmpl-")
    usage = answer.usage
    assert usage is not None
    assert usage.prompt_tokens_details is not None
    assert (usage.prompt_tokens, usage.completion_tokens, usage.total_tokens) == (100, 10, 110)
    assert usage.prompt_tokens_details.cached_tokens == 60


def test_a_stream_begins_with_the_role_and_ends_with_the_reason_and_the_cost_when_asked() -> None:
    with served(house_of(said("Good morning, Ana."))) as door, door.openai() as client:
        chunks = list(
            client.chat.completions.create(
                model="charter/assistant", messages=HELLO, stream=True, stream_options={"include_usage": True}
            )
        )
    assert chunks[0].choices[0].delta.role == "assistant"
    assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks[:-1]) == "Good morning, Ana."
    assert len(chunks) > 3
    assert [chunk.choices[0].finish_reason for chunk in chunks[:-1]] == [None] * (len(chunks) - 2) + ["stop"]
    assert chunks[-1].choices == []
    assert chunks[-1].usage is not None
    assert chunks[-1].usage.total_tokens == 110
    assert len({chunk.id for chunk in chunks}) == 1


def test_without_being_asked_no_chunk_tells_the_cost() -> None:
    with served(house_of(said("Hi."))) as door, door.openai() as client:
        chunks = list(client.chat.completions.create(model="assistant", messages=HELLO, stream=True))
    assert all(chunk.usage is None and chunk.choices for chunk in chunks)


def test_a_call_of_the_callers_tool_goes_back_to_it_and_its_answer_comes_in_again() -> None:
    house = house_of(said("", asks_weather()), said("It rains in Porto."))
    with served(house) as door, door.openai() as client:
        first = client.chat.completions.create(model="assistant", messages=HELLO, tools=[OPENAI_TOOL])
        message = first.choices[0].message
        assert message.tool_calls is not None
        call: Any = message.tool_calls[0]
        assert (first.choices[0].finish_reason, message.content) == ("tool_calls", None)
        assert (call.function.name, json.loads(call.function.arguments)) == ("weather", {"town": "Porto"})
        again: Any = [*HELLO, message, {"role": "tool", "tool_call_id": call.id, "content": "rain <b>all day</b>"}]
        second = client.chat.completions.create(model="assistant", messages=again, tools=[OPENAI_TOOL])
        sent = door.bodies[1]["messages"][1:]
    assert second.choices[0].message.content == "It rains in Porto."
    assert [one["role"] for one in sent] == ["user", "assistant", "tool"]
    assert sent[2]["content"] == "rain &lt;b>all day&lt;/b>"
    assert "weather" in [tool["function"]["name"] for tool in door.bodies[0]["tools"]]


def test_a_call_is_streamed_too_after_the_words_before_it() -> None:
    calls = (asks_weather(1), asks_weather(2))
    with served(house_of(said("Let me look.", *calls))) as door, door.openai() as client:
        chunks = list(
            client.chat.completions.create(model="assistant", messages=HELLO, tools=[OPENAI_TOOL], stream=True)
        )
    assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks) == "Let me look."
    found = [call for chunk in chunks for call in chunk.choices[0].delta.tool_calls or ()]
    assert [(call.index, call.id, call.function and call.function.name) for call in found] == [
        (0, "call_1", "weather"), (1, "call_2", "weather"),
    ]  # fmt: skip
    assert chunks[-1].choices[0].finish_reason == "tool_calls"


def test_the_callers_own_chat_is_sent_and_none_of_ours() -> None:
    talk: Any = [
        {"role": "user", "content": "My name is Bo."},
        {"role": "assistant", "content": "Noted, Bo."},
        {"role": "user", "content": [{"type": "text", "text": "Who "}, {"type": "text", "text": "am I?"}]},
    ]
    with served(house_of(said("Hello."), said("Bo."))) as door, door.openai() as client:
        client.chat.completions.create(model="assistant", messages=HELLO)
        client.chat.completions.create(model="assistant", messages=talk)
        sent = [(one["role"], one["content"]) for one in door.bodies[1]["messages"][1:]]
    assert sent == [("user", "My name is Bo."), ("assistant", "Noted, Bo."), ("user", "Who am I?")]


def test_sampling_values_reach_the_model_and_a_shorter_reply_is_asked_for_never_a_longer_one() -> None:
    with served(house_of(said("A."), said("B."))) as door, door.openai() as client:
        client.chat.completions.create(
            model="assistant", messages=HELLO, temperature=0.5, top_p=0.9, seed=7, stop=["END"], presence_penalty=1,
            frequency_penalty=-1, max_tokens=5, user="u", metadata={"a": "b"},
        )  # fmt: skip
        body = door.bodies[0]
    values = ("temperature", "top_p", "seed", "stop", "presence_penalty", "frequency_penalty")
    assert [body[name] for name in values] == [0.5, 0.9, 7, ["END"], 1, -1]
    assert "user" not in body


def test_a_reply_that_was_cut_says_so() -> None:
    with served(house_of(said("Once upon", stop="length"))) as door, door.openai() as client:
        answer = client.chat.completions.create(model="assistant", messages=HELLO, max_tokens=2)
    assert answer.choices[0].finish_reason == "length"


def test_silence_is_an_empty_answer_that_stopped() -> None:
    with served(house_of(said("  "), said("  "))) as door, door.openai() as client:
        answer = client.chat.completions.create(model="assistant", messages=HELLO)
        chunks = list(client.chat.completions.create(model="assistant", messages=HELLO, stream=True))
    assert (answer.choices[0].message.content, answer.choices[0].finish_reason) == ("", "stop")
    assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks) == ""
    assert chunks[-1].choices[0].finish_reason == "stop"


def test_the_agents_who_can_be_asked_are_the_models() -> None:
    house = house_of(names=("assistant", "contract"))
    with served(house) as door, door.openai() as client:
        assert [model.id for model in client.models.list()] == ["assistant", "contract"]
        assert client.models.retrieve("charter/contract").id == "contract"
