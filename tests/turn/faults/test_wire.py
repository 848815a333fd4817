"""The same over a socket: the official client, a server that fails, and a turn that leaves nothing half done."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from charter.core.dialogue import Reply, ToolCall, Usage
from charter.core.errors import (
    Cancelled,
    ProviderAuth,
    ProviderDown,
    ProviderError,
    ProviderNonsense,
    ProviderOverflow,
    ProviderRate,
    ProviderRefused,
    WireMismatch,
)
from charter.providers.openai_chat import OpenAIChat
from charter.testing import WAIT_SECONDS, Fault
from charter.turn import take_turn
from providers.rigs import SocketRig

from ..places import Looking, said
from .rooms import CANARY, agent_in, asked, bodies, busy_step, codes, failed_alone, left, limited, opened

pytestmark = pytest.mark.requirement("S0-13", "S0-15")

FAULTS: list[tuple[Fault, type[ProviderError]]] = [
    ("wrong key", ProviderAuth),
    ("too many", ProviderRate),
    ("no credit", ProviderRate),
    ("too long", ProviderOverflow),
    ("bad request", ProviderRefused),
    ("broken", ProviderDown),
    ("gone", ProviderDown),
    ("cut", ProviderDown),
    ("unfinished", ProviderNonsense),
    ("page", ProviderNonsense),
    ("no json", ProviderNonsense),
    ("odd", ProviderNonsense),
    ("nothing", ProviderNonsense),
    ("error in 200", ProviderNonsense),
]


@contextmanager
def rig() -> Iterator[SocketRig]:
    made = SocketRig("openai", window=32_000)
    try:
        yield made
    finally:
        made.close()


def last_words(server: SocketRig) -> str:
    words: str = server.asked()[-1]["messages"][-1]["content"]
    return words


@pytest.mark.parametrize(("channel", "kind"), [("terminal", "sqlite"), ("inbox", "postgres")])  # the first streams
@pytest.mark.parametrize(("fault", "error"), FAULTS)
def test_a_server_that_fails_leaves_one_failed_record_and_the_message(
    fault: Fault, error: type[ProviderError], channel: str, kind: str, tmp_path: Path
) -> None:
    if fault in ("cut", "unfinished") and channel == "inbox":
        error = ProviderError  # a stream that nobody asked for is no answer at all
    with rig() as server, opened(kind, tmp_path) as store:
        agent = agent_in(store, provider=server.provider)
        before = left(store, agent.name)
        server.answer(busy_step(""), fault)
        with pytest.raises(error) as caught:
            take_turn(agent, asked(1, channel=channel))
        assert "canary-7f3a" not in repr(caught.value)
        failed_alone(agent, before, caught.value.code, waiting=[f"{CANARY} asks 1"])
        server.answer(said("Here I am."))
        assert take_turn(agent, asked(2, channel=channel)).reply == "Here I am."
        assert last_words(server) == f"{CANARY} asks 1\n\n{CANARY} asks 2"
        assert bodies(agent) == []


def test_a_server_that_asks_for_time_says_how_long(tmp_path: Path) -> None:
    with rig() as server, opened("memory", tmp_path) as store:
        server.answer("too many")
        with pytest.raises(ProviderRate) as caught:
            take_turn(agent_in(store, provider=server.provider), asked(1))
        assert caught.value.retry_after == WAIT_SECONDS


def test_a_server_that_is_not_there_is_asked_once(tmp_path: Path) -> None:
    with rig() as server, opened("memory", tmp_path) as store:
        server.stub.close()
        agent = agent_in(store, provider=server.provider)
        with pytest.raises(ProviderDown, match=r"cannot be reached at 127\.0\.0\.1"):
            take_turn(agent, asked(1))
        assert codes(agent) == [("failed", "PROVIDER_DOWN")]
        assert bodies(agent) == [f"{CANARY} asks 1"]


def test_a_server_that_says_nothing_is_left_when_the_turns_time_is_over(tmp_path: Path) -> None:
    with rig() as server, opened("memory", tmp_path) as store:
        agent = limited(agent_in(store, provider=server.provider, clock=time.time_ns), max_seconds=1)
        server.answer("slow")
        begun = time.monotonic()
        with pytest.raises(ProviderDown, match=r"no answer within \S+ s"):
            take_turn(agent, asked(1))
        assert time.monotonic() - begun < 10
        assert codes(agent) == [("failed", "PROVIDER_DOWN")]


class Enough(Looking):
    def stopped(self) -> bool:
        return len(self.parts) > 2


def test_a_server_that_never_stops_is_hung_up_on_when_the_person_has_heard_enough(tmp_path: Path) -> None:
    with rig() as server, opened("memory", tmp_path) as store:
        agent = agent_in(store, provider=server.provider)
        server.answer("endless")
        with pytest.raises(Cancelled):
            take_turn(agent, asked(1), Enough())
        assert server.left()
        assert codes(agent) == [("failed", "TURN_CANCELLED")]


@pytest.mark.parametrize("arguments", ["{not json", "[1, 2]", '{"a": ' + "[" * 60_000])
def test_a_call_that_cannot_be_read_is_sent_back_as_an_error_the_server_takes(arguments: str, tmp_path: Path) -> None:
    with rig() as server, opened("memory", tmp_path) as store:
        agent = agent_in(store, provider=server.provider)
        server.answer(Reply("", (ToolCall("c1", "save_memory", arguments),), Usage(9, 9), "tools"), said("I see."))
        assert take_turn(agent, asked(1)).reply == "I see."
        asking, told = server.asked()[1]["messages"][-2:]
        assert asking["tool_calls"][0]["function"]["arguments"] == "{}"
        assert '"error": "TOOL_BAD_ARGUMENTS"' in told["content"]


class Swapping(OpenAIChat):
    """An adapter that changes the order of what it was given."""

    def converse(self, request: Any, hear: Any) -> Reply:
        first, *rest = request.payload["messages"]
        half = len(first["content"]) // 2
        swapped = {**first, "content": first["content"][half:] + first["content"][:half]}
        return super().converse(replace(request, payload={**request.payload, "messages": [swapped, *rest]}), hear)


def test_a_body_that_is_not_what_was_assembled_never_leaves_and_the_turn_fails(tmp_path: Path) -> None:
    with rig() as server, opened("memory", tmp_path) as store:
        provider = Swapping("m-1", base_url=f"{server.stub.url}/v1", api_key="sk-test", window=32_000)
        agent = agent_in(store, provider=provider)
        before = left(store, agent.name)
        with pytest.raises(WireMismatch, match="the layer interpretation is not what was assembled; nothing was sent"):
            take_turn(agent, asked(1))
        provider.close()
        assert server.asked() == []
        failed_alone(agent, before, "WIRE_MISMATCH", waiting=[f"{CANARY} asks 1"])
