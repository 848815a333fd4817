"""What a served house keeps beside its turns: who may come in, what runs by the clock, and which peer is which user.

`Served` is the part of a store that keeps it. A secret is never here: a token and a pairing code are known by their
SHA-256 alone, and whoever made one is the only one who ever saw it. `by` is an author's mark (`Author.mark`), so that
a person who is forgotten is not named there any more.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

from .records import Author, InboxMessage, OutboxMessage

Role = Literal["operator", "approver", "user", "sender"]
CatchUp = Literal["skip", "one", "all"]
RunState = Literal["begun", "done", "failed"]


@dataclass(frozen=True, slots=True)
class Token:
    """Who a bearer of a secret is: a role and a name, with one agent or with every one (empty)."""

    id: str
    role: Role
    name: str
    agent: str = ""
    channel: str = ""
    by: str = ""
    at_ns: int = 0
    expires_at_ns: int = 0
    revoked_at_ns: int = 0


@dataclass(frozen=True, slots=True)
class Schedule:
    """A turn that comes again by the clock; `catch_up` says which of the ticks nobody was there for are made up."""

    id: str
    agent: str
    cron: str
    timezone: str
    text: str = field(repr=False)
    channel: str = "scheduled"
    recipient: str = ""
    user: str = ""
    catch_up: CatchUp = "one"
    by: str = ""
    at_ns: int = 0


@dataclass(frozen=True, slots=True)
class Run:
    """One tick of a schedule: begun once, by one worker; how it ended, and the turn that came of it."""

    schedule_id: str
    tick_ns: int
    state: RunState
    turn_id: str = ""
    code: str = ""
    at_ns: int = 0


@dataclass(frozen=True, slots=True)
class Peer:
    """Somebody on a channel, known by that channel's id, and the user they are here."""

    agent: str
    channel: str
    peer: str
    user: str
    by: str = ""
    at_ns: int = 0


class Served(Protocol):
    """Where it is kept, and what workers that share a store ask of it beside turns."""

    # tokens: a hash is 64 hex digits; whether a token is late is for the asker to say, who has a clock
    def add_token(self, token: Token, sha256: str) -> None: ...

    def token_of(self, sha256: str) -> Token | None:
        """Whose token has this hash; None when there is none, or it was revoked."""

    def tokens(self) -> Sequence[Token]: ...

    def revoke_token(self, token_id: str, *, by: Author, at_ns: int) -> Token: ...

    # schedules: of all who begin a run of one tick, in any process, one is told that it did
    def add_schedule(self, schedule: Schedule) -> None: ...

    def schedule(self, schedule_id: str) -> Schedule: ...

    def schedules(self, agent: str = "") -> Sequence[Schedule]: ...

    def remove_schedule(self, schedule_id: str) -> Schedule: ...

    def begin_run(self, schedule_id: str, tick_ns: int, *, at_ns: int) -> bool: ...

    def end_run(
        self, schedule_id: str, tick_ns: int, *, state: RunState, turn_id: str = "", code: str = "", at_ns: int
    ) -> bool:
        """Whether this call ended it: a run ends once, and one of a schedule that is gone has ended."""

    def runs(self, schedule_id: str, limit: int = 50) -> Sequence[Run]: ...

    def last_run(self, schedule_id: str) -> Run | None: ...

    # peers: a code is used once, for the agent and channel it was made for, in time
    def add_pairing(
        self, code_sha256: str, *, agent: str, channel: str, user: str, by: Author, at_ns: int, expires_at_ns: int
    ) -> None: ...

    def pair(self, agent: str, channel: str, peer: str, code_sha256: str, *, at_ns: int) -> Peer | None: ...

    def peer(self, agent: str, channel: str, peer: str) -> Peer | None: ...

    def peers(self, agent: str = "", channel: str = "") -> Sequence[Peer]: ...

    def remove_peer(self, agent: str, channel: str, peer: str) -> Peer: ...

    # turns of many workers
    def renew(self, agent: str, turn_id: str, *, until_ns: int) -> bool:
        """Prolongs the lease of a turn that still has one; whether it has."""

    def next_of_each(self, agent: str) -> Sequence[InboxMessage]:
        """The oldest message that waits of each sender by each channel: however many one has, all are seen."""

    def answered_by(self, agent: str, message_id: str) -> str | None:
        """The turn that dealt with a message, empty while it waits or is in hand, None when it is unknown."""

    def replies(
        self, agent: str, recipient: str, *, turn_id: str = "", limit: int = 50
    ) -> Sequence[tuple[str, OutboxMessage]]:
        """What this one was sent, each with its turn, the newest last; of one turn when it is named."""

    def unsent_of(self, agent: str, channel: str) -> Sequence[tuple[str, OutboxMessage]]: ...
