"""A template is text, slots, if and for; everything else is refused by place and never by content."""

from __future__ import annotations

import pytest
from hypothesis import given

from charter.core.errors import FolderError, TemplateRefused
from charter.templates import Compiled

from .texts import anything

pytestmark = pytest.mark.requirement("N-07")

SLOT = "a slot holds a name such as {{ sender }}; filters and calls are not allowed"
TAG = "only if, elif, else, endif, for and endfor are allowed here"
COMPILE = "the template does not compile; check its {% %} tags"


def refused(text: str) -> str:
    with pytest.raises(TemplateRefused) as caught:
        Compiled(f"first line\ncanary\n{text}", "layers/x.md")
    error = caught.value
    assert isinstance(error, FolderError)
    assert "canary" not in str(error)
    assert error.where == "layers/x.md:3"
    return str(error).removeprefix("layers/x.md:3: ")


@pytest.mark.parametrize(
    "slot",
    [
        "{{ canary | upper }}", "{{ canary|safe }}", "{{ canary() }}", "{{ canary.upper() }}", "{{ canary['a'] }}",
        "{{ canary[0] }}", "{{ 'canary' }}", '{{ "canary" }}', "{{ 1 }}", "{{ a + b }}", "{{ a ~ b }}", "{{ a if b }}",
        "{{ a, b }}", "{{- canary }}", "{{ canary -}}", "{{ Canary }}", "{{ canary.1 }}", "{{ }}", "{{}}", "{{ a b }}",
        "{{ canary\n| upper }}", "{{ [a] }}", "{{ {a: 1} }}", "{{ not a }}",
    ],
)  # fmt: skip
def test_a_slot_that_is_more_than_a_name_is_refused(slot: str) -> None:
    assert refused(slot) == SLOT


@pytest.mark.parametrize(
    "tag",
    [
        "{% include 'canary.md' %}", "{% set canary = 1 %}", "{% macro canary() %}{% endmacro %}",
        "{% raw %}{% endraw %}",
        "{% autoescape true %}{% endautoescape %}", "{% extends 'canary' %}", "{% block canary %}{% endblock %}",
        "{% import 'canary' as x %}", "{% from 'canary' import x %}", "{% filter upper %}{% endfilter %}",
        "{% call canary() %}{% endcall %}", "{% with canary = 1 %}{% endwith %}", "{% do canary() %}",
        "{% if canary | length %}x{% endif %}", "{% if canary() %}x{% endif %}", "{% if (canary) %}x{% endif %}",
        "{% if canary['a'] %}x{% endif %}", "{% for x in canary | sort %}x{% endfor %}",
        "{% for x in canary() %}x{% endfor %}", "{% for x in range(3) %}x{% endfor %}",
        "{% for a, b in canary %}x{% endfor %}", "{% for x in canary if x %}x{% endfor %}",
        "{% for x in canary recursive %}x{% endfor %}", "{%- if canary %}x{% endif %}", "{% if canary -%}x{% endif %}",
        '{% if canary == " %}x{% endif %}', '{% if a == " %} {# " %}{% else %}{{ x }}{# " #}{% endif %}',
        "{% %}", "{% break %}", "{% endif canary %}",
    ],
)  # fmt: skip
def test_a_tag_that_is_not_if_or_for_is_refused(tag: str) -> None:
    assert refused(tag) == TAG


@pytest.mark.parametrize(
    ("text", "mark"),
    [("{{ canary", "'{{'"), ("{% if canary", "'{%'"), ("{# canary", "'{#'"), ("x {{ canary }", "'{{'"), ("{{", "'{{'")],
)
def test_a_tag_that_is_never_closed_is_refused(text: str, mark: str) -> None:
    assert refused(text) == f"{mark} is never closed"


@pytest.mark.parametrize(
    "text",
    [
        "{% if canary %}", "{% endif %}", "{% else %}", "{% for x in canary %}", "{% endfor %}",
        "{% if == %}x{% endif %}",
        "{% elif canary %}", "{% if canary %}x{% endfor %}",
        "{% if a b %}x{% endif %}",
    ],
)  # fmt: skip
def test_tags_that_do_not_fit_together_are_refused(text: str) -> None:
    with pytest.raises(TemplateRefused) as caught:
        Compiled(f"canary\n{text}", "layers/x.md")
    assert str(caught.value).startswith("layers/x.md:2: ")
    assert str(caught.value).endswith(COMPILE)
    assert "canary" not in str(caught.value)


@pytest.mark.parametrize(
    "text",
    [
        "", "{ canary }", "a } b %} c #} d }}", "{{ a }}{{a}}{{\na\n}}", "{{ a.b.c }}", "{# {{ canary | upper }} #}",
        "{% if a %}x{% elif b %}y{% else %}z{% endif %}", '{% if a == "b" %}x{% endif %}',
        "{% if not a.b %}x{% endif %}",
        "{% if a is defined and a != none %}x{% endif %}", "{% for x in a.b %}{{ x.c }}{% else %}none{% endfor %}",
        "{% if a > 1 %}x{% endif %}", "{% for x in a %}{% if not loop.last %}, {% endif %}{% endfor %}",
    ],
)  # fmt: skip
def test_text_slots_if_and_for_are_taken(text: str) -> None:
    assert Compiled(text, "x.md").text == text.strip("\n")


def test_a_name_without_a_value_is_refused_by_name_and_place() -> None:
    template = Compiled("one\n{{ sender }} {{ body }}", "layers/x.md")
    with pytest.raises(TemplateRefused) as caught:
        template.render({"body": "canary"})
    assert str(caught.value) == "layers/x.md:2: no value for sender; add the source that gives it"
    with pytest.raises(TemplateRefused, match=r"^layers/x\.md:2: no value for body, sender; add the source"):
        template.render({})
    assert template.render({"sender": "a", "body": "b", "more": "c"}) == "one\na b"


@pytest.mark.parametrize(
    ("text", "values"),
    [("{{ a.b }}", {"a": {"canary": "canary"}}), ("{% for x in a %}{{ x }}{% endfor %}", {"a": 7, "canary": "canary"})],
)
def test_a_value_of_another_shape_is_refused_without_showing_it(text: str, values: dict[str, object]) -> None:
    with pytest.raises(TemplateRefused) as caught:
        Compiled(text, "x.md").render(values)
    assert str(caught.value) in {
        "x.md:1: UndefinedError; add the source that gives it",
        "x.md:1: InvalidOperation; add the source that gives it",
    }


@given(anything)
def test_a_refusal_never_shows_a_value(value: str) -> None:
    with pytest.raises(TemplateRefused) as caught:
        Compiled("{{ name }} {{ missing }}", "x.md").render({"name": f"canary{value}"})
    assert str(caught.value) == "x.md:1: no value for missing; add the source that gives it"


def test_a_value_is_not_escaped_a_second_time() -> None:
    assert Compiled("<b>{{ a }}</b>", "x.html").render({"a": "<&>\"'"}) == "<b><&>\"'</b>"


@pytest.mark.parametrize(
    ("text", "starts"),
    [
        ("{{ a }}", {"a"}),
        ("x {{ a }}", set()),
        ("x\n  {{ a }} {{ b }}", {"a", "b"}),
        ("- {{ a }}\n\n{{ b }}: {{ c }}", {"a", "b"}),
        ("{% if a %}{{ a }}{% endif %}", {"a"}),
        ("{# note #}{{ a }}", {"a"}),
        ("{% for row in rows %}\n{{ row }}\n{% endfor %}", {"row", "rows"}),
        ("{% for row in table.rows %}\n{{ row.name }} {{ x }}\n{% endfor %}", {"name", "x"}),
        ("{% for row in table.rows %}\n{{ row }}\n{% endfor %}", {"row", "rows"}),
    ],
)
def test_a_template_knows_which_slots_start_a_line(text: str, starts: set[str]) -> None:
    assert Compiled(text, "x.md").starts == starts


def test_a_template_knows_the_headings_it_writes() -> None:
    text = "## One\n### Talk with {{ who }} today\n{% if a %}# Two {# x #}{% endif %}\n#### {{ who }}\n#no\n####### no"
    assert Compiled(text, "x.md").headings == ("## One", "### Talk with ", "# Two", "#### ")


def test_blank_lines_around_a_template_are_not_part_of_it() -> None:
    template = Compiled("\n\n a\n{{ b }}\n\n", "x.md")
    assert template.text == " a\n{{ b }}"
    assert template.render({"b": "c"}) == " a\nc"
