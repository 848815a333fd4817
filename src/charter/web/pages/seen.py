"""An agent as its operator sees it: every layer in order with who changed it, and every turn with what it cost."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, cast

from ...core.errors import CharterError
from ...core.layer import Owner
from ...interfaces import PromptLayerView, get_prompt_layers

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ...agent import Agent
    from ...charter import Charter
    from ...core.records import TurnRecord

WHY_NO_TEXT: Final = {
    Owner.TURN: "Made anew for every turn; the manifest of a turn has its hash.",
    Owner.USER: "Each person's own; shown to nobody else.",
}


@dataclass(frozen=True, slots=True)
class Layers:
    """The layers of an agent, or why they cannot be shown; `note` says of one why it has no text."""

    rows: Sequence[PromptLayerView] = field(default=(), repr=False)
    problem: str = ""

    @staticmethod
    def note(row: PromptLayerView) -> str:
        return WHY_NO_TEXT.get(row.owner, "It says nothing right now.")


def layers(agent: Agent) -> Layers:
    """Every layer in its one order; a charter whose files were changed says so, and the rest of the page stands."""
    try:
        return Layers(get_prompt_layers(agent.store, agent=agent.name, charter=cast("Charter", agent.charter)))
    except CharterError as error:
        return Layers(problem=str(error))


# ── turns ─────────────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class SeenTurn:
    """A turn in a list: how it ended and what it cost."""

    id: str
    at_ns: int
    channel: str
    sender: str
    outcome: str
    code: str
    tokens_in: int
    tokens_out: int
    cached: str


def turns(records: Iterable[TurnRecord]) -> list[SeenTurn]:
    return [
        SeenTurn(
            one.id, one.at_ns, one.channel, one.sender, one.outcome, one.code,
            one.counts.get("input", 0), one.counts.get("output", 0), _share(one),
        )
        for one in records
    ]  # fmt: skip


def _share(record: TurnRecord) -> str:
    """How much of what was read came from a cache; a dash where nobody said."""
    read, cached = record.counts.get("input", 0), record.counts.get("cached")
    return "–" if cached is None or not read else f"{min(100, round(100 * cached / read))} %"
