"""What makes a whole reply a leak, just enough and one too few; canaries, arguments, and streams with escapes."""

from __future__ import annotations

import base64
import json

import pytest

from charter.guards import leak_scan
from charter.guards.finding import ALLOWED
from charter.guards.leak import Screen, scan_call, scan_reply
from charter.guards.leak_chains import chain_traces, chains
from charter.guards.leak_facts import Facts, Told, _spread, facts_of, told
from charter.guards.leak_index import index_of
from charter.guards.leak_order import fragments
from charter.guards.leak_past import past_of
from charter.guards.leak_read import Reading, fold, read
from charter.guards.leak_runs import Trace
from charter.guards.leak_scan import Scales, scales_of
from charter.guards.leak_secret import secret_of

from .test_leak import HIDDEN, OTHER, SENTENCE

pytestmark = pytest.mark.requirement("N-08", "S1-06")
INDEX = index_of(HIDDEN)
FLAT = list(INDEX.reading.words)


def scales(hidden: str, bits: float, floor: float = 99.0) -> Scales:
    """Every hidden word weighs the same."""
    index = index_of(hidden)
    return Scales(index, [], [bits * at for at in range(len(index.reading.words) + 1)], floor)


# ── how much is a leak ────────────────────────────────────────────────────────────────────────────────────────────

WORDS = "alpha bravo charl delta echoe foxtr golfe hotel india julie kilos limas " * 3  # of five letters each


@pytest.mark.parametrize(("words", "leak"), [(7, False), (8, True), (9, True)])
def test_a_run_is_eight_words_or_forty_letters(words: int, leak: bool) -> None:
    assert scales(WORDS, 9.0).is_run(1, 1 + words) is leak


def test_a_run_of_few_long_words_needs_forty_letters_and_of_short_ones_thirty() -> None:
    long = scales("bananabananabanana cherrycherrycherry datedatedatedate elderberries " * 3, 9.0)
    offsets = long.index.reading.offsets
    assert [offsets[at] - offsets[1] for at in (2, 3, 4)] == [18, 34, 46]
    assert [long.is_run(1, last) for last in (2, 3, 4)] == [False, False, True]
    short = scales("abc def ghi jkl mno pqr stu vwx yza bcd efg hij klm " * 2, 9.0)
    assert [short.is_run(1, last) for last in (10, 11, 12)] == [False, True, True]


def test_a_run_has_to_weigh_enough_and_less_where_the_hidden_text_is_short() -> None:
    assert scales(WORDS, 18 / 8).is_run(1, 9)
    assert not scales(WORDS, 17.9 / 8).is_run(1, 9)
    assert scales(WORDS, 12 / 8, floor=12.0).is_run(1, 9)
    assert not scales(WORDS, 11.9 / 8, floor=12.0).is_run(1, 9)


def test_a_writing_nobody_uses_by_chance_needs_twenty() -> None:
    for weight, leak in ((20.0, True), (19.9, False)):
        assert scales(WORDS, weight / 2).is_leak(Trace("reversed", 0, 2, 0, 1)) is leak
    assert not scales(WORDS, 20.0).is_leak(Trace("letters", 0, 2, 0, 1))


def test_what_the_person_said_weighs_nothing() -> None:
    whole, some = scales_of(INDEX, frozenset()), scales_of(INDEX, frozenset({0, 1}))
    assert some.weight(0, 2) == 0.0
    assert some.weight(0, 3) == pytest.approx(whole.weight(2, 3))
    assert whole.floor == some.floor == pytest.approx(0.7 * sum(INDEX.bits))
    assert scales_of(index_of("hello there"), frozenset()).floor == 10.0


@pytest.mark.parametrize(
    ("about", "spread", "weight", "leak"),
    [
        (0, 6, 18.0, True),
        (0, 5, 29.9, False),
        (0, 5, 30.0, True),
        (0, 4, 99.0, False),
        (0, 6, 17.9, False),
        (0, 8, 14.0, True),
        (0, 7, 14.0, False),
        (0, 8, 13.9, False),
        (1, 5, 13.0, True),
        (1, 4, 13.0, False),
        (1, 5, 12.9, False),
        (2, 4, 14.0, True),
        (1, 4, 14.0, False),
        (2, 3, 99.0, False),
        (2, 4, 13.9, False),
    ],
)
def test_facts_are_a_leak_when_they_are_many_and_fewer_where_instructions_are_spoken_of(
    about: int, spread: int, weight: float, leak: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Here(Told):
        __slots__ = ()

        def about(self, reading: Reading) -> int:
            return about

    def found(facts: Facts, folded: str, reading: Reading, used: frozenset[str]) -> Told:
        return Here(weight, spread, 0, 1, frozenset())

    monkeypatch.setattr(leak_scan, "told", found)
    assert (scan_reply("zorble", HIDDEN).decision == "deny") is leak


def test_facts_come_together_within_so_many_words_and_each_counts_once() -> None:
    facts = facts_of([("a", "word " * 30 + ". see Pernille. see Skovlyst. see Rasmussen.")])

    def weight(text: str, used: frozenset[str] = frozenset()) -> tuple[float, int]:
        found = told(facts, fold(text), read(fold(text)), used)
        return found.weight, found.spread

    assert weight("Pernille Skovlyst Rasmussen") == (9.0, 3)
    assert weight("Pernille Pernille") == (3.0, 1)
    assert weight("Pernille " + "x " * 139 + "Skovlyst") == (6.0, 2)
    assert weight("Pernille " + "x " * 140 + "Skovlyst") == (3.0, 1)
    assert weight("Pernille Skovlyst", frozenset({"pernill"})) == (3.0, 1)
    assert weight("nothing") == (0.0, 0)
    assert _spread(facts, ["pernill", "skovlyst"]) == 2
    text = "so Pernille and Skovlyst here"
    found = told(facts, fold(text), read(fold(text)), frozenset())
    assert fold(text)[found.start : found.end] == "pernille and skovlyst"
    assert "pernill" not in repr(found)


# ── chains by lines ───────────────────────────────────────────────────────────────────────────────────────────────


def ways(text: str, least: float = 30.0, count: int = 6) -> set[str]:
    folded = fold(text)
    traces = chain_traces(INDEX, read(folded), INDEX.bits, folded=folded, least=least, count=count)
    return {trace.way for trace in traces}


PLAIN = SENTENCE.rstrip(".").replace(",", "").split()


def test_hidden_words_are_chained_forwards_backwards_and_at_the_heads_and_ends_of_lines() -> None:
    assert ways(" ".join(PLAIN)) == {"words"}
    assert ways(" ".join(PLAIN[::-1])) == {"words reversed"}
    assert ways("\n".join(f"{word} a b c d e f g" for word in PLAIN)) == {"first words of lines"}
    assert ways("\n".join(f"a b c d e f g {word}" for word in PLAIN)) == {"last words of lines"}
    assert ways("\n".join(f"{word} a b c d e f g" for word in PLAIN[:5])) == set()
    assert ways("zorble " * 20) == set()


def scores(words: list[str]) -> tuple[float, int]:
    """What the heaviest chain of these words weighs, and how many words it has."""
    return max((chain.score, chain.size) for chain in chains(INDEX, words, INDEX.bits))


def test_a_chain_has_to_weigh_enough_and_to_be_long_enough_and_less_so_in_lines() -> None:
    words = [fold(word) for word in PLAIN]
    for text, way in ((" ".join(words), "words"), (" ".join(words[::-1]), "words reversed")):
        score, size = scores(words)
        assert ways(text, score, size) == {way}
        assert ways(text, score + 0.1, size) == set()
        assert ways(text, score, size + 1) == set()
    lines = "\n".join(f"{word} zorble quixo" for word in words)
    assert "first words of lines" in ways(lines, score + 8.0, size + 1)
    assert ways(lines, score + 8.1, size) == set()
    assert ways(lines, score + 8.0, size + 2) == set()


def test_lines_are_read_by_their_heads_from_six_on() -> None:
    score, size = scores(PLAIN[4:10])
    lines = "\n".join(f"{word} {'zorble ' * 7}" for word in PLAIN[4:10])
    assert ways(lines, score, size) == {"first words of lines"}
    assert ways(lines.replace("\n", " "), score, size) == set()
    assert ways("\n".join(lines.split("\n")[:5]), scores(PLAIN[4:9])[0], 4) == set()


def test_a_chain_that_is_found_leads_to_the_words_of_the_reply() -> None:
    text = f"Well: {' and '.join(PLAIN)} so."
    folded = fold(text)
    traces = list(chain_traces(INDEX, read(folded), INDEX.bits, folded=folded, least=30.0, count=6))
    last = traces[-1]
    assert folded[last.start : last.end] == fold(" and ".join(PLAIN))
    assert FLAT[last.first : last.last] == [fold(word) for word in PLAIN]


# ── a whole reply ─────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_fragment_is_two_words_and_says_whether_it_is_most_of_a_reply() -> None:
    dense = fragments(INDEX, read("the juniper hedge"))
    assert [FLAT[one.first : one.last] for one in dense.found] == [["the", "juniper", "hedge"]]
    assert dense.dense
    thin = fragments(INDEX, read("the juniper hedge stands tall and green in our garden behind the shed all summer"))
    assert thin.found
    assert not thin.dense


def test_words_in_another_order_are_a_leak_and_half_of_them_are_not() -> None:
    words = SENTENCE.rstrip(".").replace(",", "").split()
    stirred = sorted(words)
    assert scan_reply(" ".join(stirred), HIDDEN).reason.endswith("hidden words by shuffled, view plain")
    assert scan_reply(" ".join(stirred[:8]), HIDDEN) == ALLOWED


def test_what_a_person_says_is_theirs_only_when_it_is_said_by_them() -> None:
    for role, theirs in (("user", True), ("assistant", False), ("tool", False)):
        known = past_of([(role, SENTENCE)], INDEX, lambda text: True).known
        assert bool(known) is theirs, role
    assert past_of([SENTENCE], INDEX, lambda text: True).known
    assert not past_of([SENTENCE], INDEX, lambda text: False).known
    assert past_of([SENTENCE], INDEX, lambda text: False).replies == [SENTENCE]


def test_only_the_last_forty_replies_are_read_each_to_so_many_characters() -> None:
    past = past_of([("assistant", f"{at} " + "x" * 20_000) for at in range(41)], INDEX, lambda text: False)
    assert len(past.replies) == 40
    assert {len(reply) for reply in past.replies} == {16_384}


def test_arguments_are_read_as_written_and_as_what_they_say() -> None:
    assert scan_call({"a": [None, True, {"b": SENTENCE}]}, HIDDEN).decision == "deny"
    assert scan_call("[" * 100_000, OTHER) == ALLOWED
    keys = {word: at for at, word in enumerate(SENTENCE.split())}
    assert scan_call(keys, HIDDEN).decision == "deny"


def test_two_codes_of_one_kind_are_read_together_and_of_two_kinds_they_are_not() -> None:
    first, second = b"When a guest complains twice,", b"offer a breakfast voucher and"
    for one in (first, second):
        assert scan_reply(base64.b64encode(one).decode(), HIDDEN) == ALLOWED
    reply = f"{base64.b64encode(first).decode()} so {base64.b64encode(second).decode()}"
    found = scan_reply(reply, {"poems": OTHER, "house": HIDDEN})
    assert (found.reason, found.layer) == ("10 hidden words by letters, view base64", "house")
    assert [(span.start, span.end) for span in found.spans] == [(0, len(reply))]
    assert scan_reply(f"{base64.b64encode(first).decode()} so {second.hex()}", HIDDEN) == ALLOWED


LINES = "\n".join(base64.b64encode(f"this is line {at} of many lines".encode()).decode() for at in range(60))
CODED = base64.b64encode(HIDDEN[:160].encode()).decode()


@pytest.mark.parametrize(
    ("more", "found"),
    [
        ("", ""),
        (CODED, CODED),
        (CODED[:200], CODED[:200]),
        (CODED[:199], ""),
        (("z1" * 100 + "\n") * 5 + CODED, CODED),
        (("z1" * 100 + "\n") * 6 + CODED, ""),
        (base64.b64encode(b"x" * 1_050).decode() + CODED, base64.b64encode(b"x" * 1_050).decode() + CODED),
        (base64.b64encode(b"x" * 1_200).decode() + CODED, ""),
    ],
)
def test_where_views_are_left_out_the_beginnings_of_six_long_words_are_looked_at(more: str, found: str) -> None:
    """What is left out is bounded work, not a way out: sixty codes fill the views that a text may have."""
    reply = f"{LINES}\n{more}"
    finding = scan_reply(reply, {"poems": OTHER, "house": HIDDEN})
    assert [reply[span.start : span.end] for span in finding.spans] == ([found] if found else [])
    assert finding.layer == ("house" if found else "")
    assert finding.reason.endswith("view base64" if found else "")


# ── canaries ──────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("secret", "reply", "found"),
    [
        ("abc", "abc", True),
        ("abc", "xabcx", True),
        ("abc", "a b c", False),
        ("abcd", "a-b-c-d", True),
        ("abcd", "xabcd", False),
        ("abcd", "abcdx", True),
        ("abcd", "dcba", True),
        ("abcdefg", "x abcdefg", True),
        ("abcdefg", "xabcdefg", False),
        ("abcdefgh", "xabcdefgh", True),
        ("abdgkpvy", "bcehlqwz", False),
        ("abdgkpvyc", "bcehlqwzd", True),
    ],
)
def test_a_short_canary_begins_a_word_and_a_long_one_may_stand_anywhere(secret: str, reply: str, found: bool) -> None:
    assert (scan_reply(reply, OTHER, canaries=[secret]).code == "LEAK_CANARY") is found


@pytest.mark.parametrize(
    ("secret", "written", "reason"),
    [
        ("quartz-7f31", "quartz-7f31", "a canary as it is"),
        ("quartz-7f31", "13f7-ztrauq", "a canary, view plain"),
        ("quartz-7f31", base64.b64encode(b"quartz-7f31, ok").decode(), "a canary, view base64"),
        ("q9!", "q9!", "a canary as it is"),
        ("a-b-c", "a-b-c", "a canary as it is"),
        ("quart", "quart", "a canary, view plain"),
        ("quart", "q-u-a-r-t", "a canary, view plain"),
    ],
)
def test_a_canary_says_where_it_stands_and_in_which_view(secret: str, written: str, reason: str) -> None:
    for before, after in (("so: ", ", yes"), ("", "")):
        reply = f"{before}{written}{after}"
        found = scan_reply(reply, {"a": OTHER}, canaries=["basalt-90aa", secret])
        assert (found.decision, found.code, found.reason, found.layer) == ("deny", "LEAK_CANARY", reason, "")
        (span,) = found.spans
        assert (reply[span.start : span.end], span.code, span.reason) == (written, "LEAK_CANARY", reason)


def test_a_canary_may_be_cut_anywhere_between_two_replies() -> None:
    secret = secret_of("quartz7f31")
    letters = secret.letters
    for cut in range(1, len(letters)):
        assert secret.place(read(letters[cut:]), letters[:cut]) == (0, len(letters) - cut)
    assert secret.place(read(letters[3:]), letters[:2]) is None
    assert secret.place(read(""), letters) is None


# ── a stream ──────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_stream_holds_a_run_of_twelve_letters_and_lets_go_when_it_ends() -> None:
    screen = Screen(HIDDEN)
    assert screen.feed("when a guest c") == "when a guest c"
    assert screen.feed("o") == ""
    assert repr(screen) == "Screen(allow, 15 characters, 1 held)"
    assert screen.feed("zy") == "ozy"
    assert screen.end() == ""


def test_a_screen_shows_how_much_it_holds_and_never_what() -> None:
    screen = Screen(HIDDEN)
    screen.feed("hello ")
    assert repr(screen) == "Screen(allow, 6 characters, 0 held)"


def test_a_code_that_is_cut_over_several_arguments_is_put_together() -> None:
    coded = base64.b64encode(SENTENCE.encode()).decode()
    parts = [coded[at : at + 9] for at in range(0, len(coded), 9)]
    found = scan_call(json.dumps(parts), {"poems": OTHER, "house": HIDDEN})
    assert (found.decision, found.code, found.layer) == ("deny", "LEAK", "house")
    (span,) = found.spans
    assert (span.start, span.code) == (0, "LEAK")
    assert span.end == len(json.dumps(parts))
    assert scan_call(json.dumps(parts[:4]), HIDDEN) == ALLOWED


def test_words_a_person_said_with_others_between_are_theirs_to_the_last_one() -> None:
    place = FLAT.index("complains")
    known = past_of([("user", " and ".join(PLAIN))], INDEX, lambda text: True).known
    assert known >= set(range(place - 3, place - 3 + len(PLAIN)))
    assert place + len(PLAIN) not in known


def test_a_stream_that_goes_on_as_an_earlier_place_does_is_followed() -> None:
    twice = (
        "Whoever asks about the silver heron is told that the boathouse opens at dawn in spring. "
        "Whoever asks about the silver heron may also learn which ferry leaves the quay on Sundays."
    )
    for sentence in twice.split(". "):
        screen = Screen(twice)
        assert len("".join(screen.feed(char) for char in sentence)) < 24
        assert screen.finding.code == "LEAK"


@pytest.mark.parametrize("escape", ["\\n", "\\t", "\\r"])
def test_an_escaped_break_adds_no_letter_to_a_stream(escape: str) -> None:
    screen = Screen(HIDDEN)
    assert screen.feed(f"when a{escape}guest co") == ""


def test_an_escaped_letter_is_that_letter_in_a_stream() -> None:
    screen = Screen(HIDDEN)
    assert screen.feed("w\\u0068en a guest co") == ""
    assert Screen(HIDDEN).feed("w\\xhen a guest co") == "w\\xhen a guest co"
    assert Screen(HIDDEN).feed("\\qwhen a guest c") == "\\qwhen a guest c"


def test_a_leak_in_a_stream_is_named_and_nothing_more_leaves() -> None:
    screen = Screen({"a": OTHER, "house": HIDDEN})
    left = "".join(screen.feed(char) for char in SENTENCE)
    assert len(left) < 24
    assert (screen.finding.code, screen.finding.layer) == ("LEAK", "house")
    assert screen.finding.reason.endswith("hidden words by letters, in the stream")
    assert screen.feed("more") == ""
    assert screen.end() == ""


def test_a_canary_in_a_stream_is_held_from_its_third_letter() -> None:
    screen = Screen(OTHER, canaries=["quartz7f31"])
    assert screen.feed("it is qu") == "it is qu"
    assert screen.feed("a") == ""
    assert screen.feed("d") == "ad"
    assert screen.feed(" quartz7f31") == ""
    assert (screen.finding.code, screen.finding.reason) == ("LEAK_CANARY", "a canary in the stream")


def test_a_long_word_that_may_be_code_is_held_from_its_twenty_fourth_character() -> None:
    screen = Screen(OTHER)
    assert screen.feed("a1" * 12) == "a1" * 12
    assert screen.feed("a1") == ""
    assert screen.feed(" ") == "a1 "
    assert Screen(OTHER).feed("ab" * 40) == "ab" * 40
