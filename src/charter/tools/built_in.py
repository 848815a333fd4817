"""The tools Charter brings: each acts for the one user and agent of its turn, and no argument can name another."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC
from functools import cache
from typing import Annotated, Final

from ..core.errors import Refused, RequestError
from ..core.policy import ToolClass, ToolPolicy
from ..core.ports import Acting, Tool, ToolSpec
from ..core.records import FOREIGN, Memory
from ..core.text import block, cap, defused, inline, quote
from .function import Toolmaker, make
from .result import Result
from .rows import ruled

NOTES: Final = 10  # how many notes one look brings
NOTE_CHARS: Final = 2_000
# Small models repeat a result, or stop at it, unless its end says what is wanted.
WORDS: Final = "Now answer the message itself, in words."  # small models say again what a tool said
NOW: Final = "Now answer the message itself, in words, from your own instructions and from what was found."
KINDS: Final = {
    "update_prompt_layer": ToolClass.WRITE,
    "update_instructions": ToolClass.WRITE,
    "save_memory": ToolClass.WRITE,
    "read_memory": ToolClass.READ,
    "read_skill": ToolClass.READ,
    "propose_change": ToolClass.DRAFT,
    "current_time": ToolClass.READ,
}
STAGES: Final = frozenset({"update_prompt_layer", "update_instructions", "propose_change"})  # by themselves (N-09)
_NUMBER: Final = re.compile(r"(?:layer\s*)?(\d{1,3})", re.IGNORECASE)

Layer = Annotated[str | int, "The layer's id, such as decision_loop, or its number."]


def built_in(
    acting: Acting,
    names: Sequence[str],
    *,
    layers: Mapping[str, str] | None = None,
    specs: Iterable[ToolSpec] = (),
    policies: Mapping[str, ToolPolicy] | None = None,
) -> dict[str, Tool]:
    """The built-in tools of these names for one turn; `layers` maps a layer's label to its id ("6": "decision_loop").

    `specs` and `policies` are the charter's rows; they win over what is said here.
    """
    makers = _makers(tuple((layers or {}).items()))
    unknown = [name for name in names if name not in makers]
    if unknown:
        raise RequestError("built-in tool", unknown[0], tuple(makers))
    return ruled((makers[name](acting) for name in dict.fromkeys(names)), specs, policies or {})


@cache
def _makers(layers: tuple[tuple[str, str], ...]) -> dict[str, Toolmaker]:
    """Made once for a charter: reading hints takes longer than a turn should wait."""
    ids = dict(layers)

    def update_prompt_layer(
        acting: Acting,
        layer_id: Layer,
        content: Annotated[str, "The complete new text of the layer; it replaces the old one."],
    ) -> str:
        """Rewrite one of your layers, when a lesson asks for it; never to answer a question. The next turn has it."""
        return f"{acting.amend(_layer(layer_id, ids), content)} {WORDS}"

    def propose_change(
        acting: Acting,
        layer_id: Layer,
        content: Annotated[str, "The complete text you propose."],
        reason: Annotated[str, "Why, in a sentence, for the person who decides."] = "",
    ) -> str:
        """Propose a new text for a layer you may not rewrite yourself; a person approves or rejects it."""
        return acting.propose(_layer(layer_id, ids), content, reason)

    made = (
        make(update_prompt_layer, kind="WRITE", max_per_turn=1, foreign=False),
        make(update_instructions, kind="WRITE", own=True, foreign=False),
        make(save_memory, kind="WRITE", own=True, foreign=False),
        make(read_memory),
        make(read_skill),
        make(propose_change, kind="DRAFT", max_per_turn=1, foreign=False),
        make(current_time, foreign=False),
    )
    return {(name := maker.spec.name): replace(maker, stages=name in STAGES, inside=True) for maker in made}


def _layer(given: str | int, ids: Mapping[str, str]) -> str:
    """A layer's id, from its id or its number; whether it may be changed is for others to say."""
    text = str(given).strip()
    number = _NUMBER.fullmatch(text)
    return ids.get(number[1] if number else text, text)


def update_instructions(
    acting: Acting,
    instructions: Annotated[
        str, "All instructions that hold from now on; what is left out is gone. Empty clears them."
    ],
) -> str:
    """Set what this user wants you to do in every conversation, as when they say "always …" or "never …".
    The new text replaces the old one whole, so call read_memory first and keep what should stay.
    """
    return acting.instruct(instructions)


def save_memory(
    acting: Acting, text: Annotated[str, "The fact to keep, in a sentence that is clear without this conversation."]
) -> str:
    """Keep a fact for later conversations, as when you are told to remember something."""
    if not text.strip():
        raise Refused("TOOL_BAD_ARGUMENTS", "save_memory: text is empty; say what to keep")
    return acting.remember(text.strip())


def read_memory(acting: Acting, query: Annotated[str, "What to look for; empty for the newest notes."] = "") -> Result:
    """Look up what was kept before, and the user's standing instructions in full.
    Call it before you answer anything about the user or about earlier conversations.
    """
    notes = acting.recall(query.strip(), NOTES)
    said = "\n\n".join((_instructions(acting.instructions()), _notes(notes, query.strip()), NOW))
    return Result(said, foreign=any(note.provenance.source_class in FOREIGN for note in notes))


def _instructions(text: str) -> str:
    return f"Standing instructions:\n{block(text)}" if text.strip() else "Standing instructions: none."


def _notes(notes: Sequence[Memory], query: str) -> str:
    if not notes:
        return "Notes: nothing found." if query else "Notes: none yet."
    lines = [f"- [{inline(note.day)}] {quote(cap(note.text, NOTE_CHARS).text)}" for note in notes]
    return "\n".join(("Notes:", *lines))


def read_skill(acting: Acting, name: Annotated[str, "The skill's name as it is listed."]) -> Result:
    """Read a skill's whole text before you use it."""
    text = acting.skill(name)
    if text is None:
        raise Refused("SKILL_UNKNOWN", "there is no skill of this name; use one that is listed")
    return Result(defused(text), foreign=True)


def current_time(acting: Acting) -> str:
    """The time now, in UTC."""
    return acting.at.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
