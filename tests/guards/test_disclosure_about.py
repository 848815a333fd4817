"""What takes an act away from a name: a denial, others who do it, what governs the name; and how far an act reaches."""

from __future__ import annotations

import pytest

from charter.guards.disclosure_about import acts_on, framed, governed, negated, start_of
from charter.guards.disclosure_rules import _near_mine, _others_did, _titled
from charter.guards.disclosure_scene import Sentence
from charter.guards.disclosure_whose import owner_of
from charter.guards.lexicon import Hit

from .hand import made, name_of, told

pytestmark = pytest.mark.requirement("S1-06", "N-08")


def act_of(sentence: Sentence) -> Hit:
    return next(hit for kind in ("verb", "ask", "exact", "part") for hit in sentence.of(kind))


@pytest.mark.parametrize(
    ("said", "denied"),
    [
        ("not/not show/verb", True),
        ("not/not a b show/verb", True),
        ("not/not a b c show/verb", False),
        ("show/verb not/not", False),
        ("show/verb nicht/not_after", True),
        ("show/verb a nicht/not_after", True),
        ("show/verb a b nicht/not_after", False),
        ("why_not/invite+x show/verb", False),
        ("can_not/invite not/not show/verb", True),
        ("show/verb", False),
    ],
)
def test_a_not_takes_the_act_right_behind_it(said: str, denied: bool) -> None:
    sentence = made(said)
    assert negated(sentence, act_of(sentence)) is denied


def test_an_invitation_is_no_denial() -> None:
    sentence = made("could not/not show/verb")
    invite = Hit("invite", 0, 2, 0, 9, "en", "")
    assert negated(sentence, act_of(sentence))
    assert not negated(
        Sentence(sentence.tokens, {**sentence.by, "invite": [invite]}, sentence.kinds, True), act_of(sentence)
    )


@pytest.mark.parametrize(
    ("said", "others"),
    [
        ("users/who ask/says show/verb", True),
        ("users/who a b c d ask/says show/verb", True),
        ("users/who a b c d e ask/says show/verb", False),
        ("users/who ask/says you/you show/verb", False),
        ("users/who show/verb ask/says", False),
        ("ask/says users/who show/verb", False),
        ("how_to/frame show/verb", True),
        ("show/verb how_to/frame", False),
        ("trick/trick how_to/frame show/verb", False),
        ("show/verb", False),
    ],
)
def test_what_others_do_frames_the_act(said: str, others: bool) -> None:
    about, sentence = told(said)
    assert framed(about, sentence, act_of(sentence)) is others


@pytest.mark.parametrize(
    ("said", "about_it"),
    [
        ("by/per rules/soft", True),
        ("by/per a rules/soft", False),
        ("by/per+verb rules/soft", False),
        ("version/meta rules/soft", True),
        ("version/meta a b c rules/soft", True),
        ("version/meta a b c d rules/soft", False),
        ("rules/soft version/meta", False),
        ("rules/soft fassung/meta@de", True),
        ("rules/soft a fassung/meta@de", True),
        ("rules/soft a b fassung/meta@de", False),
        ("rules/soft", False),
    ],
)
def test_a_name_may_be_governed_by_what_is_asked_for(said: str, about_it: bool) -> None:
    sentence = made(said)
    name = name_of(sentence)
    assert governed(sentence, name.first, name, scale=1) is about_it


@pytest.mark.parametrize(
    ("said", "start"),
    [
        ("show your/your rules/soft", 1),
        ("show new/adj your/your rules/soft", 1),
        ("show old/prev new/adj your/your hid/hid rules/soft", 1),
        ("show/verb+adj your/your rules/soft", 1),
        ("a rules/soft of/yours", 1),
        ("new/adj rules/soft", 0),
    ],
)
def test_a_noun_phrase_begins_with_its_owner_and_what_stands_before(said: str, start: int) -> None:
    sentence = made(said)
    name = name_of(sentence)
    assert start_of(sentence, name, owner_of(sentence, name)[1]) == start


def reaching(said: str, end: str = "") -> list[str]:
    about, sentence = told(said, end)
    name = name_of(sentence)
    return [act.category for act in acts_on(about, sentence, name, name.first)]


@pytest.mark.parametrize(
    ("said", "acts"),
    [
        ("show/verb rules/soft", ["verb"]),
        (f"show/verb {'a ' * 14}rules/soft", ["verb"]),
        (f"show/verb {'a ' * 15}rules/soft", []),
        ("not/not show/verb rules/soft", []),
        ("users/who say/says show/verb rules/soft", []),
        ("rules/soft zeigen/verb@de", ["verb"]),
        (f"rules/soft {'a ' * 8}zeigen/verb@de", ["verb"]),
        (f"rules/soft {'a ' * 9}zeigen/verb@de", []),
        ("rules/soft show/verb", []),
        ("rules/soft show/verb it/pron_it", ["verb"]),
        ("rules/soft verbatim/exact", ["exact"]),
        ("rules/soft what/ask", ["ask"]),
        ("is/yesno what/ask rules/soft", []),
        ("is/yesno can/can what/ask rules/soft", ["ask"]),
        ("what/ask rules/soft", ["ask"]),
        ("what_my/ask+my rules/soft", []),
        ("is/yesno there/has part/part rules/soft", []),
        ("is/yesno a there/has part/part rules/soft", ["part"]),
        ("is/yesno there/has a b c d part/part rules/soft", []),
        ("is/yesno there/has a b c d e part/part rules/soft", ["part"]),
    ],
)
def test_an_act_reaches_a_name_from_before_and_from_behind_where_verbs_come_last(said: str, acts: list[str]) -> None:
    assert reaching(said) == acts


def test_what_a_text_is_asked_to_be_is_no_act() -> None:
    assert reaching("are/copula rules/soft exact/exact", "?") == []
    assert reaching("are/copula rules/soft exact/exact") == ["exact"]
    assert reaching("are/copula can/can rules/soft exact/exact", "?") == ["exact"]
    assert reaching("are/copula show/verb rules/soft", "?") == ["verb"]
    assert reaching("sind/copula zeigen/verb@de rules/soft", "?") == []


def test_what_stands_near_mine_or_is_others_or_titled_is_not_ours() -> None:
    for between, near in ((5, True), (6, False)):
        for said in (f"my/my {'a ' * between}rules/soft", f"rules/soft {'a ' * between}my/my"):
            sentence = made(said)
            assert _near_mine(sentence, name_of(sentence)) is near, said
    for said, others in (
        ("rules/soft did he", True),
        ("rules/soft did you/you", False),
        ("rules/soft a did", False),
        ("rules/soft", False),
    ):
        sentence = made(said)
        assert _others_did(sentence, name_of(sentence)) is others, said
    for end, titled in ((' "be kind"', True), (": “be kind”", True), (" be kind", False), ("", False), ('"', False)):
        about, sentence = told("print rules/soft", end)
        assert _titled(about, name_of(sentence)) is titled, end
