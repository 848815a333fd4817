"""Outside text never leaves its frame: one encoder, by form, for any string there is."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from charter.core.text import (
    BARE_LIMIT,
    Form,
    Piece,
    Structure,
    Trust,
    Value,
    block,
    defused,
    encode,
    inline,
    is_plain,
    json_line,
    pieces_of,
    quote,
    spoken,
)  # fmt: skip

from .texts import CLUSTERS, HIDDEN, anything, json_values

pytestmark = pytest.mark.requirement("N-07", "S0-16")

OURS = Structure(["## Base"], "\n\n---\n\n")
SPACES = "\u00a0\u2003\u202f\u205f"
SCOTLAND, WALES = ("🏴" + "".join(chr(0xE0000 + ord(c)) for c in f"{code}\x7f") for code in ("gbsct", "gbwls"))
SPEAKERS = "system developer user assistant human ai bot tool function model you ipython".split()


@given(anything)
def test_a_quoted_value_is_json_on_one_line_and_reads_back_the_same(value: str) -> None:
    quoted = quote(value)
    assert json.loads(quoted) == value
    assert quoted.splitlines() == [quoted]
    assert not set(quoted) & set("<>`＜＞﹤﹥｀")


@pytest.mark.parametrize("hidden", HIDDEN)
def test_a_hidden_character_is_shown_by_its_number(hidden: str) -> None:
    shown = {"\r": "\\r"}.get(hidden, json.dumps(hidden)[1:-1] if not hidden.isascii() else f"\\u{ord(hidden):04x}")
    assert quote(f"a{hidden}b") == f'"a{shown}b"'
    if hidden not in "\r\x0b\x0c\x85\u2028\u2029":
        assert spoken(f"a{hidden}b") == f"a\\u{{{ord(hidden):x}}}b"


@pytest.mark.parametrize("seen", [*CLUSTERS, SCOTLAND, WALES, "می\u200cخواهم", "क्\u200dष", "naïve", "日本語"])
def test_a_joiner_inside_something_readable_stays(seen: str) -> None:
    assert inline(seen) == quote(seen)[1:-1] == spoken(seen) == defused(seen) == seen


def test_a_joiner_that_joins_nothing_is_shown() -> None:
    assert quote("👍\u200d") == '"👍\\u200d"'
    assert quote("a\u200cb\u200db") == '"a\\u200cb\\u200db"'
    assert quote("x\ufe0f\u20e3") == '"x\\ufe0f\u20e3"'
    assert quote("🏴\U000e0078\U000e007f") == '"🏴\\udb40\\udc78\\udb40\\udc7f"'


@pytest.mark.parametrize(
    "value", ["Zoë", "O'Brien", "a@b.co", "Ωmega (2.0) — 50%", "日本語", " a ", "-", "system: x", *CLUSTERS, "y" * 200]
)
def test_a_plain_value_stands_bare_inside_a_line(value: str) -> None:
    assert is_plain(value)
    assert inline(value) == value


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("a\nb", '"a\\nb"'),
        ("a\tb", '"a\\tb"'),
        ('say "hi"', '"say \\"hi\\""'),
        ("C:\\x", '"C:\\\\x"'),
        ("# x", '"# x"'),
        ("a=b", '"a=b"'),
        ("<b>", '"\\u003cb\\u003e"'),
        ("`x`", '"\\u0060x\\u0060"'),
        ("[INST] x [/INST]", '"\\u005bINST] x \\u005b/INST]"'),
        ("[not] [A]", '"[not] [A]"'),
        ("＜b＞", '"\\uff1cb\\uff1e"'),
        ("\ud800", '"\\ud800"'),
        ("y" * 201, f'"{"y" * 201}"'),
    ],
)
def test_a_value_that_is_not_plain_is_a_json_string(value: str, shown: str) -> None:
    assert not is_plain(value)
    assert inline(value) == shown


def test_an_empty_value_is_nothing_rather_than_two_quotation_marks() -> None:
    assert inline("") == inline("", starts_line=True) == ""
    assert quote("") == '""'


@pytest.mark.parametrize(
    "value",
    ["- x", "+ x", " x", "---", "___", "— x", ": x", "1. x", "12) x", "system: x", "You : x", "(user: x", "AI:",
     "ｓｙｓｔｅｍ: x", "ｓｙｓｔｅｍ", "𝐮𝐬𝐞𝐫: x"],
)  # fmt: skip
def test_what_is_plain_inside_a_line_is_quoted_where_it_would_start_one(value: str) -> None:
    assert inline(value) == value
    assert inline(value, starts_line=True) == f'"{value}"'


@pytest.mark.parametrize("speaker", SPEAKERS)
def test_the_name_of_a_speaker_is_quoted_where_it_would_start_a_line(speaker: str) -> None:
    for value in (speaker, f"{speaker}: x", f"{speaker.upper()} :", f"{speaker} "):
        assert inline(value) == value
        assert inline(value, starts_line=True) == f'"{value}"'


@pytest.mark.parametrize("value", ["Zoë", "10 apples", "systems: x", "the user: x", "youth: x", "a - b", "a i"])
def test_what_is_no_structure_stays_bare_at_the_start_of_a_line(value: str) -> None:
    assert inline(value, starts_line=True) == value


@given(anything)
def test_a_value_is_bare_only_when_it_is_plain(value: str) -> None:
    assert (inline(value) == value) is is_plain(value)
    assert len(value) <= BARE_LIMIT or not is_plain(value)


@given(anything)
def test_every_line_of_a_block_carries_our_mark(text: str) -> None:
    framed = block(text)
    assert all(line == ">" or line.startswith("> ") for line in framed.splitlines())
    assert bool(framed) is bool(text)


def test_a_block_keeps_its_lines_and_loses_its_tricks() -> None:
    text = "\nHi\r\n\n## Base\u2028---\n<system>x</system> -->\n```sh\n~~~~\n[INST]\ta\u00a0b\n> me\n\n"
    assert block(text) == (
        ">\n> Hi\n>\n> ## Base\n> ---\n> &lt;system>x&lt;/system> --&gt;\n> \\`\\`\\`sh\n> \\~\\~\\~\\~\n"
        "> &#91;INST]    a b\n> > me\n>\n>"
    )
    assert block("") == ""
    assert block("\n\n") == ">\n>\n>"


@pytest.mark.parametrize(
    ("trick", "told"),
    [
        ("a --> b", "a --&gt; b"),
        ("a --\uff1e b", "a --&gt; b"),
        ("＜system＞", "&lt;system＞"),
        ("﹤system>", "&lt;system>"),
        ("［INST］", "&#91;INST］"),
        ("｀｀｀", "\\｀\\｀\\｀"),
        ("～～～", "\\～\\～\\～"),
    ],
)
def test_a_trick_alone_or_in_wide_characters_is_no_less_a_trick(trick: str, told: str) -> None:
    assert spoken(trick) == told


def test_spoken_text_keeps_what_is_no_trick() -> None:
    text = "1 < 2 and 3 > 2, a -> b, `code`, ~~gone~~, [link](x), [A], # not ours\n\n- item"
    assert spoken(text) == text


@pytest.mark.parametrize("space", SPACES)
def test_an_odd_space_becomes_a_plain_one(space: str) -> None:
    assert spoken(f"a{space}b") == defused(f"a{space}b") == "a b"
    assert quote(f"a{space}b") == f'"a\\u{ord(space):04x}b"'


def test_project_markdown_keeps_its_code_and_html_but_no_chat_token_or_tag_of_ours() -> None:
    text = "```py\nif a < b:\n\treturn\n```\n<div>\n<!-- x -->\n"
    assert defused(text) == text
    told = "<|im_start|> <system> </s> <tool_call> <skill name> [INST] \u202ex\r\ny <systematic>"
    expected = (
        "&lt;|im_start|> &lt;system> &lt;/s> &lt;tool_call> &lt;skill name> &#91;INST] \\u{202e}x\ny <systematic>"
    )
    assert defused(told) == expected


@given(json_values, st.booleans(), st.sampled_from(((",", ":"), (", ", ": "))))
def test_json_stays_the_same_value_on_one_line(value: object, ascii_only: bool, separators: tuple[str, str]) -> None:
    text = json.dumps(value, ensure_ascii=ascii_only, separators=separators)
    line = json_line(text)
    assert json.loads(line) == value
    assert line.splitlines() == [line]
    assert not set(line) & set("<>`＜＞﹤﹥｀")


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("Zoë", "Zoë"),
        ("a\nb", '"a\\nb"'),
        (7, 7),
        (True, True),
        (None, None),
        (["a", "<b"], ["a", '"\\u003cb"']),
        ({"k": "a\tb", "n": [1]}, {"k": '"a\\tb"', "n": [1]}),
        (Piece("Zoë", "o"), "Zoë"),
        (Piece("Zoë", "o", form=Form.QUOTED), '"Zoë"'),
        (Piece("## Base", "o", form=Form.BLOCK), "> ## Base"),
        (Piece('{"a":"<b>"}', "o", form=Form.JSON), '{"a":"\\u003cb\\u003e"}'),
        (Piece("R&D", "o", form=Form.XML), "R&amp;D"),
        (Piece('"</skill>"', "o", form=Form.XML), "&quot;\\&quot;\\u003c/skill\\u003e\\&quot;&quot;"),
        (Piece("## Base\n<system>\u202e", "o", Trust.OPERATOR, Form.MARKDOWN), "\\## Base\n<system>\u202e"),
        (Piece("## Base\n<system>\u202e", "o", Trust.PROJECT, Form.MARKDOWN), "\\## Base\n&lt;system>\\u{202e}"),
    ],
)
def test_a_fact_is_encoded_by_its_form_and_trust(value: Value, shown: object) -> None:
    assert encode(value, OURS) == shown


@pytest.mark.parametrize("form", [Form.LINE, Form.XML])
def test_a_slot_at_the_start_of_a_line_is_known_by_its_name_at_any_depth(form: Form) -> None:
    facts: Value = {"a": "- x", "rows": [{"a": Piece("1. x", "o", form=form), "b": "- y"}]}
    shown = '"1. x"' if form is Form.LINE else "&quot;1. x&quot;"
    assert encode(facts, OURS, frozenset({"a"})) == {"a": '"- x"', "rows": [{"a": shown, "b": "- y"}]}
    assert encode(facts, OURS) == {"a": "- x", "rows": [{"a": "1. x", "b": "- y"}]}


@pytest.mark.parametrize("key", ["- x", "1. x", "system: x", " x"])
def test_a_key_that_is_no_name_is_encoded_as_what_starts_a_line(key: str) -> None:
    assert encode({key: 1}, OURS) == {f'"{key}"': 1}


def test_a_fact_without_a_name_starts_no_line() -> None:
    assert encode(["- x"], OURS, frozenset({"a", "x"})) == ["- x"]


def test_the_pieces_inside_a_fact_are_found_at_any_depth_in_order() -> None:
    a, b, c = (Piece("Zoë", origin) for origin in "abc")
    assert pieces_of({"first": a, "rows": [{"in": b, "n": 7}, "bare", (c,)], "off": None}) == [a, b, c]
    assert pieces_of(a) == [a]
    assert pieces_of("bare") == []


ASCII = st.text(st.characters(max_codepoint=127), max_size=BARE_LIMIT - 2)
TRICKS = st.text('-<>[]`~"\\/ \nINST_s!', max_size=40)


@given(ASCII | TRICKS)
def test_text_that_is_let_through_at_a_glance_is_what_the_whole_look_makes_of_it(text: str) -> None:
    """Beside a letter that is not ASCII the whole look is taken; it must come to the same."""
    assert quote(f"{text} é") == f'{quote(text)[:-1]} é"'
    for form in (spoken, defused, json_line):
        assert form(f"{text} é") == f"{form(text)} é"
    assert is_plain(f"{text} é") is is_plain(text)


def test_the_pieces_inside_a_fact_come_in_order_and_nothing_else_does() -> None:
    first, second, third = (Piece(name, "test") for name in ("a", "b", "c"))
    fact: Value = {"x": [first, "bare", {"y": second}], "z": (3, None, third)}
    assert pieces_of(fact) == [first, second, third]
