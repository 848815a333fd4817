"""A caller that keeps its own chat hands it in with every message; its texts never show in a repr."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from .dialogue import Said
from .errors import BadValue
from .ports import ToolSpec


@dataclass(frozen=True, slots=True)
class Carried:
    """What comes along with a message of such a caller.

    `system` is what the calling application asks for, `before` the chat up to the message, `after` what came since: the
    calls of its tools and what they answered. `tools` are the caller's own. `options` are sampling values by their
    OpenAI names, and `tool_choice`: a tool that must be called, "" for any. `max_tokens` may shorten a reply, never
    lengthen it.
    """

    system: str = field(default="", repr=False)
    before: tuple[Said, ...] = field(default=(), repr=False)
    after: tuple[Said, ...] = field(default=(), repr=False)
    tools: tuple[ToolSpec, ...] = field(default=(), repr=False)
    options: Mapping[str, Any] = field(default_factory=dict, repr=False)
    max_tokens: int | None = None

    @property
    def foreign(self) -> bool:
        """Whether a tool of the caller's answered something: that is text of others (N-09)."""
        return any(said.role == "tool" for said in (*self.before, *self.after))


# ── sampling values, by dialect ───────────────────────────────────────────────────────────────────────────────────

_SAME: Final = {
    name: name for name in ("temperature", "top_p", "stop", "seed", "presence_penalty", "frequency_penalty")
}
_NAMES: Final[Mapping[str, Mapping[str, str]]] = {
    "openai": {**_SAME, "parallel_tool_calls": "parallel_tool_calls"},
    "openai-responses": {name: name for name in ("temperature", "top_p", "parallel_tool_calls")},
    "anthropic": {"temperature": "temperature", "top_p": "top_p", "top_k": "top_k", "stop": "stop_sequences"},
    "ollama": {**_SAME, "top_k": "top_k"},
    "completion": _SAME,
}
# How a dialect says that a tool must be called: any, or the one that is named.
_CHOICES: Final[Mapping[str, Callable[[str], Any]]] = {
    "openai": lambda name: {"type": "function", "function": {"name": name}} if name else "required",
    "openai-responses": lambda name: {"type": "function", "name": name} if name else "required",
    "anthropic": lambda name: {"type": "tool", "name": name} if name else {"type": "any"},
}
CHOICE: Final = "tool_choice"
# How a dialect says that no tool may be called; the others are only told so in words.
_IN_WORDS: Final[Mapping[str, Any]] = {"openai": "none", "openai-responses": "none", "anthropic": {"type": "none"}}


def in_words(dialect: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """A provider's own fields for a reply in words; the tools stay in the request, so that its prefix is the same."""
    return {**given, CHOICE: _IN_WORDS[dialect]} if dialect in _IN_WORDS else dict(given)


def with_options(dialect: str, given: Mapping[str, Any], wanted: Mapping[str, Any]) -> dict[str, Any]:
    """A provider's own fields with what the caller may set among them, as this dialect names it.

    A value the dialect has no place for is left out; a tool that must be called is an error there, for leaving that
    out would answer another question.
    """
    if not wanted:
        return dict(given)
    names = _NAMES[dialect]
    own = {names[name]: value for name, value in wanted.items() if name in names}
    if dialect == "anthropic" and own.get("temperature", 0) > 1:
        own["temperature"] = 1
    if CHOICE in wanted:
        if dialect not in _CHOICES:
            raise BadValue(CHOICE, "this agent's model cannot be made to call a tool; leave it at auto")
        own[CHOICE] = _CHOICES[dialect](wanted[CHOICE])
    return {**given, "options": {**given.get("options", {}), **own}} if dialect == "ollama" else {**given, **own}
