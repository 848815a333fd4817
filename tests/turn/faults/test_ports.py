"""Whatever stands around a turn may fail in it: tools that cannot be made, gates, files, a person who walks away."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from charter.agent import Guards
from charter.core.dialogue import ToolCall
from charter.core.errors import BudgetExceeded, Tampered
from charter.core.policy import Actor, ToolClass, ToolPolicy
from charter.core.ports import Tool, ToolSpec
from charter.core.records import Author
from charter.screening import Leaks
from charter.turn import take_turn

from ..places import said
from .rooms import CANARY, KINDS, agent_in, answered_whole, asked, codes, failed_alone, left, opened

pytestmark = pytest.mark.requirement("S0-13", "S0-15")


def broken(*_: Any, **__: Any) -> Any:
    raise RuntimeError(CANARY)


class Away:
    """A person who walks away from the terminal."""

    by = Author(Actor.OPERATOR, "root")

    def ask(self, wanted: object) -> Any:
        raise EOFError(CANARY)


SEND = Tool(ToolSpec("send", "Sends."), ToolPolicy("send", ToolClass.EXECUTE), lambda _: "sent")


class BrokenGate(Leaks):
    """A gate over the reply that falls when it is asked."""

    whole = call = stream = broken


PORTS: dict[str, dict[str, Any]] = {
    "tools that cannot be made": {"tools": broken},
    "a gate over the message": {"guards": Guards(message=broken)},
    "a gate over the reply": {"guards": Guards(reply=BrokenGate())},
    "what reads the calls": {"read_calls": broken},
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("port", PORTS)
def test_a_part_that_breaks_fails_the_turn_and_the_message_waits(port: str, kind: str, tmp_path: Path) -> None:
    with opened(kind, tmp_path) as store:
        agent = agent_in(store, said("ok"), charter="assistant", **PORTS[port])
        before = left(store, agent.name)
        with pytest.raises(RuntimeError):
            take_turn(agent, asked(1))
        failed_alone(agent, before, "INTERNAL_ERROR", waiting=[f"{CANARY} asks 1"])
        whole = agent_in(store, said("Here I am."), charter="assistant", name=agent.name)
        take_turn(whole, asked(2))
        answered_whole(whole, [f"{CANARY} asks 1", f"{CANARY} asks 2"])


@pytest.mark.parametrize("kind", KINDS)
def test_a_person_who_walks_away_fails_the_turn_and_what_they_were_asked_waits(kind: str, tmp_path: Path) -> None:
    with opened(kind, tmp_path) as store:
        script = (said("", ToolCall("c1", "send", "{}")), said("It waits."))
        agent = agent_in(store, *script, tools=lambda _: {"send": SEND}, approver=Away())
        with pytest.raises(EOFError):
            take_turn(agent, asked(1))
        assert codes(agent) == [("failed", "INTERNAL_ERROR")]
        assert [one.state for one in store.approvals(agent.name)] == ["open"]
        assert take_turn(agent, asked(2)).reply == "It waits."


@pytest.mark.parametrize("error", [Tampered("sovereign", ("layers/00.md",)), BudgetExceeded(needed=9, limit=8)])
def test_a_prompt_that_cannot_be_made_is_never_sent(
    error: Exception, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: Any, **__: Any) -> Any:
        raise error

    with opened("memory", tmp_path) as store:
        agent = agent_in(store, said("Here I am."))
        before = left(store, agent.name)
        with monkeypatch.context() as patch:
            patch.setattr(type(agent.charter), "assemble", refuse)
            with pytest.raises(type(error)):
                take_turn(agent, asked(1))
        code = "TAMPERED" if isinstance(error, Tampered) else "BUDGET_EXCEEDED"
        failed_alone(agent, before, code, waiting=[f"{CANARY} asks 1"])
        take_turn(agent, asked(2))
        answered_whole(agent, [f"{CANARY} asks 1", f"{CANARY} asks 2"])
