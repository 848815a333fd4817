"""Markdown of a model becomes HTML by an allow-list; what could trick the eye is shown by its number."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from charter.web.pages.prose import ATTRIBUTES, MOST_CHARS, TAGS, calm, exact, markdown

PIECES = st.sampled_from(
    ["<script>", "</p>", "[a](", "javascript:x", ")", "![", "](", "https://e.example", "`", "```\n", "|", "\n", "> ",
     "- ", "&lt;", '" onerror="x', "'", "<a href=", "\u202e", "\x00", "#", "**", "<!--", "-->", "<img src=x>", "x"]
)  # fmt: skip


@given(st.lists(st.one_of(PIECES, st.text(max_size=8)), max_size=30).map("".join))
def test_no_text_makes_an_element_or_an_attribute_that_is_not_listed(text: str) -> None:
    html = str(markdown(text))
    for slash, tag, rest in re.findall(r"<(/?)([a-zA-Z][^\s/>]*)([^>]*)>", html):
        assert tag in TAGS
        names = set(re.findall(r'([^\s=]+)="[^"]*"', rest))
        assert names <= (ATTRIBUTES.get(tag, set()) | ({"rel"} if tag == "a" else set()))
        assert not slash or not rest


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("**b** `c`", "<p><strong>b</strong> <code>c</code></p>\n"),
        ("# Top", "<h3>Top</h3>\n"),
        ("![alt](https://e.example/x.png)", '<p><span class="picture">[picture: alt]</span></p>\n'),
        ("[x](javascript:alert(1))", "<p>[x](javascript:alert(1))</p>\n"),
        ("[x](/leave)", "<p>x</p>\n"),
        ("[x](//e.example)", "<p>x</p>\n"),
        ("<b onclick=x>", "<p>&lt;b onclick=x&gt;</p>\n"),
        ("a\u202eb", "<p>a⟨U+202E⟩b</p>\n"),
    ],
)
def test_markdown_is_drawn_so(text: str, html: str) -> None:
    assert str(markdown(text)) == html


def test_a_link_says_where_it_goes_unless_its_words_are_that_place() -> None:
    rel = 'rel="noopener noreferrer nofollow"'
    lying = str(markdown("[https://bank.example](https://evil.example/x)"))
    assert f'<a href="https://evil.example/x" {rel}>https://bank.example</a> <span class="host">(evil.example)' in lying
    assert "host" not in str(markdown("<https://bank.example/x>"))


def test_what_is_too_long_to_parse_is_shown_as_it_was_written() -> None:
    html = str(markdown("**b** <script>" * MOST_CHARS))
    assert html.startswith('<p><span class="as-written">**b** &lt;script&gt;')


@pytest.mark.parametrize("text", ["[", "![", "*a ", "`", "> ", "- ", "|a", "_a", "<a", "&", "[a]("])
def test_no_text_takes_long_to_draw(text: str) -> None:
    began = time.process_time()
    markdown((text * MOST_CHARS)[:MOST_CHARS])
    assert time.process_time() - began < 2


@given(st.text())
def test_nothing_unseen_is_left_of_what_someone_says_yes_to(text: str) -> None:
    assert all(one.isprintable() or one in "\n\t" for one in exact(text))


def test_what_writing_needs_is_left_alone_and_what_tricks_is_not() -> None:
    assert calm("پنجره‌ها 👩‍👩‍👧 \u200fשלום\tx\n") == "پنجره‌ها 👩‍👩‍👧 \u200fשלום\tx\n"
    assert calm("\x1b[1m\u202e\u2066\ufeff\u200b") == "␛[1m⟨U+202E⟩⟨U+2066⟩⟨U+FEFF⟩⟨U+200B⟩"
