"""A Telegram bot: a message is kept before Telegram is told that it came, a reply waits until Telegram accepted it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Final

from ..core.errors import BadValue, ConfigError, StoreError
from ..core.records import InboxMessage
from . import telegram_said as said
from .telegram_door import Door, code_in
from .telegram_lanes import CHANNEL, FIRST_WAIT, LONGEST_WAIT, Desk, Lanes, sender_of, until
from .telegram_wire import Fate, Wire

if TYPE_CHECKING:
    from telegram import Message, Update

__all__ = ["CHANNEL", "Desk", "Telegram", "Wire"]

SWEEP_SECONDS: Final = 10.0
MOST_CONFLICTS: Final = 8  # a program that was just killed can be in the way for a while


class Telegram:
    """The bot of one agent. `sleep` is how it waits between tries."""

    def __init__(self, desk: Desk, wire: Wire, *, sleep: Callable[[float], Awaitable[None]] = asyncio.sleep) -> None:
        self.desk = desk
        self.wire = wire
        self.lanes = Lanes(desk, wire, sleep=sleep)
        self.door = Door()

    # ── what comes in ─────────────────────────────────────────────────────────────────────────────────────────────

    async def receive(self, update: Update) -> bool:
        """Deals with what came, or keeps it; False when neither could be done, and it must be delivered again."""
        try:
            await self._receive(update)
        except StoreError as error:
            self.desk.failed(error)
            return False
        except Exception as error:  # an edge: one message that breaks us must not hold up all that come after it
            self.desk.failed(error)
        return True

    async def _receive(self, update: Update) -> None:
        message = update.message  # never an edit, a reaction, or a post of a channel
        if message is None or message.chat.type != "private" or (message.from_user and message.from_user.is_bot):
            return
        chat, text = message.chat.id, message.text or ""
        peer = await asyncio.to_thread(self.desk.peer, chat)
        if code := code_in(text):
            await self._pair(chat, code, known=peer is not None)
        elif peer is None:
            if self.door.may_tell(chat, self.desk.clock()):
                self.lanes.say(chat, said.NEED_CODE)
        elif text.strip() == "/start":
            self.lanes.say(chat, said.paired(peer.agent, peer.user))
        elif text.strip():
            await self._keep(message, peer.user)
        elif message.effective_attachment is not None:
            self.lanes.say(chat, said.TEXT_ONLY)

    async def _pair(self, chat: int, code: str, *, known: bool) -> None:
        """A code is never a message: nothing of it is kept or shown to a model, whoever sends it."""
        desk, now = self.desk, self.desk.clock()
        if not self.door.may_try(chat, now):
            return
        peer = await asyncio.to_thread(desk.store.pair, desk.agent, CHANNEL, str(chat), code, at_ns=now)
        if peer is not None:
            self.lanes.say(chat, said.paired(peer.agent, peer.user))
            return
        self.door.wrong(chat, now)
        if self.door.may_try(chat, now):
            self.lanes.say(chat, said.ALREADY if known else said.WRONG_CODE)

    async def _keep(self, message: Message, user: str) -> None:
        chat, at = message.chat.id, self.desk.clock()
        name = f"{sender_of(chat)}:{self.wire.bot_id}:{message.message_id}"  # another bot counts from one again
        kept = InboxMessage(name, sender_of(chat), message.text or "", at, CHANNEL, user)
        try:
            new = await asyncio.to_thread(self.desk.store.stage, self.desk.agent, kept)
        except BadValue:
            self.lanes.say(chat, said.NOT_KEPT)
            return
        if new:  # one that was there already was answered, is being answered, or is found by a sweep
            self.lanes.hear(chat, kept)

    # ── the life of the bot ───────────────────────────────────────────────────────────────────────────────────────

    async def opened(self, *, url: str = "", secret: str = "") -> str:
        """The bot's name, once Telegram was reached and told where messages go (without an address they are asked for);
        nothing when it is over first."""
        wait = FIRST_WAIT
        while not self.lanes.over.is_set():
            name, fate = await self.wire.open()
            if fate.state == "done":
                fate = await self.wire.listen(url, secret)
            if fate.state == "done":
                return name
            if fate.state == "never":
                raise ConfigError("--webhook", "Telegram refuses this address; it must be public, and https")
            await self.lanes.pause(fate.wait_s or wait)
            wait = min(wait * 2, LONGEST_WAIT)
        return ""

    async def run(self, serving: Awaitable[object] | None = None) -> None:
        """Goes on until it is stopped; messages are asked for, unless a webhook is `serving`."""
        coming = serving if serving is not None else self._polling()
        await until(self.lanes.over, self._sweeping(), coming)

    def stop(self) -> None:
        self.lanes.stop()

    async def close(self) -> None:
        await self.lanes.close()
        await self.wire.close()

    async def _sweeping(self) -> None:
        while True:
            try:
                await self.lanes.sweep()
            except StoreError as error:  # it is asked again
                self.desk.failed(error)
            await asyncio.sleep(SWEEP_SECONDS)

    async def _polling(self) -> None:
        """Asks for what people wrote; the number it is asked from moves on when all before it is kept."""
        offset, wait, conflicts = 0, FIRST_WAIT, 0
        while True:
            found, fate = await self.wire.updates(offset)
            for update in found:
                if not await self.receive(update):
                    fate = Fate("later")
                    break
                offset = update.update_id + 1
            if fate.state == "done":
                wait, conflicts = FIRST_WAIT, 0
                continue
            conflicts += fate.state == "taken"
            if conflicts > MOST_CONFLICTS:
                raise ConfigError(CHANNEL, "another program reads this bot's messages; stop it, or use another bot")
            await self.lanes.pause(fate.wait_s or wait)
            wait = min(wait * 2, LONGEST_WAIT)
