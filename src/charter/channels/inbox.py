"""The postman: what waits in an inbox and nobody is answering is answered, also what a process that died had taken."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final, Protocol

from ..core.errors import Answered, Busy, CharterError
from ..core.incoming import Incoming
from ..core.records import InboxMessage
from .handed import handed

LOOK_SECONDS: Final = 2.0
GRACE_NS: Final = 3 * 10**9  # who asked and waits for the answer takes the turn themselves
FIRST_REST: Final = 4.0
LONGEST_REST: Final = 300.0
HANDS: Final = 4
# A person at a terminal is told that their message is kept, and gets its answer with their next one.
NOT_OURS: Final = frozenset({"terminal", "cli_local"})


class Asked(Protocol):
    """The house, as far as a postman knows it."""

    @property
    def agents(self) -> Mapping[str, Any]: ...

    def ask(self, name: str, incoming: Incoming, *, patience_s: float) -> Any: ...


class Postman:
    """Goes round by himself, in threads; `wake` has him go at once. A lane that fails rests, longer each time.

    He takes no more lanes than he has hands: what he had in mind for later, another one may have answered by then.
    """

    def __init__(self, house: Asked, *, clock: Callable[[], int] = time.time_ns, hands: int = HANDS) -> None:
        self._house = house
        self._clock = clock
        self._rests: dict[tuple[str, str], tuple[float, float]] = {}
        self._busy: set[tuple[str, str]] = set()
        self._most, self._full = hands, False
        self._lock = threading.Lock()
        self._woken = threading.Event()
        self._closed = False
        self._hands = ThreadPoolExecutor(hands, thread_name_prefix="postman")
        self._thread = threading.Thread(target=self._go, name="postman", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def wake(self) -> None:
        self._woken.set()

    def close(self) -> None:
        self._closed = True
        self._woken.set()
        if self._thread.is_alive():
            self._thread.join()
        self._hands.shutdown(cancel_futures=True)

    def _go(self) -> None:
        while not self._closed:
            for name, sender in self.due():
                self._hands.submit(self.answer, name, sender)
            self._woken.wait(LOOK_SECONDS)
            self._woken.clear()

    def due(self) -> list[tuple[str, str]]:
        """Senders whose messages wait, are old enough, do not rest, and are in no hands here: the oldest first."""
        waiting: dict[tuple[str, str], int] = {}
        for name, agent in self._house.agents.items():
            with contextlib.suppress(CharterError):  # a store that is out of reach is looked at again
                agent.store.lapse(agent.name, self._clock())
                for message in filter(self._ours, agent.store.next_of_each(agent.name)):
                    waiting.setdefault((name, message.sender), message.received_at_ns)
        return [lane for lane in sorted(waiting, key=waiting.__getitem__) if self._free(lane)]

    def _ours(self, message: InboxMessage) -> bool:
        """Whether nobody else is about to answer this one."""
        if message.channel == "inbox":
            return True
        return message.channel not in NOT_OURS and message.received_at_ns <= self._clock() - GRACE_NS

    def _free(self, lane: tuple[str, str]) -> bool:
        with self._lock:
            until, _ = self._rests.get(lane, (0.0, 0.0))
            if lane in self._busy or until > self._clock() / 1e9:
                return False
            self._full = len(self._busy) >= self._most
            if self._full:
                return False
            self._busy.add(lane)
            return True

    def answer(self, name: str, sender: str) -> None:
        """Takes one turn for this sender; one that fails has the lane rest, and so for a moment one that is taken."""
        lane = name, sender
        failed, rest = False, 0.0
        try:
            self._read_there(name, self._house.ask(name, Incoming(channel="inbox", sender=sender), patience_s=0))
        except Answered:
            pass
        except Busy:
            rest = LOOK_SECONDS
        except Exception:  # the turn's record says what it was; here it only means: later
            failed = True
        with self._lock:
            self._busy.discard(lane)
            if failed:
                rest = min(max(self._rests.get(lane, (0.0, 0.0))[1] * 2, FIRST_REST), LONGEST_REST)
            if rest:
                self._rests[lane] = self._clock() / 1e9 + rest, rest if failed else 0.0
            else:
                self._rests.pop(lane, None)
            if self._full:  # somebody waits for a hand
                self._woken.set()

    def _read_there(self, name: str, turn: Any) -> None:
        """What is said at a page stays there to be read: nobody carries it further, and it does not wait to be sent."""
        if turn.record.channel == "web":
            handed(self._house.agents[name], turn)
