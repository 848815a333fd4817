"""Words on their way out: where the channel streams they leave as they come, unless the reply is silent or leaks."""

from __future__ import annotations

from typing import Final

from .core.policy import Verdict
from .core.silence import Quiet
from .course import Course

ALLOW: Final = Verdict("allow")


class Voice:
    """What a streaming channel hears of a turn; what it heard, put together, is the reply."""

    def __init__(self, course: Course) -> None:
        self._course = course
        self._quiet = Quiet(course.agent.charter.silence)
        self._screen = course.screen
        self._step = -1

    def hear(self, part: str) -> None:
        """A part of the model's words; raises when the turn is cancelled or too late, which ends the request."""
        self._course.may_stop()
        if self._screen is None:
            return
        new = self._step != len(self._course.steps)
        self._step = len(self._course.steps)
        self._say(self._screen.feed(self._quiet.feed("\n\n" + part if new and self._course.texts else part)))

    def end(self) -> Verdict:
        """The reply is whole and not silent: what was held back leaves too, unless the guard says no to the whole."""
        if self._screen is None:
            return ALLOW
        self._say(self._screen.feed(self._quiet.end()) + self._screen.end())
        return self._screen.finding

    def _say(self, text: str) -> None:
        if text:
            self._course.spoken = True
            self._course.watch.text(text)
