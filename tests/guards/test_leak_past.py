"""What a person has said is theirs: how much of the hidden text they must have said, and in which places."""

from __future__ import annotations

import pytest

from charter.guards.leak_facts import Told
from charter.guards.leak_index import index_of
from charter.guards.leak_past import past_of
from charter.guards.leak_scan import scan_of

from .test_leak_enough import WORDS

pytestmark = pytest.mark.requirement("N-08", "S1-06")


def known(said: str, hidden: str = " ".join(WORDS)) -> list[int]:
    """The places of the hidden words that a person's text shows they have."""
    return sorted(past_of([("user", said)], index_of(hidden), lambda text: False).known)


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ("zalor bexim cuvot", [0, 1, 2]),
        ("zalor and bexim and cuvot", [0, 1, 2]),
        ("zalor bexim", []),
        ("zalor and bexim", []),
        ("bexim and cuvot and dwipa and evqun", [1, 2, 3, 4]),
        ("cuvot bexim zalor", []),
        ("ZALOR-BEXIM-CUVOT", [0, 1, 2]),
        ("so it is", []),
        ("", []),
    ],
)
def test_three_heavy_words_in_their_order_are_theirs(said: str, words: list[int]) -> None:
    assert known(said) == words


def test_sixteen_letters_in_a_row_are_theirs_and_fifteen_are_not() -> None:
    hidden = "zalorbeximcuvotd wipa"
    assert known("zalorbeximcuvotd", hidden) == [0]
    assert known("zalorbeximcuvot", hidden) == []


def test_three_words_that_weigh_little_are_not_theirs() -> None:
    hidden = "house door water table"
    bits = index_of(hidden).bits
    assert sum(bits[:3]) < 14.0 < sum(bits) - 3 * 0.4
    assert known("house x door x water", hidden) == []
    assert known("house x door x water x table", hidden) == [0, 1, 2, 3]


def test_what_they_said_is_theirs_wherever_these_very_words_stand_in_a_row() -> None:
    hidden = "zalor bexim cuvot dwipa. evqun zalor bexim cuvot flonk. zalor bexim gruxa"
    assert known("zalor bexim cuvot", hidden) == [0, 1, 2, 5, 6, 7]


def test_what_several_texts_of_theirs_show_is_theirs_and_what_others_say_is_not() -> None:
    index = index_of(" ".join(WORDS))
    first, second = " ".join(WORDS[:3]), " ".join(WORDS[6:9])
    past = past_of([("user", first), ("assistant", " ".join(WORDS[3:6])), ("user", second)], index, lambda text: False)
    assert sorted(past.known) == [0, 1, 2, 6, 7, 8]
    assert past.replies == [" ".join(WORDS[3:6])]


def test_a_layer_is_named_by_the_most_facts_and_of_two_the_first() -> None:
    opening = "word " * 30
    index = index_of({"a": f"{opening} see Pernille.", "b": f"{opening} see Pernille and Skovlyst.", "c": "so it is"})
    assert index.layer_with({"pernill", "skovlyst"}) == "b"
    assert index.layer_with({"skovlyst"}) == "b"
    assert index.layer_with({"pernill"}) == "a"
    assert index.layer_with(set()) == "a"


def test_nothing_that_is_made_of_a_hidden_text_a_canary_or_a_reply_shows_them() -> None:
    history = [("user", "zalor bexim"), ("assistant", "cuvot")]
    scan = scan_of({"house": " ".join(WORDS)}, history=history, canaries=["quartz-7f31"])
    scales = f"Scales(index=Index(reading=Reading()), floor={scan.scales.floor})"
    assert repr(scan) == f"Scan(scales={scales}, past=Past())"
    assert repr(scan.secrets[0]) == "Secret()"
    assert repr(scan.scales.index.letters) == "Grams(size=12)"
    assert repr(Told(1.0, 2, 3, 4, frozenset({"zalor"}))) == "Told(weight=1.0, spread=2, start=3, end=4)"
