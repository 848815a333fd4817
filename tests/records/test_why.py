"""Which layer or message ended the cached prefix of a turn, at which byte, and what was paid again for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from charter.agent import Parsed
from charter.core.dialogue import Reply
from charter.core.layer import Volatility
from charter.kept import Kept
from charter.prefix import Break
from charter.stores.memory import MemoryStore
from charter.why import FRAME, JSON, Caching, Why, caching_of, ended, explain, sent

from .taking import RING, Taking, call, said, taking

FACTS: dict[str, Volatility] = {}


def why(there: Taking, kept: Kept) -> Why:
    found = explain(there.store, there.charter, kept)
    assert found is not None
    return found


@pytest.mark.requirement("N-06")
def test_the_assistants_clock_ends_the_prefix_at_the_minute_and_what_stands_below_is_paid_again() -> None:
    there = taking("assistant", *[said("Fine.", cost=(500, 5, 200))] * 3)
    there.turn("Hello")
    kept = there.turn("And then?", seconds=60)
    found = why(there, kept)
    prompt = there.replay(kept).assembly.reveal()  # type: ignore[union-attr]
    assert found.prediction.broke == Break("layer", "time", "changed")
    assert found.exact
    assert found.byte == len(prompt[: prompt.index("14:32") + 4].encode())
    layers = {entry["id"]: entry["tokens_est"] + 1 for entry in kept.stack}
    assert found.prediction.below == layers["memory"] + layers["instructions"] + layers["tools"]
    messages = sum(row[2] + FRAME for row in kept.beside[:2])
    assert found.prediction.lost == found.prediction.below + round(kept.tools_tokens * JSON) + messages
    above = sum(layers[name] for name in ("identity", "soul", "channel")) - 1
    assert above < found.prediction.cached <= above + layers["time"]
    assert found.measured == 200 / 500
    assert found.steps[0].predicted == round(500 * found.prediction.share)


@pytest.mark.requirement("N-06")
def test_within_one_minute_the_assistant_loses_nothing() -> None:
    there = taking("assistant")
    there.turn("Hello", seconds=5)
    found = why(there, there.turn("And then?", seconds=20))
    assert (found.prediction.broke, found.prediction.lost, found.byte) == (None, 0, None)
    assert found.prediction.fresh < 20


@pytest.mark.requirement("N-06", "S0-04")
def test_the_sovereigns_bytes_above_the_situation_do_not_move_between_turns() -> None:
    there = taking("sovereign")
    turns = [there.turn(text, channel="inbox") for text in ("One", "Two", "Three", "")]
    starts = set()
    for kept in turns:
        prompt = there.replay(kept).assembly.reveal()  # type: ignore[union-attr]
        starts.add(prompt[: prompt.index("## Layer 10")])
    assert len(starts) == 1
    for kept in turns[1:]:
        found = why(there, kept)
        assert found.prediction.broke == Break("layer", "situation", "changed")
        assert found.byte is not None
        assert found.byte > len(starts.pop().encode() if starts else b"")
        assert (found.prediction.below, found.prediction.lost) == (0, round(kept.tools_tokens * JSON))


@pytest.mark.requirement("N-06")
def test_an_amended_layer_ends_the_prefix_and_without_its_text_the_byte_is_where_it_starts() -> None:
    there = taking("sovereign")
    there.turn("Hello")
    there.amend("memory", "Store facts, with sources and dates.")
    kept = there.turn("Hello again")
    found = why(there, kept)
    assert found.prediction.broke == Break("layer", "memory", "changed")
    start = there.replay(kept).assembly.reveal().index("## Layer 8")  # type: ignore[union-attr]
    assert found.byte is not None
    assert found.byte > start
    with there.store.db.writing() as run:
        run("UPDATE layer_versions SET content = NULL WHERE layer_id = 'memory' AND version = 2")
    unsure = why(there, kept)
    assert (unsure.exact, unsure.prediction.broke) == (False, found.prediction.broke)
    assert unsure.byte == len(there.replay(kept).assembly.reveal()[:start].encode())  # type: ignore[union-attr]
    assert unsure.prediction.cached < found.prediction.cached
    blind = explain(there.store, None, kept)
    assert blind is not None
    assert (blind.byte, blind.exact) == (unsure.byte, False)


@pytest.mark.requirement("N-06", "N-18")
def test_a_chat_that_outgrows_its_window_says_how_many_messages_gave_way_and_then_none_for_a_while() -> None:
    there = taking("contract", provider={"window": 1600}, max_reply_tokens=100)
    turns = [there.turn(f"{number} " + "word " * 60) for number in range(12)]
    broke = [why(there, kept).prediction.broke for kept in turns[1:]]
    cuts = [one for one in broke if one is not None]
    assert 1 <= len(cuts) <= 3
    assert {(one.kind, one.how, one.count) for one in cuts} == {("message", "cut", 8)}
    lost = [why(there, kept).prediction.lost for kept in turns[1:]]
    assert [tokens > 0 for tokens in lost] == [one is not None for one in broke]


@pytest.mark.requirement("N-06", "N-18")
def test_a_chat_that_begins_anew_says_so() -> None:
    there = taking("contract")
    there.turn("Hello")
    there.turn("And?")
    there.store.fresh_start(there.agent.name, "ana", there.clock.now)
    kept = there.turn("From the start")
    assert why(there, kept).prediction.broke == Break("message", "message", "anew")


@pytest.mark.requirement("N-06")
def test_a_reply_that_its_channel_gave_another_form_is_where_the_prefix_ends() -> None:
    there = taking("contract", "**Very** bold.", "Plain.", "Again.")
    there.turn("Hello", channel="telegram")
    shaped = there.turn("And?", channel="telegram")
    assert why(there, shaped).prediction.broke == Break("message", "past", "reply")
    plain = there.turn("And now?", channel="telegram")
    assert why(there, plain).prediction.broke is None


@pytest.mark.requirement("N-06")
def test_every_call_of_a_turn_counts_and_what_was_said_with_tools_is_not_sent_again() -> None:
    there = taking(
        "contract",
        said("", call("current_time", "{}"), cost=(800, 9, 0)), said("Half past.", cost=(850, 9, 790)),
        said("Later.", cost=(820, 5, 700)),
    )  # fmt: skip
    first = there.turn("What time is it?")
    caching = Caching()
    one, two = sent(first, 0, caching), sent(first, 1, caching)
    assert [segment.id for segment in two[len(one) :]] == ["since", "since"]
    assert two[: len(one)] == one
    assert [segment.id for segment in ended(first, caching)[len(two) :]] == ["reply"]
    second = there.turn("And now?")
    found = why(there, second)
    assert found.prediction.broke == Break("message", "past", "calls")
    assert found.steps[0].cached == 700
    inner = explain(there.store, there.charter, replace(first, record=replace(first.record, id="~")))
    assert inner is not None  # the same turn once more: everything of its first call is in the cache
    assert inner.prediction.broke is None
    was, now = (sum(segment.tokens for segment in some) for some in (one, two))
    assert inner.steps[1].predicted == round(850 * was / now)
    assert inner.measured == 790 / 1650


@pytest.mark.requirement("N-06", "S3-09")
def test_a_call_that_was_written_into_the_reply_is_sent_back_as_it_was_and_found_in_the_cache() -> None:
    def read_calls(reply: Reply, _: Sequence[str]) -> Parsed:
        return Parsed("", (call("current_time", "{}"),)) if reply.text == "current_time()" else Parsed(reply.text)

    script = ("current_time()", "Half past.")
    there = taking("gateway", *script, provider={"native_tools": False}, read_calls=read_calls)
    first = there.turn("What time is it?")
    assert [row[0] for row in first.beside] == ["user", "assistant", "user"]
    again = explain(there.store, there.charter, replace(first, record=replace(first.record, id="~")))
    assert again is not None
    two = sent(first, 1, Caching())
    assert again.steps[1].predicted == sum(segment.tokens for segment in two[:-1])


@pytest.mark.requirement("N-06")
def test_the_turn_before_is_of_the_same_sender_but_of_anybody_where_one_turn_is_taken_at_a_time() -> None:
    for name, expected in (("assistant", 0), ("sovereign", 1)):
        there = taking(name)
        turns = [there.turn("Hello"), there.turn("Hi", sender="zoe", user="zoe"), there.turn("And?")]
        assert why(there, turns[2]).previous == turns[expected].record.id
        assert explain(there.store, there.charter, turns[0]) is None


@pytest.mark.requirement("N-06")
def test_after_another_model_or_key_there_is_nothing_to_compare() -> None:
    for other in ({"provider": {"model": "another-70b"}}, {"key": b"n" * 32}, {}):
        store = MemoryStore(RING)
        there = taking("assistant", store=store)
        there.turn("Hello")
        second = taking("assistant", store=store, **other)
        second.clock.now = there.clock.now
        assert (explain(store, there.charter, second.turn("Hello")) is None) == bool(other)


@pytest.mark.requirement("N-06")
def test_anthropic_sees_tools_first_and_keeps_marked_prefixes_of_a_least_size() -> None:
    there = taking("assistant", provider={"dialect": "anthropic", "model": "claude-sonnet-5-5"})
    there.agent.provider.name = "anthropic"  # type: ignore[misc]
    there.turn("Hello", seconds=5)
    kept = there.turn("And?", seconds=20)
    caching = caching_of(kept, {layer.id: layer.volatility for layer in there.charter.stack.layers})
    assert (caching.tools_first, caching.ends, caching.minimum) == (True, {"soul", "channel"}, 1024)
    segments = sent(kept, 0, caching)
    assert [segment.id for segment in segments][:3] == ["tools", "identity", "soul"]
    found = why(there, kept)
    assert found.prediction.broke is None
    assert found.prediction.cached == sum(segment.tokens for segment in segments[:4])
    assert found.prediction.beyond == sum(segment.tokens for segment in segments[4:-1])
    assert (found.predicted, found.steps[0].predicted) == (0.0, 0)  # too short to be kept


@pytest.mark.requirement("N-06")
def test_a_provider_known_by_its_format_alone_has_no_minimum_and_one_we_do_not_know_has_nothing() -> None:
    there = taking("assistant")
    kept = there.turn("Hello")
    assert caching_of(kept, FACTS) == Caching()
    named: dict[str, Any] = {**kept.detail, "provider": "openai"}
    assert caching_of(replace(kept, detail=named), FACTS) == Caching(False, None, 1024)
    nobody: dict[str, Any] = {**kept.detail, "provider": "x", "dialect": "y"}
    assert caching_of(replace(kept, detail=nobody), FACTS) == Caching()


@pytest.mark.requirement("N-06", "N-18")
@settings(deadline=None, max_examples=30)
@given(st.lists(st.text("ab *_`#>\n.", max_size=40), min_size=2, max_size=5))
def test_within_a_minute_a_chat_only_grows_whatever_is_said(texts: list[str]) -> None:
    there = taking("contract", *(f"I say {text}" for text in texts))
    turns = [there.turn(f"You say {text}", seconds=1) for text in texts]
    for before, kept in pairwise(turns):
        was, now = ended(before, Caching()), sent(kept, 0, Caching())
        assert [one.sha256 for one in now[: len(was)]] == [one.sha256 for one in was]
        assert why(there, kept).prediction.broke is None
