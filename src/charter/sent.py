"""Messages beside the layers: as they are sent, and as a record has them, which is without their text.

A chat is sent again in every turn. What an exchange of it comes to follows from its words alone, so it is known already
when they come again; long ones are made anew, so that what is known stays small.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

from .core.assemble import past
from .core.dialogue import Said
from .core.manifest import content_hash
from .core.text import spoken
from .written import ascii_json

if TYPE_CHECKING:
    from .core.assemble import Assembly
    from .core.ports import Counter as Tokens
    from .core.records import Exchange

MESSAGE_TOKENS: Final = 8  # of a message, beside its text
KNOWN: Final = 4096  # exchanges
KNOWN_CHARS: Final = 8_192  # of one of them

Row = tuple[str, str, int]  # of a message: its role, its keyed hash, its tokens; never its text


class Sent(NamedTuple):
    """A past exchange: its messages, how much of a window they take, and what is kept of them."""

    said: tuple[Said, ...]
    tokens: int
    rows: tuple[Row, ...]


def sent(assembly: Assembly, exchanges: Sequence[Exchange]) -> list[Sent]:
    """Past exchanges, as they are sent with this prompt."""
    count, key, framed = assembly.settings.counter, assembly.settings.key, assembly.has_user_layer
    out = []
    for one in exchanges:
        make = _known if len(one.text) + len(one.reply) <= KNOWN_CHARS else _sent
        out.append(make(one.text, one.reply, framed, count, key))  # type: ignore[arg-type]  # a counter has a hash
    return out


def _sent(text: str, reply: str, framed: bool, count: Tokens, key: bytes | None) -> Sent:
    said = (Said("user", past(text, framed)),) if text else ()
    if reply:
        said = (*said, Said("assistant", spoken(reply)))
    taken = tokens_of(text, count) + tokens_of(reply, count)
    return Sent(said, taken, tuple([row_of(one, count, key) for one in said]))


_known: Final = lru_cache(maxsize=KNOWN)(_sent)


def tokens_of(text: str, count: Tokens) -> int:
    """How much of a window a message with this text takes."""
    return count(text.encode(errors="replace")) + MESSAGE_TOKENS if text else 0


def row_of(said: Said, count: Tokens, key: bytes | None) -> Row:
    """What is kept of one message."""
    calls = [[call.name, call.arguments] for call in said.calls]
    words = said.text + "".join([name + arguments for name, arguments in calls]) if calls else said.text
    data = ascii_json((said.role, said.text, calls))
    return said.role, content_hash(data, key)[:32], count(words.encode(errors="replace"))


def answered(assembly: Assembly) -> tuple[Said, ...]:
    """The message that is answered, as it is sent: the user's layer where there is one, else beside the layers."""
    if assembly.has_user_layer:
        return (Said("user", assembly.texts()[-1][1]),)
    return (Said("user", assembly.past(assembly.message)),) if assembly.message else ()
