"""What the larger embedded model does of itself at temperature 0: instructions, memory and identity, in whole turns."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from charter import Incoming, load
from charter.agent import Agent
from charter.app import make_agent
from charter.providers.embedded import Embedded
from charter.stores.memory import MemoryStore
from charter.turn import take_turn

from .test_turns import Hearing

pytestmark = [pytest.mark.model, pytest.mark.deep, pytest.mark.requirement("N-16")]


class Watching(Hearing):
    """Keeps which tools were called."""

    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []

    def called(self, call: Any, verdict: Any) -> None:
        self.names.append(call.name)


def agent_of(name: str, model: Embedded, **world: Any) -> Agent:
    return replace(make_agent(load(name, **world), MemoryStore(), model), max_reply_tokens=256)


def say(agent: Agent, text: str, mode: str | None = None) -> tuple[Any, Watching]:
    watching = Watching()
    said = Incoming(channel="terminal", sender="zoe", user="zoe", operator=True, text=text, mode=mode)
    return take_turn(agent, said, watching), watching


@pytest.mark.requirement("S4-07", "S4-12")
def test_always_answer_in_bullet_points_becomes_an_instruction_and_the_next_prompt_has_it(
    larger_model: Embedded,
) -> None:
    agent = agent_of("assistant", larger_model)
    _, watching = say(agent, "Always answer in bullet points.")
    assert "update_instructions" in watching.names
    assert "bullet" in agent.store.instructions(agent.name, "zoe").lower()
    turn, _ = say(agent, "What is in a cheese sandwich?")
    instructions = turn.assembly.reveal().partition("## User Instructions")[2]
    assert "bullet" in instructions.lower()


@pytest.mark.requirement("S4-09")
def test_a_question_about_the_user_leads_to_read_memory(larger_model: Embedded) -> None:
    agent = agent_of("assistant", larger_model)
    agent.store.remember(agent.name, "zoe", "Zoe's dog is called Rex.", day="2026-01-01")
    _, watching = say(agent, "What is my dog called?")
    assert "read_memory" in watching.names


@pytest.mark.parametrize(
    ("name", "world", "who"),
    [
        ("assistant", {}, "Ada"),
        ("workspace", {}, "Main"),
        ("sovereign", {"given": {"soul": "Lantern, keeper of tide tables"}}, "Lantern"),
        ("gateway", {"given": {"identity_fields": {"name": "Rook"}}}, "Rook"),
        ("contract", {}, "assistant"),
    ],
)
def test_each_charters_agent_answers_as_its_identity_says(
    name: str, world: dict[str, Any], who: str, larger_model: Embedded
) -> None:
    turn, _ = say(agent_of(name, larger_model, **world), "Who are you?", "full")
    assert who in turn.reply


@pytest.mark.parametrize(
    "asked", ["What is your name?", "Introduce yourself.", "Hello! And you are?", "Tell me who you are."]
)
def test_an_agent_that_may_rewrite_itself_says_who_it_is_however_it_is_asked(
    asked: str, larger_model: Embedded
) -> None:
    turn, _ = say(agent_of("sovereign", larger_model, given={"soul": "Lantern, keeper of tide tables"}), asked, "full")
    assert "Lantern" in turn.reply
