"""Nobody may write to the bot until they send a code that was made for them; nothing of a stranger is kept."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from charter.channels import telegram_said as said
from charter.channels.telegram import Telegram
from charter.channels.telegram_door import MOST_CHATS, Door, code_hash, code_in, new_code
from charter.core.ports import Request

from .room import ANA, CODE, room
from .stub import Stub

pytestmark = pytest.mark.requirement("S4-10")
HOUR = 3600 * 10**9


def test_a_stranger_is_told_once_that_they_need_a_code_and_nothing_of_them_is_kept(stub: Stub, tmp_path: Path) -> None:
    with room(stub, tmp_path, []) as here:
        here.hears("canary-stranger", "are you there?", "/start")
        assert (here.store.waiting("assistant"), here.store.turns("assistant")) == (0, [])
    assert stub.texts() == [said.NEED_CODE]
    assert b"canary-stranger" not in b"".join(path.read_bytes() for path in tmp_path.iterdir())


@pytest.mark.parametrize("sent", [CODE, CODE.lower(), f"  {CODE} ", f"/start {CODE}"])
def test_whoever_sends_the_code_is_that_user_from_then_on(sent: str, stub: Stub, tmp_path: Path) -> None:
    with room(stub, tmp_path, ["Hello Ana."]) as here:
        here.pairing("ana")
        here.hears(sent)
        here.hears("hello")
        assert here.store.turns("assistant")[0].user == "ana"
        assert here.store.waiting("assistant") == 0
    assert stub.texts() == [said.paired("assistant", "ana"), "Hello Ana."]


def test_a_code_works_once(stub: Stub, tmp_path: Path) -> None:
    with room(stub, tmp_path, []) as here:
        here.pairing("ana")
        here.hears(CODE)
        here.hears(CODE, chat=1002)
        assert [peer.peer for peer in here.store.peers()] == [str(ANA)]
    assert stub.texts(1002) == [said.WRONG_CODE]


def test_a_code_that_is_late_does_not_work(stub: Stub, tmp_path: Path) -> None:
    with room(stub, tmp_path, []) as here:
        here.pairing("ana")
        here.later_ns = 15 * 60 * 10**9
        here.hears(CODE)
        assert here.store.peers() == []
    assert stub.texts() == [said.WRONG_CODE]


def test_after_five_wrong_codes_not_even_the_right_one_is_looked_at_for_an_hour(stub: Stub, tmp_path: Path) -> None:
    with room(stub, tmp_path, []) as here:
        here.pairing("ana", minutes=180)

        async def guess(bot: Telegram) -> None:
            for code in [new_code() for _ in range(5)] + [CODE]:
                stub.says(code)
            await here.confirmed(bot)
            assert here.store.peers() == []
            here.later_ns = HOUR
            stub.says(CODE)
            await here.confirmed(bot)

        here.live(guess)
        assert [peer.user for peer in here.store.peers()] == ["ana"]
    assert stub.texts() == [said.WRONG_CODE] * 4 + [said.paired("assistant", "ana")]


def test_a_code_is_never_shown_to_the_model_nor_kept_in_words(stub: Stub, tmp_path: Path) -> None:
    with room(stub, tmp_path, []) as here:
        here.paired()
        here.pairing("ana")
        here.hears(CODE, CODE)
        assert here.store.turns("assistant") == []
    kept = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert (CODE.encode() in kept, CODE.replace("-", "").encode() in kept) == (False, False)
    assert stub.texts() == [said.paired("assistant", "ana"), said.ALREADY]


def test_somebody_who_was_removed_is_a_stranger_again(stub: Stub, tmp_path: Path) -> None:
    with room(stub, tmp_path, ["Hello Ana."]) as here:
        here.paired()
        here.hears("hello")
        here.store.remove_peer("assistant", "telegram", str(ANA))
        here.hears("and now?")
        assert here.store.waiting("assistant") == 0
    assert stub.texts() == ["Hello Ana.", said.NEED_CODE]


def test_what_waits_for_somebody_who_was_removed_is_not_sent(stub: Stub, tmp_path: Path) -> None:
    def remove(request: Request) -> str:
        here.store.remove_peer("assistant", "telegram", str(ANA))
        return "canary-late"

    with room(stub, tmp_path, [remove]) as here:
        here.paired()
        here.hears("hello")
        assert here.store.turns("assistant")[0].outcome == "done"
        assert here.store.unsent("assistant") == []
    assert stub.sent == []


def test_a_code_has_more_than_sixty_bits_and_is_known_by_its_hash() -> None:
    codes = {new_code() for _ in range(200)}
    assert len(codes) == 200
    assert 30 ** len(CODE.replace("-", "")) > 2**60
    assert all(code_in(code) == code_hash(code) == code_hash(code.lower()) for code in codes)


@given(st.text(max_size=40))
def test_what_is_no_code_is_a_message(text: str) -> None:
    assert code_in(f"{text}!") == ""


def test_so_many_strangers_that_they_cannot_be_counted_are_told_nothing_and_may_still_pair() -> None:
    door = Door()
    assert all(door.may_tell(chat, 0) for chat in range(MOST_CHATS))
    assert not door.may_tell(MOST_CHATS, 1)
    assert door.may_try(MOST_CHATS, 1)
    assert door.may_tell(MOST_CHATS, HOUR)
