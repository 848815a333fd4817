"""Each chat is a lane: what it said is answered in order, replies leave in order, and chats go on side by side.

A reply leaves, is accepted, and is marked as sent, in this order; a process that is killed between the last two sends
that one part again. Where a connection breaks after a part left, nobody knows; it is not sent twice, and who was to
get it is told.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple, Protocol

from ..core.errors import (
    Answered,
    Cancelled,
    CharterError,
    ConfigError,
    OverSpend,
    Paused,
    ProviderDown,
    ProviderRate,
    StoreError,
)
from ..core.incoming import Incoming
from ..core.ports import Store
from ..core.records import InboxMessage
from ..core.served import Peer, Served
from . import telegram_said as said
from .telegram_wire import Fate, Wire

CHANNEL: Final = "telegram"
SIDE_BY_SIDE: Final = 16
MOST_WAITING: Final = 50  # of one chat in memory; the others wait in the store
TYPING_SECONDS: Final = 4.5
FIRST_WAIT, LONGEST_WAIT = 1.0, 60.0
FIRST_REST_NS, LONGEST_REST_NS = 10 * 10**9, 900 * 10**9
FOREVER: Final = 2**63
# What goes on by itself after a while; after anything else a message waits for the next one of its chat.
PASSING: Final = (Paused, OverSpend, ProviderDown, ProviderRate, StoreError)
ONCE: Final[Mapping[type[Exception], str]] = {Paused: said.PAUSED, OverSpend: said.OVER_SPENT}


class Keeps(Store, Served, Protocol):
    """The store of a house."""


@dataclass(frozen=True, slots=True)
class Desk:
    """What a bot needs of the house it serves: one agent, its store, and a way to ask it that waits for the answer."""

    agent: str
    store: Keeps
    ask: Callable[[Incoming, said.Looking, said.Asking], object]
    code_of: Callable[[BaseException], str]
    note: Callable[[str, Mapping[str, Any]], None]
    clock: Callable[[], int] = time.time_ns

    def peer(self, chat: int) -> Peer | None:
        return self.store.peer(self.agent, CHANNEL, str(chat))

    def failed(self, error: BaseException | None = None, **more: str) -> None:
        """Writes down that something did not work, without a word of anybody."""
        self.note(
            "error",
            {"agent": self.agent, "channel": CHANNEL, **({"exc_info": error} if error else {}), **more},
        )


class _Asked(NamedTuple):
    """A message to answer; `fresh` when it just came, so that its person is told when that does not work."""

    incoming: Incoming
    fresh: bool


@dataclass(slots=True)
class _Lane:
    chat: int
    items: deque[_Asked | str] = field(default_factory=deque, repr=False)
    task: asyncio.Task[None] | None = None


@dataclass(slots=True)
class _Rest:
    """A chat whose message could not be answered: until when it is left alone, and what its person was told once."""

    until_ns: int = 0
    wait_ns: int = FIRST_REST_NS
    told: str = ""


def sender_of(chat: int) -> str:
    return f"{CHANNEL}:{chat}"


def chat_of(name: str) -> int | None:
    """The chat a sender or recipient of ours is; None for any other."""
    channel, _, number = name.partition(":")
    return int(number) if channel == CHANNEL and number.isascii() and number.isdigit() else None


class Lanes:
    """Every chat that has something to answer or to send. `sleep` is how it waits between tries."""

    def __init__(self, desk: Desk, wire: Wire, *, sleep: Callable[[float], Awaitable[None]] = asyncio.sleep) -> None:
        self.desk = desk
        self.wire = wire
        self.over = asyncio.Event()
        self._sleep = sleep
        self._looking = said.Looking()
        self._lanes: dict[int, _Lane] = {}
        self._rests: dict[int, _Rest] = {}
        self._threads = ThreadPoolExecutor(SIDE_BY_SIDE, thread_name_prefix="telegram-turn")

    def hear(self, chat: int, message: InboxMessage) -> None:
        """Has a message answered that was just kept."""
        self._put(chat, _Asked(_incoming(message), fresh=True))

    def say(self, chat: int, text: str) -> None:
        """A line of our own: not kept, and gone when the process ends before it was sent."""
        self._put(chat, text)

    async def sweep(self) -> None:
        """Finds what waits and nobody is at: replies to send, messages of a process that died, or of a pause."""
        desk, now = self.desk, self.desk.clock()
        await asyncio.to_thread(desk.store.lapse, desk.agent, now)
        for message in await asyncio.to_thread(desk.store.next_of_each, desk.agent):
            chat = chat_of(message.sender) if message.channel == CHANNEL else None
            if chat is not None and chat not in self._lanes and self._rest(chat).until_ns <= now:
                self._put(chat, _Asked(_incoming(message), fresh=False))
        for _, reply in await asyncio.to_thread(desk.store.unsent_of, desk.agent, CHANNEL):
            if (chat := chat_of(reply.recipient)) is not None:
                self._poke(self._lane(chat))
        for lane in list(self._lanes.values()):
            self._poke(lane)

    def stop(self) -> None:
        """Begins nothing more; turns under way end at their next step, and their messages wait."""
        self._looking.over = True
        self.over.set()

    async def settled(self) -> None:
        """Waits until no chat has anything to do."""
        while tasks := [lane.task for lane in self._lanes.values() if lane.task and not lane.task.done()]:
            await asyncio.wait(tasks)

    async def close(self) -> None:
        self.stop()
        await self.settled()
        await asyncio.to_thread(self._threads.shutdown)

    async def pause(self, seconds: float) -> None:
        """Waits so long, or until it is over."""
        await until(self.over, self._sleep(seconds))

    # ── one lane ──────────────────────────────────────────────────────────────────────────────────────────────────

    def _lane(self, chat: int) -> _Lane:
        return self._lanes.setdefault(chat, _Lane(chat))

    def _rest(self, chat: int) -> _Rest:
        return self._rests.get(chat) or _Rest()

    def _put(self, chat: int, item: _Asked | str) -> None:
        lane = self._lane(chat)
        if len(lane.items) < MOST_WAITING:
            lane.items.append(item)
        self._poke(lane)

    def _poke(self, lane: _Lane) -> None:
        if (lane.task is None or lane.task.done()) and not self.over.is_set():
            lane.task = asyncio.create_task(self._work(lane))

    async def _work(self, lane: _Lane) -> None:
        try:
            while await self._deliver(lane) and lane.items and not self.over.is_set():
                item = lane.items.popleft()
                await (self._sent(lane.chat, item) if isinstance(item, str) else self._answer(lane, item))
            if not lane.items:
                del self._lanes[lane.chat]
        except Exception as error:  # the edge of a lane: others go on, and the next sweep tries this one again
            self.desk.failed(error)

    # ── answering ─────────────────────────────────────────────────────────────────────────────────────────────────

    async def _answer(self, lane: _Lane, asked: _Asked) -> None:
        """One turn; its reply is in the outbox afterwards, and leaves with what is unsent."""
        desk, incoming = self.desk, asked.incoming
        peer = await asyncio.to_thread(desk.peer, lane.chat)
        if peer is None or peer.user != incoming.user:  # a stranger again, or somebody else
            self._rests[lane.chat] = _Rest(FOREVER)
            return
        if await asyncio.to_thread(desk.store.answered_by, desk.agent, incoming.id):
            return
        asking = said.Asking()
        try:
            await self._thinking(lane.chat, incoming, asking)
            self._rests.pop(lane.chat, None)
        except Answered:  # by another process, or with another message; what it said is unsent, or was sent
            pass
        except Exception as error:  # the edge that answers
            if not isinstance(error, CharterError):
                desk.failed(error)
            if not (isinstance(error, Cancelled) and self.over.is_set()):
                self._excuse(lane, error, fresh=asked.fresh)
        lane.items.extendleft(reversed(asking.lines))

    async def _thinking(self, chat: int, incoming: Incoming, asking: said.Asking) -> None:
        loop = asyncio.get_running_loop()
        turn = loop.run_in_executor(self._threads, self.desk.ask, incoming, self._looking, asking)
        while not turn.done():
            with contextlib.suppress(ConfigError):  # a token that is over is for the sends to find
                await self.wire.typing(chat)
            await asyncio.wait({turn}, timeout=TYPING_SECONDS)
        turn.result()

    def _excuse(self, lane: _Lane, error: Exception, *, fresh: bool) -> None:
        """The message waits: it is tried again after a while where that can help, and its person is told."""
        rest = self._rests.setdefault(lane.chat, _Rest())
        rest.until_ns = self.desk.clock() + rest.wait_ns if isinstance(error, PASSING) else FOREVER
        rest.wait_ns = min(rest.wait_ns * 2, LONGEST_REST_NS)
        line = ONCE.get(type(error), "")
        if fresh and not (line and line == rest.told):
            rest.told = line
            lane.items.appendleft(line or said.failed(self.desk.code_of(error)))

    # ── sending ───────────────────────────────────────────────────────────────────────────────────────────────────

    async def _deliver(self, lane: _Lane) -> bool:
        """Sends what waits for this chat, in order; False when it is left for the next start."""
        desk, unsure = self.desk, False
        for turn, reply in await asyncio.to_thread(desk.store.unsent_of, desk.agent, CHANNEL):
            if chat_of(reply.recipient) != lane.chat:
                continue
            known = await asyncio.to_thread(desk.peer, lane.chat)
            fate = await self._sent(lane.chat, reply.body) if known else Fate("never", "TELEGRAM_UNPAIRED")
            if fate.state == "later":
                return False
            await asyncio.to_thread(desk.store.mark_sent, desk.agent, turn, reply, desk.clock())
            if fate.code:
                desk.failed(turn=turn, code=fate.code)
            unsure = unsure or fate.state == "unsure"
        if unsure:
            lane.items.appendleft(said.UNSURE)
        return True

    async def _sent(self, chat: int, text: str) -> Fate:
        """Sends until it is certain what became of it; `later` only when it is over first."""
        wait = FIRST_WAIT
        while (fate := await self.wire.send(chat, text)).state == "later" and not self.over.is_set():
            await self.pause(fate.wait_s or wait)
            wait = min(wait * 2, LONGEST_WAIT)
            if self.over.is_set():
                break
        return fate


def _incoming(message: InboxMessage) -> Incoming:
    return Incoming(CHANNEL, message.sender, message.body, user=message.user, id=message.id)


async def until(over: asyncio.Event, *coming: Awaitable[Any]) -> None:
    """Waits for one of these, or until it is over; then they are given up, each to its end."""
    tasks = [asyncio.ensure_future(one) for one in (over.wait(), *coming)]
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for one in done:
            one.result()
    finally:
        for one in tasks:
            one.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
