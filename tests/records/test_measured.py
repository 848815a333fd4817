"""What `why` predicts is what a real engine finds in its cache."""

from __future__ import annotations

from dataclasses import replace

import pytest

from charter.prefix import Break
from charter.providers.embedded import Embedded
from charter.why import Why, explain

from .taking import taking

pytestmark = [pytest.mark.model, pytest.mark.requirement("N-06")]
SAID = (
    "Hello, who are you?", "What can you do for me?", "Name three fruits.", "Which of them is red?",
    "Write one sentence about the sea.", "And one about the moon.", "How many days has a week?",
    "What is two plus three?", "Tell me a short joke.", "Good night.",
)  # fmt: skip


def chat(model: Embedded, name: str, said: tuple[str, ...]) -> list[Why]:
    """Turns a minute apart, with what is said of each but the first."""
    there = taking(name, max_reply_tokens=60, tools=lambda _: {})
    there.agent = replace(there.agent, provider=model)
    turns = [there.turn(text) for text in said]
    found = [explain(there.store, there.charter, kept) for kept in turns[1:]]
    return [one for one in found if one is not None]


def shares(found: list[Why]) -> tuple[float, float]:
    """Predicted and measured, over the whole conversation."""
    steps = [step for one in found for step in one.steps]
    total = sum(step.input for step in steps)
    return sum(step.predicted for step in steps) / total, sum(step.cached or 0 for step in steps) / total


def test_over_ten_turns_the_measured_share_is_within_five_percent_of_the_prediction(embedded_model: Embedded) -> None:
    found = chat(embedded_model, "contract", SAID)
    assert len(found) == 9
    assert all(one.prediction.broke is None for one in found)
    predicted, measured = shares(found)
    assert abs(predicted - measured) < 0.05
    assert measured > 0.9


def test_with_a_clock_in_the_middle_the_loss_is_measured_as_it_is_predicted(embedded_model: Embedded) -> None:
    found = chat(embedded_model, "assistant", SAID[:5])
    assert {one.prediction.broke for one in found} == {Break("layer", "time", "changed")}
    assert all(one.prediction.lost > 100 for one in found)
    for one in found:
        assert one.measured is not None
        assert abs(one.predicted - one.measured) < 0.05
    assert shares(found)[1] < 0.8
