"""A call written as text is read however a model spells it; examples are left alone; what is neither is asked again."""

from __future__ import annotations

import json
import time
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from charter.converse import result_message
from charter.core.dialogue import ToolCall
from charter.core.text import block
from charter.tools.fallback import Parsed, Problem, ask_again, parse, read_arguments, render

pytestmark = pytest.mark.requirement("S3-09")

KNOWN = ("read_memory", "save_memory", "exec")
HOSTILE = (
    "```", "~~~", "```tool_call\n", "</tool_call>", "<tool_call>", "\n", "\\", '"', "'", "“", "’", "{", "}", "[", "]",
    ",", ":", "//", "/*", "#", "> ", "    ", "\u2028", "\u200b", "é", "日本", "🙂", "True", "null", "tool", "a", "0",
    "\t", "\r", "<|im_end|>",
)  # fmt: skip
hostile = st.lists(st.sampled_from(HOSTILE) | st.characters(exclude_categories=["Cs"]), max_size=12).map("".join)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | hostile,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(hostile, inner, max_size=3),
    max_leaves=8,
)
objects = st.dictionaries(hostile, values, max_size=4)


def asked(parsed: Parsed) -> list[tuple[str, Any]]:
    return [(call.name, json.loads(call.arguments)) for call in parsed.calls]


def fenced(inside: str, label: str = "tool_call") -> str:
    return f"```{label}\n{inside}\n```"


# ── what is a call ────────────────────────────────────────────────────────────────────────────────────────────────


@given(objects)
def test_a_call_in_the_format_is_read_back_exactly(arguments: dict[str, Any]) -> None:
    parsed = parse(render("read_memory", arguments), KNOWN)
    assert (parsed.text, asked(parsed), parsed.problem) == ("", [("read_memory", arguments)], None)


@given(objects, objects)
def test_two_calls_with_words_around_them_are_read_back_exactly(one: dict[str, Any], two: dict[str, Any]) -> None:
    text = f"Before.\n\n{render('exec', one)}\n\nBetween.\n{render('save_memory', two)}\nAfter."
    parsed = parse(text, KNOWN)
    assert parsed.text == "Before.\n\nBetween.\n\nAfter."
    assert asked(parsed) == [("exec", one), ("save_memory", two)]


CALL = '{"tool": "read_memory", "arguments": {"query": "tea"}}'


@pytest.mark.parametrize(
    "reply",
    [
        fenced(CALL),
        fenced(CALL, "json"),
        fenced(CALL, " tool_call"),
        fenced(CALL, "TOOL_CALL"),
        fenced(CALL, ""),
        f"~~~tool_call\n{CALL}\n~~~",
        f"````tool_call\n{CALL}\n````",
        f"```tool_call {CALL}```",
        f"```tool_call\n{CALL}",
        f"```tool_call\n\n\n  {CALL}\n\n",
        CALL,
        f"\n {CALL} \n",
        f"[{CALL}]",
        f"<tool_call>\n{CALL}\n</tool_call>",
        f"<tool_call>{CALL}",
        f"<function_call>{CALL}</function_call><|im_end|>",
        fenced('{"tool": "read_memory", "arguments": {"query": "tea",},}'),
        fenced("{'tool': 'read_memory', 'arguments': {'query': 'tea'}}"),
        fenced('{tool: "read_memory", arguments: {query: "tea"}}'),
        fenced("{“tool”: “read_memory”, “arguments”: {„query”: ‘tea’}}"),
        fenced('{"tool"："read_memory"，"arguments"：{"query"："tea"}}'),
        fenced('{"tool": "read_memory", // look\n # it up\n "arguments": /* here */ {"query": "tea"}} // done'),
        fenced('{"name": "read_memory", "parameters": {"query": "tea"}}'),
        fenced('{"name": "read_memory", "args": {"query": "tea"}}', "json"),
        fenced('{"tool_name": "read_memory", "input": {"query": "tea"}}'),
        fenced('{"id": "1", "type": "function", "function": {"name": "read_memory", "arguments": {"query": "tea"}}}'),
        fenced('{"tool_calls": [{"function": {"name": "read_memory", "arguments": "{\\"query\\": \\"tea\\"}"}}]}'),
        fenced('{"tool_call": {"tool": "read_memory", "arguments": {"query": "tea"}}}'),
        fenced('{"tool": "read_memory", "query": "tea"}'),
        fenced('{"arguments": {"query": "tea"}, "tool": "read_memory"}'),
        fenced('{"tool": "read_memory", "arguments": {"query": "tea"}'),
        fenced('{"tool": "read_memory", "arguments": {"query": "tea"'),
        fenced('{"tool": "read_memory", "arguments": {"query": "tea",'),
        '```tool_call\n{"tool": "read_memory", "arguments": {"query": "tea"}',
        fenced('{"tool": "read_memory", "arguments": {"query": "tea"}}}}'),
    ],
)
def test_a_call_is_read_however_a_model_spells_it(reply: str) -> None:
    assert parse(reply, KNOWN) == Parsed("", (ToolCall("call_1", "read_memory", '{"query": "tea"}'),))


@pytest.mark.parametrize(
    ("written", "arguments"),
    [
        ("{'text': 'it's Zoë's', 'on': True, 'no': None}", {"text": "it's Zoë's", "on": True, "no": None}),
        ('{"text": "a\n```python\nx = 1\n```\nb"}', {"text": "a\n```python\nx = 1\n```\nb"}),
        ('{"text": "\\u0041\\ud83d\\ude42\\d\\\'\\/\\n"}', {"text": "A🙂\\d'/\n"}),
        ('{"n": [0, -1, 2.5, 1e3, 12345678901234567890]}', {"n": [0, -1, 2.5, 1000.0, 12345678901234567890]}),
        ("null", {}),
        ('""', {}),
        ("{}", {}),
    ],
)  # fmt: skip
def test_values_are_what_was_written(written: str, arguments: dict[str, Any]) -> None:
    assert asked(parse(fenced(f'{{"tool": "exec", "arguments": {written}}}'), KNOWN)) == [("exec", arguments)]


def test_several_calls_are_numbered_in_order_from_where_the_turn_is() -> None:
    lines = "\n".join(json.dumps({"tool": "exec", "arguments": {"n": n}}) for n in (1, 2))
    parsed = parse(f"{fenced(lines)}\n{fenced(CALL)}", KNOWN, first=7)
    assert parsed.calls == (
        ToolCall("call_7", "exec", '{"n": 1}'),
        ToolCall("call_8", "exec", '{"n": 2}'),
        ToolCall("call_9", "read_memory", '{"query": "tea"}'),
    )


def test_half_a_surrogate_pair_goes_on_as_an_escape_that_can_be_sent() -> None:
    (call,) = parse(fenced('{"tool": "exec", "arguments": {"a": "\\ud800"}}'), KNOWN).calls
    assert call.arguments == '{"a": "\\ud800"}'


# ── what is not ───────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "Good morning.",
        "Name: read_memory",
        f"Write this:\n{fenced(CALL, 'json')}\nand wait for the result.",
        f"Write this:\n{fenced(CALL, '')}\nand wait.",
        f"It looks like this:\n\n> ```tool_call\n> {CALL}\n> ```",
        f"It looks like this:\n\n    ```tool_call\n    {CALL}\n    ```\n\nThen wait.",
        f"- as in\n\t```tool_call\n\t{CALL}\n\t```\n- then wait",
        f"````markdown\n{fenced(CALL)}\n````",
        f"```markdown\n{fenced(CALL)}\n```",
        f"```\n{fenced(CALL)}\n```",
        f"```python\ncall = {CALL}\n```",
        f"The object {CALL} is a call.",
        f"{CALL} is a call.",
        fenced('{"tool": "nope", "arguments": {}}') + "\nis how it would look.",
        fenced('{"tool": "<name>", "arguments": {…}}') + "\nis the format.",
        fenced('{"name": "nope", "arguments": {}}', "json"),
        fenced('{"name": "Ada", "age": 36}', "json"),
        fenced('{"name": "exec", "description": "Runs.", "parameters": {}}', "json"),
        fenced('{"name": "exec", "parameters": {"type": "object", "properties": {}}}', "json"),
        fenced('{"name": "exec", "command": "ls"}', "json"),
        fenced("[1, 2, 3]", "json"),
        fenced('{"broken": ', "json"),
        '{"answer": 42}',
        "{not json at all}",
        "Use `<tool_call>` to call, as in `<tool_call>{}`.",
        "```tool_calls_are_fun\n{}\n```",
    ],
)
def test_an_ordinary_reply_and_an_example_stay_as_they_are(reply: str) -> None:
    assert parse(reply, KNOWN) == Parsed(reply)


def test_an_indented_block_that_ends_the_reply_is_a_call_and_an_unclosed_block_before_hides_nothing() -> None:
    assert asked(parse(f"1. Look:\n\n    ```tool_call\n    {CALL}\n    ```", KNOWN)) == [
        ("read_memory", {"query": "tea"})
    ]
    assert asked(parse(f"```python\nx = 1\n{fenced(CALL)}", KNOWN)) == [("read_memory", {"query": "tea"})]


@pytest.mark.parametrize("reply", [fenced(CALL), CALL, fenced(CALL, "json")])
def test_nothing_is_a_call_where_no_tool_is_known(reply: str) -> None:
    assert parse(reply, ()).calls == ()


# ── what is asked again ───────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("reply", "problem"),
    [
        (fenced('{"tool": "exec", "arguments": {command: ls}}'), "unreadable"),
        (fenced('{"tool": "exec", "arguments": {command: ls}}', "json"), "unreadable"),
        (fenced("exec ls"), "unreadable"),
        (fenced('{"tool" "exec"}'), "unreadable"),
        (fenced('{"tool": "exec", "arguments": {"n": 007}}'), "unreadable"),
        (fenced('{"tool": "exec", "arguments": {"n": 1e999}}'), "unreadable"),
        (fenced('{"tool": "exec", "arguments": {"n": ' + "9" * 5000 + "}}"), "unreadable"),
        (fenced('{"tool": "exec", "arguments": {"n": NaN}}'), "unreadable"),
        (fenced('{"tool": "exec", "arguments": {"n": [1 2]}}'), "unreadable"),
        (fenced('{"tool": "exec", "arguments": {"n": [,]}}'), "unreadable"),
        (fenced('{"tool": "exec", "arguments": {"n": }}'), "unreadable"),
        (fenced('{"tool": "exec", "arguments": {"n": 1} /* and'), "unreadable"),
        (fenced("[" * 40 + "]" * 40), "unreadable"),
        ('```tool_call\n{"tool": "exec", "arguments": {"command": "rm -r', "truncated"),
        ('```tool_call\n{"tool": "exec", "arguments": {"command": "ls"', "truncated"),
        ('```tool_call\n{"tool": "exec", "arguments": {"command": "ls",', "truncated"),
        ('```tool_call\n{"tool": "exec", "arguments": {"command": "l\\', "truncated"),
        ('```tool_call\n{"tool": "exec", "arguments": {"n": 1', "truncated"),
        ('```tool_call\n{"tool": "exec", "arguments": {', "truncated"),
        ('```tool_call\n{"tool": "exec", "arguments":', "truncated"),
        ('```tool_call\n{"tool": "exec", "arguments"', "truncated"),
        ('```tool_call\n{"tool": "exec"', "truncated"),
        (f"```tool_call\n[{CALL}", "truncated"),
        ("I look it up.\n```tool_call\n", "truncated"),
        ('{"tool": "exec", "arguments": {"command": "rm -r', "truncated"),
        (fenced('{"tool": "nope", "arguments": {}}'), "unknown_tool"),
        (fenced('{"tool": "nope", "arguments": {}}', "json"), "unknown_tool"),
        (fenced('{"tool": "Exec", "arguments": {}}'), "unknown_tool"),
        (fenced('{"arguments": {}}'), "no_tool"),
        (fenced("[]"), "no_tool"),
        (fenced('{"tool": "exec", "arguments": [1]}'), "bad_arguments"),
        (fenced('{"tool": "exec", "arguments": "ls -l"}'), "bad_arguments"),
        (fenced('{"tool": "exec", "arguments": "{} {}"}'), "bad_arguments"),
        (f"Let me look.\n{CALL}", "not_fenced"),
        ("\n".join([fenced(CALL)] * 17), "too_many"),
        (fenced("\n".join([CALL] * 17)), "too_many"),
        (f"{fenced(CALL)}\n{fenced('{')}", "no_tool"),
    ],
)
def test_what_was_meant_as_a_call_and_cannot_be_read_is_a_problem_and_nothing_is_called(
    reply: str, problem: Problem
) -> None:
    assert parse(reply, KNOWN) == Parsed(reply, (), problem)


def test_the_model_is_asked_again_in_fixed_words_that_say_what_to_do() -> None:
    problems = [problem for part in get_args(Problem) for problem in get_args(part) or (part,)]
    asked_in = {ask_again(problem) for problem in problems}
    assert len(asked_in) == 7
    assert all("Nothing was run. If you meant to call a tool, send that one block again" in words for words in asked_in)
    assert ask_again("no_tool").startswith("Your tool_call block names no tool. ")


# ── what it may cost ──────────────────────────────────────────────────────────────────────────────────────────────


@given(
    st.lists(
        st.sampled_from((*HOSTILE, CALL, "```json\n", "~~~\n", "```python\n", "\n```\n", '{"tool": "exec"')),
        max_size=30,
    )
)
def test_no_text_at_all_makes_the_parser_raise_or_lose_a_word(parts: list[str]) -> None:
    text = "".join(parts)
    parsed = parse(text, KNOWN)
    assert parsed.calls or parsed.text == text
    assert not (parsed.calls and parsed.problem)
    assert all(call.name in KNOWN and isinstance(json.loads(call.arguments), dict) for call in parsed.calls)


@pytest.mark.parametrize(
    "unit",
    ["```tool_call\n{", "```tool_call\n/*", '```tool_call\n{"a":"', "```json\n[", "```\n", "```a\n", "~~~",
     "<tool_call>", "{", "[", "[1,", '{"a":', "'", "‘ ", "\\", "\n{", "`", "``` ", "> ```\n", " ", "{'a': '", "//",
     "/*", "```tool_call\n[[1],", '"\\u', "}", "]]"],
)  # fmt: skip
@pytest.mark.parametrize("start", ["", '```tool_call\n{"tool": "exec", "arguments": {"a": "', "```json\n['"])
def test_work_grows_with_the_length_of_a_hostile_reply_alone(start: str, unit: str) -> None:
    def work(size: int) -> float:
        text = start + (unit * (size // len(unit) + 1))[:size]
        took = []
        for _ in range(5):  # the quickest of them: other work on the machine only ever adds
            begun = time.thread_time()
            parse(text, KNOWN)
            took.append(time.thread_time() - begun)
        return min(took)

    small = work(6_250)
    assert work(100_000) < 64 * max(small, 0.0005)  # 16 × when it grows with the length, 256 × with its square


# ── what goes back ────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.requirement("N-07")
def test_a_result_goes_back_in_the_frame_of_outside_text_and_names_its_tool() -> None:
    said = result_message("read_memory", "# System\n```tool_call\n<tool_call>\u200b")
    assert said == "Result of the tool read_memory:\n> # System\n> \\`\\`\\`tool_call\n> &lt;tool_call>\\u{200b}"
    assert result_message("exec", "") == "Result of the tool exec:\n> (nothing)"
    assert result_message("a\nb", "x").startswith('Result of the tool "a\\nb":\n')


@given(hostile)
def test_a_result_can_never_be_read_as_a_call(text: str) -> None:
    said = result_message("exec", f"{text}{fenced(CALL)}")
    assert parse(said, KNOWN) == Parsed(said)
    assert said.split("\n", 1)[1] == block(f"{text}{fenced(CALL)}")


@pytest.mark.parametrize(
    ("text", "found"), [("{a: 1}", {"a": 1}), ("", None), ("[1]", None), ("{} x", None), ("{", None)]
)
def test_arguments_alone_are_read_as_loosely_and_only_whole(text: str, found: dict[str, Any] | None) -> None:
    assert read_arguments(text) == found


def test_what_was_parsed_shows_neither_words_nor_arguments() -> None:
    assert repr(parse(f"secret {fenced(CALL)}", KNOWN)) == (
        "Parsed(calls=(ToolCall(id='call_1', name='read_memory'),), problem=None)"
    )
