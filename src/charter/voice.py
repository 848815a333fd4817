"""Words on their way out: they leave as they come where the channel streams, unless the reply turns out silent."""

from __future__ import annotations

from .converse import streams
from .core.silence import Quiet
from .course import Course


class Voice:
    """What a streaming channel hears of a turn; what it heard, put together, is the reply."""

    def __init__(self, course: Course) -> None:
        self._course = course
        self._quiet = Quiet(course.agent.charter.silence)
        self._live = streams(course)
        self._step = -1

    def hear(self, part: str) -> None:
        """A part of the model's words; raises when the turn is cancelled or too late, which ends the request."""
        self._course.may_stop()
        if not self._live:
            return
        new = self._step != len(self._course.steps)
        self._step = len(self._course.steps)
        self._say(self._quiet.feed("\n\n" + part if new and self._course.texts else part))

    def end(self) -> None:
        """The reply is whole and not silent: what was held back leaves too."""
        if self._live:
            self._say(self._quiet.end())

    def _say(self, text: str) -> None:
        if text:
            self._course.watch.text(text)
