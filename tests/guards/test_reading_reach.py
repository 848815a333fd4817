"""How near a negation, a report or a supposition has to stand, on sentences made by hand: any tables, any language."""

from __future__ import annotations

import pytest

from charter.guards.lexicon import Hit
from charter.guards.reading import Reading

from .hand import reading_of

pytestmark = pytest.mark.requirement("N-08")


def read(said: str) -> tuple[Reading, Hit]:
    """A reading and the last act in it."""
    reading, _, found = reading_of(said)
    acts = [*found.get("act", ()), *found.get("unkeep", ())]
    return reading, acts[-1]


@pytest.mark.parametrize(
    ("said", "negated"),
    [
        ("go/act", False),
        ("never/neg go/act", True),
        (f"never/neg {'a ' * 14}go/act", True),
        (f"never/neg {'a ' * 15}go/act", False),
        ("go/act never/neg", False),
        ("never/neg; go/act", False),
        ("never/neg. go/act", False),
        ("nie/neg@de go/act", False),
        ("nothing/neg a, may go/act", True),
        ("nothing/neg a, will go/act", True),
        ("nothing/neg a, go/act", False),
        ("never/neg a, may go/act", False),
        ("without/neg a or go/act", False),
        ("without/neg a and go/act", False),
        ("without/neg or go/act", True),
        ("without/neg a or going/act", True),
        ("without/neg a b go/act", True),
        ("never/neg a or go/act", True),
        ("never/neg, go/act", True),
        ("fail/invert, go/act", False),
        ("never/neg a, go/act", False),
        ("never/neg a, b go/act", False),
        ("never/neg a, b c go/act", True),
        ("never/neg, a, go/act", True),
        ("never/neg a, go/act b c d e or f", True),
        ("never/neg a, go/act b c d e f or g", False),
        ("never/neg a or b, go/act", False),
        ("fail/invert go/act", True),
        ("never/neg fail/invert go/act", False),
        ("fail/invert fail/invert go/act", False),
        ("fail/invert fail/invert fail/invert go/act", True),
        ("never/neg not/neg go/act", True),
        ("stop/stop going/act", True),
        ("stop/stop a going/act", False),
        ("stop/stop go/act", False),
        ("stop/stop go/unkeep", True),
        ("never/neg stop/stop going/act", False),
    ],
)
def test_an_odd_number_of_negations_before_an_act_denies_it(said: str, negated: bool) -> None:
    reading, act = read(said)
    assert reading.is_negated(act) is negated


@pytest.mark.parametrize(
    ("language", "far"), [("de", 12), ("nl", 12), ("tr", 12), ("hi", 12), ("ja", 20), ("ko", 8), ("zh", 7), ("fr", 4)]
)
def test_in_each_language_a_negation_stands_so_near_before_an_act(language: str, far: int) -> None:
    for between, negated in ((0, True), (far, True), (far + 1, False)):
        reading, act = read(f"no/neg@{language} {'a ' * between}go/act@{language}")
        assert reading.is_negated(act) is negated


@pytest.mark.parametrize("language", ["de", "nl", "tr", "ja", "ko", "hi", "fr", "ru", "zh"])
def test_where_the_verb_comes_last_a_negation_may_stand_behind_an_act(language: str) -> None:
    reading, act = read(f"go/act@{language} {'a ' * 30}no/neg@{language}")
    assert reading.is_negated(act) is (language not in ("fr", "ru", "zh"))


@pytest.mark.parametrize(
    "said",
    [
        "geh/act@de ohne/neg@de",
        "ga/act@nl zonder/neg@nl",
        "git/act@tr olmadan/neg@tr",
        "nie/neg@de; geh/act@de",
        "geh/act@de; nie/neg@de",
        "nie/neg@de+act@de",
        "nie_geh/neg@de+act@de",
        "nie/neg@fr geh/act@de",
    ],
)
def test_what_denies_something_else_does_not_deny_the_act(said: str) -> None:
    reading, act = read(said)
    assert not reading.is_negated(act)


@pytest.mark.parametrize(
    ("said", "supposed"),
    [
        ("if go/act", True),
        ("if a go/act", True),
        ("if, go/act", False),
        ("if a, go/act", False),
        ("a, if go/act", True),
        ("if; go/act", False),
        ("go/act if", False),
        (f"if {'a ' * 13}go/act", True),
        (f"if {'a ' * 14}go/act", False),
        ("that a b c go/act", True),
        ("that a b c d go/act", False),
        ("which a go/act", True),
        ("who a go/act", True),
        ("that the go/act", False),
        ("who we go/act", False),
        ("as if go/act", False),
        ("even when go/act", False),
        ("so if go/act", True),
        ("als du geh/act@de", True),
        ("so go/act", False),
    ],
)
def test_an_act_is_supposed_from_a_word_before_it_on_to_the_comma(said: str, supposed: bool) -> None:
    reading, act = read(said)
    assert reading.is_supposed(act) is supposed


@pytest.mark.parametrize(
    ("said", "reported"),
    [
        ("go/act", False),
        ("they try/attempt go/act", True),
        ("try/attempt go/act", True),
        (f"they try/attempt {'a ' * 8}go/act", True),
        (f"they try/attempt {'a ' * 9}go/act", False),
        ("go/act try/attempt", False),
        ("play/persona try/attempt go/act", False),
        ("play/persona a b try/attempt go/act", False),
        ("play/persona a b c try/attempt go/act", True),
        ("try/attempt play/persona go/act", True),
        ("they try/attempt, go/act", False),
        ("they try/attempt, a go/act", False),
        ("they try/attempt, a b go/act", True),
        ("they, try/attempt go/act", True),
        ("i try/attempt go/act", False),
        ("we try/attempt go/act", False),
        ("please try/attempt go/act", False),
        ("hereby try/attempt go/act", False),
        ("they try/attempt go/act, yes/comply", False),
        ("they try/attempt go/act; yes/comply", False),
        ("they try/attempt go/act yes/comply", True),
        ("they try/attempt go/act, never/neg yes/comply", True),
        ("yes/comply, they try/attempt go/act", True),
        ("they try/attempt go/act, yes/comply no/refuse", True),
        ("mia/speaker says/says go/act", True),
        ("mia/speaker a b c d e says/says go/act", True),
        ("mia/speaker a b c d e f says/says go/act", False),
        ("says/says mia/speaker go/act", False),
        ("says/says go/act", False),
        (f"mia/speaker says/says {'a ' * 14}go/act", True),
        (f"mia/speaker says/says {'a ' * 15}go/act", False),
        ("mia/speaker go/act says/says", False),
        ("mia/speaker says/says: go/act", True),
        ("mia/speaker says/says a: go/act", False),
        ("mia/speaker says/says, go/act", False),
        ("mia/speaker says/says go/act, yes/comply", False),
        ("geh/act@de no/refuse mob/hostile", True),
        ("geh/act@de no/refuse mob/speaker", True),
        ("geh/act@de no/refuse mob/says", True),
        ("geh/act@de no/refuse", False),
        ("geh/act@de mob/hostile", False),
        ("go/act no/refuse mob/hostile", False),
    ],
)
def test_what_others_try_or_say_shortly_before_is_reported_unless_the_reader_is_told_to_comply(
    said: str, reported: bool
) -> None:
    reading, act = read(said)
    assert reading.is_reported(act) is reported
