"""A chat within its window: what stays is the newest, and the cut moves rarely."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from charter.core.records import Exchange
from charter.core.window import KEPT, STEP, within

pytestmark = pytest.mark.requirement("N-18")


def chat(first: int, last: int) -> list[Exchange]:
    return [Exchange(seq, f"t{seq}", "a" * (seq % 7 + 1), "b") for seq in range(first, last + 1)]


def kept(exchanges: list[Exchange], room: int) -> list[int]:
    """The numbers of those that stay when each costs one."""
    return [exchange.seq for exchange in exchanges[within(exchanges, [1] * len(exchanges), room) :]]


def test_a_chat_that_fits_is_sent_whole() -> None:
    assert kept(chat(1, 7), 7) == [1, 2, 3, 4, 5, 6, 7]


def test_a_chat_that_was_begun_anew_starts_where_it_started() -> None:
    assert kept(chat(7, 9), 100) == [7, 8, 9]


def test_what_does_not_fit_gives_way_four_at_a_time() -> None:
    assert kept(chat(1, 7), 6) == [5, 6, 7]
    assert kept(chat(1, 9), 4) == [9]
    assert kept(chat(1, 7), 0) == []


def test_the_cut_moves_once_in_four_turns_when_the_log_is_full() -> None:
    starts = [kept(chat(last - KEPT + 1, last), 100)[0] for last in range(24, 40)]
    assert starts == [5, 9, 9, 9, 9, 13, 13, 13, 13, 17, 17, 17, 17, 21, 21, 21]


def test_an_empty_chat_is_nothing() -> None:
    assert kept([], 100) == []


@given(first=st.integers(1, 50), size=st.integers(0, 20), room=st.integers(0, 90))
def test_what_stays_is_the_newest_fits_and_starts_a_step(first: int, size: int, room: int) -> None:
    exchanges = chat(first, first + size - 1)
    at = within(exchanges, [len(exchange.text) for exchange in exchanges], room)
    assert sum(len(exchange.text) for exchange in exchanges[at:]) <= room
    if 0 < at < len(exchanges):
        assert (exchanges[at].seq - 1) % STEP == 0


@given(room=st.integers(8, 60))
def test_over_a_long_chat_the_cut_stands_still_in_most_turns(room: int) -> None:
    cuts = [kept(chat(max(1, last - KEPT + 1), last), room)[0] for last in range(1, 60)]
    moved = sum(1 for before, after in itertools.pairwise(cuts) if before != after)
    assert moved <= len(cuts) // STEP
