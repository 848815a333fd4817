"""What is hashed as JSON has the same bytes whichever way it was written."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from charter.written import ascii_json

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
