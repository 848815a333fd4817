"""Chains of hidden words, on weights made by hand: what words between and words left out cost, and where they end."""

from __future__ import annotations

from dataclasses import replace

import pytest

from charter.guards.leak_chains import Chain, chain_traces, chains, may_chain
from charter.guards.leak_index import index_of
from charter.guards.leak_read import read

pytestmark = pytest.mark.requirement("N-08", "S1-06")
WORDS = "alpha bravo charl delta echoe foxtr golfe hotel india julie kilos limas".split()
INDEX = index_of(" ".join(WORDS))


def best(said: str, each: float = 20.0) -> Chain | None:
    """The heaviest chain, where every hidden word weighs the same."""
    found = chains(INDEX, said.split(), [each] * len(WORDS))
    return max(found, key=lambda chain: chain.score, default=None)


@pytest.mark.parametrize(
    ("said", "chain"),
    [
        ("alpha bravo charl", (60.0, 3, 0, 2, 0, 2)),
        ("x alpha bravo charl x", (60.0, 3, 0, 2, 1, 3)),
        ("alpha bravo", None),
        ("alpha x bravo charl", (59.6, 3, 0, 2, 0, 3)),
        ("alpha x x x x bravo charl", (58.4, 3, 0, 2, 0, 6)),
        ("alpha x x x x x bravo charl", None),
        ("alpha x x x x x bravo charl delta", (60.0, 3, 1, 3, 6, 8)),
        ("alpha charl delta", (52.0, 3, 0, 3, 0, 2)),
        ("alpha delta echoe", (48.0, 3, 0, 4, 0, 2)),
        ("alpha echoe foxtr", None),
        ("alpha alpha bravo charl", (60.0, 3, 0, 2, 1, 3)),
        ("charl bravo alpha", None),
        ("alpha bravo charl delta echoe", (100.0, 5, 0, 4, 0, 4)),
    ],
)
def test_words_between_cost_little_and_words_left_out_much(said: str, chain: tuple[float, ...] | None) -> None:
    found = best(said)
    assert (found and (round(found.score, 6), *found[1:])) == chain


def test_a_word_is_only_gone_on_to_where_that_weighs_more_than_to_begin_anew() -> None:
    assert best("alpha charl echoe", 8.1) == pytest.approx((8.3, 3, 0, 4, 0, 2))
    assert best("alpha charl echoe", 8.0) is None
    assert best("alpha delta golfe", 12.1) == pytest.approx((12.3, 3, 0, 6, 0, 2))
    assert best("alpha delta golfe", 12.0) is None


def test_numbers_and_single_letters_are_no_words_of_a_chain() -> None:
    index = index_of("alpha 17 bravo q charl r2d2 delta")
    sizes = [chain.size for chain in chains(index, list(index.reading.words), [20.0] * 7)]
    assert sizes == [3, 3, 4], "at the third and fourth word"


def test_a_word_that_was_said_once_is_one_word() -> None:
    index = index_of("zorble zorble zorble alpha")
    assert list(chains(index, ["zorble", "x"], [20.0] * 4)) == []


# ── in a reply ────────────────────────────────────────────────────────────────────────────────────────────────────


def traced(text: str, least: float = 0.0, count: int = 6) -> set[tuple[str, int, int, str]]:
    traces = chain_traces(INDEX, read(text), INDEX.bits, folded=text, least=least, count=count)
    found = {(trace.way, trace.first, trace.last): text[trace.start : trace.end] for trace in traces}
    return {(*key, stood) for key, stood in found.items()}


SIX = WORDS[2:8]


def test_a_chain_leads_to_its_words_and_to_where_they_stand() -> None:
    said = " and ".join(SIX)
    assert traced(f"so {said} it") == {("words", 2, 8, said)}
    back = " and ".join(SIX[::-1])
    assert traced(f"so {back} it") == {("words reversed", 2, 8, back)}


def test_words_that_begin_or_end_lines_are_chained_from_six_lines_on() -> None:
    filler = "zz " * 6
    heads = "\n".join(f"{word} {filler}it" for word in SIX)
    assert traced(heads) == {
        ("first words of lines", 2, 7, heads[: heads.rindex(SIX[4]) + 5]),
        ("first words of lines", 2, 8, heads[: heads.rindex(SIX[5]) + 5]),
    }
    ends = "\n".join(f"it {filler}{word}" for word in SIX)
    first = ends.index(SIX[0])
    assert traced(ends) == {
        ("last words of lines", 2, 7, ends[first : ends.rindex(SIX[4]) + 5]),
        ("last words of lines", 2, 8, ends[first:]),
    }
    five = "\n".join(f"{word} {filler}it" for word in SIX[:5])
    assert traced(five, count=5) == set()
    assert len(traced(f"{five}\nit", count=5)) == 2
    assert traced(f"\n\n{five}", count=6) == {("first words of lines", 2, 7, five[: five.rindex(SIX[4]) + 5])}


def test_the_last_line_does_not_stand_before_the_first_one() -> None:
    ring = "\n".join(f"it {'zz ' * 6}{word}" for word in [*WORDS[3:9], WORDS[2]])
    assert {(first, last) for _, first, last, _ in traced(ring, count=7)} == {(3, 9)}


# ── what is ruled out ─────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("said", "may"),
    [
        ("alpha bravo charl", True),
        ("alpha x x x x bravo charl", True),
        ("alpha x x x x x bravo charl", False),
        ("alpha bravo delta", True),
        ("alpha bravo echoe", True),
        ("alpha bravo foxtr", False),
        ("alpha charl delta", False),
        ("alpha echoe foxtr", False),
        ("charl bravo alpha", False),
        ("alpha bravo", False),
        ("x y z", False),
    ],
)
def test_a_chain_of_three_is_not_looked_for_where_there_can_be_none(said: str, may: bool) -> None:
    assert may_chain(INDEX, said.split(), least=0.0, count=3) is may


def test_a_chain_is_not_looked_for_where_none_can_weigh_enough() -> None:
    weight = sum(INDEX.bits[:3])
    assert may_chain(INDEX, ["alpha", "bravo", "charl"], least=weight, count=3)
    assert not may_chain(INDEX, ["alpha", "bravo", "charl"], least=weight + 0.01, count=3)
    assert may_chain(INDEX, ["alpha", "x", "bravo", "charl"], least=weight - 0.4, count=3)
    assert not may_chain(INDEX, ["alpha", "x", "bravo", "charl"], least=weight - 0.39, count=3)


@pytest.mark.parametrize(
    ("said", "each", "most"),
    [
        ("alpha bravo charl", 0.5, 1.5),
        ("alpha x bravo charl", 0.5, 1.1),
        ("alpha charl echoe", 8.1, 8.3),
        ("alpha charl echoe", 8.5, 9.5),
        ("alpha charl echoe", 8.0, None),
        ("alpha delta golfe", 12.1, 20.3),
        ("alpha x charl echoe", 8.5, 9.1),
        ("alpha x x x x charl echoe", 10.0, 12.4),
        ("alpha x x x x x charl echoe", 10.0, None),
    ],
)
def test_no_chain_is_ruled_out_that_weighs_no_more_than_it_could(said: str, each: float, most: float | None) -> None:
    """What leaves words out is taken for cheaper than it is, so that nothing is ruled out too soon."""
    index = replace(INDEX, near={word: near._replace(weight=each) for word, near in INDEX.near.items()})
    words = said.split()
    assert may_chain(index, words, least=0.0, count=3) is (most is not None)
    if most is not None:
        assert may_chain(index, words, least=most, count=3)
        assert not may_chain(index, words, least=most + 0.01, count=3)
        assert not may_chain(index, words, least=most, count=4)
