"""How much a word gives away, which letters it has, and which words keep their weight: rare ones, not told ones."""

from __future__ import annotations

from math import log2

import pytest

from charter.guards.fold import plain
from charter.guards.leak_facts import facts_of, key_of, keys_in, told
from charter.guards.leak_read import (
    bare_parts,
    consonants,
    fold,
    leaders,
    letters_of,
    places,
    read,
    spelled,
)
from charter.guards.leak_weights import shares_of, sums_of, weights
from charter.guards.leak_words import COMMON, FUNCTION, RARE, is_block, letters_in, stem, weigh
from charter.guards.lexicon import apart, tokens_of

pytestmark = pytest.mark.requirement("N-08")


@pytest.mark.parametrize(
    ("word", "bits"),
    [
        ("the", FUNCTION),
        ("x", FUNCTION),
        ("1", 1.0),
        ("12", 2.0),
        ("123", 3.0),
        ("1234", 4.5),
        ("12345", 6.0),
        ("123456", 7.0),
        ("1234567", 7.0),
        ("灯", 2.4),
        ("ぜ", 1.2),
        ("ก", 1.2),
        ("zqx", 3.0),
        ("zqxj", 4.5),
        ("zqxjv", 5.0),
        ("zqxjvkw", 6.0),
        ("zqxjvkwp", RARE),
        ("zqxjvkwpzqxj", RARE),
        ("zqxj7", RARE + 1),
    ],
)
def test_rare_words_names_and_numbers_say_much(word: str, bits: float) -> None:
    assert weigh(word) == bits


@pytest.mark.parametrize("word", ["house", "houses", "walking", "walked", "stopped", "stopping", "studies", "quickly"])
def test_a_common_word_is_known_without_its_ending(word: str) -> None:
    assert weigh(word) == COMMON


@pytest.mark.parametrize("word", ["stopxed", "stopxxed", "zorbbed", "stoppped", "stopability"])
def test_a_letter_is_only_dropped_before_an_ending_where_a_common_word_doubles_it(word: str) -> None:
    assert weigh("stop") == COMMON
    assert weigh(word) > COMMON


@pytest.mark.parametrize(
    ("word", "without"),
    [
        ("warnings", "warn"),
        ("warning", "warn"),
        ("carries", "carr"),
        ("berries", "berr"),
        ("married", "marr"),
        ("boxes", "boxe"),
        ("lanterns", "lantern"),
        ("wanted", "want"),
        ("stone", "ston"),
        ("rapidly", "rapidl"),
        ("king", "king"),
        ("bring", "bring"),
        ("ties", "ties"),
        ("red", "red"),
        ("oxen", "oxen"),
    ],
)
def test_a_stem_keeps_four_letters(word: str, without: str) -> None:
    assert stem(word) == without


def test_marks_that_are_vowels_are_no_letters_and_a_block_is_one_character_of_a_script_without_spaces() -> None:
    assert (letters_in("abc"), letters_in("कि"), letters_in("é")) == (3, 1, 1)
    assert [is_block(word) for word in ("中", "か", "ก", "ក", "\u3040", "\u9fff", "\u0eff", "\u17ff")] == [True] * 8
    assert [is_block(word) for word in ("a", "é", "\u303f", "\ua000", "\u0dff", "\u0f00", "\u1800", "中中", "가")] == [
        False
    ] * 9


# ── letters ───────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("text", "letters"),
    [("a b-c_d", "abcd"), ("r2 d2", "r2d2"), ("中", "中中中"),
     ("か", "かか"), ("가나", "가가나나"), ("中か", "中中中かか"),
     ("a中", "a中中中"), ("it's", "its"), ("", "")],
)  # fmt: skip
def test_a_letter_counts_for_how_much_it_says(text: str, letters: str) -> None:
    assert spelled(text) == letters


def test_digits_that_people_write_for_letters_are_those() -> None:
    assert letters_of("013456789") == "oieasgtbg"
    assert letters_of("l2") == "iz"
    assert letters_of("0é1") == "oéi"


@pytest.mark.parametrize(
    ("text", "folded"),
    [("ÉCOLE", "ecole"), ("Рrоmрt", "prompt"), ("a\\nb", "a\n b"), ("a\\tb", "a\n b"), ("a\\xb", "a\\xb")],
)  # fmt: skip
def test_a_text_is_compared_without_case_accents_and_look_alikes(text: str, folded: str) -> None:
    assert fold(text) == folded


def test_a_reading_leads_from_letters_to_words_and_back() -> None:
    reading = read("the old-fashioned key, 40")
    assert list(reading.words) == ["the", "old", "fashioned", "key", "40"]
    assert reading.letters == "theoidfashionedkeyao"
    assert list(reading.offsets) == [0, 3, 6, 15, 18, 20]
    assert [reading.word_at(at) for at in (0, 2, 3, 14, 15, 19, 99)] == [0, 0, 1, 2, 3, 4, 4]
    assert reading.between(3, 15) == (4, 17)
    assert reading.between(3, 6) == (4, 7)
    assert reading.between(3, 3) == (4, 7)
    assert list(reading.leading) == [0, 1, 3, 4]
    assert list(reading.parts) == ["the", "oid", "fashioned", "key", "ao"]


@pytest.mark.parametrize(
    ("text", "first"),
    [("long-term plan", [0, 2]), ("save_memory", [0]), ("a b", [0, 1]), ("a, b", [0, 1]), ("a\nb", [0, 1]), ("", [])],
)  # fmt: skip
def test_the_word_that_stands_first_between_two_spaces_leads(text: str, first: list[int]) -> None:
    assert leaders(apart(text)) == first


def test_parts_are_placed_one_behind_the_other() -> None:
    assert places(["ab", "", "c"]) == [0, 2, 2, 3]
    assert places([]) == [0]


def test_vowels_are_dropped_in_every_alphabet_that_has_them() -> None:
    assert bare_parts("the old key") == ["th", "id", "k"]
    assert bare_parts(plain("маяк горит")) == ["mk", "rpt"]
    assert consonants("thekeyof309") == "thkfeog"


# ── weights ───────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_word_that_comes_often_says_little_each_time() -> None:
    once, *_ = weights(["lighthouse"], [1.0])
    twice, *_ = weights(["lighthouse"] * 2, [1.0] * 2)
    often, *_ = weights(["lighthouse"] * 4, [1.0] * 4)
    assert once - twice == pytest.approx(0.8 * log2(2))
    assert twice - often == pytest.approx(0.8)
    many, *_ = weights(["lighthouse"] * 10_000, [1.0] * 10_000)
    assert many == pytest.approx(1.0 + 0.35 * 10)


def test_letters_add_to_a_weight_up_to_twelve_and_a_share_is_a_share() -> None:
    twelve, thirteen = weights(["q" * 12, "z" * 13], [1.0, 1.0])
    assert twelve == thirteen
    assert weights(["q" * 12], [0.5]) == [pytest.approx(twelve / 2)]
    assert weights(["q" * 11], [1.0])[0] < twelve


def test_sums_run() -> None:
    assert sums_of([1.0, 2.0, 3.0]) == [0.0, 1.0, 3.0, 6.0]


def kept(text: str) -> dict[str, float]:
    folded = fold(text)
    tokens = tokens_of(folded)
    return dict(zip(tokens.words, shares_of(text, tokens), strict=True))


def test_words_the_agent_is_told_to_say_keep_little_and_forbidden_ones_all() -> None:
    assert kept('If asked, say "the lift is broken" and smile.') == {
        "if": 1.0, "asked": 1.0, "say": 1.0, "the": 0.1, "lift": 0.1, "is": 0.1, "broken": 0.1, "and": 1.0, "smile": 1.0
    }  # fmt: skip
    assert set(kept('Never say "the lift is broken" at all.').values()) == {1.0}
    assert set(kept('The sign "the lift is broken" hangs there.').values()) == {1.0}


def test_a_quotation_is_told_when_at_most_eight_words_stand_between() -> None:
    near = 'Say one two three four five six seven "lift"'
    assert kept(near)["lift"] == 0.1
    assert kept(near.replace("seven", "seven eight"))["lift"] == 1.0


def test_what_stands_behind_say_that_keeps_half_to_the_end_of_its_sentence() -> None:
    found = kept("Tell guests that parking costs nothing. Smile.")
    assert found["parking"] == found["nothing"] == 0.5
    assert found["smile"] == 1.0
    assert kept("Never tell guests that parking costs nothing.")["parking"] == 1.0


@pytest.mark.parametrize(
    "said",
    [
        "tell them that",
        "sag ihnen dass",
        "di les que",
        "réponds que",
        "rispondi che",
        "vertel klanten dat",
        "odpowiedz że",
        "скажи что",
        "greet with:",
        "zacznij od:",
    ],
)
def test_what_stands_behind_such_words_keeps_half_in_every_language(said: str) -> None:
    assert kept(f"{said} zorble quixo. Flonk.") | {"zorble": 0.5, "quixo": 0.5, "flonk": 1.0} == kept(
        f"{said} zorble quixo. Flonk."
    )
    assert kept(f"{said.strip(':')}, zorble quixo.")["zorble"] == (1.0 if ":" in said else 0.5)


@pytest.mark.parametrize(("apart", "share"), [("", 1.0), ("a ", 1.0), ("a b ", 1.0), ("a b c ", 0.5)])
def test_what_is_forbidden_within_three_words_is_not_told(apart: str, share: float) -> None:
    assert kept(f"zq never {apart}tell them that zorble")["zorble"] == share


def test_what_is_told_ends_with_its_sentence_or_the_text() -> None:
    for stop in ".!?\n":
        assert kept(f"tell them that zorble{stop} flonk")["flonk"] == 1.0
    assert kept("tell them that zorble, flonk")["flonk"] == 0.5


def test_quoted_words_are_told_wherever_folding_makes_a_text_longer_or_shorter() -> None:
    for before in ("", "Æææææææææææ ", "\u200b\u200b\u200b\u200b\u200b\u200b\u200b\u200b "):
        found = kept(f'{before}Say "zorble quixo" flonk, write to a@b.example or so.')
        assert [found[word] for word in ("say", "zorble", "quixo", "flonk")] == [1.0, 0.1, 0.1, 1.0], before
        assert [found[word] for word in ("a", "b", "example", "or")] == [0.4, 0.4, 0.4, 1.0], before


@pytest.mark.parametrize(
    "quoted",
    [
        '"zorble"',
        "“zorble”",
        "„zorble“",
        "«zorble»",
        "「zorble」",
        "『zorble』",
        "'zorble it'",
        "‘zorble it’",
        "`zorble it`",
    ],
)
def test_words_are_quoted_between_any_marks(quoted: str) -> None:
    assert kept(f"say {quoted} flonk") | {"zorble": 0.1, "flonk": 1.0} == kept(f"say {quoted} flonk")


@pytest.mark.parametrize("quoted", ["'zorble'", "`zorble`", "it's zorble it's", '"z"', '"zorble\nit"'])
def test_short_words_in_single_quotes_and_apostrophes_are_no_quotation(quoted: str) -> None:
    assert {*kept(f"say {quoted} flonk").values()} == {1.0}


def test_an_address_keeps_less_for_it_is_there_to_be_given() -> None:
    found = kept("Write to desk@inn.example or see https://inn.example/map or ring +45 8680 1234 today.")
    assert found["desk"] == found["map"] == found["8680"] == 0.4
    assert found["today"] == 1.0


# ── facts ─────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("text", "key"), [("Otters", "otter"), ("23:40", "2340"), ("room-309", "room309"), ("“灯塔”", "灯塔"), ("É", "e")]
)
def test_a_fact_is_compared_by_its_letters_and_digits(text: str, key: str) -> None:
    assert key_of(text) == key


OPENING = "word " * 30


def facts(text: str) -> dict[str, float]:
    return dict(facts_of([("a", OPENING + text)]).weights)


@pytest.mark.parametrize(
    ("text", "key", "weight"),
    [
        ("see Pernille now", "pernill", 3.0),
        ("see the juniper now", "juniper", 1.0),
        ("see 14 now", "14", 1.5),
        ("see 309 now", "309", 1.5),
        ("see 3090 now", "3090", 2.5),
        ("see 23:40 now", "2340", 2.5),
        ("see 1.5 now", "15", 2.5),
        ("see QXR-7 now", "qxr7", 3.0),
        ("see qxrv_zwp now", "qxrvzwp", 3.0),
        ("see QXRV now", "qxrv", 3.0),
        ("see 「灯塔守」 now", "灯塔守", 3.0),
        ("see a@qxr.example now", "aqxrexampl", 0.75),
    ],
)
def test_names_codes_numbers_and_rare_words_are_facts(text: str, key: str, weight: float) -> None:
    assert facts(text)[key] == weight


@pytest.mark.parametrize("text", ["see it now", "see 7 now", "it is “a house” here", "the house"])
def test_common_words_and_single_digits_are_no_facts(text: str) -> None:
    assert set(facts(text)) <= {"word"}


def test_who_the_agent_is_says_little_and_what_comes_often_says_less() -> None:
    assert facts_of([("a", f"You are Pernille. {OPENING}")]).weights["pernill"] == 3.0 * 0.25
    assert facts_of([("a", f"{OPENING} we see Pernille")]).weights["pernill"] == 3.0
    assert facts("see Pernille, or Pernille")["pernill"] == 3.0
    assert facts("see Pernille, or Pernille, or Pernille")["pernill"] == 3.0 / 1.5


def test_a_capital_at_the_head_of_a_sentence_is_no_name() -> None:
    assert facts("ends here. Juniper grows")["juniper"] == 1.0
    assert facts("here\n- Juniper grows")["juniper"] == 1.0
    assert facts("so then Juniper grows")["juniper"] == 3.0


def test_where_every_noun_has_a_capital_a_name_says_less() -> None:
    text = "das Haus und der Baum und die Katze und der Hund und die Zwqxrvk"
    assert facts_of([("a", "wort " * 6 + text)]).weights[key_of("Zwqxrvk")] == 1.5


def test_a_fact_knows_the_layer_and_the_sentence_it_stands_in() -> None:
    found = facts_of([("a", f"{OPENING}. see Pernille. see Skovlyst."), ("b", f"{OPENING}. see Pernille.")])
    assert found.sentences["pernill"] == {("a", 1), ("b", 1)}
    assert found.sentences["skovlyst"] == {("a", 2)}


@pytest.mark.parametrize(
    ("text", "key", "weight"),
    [
        ("see Zqx now", "zqx", None),
        ("see Zqxj now", "zqxj", 3.0),
        ("see zqxjv now", "zqxjv", None),
        ("see zqxjvk now", "zqxjvk", 1.0),
        ("see QXR now", "qxr", 3.0),
        ("see CAR now", "car", None),
        ("see https://qxr.example/a now", "httpsqxrexamplea", 0.75),
        ("see +45 8680 1234 now", "4586801234", 0.75),
        ("see 「灯塔」 now", "灯塔", 3.0),
        ("see “灯 塔” now", "灯塔", None),
        ("see “otter it” now", "otterit", None),
    ],
)
def test_a_fact_is_rare_enough_or_it_is_none(text: str, key: str, weight: float | None) -> None:
    assert facts(text).get(key) == weight


@pytest.mark.parametrize(
    ("before", "begins"),
    [
        ("so. ", True),
        ("so! ", True),
        ("so? ", True),
        ("so: ", True),
        ("so; ", True),
        ("so\n", True),
        ("so\n- ", True),
        ("so\n• ", True),
        ("so\n> ", True),
        ("so\n# ", True),
        ("so\n* ", True),
        ("so\n1. ", True),
        ("so\n2) ", True),
        ("so. “", True),
        ("so. **", True),
        ("so, ", False),
        ("so “", False),
        ("so (", False),
        ("so ", False),
    ],
)
def test_a_capital_tells_no_name_where_a_sentence_or_an_item_begins(before: str, begins: bool) -> None:
    assert facts(f"{before}Zqxjvkwp")["zqxjvkwp"] == (1.0 if begins else 3.0)


def test_what_stands_in_the_first_twenty_four_words_but_for_numbers_is_known_to_all() -> None:
    for words, weight in ((23, 0.75), (24, 3.0)):
        text = f"{'word ' * words}Pernille {'word ' * 10}"
        assert facts_of([("a", text)]).weights["pernill"] == weight
    assert facts_of([("a", f"see 3090 {OPENING}")]).weights["3090"] == 2.5
    short = facts_of([("a", "we see Pernille and then we see Skovlyst too")]).weights
    assert (short["pernill"], short["skovlyst"]) == (0.75, 3.0), "of a short text the first half"


def test_parts_of_a_word_are_facts_too_and_a_name_without_spaces_is_found_within_words() -> None:
    found = facts_of([("a", f"{OPENING} see Pernille, 「灯塔守」, 23:40 and QXR-7.")])
    for said, keys in (
        ("pernille-garden", {"pernill"}),
        ("old/pernille", {"pernill"}),
        ("old_pernille", {"pernill"}),
        ("pernilles", {"pernill"}),
        ("23:40", {"2340"}),
        ("23.40", {"2340"}),
        ("2340", {"2340"}),
        ("我是灯塔守夜人", {"灯塔守"}),
        ("灯塔", set()),
        ("qxr-7", {"qxr7"}),
        ("qxr", set()),
        ("pernillegarden", set()),
    ):
        assert {*keys_in(found, said)} == keys, said


def test_facts_are_met_in_their_order_and_the_first_place_of_most_is_shown() -> None:
    found = facts_of([("a", f"{OPENING} see Pernille, Skovlyst and 「灯塔守」.")])

    def shown(text: str) -> tuple[float, str]:
        best = told(found, text, read(text), frozenset())
        return best.weight, text[best.start : best.end]

    assert shown("so skovlyst or pernille it") == (6.0, "skovlyst or pernille")
    far = "x " * 141
    assert shown(f"pernille skovlyst {far}pernille skovlyst") == (6.0, "pernille skovlyst")
    assert shown(f"pernille {far}skovlyst pernille") == (6.0, "skovlyst pernille")
    assert shown(f"pernille pernille {'x ' * 139}skovlyst")[0] == 6.0
    assert shown(f"pernille pernille {'x ' * 140}skovlyst")[0] == 3.0
    assert shown("我是灯塔守夜人") == (3.0, "灯塔守")
