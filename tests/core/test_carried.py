"""What a caller that keeps its own chat may say of how it is answered, in the names of each dialect."""

from __future__ import annotations

from typing import Any

import pytest

from charter.core.carried import Carried, in_words, with_options
from charter.core.dialogue import Said
from charter.core.errors import BadValue

pytestmark = pytest.mark.requirement("N-13")
WANTED = {
    "temperature": 1.5, "top_p": 0.9, "top_k": 40, "stop": ["END"], "seed": 7, "presence_penalty": 1.0,
    "frequency_penalty": 0.5, "parallel_tool_calls": False,
}  # fmt: skip
GIVEN = {"stream": True, "max_tokens": 100}


@pytest.mark.parametrize(
    ("dialect", "own"),
    [
        ("openai", {name: value for name, value in WANTED.items() if name != "top_k"}),
        ("openai-responses", {"temperature": 1.5, "top_p": 0.9, "parallel_tool_calls": False}),
        ("anthropic", {"temperature": 1, "top_p": 0.9, "top_k": 40, "stop_sequences": ["END"]}),
        (
            "completion",
            {name: value for name, value in WANTED.items() if name not in ("top_k", "parallel_tool_calls")},
        ),
    ],
)
def test_a_value_goes_by_its_dialects_name_and_one_without_a_place_is_left_out(
    dialect: str, own: dict[str, Any]
) -> None:
    assert with_options(dialect, GIVEN, WANTED) == {**GIVEN, **own}


def test_ollama_has_them_among_its_options_beside_its_own() -> None:
    given = {"stream": True, "options": {"num_ctx": 4096}}
    asked = {name: value for name, value in WANTED.items() if name != "parallel_tool_calls"}
    assert with_options("ollama", given, WANTED) == {"stream": True, "options": {"num_ctx": 4096, **asked}}
    assert with_options("ollama", {"stream": True}, {"seed": 7}) == {"stream": True, "options": {"seed": 7}}


def test_nothing_wanted_changes_nothing_and_gives_a_copy() -> None:
    found = with_options("openai", GIVEN, {})
    assert found == GIVEN
    assert found is not GIVEN


def test_a_temperature_that_anthropic_knows_is_as_it_was() -> None:
    assert with_options("anthropic", {}, {"temperature": 0.3}) == {"temperature": 0.3}


@pytest.mark.parametrize(
    ("dialect", "any_tool", "this_tool"),
    [
        ("openai", "required", {"type": "function", "function": {"name": "weather"}}),
        ("openai-responses", "required", {"type": "function", "name": "weather"}),
        ("anthropic", {"type": "any"}, {"type": "tool", "name": "weather"}),
    ],
)
def test_a_tool_that_must_be_called_is_said_as_each_dialect_says_it(
    dialect: str, any_tool: object, this_tool: object
) -> None:
    assert with_options(dialect, {}, {"tool_choice": ""}) == {"tool_choice": any_tool}
    assert with_options(dialect, {}, {"tool_choice": "weather"}) == {"tool_choice": this_tool}


@pytest.mark.parametrize("dialect", ["ollama", "completion"])
def test_where_a_tool_cannot_be_demanded_that_is_an_error_and_not_another_question(dialect: str) -> None:
    with pytest.raises(BadValue, match="tool_choice: this agent's model cannot be made to call a tool"):
        with_options(dialect, {}, {"tool_choice": ""})


@pytest.mark.requirement("N-09", "S1-07")
def test_what_a_tool_of_theirs_answered_is_text_of_others_and_no_text_shows() -> None:
    talk = (Said("user", "canary"), Said("assistant", "canary"))
    assert not Carried("canary", talk).foreign
    assert Carried(before=(Said("tool", "canary"),)).foreign
    assert Carried(after=(Said("tool", "canary"),)).foreign
    assert "canary" not in repr(Carried("canary", talk, talk))


@pytest.mark.parametrize(
    ("dialect", "said"),
    [
        ("openai", {"tool_choice": "none"}),
        ("openai-responses", {"tool_choice": "none"}),
        ("anthropic", {"tool_choice": {"type": "none"}}),
        ("ollama", {}),
        ("completion", {}),
    ],
)
def test_that_no_tool_may_be_called_is_said_where_a_dialect_can_say_it(dialect: str, said: dict[str, Any]) -> None:
    assert in_words(dialect, {**GIVEN, "tool_choice": "required"} if said else GIVEN) == {**GIVEN, **said}
