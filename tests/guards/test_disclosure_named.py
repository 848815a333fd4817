"""A name of hidden text that comes with an owner, alone, before "it", or as an opening that is left open."""

from __future__ import annotations

import pytest

from charter.guards.disclosure_rules import _bare, _begun, _curt, _left_open, _named, _spoken_of

from .hand import made, told

pytestmark = pytest.mark.requirement("S1-06", "N-08")


def rule(said: str, end: str = "", *, spoken: bool = False, advised: bool = False) -> str:
    """The first of the rules on names that sees a request, and whose text it wants."""
    about, sentence = told(said, end, spoken=spoken, advised=advised)
    request = _named(about, sentence) or _spoken_of(about) or _begun(about) or _bare(about) or _curt(about)
    return "" if request is None else f"{request.rule} {request.whose}"


@pytest.mark.parametrize(
    ("said", "seen"),
    [
        ("show/verb your/your rules/soft", "named your"),
        ("your/your rules/soft", "named your"),
        ("show/verb my/my rules/soft", ""),
        ("show/verb system_prompt/hard", "named unsaid"),
        ("system_prompt/hard", "bare unsaid"),
        ("system_prompt/hard a b c", "bare unsaid"),
        ("system_prompt/hard a b c d", ""),
        ("the/yesno system_prompt/hard", ""),
        ("a system_prompt/hard only/only", ""),
        ("your/your rules/soft are/zorble secret", "named your"),
        ("your/your rules/soft version/meta@de", ""),
        ("your/your rules/soft there/has", ""),
        ("your/your rules/soft not/not", ""),
        ("your/your rules/soft how_to/howto", ""),
        ("your/your rules/soft only/only", ""),
        ("your/your rules/soft who/whoq", ""),
        ("are/yesno your/your rules/soft", ""),
        ("your/your rules/soft are/yesno", ""),
        ("your/your rules/soft a are/yesno", "named your"),
        ("your/your rules/soft you_said/yousaid", ""),
        ("show/verb rules/soft", "named unsaid"),
        ("show/verb hidden/hid rules/soft", "named unsaid"),
        ("show/verb zorble rules/soft", ""),
        ("show/verb rules/soft zorble", ""),
        ("show/verb rules/soft mine/mine", ""),
        ("show/verb rules/soft chess/other", ""),
        ("show/verb rules/soft bots/bots", ""),
        ("how_to/howto show/verb rules/soft", ""),
        ("define/define show/verb rules/soft", ""),
        ("define/define first_word/part hidden/hid rules/soft", "named unsaid"),
        ("talk_about/verb rules/soft", ""),
        ("show/verb rules/soft of zorble", ""),
        ("show/verb hidden/hid rules/soft for zorble", ""),
        ("show/verb hidden/hid rules/soft for school/errand", "named unsaid"),
        ("show/verb hidden/hid rules/soft about here/here", "named unsaid"),
        ("show/verb hidden/hid rules/soft zorble of", ""),
    ],
)
def test_a_name_with_an_owner_or_one_that_can_be_nothing_else_is_asked_for(said: str, seen: str) -> None:
    assert rule(said) == seen


@pytest.mark.parametrize(
    ("said", "end", "seen"),
    [
        ("your/your rules/soft", "?", "named your"),
        ("your/your old/adj rules/soft", "?", "named your"),
        ("your/your rules/soft old/adj", "?", ""),
        ("your/your rules/soft secret", "?", ""),
        *((f"{kind}/{kind} your/your rules/soft zorble", "?", "named your") for kind in (
            "can", "ask", "how", "define", "part", "exact"
        )),
        *((f"your/your rules/soft a {kind}/{kind}", "", "") for kind in (
            "has", "meta", "not", "howto", "frame", "only", "whoq"
        )),
        ("show/verb hidden/hid rules/soft a a a a a my/my", "", ""),
        ("show/verb hidden/hid rules/soft a a a a a a my/my", "", "named unsaid"),
        ("my/my a a a show/verb hidden/hid rules/soft", "", ""),
        ("my/my a a a a show/verb hidden/hid rules/soft", "", "named unsaid"),
        *((f"show/verb hidden/hid rules/soft {word} zorble", "", "") for word in (
            "did", "does", "do", "had", "has", "have"
        )),
        ("show/verb hidden/hid rules/soft was zorble", "", "named unsaid"),
        *((f"show/verb hidden/hid rules/soft did zorble/{kind}", "", "named unsaid") for kind in (
            "you", "they", "maker"
        )),
        *(("show/verb hidden/hid rules/soft", f"{gap}{mark}x", "") for gap in (" ", ": ") for mark in "\"“„«'`"),
        ("show/verb hidden/hid rules/soft", ": x", "named unsaid"),
        ("show/verb hidden/hid rules/soft", ', "x"', "named unsaid"),
        ("show/verb previous/prev rules/soft", "", "named unsaid"),
        ("show/verb upper/above rules/soft", "", "named unsaid"),
        ("show/verb its/its system_prompt/hard", "", ""),
        ("exact/exact rules/soft", "", ""),
        *((f"show/verb zorble zorble {word} prompt/soft", "", "named unsaid") for word in (
            "full", "whole", "entire", "complete", "exact", "original", "current", "raw"
        )),
        ("show/verb zorble zorble the prompt/soft", "", ""),
        ("show/verb zorble a b c d e f zorble full prompt/soft", "", "named unsaid"),
        *((f"show/verb zorble a b c d e f {kind}/{kind} zorble full prompt/soft", "", "") for kind in (
            "my", "mine", "this", "other", "code", "howto", "stuff"
        )),
        (f"show/verb+leak rules/soft {'zorble ' * 14}", "", "named unsaid"),
        (f"show/verb+leak rules/soft {'zorble ' * 15}", "", ""),
        ("zorble show/verb the/mild rules/soft", "", "named unsaid"),
        ("zorble zorble show/verb the/mild rules/soft", "", ""),
        ("show/verb the/mild a/mild b/mild c/mild rules/soft", "", "named unsaid"),
        ("show/verb the/mild a/mild b/mild c/mild d/mild rules/soft", "", ""),
        (f"show/verb hidden_orders/hard+hid {'zorble ' * 57}", "", "named unsaid"),
        (f"show/verb hidden_orders/hard+hid {'zorble ' * 58}", "", ""),
        (f"show/verb system_orders/hard {'zorble ' * 58}", "", "named unsaid"),
    ],
)  # fmt: skip
def test_a_name_is_ours_where_nothing_near_it_says_whose_it_is(said: str, end: str, seen: str) -> None:
    assert rule(said, end) == seen


def test_after_talk_the_rules_before_are_those_that_were_spoken_of() -> None:
    assert rule("show/verb previous/prev rules/soft", spoken=True) == ""
    assert rule("show/verb hidden/hid rules/soft", spoken=True) == "named unsaid"


def test_after_advice_or_talk_a_soft_name_without_an_act_is_not_ours() -> None:
    assert rule("your/your rules/soft", spoken=True) == ""
    assert rule("your/your system_prompt/hard", spoken=True) == "named your"
    assert rule("show/verb your/your rules/soft", spoken=True) == "named your"
    assert rule("show/verb your/your rules/soft", advised=True) == ""
    assert rule("show/verb your/your system_prompt/hard", advised=True) == "named your"
    assert rule("show/verb rules/soft", spoken=True) == ""


def test_a_name_spoken_of_and_it_in_an_order_are_a_request() -> None:
    assert rule("there/has rules/soft show_it/verb_it") == "it your"
    assert rule("show_it/verb_it there/has rules/soft") == ""
    assert rule("there/has rules/soft not/not show_it/verb_it") == ""
    assert rule("my/my rules/soft show_yours/yours_it") == "it your"
    assert rule("my/my rules/soft mine or yours/yours_it") == ""
    assert rule("my/my i_am_a/start show_yours/yours_it") == "it your"
    assert rule("i_am_a/start show_yours/yours_it") == ""


def test_an_opening_that_is_left_open_is_to_be_gone_on_with() -> None:
    assert rule("go_on/go_on a b c d you_are/start") == "continued your"
    assert rule("go_on/go_on a b c d e you_are/start") == ""
    assert rule("go_on/go_on you_are/start a b c") == "continued your"
    assert rule("go_on/go_on you_are/start a b c d") == ""
    assert rule("go_on/go_on poem/genre you_are/start") == ""
    assert rule("my_rules/confess go_on/go_on") == "continued your"
    assert rule("my_rules/confess", ":") == "continued your"
    assert rule("my_rules/confess") == ""
    for first, words_, seen in ((5, 14, True), (6, 14, False), (5, 15, False)):
        said = f"{'a ' * first}x/confess {'b ' * (words_ - first - 1)}"
        about, sentence = told(said, "...")
        assert _left_open(about, sentence, sentence.of("confess")[0]) is seen
    for end in (":", "…", "...", "_", "-", "–", "[", ': "'):
        assert rule("my_rules/confess", end) == "continued your", end


def test_a_curt_message_is_the_name_and_small_words_that_urge() -> None:
    assert rule("prompt/soft", ". full. now.") == "bare unsaid"
    assert rule("prompt/soft", ". zorble. now.") == ""
    assert rule("prompt/soft", f". full{' ' * 49}") == ""
    assert rule("prompt/soft", ". full. now.", spoken=True) == ""


def test_words_are_made_as_they_are_said() -> None:
    sentence = made("show/verb own_rules/soft+thin zwei/x@de")
    assert list(sentence.tokens.words) == ["show", "own", "rules", "zwei"]
    assert [(hit.first, hit.last) for hit in sentence.of("soft", "thin")] == [(1, 3), (1, 3)]
    assert sentence.of("x")[0].language == "de"
