"""Arguments as models write them: whatever they are, the call is made with them or the model is told a code."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from charter.core.dialogue import ToolCall
from charter.core.errors import OverLimit
from charter.core.wire import canonical
from charter.stores.memory import MemoryStore
from charter.testing import ScriptedProvider
from charter.turn import take_turn

from ..places import MODEL, Looking, said
from .rooms import CANARY, agent_in, asked, failed_alone, left, opened, tools_of

pytestmark = pytest.mark.requirement("S0-09", "S1-08", "S0-13")

DIALECTS = ("openai", "openai-responses", "anthropic", "ollama")
BAD = {
    "not JSON": "{text: bees",
    "a list": '["text", "bees"]',
    "a number": "7",
    "half": '{"text": "be',
    "nested without end": '{"text": ' + "[" * 100_000 + "]" * 100_000 + "}",
    "nested to the edge": '{"text": ' + "[" * 900 + "]" * 900 + "}",
    "nested in objects": '{"a":' * 400 + "1" + "}" * 400,
    "a number of 5,000 digits": '{"text": ' + "9" * 5_000 + "}",
    "no number": '{"text": NaN}',
    "a number without end": '{"text": 1e999}',
    "half a character": r'{"text": "\ud800"}',
    "half a character in a name": r'{"\udfff": "bees"}',
    "a NUL": r'{"text": "\u0000"}',
}


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("arguments", BAD.values(), ids=BAD)
def test_arguments_that_cannot_be_used_are_told_as_a_code_in_every_dialect(
    arguments: str, dialect: str, tmp_path: Path
) -> None:
    script = [said("", ToolCall("c1", "save_memory", arguments)), said("I see.")]
    with opened("memory", tmp_path) as store:
        agent = agent_in(store, charter="assistant", provider=ScriptedProvider(script, dialect=dialect, model=MODEL))
        looking = Looking()
        assert take_turn(agent, asked(1), looking).reply == "I see."
        assert looking.calls == [("save_memory", "TOOL_BAD_ARGUMENTS")]
        assert list(store.recent(agent.name, "root", 5)) == []
        provider: Any = agent.provider
        assert len(canonical(provider.payloads[1])) < 10_000  # what cannot be read is not sent again


def test_arguments_that_are_huge_are_counted_before_the_model_is_asked_again(tmp_path: Path) -> None:
    huge = json.dumps({"text": "bees " * 2_000_000})
    provider = ScriptedProvider([said("", ToolCall("c1", "save_memory", huge))], model=MODEL, window=32_000)
    with opened("memory", tmp_path) as store:
        agent = agent_in(store, charter="assistant", provider=provider)
        before = left(store, agent.name)
        with pytest.raises(OverLimit, match="tokens do not fit beside a reply in the window of 32,000 tokens"):
            take_turn(agent, asked(1))
        failed_alone(agent, before, "TURN_OVER_LIMIT", waiting=[f"{CANARY} asks 1"])


# Whatever JSON can say, and texts that are nearly so.
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(codec=None)),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
WRITTEN = JSON.map(json.dumps) | st.text(max_size=40) | JSON.map(lambda value: json.dumps({"text": value}))


@pytest.mark.parametrize("dialect", DIALECTS)
@given(arguments=WRITTEN)
@settings(max_examples=40, deadline=None)
def test_whatever_a_model_writes_the_turn_goes_on(dialect: str, arguments: str) -> None:
    given_: list[Any] = []
    provider = ScriptedProvider(
        [said("", ToolCall("c1", "sail", arguments)), said("Done.")], dialect=dialect, model=MODEL
    )
    with MemoryStore() as store:
        agent = agent_in(store, charter="assistant", provider=provider, tools=tools_of(sail=given_.append))
        looking = Looking()
        assert take_turn(agent, asked(1), looking).reply == "Done."
        assert [code for _, code in looking.calls] == (["OK"] if given_ else ["TOOL_BAD_ARGUMENTS"])
        assert not given_ or given_ == [json.loads(arguments or "{}")]
