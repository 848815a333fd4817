"""Which agent is asked, on which channel and in whose name: the key decides, the model and headers choose within."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Final

from ...core.errors import BadValue, NotAllowed, UnknownAgent
from ...core.incoming import Incoming

if TYPE_CHECKING:
    from ..who import Caller
    from .asked import Asked

AGENT: Final = "x-charter-agent"
CHANNEL: Final = "x-charter-channel"
USER: Final = "x-charter-user"
SESSION: Final = "x-charter-session"
PREFIX: Final = "charter/"
DEFAULT_CHANNEL: Final = "web"
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.@+-]{0,127}")


def agent_for(caller: Caller, model: str, headers: Mapping[str, str], known: Iterable[str]) -> str:
    """The agent: the one the header names, else the one the model names, else the key's own."""
    names = tuple(known)
    named = headers.get(AGENT, "") or model.removeprefix(PREFIX)
    if named not in names:
        if caller.agent and AGENT not in headers:
            return caller.agent
        raise UnknownAgent("model", named, reachable(caller, names))
    caller.may_reach(named)
    return named


def reachable(caller: Caller, known: Iterable[str]) -> tuple[str, ...]:
    """The agents this key is for."""
    return tuple(name for name in known if caller.agent in ("", name))


def incoming_for(caller: Caller, asked: Asked, headers: Mapping[str, str], message_id: str) -> Incoming:
    """The message, with who speaks: the key's own name, or for an operator another's, who is no operator then."""
    user = _named(headers, USER) or caller.name
    if user != caller.name and caller.role != "operator":
        raise NotAllowed("only an operator's key speaks for others")
    session = _named(headers, SESSION)
    channel = headers.get(CHANNEL, "") or caller.channel or DEFAULT_CHANNEL
    if caller.channel and channel != caller.channel:
        raise NotAllowed("this key is bound to another channel")
    return Incoming(
        channel=channel,
        sender=f"{user}:{session}" if session else user,
        user=user,
        text=asked.text,
        session=session,
        operator=caller.role == "operator" and USER not in headers,
        id=message_id,
        carried=asked.carried,
    )


def _named(headers: Mapping[str, str], header: str) -> str:
    found = headers.get(header, "")
    if found and not _NAME.fullmatch(found):
        raise BadValue(header, "1 to 128 letters, digits and _ . @ + -, starting with a letter or digit")
    return found
