"""The official Anthropic client, unmodified, chats, streams and calls its tools through the gateway (N-13)."""

from __future__ import annotations

from typing import Any

import anthropic
import pytest

from .doors import ANTHROPIC_TOOL, asks_weather, house_of, said, served

pytestmark = pytest.mark.requirement("N-13")
HELLO: Any = [{"role": "user", "content": "Hello"}]
ASK: Any = {"model": "assistant", "max_tokens": 100}


def test_a_chat_is_answered_in_the_vendors_form_with_what_it_cost() -> None:
    with served(house_of(said("Good morning."))) as door, door.anthropic() as client:
        answer = client.messages.create(messages=HELLO, **ASK)
    assert (answer.type, answer.role, answer.model, answer.stop_reason) == (
        "message", "assistant", "assistant", "end_turn",
    )  # fmt: skip
    assert [(block.type, block.text) for block in answer.content if block.type == "text"] == [("text", "Good morning.")]
    assert (answer.usage.input_tokens, answer.usage.cache_read_input_tokens, answer.usage.output_tokens) == (40, 60, 10)


def test_a_stream_is_the_whole_sequence_of_events_in_order() -> None:
    with served(house_of(said("Good morning, Ana."))) as door, door.anthropic() as client:
        events: list[Any] = list(client.messages.create(messages=HELLO, stream=True, **ASK))
    deltas = [event.delta.text for event in events if event.type == "content_block_delta"]
    assert [event.type for event in events] == [
        "message_start", "content_block_start", *["content_block_delta"] * len(deltas), "content_block_stop",
        "message_delta", "message_stop",
    ]  # fmt: skip
    assert "".join(deltas) == "Good morning, Ana."
    assert (events[-2].delta.stop_reason, events[-2].usage.output_tokens) == ("end_turn", 10)


def test_a_call_of_the_callers_tool_goes_back_to_it_streamed_and_its_answer_comes_in_again() -> None:
    house = house_of(said("Let me look.", asks_weather()), said("It rains in Porto."))
    with served(house) as door, door.anthropic() as client:
        with client.messages.stream(messages=HELLO, tools=[ANTHROPIC_TOOL], **ASK) as stream:
            first = stream.get_final_message()
        call: Any = first.content[1]
        assert (first.stop_reason, call.type, call.name, call.input) == (
            "tool_use", "tool_use", "weather", {"town": "Porto"},
        )  # fmt: skip
        answers: Any = [{"type": "tool_result", "tool_use_id": call.id, "content": [{"type": "text", "text": "rain"}]}]
        talk: Any = [*HELLO, {"role": "assistant", "content": first.content}, {"role": "user", "content": answers}]
        second = client.messages.create(messages=talk, tools=[ANTHROPIC_TOOL], **ASK)
        sent = door.bodies[1]["messages"][1:]
    assert [block.text for block in second.content if block.type == "text"] == ["It rains in Porto."]
    assert [(one["role"], one["content"]) for one in sent] == [
        ("user", "Hello"), ("assistant", "Let me look."), ("tool", "rain"),
    ]  # fmt: skip


def test_words_beside_a_tools_answer_are_the_message_that_is_answered() -> None:
    used = {"type": "tool_use", "id": "call_1", "name": "weather", "input": {"town": "Porto"}}
    answer = {"type": "tool_result", "tool_use_id": "call_1", "content": "no", "is_error": True}
    talk: Any = [
        *HELLO,
        {"role": "assistant", "content": [{"type": "thinking", "thinking": "hm", "signature": "s"}, used]},
        {"role": "user", "content": [answer, {"type": "text", "text": "Never mind."}]},
    ]
    with served(house_of(said("Fine."))) as door, door.anthropic() as client:
        client.messages.create(messages=talk, tools=[ANTHROPIC_TOOL], **ASK)
        sent = door.bodies[0]["messages"][1:]
    assert [(one["role"], one["content"]) for one in sent] == [
        ("user", "Hello"), ("assistant", ""), ("tool", "(the tool failed) no"), ("user", "Never mind."),
    ]  # fmt: skip


def test_a_reply_that_was_cut_says_so() -> None:
    with served(house_of(said("Once upon", stop="length"))) as door, door.anthropic() as client:
        assert client.messages.create(messages=HELLO, **ASK).stop_reason == "max_tokens"


def test_silence_has_no_content_and_ended_its_turn() -> None:
    with served(house_of(said(" "))) as door, door.anthropic() as client:
        answer = client.messages.create(messages=HELLO, **ASK)
    assert (answer.content, answer.stop_reason) == ([], "end_turn")


def test_the_agents_who_can_be_asked_are_the_models() -> None:
    with served(house_of(names=("assistant", "contract"))) as door, door.anthropic() as client:
        assert [model.id for model in client.models.list()] == ["assistant", "contract"]


@pytest.mark.parametrize("limit", [0, True])
def test_the_length_of_a_reply_has_to_be_said(limit: int) -> None:
    with served(house_of()) as door, door.anthropic() as client, pytest.raises(anthropic.BadRequestError) as caught:
        client.messages.create(messages=HELLO, model="assistant", max_tokens=limit)
    assert "max_tokens: is" in str(caught.value)
