"""A turn seen from the web: what it says and does leaves its thread part by part, and who went away stops it."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Literal

from ..core.errors import CharterError
from ..core.policy import Verdict
from ..core.state import State

if TYPE_CHECKING:
    from ..core.dialogue import ToolCall
    from ..core.records import Approval, Author

ALLOWED: Final = Verdict("allow", "TOOL_APPROVED")
DENIED: Final = Verdict("deny", "TOOL_NOT_APPROVED", "a person said no to this call")
WAITS: Final = Verdict("ask", "TOOL_NEEDS_APPROVAL", "a person has to approve this call; it waits for one")
ASK_SECONDS: Final = 120.0
LOOK_SECONDS: Final = 0.25


@dataclass(frozen=True, slots=True)
class Said:
    """One thing that happened in a turn: words, a call and its verdict, or a call that waits for this person."""

    kind: Literal["text", "call", "approval"]
    text: str = field(default="", repr=False)
    name: str = ""
    verdict: Verdict | None = None
    approval: Approval | None = None


class Parts:
    """Looks on in the turn's thread and hands over in the loop's; `async for` ends when `end` was called.

    A turn that lost its lane is taken anew. Where words of it are out already that would say them twice, so it is
    stopped, and its message waits.
    """

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._queue: asyncio.Queue[Said | None] = asyncio.Queue()
        self._stop = threading.Event()
        self._heard = self._spoke = False
        self.state: State | None = None

    async def __aiter__(self) -> AsyncIterator[Said]:
        self._heard = True
        while (said := await self._queue.get()) is not None:
            yield said

    def _put(self, said: Said | None) -> None:
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._queue.put_nowait, said)

    def end(self) -> None:
        """Nothing more comes."""
        self._put(None)

    def stop(self) -> None:
        """Nobody wants the answer any more; the turn ends at its next step."""
        self._stop.set()

    # ── looking on ────────────────────────────────────────────────────────────────────────────────────────────────

    def moved(self, state: State) -> None:
        self.state = state
        if state is State.LOADING and self._heard and self._spoke:
            self.stop()

    def text(self, part: str) -> None:
        self._spoke = True
        self._put(Said("text", part))

    def called(self, call: ToolCall, verdict: Verdict) -> None:
        self._put(Said("call", name=call.name, verdict=verdict))

    def answered(self, call: ToolCall, text: str) -> None: ...

    def waits(self, wanted: Approval) -> None:
        self._put(Said("approval", name=wanted.tool, approval=wanted))

    def stopped(self) -> bool:
        return self._stop.is_set()

    def pause(self, seconds: float) -> bool:
        """Waits a moment in the turn's thread; whether the person is still there."""
        return not self._stop.wait(seconds)


class Asking:
    """A person at a page: a call that needs their word is shown, and the turn waits while they think.

    They answer through the API, in this process or another, so their answer is looked for where it is stored.
    """

    def __init__(self, by: Author, parts: Parts, stored: Callable[[str], Approval], *, seconds: float = ASK_SECONDS):
        self.by = by
        self._parts = parts
        self._stored = stored
        self._seconds = seconds

    def ask(self, wanted: Approval) -> Verdict:
        self._parts.waits(wanted)
        for _ in range(int(self._seconds / LOOK_SECONDS)):
            if not self._parts.pause(LOOK_SECONDS):
                return WAITS
            try:
                state = self._stored(wanted.id).state
            except CharterError:
                return WAITS
            if state != "open":
                return ALLOWED if state == "approved" else DENIED
        return WAITS
