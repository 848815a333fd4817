"""What is said between a turn and its model, as plain values; texts and arguments never show in a repr."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call a model asks for; `arguments` is the JSON text as the model wrote it, good or bad."""

    id: str
    name: str
    arguments: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Said:
    """One message beside the layers: a person's, the model's with the calls it made, or what a tool answered."""

    role: Literal["user", "assistant", "tool"]
    text: str = field(default="", repr=False)
    calls: tuple[ToolCall, ...] = ()
    call_id: str = ""
    name: str = ""


@dataclass(frozen=True, slots=True)
class Talk:
    """What was said before the message that is answered, and what was said since in this very turn."""

    before: tuple[Said, ...] = ()
    after: tuple[Said, ...] = ()


NO_TALK = Talk()


@dataclass(frozen=True, slots=True)
class Usage:
    """What a call cost in tokens; `cached` is how many of `input` came from a cache, None when nobody said."""

    input: int = 0
    output: int = 0
    cached: int | None = None

    def __add__(self, other: Usage) -> Usage:
        known = [usage.cached for usage in (self, other) if usage.cached is not None]
        return Usage(self.input + other.input, self.output + other.output, sum(known) if known else None)


Stop = Literal["end", "tools", "length", "refused"]


@dataclass(frozen=True, slots=True)
class Reply:
    """What a model answered: text, calls it wants made, or both."""

    text: str = field(default="", repr=False)
    calls: tuple[ToolCall, ...] = ()
    usage: Usage = Usage()
    stop: Stop = "end"
