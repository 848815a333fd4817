"""The official OpenAI client's Responses, unmodified, through the gateway (N-13)."""

from __future__ import annotations

import json
from typing import Any

import openai
import pytest

from .doors import RESPONSES_TOOL, asks_weather, house_of, said, served

pytestmark = pytest.mark.requirement("N-13")


def test_an_answer_has_the_vendors_form_and_its_cost() -> None:
    with served(house_of(said("Good morning."))) as door, door.openai() as client:
        answer = client.responses.create(model="assistant", input="Hello", instructions="Be brief.", temperature=0.2)
    assert (answer.status, answer.output_text, answer.model) == ("completed", "Good morning.", "assistant")
    assert answer.usage is not None
    assert (answer.usage.input_tokens, answer.usage.output_tokens) == (100, 10)
    assert answer.usage.input_tokens_details.cached_tokens == 60
    assert (answer.instructions, answer.temperature, answer.error) == ("Be brief.", 0.2, None)


def test_a_stream_is_the_whole_sequence_of_events_in_order() -> None:
    with served(house_of(said("Good morning, Ana."))) as door, door.openai() as client:
        events: list[Any] = list(client.responses.create(model="assistant", input="Hello", stream=True))
    kinds = [event.type for event in events]
    deltas = [event.delta for event in events if event.type == "response.output_text.delta"]
    assert kinds == [
        "response.created", "response.in_progress", "response.output_item.added", "response.content_part.added",
        *["response.output_text.delta"] * len(deltas), "response.output_text.done", "response.content_part.done",
        "response.output_item.done", "response.completed",
    ]  # fmt: skip
    assert "".join(deltas) == events[-1].response.output_text == "Good morning, Ana."
    assert [event.sequence_number for event in events] == list(range(len(events)))
    assert events[-1].response.usage.total_tokens == 110


def test_the_clients_own_reader_of_streams_comes_to_the_same() -> None:
    with (
        served(house_of(said("It is late.", asks_weather()))) as door,
        door.openai() as client,
        client.responses.stream(model="assistant", input="Hello", tools=[RESPONSES_TOOL]) as stream,
    ):
        list(stream)
        answer = stream.get_final_response()
    assert answer.output_text == "It is late."
    assert [item.type for item in answer.output] == ["message", "function_call"]


def test_a_call_of_the_callers_tool_goes_back_to_it_and_its_answer_comes_in_again() -> None:
    house = house_of(said("", asks_weather()), said("It rains in Porto."))
    with served(house) as door, door.openai() as client:
        first = client.responses.create(model="assistant", input="Hello", tools=[RESPONSES_TOOL])
        call: Any = first.output[0]
        assert (call.type, call.name, json.loads(call.arguments)) == ("function_call", "weather", {"town": "Porto"})
        talk: Any = [
            {"role": "user", "content": "Hello"}, call,
            {"type": "function_call_output", "call_id": call.call_id, "output": "rain"},
        ]  # fmt: skip
        second = client.responses.create(model="assistant", input=talk, tools=[RESPONSES_TOOL])
        roles = [one["role"] for one in door.bodies[1]["messages"][1:]]
    assert second.output_text == "It rains in Porto."
    assert roles == ["user", "assistant", "tool"]


def test_a_reply_that_was_cut_is_incomplete() -> None:
    with served(house_of(said("Once upon", stop="length"))) as door, door.openai() as client:
        answer = client.responses.create(model="assistant", input="Hello", max_output_tokens=2)
    assert answer.status == "incomplete"
    assert answer.incomplete_details is not None
    assert answer.incomplete_details.reason == "max_output_tokens"


@pytest.mark.parametrize("name", ["previous_response_id", "conversation", "prompt"])
def test_what_the_vendor_would_have_to_remember_is_refused(name: str) -> None:
    with served(house_of()) as door, door.openai() as client, pytest.raises(openai.BadRequestError) as caught:
        client.responses.create(model="assistant", input="Hello", extra_body={name: "resp_1"})
    assert (caught.value.param, caught.value.code) == (name, "BAD_VALUE")
