"""One letter has one form; what no reader sees has none; letters that only look alike are told apart until asked."""

from __future__ import annotations

import pytest

from charter.guards.fold import look_alikes, plain, skeleton, widths
from charter.guards.hidden import find_hidden
from charter.guards.turning import turned

pytestmark = pytest.mark.requirement("N-08")


@pytest.mark.parametrize(
    "char", "\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0\u200b\ufe00\ufe0f\ufeff\x00\U000e0041"
)
def test_what_no_reader_sees_is_nothing(char: str) -> None:
    assert plain(f"a{char}b") == "ab"
    assert skeleton(f"a{char}b") == "ab"


@pytest.mark.parametrize(
    ("char", "space"),
    [
        ("\t", "\t"),
        *((char, "\n") for char in "\n\r\x0b\x0c\x85\u2028\u2029"),
        *((char, " ") for char in " \u00a0\u3000"),
    ],
)
def test_every_kind_of_space_is_a_blank_a_tab_or_a_break(char: str, space: str) -> None:
    assert plain(f"a{char}b") == f"a{space}b"


@pytest.mark.parametrize(
    ("char", "letters"),
    [("ı", "i"), ("Ø", "o"), ("đ", "d"), ("ł", "l"), ("ħ", "h"), ("ŧ", "t"), ("æ", "ae"), ("Œ", "oe"), ("ð", "d"),
     ("Þ", "th"), ("é", "e"), ("ﬁ", "fi"), ("Ａ", "a"), ("①", "1"), ("ẞ", "ss"),
     ("中", "中"), ("가", "가"), ("ｶ", "カ")],
)  # fmt: skip
def test_a_letter_is_folded_to_what_it_is_written_for(char: str, letters: str) -> None:
    assert plain(char) == letters


@pytest.mark.parametrize("mark", "\u0901\u093c\u0e31\u17b6\u3099")
def test_a_mark_that_is_part_of_the_spelling_stays(mark: str) -> None:
    assert mark in plain(f"x{mark}")


@pytest.mark.parametrize("mark", "\u0301\u0483\u05b0\u064e\u08f0\u1dc0\u20d0")
def test_another_mark_goes(mark: str) -> None:
    assert plain(f"x{mark}") == "x"


@pytest.mark.parametrize("first", [0x1F150, 0x1F170, 0x1F1E6])
def test_letters_in_boxes_and_of_flags_are_letters(first: int) -> None:
    assert skeleton(chr(first) + chr(first + 25)) == "az"
    assert "z" not in skeleton(chr(first + 26))
    assert "a" not in skeleton(chr(first - 1))


def test_letters_that_look_alike_are_latin_in_a_skeleton_only() -> None:
    assert skeleton("АВС") == "abc"
    assert plain("АВС") == "авс"
    assert skeleton("É") == "e"
    assert all(latin.isascii() for latin in look_alikes().values())


def test_widths_say_what_became_of_each_character() -> None:
    assert widths("aß\u200bﬁ", skeletal=False) == [1, 2, 0, 2]
    assert widths("\u0430æ", skeletal=True) == [1, 2]


@pytest.mark.parametrize(
    ("text", "runs"),
    [
        ("ab", ()),
        ("a\u200bb", ((1, 2),)),
        ("a\u200b\u200c\u2060b\u00adc", ((1, 4), (5, 6))),
        ("👩\u200d💻", ()),
        ("❤\ufe0f", ()),
        ("1\ufe0f\u20e3", ()),
        ("a\ufe0f\u20e3", ((1, 2),)),
        ("می\u200cخواهم", ()),
        ("a\u200cb", ((1, 2),)),
        ("🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f", ()),
        ("🏴\U000e0067\U000e0062\U000e007f", ((1, 4),)),
        ("x\U000e0041\U000e0042", ((1, 3),)),
        ("\x00a\x1b", ((0, 1), (2, 3))),
        ("a\tb\nc", ()),
    ],
)
def test_runs_that_no_reader_sees_are_found_and_emoji_keep_theirs(text: str, runs: tuple[tuple[int, int], ...]) -> None:
    assert find_hidden(text) == runs


def ways(text: str) -> dict[str, str]:
    return dict(turned(text, text.split()))


@pytest.mark.parametrize(
    ("text", "name", "said"),
    [
        ("tpmorp metsys", "reversed", "system prompt"),
        ("metsys tpmorp", "backwards", "system prompt"),
        ("hbhgvn kilnkg", "atbash", "system prompt"),
        ("flfgrz cebzcg", "rot13", "system prompt"),
        ("tztufn qspnqu", "caesar25", "system prompt"),
        ("rxrsdl oqnlos", "caesar1", "system prompt"),
        ("ystemsay omptpray", "pig", "system prompt"),
        ("ystemsay omptpray stay", "pig", "system prompt stay"),
    ],
)
def test_a_text_is_turned_back_where_two_words_of_ours_come_out(text: str, name: str, said: str) -> None:
    assert ways(text)[name] == said


@pytest.mark.parametrize("text", ["metsys here", "flfgrz then", "ystemsay today", "system prompt", "level noon", ""])
def test_one_word_of_ours_is_not_enough(text: str) -> None:
    assert ways(text) == {}


def test_a_letter_that_folds_into_two_is_two_letters_in_a_row_when_it_only_looks_like_them() -> None:
    assert (plain("\u1f80"), skeleton("\u1f80")) == ("αι", "ai")
