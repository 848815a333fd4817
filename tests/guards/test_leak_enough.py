"""How much of a hidden text makes a reply a leak, each way by itself: with weights made by hand, to the last tenth."""

from __future__ import annotations

import base64

import pytest

from charter.guards.leak_index import index_of
from charter.guards.leak_past import Past
from charter.guards.leak_scan import Scales, Scan
from charter.guards.leak_weights import sums_of

pytestmark = pytest.mark.requirement("N-08", "S1-06")
WORDS = (
    "zalor bexim cuvot dwipa evqun flonk gruxa hizbo iqpel jumva kozri lyfqe "
    "mexiz noqub oxafi pluvz quixo rhaze stogv tuvqi uzfek vijmo wexna xobri"
).split()  # of five letters each, and in no table
INDEX = index_of(f"{' '.join(WORDS[:12])}. {' '.join(WORDS[12:])}.")
AND = " and and and "
OTHER = " over there" * 20
STIRRED = " ".join([*WORDS[9:12], *WORDS[6:9], *WORDS[3:6], *WORDS[:3]])
FIRST, LAST = " ".join(WORDS[:4]), " ".join(WORDS[4:7])


def verdict(reply: str, each: float, *, before: str = "", floor: float = 999.0) -> str:
    """Why a reply may not leave, where every hidden word weighs the same."""
    bits = [each] * len(WORDS)
    past = Past([before] if before else [], frozenset(), frozenset())
    return Scan(Scales(INDEX, bits, sums_of(bits), floor), past, ()).reply(reply).reason


@pytest.mark.parametrize(
    ("reply", "before", "words", "weight", "costs", "reason"),
    [
        (AND.join(WORDS[:8]), "", 8, 44.0, 7 * 3 * 0.4, "8 hidden words by words, view plain"),
        (AND.join(WORDS[8::-1]), "", 9, 44.0, 8 * 3 * 0.4, "9 hidden words by words reversed, view plain"),
        (STIRRED, "", 12, 34.0, 0.0, "12 hidden words by shuffled, view plain"),
        (LAST + OTHER, FIRST + OTHER, 7, 50.0, 0.0, "7 hidden words by pieces, view plain"),
        (LAST, FIRST + OTHER, 7, 50.0, 0.0, "7 hidden words by pieces, view plain"),
        (LAST, FIRST, 7, 23.0, 0.0, "7 hidden words by pieces, view plain"),
        (" ".join(WORDS[:8]), "", 8, 18.0, 0.0, "8 hidden words by letters, view plain"),
        ("".join(WORDS[:6])[::-1], "", 6, 20.0, 0.0, "6 hidden words by reversed, view plain"),
    ],
)  # fmt: skip
def test_each_way_needs_its_own_weight_and_less_where_the_hidden_text_is_hardly_more(
    reply: str, before: str, words: int, weight: float, costs: float, reason: str
) -> None:
    for least, floor in ((weight, 999.0), (12.0, 12.0)):
        assert verdict(reply, (least + costs + 0.001) / words, before=before, floor=floor) == reason
        assert verdict(reply, (least + costs - 0.1) / words, before=before, floor=floor) == ""


@pytest.mark.parametrize(
    ("reply", "before"),
    [
        (AND.join(WORDS[:7]), ""),
        (AND.join(WORDS[7:0:-1]), ""),
        (" ".join(WORDS[4:6]), " ".join(WORDS[:4])),
        (" ".join(WORDS[:7]), ""),
    ],
)
def test_of_few_words_none_is_a_leak_whatever_they_weigh(reply: str, before: str) -> None:
    assert verdict(reply, 9.0, before=before) == ""


def test_words_at_the_heads_of_lines_need_eight_less_and_one_word_fewer() -> None:
    lines = "\n".join(f"{word} and so it went on and on" for word in WORDS[:7])
    assert verdict(lines, 36.001 / 7) == "7 hidden words by first words of lines, view plain"
    assert verdict(lines, 35.9 / 7) == ""
    assert verdict("\n".join(lines.split("\n")[:6]) + "\nso", 9.0) == ""


def test_the_last_piece_is_found_beside_a_code_that_says_something_else() -> None:
    reply = f"{LAST} {base64.b64encode(b'hello there friend').decode()}"
    assert verdict(reply, 9.0, before=FIRST) == "7 hidden words by pieces, view plain"


def test_the_last_piece_has_to_stand_in_the_reply_itself() -> None:
    assert verdict("so it is", 9.0, before=" ".join(WORDS[:7])) == ""
