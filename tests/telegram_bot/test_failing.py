"""A turn that does not work is a short line with its code; the message is kept, and tried again where that can help."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from charter.agent import Agent
from charter.channels import telegram_said as said
from charter.channels.telegram import Telegram
from charter.core.dialogue import Reply, ToolCall, Usage
from charter.core.errors import ProviderAuth, ProviderDown, StoreUnavailable
from charter.core.policy import ToolClass, ToolPolicy
from charter.core.ports import Tool, ToolSpec

from .room import MO, Room, room
from .stub import Stub

pytestmark = pytest.mark.requirement("S4-10")
DOWN = ProviderDown("scripted", "out of reach: canary-error")
MINUTE = 60 * 10**9


def test_a_model_that_is_away_is_said_with_its_code_and_the_message_is_answered_when_it_is_back(
    stub: Stub, tmp_path: Path
) -> None:
    with room(stub, tmp_path, [DOWN, DOWN, "here again"]) as here:
        here.paired()
        here.hears("hello")
        assert here.store.waiting("assistant") == 1

        async def restarted(bot: Telegram) -> None:
            """The next process tries it at once, says nothing a second time, and tries it again after a while."""
            await asyncio.to_thread(stub.wait, lambda: len(here.model.requests) == 2)
            await bot.lanes.settled()
            here.later_ns = MINUTE
            await bot.lanes.sweep()

        here.live(restarted)
    assert stub.texts() == ["I could not answer just now (PROVIDER_DOWN); your message is kept.", "here again"]


def test_a_message_that_failed_is_left_alone_for_a_while(stub: Stub, tmp_path: Path) -> None:
    with room(stub, tmp_path, [DOWN, "here again"]) as here:
        here.paired()
        stub.says("hello")

        async def swept(bot: Telegram) -> None:
            await here.confirmed(bot)
            await bot.lanes.settled()
            await bot.lanes.sweep()
            await bot.lanes.settled()
            assert len(here.model.requests) == 1
            here.later_ns = MINUTE
            await bot.lanes.sweep()

        here.live(swept)
    assert stub.texts() == [said.failed("PROVIDER_DOWN"), "here again"]


def test_what_waiting_cannot_help_waits_for_the_next_message(stub: Stub, tmp_path: Path) -> None:
    with room(stub, tmp_path, [ProviderAuth("scripted", "no key"), "both"]) as here:
        here.paired()
        stub.says("first")

        async def swept(bot: Telegram) -> None:
            await here.confirmed(bot)
            await bot.lanes.settled()
            here.later_ns = 1440 * MINUTE
            await bot.lanes.sweep()
            await bot.lanes.settled()
            assert len(here.model.requests) == 1
            stub.says("second")
            await here.confirmed(bot)

        here.live(swept)
        assert "first" in str(here.model.payloads[1])
    assert stub.texts() == [said.failed("PROVIDER_AUTH"), "both"]


def test_an_error_nobody_foresaw_has_none_of_its_words_in_the_line(stub: Stub, tmp_path: Path) -> None:
    with room(stub, tmp_path, [RuntimeError("canary-error")]) as here:
        here.paired()
        here.hears("hello")
        assert here.store.waiting("assistant") == 1
    assert stub.texts() == ["I could not answer just now (INTERNAL_ERROR); your message is kept."]


def test_a_paused_agent_says_so_once_and_answers_all_when_it_goes_on(stub: Stub, tmp_path: Path) -> None:
    with room(stub, tmp_path, ["all three"]) as here:
        here.paired()
        here.store.pause("assistant", by=MO, at_ns=here.clock())

        async def paused(bot: Telegram) -> None:
            for text in ("one", "two", "three"):
                stub.says(text)
                await here.confirmed(bot)
                await bot.lanes.settled()
            here.store.resume("assistant", by=MO, at_ns=here.clock())
            here.later_ns = 60 * MINUTE
            await bot.lanes.sweep()

        here.live(paused)
        assert here.store.waiting("assistant") == 0
    assert stub.texts() == [said.PAUSED, "all three"]


def test_a_spent_agent_says_so_once(stub: Stub, tmp_path: Path) -> None:
    with room(stub, tmp_path, []) as here:
        here.paired()
        here.store.limit("assistant", by=MO, at_ns=here.clock(), tokens_per_day=None, turns_per_day=0)
        here.hears("one", "two")
        assert here.store.waiting("assistant") == 2
    assert stub.texts() == [said.OVER_SPENT]


def test_a_store_that_is_away_is_asked_again_and_telegram_keeps_the_message_meanwhile(
    stub: Stub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with room(stub, tmp_path, ["hello"]) as here:
        here.paired()
        real, away = here.store.stage, [StoreUnavailable("locked")] * 2

        def stage(agent: str, message: Any) -> bool:
            if away:
                assert stub.updates, "it was confirmed before it was kept"
                raise away.pop()
            return real(agent, message)

        monkeypatch.setattr(here.store, "stage", stage)
        here.hears("hello")
        assert here.slept == [1.0, 2.0]
    assert stub.texts() == ["hello"]


def _with_tool(here: Room) -> None:
    """The agent has a tool that needs a person."""
    tool = Tool(ToolSpec("wire_money", "Sends money."), ToolPolicy("wire_money", ToolClass.EXECUTE), lambda _: "sent")
    agent: Agent = here.house.agent("assistant")
    object.__setattr__(agent, "tools", lambda _: {"wire_money": tool})


@pytest.mark.requirement("S1-08")
def test_a_call_that_needs_a_person_waits_and_is_named_after_the_reply(stub: Stub, tmp_path: Path) -> None:
    call = Reply("", (ToolCall("c1", "wire_money", '{"to": "canary-argument"}'),), Usage(10, 1), "tools")
    with room(stub, tmp_path, [call, "I asked for it."]) as here:
        here.paired()
        _with_tool(here)
        here.hears("send it")
        (wanted,) = here.store.approvals("assistant", "open")
    assert stub.texts() == [
        "I asked for it.",
        f"A call of wire_money waits for approval: charter approvals {wanted.id}",
    ]
