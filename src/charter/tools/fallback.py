"""Calls written as text, for models without tool calling: what is clearly a call is read, what is an example is left.

    ```tool_call
    {"tool": "read_memory", "arguments": {"query": "tea"}}
    ```

- A block marked `tool_call` (or a <tool_call> tag) that names a known tool is a call wherever it stands in a reply.
- A block marked `json` or not at all, and an object that is the whole reply, count as the last thing of a reply only.
- Quoted lines and blocks shown inside others are examples, and so is an indented block that is not the last thing.
- The last thing of a reply, meant as a call but not to be read as one, is a problem: nothing is called, and the model
  is asked once more.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal, NamedTuple

from ..core.dialogue import ToolCall
from .blocks import MARKED, TAGS, UNMARKED, Begin, begins
from .calls import Call, Flaw, NoCall, calls_of, read_arguments
from .loose import Unreadable, Why, read

__all__ = ["Parsed", "Problem", "ask_again", "parse", "read_arguments", "render"]

Problem = Flaw | Why | Literal["unknown_tool", "not_fenced", "too_many"]
ATTEMPTS: Final = 16  # of each sort in one reply, so that work grows with the length of a reply alone

_SIGNS: Final = ("```", "~~~", "_call>", "{")  # without one of these a reply is prose
_ASK: Final[Mapping[Problem, str]] = {
    "unreadable": "The JSON in your tool_call block could not be read.",
    "truncated": "Your tool_call block ended before its JSON was complete.",
    "unknown_tool": "Your tool_call block names a tool that does not exist; use the exact name of a listed tool.",
    "no_tool": "Your tool_call block names no tool.",
    "bad_arguments": "The arguments in your tool_call block are not a JSON object.",
    "not_fenced": "Your call stood in the text without a tool_call block around it.",
    "too_many": f"Your reply holds more than {ATTEMPTS} tool_call blocks.",
}


@dataclass(frozen=True, slots=True)
class Parsed:
    """A reply apart: what was said, and the calls that were asked for; with a problem there are no calls."""

    text: str = field(repr=False)
    calls: tuple[ToolCall, ...] = ()
    problem: Problem | None = None


def parse(text: str, known: Collection[str], *, first: int = 1) -> Parsed:
    """The calls of a reply to tools of these names, numbered from `first`; never an exception."""
    if not any(sign in text for sign in _SIGNS):
        return Parsed(text)
    reply = _Reply(text, frozenset(known))
    for step in (reply.marked, reply.unmarked, reply.whole, reply.unfenced):
        if not reply.calls and reply.problem is None:
            step()
    problem = "too_many" if len(reply.calls) > ATTEMPTS else reply.problem
    if problem is not None or not reply.calls:
        return Parsed(text, (), problem)
    calls = (ToolCall(f"call_{at}", call.name, _json(call.arguments)) for at, call in enumerate(reply.calls, first))
    return Parsed(_without(text, reply.spans), tuple(calls))


def ask_again(problem: Problem) -> str:
    """What a model is told, once, when its call could not be read."""
    return (
        f"{_ASK[problem]} Nothing was run. If you meant to call a tool, send that one block again, complete and alone; "
        "if not, answer without it."
    )


def render(name: str, arguments: Mapping[str, Any]) -> str:
    """A call in the format, as a model should have written it."""
    return f"```tool_call\n{_json({'tool': name, 'arguments': arguments})}\n```"


def _json(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return json.dumps(value) if re.search("[\ud800-\udfff]", text) else text


def _without(text: str, spans: list[tuple[int, int]]) -> str:
    edges = [0, *(edge for span in spans for edge in span), len(text)]
    said = [text[start:end].strip() for start, end in zip(edges[::2], edges[1::2], strict=True)]
    return "\n\n".join(filter(None, said))


# ── one reply ─────────────────────────────────────────────────────────────────────────────────────────────────────

_VALUE: Final = re.compile(r"[\s,;]*+(?=[{\[])")
_END: Final = re.compile(rf"(?:[\s,;}}\])]|//[^\n]*+)*+(?:`{{3,}}|~{{3,}}|</{TAGS}>)|[\s,;}}\])]*+")
_NEXT_END: Final = re.compile(rf"^[ \t]*+(?:`{{3,}}|~{{3,}})[ \t]*+$|</{TAGS}>|\Z", re.MULTILINE)
_NOTHING_MORE: Final = re.compile(rf"(?:[\s`~,;}}\])]|</?{TAGS}>|<\|[a-z_]{{1,20}}\|>|</s>)*+\Z")
_CALLS_A_TOOL: Final = re.compile(
    r"\s*+[{\[][\s{\[]*+[\"'“‘]?(?:tool|name)[\"'”’]?\s*+[:：]\s*+[\"'“‘]?([A-Za-z0-9_-]{1,64})(?![A-Za-z0-9_-])"
)


class _Read(NamedTuple):
    """A block that was read: its calls or its flaw, and where it ends."""

    calls: list[Call]
    end: int
    flaw: Flaw | None = None


class _Reply:
    """A reply being read: the calls found so far and where they stood, or the problem with them."""

    __slots__ = ("begins", "calls", "known", "problem", "spans", "text")

    def __init__(self, text: str, known: frozenset[str]) -> None:
        self.text = text
        self.known = known
        self.calls: list[Call] = []
        self.spans: list[tuple[int, int]] = []
        self.problem: Problem | None = None
        self.begins = list(begins(text))

    def marked(self) -> None:
        """Blocks that say they are calls."""
        done = tried = 0
        for begin in self.begins:
            if begin.label in MARKED and begin.at >= done:
                tried += 1
                if tried > ATTEMPTS:
                    self.problem = "too_many"
                    return
                done = self._take(begin, sure=True)

    def unmarked(self) -> None:
        """Blocks that may be calls when they are the last thing."""
        candidates = [begin for begin in self.begins if begin.label in UNMARKED and not begin.indented]
        for begin in candidates[-ATTEMPTS:]:
            if not self.calls and self.problem is None:
                self._take(begin, sure=False)

    def whole(self) -> None:
        """An object and nothing beside it."""
        if _VALUE.match(self.text):
            self._take(Begin(0, 0), sure=False)

    def unfenced(self) -> None:
        """A call at the end of prose without a frame is not made: it may be one that is only shown."""
        at = 0 if self.text.startswith("{") else self.text.rfind("\n{") + 1
        if at and self.text.rstrip().endswith(("}", "]")):
            self._take(Begin(at, at), sure=False)
            if self.calls:
                self.calls, self.spans, self.problem = [], [], "not_fenced"

    def _take(self, begin: Begin, *, sure: bool) -> int:
        """Takes a block for what it means; where the next may begin.

        Where it is not sure that a call is meant, it has to be the last thing, and written as calls are.
        """
        try:
            found = self._read(begin.inside)
        except Unreadable as error:
            end = _NEXT_END.search(self.text, begin.inside)
            last = error.why == "truncated" or end is None or self._is_last(end.end())
            if last and (sure or self._begins_as_call(begin.inside)):
                self.problem = error.why
            return begin.inside
        last = self._is_last(found.end)
        if not last and (not sure or begin.indented):
            return begin.inside
        if found.flaw or not all(call.name in self.known for call in found.calls):
            if last and (sure or (found.calls and all(call.form == "exact" for call in found.calls))):
                self.problem = found.flaw or "unknown_tool"
            return begin.inside
        if not sure and any(call.form == "flat" for call in found.calls):
            return begin.inside
        self.calls += found.calls
        self.spans.append((begin.at, len(self.text) if last else found.end))
        return found.end

    def _read(self, at: int) -> _Read:
        """Every value of a block and the mark that ends it; Unreadable when one of them is not whole."""
        calls: list[Call] = []
        flaw: Flaw | None = None
        following = _VALUE.match(self.text, at)
        if following is None:
            raise Unreadable("unreadable" if self.text[at:].strip() else "truncated")
        while following is not None:
            found = read(self.text, following.end())
            try:
                made = calls_of(found.value)
            except NoCall as error:
                made, flaw = [], error.flaw
            # Where a reply just stops, only what was closed is known to be whole: the arguments, if not the call.
            whole = isinstance(found.value, dict) and found.missing == 1 and made and made[0].form != "flat"
            if found.missing and not found.marked and not whole:
                raise Unreadable("truncated")
            calls += made
            at = found.end
            following = _VALUE.match(self.text, at)
        end = _END.match(self.text, at)
        return _Read(calls, end.end() if end else at, flaw)

    def _is_last(self, at: int) -> bool:
        return _NOTHING_MORE.match(self.text, at) is not None

    def _begins_as_call(self, at: int) -> bool:
        """Whether what cannot be read begins as a call of a known tool does."""
        begun = _CALLS_A_TOOL.match(self.text, at)
        return begun is not None and begun[1] in self.known
