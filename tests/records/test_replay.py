"""A turn is rebuilt to the byte from what is kept of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from charter import stores
from charter.core.errors import BadValue, CharterError, ProviderDown
from charter.core.incoming import Incoming
from charter.core.records import InboxMessage
from charter.folder import load
from charter.kept import Kept, read_back
from charter.replay import replay
from charter.sources.vitals import StaticVitals
from charter.stores import migrate
from charter.stores.past import newest
from charter.turn import take_turn
from stores.databases import KINDS, empty

from .taking import MO, RING, Taking, call, said, taking, unproved

VITALS = StaticVitals({"cycles_balance": 9_000, "burn_per_hour": 10, "base_wallet": "0x1", "turn_number": 7})
CHARTERS = {"sovereign": {"vitals": VITALS}, "contract": {}, "workspace": {}, "gateway": {}, "assistant": {}}
PROVED = ["stack", "tools", "messages", "request"]


@pytest.mark.requirement("N-01")
@pytest.mark.parametrize("name", CHARTERS)
def test_every_layer_and_the_request_of_every_turn_of_a_chat_are_proved(name: str) -> None:
    there = taking(name, world=CHARTERS[name])
    turns = [there.turn(text) for text in ("Hello", "And then?", "Thanks, that is all.")]
    for kept in turns:
        found = there.replay(kept)
        assert unproved(found) == {}
        assert [proof.what for proof in found.layers] == [entry["id"] for entry in kept.stack]
        assert [proof.what for proof in found.whole] == PROVED
        assert found.proved


@pytest.mark.requirement("N-01")
@pytest.mark.parametrize("dialect", ["openai", "openai-responses", "anthropic", "ollama", "completion"])
def test_the_first_request_is_proved_in_every_format(dialect: str) -> None:
    options = {"temperature": 0, "max_tokens": 77}
    there = taking("assistant", provider={"dialect": dialect, "options": options})
    there.turn("One")
    kept = there.turn("Two")
    assert unproved(there.replay(kept)) == {}
    changed = replace(kept, detail={**kept.detail, "sent": {**kept.detail["sent"], "temperature": 1}})
    assert list(unproved(there.replay(changed))) == ["request"]


@pytest.mark.requirement("N-01")
def test_a_turn_before_an_amendment_is_proved_with_the_text_of_then() -> None:
    there = taking("sovereign")
    before = there.turn("Hello")
    there.amend("inbox", "Answer every sender in one line.")
    after = there.turn("Hello again")
    there.amend("inbox", "Answer nobody.")
    assert [kept.entry("inbox")["version"] for kept in (before, after)] == ["1", "2"]  # type: ignore[index]
    assert [unproved(there.replay(kept)) for kept in (before, after)] == [{}, {}]


@pytest.mark.requirement("N-01")
def test_a_replay_that_reads_the_store_as_it_is_now_does_not_prove_it(monkeypatch: pytest.MonkeyPatch) -> None:
    there = taking("sovereign")
    kept = there.turn("Hello")
    there.amend("inbox", "Answer every sender in one line.")
    monkeypatch.setattr("charter.past.Past.layer", lambda _, agent, layer: there.store.layer(agent, layer))
    assert list(unproved(there.replay(kept))) == ["inbox", "stack", "request"]


@pytest.mark.requirement("N-01", "S4-05")
def test_what_a_turn_changed_itself_is_not_what_it_was_told() -> None:
    there = taking(
        "assistant",
        said("", call("update_instructions", '{"instructions": "Use bullet points."}')), "Done.",
        said("", call("update_instructions", '{"instructions": "Use prose."}')), "Done.",
    )  # fmt: skip
    turns = [there.turn("Bullets, always"), there.turn("No, prose"), there.turn("Which is it?")]
    assert [kept.entry("instructions")["version"] for kept in turns] == ["0", "1", "2"]  # type: ignore[index]
    assert [kept.wrote for kept in turns] == [{"instructions": 1}, {"instructions": 2}, {}]
    assert [unproved(there.replay(kept)) for kept in turns] == [{}, {}, {}]


@pytest.mark.requirement("N-01", "N-10")
def test_notes_are_those_of_then_not_those_since_nor_the_turns_own_nor_without_those_taken_back_since() -> None:
    there = taking("workspace", said("", call("save_memory", '{"text": "Ana likes plans with tea."}')), "Kept.")
    agent, store = there.agent.name, there.store
    for text in ("Ana wants short plans.", "The cat is called Biscuit.", "Plans need a deadline."):
        store.remember(agent, "ana", text, day="2026-01-01", at_ns=there.clock.now)
    first = there.turn("Remember my plans")
    second = there.turn("Make me a plan")
    there.clock.goes_on(1)
    store.remember(agent, "ana", "Plans, plans, plans!", day="2026-01-02", at_ns=there.clock.now)
    store.forget_note(agent, "ana", "1", by=MO, at_ns=there.clock.now)
    assert [len(kept.entry("memory")["pieces"]) for kept in (first, second)] == [2, 3]  # type: ignore[index]
    assert [unproved(there.replay(kept)) for kept in (first, second)] == [{}, {}]


@pytest.mark.requirement("N-01", "S0-14")
def test_the_inbox_and_the_conversations_are_those_of_then() -> None:
    there = taking("sovereign", provider={"model": "scripted-8b"})
    agent, store = there.agent.name, there.store
    store.remember(agent, "", "Porto pays on Mondays.", day="2026-01-01", at_ns=there.clock.now)
    turns = [there.turn("One", channel="inbox")]
    store.stage(agent, InboxMessage("z1", "zoe", "gm", there.clock.now + 1, "inbox"))
    turns.append(there.turn("Two", channel="inbox"))
    turns.append(there.turn("", channel="inbox"))
    turns.append(there.turn("", channel="inbox"))
    turns.append(there.turn("Three", channel="inbox"))
    store.stage(agent, InboxMessage("z2", "zoe", "still there?", there.clock.now + 1, "inbox"))
    assert [kept.record.sender for kept in turns] == ["ana", "ana", "zoe", "", "ana"]
    assert turns[0].record.mode == "compact"
    assert [unproved(there.replay(kept)) for kept in turns] == [{}] * 5


@pytest.mark.requirement("N-01", "S0-13")
def test_a_turn_that_failed_is_proved_with_the_messages_that_wait_again() -> None:
    there = taking("contract", "Fine.", ProviderDown("scripted", "out of reach"))
    there.turn("Hello")
    with pytest.raises(ProviderDown):
        there.turn("And now?")
    failed = read_back(there.store.turns(there.agent.name, 1)[0])
    assert (failed.record.outcome, failed.steps) == ("failed", [])
    assert unproved(there.replay(failed)) == {}
    answered = there.turn("Are you there?")
    assert answered.record.counts["messages"] == 2
    assert [unproved(there.replay(kept)) for kept in (failed, answered)] == [{}, {}]


@pytest.mark.requirement("N-01")
def test_a_turn_that_made_no_prompt_says_so() -> None:
    there = taking("assistant")
    incoming = Incoming(channel="web", sender="ana", text="Hello", id="m1")
    take_turn(there.agent, incoming)
    there.clock.goes_on(1)
    with pytest.raises(CharterError):
        take_turn(there.agent, incoming)
    found = there.replay(read_back(there.store.turns(there.agent.name, 1)[0]))
    assert unproved(found) == {"prompt": "the turn ended before a prompt was made (TURN_ALREADY_ANSWERED)"}


@pytest.mark.requirement("N-01", "S3-09")
def test_tools_written_into_the_prompt_are_proved_and_one_that_is_not_known_is_named() -> None:
    there = taking("assistant", provider={"native_tools": False})
    kept = there.turn("Hello")
    assert kept.detail["native"] is False
    assert unproved(there.replay(kept)) == {}
    there = taking("assistant")
    kept = there.turn("Hello")
    named = replace(kept, detail={**kept.detail, "tools": [*kept.detail["tools"], "weather"]})
    assert unproved(there.replay(named)) == {}
    without = replay(there.store, load("assistant").within(tools=()), named)
    assert without.proved
    gone = replace(load("assistant"), home=replace(load("assistant").home, tools=()))
    found = unproved(replay(there.store, gone, kept))
    assert found["tools"] == f"not known here: {', '.join(kept.detail['tools'])}; give them with --tools FILE"
    assert found["request"] == "not tried: stack, tools not proved"


@pytest.mark.requirement("N-01")
def test_another_charter_than_the_turns_is_refused() -> None:
    there = taking("assistant")
    kept = there.turn("Hello")
    with pytest.raises(BadValue, match="was made with 'assistant'; say where it is with --charter"):
        replay(there.store, load("contract"), kept)


def as_of(there: Taking, kept: Kept, **detail: Any) -> Mapping[str, str]:
    return unproved(there.replay(replace(kept, detail={**kept.detail, **detail})))


@pytest.mark.requirement("N-01")
def test_a_record_that_names_another_time_message_or_mode_is_not_proved() -> None:
    there = taking("assistant")
    there.turn("Hello")
    kept = there.turn("Hello")
    later = replace(kept, record=replace(kept.record, at_ns=kept.record.at_ns + 60 * 10**9))
    assert unproved(there.replay(later))["time"] == "the user's time zone of then is not kept, only the one now"
    rows = [*kept.beside[:-1], ["user", "0" * 32, 2]]
    assert as_of(there, kept, beside=rows)["messages"] == "the message it answered is not kept as it was"
    rows = [["user", "0" * 32, 2], *kept.beside[1:]]
    assert as_of(there, kept, beside=rows)["messages"] == "past message 1 of 2 is not kept as it was"
    other = replace(kept, record=replace(kept.record, channel="telegram"))
    assert unproved(there.replay(other))["channel"] == "channels/web.md has changed since"


def test_nothing_of_a_replay_shows_a_text() -> None:
    there = taking("assistant")
    kept = there.turn("CANARY", sender="ana")
    found = there.replay(kept)
    assert found.text("soul")
    assert "CANARY" not in repr(found)
    assert "You are" not in repr(found)


@pytest.mark.requirement("N-01", "S4-02")
def test_soul_and_identity_are_those_of_then() -> None:
    there = taking("assistant")
    turns = [there.turn("One")]
    there.amend("soul", "You are calm.")
    there.amend("identity", '{"name": "Bea", "description": "a gardener"}')
    turns.append(there.turn("Two"))
    there.amend("soul", "You are loud.")
    there.amend("identity", '{"name": "Cleo"}')
    turns.append(there.turn("Three"))
    assert [kept.entry("soul")["version"] for kept in turns] == [load("assistant").version, "1", "2"]  # type: ignore[index]
    assert [unproved(there.replay(kept)) for kept in turns] == [{}, {}, {}]


@pytest.mark.requirement("N-01")
@pytest.mark.parametrize("kind", KINDS)
def test_a_chat_kept_in_a_database_is_proved_from_it(kind: str, tmp_path: Path) -> None:
    url = empty(kind, tmp_path)
    migrate.upgrade(url)
    with stores.open(url, keys=RING) as store:
        for name in ("sovereign", "workspace"):
            there = taking(name, said("", call("save_memory", '{"text": "Zoe likes tea."}')), "Kept.", store=store)
            there.turn("Remember: Zoe likes tea.", operator=True)
            store.stage(there.agent.name, InboxMessage(f"z-{name}", "zoe", "gm", there.clock.now + 1, "inbox"))
            there.turn("What does Zoe like? Tea?")
    with stores.open(url, keys=RING) as store:
        for kept in map(read_back, newest(store.db)):
            assert unproved(replay(store, taking(kept.record.charter).charter, kept)) == {}
        assert len(newest(store.db)) == 4
