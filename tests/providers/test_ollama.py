"""Ollama cuts a long prompt without a word: a prompt that was not read whole is an error, never an answer."""

from __future__ import annotations

import json
from typing import Any

import pytest

from charter.core.dialogue import Reply, Usage
from charter.core.errors import BadValue, ProviderOverflow
from charter.providers.ollama import Ollama, estimate
from charter.testing import request_for, small_prompt

from .rigs import SocketRig

LONG = "tide " * 4_000  # about 5,000 tokens by our count


def converse(read: int, *, window: int = 8_192, message: str = LONG, stream: bool = False) -> tuple[Reply, int]:
    rig = SocketRig("ollama", window=window)
    try:
        rig.answer(Reply("fine", usage=Usage(read, 1)))
        return rig.provider.converse(request_for(rig.provider, small_prompt(message), stream=stream), print), len(
            rig.stub.bodies
        )
    finally:
        rig.close()


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("read", [5_000, 4_000, 2_600, 8_191])
def test_a_prompt_that_was_read_is_answered_though_our_count_is_only_an_estimate(read: int, stream: bool) -> None:
    assert converse(read, stream=stream)[0].text == "fine"


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("read", [2_048, 1, 0])
def test_a_prompt_of_which_far_less_was_read_is_an_overflow(read: int, stream: bool) -> None:
    with pytest.raises(ProviderOverflow, match=rf"^ollama: it read {read:,} tokens of a prompt of about 5,\d\d\d; "):
        converse(read, stream=stream)


def test_a_prompt_that_fills_the_window_to_its_last_token_was_cut() -> None:
    with pytest.raises(ProviderOverflow, match="it read 8,192 tokens"):
        converse(8_192)


def test_a_prompt_that_cannot_fit_is_not_sent_at_all() -> None:
    rig = SocketRig("ollama", window=4_096)
    try:
        with pytest.raises(
            ProviderOverflow, match=r"^ollama: the prompt is about 5,\d\d\d tokens, the window holds 4,096"
        ):
            rig.provider.converse(request_for(rig.provider, small_prompt(LONG)), lambda part: None)
        assert rig.stub.bodies == []
    finally:
        rig.close()


def test_the_window_is_asked_for_and_the_server_told_not_to_cut() -> None:
    rig = SocketRig("ollama", window=16_384, options={"temperature": 0})
    try:
        rig.answer(Reply("fine", usage=Usage(300, 1)))
        rig.provider.converse(request_for(rig.provider, small_prompt(), max_tokens=77), lambda part: None)
        sent = json.loads(rig.stub.bodies[0])
        assert sent["options"] == {"num_ctx": 16_384, "num_predict": 77, "temperature": 0}
        assert (sent["truncate"], sent["shift"], sent["stream"]) == (False, False, False)
        assert rig.stub.headers[0]["authorization"] == "Bearer sk-test"
    finally:
        rig.close()


def test_without_a_window_of_its_own_a_model_gets_the_one_of_the_facts_and_without_a_key_none_is_sent() -> None:
    made = Ollama("qwen3:8b")
    assert (made.window, made.options(stream=True, max_tokens=5)["options"]["num_ctx"]) == (8_192, 8_192)
    with pytest.raises(BadValue, match="name a model"):
        Ollama()
    made.close()
    rig = SocketRig("ollama", api_key="")
    try:
        rig.answer(Reply("fine", usage=Usage(300, 1)))
        rig.provider.converse(request_for(rig.provider, small_prompt()), lambda part: None)
        assert "authorization" not in rig.stub.headers[0]
    finally:
        rig.close()


@pytest.mark.parametrize(
    ("messages", "tokens"),
    [
        ([], 0),
        ([{"content": "abcd"}], 1),
        ([{"content": "潮潮潮潮"}, {"content": "abcd"}, {"content": None}, {"role": "tool"}], 4),
        ([{"content": "\ud800\ud800\ud800\ud800"}], 3),
    ],
)
def test_our_count_is_a_quarter_of_the_bytes(messages: list[dict[str, Any]], tokens: int) -> None:
    assert estimate({"messages": messages}) == tokens
