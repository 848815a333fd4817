"""What a channel hands in: one message and its circumstances; the clock is data here and asked nowhere below."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from .errors import BadValue

if TYPE_CHECKING:
    from .carried import Carried

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.@:-]{0,127}\Z")
_ADDRESS = re.compile(r"0[xX][0-9a-fA-F]{40}\Z")
_ALMOST_ADDRESS = re.compile(r"0[xX][0-9a-fA-F]*\Z")


@dataclass(frozen=True, slots=True)
class Incoming:
    """One message. Everything but the channel may be left out; `at` may be a datetime, ISO text or seconds.

    `facts` are values of the request that a runtime line may show (timezone, location, accept_language …).
    `operator` is set by a channel that knows who speaks: someone who may change the agent's own layers. `id` names the
    message, so that one which is delivered twice is answered once. `carried` is the chat of a caller that keeps it.
    `via` is the channel its reply leaves by where that is another one, as for what comes by the clock.
    """

    channel: str = "terminal"
    sender: str = ""
    text: str = field(default="", repr=False)
    at: Any = None
    agent: str = ""
    user: str = ""
    mode: str | None = None
    tool_policy: str = ""
    task: str = ""
    model: str = ""
    provider: str = ""
    session: str = ""
    facts: Mapping[str, str] = field(default_factory=dict, repr=False)
    operator: bool = False
    id: str = ""
    via: str = ""
    carried: Carried | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "at", moment(self.at))
        object.__setattr__(self, "sender", sender_key(self.sender))
        for name in ("agent", "tool_policy", "task"):
            value = getattr(self, name)
            if value and not _NAME.match(value):
                raise BadValue(
                    name, "an id is 1 to 128 letters, digits and _ . @ : - and starts with a letter or digit"
                )

    def heard(self, at: datetime, agent: str, model: str, sender: str) -> Incoming:
        """The same message when and by whom it was heard, and for whom; `replace` takes three times as long."""
        return Incoming(
            self.channel, sender, self.text, at, agent, self.user, self.mode, self.tool_policy, self.task, model,
            self.provider, self.session, self.facts, self.operator, self.id, self.via, self.carried,
        )  # fmt: skip

    @property
    def owner(self) -> str:
        """Whose instructions and memory this message may touch."""
        return self.user or self.sender

    @property
    def time(self) -> datetime:
        """The moment of the message; it must have been given by now."""
        if not isinstance(self.at, datetime):
            raise BadValue("at", "the message has no time; give Incoming(at=…)")
        return self.at


def nanoseconds(at: datetime) -> int:
    """Nanoseconds since 1970, exact to the microsecond a datetime has."""
    since = at - EPOCH
    return ((since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds) * 1_000


def moment(value: Any) -> datetime | None:
    """A time as an aware datetime: as given, from ISO-8601 text or seconds since 1970; UTC when it has no zone."""
    if value is None:
        return None
    try:
        if isinstance(value, str):
            value = datetime.fromisoformat(value)
        elif isinstance(value, int | float) and not isinstance(value, bool):
            value = datetime.fromtimestamp(value, UTC)
    except (ValueError, OverflowError, OSError):
        raise BadValue("at", "not a time; use ISO-8601 such as 2026-02-26T14:30:00+00:00") from None
    if not isinstance(value, datetime):
        raise BadValue("at", f"a {type(value).__name__} is not a time; use a datetime or ISO-8601 text")
    return value if value.tzinfo is not None else value.replace(tzinfo=UTC)


def sender_key(sender: str) -> str:
    """The key a sender is known by: trimmed; Ethereum addresses checked and lower-cased, other names kept (S0-12)."""
    key = sender.strip()
    if key[:2] not in ("0x", "0X"):
        return key
    if _ADDRESS.match(key):
        return key.lower()
    if _ALMOST_ADDRESS.match(key) and len(key) > 2:
        raise BadValue("sender", f"an Ethereum address is 0x and 40 hex digits; this one has {len(key) - 2}")
    return key
