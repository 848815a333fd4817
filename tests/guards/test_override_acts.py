"""N-08: acts against what stands above, on sentences made by hand: what is done to what, how far apart, and by whom."""

from __future__ import annotations

import pytest

from charter.guards.override_acts import is_of_others, is_order, overrides, ranks, roles
from charter.guards.override_things import things

from .hand import reading_of

pytestmark = pytest.mark.requirement("N-08", "S0-09")


def seen(said: str, rule: str = "overrides") -> list[str]:
    rules = {"overrides": overrides, "ranks": ranks, "roles": roles}
    reading, sentence, found = reading_of(said)
    return [
        f"{mark.code}{'!' if mark.weight > 1 else '?'} {'+'.join(mark.factors)}"
        for mark in rules[rule](reading, sentence, found)
    ]


DROPPED = ["OVERRIDE! drop+guarded"]


@pytest.mark.parametrize(
    ("said", "marks"),
    [
        ("ignore/drop it/guarded", DROPPED),
        (f"ignore/drop {'a ' * 9}it/guarded", DROPPED),
        (f"ignore/drop {'a ' * 10}it/guarded", []),
        ("it/guarded ignore/drop", []),
        ("ignore/drop; it/guarded", []),
        ("ignore/drop which it/guarded", []),
        ("ignore/drop a keep/keep it/guarded", []),
        ("ignore/drop a tell/tell it/guarded", []),
        ("ignore/drop a show/show it/guarded", []),
        ("ignore/drop a says/says it/guarded", []),
        ("ignore/drop a protect/protect it/guarded", []),
        ("ignore/drop a refuse/refuse it/guarded", []),
        ("ignore/drop when/time it/guarded", DROPPED),
        ("ignore/drop+x the_old/guarded", DROPPED),
        ("ignored/drop it/guarded", []),
        ("is ignored/drop it/guarded", DROPPED),
        ("are ignored/drop it/guarded", DROPPED),
        ("gets ignored/drop it/guarded", DROPPED),
        ("ignores/drop it/guarded", []),
        ("this/this ignores/drop it/guarded", DROPPED),
        (f"this/this {'a ' * 9}ignores/drop it/guarded", DROPPED),
        (f"this/this {'a ' * 10}ignores/drop it/guarded", []),
        ("ignoring/drop it/guarded", DROPPED),
        ("ignoring/drop it/guarded never/neg", []),
        ("ignoring/drop it/guarded refused/refuse", []),
        ("ignoring/drop it/guarded attack/hostile", []),
        (f"ignoring/drop it/guarded {'a ' * 15}never/neg", []),
        (f"ignoring/drop it/guarded {'a ' * 16}never/neg", DROPPED),
        ("never/neg ignore/drop it/guarded", []),
        ("if you ignore/drop it/guarded", []),
        ("ignoriere/drop@de it/guarded@de", DROPPED),
        ("it/guarded@de ignoriere/drop@de", DROPPED),
        (f"ignoriere/drop@de {'a ' * 13}it/guarded@de", DROPPED),
        (f"ignoriere/drop@de {'a ' * 14}it/guarded@de", []),
        ("unbind/unkeep it/guarded", ["OVERRIDE! unkeep+guarded"]),
        ("unbound/unkeep what it/guarded", ["OVERRIDE! unkeep+guarded"]),
        ("cut/drop2 it/guarded", ["OVERRIDE! drop2+guarded"]),
        ("ignore/drop rules/rule", []),
        ("ignore/drop the rules/rule", ["OVERRIDE? drop+rule"]),
        ("ignore/drop the rules/rule engine", []),
        ("ignore/drop such rules/rule", []),
        ("ignore/drop it. boss", []),
        ("ignore/drop operator/boss", ["OVERRIDE? drop+boss"]),
        ("ignore/drop waiter/boss", []),
        ("never/neg follow/keep it/guarded", ["OVERRIDE! keep+guarded"]),
        ("follow/keep it/guarded", []),
        ("never/neg followed/keep it/guarded", []),
        ("if you never/neg follow/keep it/guarded", []),
    ],
)
def test_an_act_is_done_to_the_thing_behind_it(said: str, marks: list[str]) -> None:
    assert seen(said) == marks


@pytest.mark.parametrize(
    ("said", "marks"),
    [
        ("it/guarded void/void", ["OVERRIDE! guarded+void"]),
        (f"it/guarded {'a ' * 11}void/void", ["OVERRIDE! guarded+void"]),
        (f"it/guarded {'a ' * 12}void/void", []),
        ("void/void it/guarded", []),
        ("nichtig/void@de it/guarded@de", ["OVERRIDE! guarded+void"]),
        ("nicht/neg@de nichtig/void@de it/guarded@de", []),
        ("it/guarded not/neg void/void", []),
        ("no/neg it/guarded void/void", []),
        ("no/neg a b c it/guarded void/void", []),
        ("no/neg a b c d it/guarded void/void", ["OVERRIDE! guarded+void"]),
        ("no/neg and it/guarded void/void", ["OVERRIDE! guarded+void"]),
        ("no/neg let a b c d e it/guarded void/void", []),
        ("it/guarded lifted/lifted", []),
        ("it/guarded is/be lifted/lifted", ["OVERRIDE! guarded+lifted"]),
        ("it/guarded is/be a b lifted/lifted", ["OVERRIDE! guarded+lifted"]),
        ("it/guarded is/be a b c lifted/lifted", []),
        ("consider/be it/guarded a b c d e f lifted/lifted", ["OVERRIDE! guarded+lifted"]),
        ("consider/be it/guarded a b c d e f g h lifted/lifted", []),
        ("with/has_no it/guarded a b c d e lifted/lifted", ["OVERRIDE! guarded+lifted"]),
        ("with/has_no it/guarded a b c d e f lifted/lifted", []),
        ("it/guarded holds/hold", []),
        ("it/guarded not/neg holds/hold", ["OVERRIDE! guarded+hold"]),
        ("it/guarded was ignored/void", []),
        ("it/guarded was a ignored/void", []),
        ("it/guarded was a b ignored/void", ["OVERRIDE! guarded+void"]),
        ("it/guarded were ignored/void", []),
        ("it/guarded been ignored/void", []),
        ("it/guarded is ignored/void", ["OVERRIDE! guarded+void"]),
        ("it/guarded was gone/void", ["OVERRIDE! guarded+void"]),
        ("pretend it/guarded was ignored/void", ["OVERRIDE! guarded+void"]),
        ("as a b c it/guarded was ignored/void", ["OVERRIDE! guarded+void"]),
        ("as a b c d it/guarded was ignored/void", []),
        ("if it/guarded is void/void", []),
        ("a no it/guarded holds/hold", ["OVERRIDE? hold+guarded"]),
        ("obey/has_no no it/guarded", ["OVERRIDE? has_no+guarded"]),
        ("obey/has_no zero it/guarded", ["OVERRIDE? has_no+guarded"]),
        ("no it/guarded", []),
        ("obey/has_no no it/guarded about it", []),
        ("obey/has_no no it/guarded there", ["OVERRIDE? has_no+guarded"]),
    ],
)
def test_a_thing_is_said_to_have_no_force(said: str, marks: list[str]) -> None:
    assert seen(said) == marks


@pytest.mark.parametrize(
    ("said", "order"),
    [
        ("ignore/drop it", True),
        ("attackers/speaker ignore/drop it", False),
        ("attackers/speaker a ignore/drop it", True),
        ("attackers/speaker may/may ignore/drop it", False),
        ("attackers/speaker a b c may/may ignore/drop it", False),
        ("attackers/speaker a b c d may/may ignore/drop it", True),
        ("attackers/speaker may/may a ignore/drop it", False),
        ("attackers/speaker may/may a b ignore/drop it", True),
        ("attackers/speaker, you may/may ignore/drop it", True),
        ("attackers/speaker you may/may ignore/drop it", True),
        ("attackers/speaker; may/may ignore/drop it", True),
        ("requests/speaker may/may ignore/drop it", True),
    ],
)
def test_what_others_do_is_no_order(said: str, order: bool) -> None:
    reading, _, found = reading_of(said)
    assert is_of_others(reading, found["drop"][0]) is not order
    assert is_order(reading, found["drop"][0]) is order


@pytest.mark.parametrize(
    ("said", "marks"),
    [
        ("this/this beats/outrank it/guarded", ["AUTHORITY! this+outrank+guarded"]),
        ("beats/outrank it/guarded", []),
        ("this/this beat/outrank it/guarded", ["AUTHORITY! this+outrank+guarded"]),
        ("this/this outranked/outrank it/guarded", []),
        ("never/neg this/this beats/outrank it/guarded", []),
        (f"this/this beats/outrank {'a ' * 8}it/guarded", ["AUTHORITY! this+outrank+guarded"]),
        (f"this/this beats/outrank {'a ' * 9}it/guarded", []),
        (f"this/this {'a ' * 14}beats/outrank it/guarded", ["AUTHORITY! this+outrank+guarded"]),
        (f"this/this {'a ' * 15}beats/outrank it/guarded", []),
        ("this/this beats/outrank operator/boss", ["AUTHORITY! this+outrank+boss"]),
        ("this/this beats/outrank the rules/rule", []),
        ("profit/this beats/outrank the rules/rule", ["AUTHORITY! this+outrank+rule"]),
        ("growth/this beats/outrank the rules/rule", ["AUTHORITY! this+outrank+rule"]),
        ("mine/this wins/outrank all/top", ["AUTHORITY? this+outrank"]),
        ("mine/this floats/outrank all/top", []),
        ("here/this wins/outrank all/top", []),
        ("mine/this counts/outrank all/top", ["AUTHORITY? this+outrank"]),
        ("mine/this counts/outrank as all/top", []),
        ("this/this wins/outrank all/top", []),
        ("me_first/mefirst all/top it/guarded", ["AUTHORITY? mefirst+guarded"]),
        ("me_first/mefirst it/guarded", []),
        ("me_first/mefirst all/top it/guarded attack/hostile", []),
        ("never/neg me_first/mefirst all/top it/guarded", []),
        ("this/this supreme/supreme", ["AUTHORITY! this+supreme"]),
        ("supreme/supreme", []),
        ("this/this never/neg supreme/supreme", []),
        (f"this/this {'a ' * 13}supreme/supreme", ["AUTHORITY! this+supreme"]),
        (f"this/this {'a ' * 14}supreme/supreme", []),
    ],
)
def test_a_text_that_puts_itself_above_is_seen(said: str, marks: list[str]) -> None:
    assert seen(said, "ranks") == marks


FREED = ["ROLE_CHANGE! persona+freed"]


@pytest.mark.parametrize(
    ("said", "marks"),
    [
        ("play/persona free/freed", FREED),
        ("free/freed play/persona", []),
        (f"play/persona {'a ' * 12}free/freed", FREED),
        (f"play/persona {'a ' * 13}free/freed", []),
        ("play/persona a dan/freed", FREED),
        ("play/persona a b dan/freed", []),
        ("play/persona a b stan/freed", []),
        ("play/persona free/freed novel/stage", []),
        ("play/persona no_rules/freed about cats", []),
        ("play/persona no_rules/freed on cats", []),
        ("play/persona no_rules/freed today", FREED),
        ("play/persona no_fear/freed about cats", FREED),
        ("play/persona free/freed i refuse/refuse", []),
        ("play/persona free/freed never refuse/refuse", FREED),
        ("play/persona free/freed don't refuse/refuse", FREED),
        ("never/neg play/persona free/freed", []),
        ("play/persona never/neg free/freed", []),
        ("if you play/persona free/freed", []),
        ("he plays/persona free/freed", []),
        ("agent plays/persona free/freed", FREED),
        ("played/persona free/freed", []),
        ("play/persona; free/freed", []),
        ("spiele/persona@de frei/freed@de", FREED),
        ("frei/freed@de spiele/persona@de", FREED),
        ("spiele/persona@de nicht/neg@de frei/freed@de", []),
    ],
)
def test_a_role_without_rules_is_given(said: str, marks: list[str]) -> None:
    assert seen(said, "roles") == marks


@pytest.mark.parametrize(
    ("said", "found"),
    [
        ("it/guarded", [True]),
        ("the rules/rule", [False]),
        ("rules/rule", []),
        ("your/yours rules/rule", [True]),
        ("your/yours a b rules/rule", [True]),
        ("your/yours a b c rules/rule", []),
        ("school/owned the rules/rule", []),
        ("school/owned a the rules/rule", []),
        ("school/owned a b the rules/rule", [False]),
        ("the rules/rule mine/mine", []),
        ("the rules/rule a mine/mine", []),
        ("the rules/rule of strangers/speaker", []),
        ("the rules/rule of the friend/speaker", []),
        ("the rules/rule above/above", [True]),
        ("the rules/rule about chess", []),
        ("the rules/rule about safety/guarded", [True, True]),
        ("the rules/rule of chess/topic", []),
        ("safety/rule", [False]),
        ("safety/rule briefing", []),
        ("the layers/guarded of the cake", []),
        ("the layers/guarded of the system", [True]),
        ("staff handbook/guarded", []),
        ("the handbook/guarded", [True]),
        ("regeln/rule@de", [False]),
        ("regeln/rule@de von", []),
    ],
)
def test_what_stands_above_is_told_from_what_is_someone_elses(said: str, found: list[bool]) -> None:
    reading, _, by = reading_of(said)
    assert [thing.sure for thing in things(reading, by)] == found
