"""S1-07: neither the bot's token nor what is said reaches a log, an error or a terminal, however loud they are set."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator
from pathlib import Path

import pytest

from charter import logs
from charter.channels import telegram_wire
from charter.channels.telegram import Telegram
from charter.channels.telegram_wire import Wire
from charter.core.errors import ConfigError

from .room import room
from .stub import TOKEN, Stub

pytestmark = pytest.mark.requirement("S1-07")
CANARIES = (TOKEN, "canary-token", "canary-message", "canary-reply", "canary-error")
LOGGERS = ("", "telegram", "telegram.Bot", "telegram.request.BaseRequest", "httpx", "httpcore", "httpcore.http11",
           "httpcore.connection", "asyncio", "uvicorn", "uvicorn.error", "uvicorn.access")  # fmt: skip


class Capturing(logging.Handler):
    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.told: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.told.append(f"{record.name} {record.getMessage()} {record.args} {record.exc_info}")

    @property
    def slips(self) -> list[str]:
        return [line for line in self.told if any(canary in line for canary in CANARIES)]


@pytest.fixture
def loud() -> Iterator[Capturing]:
    """Everything at DEBUG into one handler."""
    handler, before = Capturing(), {}
    for name in LOGGERS:
        logger = logging.getLogger(name)
        before[name] = (logger.level, logger.disabled, logger.propagate, list(logger.handlers))
        logger.setLevel(logging.DEBUG)
        logger.disabled, logger.propagate = False, True
        logger.addHandler(handler)
    yield handler
    for name, (level, disabled, propagate, handlers) in before.items():
        logger = logging.getLogger(name)
        logger.setLevel(level)
        logger.disabled, logger.propagate, logger.handlers[:] = disabled, propagate, handlers


def talk(stub: Stub, folder: Path) -> None:
    """A message, a reply, and every way to fail."""
    with room(stub, folder, ["canary-reply one", RuntimeError("canary-error"), "canary-reply two"]) as here:
        here.paired()
        stub.faults = {"sendMessage": [500, ("wait", 1), "after", 403], "getUpdates": ["nonsense", "before", 409],
                       "getMe": ["nonsense"], "sendChatAction": [500]}  # fmt: skip
        stub.puts({"message": {"text": "canary-message", "chat": 7}})
        for _ in range(3):
            here.hears("canary-message")


def test_nothing_is_told_of_the_token_or_of_what_is_said(
    stub: Stub, tmp_path: Path, loud: Capturing, capfd: pytest.CaptureFixture[str]
) -> None:
    log = tmp_path / "charter.log"
    logs.start(str(log), debug=True)
    try:
        talk(stub, tmp_path)
    finally:
        logs.stop()
    assert len(stub.sent) >= 3
    printed = "".join(capfd.readouterr())
    assert loud.slips == []
    assert [canary for canary in CANARIES if canary in log.read_text() + printed] == []
    assert "TELEGRAM_UNSURE" in log.read_text()


def test_without_the_silence_the_library_does_tell(
    stub: Stub, tmp_path: Path, loud: Capturing, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(telegram_wire, "hush", lambda: None)
    with room(stub, tmp_path, ["canary-reply"]) as here:
        here.paired()
        here.hears("canary-message")
    assert any(TOKEN in line for line in loud.slips)
    assert any("canary-reply" in line for line in loud.slips)


def test_a_token_telegram_does_not_know_is_an_error_without_the_token(stub: Stub) -> None:
    async def opening() -> None:
        wire = Wire(TOKEN.replace("4711", "4712"), api=stub.url)
        try:
            await wire.open()
        finally:
            await wire.close()

    with pytest.raises(ConfigError, match="Telegram knows no bot with this token") as caught:
        asyncio.run(opening())
    told = f"{caught.value!r} {caught.value.__cause__!r} {caught.value.__context__!r}"
    assert "canary-token" not in told


def test_a_token_that_is_over_while_it_runs_ends_the_bot_and_the_reply_waits(stub: Stub, tmp_path: Path) -> None:
    with room(stub, tmp_path, ["later"]) as here:
        here.paired()
        stub.faults = {"sendMessage": [401], "sendChatAction": [401]}
        stub.says("hello")

        async def over(bot: Telegram) -> None:
            await asyncio.to_thread(stub.wait, lambda: "sendMessage" in stub.calls)
            stub.faults["getUpdates"] = [401]
            stub.says("/start")  # so that it asks again
            await asyncio.Event().wait()

        with pytest.raises(ConfigError, match="Telegram knows no bot with this token"):
            here.live(over)
        here.until(lambda: stub.sent)
    assert stub.texts()[0] == "later"


def test_the_wire_shows_nothing_of_itself() -> None:
    assert repr(Wire(TOKEN)) == "Wire()"
