"""Hidden words in pieces over a session, or stirred: what is just enough is met, and what is one short is not."""

from __future__ import annotations

import pytest

from charter.guards.leak_index import Fragment, Pieces, index_of
from charter.guards.leak_order import bag_traces, fragments, split_traces
from charter.guards.leak_read import read

pytestmark = pytest.mark.requirement("N-08", "S1-06")
WORDS = "alpha bravo charl delta echoe foxtr golfe hotel india julie kilos limas".split()
INDEX = index_of(" ".join(WORDS))
EACH = [5.0] * len(WORDS)  # all weigh the same

Reply = tuple[bool, list[tuple[int, int]]]  # whether it says little else, and its pieces


def joined(*replies: Reply, least: tuple[float, float] = (40.0, 30.0), count: int = 8) -> list[tuple[int, int]]:
    """The hidden words that come in pieces; a piece stands where its number says."""
    pieces = [
        Pieces([Fragment(*piece, at, at + 1) for at, piece in enumerate(found)], dense) for dense, found in replies
    ]
    found = list(split_traces(INDEX, pieces, EACH, least=least, count=count))
    assert {trace.way for trace in found} <= {"pieces"}
    assert all((trace.start, trace.end) == (len(replies[-1][1]) - 1, len(replies[-1][1])) for trace in found)
    return [(trace.first, trace.last) for trace in found]


@pytest.mark.parametrize(
    ("replies", "found"),
    [
        ([(False, [(0, 4)]), (False, [(4, 8)])], [(0, 8)]),
        ([(False, [(0, 4)]), (False, [(4, 7)])], []),
        ([(False, [(0, 4), (4, 8)])], [(0, 8)]),
        ([(False, [(0, 9)])], []),
        ([(False, [(0, 4), (4, 8)]), (False, [])], []),
        ([(False, [(0, 4)]), (False, []), (False, [(4, 8)])], [(0, 8)]),
        ([(False, [(4, 8)]), (False, [(0, 4)])], []),
        ([(False, [(5, 6)]), (False, [(5, 12)])], []),
        ([(False, [(0, 4)]), (False, [(3, 4)]), (False, [(4, 8)])], [(0, 8)]),
        ([(False, [(0, 2)]), (False, [(2, 4)]), (False, [(4, 8)])], [(0, 8)]),
    ],
)  # fmt: skip
def test_pieces_are_joined_in_their_order_and_the_last_one_stands_in_the_last_reply(
    replies: list[Reply], found: list[tuple[int, int]]
) -> None:
    assert joined(*replies) == found


@pytest.mark.parametrize(
    ("second", "weight", "words"),
    [((4, 8), 40.0, 8), ((5, 9), 39.0, 8), ((7, 11), 37.0, 8), ((3, 7), 34.0, 8)],
)
def test_words_that_are_missing_or_said_twice_cost_one_each(second: tuple[int, int], weight: float, words: int) -> None:
    replies: list[Reply] = [(False, [(0, 4)]), (False, [second])]
    assert joined(*replies, least=(weight, 0.0), count=words) == [(0, second[1])]
    assert joined(*replies, least=(weight + 0.1, 0.0), count=words) == []
    assert joined(*replies, least=(weight, 0.0), count=words + 1) == []


def test_three_words_may_be_missing_between_two_pieces_and_one_said_twice() -> None:
    free = {"least": (0.0, 0.0), "count": 0}
    assert joined((False, [(0, 4)]), (False, [(7, 9)]), **free) == [(0, 9)]  # type: ignore[arg-type]
    assert joined((False, [(0, 4)]), (False, [(8, 10)]), **free) == []  # type: ignore[arg-type]
    assert joined((False, [(0, 4)]), (False, [(3, 9)]), **free) == [(0, 9)]  # type: ignore[arg-type]
    assert joined((False, [(0, 4)]), (False, [(2, 9)]), **free) == []  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("replies", "enough"),
    [
        ([(True, [(0, 4)]), (True, [(4, 8)])], True),
        ([(False, [(0, 4)]), (True, [(4, 8)])], False),
        ([(True, [(0, 4)]), (False, [(4, 8)])], False),
        ([(True, [(0, 4), (4, 8)])], False),
        ([(True, [(0, 2)]), (True, [(2, 4), (4, 8)])], True),
        ([(True, [(0, 2)]), (False, [(2, 4)]), (True, [(4, 8)])], False),
    ],
)
def test_less_is_needed_of_several_replies_that_all_say_little_else(replies: list[Reply], enough: bool) -> None:
    assert joined(*replies, least=(40.1, 40.0)) == [(0, 8)] * enough


def test_of_two_ways_to_join_the_heavier_one_counts() -> None:
    least = (35.0, 0.0)
    assert joined((False, [(0, 3), (2, 4)]), (False, [(4, 8)]), least=least, count=0) == [(0, 8)]
    assert joined((False, [(0, 4)]), (False, [(6, 7)]), (False, [(7, 10)]), least=least, count=0) == [(0, 10)]
    assert joined((False, [(0, 4)]), (False, [(4, 5), (3, 5)]), (False, [(5, 7)]), least=(34.0, 0.0)) == []


# ── stirred ───────────────────────────────────────────────────────────────────────────────────────────────────────

STIRRED = WORDS[::-1]


def bags(words: list[str], least: float = 0.0) -> list[tuple[int, int, str]]:
    text = " ".join(words)
    found = list(bag_traces(INDEX, read(text), EACH, least=least))
    assert {trace.way for trace in found} <= {"shuffled"}
    return [(trace.first, trace.last, text[trace.start : trace.end]) for trace in found]


def test_nine_in_ten_words_of_a_sentence_are_it_in_any_order() -> None:
    assert bags(STIRRED[:11]) == [(0, 12, " ".join(STIRRED[:11]))]
    assert bags(STIRRED[:10]) == []
    assert bags(STIRRED[:10] * 2) == []
    assert bags(WORDS) == []


def test_a_stirred_sentence_has_to_weigh_enough() -> None:
    assert len(bags(STIRRED[:11], least=55.0)) == 1
    assert bags(STIRRED[:11], least=55.1) == []


def test_of_stirred_words_a_quarter_of_the_neighbours_stand_in_another_order() -> None:
    assert bags([*WORDS[4:], *WORDS[:4]]) == []
    three = [*WORDS[9:], *WORDS[6:9], *WORDS[3:6], *WORDS[:3]]
    assert [(first, last) for first, last, _ in bags(three)] == [(0, 12)]
    four = [*WORDS[8:], *WORDS[4:8], *WORDS[:4]]
    assert bags(four) == []


def test_stirred_words_stand_within_the_reach_of_their_sentence() -> None:
    """A sentence of twelve words may be spread over twenty."""
    apart = STIRRED[:1] + ["x"] * 8 + STIRRED[1:11]
    assert len(apart) == 19
    assert len(bags(apart)) == 1
    assert len(bags(STIRRED[:1] + ["x"] * 9 + STIRRED[1:11])) == 1
    assert bags(STIRRED[:1] + ["x"] * 10 + STIRRED[1:11]) == []


def test_a_sentence_that_is_stirred_twice_is_found_twice() -> None:
    assert len(bags(STIRRED[:11] + ["x"] * 30 + STIRRED[:11])) == 2


# ── fragments ─────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("charl delta echoe", [(2, 5)]),
        ("charl delta", []),
        ("charl delta ec", [(2, 4)]),
        ("xx delta echoe", []),
    ],
)
def test_a_fragment_is_of_twelve_letters_and_two_words(text: str, found: list[tuple[int, int]]) -> None:
    assert [(one.first, one.last) for one in fragments(INDEX, read(text)).found] == found


def test_a_single_word_is_no_fragment_however_long_it_is() -> None:
    index = index_of("zalorbeximcuvot dwipa flonkgruxahizbo evqun")
    for word in ("zalorbeximcuvot", "flonkgruxahizbo"):
        assert fragments(index, read(f"{word} x")).found == []
    assert [one[:2] for one in fragments(index, read("zalorbeximcuvot dwipa")).found] == [(0, 2)]


def test_a_reply_is_dense_when_forty_two_letters_in_a_hundred_are_hidden_ones() -> None:
    said = "charl delta echoe foxtr golfe hotel india julie"  # 40 letters
    assert fragments(INDEX, read(f"{said} {'x' * 55}")).dense
    assert not fragments(INDEX, read(f"{said} {'x' * 56}")).dense
