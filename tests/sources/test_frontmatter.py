"""S2-08, S3-03: frontmatter is strings only; whatever is malformed or clever is an error that names file and line."""

from __future__ import annotations

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from charter.core.errors import ConfigError
from charter.sources.frontmatter import Frontmatter, bool_field, split, text_field

pytestmark = pytest.mark.requirement("S2-08", "S3-03")


def problem(text: str) -> str:
    with pytest.raises(ConfigError) as caught:
        split(text, "A.md")
    assert (caught.value.__context__, caught.value.__cause__) == (None, None)
    return str(caught.value)


def test_fields_are_strings_and_the_body_is_what_follows() -> None:
    text = "---\nname: Ada\nallow: true\nn: 1.0\nnone:\nlist: [1, ~]\nmeta: {a: 2020-01-01}\n---\n\n \n  Body\n\n"
    found = split(text, "A.md")
    plain = {"name": "Ada", "allow": "true", "n": "1.0", "none": ""}
    assert found.fields == {**plain, "list": ["1", "~"], "meta": {"a": "2020-01-01"}}
    assert found.body == "  Body"


def test_without_frontmatter_there_are_no_fields_and_the_text_is_the_body() -> None:
    for text in ("# Title\n---\nx: 1\n---", "----\nx: 1\n---", " ---\nx: 1\n---", ""):
        assert split(text, "A.md") == Frontmatter({}, text)


def test_an_empty_frontmatter_is_no_fields() -> None:
    assert split("---\n---\nBody", "A.md") == Frontmatter({}, "Body")
    assert split("--- \n# only a comment\n---\t\nBody", "A.md") == Frontmatter({}, "Body")


def test_template_looking_text_stays_as_it_is() -> None:
    assert split("---\nname: '{{ x }}'\n---\n{% raw %}\n", "A.md") == Frontmatter({"name": "{{ x }}"}, "{% raw %}")


def test_a_rule_in_the_body_is_not_a_fence() -> None:
    assert split("---\na: b\n---\none\n---\ntwo", "A.md").body == "one\n---\ntwo"


def test_text_never_shows_in_the_repr() -> None:
    assert "canary" not in repr(split("---\na: canary\n---\ncanary", "A.md"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("---\na: b\n", "A.md:1: the frontmatter opened by '---' is not closed; add a line '---'"),
        ("---", "A.md:1: the frontmatter opened by '---' is not closed; add a line '---'"),
        ("---\na: 1\nb: &x 2\n---\n", "A.md:3: anchors and aliases are not allowed"),
        ("---\na: 1\nb: *canary\n---\n", "A.md:3: anchors and aliases are not allowed"),
        ("---\na: &x [*x]\n---\n", "A.md:2: anchors and aliases are not allowed"),
        ("---\na: !!python/object/apply:os.system [id]\n---\n", "A.md:2: tags are not allowed"),
        ("---\na:\n  - !!str 1\n---\n", "A.md:3: tags are not allowed"),
        ("---\na: ! x\n---\n", "A.md:2: tags are not allowed"),
        ("---\n!!map {a: b}\n---\n", "A.md:2: tags are not allowed"),
        ("---\na: 1\nb: 2\na: 3\n---\n", "A.md:4: the same key twice"),
        ("---\nm: {k: 1, 'k': 2}\n---\n", "A.md:2: the same key twice"),
        ("---\n? [a, b]\n: c\n---\n", "A.md:2: a key must be plain text"),
        ("---\n- a\n---\n", "A.md:2: frontmatter must be a mapping of fields"),
        ("---\njust text\n---\n", "A.md:2: frontmatter must be a mapping of fields"),
        ("---\na: b\n c: canary: d\n---\n", "A.md:3: not valid YAML"),
        ("---\na: 'open\n---\n", "A.md:3: not valid YAML"),
        ("---\na: b\n--- c\n---\n", "A.md:3: not valid YAML"),
        ("---\n%YAML 1.1\na: b\n---\n", "A.md:3: not valid YAML"),
        ("---\na: b\nc: \x07canary\n---\n", "A.md:3: a character YAML does not allow"),
        ('---\na: "\\UFFFFFFFF"\n---\n', "A.md:2: not valid YAML"),
        ('---\na: "\\U00110000"\n---\n', "A.md:2: not valid YAML"),
        ('---\na: "\\ud800"\n---\n', "A.md:2: NUL and surrogate escapes are not allowed"),
        ('---\nb: c\n"\\0": a\n---\n', "A.md:3: NUL and surrogate escapes are not allowed"),
        ("---\na: " + "[" * 8 + "]" * 8 + "\n---\n", "A.md:2: nested deeper than 8 levels"),
        ("---\na: " + "[" * 16_000 + "\n---\n", "A.md:2: nested deeper than 8 levels"),
        ("---\na: " + "x" * 16_381 + "\n---\n", "A.md:1: frontmatter of 16,385 bytes, the limit is 16,384"),
    ],
)
def test_what_frontmatter_may_not_be_is_refused_by_line(text: str, message: str) -> None:
    # An absurd number gives no line, so its error names the first line of the frontmatter.
    assert problem(text) == message


def test_a_document_of_aliases_costs_nothing() -> None:
    bomb = "a0: &a0 x\n" + "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 10))
    start = time.perf_counter()
    assert problem(f"---\n{bomb}---\n") == "A.md:2: anchors and aliases are not allowed"
    assert time.perf_counter() - start < 0.5


def test_seven_levels_below_the_top_and_sixteen_kibibytes_are_fine() -> None:
    assert split("---\na: " + "[" * 7 + "]" * 7 + "\n---\n", "A.md").fields == {"a": [[[[[[[]]]]]]]}
    assert split("---\n" + "".join(f"a{n}: []\n" for n in range(9)) + "---\n", "A.md").fields["a8"] == []
    assert split("---\na: " + "x" * 16_380 + "\n---\n", "A.md").fields == {"a": "x" * 16_380}


def test_a_merge_key_is_an_ordinary_key() -> None:
    assert split("---\n<<: x\n---\n", "A.md").fields == {"<<": "x"}


def test_a_text_field_is_trimmed_and_blank_is_none() -> None:
    fields: dict[str, object] = {"name": "  Ada ", "blank": "  ", "list": ["a"]}
    assert text_field(fields, "name", "A.md") == "Ada"
    assert text_field(fields, "blank", "A.md") is None
    assert text_field(fields, "none", "A.md") is None
    with pytest.raises(ConfigError, match=r"^A.md: 'list' must be text$"):
        text_field(fields, "list", "A.md")


@pytest.mark.parametrize(("value", "flag"), [("true", True), ("YES", True), (" No ", False), ("False", False)])
def test_a_flag_is_true_false_yes_or_no(value: str, flag: bool) -> None:
    assert bool_field({"on": value}, "on", "A.md", default=not flag) is flag


@pytest.mark.parametrize("value", ["", "1", "on", "truthy", ["true"]])
def test_any_other_flag_is_an_error_and_a_missing_one_is_the_default(value: object) -> None:
    with pytest.raises(ConfigError, match=r"^A.md: 'on' must be true or false$"):
        bool_field({"on": value}, "on", "A.md")
    assert bool_field({}, "on", "A.md") is False
    assert bool_field({}, "on", "A.md", default=True) is True


@given(st.text())
def test_any_text_is_split_or_refused(text: str) -> None:
    for candidate in (text, f"---\n{text}\n---\nbody", f"---\na: {text}\n---\nbody", f'---\na: "{text}"\n---\nbody'):
        try:
            fields = split(candidate, "A.md").fields
        except ConfigError:
            continue
        assert all(isinstance(key, str) for key in fields)


@given(st.text(st.characters(exclude_categories=["Cc", "Cs", "Zl", "Zp"], exclude_characters="\ufffe\uffff")))
def test_a_quoted_text_comes_back_as_it_was(value: str) -> None:
    quoted = json.dumps(value, ensure_ascii=False)
    assert split(f"---\na: {quoted}\n---\nbody", "A.md").fields == {"a": value}
