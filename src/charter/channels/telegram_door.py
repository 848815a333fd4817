"""Who may speak on Telegram: nobody, until they send a code that an operator made for one user; it works once."""

from __future__ import annotations

import hashlib
import re
import secrets
from dataclasses import dataclass
from typing import Final

CODE_MINUTES: Final = 15
HOUR_NS: Final = 3600 * 10**9
MOST_WRONG: Final = 5
MOST_CHATS: Final = 10_000
# Letters and digits nobody takes for one another; 16 of them are 78 bits.
_LETTERS: Final = "23456789ABCDEFGHJKMNPQRSTVWXYZ"
_CODE: Final = re.compile(rf"(?:/start(?:@\w+)? +)?([{_LETTERS}]{{4}}(?:-[{_LETTERS}]{{4}}){{3}})", re.IGNORECASE)


def new_code() -> str:
    """A code as a person copies it."""
    groups = ("".join(secrets.choice(_LETTERS) for _ in range(4)) for _ in range(4))
    return "-".join(groups)


def code_in(text: str) -> str:
    """The hash of the code that a message is; empty when it is something else."""
    found = _CODE.fullmatch(text.strip())
    return code_hash(found[1]) if found else ""


def code_hash(code: str) -> str:
    """What is kept of a code: it is long enough to need nothing slower."""
    return hashlib.sha256(code.upper().encode()).hexdigest()


@dataclass(slots=True)
class _Seen:
    since_ns: int
    told: bool = False
    wrong: int = 0


class Door:
    """Strangers at the door, for an hour each: told once what they need, not heard after too many wrong codes."""

    def __init__(self) -> None:
        self._seen: dict[int, _Seen] = {}

    def may_try(self, chat: int, now_ns: int) -> bool:
        """Whether a code of this chat is looked at; where there are too many chats to count, it is."""
        return (seen := self._of(chat, now_ns)) is None or seen.wrong < MOST_WRONG

    def wrong(self, chat: int, now_ns: int) -> None:
        if seen := self._of(chat, now_ns):
            seen.wrong += 1

    def may_tell(self, chat: int, now_ns: int) -> bool:
        """Whether this chat is told what it needs: yes once, then no for an hour; and no when there are too many."""
        seen = self._of(chat, now_ns)
        if seen is None or seen.told:
            return False
        seen.told = True
        return True

    def _of(self, chat: int, now_ns: int) -> _Seen | None:
        seen = self._seen.get(chat)
        if seen is not None and 0 <= now_ns - seen.since_ns < HOUR_NS:
            return seen
        if seen is None and len(self._seen) >= MOST_CHATS:
            self._seen = {name: one for name, one in self._seen.items() if 0 <= now_ns - one.since_ns < HOUR_NS}
            if len(self._seen) >= MOST_CHATS:
                return None
        self._seen[chat] = _Seen(now_ns)
        return self._seen[chat]
