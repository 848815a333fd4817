"""A reply waits until Telegram has accepted it; what surely did not arrive is sent again, what may have is not."""

from __future__ import annotations

import asyncio
import socket
from pathlib import Path

import pytest

from charter.channels import telegram_said as said
from charter.channels.telegram import Telegram
from charter.channels.telegram_wire import Fate, Wire
from charter.core.errors import ConfigError

from .room import ANA, room
from .stub import TOKEN, Fault, Stub

pytestmark = pytest.mark.requirement("S4-10")
THREE = "\n\n".join(str(number) * 3000 for number in (1, 2, 3))


@pytest.mark.parametrize(
    ("faults", "slept"),
    [([("wait", 7)], [7.0]), ([500], [1.0]), ([500, 500, ("wait", 3), 500], [1.0, 2.0, 3.0, 8.0])],
)
def test_what_telegram_did_not_accept_is_sent_again_and_arrives_once(
    faults: list[Fault], slept: list[float], stub: Stub, tmp_path: Path
) -> None:
    with room(stub, tmp_path, [THREE]) as here:
        here.paired()
        stub.faults["sendMessage"] = [None, *faults]
        here.hears("hello")
        assert here.slept == slept
        assert here.store.unsent("assistant") == []
    assert [text[0] for text in stub.texts()] == ["1", "2", "3"]


@pytest.mark.parametrize(("fault", "arrived"), [("before", "13"), ("after", "123"), ("nonsense", "123")])
def test_what_may_have_arrived_is_not_sent_twice_and_its_person_is_told(
    fault: Fault, arrived: str, stub: Stub, tmp_path: Path
) -> None:
    with room(stub, tmp_path, [THREE]) as here:
        here.paired()
        stub.faults["sendMessage"] = [None, fault]
        here.hears("hello")
        assert here.store.unsent("assistant") == []
        assert here.slept == []
    assert "".join(text[0] for text in stub.texts()[:-1]) == arrived
    assert stub.texts()[-1] == said.UNSURE


async def _fate(api: str) -> Fate:
    wire = Wire(TOKEN, api=api, answer_s=0.2)
    try:
        await wire.open()
        return await wire.send(ANA, "hello")
    finally:
        await wire.close()


def test_a_connection_that_was_refused_is_certainly_not_a_message() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    assert asyncio.run(_fate(f"http://127.0.0.1:{port}")) == Fate("later")


def test_an_answer_that_does_not_come_in_time_is_not_known() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        assert asyncio.run(_fate(f"http://127.0.0.1:{port}")) == Fate("unsure", "TELEGRAM_UNSURE")


@pytest.mark.parametrize(("status", "code"), [(403, "TELEGRAM_BLOCKED"), (400, "TELEGRAM_REFUSED")])
def test_what_will_never_be_accepted_is_given_up_noted_and_holds_up_nothing(
    status: int, code: str, stub: Stub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    noted: list[dict[str, object]] = []
    monkeypatch.setattr("charter.logs.note", lambda event, fields: noted.append(dict(fields)))
    with room(stub, tmp_path, [THREE, "again"]) as here:
        here.paired()
        stub.faults["sendMessage"] = [status, status, status]
        here.hears("hello")
        assert here.store.unsent("assistant") == []
        here.hears("still there?")
        turn = here.store.turns("assistant")[1].id
    assert stub.texts() == ["again"]
    told = {"agent": "assistant", "channel": "telegram", "turn": turn, "code": code}
    assert [fields for fields in noted if fields.get("code") == code] == [told] * 3


def test_a_chat_whose_reply_does_not_get_through_does_not_hold_up_another(stub: Stub, tmp_path: Path) -> None:
    with room(stub, tmp_path, ["one", "two"], answer_s=1.0) as here:
        here.paired()
        here.paired(1002, "bo")
        stub.faults["sendMessage"] = ["hold"]
        stub.says("hello")

        async def meanwhile(bot: Telegram) -> None:
            await asyncio.to_thread(stub.wait, lambda: "sendMessage" in stub.calls)
            stub.says("hello", 1002)
            await asyncio.to_thread(stub.wait, lambda: stub.sent)

        here.live(meanwhile)
    assert stub.sent == [(1002, "two"), (ANA, said.UNSURE)]


@pytest.mark.parametrize("fault", [500, "before", "after", "nonsense", ("wait", 4), 409])
def test_asking_for_messages_goes_on_after_an_error_and_none_is_lost(fault: Fault, stub: Stub, tmp_path: Path) -> None:
    with room(stub, tmp_path, ["hello"]) as here:
        here.paired()
        stub.faults["getUpdates"] = [fault, fault]
        here.hears("hello")
        assert len(here.slept) == 2
    assert stub.texts() == ["hello"]


def test_a_bot_that_another_program_reads_is_an_error_after_a_while(stub: Stub, tmp_path: Path) -> None:
    with room(stub, tmp_path, []) as here:
        stub.faults["getUpdates"] = [409] * 9
        with pytest.raises(ConfigError, match="another program reads this bot's messages"):
            here.live(lambda bot: asyncio.Event().wait())


def test_telegram_that_is_away_at_the_start_is_waited_for(stub: Stub, tmp_path: Path) -> None:
    with room(stub, tmp_path, ["hello"]) as here:
        here.paired()
        stub.faults.update({"getMe": ["before", 500], "deleteWebhook": [500]})
        here.hears("hello")
        assert here.slept == [1.0, 2.0, 4.0]
    assert stub.texts() == ["hello"]
