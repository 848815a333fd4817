"""A reply in the making: parts are the whole, half a character waits, calls keep apart, and half a reply is none."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from charter.core.dialogue import ToolCall
from charter.providers.heard import Heard, Odd, calls_in, kept, numbered

texts = st.text(st.characters() | st.sampled_from("\ud83d\ude00\ud800\udfff\0é潮\u0085"), max_size=12)


@given(st.lists(texts, max_size=8))
def test_what_is_passed_on_is_the_whole_and_can_be_kept(parts: list[str]) -> None:
    heard = Heard()
    passed = [heard.say(part) for part in parts]
    heard.stop = "end"
    passed.append(heard.end())
    whole = heard.reply().text
    assert "".join(passed) == whole == kept("".join(parts))
    assert whole.encode().decode() == whole
    assert "\0" not in whole


def test_a_character_that_comes_in_two_halves_is_one_character() -> None:
    heard = Heard()
    assert [heard.say("a\ud83d"), heard.say("\ude00b"), heard.say("\ud83d"), heard.say("c")] == ["a", "😀b", "", "�c"]
    heard.stop = "end"
    assert (heard.say("\ud83d"), heard.end(), heard.reply().text) == ("", "�", "a😀b�c�")


@given(st.text("ab\x00\x7f é潮😀\n", max_size=30))
def test_text_that_everyone_can_keep_is_kept_as_it_is_but_for_nul(text: str) -> None:
    assert kept(text) == text.replace("\0", "�")


@given(st.lists(st.tuples(st.integers(0, 3), st.text('{}"ab:,', max_size=5)), max_size=20))
def test_pieces_of_several_calls_come_together_in_whatever_order_they_arrive(pieces: list[tuple[int, str]]) -> None:
    heard = Heard()
    for place in range(4):
        heard.call(place, name=f"t{place}", call_id=f"c{place}")
    for place, piece in pieces:
        heard.call(heard.key_for(place, ""), arguments=piece)
    heard.stop = "tools"
    heard.end()
    wanted = ["".join(piece for at, piece in pieces if at == place) or "{}" for place in range(4)]
    assert [call.arguments for call in heard.reply().calls] == wanted


def test_a_server_that_says_the_place_the_id_or_neither_is_understood() -> None:
    for pieces in (
        [(0, "a", "x", "1"), (0, "", "", "2"), (1, "b", "y", "3")],
        [(None, "a", "x", "1"), (None, "", "", "2"), (None, "b", "y", "3")],
        [(None, "a", "x", "1"), (None, "a", "", "2"), (None, "b", "y", "3")],
        [(0, "a", "x", "1"), (0, "a", "x", "2"), (0, "b", "y", "3")],  # every call at place 0
    ):
        heard = Heard()
        for place, call_id, name, arguments in pieces:
            heard.call(heard.key_for(place, call_id), name=name, call_id=call_id, arguments=arguments)
        heard.stop = "end"
        heard.end()
        assert [(c.id, c.name, c.arguments) for c in heard.reply().calls] == [("a", "x", "12"), ("b", "y", "3")], pieces


def test_a_piece_that_comes_before_any_call_has_no_name_and_is_odd() -> None:
    heard = Heard()
    heard.call(heard.key_for(None, ""), arguments="{}")
    heard.stop = "tools"
    with pytest.raises(Odd, match="names no tool"):
        heard.end()


def test_half_a_reply_is_odd_and_so_are_calls_that_were_only_announced() -> None:
    heard = Heard()
    heard.say("so far")
    with pytest.raises(Odd, match=r"^it ended in the middle$"):
        heard.end()
    heard.stop = "tools"
    with pytest.raises(Odd, match=r"^it announces calls and makes none$"):
        heard.end()


@pytest.mark.parametrize(
    ("stop", "refused", "calls", "told"),
    [
        ("end", False, False, "end"),
        ("end", False, True, "tools"),
        ("length", False, True, "length"),
        ("end", True, False, "refused"),
        ("tools", True, True, "refused"),
    ],
)
def test_why_it_stopped_is_what_matters_most(stop: str, refused: bool, calls: bool, told: str) -> None:
    heard = Heard()
    heard.stop, heard.refused = stop, refused  # type: ignore[assignment]
    if calls:
        heard.call(0, name="note")
    assert heard.reply().stop == told


@given(st.lists(st.sampled_from(["", "a", "b", "call_1", "call_2", "call_9"]), max_size=6), st.integers(0, 3))
def test_every_call_has_an_id_of_its_own_and_good_ids_stay(ids: list[str], before: int) -> None:
    given_calls = [ToolCall(name, "note", "{}") for name in ids]
    made = numbered(given_calls, before)
    assert [call.id for call in numbered(given_calls, before)] == [call.id for call in made]
    assert len({call.id for call in made}) == len(ids)
    firsts = [number for number, name in enumerate(ids) if name and name not in ids[:number]]
    assert all(made[number].id == ids[number] for number in firsts)


def test_calls_that_were_made_are_counted_in_every_dialect() -> None:
    call = ToolCall("c", "note", json.dumps({"a": 1}))
    from charter.core.dialogue import Said, Talk
    from charter.core.payload import DIALECTS, payload

    talk = Talk((Said("assistant", "hm", (call, call)),), (Said("assistant", calls=(call,)), Said("tool", "ok")))
    counted = {name: calls_in(payload(name, (), talk=talk, max_tokens=1)) for name in DIALECTS}
    assert counted == {"openai": 3, "openai-responses": 3, "anthropic": 3, "ollama": 3, "completion": 0}
