"""N-08: care that is worn away step by step shows against the version that had most of it, however far back."""

from __future__ import annotations

import pytest

from charter.guards.override_erosion import (
    ENOUGH,
    MOST_VERSIONS,
    _chain,
    _is_edit,
    _of_sentence,
    carefulness,
    is_eroded,
)

from .hand import reading_of

pytestmark = pytest.mark.requirement("N-08", "S0-09")

CAREFUL = "I always ask my creator before I act on a transfer."
MILD = "I ask my creator about a transfer now and then."
BARE = "I act on a transfer."


def test_firm_words_weigh_more_than_plain_ones_and_soft_ones_less() -> None:
    firm, plain, soft = map(carefulness, ("Always ask the owner.", "Ask the owner.", "Usually ask the owner."))
    assert firm > plain > soft > 0
    assert carefulness("Water the plants.") == 0


@pytest.mark.parametrize(
    ("said", "care"),
    [
        ("", 0.0),
        ("a/care", 1.0),
        ("a/care b/care", 2.0),
        ("a/care b/care c/care d/care", 3.0),
        ("a/care b/guarded c/neg", 1.0),
        ("a/guarded b/approval c/protect", 3.0),
        ("a/refuse b/boss", 2.0),
        ("a/neg", 1.0),
        ("a/guarded+neg", 1.0),
        ("a/rule", 0.0),
        ("a/care b/firm", 1.5),
        ("a/care b/firm c/firm d/firm", 2.5),
        ("a/care b/firm c/firm d/firm e/firm", 2.5),
        ("a/care b/soft", 0.5),
        ("a/care b/soft c/soft", 0.2),
        ("a/care b/waived", 0.2),
        ("a/care b/care b/waived", 0.4),
        ("a/care b/firm c/firm d/firm e/waived", 1.0),
        ("a/care b/firm c/soft", 1.0),
        ("b/firm c/firm", 0.0),
    ],
)
def test_care_grows_with_firm_words_and_shrinks_with_soft_ones_and_never_to_nothing(said: str, care: float) -> None:
    found = reading_of(said)[2] if said else {}
    assert _of_sentence(found) == pytest.approx(care)


def test_care_is_counted_sentence_by_sentence() -> None:
    assert carefulness("Ask the owner. Ask the owner.") == 2 * carefulness("Ask the owner.")


def test_a_fall_after_two_versions_is_erosion_and_after_one_it_is_a_new_text() -> None:
    assert is_eroded(BARE, [CAREFUL, MILD])
    assert not is_eroded(BARE, [CAREFUL])
    assert not is_eroded(BARE, [])


def test_what_stays_as_careful_or_never_was_has_nothing_to_lose() -> None:
    assert carefulness(CAREFUL) >= ENOUGH > carefulness(MILD)
    assert not is_eroded(CAREFUL, [CAREFUL + " Truly.", MILD])
    assert not is_eroded(BARE, [MILD, "I ask about a transfer."])


def test_a_text_that_is_written_anew_ends_the_chain() -> None:
    anew = "Water plants daily, cook soup."
    assert not is_eroded(anew, [CAREFUL, MILD])
    assert _chain([CAREFUL, MILD, BARE]) == [BARE, MILD, CAREFUL]
    assert _chain([CAREFUL, MILD, anew]) == [anew]
    assert _chain([CAREFUL, anew, MILD, BARE]) == [BARE, MILD]
    assert _chain([]) == []


def test_versions_that_were_worn_to_half_make_a_new_text_a_sign() -> None:
    anew = "Water plants daily, cook soup."
    assert is_eroded(anew, [CAREFUL, MILD, BARE])
    assert not is_eroded(anew, [CAREFUL, MILD])
    assert not is_eroded(anew, [CAREFUL, MILD, CAREFUL + " Truly."])
    assert not is_eroded(CAREFUL, [CAREFUL + " Truly.", MILD, BARE])


def test_only_the_last_versions_are_looked_at_each_once_and_no_empty_ones() -> None:
    steps = [f"{BARE} Step {at}." for at in range(MOST_VERSIONS)]
    assert not is_eroded(BARE, [CAREFUL, *steps])
    assert is_eroded(BARE, [CAREFUL, *steps[1:]])
    assert is_eroded(BARE, [CAREFUL, *steps[1:], *steps[1:], " \n"])


@pytest.mark.parametrize(
    ("new", "old", "goes_on"),
    [
        ("alpha bravo", "alpha bravo", True),
        ("alpha", "alpha bravo charlie delta echoes", True),
        ("bravo", "alpha charlie", False),
        ("alphabet", "alphas", True),
        ("alpine", "alphas", False),
        ("the cat", "the cat", False),
        ("", "alpha", False),
    ],
)
def test_a_text_goes_on_from_another_when_longer_words_of_it_are_still_there(new: str, old: str, goes_on: bool) -> None:
    assert _is_edit(new, old) is goes_on


def test_a_seventh_of_the_words_is_enough_and_less_is_not() -> None:
    words = [f"{letter * 4}word" for letter in "abcdefghijklmnopqrstuvwxyz"]
    kept, other = words[:13], words[13:]
    assert _is_edit(" ".join(kept), " ".join([*kept[:2], *other[:11]]))
    assert not _is_edit(" ".join(kept), " ".join([*kept[:1], *other[:12]]))
