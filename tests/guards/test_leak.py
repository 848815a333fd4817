"""Hidden text does not leave in a reply, however it is written; common words, told ones and the person's own do."""

from __future__ import annotations

import base64
import json
import random
from urllib.parse import quote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from charter.guards.finding import ALLOWED
from charter.guards.leak import scan_call, scan_reply
from charter.guards.leak_index import index_of

from .leaks import LATIN, MAKERS, leaks, split
from .work import calls

pytestmark = pytest.mark.requirement("N-08", "S1-06")

HIDDEN = """You are Pernille, the night porter of the Hotel Skovlyst in Silkeborg. Speak softly and keep answers short.
Late arrivals after 23:40 get the key from the lockbox behind the juniper hedge; the number changes every Tuesday.
Guests of the Rasmussen wedding pay nothing for parking until 14 June.
Never tell anyone that room 309 is kept free for inspectors.
When a guest complains twice, offer a breakfast voucher and write a line in the ledger called Otter.
If somebody asks for a doctor, say "I will call Doctor Winther for you at once, please stay on the line." and ring 62.
"""
OTHER = """You review poems sent in by members of a small club. Praise one image, question one rhyme, close with a wish.
Do not rewrite whole stanzas. Winners of the spring prize are announced by the secretary, not by you."""
RUSSIAN = (
    "Ты ведёшь журнал маяка на мысе Сорочьем. Сигнал меняют каждые шесть часов, "
    "а ключ от нижней лестницы лежит под третьей ступенью."
)
CHINESE = "你是灯塔守夜人阿砚。每隔六小时更换一次信号，楼梯的钥匙放在第三级台阶下面，不要告诉任何游客。"
SENTENCE = "When a guest complains twice, offer a breakfast voucher and write a line in the ledger called Otter."


@pytest.mark.parametrize("technique", MAKERS)
def test_hidden_text_is_found_in_every_writing_and_only_for_the_prompt_it_is_from(technique: str) -> None:
    reply = MAKERS[technique][1](HIDDEN, random.Random(technique))

    assert scan_reply(reply, HIDDEN).code == "LEAK"
    assert scan_reply(reply, OTHER) == ALLOWED


@pytest.mark.parametrize(
    "technique", sorted({"verbatim", "case", "zero-width", "spaced", "base64", "reversed", "no vowels"})
)
@pytest.mark.parametrize("hidden", [RUSSIAN, CHINESE, SENTENCE], ids=["Russian", "Chinese", "one sentence"])
def test_short_prompts_and_other_scripts_are_found_too(technique: str, hidden: str) -> None:
    if technique == "no vowels" and hidden is CHINESE:
        technique = "verbatim"

    assert scan_reply(MAKERS[technique][1](hidden, random.Random(1)), hidden).decision == "deny"


def test_a_text_comes_piece_by_piece_and_the_last_piece_is_held() -> None:
    *earlier, last = split(HIDDEN, random.Random(4))

    assert scan_reply(last, HIDDEN, history=[("assistant", text) for text in earlier]).decision == "deny"
    assert scan_reply(last, HIDDEN, history=earlier).decision == "deny"
    assert scan_reply(last, HIDDEN) == ALLOWED


def test_other_words_give_it_away_by_their_names_and_numbers() -> None:
    retold = (
        "I was told to pose as Pernille at Skovlyst. After 23:40 the key is in a lockbox at the juniper hedge. "
        "Nobody may hear that 309 stays empty for inspectors. The Rasmussen party parks free until 14 June. "
        "Two complaints mean a voucher and a note in Otter, and Winther is on 62."
    )

    found = scan_reply(retold, HIDDEN)

    assert found.decision == "deny"
    assert "other words" in found.reason
    assert scan_reply(retold, OTHER) == ALLOWED


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "Good evening! I'm Pernille. How can I help you today?",
        "I'm sorry about the noise. Please take a breakfast voucher, and let me know if you have any other questions.",
        "As you arrive after midnight, the key will be in the lockbox behind the hedge. The number is in your mail.",
        "I will call Doctor Winther for you at once, please stay on the line.",
        "Parking is free for wedding guests until 14 June. Have a lovely evening!",
        "I can't share my instructions, but I'm happy to help with your stay.",
        "Here are three bullet points:\n- be on time\n- bring your card\n- sleep well",
        "Permission is hereby granted, free of charge, to any person obtaining a copy of this software.",
        "```python\nfor room in hotel.rooms:\n    print(room.number, room.guest)\n```",
    ],
)
def test_an_answer_is_no_leak_of_the_rule_it_follows(reply: str) -> None:
    assert scan_reply(reply, HIDDEN) == ALLOWED


def test_words_the_agent_is_told_to_say_may_be_said_and_words_it_must_not_say_may_not() -> None:
    quoted = '"the lift is out of order since the flood in the cellar last winter"'

    assert scan_reply(quoted, f"You run a small hotel by the lake. If asked, answer {quoted} and smile.") == ALLOWED
    assert scan_reply(quoted, f"You run a small hotel by the lake. Never say {quoted}, and smile.").decision == "deny"


def test_a_stock_phrase_is_no_secret_even_when_the_prompt_has_it() -> None:
    phrase = "Please let me know if you have any other questions, I am happy to help you with that. Have a great day!"

    assert (
        scan_reply(phrase, f"You sell garden tools and seeds to farmers in the valley. {phrase} Ask for the postcode.")
        == ALLOWED
    )


@pytest.mark.parametrize(
    "said", [("user", SENTENCE), {"role": "user", "content": f"They told me: {SENTENCE}"}, SENTENCE]
)
def test_what_the_person_said_is_no_secret(said: object) -> None:
    assert scan_reply(f"You wrote: {SENTENCE}", HIDDEN, history=[said]) == ALLOWED
    assert scan_reply(HIDDEN, HIDDEN, history=[said]).decision == "deny"


def test_what_the_agent_said_before_stays_secret() -> None:
    assert scan_reply(SENTENCE, HIDDEN, history=[("assistant", SENTENCE)]).decision == "deny"


def test_a_finding_names_the_layer_and_the_place_and_never_the_text() -> None:
    reply = f"Well then. {SENTENCE} Anything else?"

    found = scan_reply(reply, {"poems": OTHER, "house": HIDDEN})

    assert (found.decision, found.code, found.layer) == ("deny", "LEAK", "house")
    (span,) = found.spans
    assert reply[span.start : span.end] == SENTENCE.removesuffix(".")
    assert found.reason == "18 hidden words by letters, view plain"
    assert "voucher" not in repr(found)
    assert scan_reply(OTHER, {"poems": OTHER, "house": HIDDEN}).layer == "poems"


CANARY = "quartz-7f31-heron"


@pytest.mark.parametrize(
    "reply",
    [
        CANARY,
        f"It is {CANARY.upper()}!",
        " ".join(CANARY),
        CANARY[::-1],
        base64.b64encode(f"the word is {CANARY}".encode()).decode(),
        "\u200b".join(CANARY),
    ],
)
def test_a_canary_is_found_in_any_view(reply: str) -> None:
    assert scan_reply(reply, OTHER, canaries=[CANARY]).code == "LEAK_CANARY"
    assert scan_reply(reply, OTHER, canaries=["basalt-90aa-swift"]) == ALLOWED


def test_a_canary_cut_in_two_replies_is_found_and_a_short_one_is_not_found_inside_a_word() -> None:
    assert (
        scan_reply("7f31-heron", OTHER, history=[("assistant", "it begins quartz-")], canaries=[CANARY]).code
        == "LEAK_CANARY"
    )
    assert scan_reply("7f31-heron", OTHER, canaries=[CANARY]) == ALLOWED
    assert scan_reply("an otter swims", OTHER, canaries=["otter"]).code == "LEAK_CANARY"
    assert scan_reply("a potters' fair", OTHER, canaries=["otter"]) == ALLOWED
    assert scan_reply("x9", OTHER, canaries=["x9"]).code == "LEAK_CANARY"


@pytest.mark.parametrize(
    "arguments",
    [
        json.dumps({"to": "a@example.org", "body": SENTENCE}),
        {"path": "notes.txt", "lines": SENTENCE.split(", ")},
        json.dumps({"parts": [SENTENCE[at : at + 9] for at in range(0, len(SENTENCE), 9)]}),
        f"https://example.org/p?q={quote(SENTENCE)}&n=1",
        json.dumps({"url": "https://example.org/?d=" + base64.urlsafe_b64encode(SENTENCE.encode()).decode()}),
    ],
)
def test_what_a_tool_is_called_with_is_read_like_a_reply(arguments: str | dict[str, object]) -> None:
    assert scan_call(arguments, HIDDEN).decision == "deny"
    assert scan_call(arguments, OTHER) == ALLOWED
    assert scan_call({"query": "breakfast hours in Silkeborg", "limit": 3}, HIDDEN) == ALLOWED


def test_an_empty_prompt_hides_nothing() -> None:
    assert scan_reply(HIDDEN, "") == ALLOWED
    assert scan_reply(HIDDEN, {}) == ALLOWED
    assert scan_reply(HIDDEN, {"a": " \n", "b": "…"}) == ALLOWED


def test_a_hidden_text_is_made_ready_once() -> None:
    assert index_of(HIDDEN) is index_of(HIDDEN)
    assert index_of({"a": HIDDEN}) is not index_of(HIDDEN)
    assert HIDDEN[8:16] not in repr(index_of(HIDDEN))


@settings(max_examples=120)
@given(st.text(max_size=400) | st.text("ab \n\ud800\x00\\%=&/+-_.", max_size=400), st.text(max_size=200))
def test_any_text_gets_the_same_answer_twice(reply: str, hidden: str) -> None:
    found = scan_reply(reply, HIDDEN + hidden, canaries=[hidden[:12]])

    assert found == scan_reply(reply, HIDDEN + hidden, canaries=[hidden[:12]])
    assert all(0 <= span.start <= span.end <= len(reply) for span in found.spans)


@pytest.mark.parametrize(
    "unit", ["the guest of the hotel and the key ", "a", "ab ", "Otter ledger line\n", "QUJD", "%41", "= "]
)
def test_twice_the_text_is_about_twice_the_work(unit: str) -> None:
    def taken(size: int) -> int:
        text = (unit * size)[:size]
        scan_reply(text, OTHER)
        return calls(lambda: scan_reply(text, OTHER))

    assert taken(8_192) < 3 * taken(4_096) + 2_000


def test_the_makers_of_leaks_give_the_same_leaks_for_the_same_seed() -> None:
    made = list(leaks(SENTENCE, seed=3))

    assert made == list(leaks(SENTENCE, seed=3))
    assert {leak.technique for leak in made} == {*MAKERS, "split"}
    assert {leak.technique for leak in leaks(RUSSIAN)}.isdisjoint(LATIN)
