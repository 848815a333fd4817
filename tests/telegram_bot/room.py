"""A bot in a room of its own: a house with a scripted model, a stub of the Bot API, and waits that take no time."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from charter.channels.telegram import CHANNEL, Telegram, Wire
from charter.channels.telegram_door import code_hash, new_code
from charter.commands.telegram import desk
from charter.core.policy import Actor
from charter.core.records import Author
from charter.house import House, open_house
from charter.stores.store import SqlStore
from charter.testing import ScriptedProvider
from charter.testing.scripted import Script

from .stub import ANA, Stub

MO = Author(Actor.OPERATOR, "mo")
CODE = "ABCD-EFGH-JKMN-PQRS"


@dataclass
class Room:
    """One process's life: `bot` is made in the loop it runs in; `slept` is how long it wanted to wait."""

    house: House
    stub: Stub
    model: ScriptedProvider
    slept: list[float]
    later_ns: int = 0
    answer_s: float = 5.0

    @property
    def store(self) -> SqlStore:
        return self.house.store

    def clock(self) -> int:
        return time.time_ns() + self.later_ns

    def pairing(self, user: str = "ana", code: str = CODE, *, minutes: int = 15) -> str:
        now = self.clock()
        self.store.add_pairing(
            code_hash(code), agent="assistant", channel=CHANNEL, user=user, by=MO, at_ns=now,
            expires_at_ns=now + minutes * 60 * 10**9,
        )  # fmt: skip
        return code

    def paired(self, chat: int = ANA, user: str = "ana") -> None:
        """As if they had sent a code."""
        code = self.pairing(user, new_code())
        assert self.store.pair("assistant", CHANNEL, str(chat), code_hash(code), at_ns=self.clock())

    def live(self, until: Callable[[Telegram], Coroutine[Any, Any, object]]) -> None:
        """Runs the bot, polling, until this is done."""

        async def life() -> None:
            bot = self.bot()
            try:
                await bot.opened()
                running = asyncio.create_task(bot.run())
                done = asyncio.create_task(until(bot))
                await asyncio.wait({running, done}, return_when=asyncio.FIRST_COMPLETED)
                done.cancel()  # where the bot ended by itself
                for one in (running, done):
                    if one.done():
                        one.result()
                await settled(bot)
                bot.stop()
                await running
            finally:
                await bot.close()

        asyncio.run(life())

    def hears(self, *texts: str, chat: int = ANA) -> None:
        """Runs the bot until these and everything else that was written is dealt with."""
        for text in texts:
            self.stub.says(text, chat)
        self.live(self.confirmed)

    def until(self, ready: Callable[[], object]) -> None:
        """Runs the bot until the stub has seen this."""
        self.live(lambda bot: asyncio.to_thread(self.stub.wait, ready))

    async def confirmed(self, bot: Telegram) -> None:
        """Telegram has no update any more that was not confirmed."""
        await asyncio.to_thread(self.stub.wait, lambda: not self.stub.updates)

    def bot(self) -> Telegram:
        async def sleep(seconds: float) -> None:
            self.slept.append(seconds)
            await asyncio.sleep(0)

        table = replace(desk(self.house, "assistant"), clock=self.clock)
        return Telegram(table, Wire(self.stub.token, api=self.stub.url, answer_s=self.answer_s), sleep=sleep)


async def settled(bot: Telegram) -> None:
    await bot.lanes.settled()


def url(folder: Path) -> str:
    return f"sqlite:///{folder / 'charter.db'}"


@contextmanager
def room(stub: Stub, folder: Path, script: Iterable[Script], **more: Any) -> Iterator[Room]:
    """A house over the database in this folder; a second one over the same folder is the process after a restart."""
    from charter.stores.migrate import upgrade

    model = ScriptedProvider(script)
    if not (folder / "charter.db").exists():
        upgrade(url(folder))
    with open_house(database=url(folder), charters=("assistant",), provider=model) as house:
        yield Room(house, stub, model, [], **more)


__all__ = ["ANA", "CODE", "MO", "Room", "room", "settled", "url"]
