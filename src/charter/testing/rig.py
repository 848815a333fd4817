"""What a provider is tested in: the provider itself, and behind it a server that answers, or fails, as it is told."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, Literal, Protocol, get_args

from ..core.dialogue import Reply
from ..core.ports import Provider

# What a server can be told to do instead of answering. The words it then sends hold CANARY where they may hold any.
Fault = Literal[
    "wrong key", "forbidden", "too many", "no credit", "too long", "bad request", "broken", "overloaded",
    "slow", "gone", "cut", "unfinished", "page", "no json", "nothing", "odd", "error in 200", "endless",
]  # fmt: skip
FAULTS: Final[tuple[Fault, ...]] = get_args(Fault)
CANARY: Final = "canary-7f3a"
WAIT_SECONDS: Final = 12.0  # what a server that says "too many" asks for


class Rig(Protocol):
    """A provider and the server behind it. `tells_cached`: its format says how many tokens came from a cache."""

    @property
    def provider(self) -> Provider: ...

    @property
    def tells_cached(self) -> bool: ...

    def answer(self, *answers: Reply | Fault) -> None:
        """What the server does with the next requests, in order; a text is streamed in several parts."""

    def asked(self) -> Sequence[Mapping[str, Any]]:
        """The bodies of all requests that arrived."""

    def left(self) -> bool:
        """Whether the client hung up on the last answer before its end; waits for the server to know."""

    def close(self) -> None: ...


ProviderContract = Callable[[Rig], None]
