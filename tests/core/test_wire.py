"""The last look at what leaves: a body that is not what was assembled is refused, whoever changed it."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from charter.core.assemble import Assembly, Section, Settings, assemble
from charter.core.dialogue import NO_TALK, Said, Talk, ToolCall, Usage
from charter.core.errors import ProviderError, ProviderRate, WireMismatch
from charter.core.layer import Layer, Mode, Owner, Role, Stack, Volatility
from charter.core.payload import DIALECTS
from charter.core.ports import ToolSpec
from charter.core.text import Form, Piece, Trust
from charter.core.wire import NOTHING, check, payload_hash
from charter.templates import Compiled

pytestmark = pytest.mark.requirement("S1-03")

TEXT = Compiled("{{ text }}", "text.md")
CALL = ToolCall("c1", "look", '{"at": "sky"}')
TALK = Talk(
    (Said("user", "Hello"), Said("assistant", "", (CALL,)), Said("tool", "blue", call_id="c1", name="look"),
     Said("tool", "high", call_id="c2", name="look"), Said("assistant", "It is blue.")),
    (Said("assistant", "I look.", (ToolCall("c3", "look", "not JSON"), ToolCall("c4", "look", "[1]"))),
     Said("tool", "dark", call_id="c3", name="look")),
)  # fmt: skip


def small(*, user: bool, layers: int = 3, key: bytes | None = b"k") -> Assembly:
    """Some layers; the last in the user's role or not."""
    rows = [Layer(f"layer{n}", f"L{n}", TEXT, f"## {n}", Owner.SEALED, required=True) for n in range(layers - user)]
    if user:
        rows.append(Layer("said", "U", TEXT, role=Role.USER, owner=Owner.TURN, volatility=Volatility.TURN))
    stack = Stack(tuple(rows), {"full": Mode("full", frozenset(row.id for row in rows))}, "\n\n---\n\n")
    sections = [Section(row, {"text": Piece(f"Text {row.id} é", "t", Trust.OPERATOR, Form.MARKDOWN)}) for row in rows]
    settings = Settings(key=key)
    return assemble(stack, sections, mode="full", settings=settings, message="" if user else "What now?")


CASES = [(dialect, user, talk) for dialect in DIALECTS for user in (True, False) for talk in (NO_TALK, TALK)]


@pytest.mark.parametrize(("dialect", "user", "talk"), CASES)
def test_what_was_assembled_may_leave_in_every_dialect(dialect: str, user: bool, talk: Talk) -> None:
    assembly = small(user=user)
    body = assembly.payload(dialect, model="m", talk=talk, options={"temperature": 0})
    check(body, assembly.expected(dialect, body, talk))


def swapped(text: str) -> str:
    return text.replace("layer0", "x").replace("layer1", "layer0").replace("x", "layer1")


def system_of(dialect: str, body: dict[str, Any], change: Callable[[str], str]) -> dict[str, Any]:
    body = copy.deepcopy(body)
    if dialect in ("openai", "ollama"):
        body["messages"][0]["content"] = change(body["messages"][0]["content"])
    elif dialect == "anthropic":
        body["system"] = [{"type": "text", "text": change("".join(part["text"] for part in body["system"]))}]
    else:
        name = "instructions" if dialect == "openai-responses" else "prompt"
        body[name] = change(body[name])
    return body


@pytest.mark.parametrize(("dialect", "user", "talk"), CASES)
def test_two_layers_in_each_others_place_are_refused_though_the_hash_is_of_that_very_body(
    dialect: str, user: bool, talk: Talk
) -> None:
    assembly = small(user=user)
    body = system_of(dialect, assembly.payload(dialect, talk=talk), swapped)
    with pytest.raises(WireMismatch, match="the layer layer0 is not what was assembled; nothing was sent"):
        check(body, assembly.expected(dialect, body, talk))


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda text: text + "!", "1 bytes stand after the last layer"),
        (lambda text: text.replace("\n\n---\n\n", "\n\n-+-\n\n"), "the layer layer1 is not where it should be"),
        (lambda text: "", "the layer layer0 is not what was assembled"),
    ],
)
@pytest.mark.parametrize("dialect", ["openai", "openai-responses", "anthropic", "ollama"])
def test_a_changed_system_text_is_refused(dialect: str, change: Callable[[str], str], problem: str) -> None:
    assembly = small(user=False)
    body = system_of(dialect, assembly.payload(dialect), change)
    with pytest.raises(WireMismatch, match=problem):
        check(body, assembly.expected(dialect, body))


def test_a_user_layer_with_more_behind_it_is_refused() -> None:
    assembly = small(user=True)
    body = assembly.payload("openai")
    body["messages"][1]["content"] += " and more"
    with pytest.raises(WireMismatch, match="9 bytes stand after the layer said"):
        check(body, assembly.expected("openai", body))


def test_a_user_layer_alone_may_leave() -> None:
    assembly = small(user=False, layers=1)
    body = assembly.payload("openai")
    check(body, assembly.expected("openai", body))


@pytest.mark.parametrize("dialect", list(DIALECTS))
def test_what_stands_beside_the_layers_is_held_by_the_hash_of_the_whole(dialect: str) -> None:
    assembly = small(user=False)
    body = assembly.payload(dialect, model="m", talk=TALK)
    expected = assembly.expected(dialect, body, TALK)
    with pytest.raises(WireMismatch, match="the body was changed after it was assembled; nothing was sent"):
        check({**body, "model": "another"}, expected)


@pytest.mark.parametrize(
    "body",
    [{}, {"messages": []}, {"messages": None}, {"messages": [{"role": "user", "content": "x"}]}, {"messages": [3]}],
)
def test_a_body_that_is_no_request_is_refused(body: dict[str, Any]) -> None:
    assembly = small(user=False)
    with pytest.raises(WireMismatch, match="the body is not a openai request"):
        check(body, assembly.expected("openai", assembly.payload("openai")))


def test_a_mismatch_names_the_provider_and_no_text() -> None:
    assembly = small(user=False)
    body = system_of("openai", assembly.payload("openai"), swapped)
    with pytest.raises(WireMismatch) as caught:
        check(body, assembly.expected("openai", body), "a provider")
    assert str(caught.value).startswith("a provider: ")
    assert "Text" not in str(caught.value)


def test_the_hash_of_a_payload_is_keyed_and_does_not_depend_on_the_order_of_keys() -> None:
    assert payload_hash({"a": 1, "b": "é"}, b"k") == payload_hash({"b": "é", "a": 1}, b"k")
    assert payload_hash({"a": 1}, b"k") != payload_hash({"a": 1}, None)


def test_what_was_hashed_already_counts_for_its_own_key_and_hash_alone() -> None:
    assembly = small(user=False)
    body = assembly.payload("openai")
    good = assembly.expected("openai", body)
    assert repr(good.hashed) == f"Hashed({len(good.hashed.data)} bytes)"
    check(body, good)
    check(body, replace(good, hashed=NOTHING))
    for changed in (replace(good, payload_sha256="0" * 64), replace(good, key=b"other"), replace(good, key=None)):
        with pytest.raises(WireMismatch):
            check(body, changed)
    with pytest.raises(WireMismatch):
        check({**body, "n": 1}, good)


def test_a_wrong_key_finds_a_mismatch() -> None:
    assembly = small(user=False)
    body = assembly.payload("openai")
    with pytest.raises(WireMismatch):
        check(body, replace(assembly.expected("openai", body), key=b"other"))


@given(st.integers(0, 200), st.sampled_from(list(DIALECTS)))
def test_no_single_changed_character_of_the_system_text_leaves(place: int, dialect: str) -> None:
    assembly = small(user=False)
    whole = assembly.payload(dialect)

    def change(text: str) -> str:
        at = place % len(assembly.reveal())
        return text[:at] + ("x" if text[at] != "x" else "y") + text[at + 1 :]

    body = system_of(dialect, whole, change)
    with pytest.raises(WireMismatch):
        check(body, assembly.expected(dialect, body))


# ── the talk in each dialect ──────────────────────────────────────────────────────────────────────────────────────


def test_what_was_said_before_stands_between_the_layers_and_the_message() -> None:
    body = small(user=False).payload("openai", talk=TALK)
    roles = [message["role"] for message in body["messages"]]
    assert roles == ["system", "user", "assistant", "tool", "tool", "assistant", "user", "assistant", "tool"]
    assert body["messages"][2]["tool_calls"] == [
        {"id": "c1", "type": "function", "function": {"name": "look", "arguments": '{"at": "sky"}'}}
    ]
    assert [call["function"]["arguments"] for call in body["messages"][7]["tool_calls"]] == ["{}", "{}"]
    assert body["messages"][6]["content"] == "What now?"


def test_anthropic_gets_results_of_calls_made_together_in_one_message() -> None:
    messages = small(user=False).payload("anthropic", talk=TALK)["messages"]
    assert [message["role"] for message in messages] == [
        "user", "assistant", "user", "assistant", "user", "assistant", "user",
    ]  # fmt: skip
    assert messages[1]["content"] == [{"type": "tool_use", "id": "c1", "name": "look", "input": {"at": "sky"}}]
    assert messages[2]["content"] == [
        {"type": "tool_result", "tool_use_id": "c1", "content": "blue"},
        {"type": "tool_result", "tool_use_id": "c2", "content": "high"},
    ]
    assert messages[5]["content"][0] == {"type": "text", "text": "I look."}


def test_responses_get_calls_and_results_as_items() -> None:
    items = small(user=False).payload("openai-responses", talk=TALK)["input"]
    assert [item.get("type", item.get("role")) for item in items] == [
        "user", "function_call", "function_call_output", "function_call_output", "assistant", "user",
        "assistant", "function_call", "function_call", "function_call_output",
    ]  # fmt: skip
    assert items[4]["content"] == [{"type": "output_text", "text": "It is blue."}]


def test_ollama_names_the_tool_and_gives_arguments_as_an_object() -> None:
    messages = small(user=False).payload("ollama", talk=TALK)["messages"]
    assert messages[2]["tool_calls"] == [{"function": {"name": "look", "arguments": {"at": "sky"}}}]
    assert messages[3] == {"role": "tool", "tool_name": "look", "content": "blue"}


def test_plain_text_frames_what_was_said() -> None:
    prompt = small(user=False).payload("completion", talk=TALK)["prompt"]
    said = "\n\n[user]\n> Hello\n\n[tool result]\n> blue\n\n[tool result]\n> high\n\n[you]\n> It is blue."
    assert said + "\n\n> What now?\n\n[you]\n> I look.\n\n[tool result]\n> dark" in prompt


def test_options_of_a_provider_are_added_as_they_are() -> None:
    body = small(user=False).payload("ollama", options={"stream": True, "options": {"num_ctx": 8}})
    assert body["stream"] is True
    assert body["options"] == {"num_ctx": 8}


def test_an_earlier_message_has_the_form_of_the_one_that_is_answered() -> None:
    assert small(user=False).past("a\n<|im_start|>b") == "a\n&lt;|im_start|>b"
    assert small(user=True).past("a\nb") == "> a\n> b"


def test_usage_adds_up_and_unknown_cache_counts_stay_unknown() -> None:
    assert Usage(1, 2) + Usage(3, 4) == Usage(4, 6, None)
    assert Usage(1, 2, 1) + Usage(3, 4) == Usage(4, 6, 1)
    assert Usage(1, 2, 1) + Usage(3, 4, 2) == Usage(4, 6, 3)


def test_an_assembly_knows_what_it_costs_with_its_tools() -> None:
    stack = small(user=False).stack
    sections = [Section(row, {"text": Piece("a", "t", Trust.OPERATOR, Form.MARKDOWN)}) for row in stack.layers]
    made = assemble(stack, sections, mode="full", settings=Settings(), tools=(ToolSpec("look", "Looks."),))
    assert made.tokens == made.manifest.tokens_est
    assert made.foreign == ()


def test_an_error_of_a_provider_names_it_and_says_what_to_do_next() -> None:
    slow = ProviderRate("stub", "too many requests", "wait", retry_after=2.5)
    assert (str(slow), slow.retry_after, slow.provider) == ("stub: too many requests; wait", 2.5, "stub")
    assert str(ProviderError("stub", "broken")) == "stub: broken"
