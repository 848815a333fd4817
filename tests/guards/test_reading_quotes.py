"""Who says what is quoted: the verb, the speaker and the role just near enough, and one word further off."""

from __future__ import annotations

import pytest

from charter.guards.reading import Reading
from charter.guards.reading_quotes import is_cited, is_named_like, is_played, is_said_by_others, is_specimen

from .hand import reading_of

pytestmark = pytest.mark.requirement("N-08")


def quote(reading: Reading) -> tuple[int, int]:
    """The word q stands for a quotation."""
    at = reading.tokens.words.index("q")
    return reading.tokens.starts[at], reading.tokens.ends[at]


@pytest.mark.parametrize(
    ("said", "others"),
    [
        ("some say/says q", True),
        ("some say/says a q", True),
        ("some say/says a b q", False),
        ("some a say/says q", False),
        ("we say/says q", False),
        ("say/says q", False),
        ("mia/speaker says/says q", True),
        ("mia/speaker a b c says/says q", True),
        ("mia/speaker a b c d says/says q", False),
        ("a says/says mia/speaker q", False),
        ("a says/says+speaker q", False),
        ("mia/speaker q says/says", False),
        ("mia/speaker a ben/speaker says/says q", True),
        ("mia/speaker a b c d ben/speaker says/says q", True),
    ],
)
def test_a_quotation_is_of_others_when_a_verb_of_saying_and_who_says_it_stand_before_it(
    said: str, others: bool
) -> None:
    reading, sentence, _ = reading_of(said)
    assert is_said_by_others(reading, sentence, quote(reading)) is others


@pytest.mark.parametrize(
    ("said", "played"),
    [
        ("play/persona q", True),
        ("play/persona a q", True),
        ("play/persona a b q", False),
        ("playing/persona q", True),
        ("played/persona q", False),
        ("never/neg play/persona q", False),
        ("q play/persona", False),
        ("a q", False),
    ],
)
def test_a_quotation_is_played_when_a_role_is_given_right_before_it(said: str, played: bool) -> None:
    reading, sentence, _ = reading_of(said)
    assert is_played(reading, sentence, quote(reading)) is played


@pytest.mark.parametrize(("lines", "cited"), [(1, True), (2, True), (12, True), (13, False)])
def test_a_block_of_quotations_is_cited_by_what_stands_within_twelve_lines(lines: int, cited: bool) -> None:
    block = "".join(f"> well {at}.\n" for at in range(lines))
    after = Reading(f"that is an attack.\n{block}")
    assert is_cited(after, after.sentences[-1]) is cited
    before = Reading(f"{block}that is an attack.")
    assert is_cited(before, before.sentences[0]) is cited
    neither = Reading(f"that is nice.\n{block}")
    assert not is_cited(neither, neither.sentences[-1])


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("that is an attack.\n```\nq\n```\n\nthat is nice.", True),
        ("that is nice.\n```\nq\n```\n\nthat is an attack.", True),
        ("that is nice.\n```\nq\n```\n\nthat is nice.", False),
        ("that is an attack.\n\nthat is nice.\n\n```\nq\n```\n\nthat is nice.", False),
        ("that is nice.\n```\nq\n```\n\nthat is nice.\n\nthat is an attack.", False),
        ("that is nice.\n```\n# attack\nq\n```\n\nthat is nice.", True),
        ("that is nice.\n```\n  % attack\nq\n```\n\nthat is nice.", True),
        ("that is nice.\n```\n; attack\nq\n```\n\nthat is nice.", True),
        ("that is nice.\n```\nattack\nq\n```\n\nthat is nice.", False),
    ],
)
def test_a_fence_shows_an_attack_when_one_is_spoken_of_right_before_or_after_it_or_on_its_first_line(
    text: str, shown: bool
) -> None:
    assert is_specimen(Reading(text), (text.index("```"), text.rindex("```") + 3)) is shown


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("customers write things like <b>.\n\nrest now.", True),
        ("rest now.\n\ncustomers write things like <b>.", True),
        ("customers write things.\n\nthings like <b>.", False),
        ("customers write things such as <b> too", True),
        ("customers write things e.g. <b> too", True),
        ("customers write things called <b> too", True),
        ("customers write things named <b> too", True),
        ("customers write things containing <b> too", True),
        ("customers write things unlike <b> too", False),
        ("customers write things like a <b> too", False),
        ("customers write things like <b> a b c d e f", True),
        ("customers write things like <b> a b c d e f g", False),
    ],
)
def test_a_thing_is_named_after_like_in_what_others_write_and_its_sentence_ends_soon(text: str, named: bool) -> None:
    assert is_named_like(Reading(text), text.index("<b>"), text.index("<b>") + 3) is named
