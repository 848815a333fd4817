"""A template is filled the fast way or the full way, and the bytes are the same."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from charter.core.assemble import fill
from charter.core.text import Facts, Form, Piece, Structure, Trust, Value, encode, is_plain
from charter.templates import Compiled

from .texts import anything, plain

pytestmark = pytest.mark.requirement("N-07")

OURS = Structure(["## Base"], "\n\n---\n\n")
values = st.one_of(
    plain,
    plain,
    plain,
    anything,
    st.sampled_from(("", " ", "\n", "- x", "---", "## Base", "y" * 200, "y" * 201, "system: x")),
)
other_values = st.one_of(
    st.integers(-(2**63), 2**63),
    st.booleans(),
    anything.map(lambda text: Piece(text, "test", form=Form.QUOTED)),
    anything.map(lambda text: Piece(text, "test", form=Form.BLOCK)),
)
# Text of a template without tags; a template's file has \n alone for a line end.
between = st.text(st.characters(codec="utf-8", exclude_characters="{}\r"), max_size=12)


def full(template: Compiled, facts: Facts) -> str:
    encoded = {name: encode(value, OURS, template.starts, name) for name, value in facts.items()}
    return template.render(encoded).strip("\n")


@given(st.lists(between, min_size=4, max_size=4), values, values, values)
def test_both_ways_give_the_same_bytes_for_any_text_and_values(texts: list[str], a: str, b: str, c: str) -> None:
    template = Compiled(f"{texts[0]}{{{{ a }}}}{texts[1]}{{{{b}}}}{texts[2]}{{{{  c }}}}{texts[3]}", "t.md")
    facts: Facts = {"a": a, "b": b, "c": c, "unused": 1}
    assert fill(template, facts, OURS) == full(template, facts)


@given(values | other_values, values | other_values)
def test_the_fast_way_is_taken_when_every_value_is_plain_text_and_only_then(a: Value, b: Value) -> None:
    template = Compiled("Name: {{ a }}, also {{ b }}.", "t.md")
    facts = {"a": a, "b": b}
    quick = template.quick(facts)
    if all(isinstance(value, str) and is_plain(value) for value in (a, b)):
        assert quick == f"Name: {a}, also {b}." == full(template, facts)
    else:
        assert quick is None
        assert fill(template, facts, OURS) == full(template, facts)


def test_values_that_are_long_only_together_take_the_fast_way() -> None:
    template = Compiled("Name: {{ a }}, also {{ b }}.", "t.md")
    assert template.quick({"a": "y" * 200, "b": "z" * 200}) == f"Name: {'y' * 200}, also {'z' * 200}."
    assert template.quick({"a": "y", "b": "z" * 201}) is None


@given(values)
def test_a_template_of_one_slot_is_filled_both_ways_alike(value: str) -> None:
    template = Compiled("Name: {{ name }}", "t.md")
    assert fill(template, {"name": value}, OURS) == full(template, {"name": value})
    assert (template.quick({"name": value}) is not None) is is_plain(value)


@given(between)
def test_a_template_without_slots_is_its_text_both_ways(text: str) -> None:
    template = Compiled(f"x{text}x", "t.md")
    assert template.quick({}) == f"x{text}x" == full(template, {})


@pytest.mark.parametrize(
    "text",
    ["{{ a }} b", "- {{ a.b }}", "{# note #}x {{ a }}", "{% if a %}x {{ a }}{% endif %}", "{{ a }}", "x\n  {{ a }}"],
)
def test_a_template_with_tags_or_a_slot_at_a_line_start_never_takes_the_fast_way(text: str) -> None:
    assert Compiled(text, "t.md").quick({"a": "plain"}) is None


def test_a_missing_value_is_left_to_the_full_way_and_refused_there() -> None:
    template = Compiled("Name: {{ a }}", "t.md")
    assert template.quick({}) is None
    with pytest.raises(Exception, match=r"^t\.md:1: no value for a; add the source that gives it$"):
        fill(template, {}, OURS)


@pytest.mark.parametrize(
    ("text", "facts", "filled"),
    [
        ("Hi {{ a }}!", {"a": "Zoë"}, "Hi Zoë!"),
        ("Hi {{ a }}!", {"a": "a\n## Base"}, 'Hi "a\\n## Base"!'),
        ("Hi {{ a }}!", {"a": ""}, "Hi !"),
        ("{{ a }}", {"a": "- Zoë"}, '"- Zoë"'),
        ("{{ a }}", {"a": Piece("- a\n## Base", "o", Trust.OPERATOR, Form.MARKDOWN)}, "- a\n\\## Base"),
        ("\n\n{{ a }}\n\n", {"a": Piece("\nx\n", "o", Trust.OPERATOR, Form.MARKDOWN)}, "x"),
        ("{% for n in a %}\n- {{ n }}\n{% endfor %}", {"a": ["x", "<y>"]}, '- x\n- "\\u003cy\\u003e"'),
        ("{% for n in a %}\n{{ n }}\n{% endfor %}", {"a": ["x", "- y"]}, 'x\n"- y"'),
        ("{% for n in a %}\n{{ n.b }}\n{% endfor %}", {"a": [{"b": "1. x"}]}, '"1. x"'),
        ("{% if a %}{{ a }}{% else %}none{% endif %}", {"a": None}, "none"),
        ("n={{ a }}", {"a": 7}, "n=7"),
    ],
)
def test_a_filled_template_holds_every_value_in_its_frame(text: str, facts: Facts, filled: str) -> None:
    assert fill(Compiled(text, "t.md"), facts, OURS) == filled


@given(anything)
def test_no_value_opens_a_tag_of_the_template_language(value: str) -> None:
    template = Compiled("Name: {{ a }}", "t.md")
    told = fill(template, {"a": value + "{{ b }}{% if x %}{# y #}"}, OURS)
    assert told.endswith('{{ b }}{% if x %}{# y #}"')
    assert re.match(r'Name: "', told)
