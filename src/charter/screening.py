"""What a turn may not let out: the hidden layers of its own prompt, judged with what was said before in the chat."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, Protocol

from .core.layer import Owner
from .core.policy import Verdict
from .guards import Screen, scan_call, scan_reply
from .guards.myself import without_self

if TYPE_CHECKING:
    from .core.assemble import Assembly

Hidden = Mapping[str, str]
History = Sequence[tuple[str, str]]
NOT_THEIRS: Final = frozenset({Owner.SEALED, Owner.OPERATOR, Owner.AGENT})


class Stream(Protocol):
    """Words on their way out: `feed` and `end` give what may leave, `finding` says when something may not."""

    @property
    def finding(self) -> Verdict: ...

    def feed(self, part: str) -> str: ...

    def end(self) -> str: ...


class ReplyGuard(Protocol):
    """The gate over what leaves: a whole text, a call's arguments, or words as they come."""

    def whole(self, text: str, hidden: Hidden, *, history: History) -> Verdict: ...

    def call(self, arguments: Mapping[str, Any], hidden: Hidden, *, history: History) -> Verdict: ...

    def stream(self, hidden: Hidden, *, history: History) -> Stream | None:
        """None: nothing may leave before the whole was seen."""


class Leaks:
    """No hidden layer leaves in a reply, in a tool's arguments, or piece by piece (N-08)."""

    def whole(self, text: str, hidden: Hidden, *, history: History) -> Verdict:
        return scan_reply(text, hidden, history=history)

    def call(self, arguments: Mapping[str, Any], hidden: Hidden, *, history: History) -> Verdict:
        return scan_call(arguments, hidden, history=history)

    def stream(self, hidden: Hidden, *, history: History) -> Stream:
        return Screen(hidden, history=history)


def hidden_in(assembly: Assembly, *, from_agent: bool = False) -> Hidden:
    """The layers of a prompt that no person is shown: what is sealed, the operator's or the agent's, unless visible.

    Who the agent is, it may say, in the very words it was told: "who are you?" is a question that is answered.
    `from_agent` leaves the agent's own layers out: in its calls it may repeat what it wrote itself.
    """
    owners = NOT_THEIRS - {Owner.AGENT} if from_agent else NOT_THEIRS
    return {
        layer.id: without_self(text) for layer, text in assembly.texts() if layer.owner in owners and not layer.visible
    }
