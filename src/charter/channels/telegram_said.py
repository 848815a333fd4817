"""What a bot says in its own words: fixed lines with a name, a code or an id in them, and never anybody's text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ..core.policy import Actor, Verdict
from ..core.records import Author

if TYPE_CHECKING:
    from ..core.dialogue import ToolCall
    from ..core.records import Approval
    from ..core.state import State

NEED_CODE: Final = "I answer people I was introduced to. Ask whoever runs me for a pairing code, and send it here."
WRONG_CODE: Final = "This code does not work: it was used, is older than 15 minutes, or is another bot's."
ALREADY: Final = "You are paired with me already, and this code does not work (any more). Just write."
TEXT_ONLY: Final = "I can read text only."
NOT_KEPT: Final = "I cannot keep this message: it has characters in it that are none. Please write it anew."
PAUSED: Final = "I was paused by a person (AGENT_PAUSED). Your message is kept, and answered when I go on."
OVER_SPENT: Final = "I have spent what I may for today (AGENT_OVER_SPEND). Your message is kept, and answered later."
UNSURE: Final = "The connection broke while I was answering, so a part may be missing. Ask me again if it is."


def paired(agent: str, user: str) -> str:
    return f"Hello. I am {agent}, and here you are {user}. Just write."


def failed(code: str) -> str:
    return f"I could not answer just now ({code}); your message is kept."


class Looking:
    """Looks on while turns go, and ends them when the bot stops."""

    def __init__(self) -> None:
        self.over = False

    def moved(self, state: State) -> None: ...

    def text(self, part: str) -> None: ...

    def called(self, call: ToolCall, verdict: Verdict) -> None: ...

    def answered(self, call: ToolCall, text: str) -> None: ...

    def stopped(self) -> bool:
        return self.over


class Asking:
    """Nobody can say yes on Telegram: a call that needs a person waits, and is named in a line."""

    by = Author(Actor.OPERATOR)

    def __init__(self) -> None:
        self.lines: list[str] = []

    def ask(self, wanted: Approval) -> Verdict:
        self.lines.append(f"A call of {wanted.tool} waits for approval: charter approvals {wanted.id}")
        return Verdict("ask", "TOOL_NEEDS_APPROVAL", "a person has to approve this call; it waits for one")
