"""A cut is never silent: the mark counts inside the limit, and what is kept and what is left add up."""

from __future__ import annotations

from itertools import accumulate

import pytest
from hypothesis import given
from hypothesis import strategies as st

from charter.core.errors import BadValue
from charter.core.section import first_sentence
from charter.core.text import Capped, cap, shorten

from .texts import CLUSTERS, anything

pytestmark = pytest.mark.requirement("S2-04", "N-05")

pieces = st.sampled_from(("word ", "A sentence. ", "x" * 30, "\n", "日本。", "!", "  "))
long_text = st.lists(pieces, max_size=40).map("".join)
clustered = st.lists(st.sampled_from((*CLUSTERS, "a", " ", ".", "\n")), min_size=40, max_size=90)


def mark(left: int, total: int) -> str:
    return f"\n\n[… {left:,} of {total:,} characters left out]"


def check_cap(text: str, limit: int) -> None:
    capped, total = cap(text, limit), len(text)
    assert len(capped.text) <= limit
    assert capped.original == total
    if total <= limit:
        assert capped == Capped(text, total, total)
    elif limit <= len(mark(total, total)):
        assert capped == Capped("…"[:limit], total, 0)
    else:
        assert capped.text == text[: capped.kept] + mark(total - capped.kept, total)


@given(anything | long_text)
def test_a_capped_text_is_a_prefix_and_its_mark_inside_every_limit_there_is(text: str) -> None:
    for limit in range(len(text) + 6):
        check_cap(text, limit)


def test_one_character_too_many_costs_the_room_of_the_mark() -> None:
    expected = "x" * 19_958 + "\n\n[… 43 of 20,001 characters left out]"
    assert cap("x" * 20_001, 20_000) == (expected, 20_001, 19_958)
    assert cap("x" * 20_000, 20_000) == ("x" * 20_000, 20_000, 20_000)


def test_a_cut_ends_at_the_last_sentence_of_the_last_fifth() -> None:
    text = "a" * 85 + ". " + "b" * 5 + " " + "c" * 60
    assert cap(text, 139).text == "a" * 85 + ".\n\n[… 67 of 153 characters left out]"


def test_a_quotation_mark_after_the_full_stop_stays_with_its_sentence() -> None:
    text = "a" * 85 + '." ' + "b" * 60
    assert cap(text, 139).text == "a" * 85 + '."' + mark(61, 148)


def test_a_cut_without_a_sentence_ends_at_the_last_space_of_the_last_fifth() -> None:
    text = "a" * 85 + " " + "b" * 5 + " " + "c" * 60
    assert cap(text, 139).text == "a" * 85 + " " + "b" * 5 + "\n\n[… 61 of 152 characters left out]"


def test_a_cut_without_a_sentence_or_a_space_falls_where_the_room_ends() -> None:
    assert cap("a. " + "b" * 147, 139) == ("a. " + "b" * 100 + mark(47, 150), 150, 103)


def test_a_cut_in_a_script_without_spaces_ends_at_its_full_stop() -> None:
    assert cap("日" * 90 + "。" + "本" * 60, 139).text == "日" * 90 + "。" + mark(60, 151)


@pytest.mark.parametrize(("before", "kept"), [(82, 103), (83, 84)])
def test_a_sentence_that_ends_before_the_last_fifth_is_no_place_to_cut(before: int, kept: int) -> None:
    text = "日" * before + "。" + "本" * (152 - before)  # with a room of 103 the last fifth begins at 83
    assert cap(text, 139) == (text[:kept] + mark(153 - kept, 153), 153, kept)


@pytest.mark.parametrize(("word", "kept"), [(12, 103), (13, 90)])
def test_a_word_that_ends_where_the_room_ends_is_kept_and_a_longer_one_goes(word: int, kept: int) -> None:
    text = ("a" * 90 + " " + "b" * word + " ").ljust(153, "c")
    assert cap(text, 139) == (text[:kept] + mark(153 - kept, 153), 153, kept)


def test_white_space_before_the_cut_is_counted_as_left_out() -> None:
    assert cap("aaaaa" + " " * 100, 60) == ("aaaaa\n\n[… 100 of 105 characters left out]", 105, 5)


@given(clustered, st.integers(0, 20))
def test_a_cut_never_falls_inside_an_emoji_sequence(clusters: list[str], less: int) -> None:
    text = "".join(clusters)
    kept = cap(text, max(len(text) - 1 - less, 0)).kept
    assert kept in {0, *accumulate(map(len, clusters))}


def test_a_text_that_is_one_sequence_is_dropped_whole_rather_than_cut() -> None:
    family = "👨" + "\u200d👩" * 60
    assert cap(family, 100) == (mark(121, 121), 121, 0)


@pytest.mark.parametrize(
    ("text", "limit", "short"),
    [
        ("🇩🇪🇫🇷🇪🇸", 3, "🇩🇪…"),
        ("🇩🇪🇫🇷🇪🇸", 4, "🇩🇪…"),
        ("🇩🇪🇫🇷🇪🇸", 5, "🇩🇪🇫🇷…"),
        ("\u0301bc", 1, "…"),
        ("\u0301bc", 2, "\u0301…"),
        ("abc\u200d", 1, "…"),
    ],
)
def test_a_cut_falls_between_flags_and_never_before_the_start(text: str, limit: int, short: str) -> None:
    assert shorten(text, limit) == short


@pytest.mark.parametrize("limit", [-1, -20_000])
def test_a_negative_limit_is_an_error_that_names_it(limit: int) -> None:
    with pytest.raises(BadValue, match=rf"^limit: {limit} is negative; use 0 or more$"):
        cap("text", limit)
    with pytest.raises(BadValue, match=rf"^limit: {limit} is negative; use 0 or more$"):
        shorten("text", limit)


@pytest.mark.requirement("S0-04", "S3-09")
@given(anything | long_text)
def test_a_preview_keeps_its_limit_and_shows_that_it_was_cut(text: str) -> None:
    for limit in range(len(text) + 6):
        short = shorten(text, limit)
        assert len(short) <= limit
        if len(text) <= limit:
            assert short == text
        elif limit:
            assert short.endswith("…")
            assert text.startswith(short[:-1])
            assert limit - 1 - len(text[: len(short) - 1]) <= 12 or text[len(short) - 1 : limit - 1].isspace()


@pytest.mark.requirement("S0-04")
def test_a_preview_of_140_characters_counts_its_ellipsis() -> None:
    assert shorten("y" * 141, 140) == "y" * 139 + "…"
    assert shorten("y" * 140, 140) == "y" * 140


@pytest.mark.requirement("S0-08")
@given(anything | long_text)
def test_a_first_sentence_is_one_line_inside_every_limit(text: str) -> None:
    for limit in (*range(6), 40, 160):
        line = first_sentence(text, limit)
        assert len(line) <= limit
        assert len(line.splitlines()) <= 1
        assert "#" not in line


@pytest.mark.requirement("S0-08")
@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("## Loop\n\nCheck the balance first. Then act.", "Loop Check the balance first."),
        ("Pay 3.5 at most! Never more.", "Pay 3.5 at most!"),
        ("Ask?\nThen wait.", "Ask?"),
        ("先看余额。再行动。", "先看余额。"),
        ("no end\n\tat all", "no end at all"),
        ("1. Look first. 2. Act.", "1. Look first."),
        ("12) Look first! Act.", "12) Look first!"),
        ("Look at 1. Then act.", "Look at 1."),
        ("# ##\n", ""),
    ],
)
def test_the_first_sentence_ends_at_its_mark_and_spans_lines(text: str, line: str) -> None:
    assert first_sentence(text, 160) == line


@pytest.mark.requirement("S0-08")
def test_a_first_sentence_that_is_too_long_is_shortened_visibly() -> None:
    assert first_sentence("word " * 60 + ".", 12) == "word word w…"
