"""What is hashed as JSON has the same bytes whichever way it was written."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from charter.core.chain import link_hash
from charter.core.wire import canonical
from charter.written import ascii_json, canonical_json

pytestmark = pytest.mark.requirement("N-01")

texts = st.text(st.characters(max_codepoint=127)) | st.text(st.characters(categories=None))
values = st.recursive(texts | st.integers(), lambda inner: st.lists(inner, max_size=4), max_leaves=12)


@given(values)
def test_what_is_hashed_is_what_the_standard_library_writes(value: object) -> None:
    assert ascii_json(value) == json.dumps(value, separators=(",", ":")).encode()


@pytest.mark.parametrize("text", ["\x7f", "é", "\ud800", "\0", "\n"])
def test_the_quick_way_is_not_taken_where_it_differs(text: str) -> None:
    assert ascii_json([text, 2**70]) == json.dumps([text, 2**70], separators=(",", ":")).encode()
    assert ascii_json([text]).isascii()


@given(st.lists(texts | st.integers(0, 2**63 - 1), min_size=10, max_size=10))
def test_a_link_of_the_log_has_one_hash_however_its_row_is_written(fields: list[str | int]) -> None:
    assert link_hash(*fields, write=ascii_json) == link_hash(*fields)


plain = texts | st.integers() | st.booleans() | st.none() | st.floats(allow_nan=False)
bodies = st.dictionaries(
    texts,
    st.recursive(plain, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4)),
    max_size=4,
)


@given(bodies)
def test_a_request_has_one_canonical_form_however_it_is_written(body: dict[str, object]) -> None:
    assert canonical_json(body) == canonical(body)


@pytest.mark.parametrize(
    "body",
    [
        {"temperature": 1e-05, "seed": 1e16, "top_p": 0.7, "n": 2**70},
        {"a": float("inf"), "b": [float("-inf")]},
        {"messages": [{"content": "".join(map(chr, range(0x180))) + "\u2028\U0001f600"}]},
        {"messages": ({"role": "user"},), "\ue000": 1, "\U00010000": 2, "é": 3},
        {"half": "\ud800"},
        {"keys": {1: "a", "0": "b"}},
        {"keys": {None: "a"}, "flag": True},
    ],
)
def test_a_request_that_the_quick_way_writes_otherwise_is_written_the_slow_way(body: dict[str, object]) -> None:
    try:
        expected: object = canonical(body)
    except TypeError:
        expected = TypeError
    if expected is TypeError:
        with pytest.raises(TypeError):
            canonical_json(body)
    else:
        assert canonical_json(body) == expected


def test_what_is_no_json_is_no_request() -> None:
    for value in (b"bytes", {1, 2}, object()):
        with pytest.raises(TypeError):
            canonical_json({"value": value})


@given(bodies, bodies)
def test_a_body_that_is_not_the_known_one_is_written_as_ever(body: dict[str, object], other: dict[str, object]) -> None:
    for known in (canonical(body), canonical(other), b""):
        assert canonical_json(body, known) == canonical(body)


@pytest.mark.parametrize("number", [float("inf"), float("-inf"), float("nan")])
def test_what_is_no_number_is_not_taken_for_the_null_of_the_known_body(number: float) -> None:
    known = canonical_json({"a": None})
    assert canonical_json({"a": None}, known) == known
    assert canonical_json({"a": number}, known) != known
