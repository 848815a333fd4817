"""Requests that name no text: which things together are one, how near they stand, and what makes them another's."""

from __future__ import annotations

import pytest

from charter.guards.disclosure_unnamed import pointed, unnamed

from .hand import told

pytestmark = pytest.mark.requirement("S1-06", "N-08")
FURTHER = 10  # the act may be so much further off

# Categories that are a request together, and how many other words may stand before the second.
TOGETHER = [
    (("ask", "briefed"), 9),
    (("verb", "briefed"), 9),
    (("exact", "briefed"), 9),
    (("thin", "handed"), 6),
    (("soft", "handed"), 6),
    (("thin", "source"), 6),
    (("thin", "maker", "gave", "you"), 6),
    (("soft", "maker", "gave", "you"), 6),
    (("thin", "they", "told", "you"), 7),
    (("soft", "they", "told", "you"), 7),
    (("ask", "they", "told", "you"), 7),
    (("verb", "they", "told", "you"), 7),
    (("ask", "banned", "speak", "you"), 9),
    (("verb", "banned", "speak", "you"), 9),
    (("ask", "begin", "told"), 9),
    (("verb", "begin", "they"), 9),
    (("verb", "begin", "you"), 9),
    (("verb", "begin", "first"), 9),
    (("how", "setup"), 9),
    (("ask", "setup"), 9),
    (("verb", "setup"), 9),
    (("ask", "guide", "reply"), 9),
    (("verb", "guide", "reply"), 9),
    (("ask", "unseen", "you"), 9),
    (("verb", "unseen", "thin"), 9),
    (("ask", "role", "assigned"), 9),
    (("verb", "role", "assigned"), 9),
    (("verb", "first", "within"), 8),
    (("part", "first", "within"), 8),
    (("exact", "first", "within"), 8),
    (("ask", "first", "within"), 8),
    (("verb", "context"), 9),
    (("part", "context"), 9),
    (("exact", "context"), 9),
    (("ask", "context"), 9),
    (("ask", "unwritten", "seen"), 9),
    (("verb", "unwritten", "seen"), 9),
    (("thin", "notmine", "window"), 9),
    (("ask", "notmine", "window"), 9),
    (("verb", "notmine", "window"), 9),
    (("you", "silenced"), 6),
    (("you", "briefed"), 9),
    (("you", "they", "told"), 7),
    (("ask", "desk"), 9),
    (("verb", "desk"), 9),
    (("you", "setup"), 9),
    (("verb", "handed"), 9),
    (("ask", "handed"), 9),
    (("wording", "preme"), 14),
    (("ask", "clone", "load"), 9),
    (("verb", "clone", "load"), 9),
    (("ask", "maker", "gave", "you"), 7),
    (("verb", "maker", "gave", "you"), 7),
]


def found(said: str, end: str = "", *, spoken: bool = False) -> str:
    about, sentence = told(said, end, spoken=spoken)
    request = unnamed(about, sentence)
    return "" if request is None else "+".join(name for name, _ in request.hits)


def words(categories: tuple[str, ...], between: int = 0) -> str:
    """One word of each category, with so many others between the first two."""
    first, *others = (f"{category}/{category}" for category in categories)
    return f"{first} {'zorble ' * between}{' '.join(others)}"


@pytest.mark.parametrize(("categories", "near"), TOGETHER, ids=["+".join(row[0]) for row in TOGETHER])
def test_these_things_together_are_a_request_and_none_is_enough_alone(categories: tuple[str, ...], near: int) -> None:
    assert found(words(categories)) == "+".join(categories)
    assert found(words(categories, near + FURTHER)) == "+".join(categories)
    for missing in categories:
        fewer = tuple(category for category in categories if category != missing)
        assert found(words(fewer)) != "+".join(categories)


@pytest.mark.parametrize(
    ("categories", "near"),
    [row for row in TOGETHER if row[0] not in (("thin", "maker", "gave", "you"), ("soft", "maker", "gave", "you"))],
    ids=lambda value: "+".join(value) if isinstance(value, tuple) else str(value),
)
def test_too_far_apart_they_are_none(categories: tuple[str, ...], near: int) -> None:
    assert found(words(categories, near + FURTHER + 1)) != "+".join(categories)


def test_the_other_things_stand_as_near_as_is_said() -> None:
    for between, seen in ((9, True), (10, False)):
        assert bool(found(f"ask/ask guide/guide {'a ' * between}reply/reply")) is seen
    for between, seen in ((7, True), (8, False)):
        assert bool(found(f"ask/ask they/they {'a ' * between}told/told you/you")) is seen
    assert found("implicit/implicit") == "implicit"


@pytest.mark.parametrize(
    "said",
    [
        "my_told/mytold verb/verb context/context",
        "you_said/yousaid verb/verb context/context",
        "how_to/howto verb/verb context/context",
        "a b c how_to/howto verb/verb context/context",
        "generic/generic ask/ask banned/banned speak/speak you/you",
        "test/occasion ask/ask they/they told/told you/you",
        "not/not verb/verb desk/desk",
        "users/who ask/says verb/verb desk/desk",
        "is/yesno you/you briefed/briefed",
        "there/has you/you briefed/briefed",
        "mine/mine a you/you briefed/briefed",
        "other/other you/you briefed/briefed",
        "my/my thin/thin handed/handed",
        "this/this a b thin/thin handed/handed",
        "mine/mine verb/verb handed/handed",
    ],
)
def test_what_is_told_asked_or_said_of_others_is_no_request(said: str) -> None:
    assert found(said) == ""


@pytest.mark.parametrize(
    "said",
    [
        "a b c d how_to/howto verb/verb context/context",
        "mine/mine you/you briefed/briefed",
        "this/this a b c thin/thin handed/handed",
    ],
)
def test_the_same_a_little_further_off_is_one(said: str) -> None:
    assert found(said) != ""


def test_a_question_without_an_act_is_none_and_one_that_asks_is() -> None:
    assert found("you/you briefed/briefed", "?") == ""
    assert found("you/you briefed/briefed") == "you+briefed"
    for kind in ("how", "can", "define"):
        assert found(f"{kind}/{kind} you/you briefed/briefed", "?") != "", kind
    assert found("is/yesno there/has verb/verb desk/desk", "?") == ""
    assert found("is/yesno there/has ask/ask desk/desk", "?") == ""
    assert found("is/yesno zorble ask/ask desk/desk", "?") != ""
    assert found("is/yesno verb/verb desk/desk", "?") == ""
    assert found("is/yesno can/can verb/verb desk/desk", "?") != ""


def test_a_long_text_that_tells_is_none_and_an_order_in_it_is() -> None:
    long = "zorble " * 60
    assert found(f"a b c d verb/verb desk/desk {long}") == ""
    assert found(f"a b c verb/verb desk/desk {long}") != ""
    assert found(f"a b c d verb/verb desk/desk {long}", "?") != ""
    assert found(f"a b c d verb/verb desk/desk trick/trick {long}") != ""
    assert found(f"a b c d verb/verb desk/desk {'zorble ' * 54}") != ""
    assert found(f"a b c d verb/verb desk/desk {'zorble ' * 55}") == ""


def test_write_to_our_team_is_one_act_and_not_two() -> None:
    assert found("write/verb+gave the maker/maker you/you") == ""
    assert found("show/verb the maker/maker gave/gave you/you") != ""


# ── text that stands above ────────────────────────────────────────────────────────────────────────────────────────


def points(said: str, end: str = "", *, spoken: bool = False) -> bool:
    return pointed(*told(said, end, spoken=spoken)) is not None


@pytest.mark.parametrize(
    ("said", "seen"),
    [
        ("copy/copy text/thin above/above", True),
        ("copy/copy rules/soft above/above", True),
        ("copy/copy all/all above/above", True),
        ("copy/copy above/above", False),
        ("text/thin above/above", False),
        ("ask/ask text/thin above/above", True),
        ("exact/exact all/all above/above", True),
        ("exact/exact text/thin above/above", False),
        ("copy/copy text/thin a b c above/above", True),
        ("copy/copy text/thin a b c d above/above", False),
        ("copy/copy all/all a b c d e f above/above", True),
        ("copy/copy all/all a b c d e f g above/above", False),
        ("ask/ask above_it/above", True),
        ("ask/ask above/above", False),
        ("copy/copy+gentle text/thin above/above", False),
        ("copy/copy+gentle all/all text/thin above/above", True),
        ("copy/copy+gentle text/thin above_my/above+my", True),
        ("not/not copy/copy text/thin above/above", False),
        ("users/who say/says copy/copy text/thin above/above", False),
        ("you_said/yousaid copy/copy text/thin above/above", False),
        ("how_to/howto copy/copy text/thin above/above", False),
        ("copy/copy my/my text/thin above/above", False),
        ("copy/copy my/my a b text/thin above/above", False),
        ("copy/copy my/my a b c text/thin above/above", True),
        ("copy/copy this/this text/thin above/above", False),
        ("copy/copy text/thin mine/mine above/above", False),
        ("copy/copy text/thin a b c mine/mine above/above", False),
        ("copy/copy other/other text/thin above/above", False),
        ("copy/copy text/thin above/above a b c d e f g h other/other", True),
    ],
)
def test_an_act_and_a_thing_reach_what_stands_above(said: str, seen: bool) -> None:
    assert points(said) is seen


def test_what_stands_above_is_the_persons_when_something_was_pasted_or_said() -> None:
    said = "copy/copy text/thin above/above"
    assert points(said, ": short text")
    assert not points(said, ": a longer text")
    assert not points(said, "\nmore")
    assert not points(said, spoken=True)
    assert points(f"{said} start/start", spoken=True)
