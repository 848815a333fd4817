"""What a caller asks, whichever API it speaks: one message, the chat around it, and how it wants its answer."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final

from ...core.carried import Carried
from ...core.dialogue import Said, ToolCall
from ...core.errors import BadValue
from .reading import TOOL_NAME, plain, table, text

if TYPE_CHECKING:
    from collections.abc import Callable

    from ...core.ports import ToolSpec
    from ...turn import Turn

GAP: Final = "\n\n"


@dataclass(frozen=True, slots=True)
class Asked:
    """A request, read. `usage` asks for a last chunk with the tokens; `echo` is what the answer repeats of it."""

    model: str
    text: str = field(repr=False)
    carried: Carried
    stream: bool = False
    usage: bool = False
    echo: Mapping[str, Any] = field(default_factory=dict, repr=False)


@dataclass(frozen=True, slots=True)
class Head:
    """What every answer of one request bears: its id, the second it was asked, and the model as the caller named it."""

    id: str
    at: int
    model: str


@dataclass(frozen=True, slots=True)
class Api:
    """One vendor's form: how a request is read, and how an answer, its stream and an error are written.

    `stream` gives a writer of events; `error` the body of an error from its status, code, words and parameter.
    """

    read: Callable[[Mapping[str, Any]], Asked]
    whole: Callable[[Head, Asked, Turn], dict[str, Any]]
    stream: Callable[[Head, Asked], Any]
    error: Callable[[int, str, str, str], dict[str, Any]]


@dataclass(slots=True)
class Heard:
    """A chat while it is read: what the caller asks for, and who said what; parts of one turn stand in order.

    `waiting` are the calls of the last assistant message that have no answer yet: the name of each by its id.
    """

    system: list[str] = field(default_factory=list, repr=False)
    talk: list[Said] = field(default_factory=list, repr=False)
    waiting: dict[str, str] = field(default_factory=dict, repr=False)

    def __repr__(self) -> str:
        return f"Heard({len(self.talk)} messages)"

    def says(self, role: str, words: str, where: str) -> None:
        """A message of text; `system` and `developer` are the calling application's, wherever they stand."""
        plain(words, where)
        if role in ("system", "developer"):
            self.system.append(words)
        elif role == "user":
            self._said(Said("user", words))
        elif role == "assistant":
            self._said(Said("assistant", words))
        else:
            raise BadValue(where, "has a role that is not known here")

    def calls(self, calls: Sequence[ToolCall]) -> None:
        """Calls that the assistant made, beside what it said last or by themselves."""
        last = self.talk[-1] if self.talk else None
        if last is None or last.role != "assistant":
            self._said(Said("assistant", calls=tuple(calls)))
        else:
            self.talk[-1] = replace(last, calls=(*last.calls, *calls))
        self.waiting |= {call.id: call.name for call in calls}

    def result(self, call_id: str, words: str, where: str) -> None:
        """What a tool of the caller's answered to a call before it."""
        name = self.waiting.pop(call_id, None)
        if name is None:
            raise BadValue(where, "answers no call that stands before it and waits for its answer")
        self.talk.append(Said("tool", plain(words, where), call_id=call_id, name=name))

    def _said(self, said: Said) -> None:
        self.talk.append(said)
        self.waiting = {}

    def asked(self, tools: Sequence[ToolSpec], options: Mapping[str, Any], most: int | None) -> tuple[str, Carried]:
        """The message that is answered, the last of the user's, and everything around it."""
        self._check()
        places = [index for index, said in enumerate(self.talk) if said.role == "user" and said.text.strip()]
        if not places:
            raise BadValue("messages", "there is no message of the user's with a text to answer")
        at = places[-1]
        before, after = (tuple(filter(_speaks, part)) for part in (self.talk[:at], self.talk[at + 1 :]))
        system = GAP.join(filter(str.strip, self.system))
        return self.talk[at].text, Carried(system, before, after, tuple(tools), options, most)

    def _check(self) -> None:
        """Every call has its answer, and the last word is not the assistant's."""
        for index, said in enumerate(self.talk):
            wanted = {call.id for call in said.calls}
            given = {one.call_id for one in self.talk[index + 1 : index + 1 + len(wanted)] if one.role == "tool"}
            if wanted - given:
                raise BadValue("messages", f"{len(wanted - given)} call(s) of tools have no answer after them")
        if self.talk and self.talk[-1].role == "assistant":
            raise BadValue("messages", "the last message is the assistant's; end with the user's or a tool's answer")


def _speaks(said: Said) -> bool:
    return bool(said.text.strip() or said.calls or said.role == "tool")


def call_of(call_id: Any, name: Any, arguments: Any, where: str) -> ToolCall:
    """A call as the caller says it was made; its arguments are JSON text, or an object."""
    if not isinstance(call_id, str) or not 0 < len(call_id) <= 128 or not call_id.isprintable():
        raise BadValue(f"{where}.id", "is a text of 1 to 128 characters")
    if not isinstance(name, str) or not TOOL_NAME.fullmatch(name):
        raise BadValue(f"{where}.name", "has 1 to 64 letters, digits, _ and -")
    if isinstance(arguments, str):
        try:
            found = json.loads(arguments or "{}")
        except (ValueError, RecursionError):
            raise BadValue(f"{where}.arguments", "is not JSON") from None
    else:
        found = arguments
    if not isinstance(found, dict):
        raise BadValue(f"{where}.arguments", "is not an object")
    written = arguments if isinstance(arguments, str) else json.dumps(found, ensure_ascii=False)
    return ToolCall(call_id, name, plain(written or "{}", where))


def texts(content: Any, kinds: Mapping[str, str], where: str) -> str:
    """Content as one text: as it stands, or its text parts together; a part of another kind is refused.

    `kinds` gives the field that holds the text of each kind of part; an empty one is passed over.
    """
    if content is None or isinstance(content, str):
        return content or ""
    if not isinstance(content, list):
        raise BadValue(where, "is a text or a list of parts")
    found = []
    for index, part in enumerate(content):
        place = f"{where}[{index}]"
        kind = table(part, place).get("type")
        if not isinstance(kind, str) or kind not in kinds:
            raise BadValue(place, "is not text; images, audio and files are not supported here")
        if kinds[kind]:
            found.append(text(part, kinds[kind], "", where=f"{place}."))
    return "".join(found)
