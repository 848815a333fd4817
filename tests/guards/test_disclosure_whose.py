"""Whose text a name means, word by word: how near an owner must stand, what may stand between, who comes first."""

from __future__ import annotations

import pytest

from charter.guards.disclosure_whose import gap, owner_of, scale_of

from .hand import made, name_of

pytestmark = pytest.mark.requirement("S1-06", "N-08")


def whose(said: str) -> str:
    sentence = made(said)
    return owner_of(sentence, name_of(sentence))[0]


# ── owners before a name ──────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("said", "owner"),
    [
        ("your/your rules/soft", "your"),
        ("my/my rules/soft", "my"),
        ("these/this rules/soft", "this"),
        ("any/any rules/soft", "any"),
        ("rules/soft", ""),
        ("your/your my/my rules/soft", "my"),
        ("my/my your/your rules/soft", "your"),
        ("rules/soft your/your", ""),
        ("your/your new/adj secret/hid old/prev rules/soft", "your"),
        ("your/your x/above y/thin w/hard rules/soft", "your"),
        ("your/your zorble rules/soft", ""),
        ("your/your zorble prompt/soft", "your"),
        ("your/your zorble quixo prompt/soft", "your"),
        ("your/your a b c prompt/soft", ""),
        ("your/your zorble quixo rules/hard", "your"),
        ("your/your a b c rules/hard", ""),
        ("my/my zorble rules/hard", "my"),
        ("my/my a b rules/hard", ""),
        ("my/my zorble rules/soft", ""),
        ("deine/your@de zorble regeln/soft@de", "your"),
        ("deine/your@de a b regeln/soft@de", ""),
        ("leak/leak your/your zorble rules/soft", "your"),
        ("leak/leak your/your a b rules/soft", ""),
        ("your/your a/adj b/adj c/adj d/adj e/adj f/adj rules/soft", "your"),
        ("your/your a/adj b/adj c/adj d/adj e/adj f/adj g/adj rules/soft", ""),
    ],
)
def test_an_owner_stands_before_its_name_with_few_strange_words_between(said: str, owner: str) -> None:
    assert whose(said) == owner


# ── owners after a name ───────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("said", "owner"),
    [
        ("rules/soft of_yours/yours", "your"),
        ("rules/soft a b c of_yours/yours", "your"),
        ("rules/soft a b c d of_yours/yours", ""),
        ("rules/soft of_mine/mine", "my"),
        ("rules/soft of_mine/mine of_yours/yours", "my"),
        ("any/any rules/soft of_yours/yours", "your"),
        ("my/my rules/soft of_yours/yours", "my"),
        ("these/this rules/soft of_yours/yours", "this"),
        ("my/my rules/soft of_mine/mine", "my"),
        ("rules/soft you/you received/received", "your"),
        ("rules/soft received/received", ""),
        ("rules/soft a you/you b received/received", "your"),
        ("rules/soft a you/you b c received/received", ""),
        ("rules/soft you/you given/received to them", ""),
        ("rules/soft you/you given/received by them", ""),
        ("rules/soft you/you given/received from them", ""),
        ("rules/soft you/you given/received at noon", "your"),
    ],
)
def test_an_owner_may_follow_its_name(said: str, owner: str) -> None:
    assert whose(said) == owner


# ── another thing's ───────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("said", "owner"),
    [
        ("rules/soft chess/other", "other"),
        ("rules/soft code/code", "other"),
        (f"rules/soft {'a ' * 12}chess/other", "other"),
        (f"rules/soft {'a ' * 13}chess/other", ""),
        (f"chess/other {'a ' * 12}rules/soft", "other"),
        (f"chess/other {'a ' * 13}rules/soft", ""),
        ("your/your chess/other rules/soft", "other"),
        ("leak/leak your/your chess/other rules/soft", "other"),
        ("your/your rules/soft a b c d chess/other", "other"),
        ("your/your rules/soft a b c d e chess/other", "your"),
        ("chess/other your/your rules/soft", "your"),
        ("your/your rules/hard chess/other", "your"),
        ("your/your rules/soft for/for returns", "other"),
        ("your/your rules/soft about/for returns", "your"),
        ("your/your policy/soft+policy about/for returns", "other"),
        ("your/your rules/soft for/for a here/here", "your"),
        ("your/your rules/soft for/for a b you/you", "your"),
        ("your/your rules/soft for/for a b c you/you", "other"),
        ("your/your rules/soft for/for+exact returns", "your"),
        ("your/your rules/soft a for/for returns", "your"),
        ("rules/soft chess/other a b of_yours/yours", "other"),
        ("rules/soft of_yours/yours a chess/other", "your"),
        ("the general's secret/hid rules/soft", "other"),
        ("the general rules/soft", ""),
        ("what's rules/soft", ""),
        ("let's new/adj rules/soft", ""),
        ("the operator's rules/soft", ""),
        ("the boss's rules/soft", ""),
        ("the makers'/maker rules/soft", ""),
        ("yours's/yours rules/soft", ""),
        ("show's/verb rules/soft", ""),
        ("asks'/ask rules/soft", ""),
        ("the general's your/your rules/soft", "your"),
        ("your/your general's rules/soft", "other"),
        ("the general's rules/soft of_yours/yours", "your"),
        ("your/your regeln/soft mybot/mybot", "your"),
        ("twoje/your@pl zasady/soft@pl bota/mybot@pl", "other"),
        ("свои/your@ru правила/soft@ru бота/mybot@ru", "other"),
        ("свої/your@uk правила/soft@uk бота/mybot@uk", "other"),
        ("sve/your@cs pravidla/soft@cs bota/mybot@cs", "other"),
        ("apne/your@hi niyam/soft@hi bot/mybot@hi", "other"),
    ],
)
def test_a_name_may_be_another_things(said: str, owner: str) -> None:
    assert whose(said) == owner


@pytest.mark.parametrize("word", "what's that's it's here's there's let's who's where's how's".split())
def test_a_short_form_of_is_owns_nothing(word: str) -> None:
    assert whose(f"{word} rules/soft") == ""


@pytest.mark.parametrize(
    "word", "operator developer vendor deployer builder creator admin company owner maker boss".split()
)
def test_what_the_makers_own_is_ours(word: str) -> None:
    assert whose(f"the {word}'s rules/soft") == ""


@pytest.mark.parametrize(
    ("said", "owner"),
    [
        ("kurallarin/soft_yours@tr", "your"),
        ("oyununnun kurallarin/soft_yours@tr", "other"),
        ("evinnin kurallarin/soft_yours@tr", "other"),
        ("senin kurallarin/soft_yours@tr", "your"),
        ("sizin kurallarin/soft_yours@tr", "your"),
        ("onun kurallarin/soft_yours@tr", "your"),
        ("xnin kurallarin/soft_yours@tr", "your"),
        ("xxnin kurallarin/soft_yours@tr", "other"),
        ("oyun kurallarin/soft_yours@tr", "your"),
        ("oyununnun kurallarin/soft_yours@id", "your"),
        ("oyun/other kurallarin/soft_yours@tr", "other"),
        ("oyun/other a kurallarin/soft_yours@tr", "other"),
        ("oyun/other a b kurallarin/soft_yours@tr", "your"),
        ("benim/my kurallarin/soft_yours@tr", "other"),
        ("bu/this kurallarin/soft_yours@tr", "other"),
    ],
)
def test_a_suffix_is_ours_unless_another_owner_stands_right_before(said: str, owner: str) -> None:
    assert whose(said) == owner


@pytest.mark.parametrize(
    ("said", "owner"),
    [
        ("trick/trick its/its rules/soft", "your"),
        ("trick/trick its/its a b rules/soft", "your"),
        ("trick/trick its/its a b c rules/soft", ""),
        ("its/its rules/soft", ""),
        ("trick/trick its/its my/my rules/soft", "my"),
    ],
)
def test_its_rules_are_ours_in_a_trick(said: str, owner: str) -> None:
    assert whose(said) == owner


def test_a_distance_reaches_three_times_as_far_where_each_character_is_a_word() -> None:
    sentence = made("规/soft rules")
    assert (scale_of(sentence, 0), scale_of(sentence, 1)) == (3, 1)
    assert whose(f"的/your@zh {'个/adj@zh ' * 18}规/soft@zh") == "your"
    assert whose(f"的/your@zh {'个/adj@zh ' * 19}规/soft@zh") == ""


def test_a_gap_is_the_words_between() -> None:
    sentence = made("a/x b c/y_ d")
    one, two = made("a/x b c c/y").of("x")[0], made("a/x b c c/y").of("y")[0]
    assert (gap(one, two), gap(two, one), gap(one, one)) == (2, 2, 0)
    assert len(sentence.tokens.words) == 4
