"""The Bot API through python-telegram-bot: whether a message was accepted is known, or it is said that it is not.

Nothing the library or its HTTP client logs or raises goes on from here: their words have the bot's token in them.
"""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal
from urllib.parse import urlsplit

from ..core.errors import BadValue, ConfigError, MissingExtra

if TYPE_CHECKING:
    from telegram import Bot, Message, Update
    from telegram.request import HTTPXRequest

API: Final = "https://api.telegram.org"
TOKEN_VARIABLE: Final = "CHARTER_TELEGRAM_TOKEN"
WANTED: Final = ("message",)  # no edits, no reactions, no posts of channels
POLL_SECONDS: Final = 25
ANSWER_SECONDS: Final = 30.0  # long: what was not answered in time may have been accepted
LOUD: Final = ("telegram", "httpx", "httpcore")
LOOPBACK: Final = ("127.0.0.1", "::1", "localhost")
_TOKEN: Final = re.compile(r"[0-9]{1,20}:[A-Za-z0-9_-]{20,100}")

State = Literal["done", "later", "never", "unsure", "taken"]


@dataclass(frozen=True, slots=True)
class Fate:
    """What became of a request.

    `later`: Telegram has not accepted it, which is certain, and `wait_s` is how long it wants to be left alone;
    `never`: it will not (`code` says why); `unsure`: it was sent off and no answer came, so it may have been accepted;
    `taken`: another program reads this bot's messages.
    """

    state: State
    code: str = ""
    wait_s: float = 0.0


DONE: Final = Fate("done")


def hush() -> None:
    """Turns these loggers off, whatever level or handlers someone gave them since; one made later reaches nobody."""
    for name in LOUD:
        top = logging.getLogger(name)
        top.propagate = False
        if not top.handlers:
            top.addHandler(logging.NullHandler())  # else Python prints warnings that reach no handler
    for name, logger in list(logging.root.manager.loggerDict.items()):
        if isinstance(logger, logging.Logger) and name.partition(".")[0] in LOUD:
            logger.disabled = True


def checked_token(token: str, where: str) -> str:
    """A bot's token, as BotFather gives it; what it is instead is never shown."""
    if not _TOKEN.fullmatch(token):
        raise ConfigError(where, f"not a bot's token ({len(token)} characters); BotFather gives one: digits:letters")
    return token


def checked_api(url: str) -> str:
    """Where the Bot API is; the token travels in its paths, so only a server on this machine may be without TLS."""
    parts = urlsplit(url)
    if parts.scheme != "https" and not (parts.scheme == "http" and parts.hostname in LOOPBACK):
        raise BadValue("the Bot API's address", "https://…, or http:// on this machine alone")
    return url.rstrip("/")


class Wire:
    """One bot. Its sends never share a connection, so that one which breaks says something about this send alone."""

    def __init__(self, token: str, *, api: str = API, answer_s: float = ANSWER_SECONDS) -> None:
        try:
            os.environ.setdefault("PTB_TIMEDELTA", "true")  # the library's own switch; without it each 429 warns
            hush()
            from telegram import Bot
        except ImportError:
            raise MissingExtra("telegram", "a Telegram bot") from None
        hush()
        self.bot_id = token.partition(":")[0]
        requests = _requests(answer_s)
        self._bot: Bot = Bot(
            token, f"{api}/bot", f"{api}/file/bot", request=requests[0], get_updates_request=requests[1]
        )

    def __repr__(self) -> str:
        return "Wire()"

    async def open(self) -> tuple[str, Fate]:
        """The bot's name on Telegram, once it could be asked."""
        _, fate = await self._tried(self._bot.initialize)
        return (self._bot.username if fate is DONE else ""), fate

    async def close(self) -> None:
        await self._tried(self._bot.shutdown)

    async def updates(self, offset: int, *, wait_s: int = POLL_SECONDS) -> tuple[tuple[Update, ...], Fate]:
        """What people wrote from this number on; asking for it tells Telegram that everything before was received."""
        found, fate = await self._tried(
            lambda: self._bot.get_updates(offset=offset, timeout=wait_s, allowed_updates=WANTED)
        )
        return found or (), fate

    def read(self, raw: Mapping[str, Any]) -> Update | None:
        """An update that was delivered; None when it is not one."""
        return _read(raw, self._bot)

    async def send(self, chat: int, text: str) -> Fate:
        """One message, as plain text and without a preview of links."""
        from telegram import LinkPreviewOptions

        _, fate = await self._tried(
            lambda: self._bot.send_message(chat, text, link_preview_options=LinkPreviewOptions(is_disabled=True))
        )
        return fate

    async def typing(self, chat: int) -> Fate:
        _, fate = await self._tried(lambda: self._bot.send_chat_action(chat, "typing"))
        return fate

    async def listen(self, url: str, secret: str) -> Fate:
        """Has Telegram deliver to this address from now on, with this secret; without one, it keeps what comes."""
        call: Callable[[], Awaitable[bool]] = self._bot.delete_webhook
        if url:
            call = lambda: self._bot.set_webhook(url, secret_token=secret, allowed_updates=WANTED)  # noqa: E731
        _, fate = await self._tried(call)
        return fate

    async def _tried(self, call: Callable[[], Awaitable[Any]]) -> tuple[Any, Fate]:
        hush()
        try:
            return await call(), DONE
        except Exception as error:  # an edge: what a server answers can break a library anywhere, and has text in it
            fate = fate_of(error)
        if fate.code == "TELEGRAM_TOKEN":
            raise ConfigError(TOKEN_VARIABLE, "Telegram knows no bot with this token; ask BotFather for a new one")
        return None, fate


def fate_of(error: Exception) -> Fate:
    """What an error says about the request that it ended."""
    import httpx
    from telegram import error as errors

    cause = error.__cause__
    if isinstance(error, errors.RetryAfter):
        wait: Any = error.retry_after
        return Fate("later", wait_s=float(wait if isinstance(wait, int) else wait.total_seconds()))
    if isinstance(error, errors.InvalidToken):
        return Fate("never", "TELEGRAM_TOKEN")
    if isinstance(error, errors.Forbidden):
        return Fate("never", "TELEGRAM_BLOCKED")
    if isinstance(error, errors.BadRequest | errors.ChatMigrated):
        return Fate("never", "TELEGRAM_REFUSED")
    if isinstance(error, errors.Conflict):
        return Fate("taken")
    unsent = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)
    answered = isinstance(error, errors.NetworkError) and (cause is None or isinstance(cause, errors.TelegramError))
    return Fate("later") if answered or isinstance(cause, unsent) else Fate("unsure", "TELEGRAM_UNSURE")


def _read(raw: Any, bot: Bot | None) -> Update | None:
    from telegram import Update

    try:
        update = Update.de_json(raw, bot)
        return update if isinstance(update.update_id, int) and _is_plain(update.message) else None
    except Exception:  # an edge: anything can be delivered
        return None


def _is_plain(message: Message | None) -> bool:
    """Whether the parts we read are what they should be; the library takes them as they come."""
    if message is None:
        return True
    numbers, text = (message.message_id, message.chat.id), message.text
    return all(type(one) is int for one in numbers) and (text is None or isinstance(text, str))


def _requests(answer_s: float) -> tuple[HTTPXRequest, HTTPXRequest]:
    """How the bot sends, and how it asks for what people wrote."""
    import httpx
    from telegram.request import HTTPXRequest

    class Asking(HTTPXRequest):
        """One update that cannot be read must not hold up all that come after it: only its number is left of it."""

        @staticmethod
        def parse_json_payload(payload: bytes) -> dict[str, Any]:
            found = HTTPXRequest.parse_json_payload(payload)
            if isinstance(found, dict) and isinstance(found.get("result"), list):
                numbered = [one for one in found["result"] if isinstance(one, dict) and "update_id" in one]
                found["result"] = [one if _read(one, None) else {"update_id": one["update_id"]} for one in numbered]
            return found

    alone = httpx.Limits(max_connections=64, max_keepalive_connections=0)
    sending = HTTPXRequest(read_timeout=answer_s, pool_timeout=answer_s, httpx_kwargs={"limits": alone})
    return sending, Asking(connection_pool_size=2, read_timeout=10.0)
