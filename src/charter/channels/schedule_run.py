"""One tick of a schedule is one message, and a message is answered once: so a run can be taken up again by anybody."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final, Protocol

from ..core.errors import Answered, Busy, Cancelled, CharterError, NotStored
from ..core.incoming import Incoming
from ..core.served import Run, RunState, Schedule

if TYPE_CHECKING:
    from ..core.dialogue import ToolCall
    from ..core.policy import Verdict
    from ..core.ports import Store
    from ..core.state import State

CHANNEL: Final = "scheduled"
PATIENCE_SECONDS: Final = 600.0  # while another turn of this person is under way
LOOKED_AT: Final = 1_000
WITHDRAWN: Final = "SCHEDULE_WITHDRAWN"


class Said(Protocol):
    """What a run needs of a turn that came to its end."""

    @property
    def id(self) -> str: ...

    @property
    def code(self) -> str: ...

    @property
    def reply(self) -> str: ...


class Until:
    """Looks on until the worker stops."""

    def __init__(self, stopped: Callable[[], bool]) -> None:
        self._stopped = stopped

    def moved(self, state: State) -> None: ...

    def text(self, part: str) -> None: ...

    def called(self, call: ToolCall, verdict: Verdict) -> None: ...

    def answered(self, call: ToolCall, text: str) -> None: ...

    def stopped(self) -> bool:
        return self._stopped()


class Withdraw(Protocol):
    """Takes back a message that waits; whether it waited."""

    def __call__(self, agent: str, message_id: str, /, *, at_ns: int) -> bool: ...


@dataclass(frozen=True, slots=True)
class Desk:
    """What runs need of the house they are in: its store, its agents by the name they are served under (and what the
    store calls them), a way to ask one that waits so long for the answer, and who writes down what went wrong."""

    store: Store
    agents: Mapping[str, str]
    ask: Callable[[str, Incoming, Until, float], Said]
    withdraw: Withdraw
    code_of: Callable[[BaseException], str]
    failed: Callable[[BaseException], None]
    clock: Callable[[], int] = time.time_ns


@dataclass(frozen=True, slots=True)
class Ended:
    """How a run ended here: what is kept of it, and its turn where this call took it."""

    run: Run
    turn: Said | None = None


def message_id(schedule_id: str, tick_ns: int) -> str:
    return f"schedule:{schedule_id}:{tick_ns}"


def take_up(
    desk: Desk,
    schedule_id: str,
    tick_ns: int,
    *,
    stopped: Callable[[], bool] = lambda: False,
    again: bool = False,
) -> Ended | None:
    """Runs this tick if it is nobody's; None when it is somebody's, has ended, or its schedule is gone.

    With `again` a run that was begun is taken up where it was left, unless it is still under way: then None. A worker
    that stops in the middle leaves its run to the next one, so that is None too.
    """
    try:
        schedule = desk.store.schedule(schedule_id)
    except NotStored:
        return None
    if schedule.agent not in desk.agents:
        return None
    begun = desk.store.begin_run(schedule_id, tick_ns, at_ns=desk.clock())
    if not begun and not (again and state_of(desk, schedule_id, tick_ns) == "begun"):
        return None
    try:
        run, turn = _ask(desk, schedule, tick_ns, Until(stopped), 0.0 if again else PATIENCE_SECONDS)
    except (Busy, Cancelled):
        return None
    if schedule.channel == CHANNEL and turn is not None:
        _read_there(desk, schedule, turn)
    desk.store.end_run(
        schedule_id, tick_ns, state=run.state, turn_id=run.turn_id, code=run.code, at_ns=run.at_ns
    )  # fmt: skip
    return Ended(run, turn)


def state_of(desk: Desk, schedule_id: str, tick_ns: int) -> RunState | None:
    """How far a run is; None when nobody began it, or nobody knows of it any more."""
    found = (run.state for run in desk.store.runs(schedule_id, LOOKED_AT) if run.tick_ns == tick_ns)
    return next(found, None)


def _ask(
    desk: Desk, schedule: Schedule, tick_ns: int, watch: Until, patience_s: float
) -> tuple[Run, Said | None]:  # fmt: skip
    """The turn of a tick; however it fails, nothing of it is left waiting. Without patience it is one taken up."""
    name, agent = message_id(schedule.id, tick_ns), desk.agents[schedule.agent]

    def ended(state: RunState, code: str, turn_id: str = "") -> Run:
        return Run(schedule.id, tick_ns, state, turn_id, code, desk.clock())

    try:
        if not patience_s and desk.store.answered_by(agent, name):
            raise Answered("the worker died when it was answered, before it could say so")
        turn = desk.ask(schedule.agent, _incoming(desk, schedule, name), watch, patience_s)
        return ended("done", turn.code, turn.id), turn
    except Answered:  # with another message of this person, or by the worker that died after it
        turn_id = desk.store.answered_by(agent, name) or ""
        return ended("done", "OK", turn_id) if turn_id else ended("failed", WITHDRAWN), None
    except Cancelled:
        raise
    except Busy:
        if not patience_s or watch.stopped() or not _withdrawn(desk, agent, name):
            raise
        return ended("failed", "BUSY"), None
    except Exception as error:  # the edge: a run always ends, and says how
        _withdrawn(desk, agent, name)
        return ended("failed", desk.code_of(error)), None


def _incoming(desk: Desk, schedule: Schedule, name: str) -> Incoming:
    return Incoming(
        CHANNEL,
        _address(desk, schedule),
        schedule.text,
        datetime.fromtimestamp(desk.clock() / 10**9, UTC),
        user=schedule.user,
        id=name,
        via="" if schedule.channel == CHANNEL else schedule.channel,
    )


def _address(desk: Desk, schedule: Schedule) -> str:
    """Who is written to, as their channel knows them; on Telegram somebody who is paired still."""
    if schedule.channel != "telegram":
        return schedule.recipient or f"schedule:{schedule.id}"
    peers = desk.store.peers(desk.agents[schedule.agent], schedule.channel)
    found = [peer for peer in peers if peer.user == schedule.recipient]
    if not found:
        raise NotStored("peer of this user on telegram", "pair them: charter telegram pair --user NAME")
    return f"telegram:{max(found, key=lambda peer: peer.at_ns).peer}"


def _read_there(desk: Desk, schedule: Schedule, turn: Said) -> None:
    """What stays in the conversation has arrived with that."""
    agent = desk.agents[schedule.agent]
    for turn_id, reply in desk.store.replies(agent, _address(desk, schedule), turn_id=turn.id):
        desk.store.mark_sent(agent, turn_id, reply, desk.clock())


def _withdrawn(desk: Desk, agent: str, name: str) -> bool:
    try:
        return desk.withdraw(agent, name, at_ns=desk.clock())
    except CharterError:
        return False
