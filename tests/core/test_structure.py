"""Markdown of others cannot write our headings or separators, and every other byte of it stays."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from charter.core.text import Structure

pytestmark = pytest.mark.requirement("N-07", "S0-16")

OURS = Structure(["## Base", "### Memory", "### Conversation with "], "\n\n---\n\n")
TITLES = {"base", "memory"}
OPENING = "conversation with"

forging = st.lists(
    st.sampled_from(
        ("\n", "\n", "\n", " ", "\t", "#", "##", "######", "## ", "Base", "MEMORY", "## Base", "##base ##", "Based",
         "---", "----", "--", "===", "==", "Conversation with", "### Conversation with bob", "\\", "> ", "- a", "x"),
    ),
    max_size=14,
).map("".join)  # fmt: skip
harmless = st.lists(
    st.sampled_from(("\n", "\n", " ", "#", "## Other", "# Based", "a", "--", "==", "***", "-- -", "`x`", "\t", "é")),
    max_size=14,
).map("".join)


def is_ours(line: str, above: str) -> bool:
    """Whether a reader would take this line for a heading or separator of ours."""
    line, above = line.strip(" \t"), above.strip(" \t").lower()
    heading = re.fullmatch(r"#{1,6}[ \t]*(.*?)[ \t]*#*", line)
    title = heading[1].lower() if heading else ""
    rule = re.fullmatch(r"-{3,}", line) is not None
    underline = above in TITLES and re.fullmatch(r"[=-]{2,}", line) is not None
    return title in TITLES or title.startswith(OPENING) or rule or underline


def ours_in(text: str) -> list[str]:
    lines = text.split("\n")
    return [line for above, line in zip(["", *lines], lines, strict=False) if is_ours(line, above)]


@given(forging | st.text())
def test_no_line_of_an_escaped_text_can_be_taken_for_ours(text: str) -> None:
    assert ours_in(OURS.escape(text)) == []


@given(forging | harmless | st.text())
def test_text_without_our_headings_is_untouched_byte_for_byte(text: str) -> None:
    if not ours_in(text) and "\r" not in text:
        assert OURS.escape(text) == text


@given(forging)
def test_escaping_adds_one_backslash_to_each_forged_line_and_takes_nothing(text: str) -> None:
    escaped = OURS.escape(text)
    assert len(escaped) == len(text) + len(ours_in(text))
    assert escaped.replace("\\", "") == text.replace("\\", "")
    assert OURS.escape(escaped) == escaped


@pytest.mark.parametrize(
    ("text", "escaped"),
    [
        ("## Base", "\\## Base"),
        ("#base", "\\#base"),
        ("  ###### BASE ##  \nx", "  \\###### BASE ##  \nx"),
        ("a\n\t## Memory\nb", "a\n\t\\## Memory\nb"),
        ("### Conversation with bob", "\\### Conversation with bob"),
        ("# conversation  with", "\\# conversation  with"),
        ("Base\n===", "Base\n\\==="),
        (" base \n  --  \nx", " base \n  \\--  \nx"),
        ("a\n\n---\n\nb", "a\n\n\\---\n\nb"),
        ("  -----\t", "  \\-----\t"),
        ("## Base\n---", "\\## Base\n\\---"),
    ],
)
def test_a_heading_or_separator_of_ours_gets_one_backslash(text: str, escaped: str) -> None:
    assert OURS.escape(text) == escaped


@pytest.mark.parametrize(
    "text",
    ["## Based", "## The Base", "####### Base", "Base", "Base\n\n==", "## Base camp", "a ## Base", "a --- b", "***",
     "-- -", "\\## Base", "## Conversation", "Conversation with bob", ""],
)  # fmt: skip
def test_what_only_resembles_ours_stays(text: str) -> None:
    assert OURS.escape(text) == text


def test_a_rule_is_ours_only_where_the_joiner_has_one() -> None:
    without = Structure(["## Base"], "\n\n")
    assert without.escape("a\n---\nb") == "a\n---\nb"
    assert without.escape("Base\n---\nb") == "Base\n\\---\nb"


def test_a_stack_without_headings_escapes_its_separator_alone() -> None:
    bare = Structure([], "\n---\n")
    assert bare.escape("# Any\n---\n===") == "# Any\n\\---\n==="
    assert bare.escape("##\n\n===\n\n--") == "##\n\n===\n\n--"


def test_a_heading_that_is_a_value_alone_is_the_name_of_a_file() -> None:
    files = Structure(["### "], "\n\n")
    assert files.escape("# AGENTS.md\n## docs/style.md ##\nTOOLS.md\n---") == (
        "\\# AGENTS.md\n\\## docs/style.md ##\nTOOLS.md\n\\---"
    )
    assert Structure(["### ", "## Base"], "\n\n").escape("# AGENTS.md\n## Base") == "\\# AGENTS.md\n\\## Base"
    assert files.escape("# Agents\n## About AGENTS.md\nx\n---") == "# Agents\n## About AGENTS.md\nx\n---"


def test_of_two_headings_that_end_in_a_value_each_is_ours() -> None:
    told = Structure(["### Conversation with ", "## Notes of "], "\n\n")
    assert told.escape("## Notes of Zoë\n# Conversation with bob") == "\\## Notes of Zoë\n\\# Conversation with bob"


def test_a_title_with_signs_of_regular_expressions_is_taken_literally() -> None:
    odd = Structure(["## What? (all.of+it)"], "\n\n")
    assert odd.escape("## What?  (all.of+it)") == "\\## What?  (all.of+it)"
    assert odd.escape("## Wha (allxoffit)") == "## Wha (allxoffit)"
