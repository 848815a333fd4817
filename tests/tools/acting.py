"""A person and an agent for tools to act for: what they keep is in lists, and what is refused is refused."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from charter.core.errors import Refused
from charter.core.records import Memory

AT = datetime(2026, 2, 26, 9, 30, 15, 250_000, tzinfo=UTC)
OWN = ("decision_loop", "inbox", "memory", "self_modification")


@dataclass
class Stand:
    """Satisfies `Acting` with nothing but memory."""

    agent: str = "ada"
    user: str = "zoe"
    at: datetime = AT
    standing: str = ""
    notes: list[Memory] = field(default_factory=list)
    skills: dict[str, str] = field(default_factory=dict)
    done: list[tuple[str, ...]] = field(default_factory=list)

    def amend(self, layer_id: str, content: str) -> str:
        if layer_id not in OWN:
            raise Refused("LAYER_NOT_WRITABLE", f"agent may not change {layer_id}")
        self.done.append(("amend", layer_id, content))
        return f"{layer_id} is rewritten from the next turn on."

    def propose(self, layer_id: str, content: str, reason: str) -> str:
        self.done.append(("propose", layer_id, content, reason))
        return "A person will decide."

    def instruct(self, instructions: str) -> str:
        self.done.append(("instruct", self.user, instructions))
        return "The instructions are replaced."

    def instructions(self) -> str:
        return self.standing

    def remember(self, text: str) -> str:
        self.done.append(("remember", self.user, text))
        return "Kept."

    def recall(self, query: str, limit: int) -> Sequence[Memory]:
        self.done.append(("recall", query, str(limit)))
        return [note for note in self.notes if query in note.text][:limit]

    def skill(self, name: str) -> str | None:
        return self.skills.get(name)
