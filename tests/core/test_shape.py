"""A reply reaches a channel in the form it takes: no word lost, no part too long, no part empty."""

from __future__ import annotations

import re
import time
from itertools import accumulate

import pytest
from hypothesis import given
from hypothesis import strategies as st

from charter.core.errors import BadValue
from charter.core.plain import QUOTE_DEPTH, blocks, plain
from charter.core.policy import CHANNELS, ChannelPolicy
from charter.core.shape import shape, units
from charter.core.silence import is_silent

from .texts import CLUSTERS, anything

pytestmark = pytest.mark.requirement("S1-08")

BARE = ChannelPolicy("bare", markdown=False)
RICH = ChannelPolicy("rich")


def no_language(text: str) -> bool:
    """The name of a language is a mark, no word: it goes with the frame of code, and comes again with it."""
    return not re.search(r"^[\s>]*(`{3,}|~{3,})[^\n]*\w", text, re.MULTILINE)


marked = st.lists(
    st.sampled_from(
        ("\n", "\n", "\n\n", " ", "word", "two words", "# ", "### Title ##", "**", "*", "_", "__", "~~", "`", "``", "[",
         "](https://a.example/x_y)", '](b.md "why")', "]", "![", "(", ")", "- ", "* ", "+ ", "1. ", "> ", ">", "|",
         "| a | b |", "|---|:-:|", "---", "===", "***", "\\*", "\\", "<https://c.example>", "```", "~~~", "    ", "\t",
         "日本", "é", "2*3*4", "snake_case", "**kwargs", "\r\n", "\r", "🙂", "\\|", "__init__", "[ ]", "x[0](y)")
    ),
    max_size=40,
).map("".join).filter(no_language)  # fmt: skip


def letters(text: str) -> str:
    return "".join(letter for letter in text if letter.isalnum() and not is_silent(letter))


def seen(text: str) -> str:
    return "".join(letter for letter in text if not is_silent(letter))


# ── plain words ───────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("markdown", "words"),
    [
        ("# Title", "Title"),
        ("### Title ##\ntext", "Title\ntext"),
        ("#hashtag", "#hashtag"),
        ("Title\n=====\ntext\n---\nmore", "Title\ntext\nmore"),
        ("text\n\n---\n\nmore", "text\n\n———\n\nmore"),
        ("- one\n---\n* * *", "- one\n———\n———"),
        ("**bold** and *it* and __b c__ and _i_ and ~~gone~~", "bold and it and b c and i and gone"),
        ("***both***, **bold *inside***", "both, bold inside"),
        ("**half* done", "*half done"),
        ("**PR**s, 这是**重点**内容, **Note:** x", "PRs, 这是重点内容, Note: x"),
        ("2*3*4, 2**3**4, x ** 2, f(*args, **kwargs), a ~ b", "2*3*4, 2**3**4, x ** 2, f(*args, **kwargs), a ~ b"),
        ("snake_case_name and __init__ and _x_y_", "snake_case_name and __init__ and x_y"),
        (f"__{'a' * 65}__", "a" * 65),
        ("`code *stays* _so_` and ``a ` b``, `` `x` ``, ` `", "code *stays* _so_ and a ` b, `x`,  "),
        ("a lone ` tick and ``two", "a lone ` tick and ``two"),
        ("[words](https://a.example/x_(y)_z)", "words (https://a.example/x_(y)_z)"),
        ('[a **b** `c`](b.md "why") [d](<#e>)', 'a b c (b.md "why") d (#e)'),
        ("[https://a.example](https://a.example) <https://b.example>", "https://a.example https://b.example"),
        ("![a cat](cat.png) [![x](y.png)](z.html) [](q.html)", "a cat (cat.png) x (y.png) (z.html) q.html"),
        ("[not a link] [ref][1] handlers[name](event) x[0]() ](a.b)", None),
        ("- a\n* b\n  + c\n1. d\n- [x] e", "- a\n- b\n  - c\n1. d\n- [x] e"),
        ("> **said**\n>\n> > deep\nafter", "> said\n>\n> > deep\nafter"),
        ("> ```\n> a*b*\n> ```\n", "> a*b*\n"),
        ("| a | **b** |\n|---|:-:|\n| 1 | x\\|y |\n|  | z |\n\nend", "a | b\n1 | x|y\n | z\n\nend"),
        ("a | b\n--- | ---\n1 | 2\nend", "a | b\n1 | 2\nend"),
        ("a | b\nc | d", None),
        ("a | b", None),
        ("|\n|-|\n|", "\n"),
        ("```python\nx = **kw\n# no heading\n```\nend", "x = **kw\n# no heading\nend"),
        ("~~~ two words\na\n~~~\n```\nunclosed **x**", "two words\na\nunclosed **x**"),
        ("```not a fence```", "not a fence"),
        ("text\n\n    **code**\n    `more`", None),
        ("- item\n\n    **text**\nend\n    **end**", "- item\n\n    text\nend\n    end"),
        ("\\*not\\* \\_emphasis\\_ C:\\dir", "*not* _emphasis_ C:\\dir"),
        ("", ""),
    ],
)  # fmt: skip
def test_markdown_becomes_plain_words(markdown: str, words: str | None) -> None:
    assert plain(markdown) == (markdown if words is None else words)


@given(marked)
def test_no_letter_is_lost_or_moved_when_markdown_is_taken_away(text: str) -> None:
    assert letters(plain(text)) == letters(text)


@given(anything.filter(no_language))
def test_any_text_at_all_becomes_plain_words_with_every_letter(text: str) -> None:
    assert letters(plain(text)) == letters(text)


def test_quotations_too_deep_to_follow_stand_as_they_are_written() -> None:
    deep = "> " * QUOTE_DEPTH
    assert plain(f"{deep}> **x**") == f"{deep}> x"
    assert plain("> " * 3000 + "x").count(">") == 3000


def test_blocks_tell_sizes_and_never_their_lines() -> None:
    assert [repr(block) for block in blocks("a\nb\n```\nc\n```")] == ["Block(prose, 2 lines)", "Block(code, 1 lines)"]


# ── parts ─────────────────────────────────────────────────────────────────────────────────────────────────────────


@given(marked | anything, st.integers(2, 60))
def test_plain_parts_are_short_enough_never_empty_and_lose_nothing_that_can_be_seen(text: str, limit: int) -> None:
    parts = shape(text, ChannelPolicy("small", markdown=False, max_chars=limit))
    assert [part for part in parts if units(part) > limit or len(part) > limit or is_silent(part)] == []
    whole = plain(text.replace("\r\n", "\n").replace("\r", "\n"))
    assert seen("".join(parts)) == seen(whole)


@given(marked | anything.filter(no_language), st.integers(2, 60))
def test_markdown_parts_are_short_enough_never_empty_and_lose_no_letter(text: str, limit: int) -> None:
    parts = shape(text, ChannelPolicy("small", max_chars=limit))
    assert [part for part in parts if units(part) > limit or is_silent(part)] == []
    whole = text.replace("\r\n", "\n").replace("\r", "\n")
    assert letters("".join(parts)) == letters(whole)


def test_a_reply_within_the_limit_is_one_message_as_it_was_written() -> None:
    text = "\n \n    **Hello**\n\n```\ncode\n```\n"
    assert shape(text, RICH) == ["    **Hello**\n\n```\ncode\n```"]
    assert shape("**Hello**\r\nyou", BARE) == ["Hello\nyou"]
    assert shape("abcd", ChannelPolicy("four", max_chars=4)) == ["abcd"]


@pytest.mark.requirement("S3-10")
@pytest.mark.parametrize("text", ["", " \n ", "\u200b", "```\n```", "\n" * 9000])
def test_a_reply_with_nothing_to_see_is_no_message(text: str) -> None:
    assert shape(text, CHANNELS["telegram"]) == []


@pytest.mark.parametrize(
    ("text", "limit", "parts"),
    [
        ("one two.\n\nthree four.\nfive six.", 24, ["one two.", "three four.\nfive six."]),
        ("Hi.\n\n" + "a" * 12, 10, ["Hi.", "a" * 10, "aa"]),
        ("a\n\n\n \nb\n\nccc", 8, ["a\n\n\n \nb", "ccc"]),
        ("one two\nthree. four", 14, ["one two", "three. four"]),
        ("One two. Three four! Five", 21, ["One two. Three four!", "Five"]),
        ("日本。日本語", 4, ["日本。", "日本語"]),
        ("one two three", 9, ["one two", "three"]),
        ("one two  three", 8, ["one two", "three"]),
        ("abcdefgh", 3, ["abc", "def", "gh"]),
        ("ab.cdefgh", 3, ["ab.", "cde", "fgh"]),
        ("a👨\u200d👩\u200d👧 b", 8, ["a", "👨\u200d👩\u200d👧", "b"]),
        ("🙂🙂🙂", 5, ["🙂🙂", "🙂"]),
        ("e\u0301" * 3, 3, ["e\u0301", "e\u0301", "e\u0301"]),
        ("👨\u200d👩\u200d👧", 4, ["👨\u200d", "👩\u200d", "👧"]),
        ("word\n\n" + "x" * 6 + "\n\nend", 9, ["word", "xxxxxx", "end"]),
    ],
)
def test_a_long_reply_is_parted_where_it_hurts_least(text: str, limit: int, parts: list[str]) -> None:
    assert shape(text, ChannelPolicy("small", markdown=False, max_chars=limit)) == parts


def test_code_that_is_parted_is_closed_and_opened_again() -> None:
    code = "\n".join(f"line {number}" for number in range(6))
    text = f"Look:\n\n```python\n{code}\n```\n\nEnd"
    assert shape(text, ChannelPolicy("small", max_chars=40)) == [
        "Look:",
        "```python\nline 0\nline 1\nline 2\n```",
        "```python\nline 3\nline 4\nline 5\n```\n\nEnd",
    ]


def test_code_that_fits_a_message_is_not_parted_and_blank_lines_in_it_are_no_place_to_cut() -> None:
    code = "```\na\n\nb\n```"
    assert shape(f"{'x' * 15}\n{code}\n{code}\nend", ChannelPolicy("small", max_chars=20)) == [
        "x" * 15,
        code,
        code + "\nend",
    ]


def test_code_whose_marks_leave_no_room_is_cut_like_text_and_code_without_lines_is_left_out() -> None:
    fence = "`" * 8
    assert shape(f"{fence}\nabc def\n{fence}", ChannelPolicy("small", max_chars=12)) == [fence, "abc def", fence]
    blank = "\n".join([" "] * 50)
    assert shape(f"a\n```\n{blank}\n```\nb", ChannelPolicy("small", max_chars=20)) == ["a", "b"]


@given(st.lists(st.sampled_from((*CLUSTERS, "a")), min_size=8, max_size=60), st.integers(16, 24))
def test_no_part_ends_inside_what_is_read_as_one_character(clusters: list[str], limit: int) -> None:
    parts = shape("".join(clusters), ChannelPolicy("small", max_chars=limit))
    assert set(accumulate(map(len, parts))) <= set(accumulate(map(len, clusters)))


def test_telegram_gets_plain_parts_of_its_own_length() -> None:
    parts = shape("**🙂** " * 3000, CHANNELS["telegram"])
    assert [units(part) for part in parts] == [4094, 4094, 809]
    assert all("*" not in part for part in parts)


@pytest.mark.parametrize("limit", [1, 0, -5])
def test_a_limit_that_some_characters_do_not_fit_is_an_error_that_names_it(limit: int) -> None:
    with pytest.raises(BadValue, match=rf"^max_chars: {limit} is too small for some characters; use 2 or more$"):
        shape("text", ChannelPolicy("tiny", max_chars=limit))


@pytest.mark.parametrize(
    "unit",
    ["**a ", "*a* ", "[a](", "[a](b ", "[" * 9, "](a.b)", "`" * 7 + " ", "`a``", "> ", "> a\n", "|", "| a |\n|-|\n",
     " ", "\n", "- ", "#" * 9 + " ", "* * ", "___ ", "```\n", "~~~ a\n", "a\n\n", "\\", "<https://", "🇦", "e\u0301",
     "__a", '[a](b.c "', "=\n", "a.\n"],
)  # fmt: skip
@pytest.mark.parametrize(
    "policy", [ChannelPolicy("a", markdown=False, max_chars=512), ChannelPolicy("b", max_chars=512)]
)
def test_work_grows_with_the_length_of_a_hostile_reply_alone(unit: str, policy: ChannelPolicy) -> None:
    def work(size: int) -> float:
        text = (unit * (size // len(unit) + 1))[:size]
        took = []
        for _ in range(2):
            start = time.thread_time()
            shape(text, policy)
            took.append(time.thread_time() - start)
        return min(took)

    small = work(2_500)
    assert work(40_000) < 64 * max(small, 0.0005)  # 16 × when it grows with the length, 256 × with its square
