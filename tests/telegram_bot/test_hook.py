"""A webhook takes what knows its secret, keeps it before it says so, and refuses everything else."""

from __future__ import annotations

import asyncio
import http.client
import json
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from charter.channels.telegram import Telegram
from charter.channels.telegram_hook import MOST_BYTES, Hook, listening, path_of, serving
from charter.core.errors import BadValue, ConfigError, StoreUnavailable

from .room import Room, room
from .stub import Stub

pytestmark = pytest.mark.requirement("S4-10")
SECRET = "canary-secret"
HEADER = "X-Telegram-Bot-Api-Secret-Token"
URL = "https://bot.example.org/hook"
Posts = Callable[..., int]


def hooked(here: Room, work: Callable[[Posts], None]) -> None:
    """A bot behind a webhook on a real socket, while something is posted to it."""

    async def life() -> None:
        bot = here.bot()
        place = listening("127.0.0.1", 0)
        try:
            assert await bot.opened(url=URL, secret=SECRET) == "charter_test_bot"
            running = asyncio.create_task(bot.run(serving(Hook(bot, path="/hook", secret=SECRET), place)))
            await asyncio.to_thread(work, posting(place.getsockname()[1]))
            await bot.lanes.settled()
            bot.stop()
            await running
        finally:
            await bot.close()

    asyncio.run(life())


def posting(port: int) -> Posts:
    def post(body: object, *, path: str = "/hook", secret: str | None = SECRET, method: str = "POST") -> int:
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=30)) as connection:
            connection.request(method, path, data, {} if secret is None else {HEADER: secret})
            with connection.getresponse() as response:
                return response.status

    return post


def update(stub: Stub, text: str = "hello") -> dict[str, Any]:
    made = stub.says(text, number=7)
    stub.updates.clear()
    return made


def test_what_telegram_delivers_is_answered_once_however_often_it_comes(stub: Stub, tmp_path: Path) -> None:
    with room(stub, tmp_path, ["Good morning."]) as here:
        here.paired()
        got: list[int] = []
        hooked(here, lambda post: got.extend([post(update(stub)), post(update(stub))]))
        assert got == [200, 200]
    assert stub.texts() == ["Good morning."]
    assert (stub.hook["url"], stub.hook["secret_token"]) == (URL, SECRET)
    assert json.loads(stub.hook["allowed_updates"]) == ["message"]
    assert "getUpdates" not in stub.calls


@pytest.mark.parametrize("secret", [None, "", "canary-secreT", "canary-secret-and-more", "é"])
def test_who_does_not_know_the_secret_is_refused_and_nothing_is_kept(
    secret: str | None, stub: Stub, tmp_path: Path
) -> None:
    with room(stub, tmp_path, []) as here:
        here.paired()
        got: list[int] = []
        hooked(here, lambda post: got.append(post(update(stub), secret=secret)))
        assert here.store.waiting("assistant") == 0
    assert got == [403]
    assert stub.sent == []


def test_other_paths_methods_and_bodies_are_not_taken(stub: Stub, tmp_path: Path) -> None:
    def work(post: Posts) -> None:
        assert post(update(stub), path="/other") == 404
        assert post(b"", method="GET") == 405
        assert post(b"x" * (MOST_BYTES + 1)) == 413
        assert post(b"no json") == 200  # it would never be better: Telegram may forget it
        assert post(b"[" * 100_000) == 200
        assert post({"update_id": 1, "message": {"chat": 7}}) == 200

    with room(stub, tmp_path, []) as here:
        here.paired()
        hooked(here, work)
        assert here.store.waiting("assistant") == 0
    assert stub.sent == []


def test_what_could_not_be_kept_is_not_taken_so_that_it_comes_again(
    stub: Stub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(agent: str, message: object) -> bool:
        raise StoreUnavailable("locked")

    with room(stub, tmp_path, []) as here:
        here.paired()
        monkeypatch.setattr(here.store, "stage", away)
        got: list[int] = []
        hooked(here, lambda post: got.append(post(update(stub))))
    assert got == [503]


@pytest.mark.parametrize("url", ["http://example.org/hook", "https:///hook", "example.org", "https://e.org/h?x=1"])
def test_an_address_telegram_cannot_deliver_to_is_refused_at_once(url: str) -> None:
    with pytest.raises(BadValue, match="--webhook: an address that Telegram can reach"):
        path_of(url)


def test_an_address_telegram_refuses_is_an_error(stub: Stub, tmp_path: Path) -> None:
    async def life(here: Room) -> None:
        bot: Telegram = here.bot()
        try:
            await bot.opened(url=URL, secret=SECRET)
        finally:
            await bot.close()

    stub.faults["setWebhook"] = [400]
    with room(stub, tmp_path, []) as here, pytest.raises(ConfigError, match="Telegram refuses this address"):
        asyncio.run(life(here))


def test_a_port_that_is_taken_is_an_error() -> None:
    with listening("127.0.0.1", 0) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(BadValue, match=f"cannot listen on 127.0.0.1 port {port}"):
            listening("127.0.0.1", port)
