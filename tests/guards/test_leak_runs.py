"""Letters in a row, chains of words, bags and pieces: what is just long enough is met, what is one short is not."""

from __future__ import annotations

from itertools import pairwise

import pytest

from charter.guards.leak_chains import GAP, chains
from charter.guards.leak_index import (
    FREQUENT,
    GRAM,
    LONGEST,
    WALL,
    _sentences,
    grams_of,
    index_of,
    steps_of,
)
from charter.guards.leak_read import fold, read
from charter.guards.leak_runs import (
    Run,
    _alike,
    _same,
    _words_of,
    acrostic_traces,
    alike_before,
    bare_traces,
    initial_traces,
    letter_traces,
    runs,
    turned_traces,
)

from .test_leak import CHINESE, HIDDEN, SENTENCE

pytestmark = pytest.mark.requirement("N-08", "S1-06")
LETTERS = "abcdefghijklmnopqrstuvwxyz"


# ── stretches of letters ──────────────────────────────────────────────────────────────────────────────────────────


def test_a_stretch_is_found_at_each_of_its_places_the_last_one_first() -> None:
    grams = grams_of("abcdeXabcdeYabcde", 5)
    assert list(grams.at("abcde")) == [12, 6, 0]
    assert list(grams.at("bcdeX")) == [1]
    assert list(grams.at("zzzzz")) == []
    assert len(list(grams_of("abcde" * 20, 5).at("abcde"))) == 8


def test_no_stretch_goes_over_a_wall_or_is_of_three_letters_only() -> None:
    assert list(grams_of(f"abcde{WALL}fghij", 5).last) == ["abcde", "fghij"]
    assert list(grams_of("abcabcabc", 5).last) == []
    assert list(grams_of("abcd", 4).last) == ["abcd"]
    assert list(grams_of("abc", 4).last) == []


def test_runs_are_as_long_as_letters_agree() -> None:
    grams = grams_of(LETTERS, GRAM, part=8)
    assert list(runs("--" + LETTERS[3:20] + "--", grams, 12)) == [Run(2, 19, 3)]
    assert list(runs(LETTERS[3:20], grams, 17)) == [Run(0, 17, 3)]
    assert list(runs(LETTERS[3:20], grams, 18)) == []
    assert list(runs(LETTERS[:11], grams, 12)) == []
    assert [run.size for run in runs(LETTERS[:14] + "-" + LETTERS[5:20], grams, 12)] == [14, 15]


@pytest.mark.parametrize("size", [0, 1, 63, 64, 65, 127, 128, 130])
def test_letters_that_agree_are_counted_forwards_and_backwards(size: int) -> None:
    same = (LETTERS * 6)[:size]
    assert _alike(f"x{same}1", 1, f"yy{same}2", 2) == size
    assert _alike(f"x{same}", 1, f"yy{same}", 2) == size
    assert alike_before(f"1{same}x", size + 1, f"22{same}y", size + 2) == size
    assert alike_before(same, size, f"2{same}", size + 1) == size


def test_the_words_of_letters_are_those_wholly_inside() -> None:
    assert _words_of([0, 3, 6, 10], 3, 10) == (1, 3)
    assert _words_of([0, 3, 6, 10], 2, 9) == (1, 2)
    assert _words_of([0, 3, 6, 10], 4, 5) == (2, 2)


def test_steps_are_the_same_in_every_shifted_alphabet() -> None:
    assert steps_of("abc") == steps_of("bcd") == steps_of("yza") == "bb"
    assert steps_of("ba") == "z"
    assert steps_of("a1b") == "\x00\x00"
    assert steps_of("") == steps_of("a") == ""


@pytest.mark.parametrize(("written", "same"), [("abcd", True), ("abcx", True), ("abxx", False), ("xxxx", False)])
def test_letters_are_the_hidden_ones_when_more_than_half_are(written: str, same: bool) -> None:
    assert _same(written, "abcd") is same


# ── ways in which words show ──────────────────────────────────────────────────────────────────────────────────────

INDEX = index_of(HIDDEN)
FLAT = list(INDEX.reading.words)


def ways(text: str) -> set[str]:
    folded = fold(text)
    reading = read(folded)
    found = [
        *letter_traces(INDEX, reading),
        *turned_traces(INDEX, reading, folded),
        *bare_traces(INDEX, reading, folded),
        *initial_traces(INDEX, reading),
        *acrostic_traces(INDEX, reading, folded),
    ]
    return {trace.way for trace in found}


def without_vowels(text: str) -> str:
    return "".join(char for char in text if char.lower() not in "aeiouy")


@pytest.mark.parametrize(
    ("text", "way"),
    [
        (SENTENCE, "letters"),
        (SENTENCE[::-1], "reversed"),
        (" ".join(word[::-1] for word in SENTENCE.split()), "reversed words"),
        (SENTENCE.lower().translate(str.maketrans(LETTERS, LETTERS[5:] + LETTERS[:5])), "shifted"),
        (SENTENCE.lower().translate(str.maketrans(LETTERS, LETTERS[::-1])), "shifted"),
        (SENTENCE.lower().translate(str.maketrans(LETTERS, LETTERS[5:] + LETTERS[:5]))[::-1], "shifted"),
        (without_vowels(SENTENCE), "vowels dropped"),
        (" ".join(word[0] for word in SENTENCE.split()), "initials"),
        ("\n".join(f"{char}lpha bet" for char in "whenaguestcomplainstwice"), "acrostic"),
        (" ".join(f"zz{char}" for char in "whenaguestcomplainstwice"), "acrostic"),
        (". ".join(f"{char}lpha bet is" for char in "whenaguestcomplainstwice"), "acrostic"),
        (" ".join(f"{word[0]}zorb" for word in SENTENCE.split()), "initials"),
    ],
)
def test_each_way_of_showing_hidden_words_is_named(text: str, way: str) -> None:
    assert way in ways(text)
    assert ways("Good evening, the soup of the day is leek and potato, with bread and butter.") == set()


SHOWN = "whenaguestcomplainstwiceofferabreakfastvoucher"
MOVED = SHOWN.translate(str.maketrans(LETTERS, LETTERS[5:] + LETTERS[:5]))
MIRRORED = SHOWN.translate(str.maketrans(LETTERS, LETTERS[::-1]))


@pytest.mark.parametrize(
    ("way", "enough", "less"),
    [
        ("reversed", SHOWN[:30][::-1], SHOWN[:29][::-1]),
        ("reversed words", " ".join(SHOWN[at : at + 6][::-1] for at in range(0, 30, 6)), SHOWN[:29][::-1]),
        ("shifted", MOVED[:17], MOVED[:16]),
        ("shifted", MIRRORED[:17], MIRRORED[:16]),
        ("shifted", MOVED[:17][::-1], MOVED[:16][::-1]),
        ("shifted", MIRRORED[:17][::-1], MIRRORED[:16][::-1]),
        ("acrostic", " ".join(f"{char}zz" for char in SHOWN[:16]), " ".join(f"{char}zz" for char in SHOWN[:15])),
        ("acrostic", " ".join(f"zz{char}" for char in SHOWN[:16]), " ".join(f"zz{char}" for char in SHOWN[:15])),
        *(("acrostic", stop.join(f"{char} zz it" for char in SHOWN[:16]),
           stop.join(f"{char} zz it" for char in SHOWN[:15])) for stop in ("\n", ". ")),
    ],
)  # fmt: skip
def test_each_way_needs_so_many_letters_and_one_fewer_are_chance(way: str, enough: str, less: str) -> None:
    assert way in ways(enough)
    assert way not in ways(less)


@pytest.mark.parametrize(("size", "seen"), [(18, True), (17, False)])
def test_eighteen_consonants_in_a_row_are_looked_for(size: int, seen: bool) -> None:
    index = index_of("so wxzcv bnmlk jhgfd sqprt")
    said = "wxzcvbnmlkjhgfdsqprt"[:size]
    assert bool(list(bare_traces(index, read(said), said))) is seen
    assert bool(list(bare_traces(index, read("a".join(said)), "a".join(said)))) is seen


def test_initials_are_shown_by_other_words_and_not_by_the_hidden_ones_themselves() -> None:
    words = SENTENCE.lower().rstrip(".").replace(",", "").split()

    def others(count: int) -> str:
        return " ".join([*(f"{word[0]}zorb" for word in words[:count]), *words[count:]])

    assert "initials" in ways(others(3))
    assert "initials" not in ways(others(2))
    assert "initials" in ways(f"so co-op, {others(3)}")
    assert "initials" not in ways(f"so co-op, {others(2)}")
    first = " ".join([f"{words[0]}-zorb", *(f"{word[0]}zorb-zorb" for word in words[1:])])
    assert "initials" in ways(first), "of words that stand first between two spaces"


@pytest.mark.parametrize(("size", "seen"), [(11, False), (12, True)])
def test_twelve_initials_are_met_anywhere_and_eight_only_where_they_are_a_sentence(size: int, seen: bool) -> None:
    initials = [word[0] for word in SENTENCE.lower().split()]
    assert ("initials" in ways(" ".join(initials[6 : 6 + size]))) is seen
    assert "initials" in ways(" ".join(initials[:8]))
    assert "initials" not in ways(" ".join(initials[:7]))
    assert "initials" not in ways(" ".join(initials[1:9]))


@pytest.mark.parametrize(
    ("hidden", "said", "way"),
    [
        (SENTENCE, without_vowels(SENTENCE), "vowels dropped"),
        (SENTENCE, SENTENCE, "letters"),
        (CHINESE, CHINESE, "letters"),
        ("zxcvb nmlkj hgfds qwrtp zxcvb", "zxcvb nmlkj hgfds qwrtp zxcvb", "letters"),
        ("so zaxcvb namlkj hagfds qawrtp", "zxcvb nmlkj hgfds qwrtp", "letters"),
        ("so zaxcavb namlakj hagfads qawratp", "zxcvb nmlkj hgfds qwrtp", "vowels dropped"),
    ],
)
def test_vowels_are_dropped_where_a_fifth_of_the_letters_is_missing_and_none_is_there(
    hidden: str, said: str, way: str
) -> None:
    found = bare_traces(index_of(hidden), read(fold(said)), fold(said))
    assert {trace.way for trace in found} == {way}


def test_thirty_letters_in_a_row_are_looked_for_and_twenty_nine_are_not() -> None:
    whole = "whenaguestcomplainstwiceofferabreakfast"
    assert [trace.way for trace in letter_traces(INDEX, read(whole[:30]))] == ["letters"]
    assert list(letter_traces(INDEX, read(whole[:29]))) == []


def test_a_trace_says_which_hidden_words_and_where_they_stand() -> None:
    text = f"Well: {SENTENCE}"
    (trace,) = letter_traces(INDEX, read(fold(text)))
    assert " ".join(INDEX.reading.words[trace.first : trace.last]) == fold(SENTENCE).replace(",", "").strip(".")
    assert fold(text)[trace.start : trace.end] == fold(SENTENCE).strip(".")


def test_the_words_of_a_place_are_those_whose_greater_part_lies_there() -> None:
    index = index_of("alpha bravo charlie")
    assert list(index.reading.offsets) == [0, 6, 11, 18], "a wall stands before a layer"
    assert index.words_between(0, 11) == (0, 2)
    assert index.words_between(2, 11) == (0, 2)
    assert index.words_between(3, 11) == (1, 2)
    assert index.words_between(6, 14) == (1, 2)
    assert index.words_between(6, 15) == (1, 3)
    assert index.words_between(7, 8) == (1, 1)


def test_the_words_of_several_layers_are_counted_through() -> None:
    first, second = "one two-six three. four five six", "seven, eight nine; ten 2x 40 q: and 中 it"
    index = index_of({"a": first, "b": second})
    assert list(index.reading.words) == [
        *("one", "two", "six", "three", "four", "five", "six"),
        *("seven", "eight", "nine", "ten", "2x", "40", "q", "and", "中", "it"),
    ]
    assert index.reading.letters == f"{WALL}onetwosixthreefourfivesix{WALL}seveneightninetenzxaoqand中中中it"
    assert index.reading.spelled == f"{WALL}onetwosixthreefourfivesix{WALL}seveneightnineten2x40qand中中中it"
    assert index.bare.text == f"{WALL}ntwsxthrfrfvsx{WALL}svnghtnntnzxaoqnd中中中t"
    assert [index.bare.text[a:b] for a, b in pairwise(index.bare_offsets)][8:12] == ["ght", "nn", "tn", "zx"]
    assert list(index.counts) == [1] * 11 + [0] * 3 + [1] * 3
    assert list(index.layers) == [(0, "a"), (7, "b")]
    assert sorted(index.starts) == [0, 4, 7, 8, 10, 14]
    assert [(grams.text, list(places)) for grams, places in index.initials] == [
        ("otstffssentzaqai", [*range(15), 16]),
        ("ottffssentzaqai", [0, 1, *range(3, 15), 16]),
    ]
    assert (index.where["six"], index.where["it"]) == ([2, 6], [16])
    near = index.near
    assert [sorted(near["three"].before), sorted(near["three"].earlier)] == [["six"], ["one", "two"]]
    assert [sorted(near["six"].before), sorted(near["one"].before)] == [["five", "two"], []]
    assert list(index.sentences) == [(0, 7), (4, 17), (7, 17)]


def test_a_layer_without_words_between_hyphens_has_one_table_of_initials() -> None:
    assert len(index_of("one two three").initials) == 1
    assert len(index_of("one two-three").initials) == 2


def test_a_word_is_of_the_layer_it_stands_in() -> None:
    index = index_of({"a": "alpha bravo", "b": "charlie", "c": "delta"})
    assert [index.layer_of(word) for word in range(4)] == ["a", "a", "b", "c"]


@pytest.mark.parametrize(
    ("stops", "pauses", "size", "found"),
    [
        ([6], [], 12, [(0, 6), (0, 12), (6, 12)]),
        ([8], [], 16, [(0, 8), (8, 16)]),
        ([7], [], 15, [(0, 7), (0, 15), (7, 15)]),
        ([], [8], 16, [(0, 8), (0, 16), (8, 16)]),
        ([], [7], 15, [(0, 15), (7, 15)]),
        ([], [], 5, []),
        ([], [], LONGEST + 6, [(0, LONGEST), (0, LONGEST + 6), (LONGEST, LONGEST + 6)]),
        ([], [], LONGEST + 5, [(0, LONGEST), (0, LONGEST + 5)]),
        ([5], [], LONGEST, [(0, LONGEST), (5, LONGEST)]),
        ([5], [], LONGEST + 1, [(5, LONGEST + 1)]),
    ],
)
def test_sentences_are_read_alone_by_clause_and_short_ones_with_the_next(
    stops: list[int], pauses: list[int], size: int, found: list[tuple[int, int]]
) -> None:
    assert _sentences(stops, pauses, size) == found


def test_a_sentence_is_told_by_its_words_that_stand_in_twelve_sentences_at_the_most() -> None:
    def telling(times: int) -> set[str]:
        text = "".join(f"zorble {at}aa {at}bb {at}cc {at}dd {at}ee {at}ff the {at}gg. " for at in range(times))
        index = index_of(text)
        assert len(index.sentences) == times
        assert index.contents == [len(index.within.keys() & {*index.reading.words[a:b]}) for a, b in index.sentences]
        return {word for word in index.within if word.isalpha()}

    assert telling(12) == {"zorble"}
    assert telling(13) == set()


# ── chains ────────────────────────────────────────────────────────────────────────────────────────────────────────


def longest(words: str) -> int:
    return max((chain.size for chain in chains(INDEX, words.split(), INDEX.bits)), default=0)


def test_a_chain_goes_on_over_four_other_words_and_over_two_hidden_ones() -> None:
    assert longest("rasmussen wedding nothing") == 3
    assert longest("rasmussen wedding for") == 3
    assert longest("rasmussen wedding parking") == 0
    gap = " sea" * (GAP - 1)
    assert longest(f"rasmussen{gap} wedding{gap} pay") == 3
    assert longest(f"rasmussen{gap} sea wedding pay") == 0
    assert longest("juniper number tuesday") == 0
    assert longest("wedding rasmussen guests") == 0


def test_a_chain_says_its_words_and_its_weight() -> None:
    words = ["so", "rasmussen", "wedding", "pay", "x", "nothing"]
    best = max(chains(INDEX, words, INDEX.bits), key=lambda chain: chain.size)
    place = INDEX.reading.words.index("rasmussen")
    assert (best.first, best.last, best.start, best.end, best.size) == (place, place + 3, 1, 5, 4)
    assert best.score == pytest.approx(sum(INDEX.bits[place : place + 4]) - 0.4)


def test_a_word_that_comes_often_counts_only_beside_its_neighbours() -> None:
    hidden = "one sea two sea three sea four sea five sea six sea seven sea eight sea nine sea ten sea " + " sea ".join(
        ["eleven", "twelve", "thirteen", "fourteen"]
    )
    index = index_of(hidden)
    assert len(index.where["sea"]) > FREQUENT
    assert max(chain.size for chain in chains(index, "thirteen sea fourteen".split(), index.bits)) == 3
    assert list(chains(index, "sea sea sea".split(), index.bits)) == []


def stood(text: str, way: str) -> str:
    """What stands where a trace was found."""
    folded = fold(text)
    reading = read(folded)
    found = [
        *letter_traces(INDEX, reading),
        *turned_traces(INDEX, reading, folded),
        *bare_traces(INDEX, reading, folded),
        *initial_traces(INDEX, reading),
        *acrostic_traces(INDEX, reading, folded),
    ]
    trace = next(trace for trace in found if trace.way == way)
    return folded[trace.start : trace.end]


@pytest.mark.parametrize(
    ("text", "way"),
    [
        (SENTENCE[:-1].lower()[::-1], "reversed"),
        (SENTENCE[:-1].lower().translate(str.maketrans(LETTERS, LETTERS[5:] + LETTERS[:5])), "shifted"),
        (SENTENCE[:-1].lower().translate(str.maketrans(LETTERS, LETTERS[5:] + LETTERS[:5]))[::-1], "shifted"),
        (without_vowels(SENTENCE[:-1].lower()), "vowels dropped"),
        (" ".join(word[0] for word in SENTENCE.lower().split()), "initials"),
    ],
)
def test_a_trace_leads_to_the_words_that_show_it(text: str, way: str) -> None:
    found = stood(f"50 + 50 = 100; {text}; 50 + 50 = 100", way)
    assert 0.9 * len(text) <= len(found) <= len(text) + 5, "a word too many at most"


def test_every_word_of_an_acrostic_is_in_its_trace() -> None:
    lines = [f"{char}lpha bet" for char in "whenaguestcomplainstwice"]
    assert stood("\n".join(lines), "acrostic").count("lpha") == len(lines)
