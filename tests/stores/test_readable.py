"""Old settings become words: every value is still there, and no JSON is."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from charter.stores.migrations.readable import readable, readable_json

pytestmark = pytest.mark.requirement("S4-08")

WORDS = st.text(alphabet="abcdefghij xyz", min_size=1, max_size=12).filter(lambda text: bool(text.strip()))
CONTENT = st.recursive(
    WORDS | st.integers(-999, 999) | st.booleans() | st.none() | st.just(""),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(WORDS.map(str.strip), inner, max_size=4),
    max_leaves=12,
)


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("Always answer in bullet points.", "Always answer in bullet points."),
        ("  as it\n\n  is \n", "  as it\n\n  is \n"),
        ({"instructions": "Be brief."}, "Be brief."),
        ({"instructions": ["Be brief", "Ask first"]}, "- Be brief\n- Ask first"),
        (["Be brief", "", None, "Ask first"], "- Be brief\n- Ask first"),
        (
            {"reply_style": "short", "use_emoji": False, "formal": True},
            "Reply style: short\nUse emoji: no\nFormal: yes",
        ),
        ({"topics": ["tea", "trains"], "max_words": 150}, "Topics:\n- tea\n- trains\nMax words: 150"),
        ({"work": {"role": "ops", "on_call": True}}, "Work:\n  Role: ops\n  On call: yes"),
        ({"tone": "warm", "instructions": ["Be brief"]}, "- Be brief\nTone: warm"),
        ([{"name": "Ana", "via": ["phone"]}, ["a", "b"]], "- Name: Ana\n  Via:\n  - phone\n- - a\n  - b"),
        ({"signature": "Ada\n\nLondon"}, "Signature:\n  Ada\n\n  London"),
        ({"a": None, "b": [], "c": {}, "d": " ", "e": {"f": [None, ""]}}, ""),
        ({"": "no key", " odd\n_key ": 1}, "no key\nOdd key: 1"),
        ('{"instructions": ["Be brief"], "max_words": 3}', "- Be brief\nMax words: 3"),
        ({"saved": '["a", "b"]'}, "Saved:\n- a\n- b"),
        ('"{\\"a\\": 1}"', '"{\\"a\\": 1}"'),
        ("[TODO] call {name}", "[TODO] call {name}"),
        (None, ""),
        ([], ""),
        (0, "0"),
        (False, "no"),
        ("a\0b \ud800 c", "ab ? c"),
    ],
)
def test_content_reads_as_a_person_would_write_it(content: object, text: str) -> None:
    assert readable(content) == text


@pytest.mark.parametrize(
    ("stored", "text"),
    [
        ('{"ratio": 1.10, "big": 123456789012345678901234567890}', "Ratio: 1.10\nBig: 123456789012345678901234567890"),
        ('"plain"', "plain"),
        ("not JSON at all", "not JSON at all"),
        ("null", ""),
        ("true", "yes"),
        ('{"a": "line\nbreak"}', "A:\n  line\n  break"),
        ("", ""),
        (None, ""),
        ('{"n": ' + "9" * 5000 + "}", "N: " + "9" * 5000),
        ("[" * 9000 + '{"key": "a \\" b"}, "c", -1.5e3, true, null' + "]" * 9000, '- a " b\n- c\n- -1.5e3\n- yes'),
    ],
)
def test_stored_json_keeps_its_numbers_and_however_deep_it_is_nested_it_is_read(stored: str | None, text: str) -> None:
    assert readable_json(stored) == text


def leaves(content: Any) -> list[str]:
    if isinstance(content, dict):
        return [leaf for value in content.values() for leaf in leaves(value)]
    if isinstance(content, list):
        return [leaf for value in content for leaf in leaves(value)]
    if isinstance(content, bool):
        return ["yes" if content else "no"]
    return [] if content in (None, "") else [str(content)]


@given(CONTENT)
def test_every_value_is_in_the_text_and_no_sign_of_json_is(content: Any) -> None:
    text = readable(content)
    left = text
    for leaf in sorted(leaves(content), key=len, reverse=True):
        assert leaf in left
        left = left.replace(leaf, "", 1)
    assert not set('{}[]"_') & set(text)
    assert "null" not in text


@given(CONTENT)
def test_what_a_database_stores_reads_the_same_as_the_value_itself(content: Any) -> None:
    assert readable_json(json.dumps(content)) == readable(content)
