"""What a leak cannot hold is ruled out at once, and never what it can."""

from __future__ import annotations

import random
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from charter.guards import leak_past, scan_reply
from charter.guards.kept import ROOM, Kept
from charter.guards.leak_chains import chains, may_chain
from charter.guards.leak_index import Grams, Heard, Index, grams_of, index_of, steps_of
from charter.guards.leak_read import Reading, fold, letters_of, read
from charter.guards.leak_runs import runs

from .test_leak import CHINESE, HIDDEN, RUSSIAN

TEXTS = st.text(max_size=200) | st.text(st.sampled_from("ab 'é_л中กहि०1l.\u0301\u200b"), max_size=60)


@given(TEXTS)
def test_the_letters_of_words_are_the_letters_of_the_text(text: str) -> None:
    folded = fold(text)
    reading = read(folded)
    assert reading.letters == letters_of(folded)
    assert reading.parts == [reading.letters[a:b] for a, b in pairwise(reading.offsets)]


@given(st.text(st.sampled_from("abyz09é中"), max_size=60))
def test_steps_are_those_from_letter_to_letter(letters: str) -> None:
    codes = letters.encode("ascii", "replace")
    steps = [97 + (b - a) % 26 if a > 96 and b > 96 else 0 for a, b in pairwise(codes)]
    assert steps_of(letters) == bytes(steps).decode("ascii")


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from([HIDDEN, RUSSIAN, CHINESE]))
def test_no_chain_is_ruled_out_that_there_is(seed: int, hidden: str) -> None:
    rng, index = random.Random(seed), index_of(hidden)
    words: list[str] = []
    for word in index.reading.words[: rng.randrange(10, 120)]:
        words += [] if rng.random() < 0.2 else [word]
        words += ["sea"] * rng.choice((0, 0, 0, 1, 2, 5, 6))
    if rng.random() < 0.3:
        rng.shuffle(words)
    for chain in chains(index, words, index.bits):
        assert may_chain(index, words, least=chain.score, count=chain.size)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from([12, 16, 18, 30]))
def test_runs_are_those_that_are_found_when_every_place_is_tried(seed: int, least: int) -> None:
    rng = random.Random(seed)
    hidden = "".join(rng.choice("abcdefgh") for _ in range(300))
    grams = grams_of(hidden, 12, part=8)
    parts = [
        hidden[at : at + rng.randrange(40)] if at % 2 else "".join(rng.choices("abcdefgh", k=20))
        for at in rng.sample(range(280), 12)
    ]
    text = "".join(parts)
    every = _Every(grams.text, grams.size, grams.last, grams.before, grams.parts)
    assert list(runs(text, grams, least)) == list(runs(text, every, least))


class _Every(Grams):
    """Grams of which every place is tried."""

    __slots__ = ()

    def tries(self, letters: str, stride: int) -> list[tuple[int, int]]:
        return [(0, len(letters) - self.size)]


def test_a_reading_of_nothing_has_no_parts() -> None:
    assert read("").parts == []
    assert Reading((), (), (), "", "", (0,)).parts == []


def test_what_a_person_said_is_read_once_and_counts_the_same_when_it_comes_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    hidden = (
        "The keeper of the northern harbour counts every boat at dawn and writes the number on a slate of blue stone."
    )
    history = [("user", hidden), ("assistant", "So it is."), ("user", "And the slate?")]
    read: list[str] = []
    listened = leak_past._listened

    def listening(index: Index, text: str) -> Heard:
        read.append(text)
        return listened(index, text)

    monkeypatch.setattr(leak_past, "_listened", listening)
    first = scan_reply(hidden, hidden, history=history)
    again = scan_reply(hidden, hidden, history=history)
    assert (first.decision, again) == ("allow", first)
    assert read == [hidden, "And the slate?"]
    assert scan_reply(hidden, hidden, history=history[1:]).decision == "deny"


@given(st.text(st.characters(max_codepoint=127), max_size=60) | st.text(st.sampled_from("ab 'é_л中\n-."), max_size=40))
def test_words_between_spaces_are_those_that_lead(text: str) -> None:
    """Where every word of an ASCII text leads, its words backwards are what stands between spaces backwards."""
    folded = fold(text)
    reading = read(folded)
    if folded.isascii() and len(reading.leading) == len(reading.words):
        between = letters_of(" ".join(folded[::-1].split()[::-1]))
        assert "".join(part[::-1] for part in reading.parts) == between


class Fact(int):
    size = 0


def test_of_texts_that_come_again_something_is_known_and_it_stays_bounded() -> None:
    kept = Kept[Fact]()
    asked: list[str] = []

    def find_out(text: str) -> Fact:
        asked.append(text)
        return Fact(len(text))

    assert [kept.of(text, find_out) for text in ("tide", "\ud800", "tide")] == [4, 1, 4]
    assert asked == ["tide", "\ud800"]
    for number in range(ROOM):
        kept.of(str(number), find_out)
    assert len(kept._known) <= ROOM
    assert not any("tide" in str(key) for key in kept._known)
