"""A terminal: words as they come, a line for each call, and a person who sees what they say yes to."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from ..core.policy import Verdict
from ..core.state import State
from .stop import Stop

if TYPE_CHECKING:
    from rich.console import Console

    from ..core.dialogue import ToolCall
    from ..core.records import Approval, Author

ALLOWED: Final = Verdict("allow", "TOOL_APPROVED")
DENIED: Final = Verdict("deny", "TOOL_NOT_APPROVED", "a person said no to this call")
WAITS: Final = Verdict("ask", "TOOL_NEEDS_APPROVAL", "a person has to approve this call; it waits for one")
SHORT_CHARS: Final = 200
NAME_CHARS: Final = 64
# What moves a cursor, sets a colour, rings, reorders a line or is no character: C0 but tab and line end, C1, bidi.
_CONTROL: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def shown(text: str) -> str:
    """Text of others as a terminal may print it: it can be read, and do nothing."""
    return _CONTROL.sub(_picture, text.replace("\r\n", "\n"))


def _picture(found: re.Match[str]) -> str:
    code = ord(found[0])
    return chr(0x2400 + code) if code < 0x20 else "␡" if code == 0x7F else "�"


def one_line(text: str, limit: int = SHORT_CHARS) -> str:
    """The same on one line, cut short."""
    line = " ".join(shown(text).split())
    return line if len(line) <= limit else line[: limit - 1] + "…"


class Called(NamedTuple):
    """A call of a turn and what the gate said; its arguments are not kept."""

    name: str
    verdict: Verdict


class Unattended:
    """A pipe: nothing is shown, calls are kept for whoever asks, and what needs a person waits for one."""

    def __init__(self, by: Author, *, warn: Callable[[str], None], yes_to: Collection[str] = ()) -> None:
        self.by = by
        self.stop = Stop()
        self.calls: list[Called] = []
        self._warn = warn
        self._yes_to = yes_to

    def begin(self) -> None:
        self.calls = []

    def moved(self, state: State) -> None:
        self.stop.moved(state)

    def text(self, part: str) -> None: ...

    def called(self, call: ToolCall, verdict: Verdict) -> None:
        self.calls.append(Called(call.name, verdict))

    def answered(self, call: ToolCall, text: str) -> None: ...

    def stopped(self) -> bool:
        return self.stop.asked

    def ask(self, wanted: Approval) -> Verdict:
        if wanted.tool in self._yes_to:
            return ALLOWED
        self._warn(f"a call of {wanted.tool} waits for a person: charter approvals {wanted.id}")
        return WAITS


class Terminal:
    """A person at a terminal looks on, and is asked. `read` gives what they type after a prompt."""

    def __init__(
        self, console: Console, by: Author, *, read: Callable[[str], str], yes_to: Collection[str] = ()
    ) -> None:
        self.console = console
        self.by = by
        self.stop = Stop()
        self.calls: list[Called] = []
        self.said = False
        self._read = read
        self._yes_to = yes_to
        self._spinner: Any = None
        self._in_line = False

    def begin(self) -> None:
        self.calls, self.said, self._in_line = [], False, False

    def end(self) -> None:
        """Nothing turns any more, and the next line begins at its start."""
        self._still()
        if self._in_line:
            self.console.print()
            self._in_line = False

    def dim(self, text: str) -> None:
        """A line beside what is said."""
        self.end()
        self.console.print(shown(text), style="dim", markup=False, highlight=False, soft_wrap=True)

    # ── looking on ────────────────────────────────────────────────────────────────────────────────────────────────

    def moved(self, state: State) -> None:
        self.stop.moved(state)
        if state is State.INFERRING:
            self._think()
        elif state in (State.PERSISTING, State.FAULTED):
            self._still()

    def text(self, part: str) -> None:
        self._still()
        self.console.out(shown(part), end="", highlight=False)
        self.said = True
        self._in_line = not part.endswith("\n")

    def called(self, call: ToolCall, verdict: Verdict) -> None:
        self.calls.append(Called(call.name, verdict))
        became = {"allow": "done", "ask": "waits"}.get(verdict.decision, f"refused, {verdict.code}")
        self.dim(f"  · {one_line(call.name, NAME_CHARS)}: {'approved' if verdict == ALLOWED else became}")

    def answered(self, call: ToolCall, text: str) -> None:
        self._think()

    def stopped(self) -> bool:
        return self.stop.asked

    def _think(self) -> None:
        """Shows that the model is at work, where it can be shown and taken away again."""
        if self.console.is_terminal and self._spinner is None:
            self.end()
            self._spinner = self.console.status("", spinner="dots", spinner_style="dim")
            self._spinner.start()

    def _still(self) -> None:
        if self._spinner is not None:
            self._spinner.stop()
            self._spinner = None

    # ── being asked ───────────────────────────────────────────────────────────────────────────────────────────────

    def ask(self, wanted: Approval) -> Verdict:
        """Yes or no to one call, its arguments before the person's eyes; what was not shown whole is not approved."""
        self.end()
        if wanted.tool in self._yes_to:
            return ALLOWED
        if wanted.arguments is None:
            self.dim(f"{one_line(wanted.tool)}: what it would be called with was erased; it waits")
            return WAITS
        short = one_line(wanted.arguments)
        seen = short == wanted.arguments
        self._line(f"{one_line(wanted.tool, NAME_CHARS)} wants to act and needs your word", "bold")
        self._line(f"  {short}")
        while True:
            answer = self._answer()
            if answer == "y" and seen:
                return ALLOWED
            if answer == "n":
                return DENIED
            if answer == "":
                self.dim(f"it waits: charter approvals {wanted.id}")
                return WAITS
            if answer in ("s", "y"):
                self._line(shown(pretty(wanted.arguments)))
                seen = True

    def confirm(self, question: str) -> bool:
        """A plain yes to a question; anything else, and nothing, is no."""
        self.end()
        try:
            return self._read(f"{question} [y]es / [n]o ").strip().lower() in ("y", "yes")
        except EOFError:
            return False

    def _answer(self) -> str:
        """The first letter of what they chose; "" when there is nobody to answer any more."""
        try:
            while True:
                said = self._read("[y]es / [n]o / [s]how ").strip().lower()
                if said in ("y", "yes", "n", "no", "s", "show"):
                    return said[0]
        except EOFError:
            self.console.print()
            return ""

    def _line(self, text: str, style: str = "") -> None:
        self.console.print(text, style=style, markup=False, highlight=False, soft_wrap=True)


def pretty(arguments: str) -> str:
    """Arguments as people read JSON; as they are where they are not."""
    try:
        return json.dumps(json.loads(arguments), indent=2, ensure_ascii=False)
    except (ValueError, RecursionError):
        return arguments
