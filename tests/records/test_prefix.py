"""A prediction is the leading segments two requests share; every token is cached, behind a mark, lost or new."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from charter.prefix import Break, Kind, Segment, common, predict

HASHES = st.sampled_from("abcdefgh") | st.just("")
KINDS: st.SearchStrategy[Kind] = st.sampled_from(("layer", "tools", "message"))
SEGMENTS = st.lists(
    st.builds(Segment, KINDS, st.sampled_from(("one", "two", "past", "message", "since", "reply")), HASHES,
              st.integers(0, 500), st.integers(0, 2000)),
    max_size=9,
)  # fmt: skip


def layers(*texts: str) -> list[Segment]:
    """Layers of ten tokens, named by their first letter, their text standing for its hash."""
    return [Segment("layer", text[0], text, 10, 40) for text in texts]


def messages(*texts: str, name: str = "past") -> list[Segment]:
    return [Segment("message", name, text, 5) for text in texts]


@pytest.mark.requirement("N-06")
@given(SEGMENTS, SEGMENTS, st.integers(0, 900), st.none() | st.sets(st.integers(0, 9)))
def test_every_token_is_counted_once(a: list[Segment], b: list[Segment], inside: int, ends: set[int] | None) -> None:
    found = predict(a, b, inside=inside, ends=ends)
    parts = (found.cached, found.beyond, found.lost, found.fresh)
    assert all(part >= 0 for part in parts)
    assert sum(parts) == found.total == sum(segment.tokens for segment in b)
    assert found.below <= found.lost
    assert 0 <= found.share <= 1


@pytest.mark.requirement("N-06")
@given(SEGMENTS, SEGMENTS)
def test_a_request_that_goes_on_where_the_last_ended_loses_nothing(a: list[Segment], more: list[Segment]) -> None:
    known = [segment for segment in a if segment.sha256]
    found = predict(known, [*known, *more])
    assert (found.broke, found.lost) == (None, 0)
    assert found.cached >= sum(segment.tokens for segment in known)
    assert predict([*known, *more], known).cached == sum(segment.tokens for segment in known)


@pytest.mark.requirement("N-06")
@given(SEGMENTS, SEGMENTS, st.integers(0, 8))
def test_what_differs_at_a_place_ends_the_prefix_there_and_not_before(
    a: list[Segment], rest: list[Segment], place: int
) -> None:
    a = [segment for segment in a if segment.sha256][:place]
    b = [*a, Segment("layer", "new", "something else", 7), *rest]
    found = predict([*a, Segment("layer", "old", "what it was", 7), *rest], b)
    assert found.kept == len(a) == common([*a, *layers("x")], b)
    assert found.cached == sum(segment.tokens for segment in a)
    assert found.lost == sum(segment.tokens for segment in rest if segment.sha256)


@pytest.mark.requirement("N-06")
@given(SEGMENTS)
def test_a_segment_that_nobody_knows_any_more_is_never_taken_for_the_same(a: list[Segment]) -> None:
    unknown = [*a[:2], Segment("message", "past", "", 3), *a[2:]]
    assert common(unknown, unknown) <= 2


@pytest.mark.requirement("N-06")
def test_a_provider_that_keeps_marked_prefixes_has_the_last_mark_within_what_is_the_same() -> None:
    before, now = layers("a", "b", "c", "d"), layers("a", "b", "c", "D")
    assert (predict(before, now).cached, predict(before, now, ends={2}).cached) == (30, 20)
    assert predict(before, now, ends={2}).beyond == 10
    assert predict(before, now, ends={4}).cached == 0
    assert predict(before, now, ends=()).cached == 0


@pytest.mark.requirement("N-06")
def test_tokens_inside_the_layer_that_changed_count_as_found_and_no_more_than_it_has() -> None:
    before, now = layers("a", "b", "c"), layers("a", "B", "c")
    assert predict(before, now, inside=4).cached == 14
    assert predict(before, now, inside=400).cached == 20
    assert (predict(before, now).lost, predict(before, now).below) == (10, 10)


HEAD = layers("a")


@pytest.mark.requirement("N-06", "N-18")
@pytest.mark.parametrize(
    ("before", "now", "broke"),
    [
        (layers("a1", "b"), layers("a2", "b"), Break("layer", "a", "changed")),
        (layers("a", "b"), layers("a", "x", "b"), Break("layer", "x", "added")),
        (layers("a", "x", "b"), layers("a", "b"), Break("layer", "x", "removed")),
        (layers("a", "x"), [*HEAD, *messages("m")], Break("layer", "x", "removed")),
        ([*HEAD, *messages("m")], layers("a", "x"), Break("layer", "x", "added")),
        ([Segment("tools", "tools", "1", 9)], [Segment("tools", "tools", "2", 9)], Break("tools", "tools", "changed")),
        ([*HEAD, Segment("tools", "tools", "1", 9)], [*HEAD, *messages("m")], Break("tools", "tools", "removed")),
        (messages("1", "2", "3", "4", "5"), messages("4", "5", "6"), Break("message", "past", "cut", 3)),
        (messages("1", "2"), messages("9", name="message"), Break("message", "message", "anew")),
        (messages("1", name="message"), messages("9", name="message"), Break("message", "message", "left")),
        (messages("1", name="reply"), messages("9"), Break("message", "past", "reply")),
        (messages("1", name="since"), messages("9"), Break("message", "past", "calls")),
        (messages("1"), messages("9", "8"), Break("message", "past", "changed")),
    ],
)
def test_how_two_requests_part_has_a_name(before: Sequence[Segment], now: Sequence[Segment], broke: Break) -> None:
    assert predict(before, now).broke == broke
