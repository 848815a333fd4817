"""S4-10: a paired person writes to a Telegram bot and is answered, in the form of the channel, once and in order."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

from charter.channels import telegram_said as said
from charter.core.ports import Request

from .room import ANA, MO, room
from .stub import Stub

pytestmark = pytest.mark.requirement("S4-10")
BO = 1002


@pytest.mark.requirement("S4-12", "S4-03")
def test_a_message_is_answered_and_the_prompt_says_that_it_came_by_telegram(stub: Stub, tmp_path: Path) -> None:
    """AC-10: Telegram passes its channel."""
    with room(stub, tmp_path, ["Good morning."]) as here:
        here.paired()
        here.hears("hello")
        (message,) = here.store.messages_of("assistant", here.store.turns("assistant")[0].id)
        assert stub.sent == [(ANA, "Good morning.")]
        assert (message.sender, message.user, message.channel) == ("telegram:1001", "ana", "telegram")
        assert message.id == "telegram:1001:4711:500"
        assert "- telegram: User is on Telegram." in here.model.payloads[0]["messages"][0]["content"]
        assert here.store.unsent("assistant") == []
        assert stub.typing == [ANA]


def test_a_long_reply_comes_in_parts_in_order_as_plain_text_without_previews(stub: Stub, tmp_path: Path) -> None:
    long = "\n\n".join(f"{number} **bold** https://example.org " + "x" * 900 for number in range(10))
    with room(stub, tmp_path, [long]) as here:
        here.paired()
        here.hears("tell me all")
    assert len(stub.sent) == 3
    assert all(len(text) <= 4096 for text in stub.texts())
    told = "\n\n".join(stub.texts())
    assert [told.index(f"{number} bold") for number in range(10)] == sorted(
        told.index(f"{number} bold") for number in range(10)
    )
    assert all("parse_mode" not in body for body in stub.bodies)
    assert all('"is_disabled": true' in body["link_preview_options"] for body in stub.bodies)


def test_messages_of_one_chat_are_answered_in_order(stub: Stub, tmp_path: Path) -> None:
    with room(stub, tmp_path, ["one", "two", "three"]) as here:
        here.paired()
        for text in ("a", "b", "c"):
            here.hears(text)
    assert stub.texts() == ["one", "two", "three"]


def test_messages_that_came_while_the_bot_was_away_are_answered_together_and_in_order(
    stub: Stub, tmp_path: Path
) -> None:
    with room(stub, tmp_path, ["both"]) as here:
        here.paired()
        here.house.store.pause("assistant", by=MO, at_ns=here.clock())
        here.hears("first", "second")
        here.house.store.resume("assistant", by=MO, at_ns=here.clock())
        here.later_ns = 3600 * 10**9
        here.until(lambda: "both" in stub.texts())
        (turn,) = here.store.turns("assistant")
        assert [message.body for message in here.store.messages_of("assistant", turn.id)] == ["first", "second"]
    assert stub.texts() == [said.PAUSED, "both"]


def test_a_chat_that_takes_long_does_not_hold_up_another(stub: Stub, tmp_path: Path) -> None:
    free = threading.Event()

    def slow(request: Request) -> str:
        assert free.wait(30)
        return "slow"

    def quick(request: Request) -> str:
        return "quick"

    def either(request: Request) -> Any:
        return (slow if "take your time" in str(request.payload) else quick)(request)

    with room(stub, tmp_path, [either, either]) as here:
        here.paired()
        here.paired(BO, "bo")
        stub.accepted = lambda text: free.set() if text == "quick" else None
        stub.says("take your time")
        stub.says("hurry", BO)
        here.until(lambda: len(stub.sent) == 2)
    assert stub.sent == [(BO, "quick"), (ANA, "slow")]


def test_a_message_that_is_delivered_twice_is_answered_once(stub: Stub, tmp_path: Path) -> None:
    with room(stub, tmp_path, ["once"]) as here:
        here.paired()
        stub.says("hello", number=7)
        here.hears()
        stub.says("hello", number=7)
        here.hears()
        assert len(here.store.turns("assistant")) == 1
    assert stub.texts() == ["once"]


def test_another_bot_of_the_same_agent_counts_its_messages_anew_and_none_is_taken_for_an_old_one(
    stub: Stub, tmp_path: Path
) -> None:
    with room(stub, tmp_path, ["once", "twice"]) as here:
        here.paired()
        stub.says("hello", number=7)
        here.hears()
        stub.token = stub.token.replace("4711", "4712")
        stub.says("hello again", number=7)
        here.hears()
    assert stub.texts() == ["once", "twice"]


@pytest.mark.parametrize("kind", ["edited_message", "channel_post", "business_message"])
def test_an_edit_or_a_post_of_a_channel_is_nothing(kind: str, stub: Stub, tmp_path: Path) -> None:
    with room(stub, tmp_path, []) as here:
        here.paired()
        stub.says("hello", number=7)
        stub.updates[-1][kind] = stub.updates[-1].pop("message")
        here.hears()
        assert here.store.waiting("assistant") == 0
    assert stub.sent == []


@pytest.mark.parametrize("kind", ["group", "supergroup", "channel"])
def test_only_a_chat_with_one_person_is_answered(kind: str, stub: Stub, tmp_path: Path) -> None:
    with room(stub, tmp_path, []) as here:
        here.paired()
        stub.says("hello", more={"chat": {"id": ANA, "type": kind, "title": "g"}})
        here.hears()
        assert here.store.waiting("assistant") == 0
    assert stub.sent == []


def test_another_bot_is_not_answered(stub: Stub, tmp_path: Path) -> None:
    with room(stub, tmp_path, []) as here:
        here.paired()
        stub.says("hello", more={"from": {"id": ANA, "is_bot": True, "first_name": "B"}})
        here.hears()
    assert stub.sent == []


def test_a_photo_is_told_that_only_text_is_read(stub: Stub, tmp_path: Path) -> None:
    with room(stub, tmp_path, []) as here:
        here.paired()
        photo = [{"file_id": "f", "file_unique_id": "u", "width": 1, "height": 1}]
        stub.says(None, more={"photo": photo, "caption": "look"})
        stub.says(None, more={"group_chat_created": True})
        here.hears()
        assert here.store.waiting("assistant") == 0
    assert stub.texts() == [said.TEXT_ONLY]


def test_a_text_that_cannot_be_kept_is_said_to_be_so(stub: Stub, tmp_path: Path) -> None:
    with room(stub, tmp_path, []) as here:
        here.paired()
        here.hears("a\0b", "half \ud83d")
        assert here.store.waiting("assistant") == 0
    assert stub.texts() == [said.NOT_KEPT, said.NOT_KEPT]


def test_updates_that_cannot_be_read_hold_up_nobody(stub: Stub, tmp_path: Path) -> None:
    with room(stub, tmp_path, ["still here"]) as here:
        here.paired()
        odd: list[Any] = [{"message": 7}, {"message": {"text": "x"}}, {"message": {"chat": []}}, {}]
        for bad in odd:
            stub.puts(bad)
        stub.says("x", more={"chat": {"id": {"a": 1}, "type": "private"}})
        stub.says("x", more={"text": ["x"]})
        stub.updates.append({"no": "number"})
        stub.says("hello")
        here.until(lambda: stub.sent)
        assert here.store.waiting("assistant") == 0
    assert stub.texts() == ["still here"]
    assert max(stub.offsets) == 508


def test_a_reply_that_is_silence_sends_nothing(stub: Stub, tmp_path: Path) -> None:
    with room(stub, tmp_path, [""]) as here:
        here.paired()
        here.hears("do not answer")
        assert here.store.turns("assistant")[0].outcome == "silent"
    assert stub.sent == []


def test_start_from_somebody_who_is_known_is_a_greeting_and_no_message(stub: Stub, tmp_path: Path) -> None:
    with room(stub, tmp_path, []) as here:
        here.paired()
        here.hears("/start")
        assert here.store.waiting("assistant") == 0
    assert stub.texts() == [said.paired("assistant", "ana")]
