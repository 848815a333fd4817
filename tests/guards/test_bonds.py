"""N-08: what a sentence made by hand does to its bond with what stands above: what ties it, what denies, how near."""

from __future__ import annotations

import pytest

from charter.guards.bonds import bonds
from charter.guards.bonds_scene import Scene, _grouped, gap, is_within, overlaps
from charter.guards.lexicon import Hit

from .hand import reading_of

pytestmark = pytest.mark.requirement("N-08", "S1-06")


def seen(said: str) -> list[str]:
    """The mark of the last sentence."""
    reading, sentence, _ = reading_of(said)
    marks = [mark for mark in bonds(reading, reading.by) if sentence.start <= mark.start]
    return [f"{mark.code} {'+'.join(factor.removeprefix('stance ') for factor in mark.factors)}" for mark in marks]


BARE = ["OVERRIDE core"]


@pytest.mark.parametrize(
    ("said", "marks"),
    [
        ("it/core", BARE),
        ("it/core keep/near", []),
        ("it/core keep/hold", []),
        ("it/core check/care", []),
        ("it/core fits/fit", []),
        ("it/core says/says", []),
        ("it/core a says/says", []),
        ("it/core a b says/says", BARE),
        ("says/says it/core", BARE),
        ("fits/fit a b c it/core", []),
        ("fits/fit a b c d it/core", BARE),
        (f"it/core {'a ' * 12}keep/near", []),
        (f"it/core {'a ' * 13}keep/near", BARE),
        (f"keep/near {'a ' * 12}it/core", []),
        (f"keep/near {'a ' * 13}it/core", BARE),
        ("it/core clash/clash", BARE),
        ("it/core clash/clash dropped/dropped", []),
        ("it/core > goals", []),
        ("it/core 14", []),
        ("it/core of Spain", []),
        ("it/core of agent/agent", BARE),
        ("it/core of a b agent/agent", []),
        ("our it/core", []),
        ("whose it/core", []),
        ("it/core chess/topic", []),
        ("attack/hostile it/core", []),
        ("it/mid", []),
        ("it/mid me/self", ["OVERRIDE mid"]),
        ("it/solemn above/where", ["OVERRIDE solemn"]),
        ("it/mid makers/origin", ["OVERRIDE mid"]),
        ("it/mid for me/self", []),
        ("it/mid for cats me/self", []),
        ("it/mid about cats me/self", []),
        ("it/solemn on cats me/self", []),
        ("it/mid regarding cats me/self", []),
        ("rule/norm above/where", ["OVERRIDE norm+where"]),
        ("rule/norm", []),
        ("rule/norm a b c d e f above/where", ["OVERRIDE norm+where"]),
        ("rule/norm a b c d e f g above/where", []),
        ("rein/leash me/self", ["OVERRIDE leash+self"]),
        ("rule/norm me/self", []),
        ("wall/wall makers/origin", ["OVERRIDE wall+origin"]),
        ("rule/norm above/where keep/near", []),
        ("rule/norm above/where the line", []),
        ("rule/norm above/where 20", []),
    ],
)
def test_what_is_named_needs_a_tie(said: str, marks: list[str]) -> None:
    assert seen(said) == marks


@pytest.mark.parametrize(
    ("said", "marks"),
    [
        ("never/neg keep/near it/core", ["OVERRIDE near+core"]),
        ("never/neg hold/hold it/mid", ["OVERRIDE hold+mid"]),
        ("never/neg a b c keep/near it/core", ["OVERRIDE near+core"]),
        ("never/neg a b c d keep/near it/core", []),
        ("never/neg, keep/near it/core", []),
        ("never/neg less/invert keep/near it/core", []),
        ("less/invert keep/near it/core", ["OVERRIDE near+core"]),
        ("never/neg keep/near a b c d e f it/core", ["OVERRIDE near+core"]),
        ("never/neg keep/near a b c d e f g it/core", []),
        ("never/neg keep/near, it/core", []),
        ("never/neg keep/near it/core blindly", []),
        ("never/neg keep/near it/core only", []),
        ("never/neg keep/near it/core yet", []),
        ("never/neg keep/near a b c d e it/core alone", ["OVERRIDE near+core"]),
        ("never/neg keep/near it/core; check/care", []),
        ("if i never/neg keep/near it/core", []),
        ("never/neg keep/near it/core 14", []),
        ("nie/neg@de keep/near@de it/core@de", ["OVERRIDE near+core"]),
        ("keep/near@de nie/neg@de it/core@de", ["OVERRIDE near+core"]),
        ("keep/near nie/neg it/core", []),
    ],
)
def test_a_tie_that_is_denied_is_none(said: str, marks: list[str]) -> None:
    assert seen(said) == marks


@pytest.mark.parametrize(
    ("said", "marks"),
    [
        ("it/core void/weak", ["OVERRIDE core+weak"]),
        ("void/weak it/core", ["OVERRIDE core"]),
        ("void/weak@de it/core@de", ["OVERRIDE core+weak"]),
        ("rule/loose void/weak", ["OVERRIDE loose+weak"]),
        ("boss/boss void/weak", ["AUTHORITY boss+weak"]),
        ("rule/loose a b c d e f void/weak", ["OVERRIDE loose+weak"]),
        ("rule/loose a b c d e f g void/weak", []),
        ("rule/loose never/neg void/weak", []),
        ("never/neg a rule/loose void/weak", []),
        ("rule/loose, void/weak", []),
        ("rule/loose: void/weak", ["OVERRIDE loose+weak"]),
        ("rule/loose; void/weak", []),
        ("rule/loose void/weak check/care", []),
        ("if rule/loose void/weak", []),
        ("when a rule/loose void/weak", []),
        ("when a b rule/loose void/weak", ["OVERRIDE loose+weak"]),
        ("rule/loose of chess void/weak", []),
    ],
)
def test_what_takes_the_force_of_a_rule_is_said_of_it(said: str, marks: list[str]) -> None:
    assert seen(said) == marks


@pytest.mark.parametrize(
    ("said", "marks"),
    [
        ("despite/lack it/core keep/near", ["OVERRIDE lack+core"]),
        ("despite/lack a b it/core keep/near", ["OVERRIDE lack+core"]),
        ("despite/lack a b c it/core keep/near", []),
        ("never/neg despite/lack it/core", []),
        ("despite/lack it/core check/care", []),
        ("exempt/lack rule/norm", ["OVERRIDE lack+norm"]),
        ("despite/lack rule/norm", []),
        ("no/rid it/solemn", ["OVERRIDE rid+solemn"]),
        ("no/rid it/leash", ["OVERRIDE rid+leash"]),
        ("no/rid it/solemn today", []),
        ("no/rid a it/solemn", []),
        ("never/neg no/rid it/solemn", []),
        ("no/rid it/solemn, check/care", []),
        ("you/persona free/free", ["ROLE_CHANGE persona+free"]),
        ("you/persona no/rid rules/bound", ["ROLE_CHANGE persona+rid+bound"]),
        ("you/persona no/rid a rules/bound", ["ROLE_CHANGE persona+rid+bound"]),
        ("you/persona no/rid a b rules/bound", []),
        (f"you/persona {'a ' * 8}free/free", ["ROLE_CHANGE persona+free"]),
        (f"you/persona {'a ' * 9}free/free", []),
        ("you/persona a; free/free", []),
        ("never/neg you/persona free/free", []),
        ("you/persona free/free chess/topic", []),
        ("you/persona free/free check/care", []),
        ("if you/persona free/free", []),
        ("no/bar means/turn yes/pass", ["OVERRIDE bar+turn+pass"]),
        ("no/bar means/turn a yes/pass", ["OVERRIDE bar+turn+pass"]),
        ("no/bar means/turn a b yes/pass", []),
        (f"no/bar {'a ' * 8}means/turn yes/pass", ["OVERRIDE bar+turn+pass"]),
        (f"no/bar {'a ' * 9}means/turn yes/pass", []),
        ("means/turn yes/pass", []),
        ("no/bar means/turn yes/pass when asked", []),
        ("no/bar never/neg means/turn yes/pass", []),
        ("no/bar means/turn yes/pass chess/topic", []),
        ("no/bar; means/turn yes/pass", []),
    ],
)
def test_what_lacks_it_is_free_of_it_or_turns_it(said: str, marks: list[str]) -> None:
    assert seen(said) == marks


@pytest.mark.parametrize(
    ("said", "marks"),
    [
        ("above/over it/core keep/near", ["AUTHORITY over+core"]),
        ("above/over a b it/core keep/near", ["AUTHORITY over+core"]),
        ("above/over a b c it/core keep/near", []),
        ("never/neg above/over it/core", []),
        ("above/over it/core check/care", []),
        ("less/invert above/over it/core", BARE),
        ("here/here first/top", ["AUTHORITY here+top"]),
        ("here/here a b c d e f first/top", ["AUTHORITY here+top"]),
        ("here/here a b c d e f g first/top", []),
        ("here/here, first/top", []),
        ("here/here first/top chess/topic", []),
        ("speed > it/core", ["AUTHORITY core"]),
        ("speed > operator/boss", ["AUTHORITY boss"]),
        ("speed ≫ safety/safe", ["AUTHORITY safe"]),
        ("speed > limits/safe", []),
        ("it/core > speed", []),
        ("settings > it/core keep/near", []),
        ("speed > it/core check/care", []),
        ("root/status from_me/source", ["AUTHORITY status+source"]),
        ("root/status", []),
        ("promote/promote", ["AUTHORITY promote"]),
        ("i_am_root/claim trust/believe", ["AUTHORITY claim+believe"]),
        ("i_am_root/claim", []),
        ("the_last_word/crown", ["AUTHORITY crown"]),
        ("the_last_word/crown operator/boss", []),
        ("the_last_word/crown keep/near", []),
        ("the_last_word/crown on cats", []),
        ("promote/promote chess/topic", []),
        ("promote/promote check/care", []),
        ("never/neg promote/promote", []),
        ("never/neg; promote/promote", ["AUTHORITY promote"]),
        ("unasked/unapproved gold/money", ["APPROVAL unapproved"]),
        ("unasked/unapproved", []),
        ("unasked/unapproved gold/money check/care", []),
        ("if unasked/unapproved gold/money", []),
    ],
)
def test_a_rank_is_not_taken_lent_or_turned_round(said: str, marks: list[str]) -> None:
    assert seen(said) == marks


@pytest.mark.parametrize(
    ("said", "marks"),
    [
        ("keep/near a; never/neg hold/hold it/core", ["OVERRIDE hold+core"]),
        ("never/neg keep/near blindly; a b c d e f never/neg hold/hold it/core", ["OVERRIDE hold+core"]),
        ("never/neg void/weak; it/core gone/weak", ["OVERRIDE core+weak"]),
        ("mob/speaker says/says void/weak; it/core gone/weak", ["OVERRIDE core+weak"]),
        ("despite/lack a; despite/lack it/core keep/near", ["OVERRIDE lack+core"]),
        ("no/rid a; no/rid it/core", ["OVERRIDE rid+core"]),
        ("free/free a; you/persona free/free", ["ROLE_CHANGE persona+free"]),
        ("you/persona, if free/free; you/persona free/free", ["ROLE_CHANGE persona+free"]),
        ("means/turn a; no/bar means/turn yes/pass", ["OVERRIDE bar+turn+pass"]),
        ("no/bar means/turn yes/pass when a; no/bar means/turn yes/pass", ["OVERRIDE bar+turn+pass"]),
    ],
)
def test_what_does_nothing_to_the_bond_hides_nothing_that_follows(said: str, marks: list[str]) -> None:
    assert seen(said) == marks


# ── the scene ─────────────────────────────────────────────────────────────────────────────────────────────────────


def hit(first: int, last: int, category: str = "x", language: str = "en") -> Hit:
    return Hit(category, first, last, 0, 1, language, "")


def test_a_gap_is_the_words_between_whoever_comes_first() -> None:
    assert (gap(hit(0, 2), hit(5, 6)), gap(hit(5, 6), hit(0, 2)), gap(hit(0, 2), hit(2, 3))) == (3, 3, 0)


def test_hits_overlap_when_they_share_a_word_and_are_within_when_all_is_shared() -> None:
    assert [overlaps(hit(2, 4), [hit(*other)]) for other in ((0, 2), (0, 3), (3, 5), (4, 6))] == [
        False,
        True,
        True,
        False,
    ]
    assert [is_within(hit(2, 4), [hit(*other)]) for other in ((2, 4), (1, 5), (3, 5), (2, 3))] == [
        True,
        True,
        False,
        False,
    ]
    assert not overlaps(hit(0, 1), [])


def test_a_language_that_knows_few_words_of_a_sentence_only_shares_them_by_chance() -> None:
    many = [hit(at, at + 1, language="de") for at in range(5)]
    assert len(_grouped([*many, hit(7, 10, language="nl")])["x"]) == 6
    assert len(_grouped([*many, hit(7, 9, language="nl")])["x"]) == 5
    assert len(_grouped([hit(at, at + 1) for at in range(20)])["x"]) == 12
    assert _grouped([]) == {}


def test_words_reach_twice_as_far_where_each_character_is_one() -> None:
    scene = Scene(*reading_of("it/core"))
    assert [scene.wide(hit(0, 1, language=language), 6) for language in ("en", "zh", "ja", "ko")] == [6, 12, 12, 6]
