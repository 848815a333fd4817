"""A reply that streams leaves as it comes; of a leak less than a phrase leaves, however the stream is cut."""

from __future__ import annotations

import base64
import random
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from charter.guards.leak import Screen, scan_reply
from charter.guards.leak_read import fold, read

from .leaks import MAKERS
from .test_leak import CANARY, CHINESE, HIDDEN, OTHER, RUSSIAN, SENTENCE
from .work import calls

pytestmark = pytest.mark.requirement("N-08", "S1-06")

MOST = 24  # characters of a leak that may leave
WRITINGS = sorted(
    {"verbatim", "case", "code block", "quoted lines", "bold words", "one word a line", "look-alikes", "zero-width"}
    | {"soft hyphens", "full-width", "mathematical", "combining", "spaced", "hyphenated", "dotted", "no spaces"}
)
INNOCENT = (
    "Good evening! I'm Pernille. Your parking is free until 14 June.\n\nThe key is in the lockbox behind the hedge; "
    "see https://example.org/arrive?id=8812&lang=da for a map. 謝謝 — до свидания!"
)


def streamed(screen: Screen, parts: list[str]) -> str:
    return "".join([*map(screen.feed, parts), screen.end()])


def cut(text: str, rng: random.Random) -> list[str]:
    places = sorted({0, len(text), *(rng.randrange(len(text) + 1) for _ in range(rng.randrange(12)))})
    return [text[a:b] for a, b in pairwise(places)]


@pytest.mark.parametrize("technique", WRITINGS)
@pytest.mark.parametrize("hidden", [HIDDEN, RUSSIAN, CHINESE], ids=["Danish porter", "Russian", "Chinese"])
def test_of_a_leak_at_most_a_few_letters_leave(technique: str, hidden: str) -> None:
    reply = MAKERS[technique][1](hidden, random.Random(2))
    for parts in (list(reply), cut(reply, random.Random(technique))):
        screen = Screen(hidden)

        left = streamed(screen, parts)

        assert reply.startswith(left)
        assert len(read(fold(left)).letters) <= MOST
        assert (screen.finding.decision, screen.finding.code) == ("deny", "LEAK")
    assert streamed(Screen(OTHER), list(reply)) == reply


@settings(max_examples=60)
@given(st.randoms(use_true_random=False), st.text(max_size=120))
def test_a_clean_reply_leaves_whole_however_it_is_cut(rng: random.Random, more: str) -> None:
    reply = INNOCENT + more + INNOCENT
    screen = Screen(HIDDEN, canaries=[CANARY])

    left = streamed(screen, cut(reply, rng))

    assert screen.finding == scan_reply(reply, HIDDEN, canaries=[CANARY])
    assert left == reply


@pytest.mark.parametrize("technique", MAKERS)
def test_a_stream_ends_with_the_verdict_on_the_whole(technique: str) -> None:
    reply = MAKERS[technique][1](HIDDEN, random.Random(technique))
    screen = Screen({"house": HIDDEN})

    left = streamed(screen, cut(reply, random.Random(technique)))

    assert (screen.finding.decision, screen.finding.layer) == ("deny", "house")
    assert reply.startswith(left)
    assert left != reply


def test_ordinary_text_is_not_held() -> None:
    screen = Screen(HIDDEN)

    assert [screen.feed(part) for part in ("Good ", "eve", "ning", "! ", "Sleep well.")] == [
        "Good ", "eve", "ning", "! ", "Sleep well.",
    ]  # fmt: skip
    assert screen.end() == ""


def test_what_turns_out_harmless_is_let_go_at_once() -> None:
    screen = Screen(HIDDEN)

    assert screen.feed("offer a br") == "offer a br"
    assert screen.feed("eakfast vou") == ""
    assert screen.feed("nded") == "eakfast vounded"
    assert screen.end() == ""
    assert screen.finding.decision == "allow"


def test_after_a_finding_nothing_leaves_any_more() -> None:
    screen = Screen(HIDDEN)
    screen.feed(SENTENCE)

    assert screen.finding.decision == "deny"
    assert (screen.feed("and good night"), screen.end()) == ("", "")
    assert "voucher" not in repr(screen)


def test_a_long_word_that_may_be_encoded_is_held_to_its_end() -> None:
    leak = base64.b64encode(SENTENCE.encode()).decode()
    clean = base64.b64encode(b"The sea was calm and nobody had seen the gulls go by.").decode()

    screen = Screen(HIDDEN)
    assert screen.feed(leak) == leak[:24]
    assert screen.feed(" ") == ""
    assert screen.finding.decision == "deny"

    screen = Screen(HIDDEN)
    assert screen.feed(clean) + screen.feed(" ok") == clean + " ok"


def test_a_canary_does_not_leave_and_its_beginning_alone_does() -> None:
    screen = Screen(OTHER, canaries=[CANARY])
    assert "".join(map(screen.feed, f"It is {CANARY}, well")) == "It is qu"
    assert screen.finding.code == "LEAK_CANARY"

    screen = Screen(OTHER, canaries=[CANARY])
    assert streamed(screen, list("A quartz watch, 7 pounds.")) == "A quartz watch, 7 pounds."


def test_what_the_person_said_may_stream_back() -> None:
    screen = Screen(HIDDEN, history=[("user", SENTENCE)])

    assert streamed(screen, list(SENTENCE)) == SENTENCE


@pytest.mark.parametrize("unit", ["a night in the hotel ", "Otter ledger ", "x", "\u200b", "\\", "q7/"])
def test_each_character_costs_about_the_same(unit: str) -> None:
    def taken(size: int) -> int:
        text = (unit * size)[:size]
        Screen(OTHER).feed(text)
        screen = Screen(OTHER)
        return calls(lambda: [screen.feed(char) for char in text])

    assert taken(2_048) < 3 * taken(1_024) + 20_000
