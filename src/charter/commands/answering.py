"""One turn of a chat: its reply, or one line that says why there is none and what becomes of the message."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from ..core.errors import Cancelled, CharterError

if TYPE_CHECKING:
    from ..channels.terminal import Terminal, Unattended
    from ..core.incoming import Incoming
    from ..turn import Agent, Turn


@dataclass(frozen=True, slots=True)
class Outcome:
    """A turn, or why there is none; `waits` says that its message is kept and will be answered with the next one."""

    turn: Turn | None = None
    id: str = ""
    code: str = "OK"
    problem: str = field(default="", repr=False)
    waits: bool = False


def answer(agent: Agent, incoming: Incoming, person: Terminal | Unattended) -> Outcome:
    """One turn; whatever goes wrong in it is told in one line, and never in the words of a stranger's error."""
    from .. import logs
    from ..turn import code_of, take_turn

    kept: dict[str, Any] = {}

    def note(event: str, fields: Any) -> None:
        kept.update(fields)
        agent.note(event, fields)

    person.begin()
    try:
        with person.stop.listening():
            turn = take_turn(replace(agent, note=note), incoming, person)
        return Outcome(turn, turn.id, turn.code)
    except (KeyboardInterrupt, Cancelled) as error:
        code, problem = code_of(error), "cancelled"
    except CharterError as error:
        code, problem = code_of(error), str(error)
    except Exception as error:  # the edge that answers: a stranger's error may carry text
        logs.failed(error)
        code, problem = code_of(error), f"something failed that should not ({type(error).__name__})"
    return Outcome(None, str(kept.get("turn", "")), code, problem, _waits(agent, incoming))


def _waits(agent: Agent, incoming: Incoming) -> bool:
    try:
        return any(message.sender == incoming.sender for message in agent.store.staged(agent.name))
    except CharterError:
        return False
