"""What cannot be proved any more is named, with why; nothing else is, and no text is told."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from charter.core.keyring import KeyRing, key_id
from charter.folder import find, load
from charter.replay import replay
from charter.sources.vitals import StaticVitals
from charter.stores.memory import MemoryStore
from charter.stores.people import forget
from charter.stores.prune import prune
from charter.verify import lock

from .taking import KEY, MO, RING, taking, unproved

LAYERS = {"stack", "request"}  # what is made of the layers: not proved when one of them is not


def layers_of(found: dict[str, str]) -> dict[str, str]:
    assert set(found) >= LAYERS
    return {name: why for name, why in found.items() if name not in LAYERS}


@pytest.mark.requirement("N-01", "N-20")
def test_an_erased_text_names_its_layer_and_version() -> None:
    there = taking("sovereign")
    there.amend("inbox", "Answer every sender in one line. " * 30)
    kept = there.turn("Hello")
    with there.store.db.writing() as run:
        run("UPDATE layer_versions SET content = NULL WHERE layer_id = 'inbox' AND version = 2")
    assert layers_of(unproved(there.replay(kept))) == {"inbox": "the text of version 2 was erased"}


@pytest.mark.requirement("N-01", "N-03")
def test_a_text_that_was_tampered_with_names_its_layer_and_version() -> None:
    there = taking("sovereign")
    there.amend("inbox", "Answer every sender in one line.")
    kept = there.turn("Hello")
    with there.store.db.writing() as run:
        run("UPDATE layer_versions SET content = 'Obey everyone.' WHERE layer_id = 'inbox' AND version = 2")
    told = layers_of(unproved(there.replay(kept)))
    assert told == {"inbox": "the text of version 2 was tampered with; see: charter db verify"}


@pytest.mark.requirement("N-01", "N-03")
def test_without_the_look_at_its_history_a_tampered_text_is_still_not_proved(monkeypatch: pytest.MonkeyPatch) -> None:
    there = taking("sovereign")
    there.amend("inbox", "Answer every sender in one line.")
    kept = there.turn("Hello")
    with there.store.db.writing() as run:
        run("UPDATE layer_versions SET content = 'Obey everyone.' WHERE layer_id = 'inbox' AND version = 2")
    monkeypatch.setattr("charter.past.Past._prove", lambda *_: None)
    assert layers_of(unproved(there.replay(kept))) == {"inbox": "the stored text is not the one of then"}


@pytest.mark.requirement("N-01")
def test_a_version_that_is_not_in_the_store_is_named() -> None:
    there = taking("sovereign")
    there.amend("memory", "Keep little.")
    kept = there.turn("Hello")
    with there.store.db.writing() as run:
        run("DELETE FROM layer_versions WHERE layer_id = 'memory'")
    assert layers_of(unproved(there.replay(kept))) == {"memory": "version 2 is not in this store"}


@pytest.mark.requirement("N-01", "N-02")
def test_a_file_that_changed_names_its_layer_and_a_new_version_of_the_charter_says_so(tmp_path: Path) -> None:
    folder = shutil.copytree(find("contract"), tmp_path / "mine", ignore=shutil.ignore_patterns("charter.lock"))
    there = taking(folder)
    kept = there.turn("Hello")
    role = folder / "prompts/agents/assistant.md"
    role.write_text(role.read_text() + "\nBe brief.\n")
    told = unproved(replay(there.store, load(folder, tools=there.charter.world.tools), kept))
    assert layers_of(told) == {"agent_role": "prompts/agents/assistant.md has changed since"}
    config = folder / "charter.toml"
    config.write_text(config.read_text().replace('title = "## Base"', 'title = "## The base"'))
    told = unproved(replay(there.store, load(folder, tools=there.charter.world.tools), kept))
    same = "prompts/base/base_system.md: the charter is at 1.1.0 as it was then, with another text"
    assert layers_of(told)["base_system"] == same
    config.write_text(config.read_text().replace('version = "1.1.0"', 'version = "1.2.0"'))
    lock(str(folder))
    told = unproved(replay(there.store, load(folder, tools=there.charter.world.tools), kept))
    assert layers_of(told)["base_system"].endswith("the charter was at 1.1.0 then and is at 1.2.0")


@pytest.mark.requirement("N-01")
def test_a_sealed_layer_of_another_version_names_its_file(tmp_path: Path) -> None:
    folder = shutil.copytree(find("sovereign"), tmp_path / "mine", ignore=shutil.ignore_patterns("charter.lock"))
    there = taking(folder)
    kept = there.turn("Hello")
    (folder / "layers/04-ethics.md").write_text("Be fair.\n")
    (folder / "charter.toml").write_text((folder / "charter.toml").read_text().replace("1.2.0", "2.0.0"))
    told = unproved(replay(there.store, load(folder, tools=there.charter.world.tools), kept))
    assert layers_of(told) == {"ethics": "layers/04-ethics.md: the charter was at 1.2.0 then and is at 2.0.0"}


@pytest.mark.requirement("N-01", "S0-19")
def test_vitals_that_moved_on_are_what_the_situation_cannot_be_proved_for() -> None:
    there = taking("sovereign", world={"vitals": StaticVitals({"cycles_balance": 9, "burn_per_hour": 1})})
    kept = there.turn("Hello")
    now = StaticVitals({"cycles_balance": 8, "burn_per_hour": 1})
    told = layers_of(unproved(there.replay(kept, vitals=now)))
    assert list(told) == ["situation"]
    assert told["situation"].startswith("the vitals of then are not kept; give them with --vitals; or ")


@pytest.mark.requirement("N-01", "N-18", "N-20")
def test_messages_that_were_pruned_are_counted_and_the_layers_beside_them_stay_proved() -> None:
    there = taking("contract")
    there.turn("A first message " * 40)
    kept = there.turn("And a second one")
    assert unproved(there.replay(kept)) == {}
    prune(there.store.db, inbox_before_ns=there.clock.now + 1, at_ns=there.clock.now + 1)
    told = unproved(there.replay(kept))
    assert layers_of(told) == {
        "user_input": "1 of 1 messages it answered are not kept any more",
        "messages": "1 of 1 messages it answered are not kept any more",
    }
    assert told["request"] == "not tried: stack, messages not proved"


@pytest.mark.requirement("N-01", "N-20")
def test_a_person_who_was_forgotten_takes_their_texts_along_and_the_rest_is_still_proved() -> None:
    there = taking("assistant")
    there.amend("instructions", "Call me Ana.", user="ana")
    kept = there.turn("Hello")
    forget(there.store.db, "ana", by=MO, at_ns=there.clock.now)
    found = there.replay(there.kept(kept.record.id))
    assert layers_of(unproved(found)) == {
        "instructions": "it was erased with the person it belonged to",
        "messages": "1 of 1 messages it answered are not kept any more; who sent them was forgotten",
    }


@pytest.mark.requirement("N-01", "S0-12")
def test_exchanges_that_left_the_log_are_what_the_situation_cannot_be_proved_for() -> None:
    there = taking("sovereign")
    there.turn("Hello 0")
    kept = there.turn("Hello 1")
    for number in range(2, 24):
        there.turn(f"Hello {number}")
    told = layers_of(unproved(there.replay(kept)))
    assert told == {
        "situation": "what was said before is not kept as it was: a log has the last 20 exchanges, in short"
    }


@pytest.mark.requirement("N-01")
def test_an_older_key_on_the_ring_still_proves_and_a_lost_key_names_the_keyed_layers_alone() -> None:
    there = taking("assistant")
    kept = there.turn("Hello")
    newer = b"n" * 32
    there.store.db.keys = KeyRing((*RING.keys, (key_id(newer), newer)))  # type: ignore[misc]
    assert unproved(there.replay(kept)) == {}
    there.store.db.keys = KeyRing(((key_id(newer), newer),))  # type: ignore[misc]
    told = layers_of(unproved(there.replay(kept)))
    assert set(told) == {"identity", "channel", "time", "tools", "messages"}
    lost = f"its hash was made with the key {key_id(KEY)}, which is not on this installation's ring"
    assert set(told.values()) == {lost}


@pytest.mark.requirement("N-01")
def test_an_installation_without_a_key_proves_with_plain_hashes() -> None:
    there = taking("assistant", store=MemoryStore())
    there.agent = replace(there.agent, charter=load("assistant"))
    kept = there.turn("Hello")
    assert (kept.detail["key"], kept.keyed) == ("", frozenset())
    assert unproved(there.replay(kept)) == {}


@pytest.mark.requirement("N-01")
def test_a_layer_that_was_not_sent_then_and_one_that_is_not_sent_now_are_both_named() -> None:
    there = taking("workspace")
    kept = there.turn("Tell me of tea")
    there.store.remember(there.agent.name, "ana", "Ana likes tea.", day="2026-01-01", at_ns=0)
    assert layers_of(unproved(there.replay(kept))) == {"memory": "it was not sent then, and would be now"}
    later = there.turn("Tell me of tea")
    with there.store.db.writing() as run:
        run("DELETE FROM agent_long_term_memory")
    told = layers_of(unproved(there.replay(later)))
    assert told["memory"].startswith("it is not in this prompt when it is built now; ")


@pytest.mark.requirement("N-01")
def test_a_prompt_that_cannot_be_built_here_says_why_of_every_layer(tmp_path: Path) -> None:
    there = taking("workspace")
    kept = there.turn("Hello")
    told = unproved(there.replay(kept, workspace=tmp_path))
    assert set(told) == {entry["id"] for entry in kept.stack}
    assert set(told.values()) == {"it cannot be built here: unknown agent 'main'"}


@pytest.mark.requirement("N-01", "S4-02")
def test_an_erased_soul_and_a_tampered_identity_are_named() -> None:
    there = taking("assistant")
    there.amend("soul", "You are calm.")
    there.amend("identity", '{"name": "Bea"}')
    kept = there.turn("Hello")
    with there.store.db.writing() as run:
        run("UPDATE layer_versions SET content = NULL WHERE layer_id = 'soul'")
        run("""UPDATE layer_versions SET content = '{"name": "Eve"}' WHERE layer_id = 'identity'""")
    assert layers_of(unproved(there.replay(kept))) == {
        "soul": "the text of version 1 was erased",
        "identity": "the text of version 1 was tampered with; see: charter db verify",
    }
    with there.store.db.writing() as run:
        run("UPDATE layer_versions SET content = NULL WHERE layer_id = 'identity'")
        run("DELETE FROM layer_versions WHERE layer_id = 'soul'")
    assert layers_of(unproved(there.replay(kept))) == {
        "soul": "version 1 is not in this store",
        "identity": "the text of version 1 was erased",
    }


@pytest.mark.requirement("N-01")
def test_tools_that_are_described_in_another_way_are_told_apart_from_unknown_ones() -> None:
    there = taking("sovereign")
    kept = there.turn("Hello")
    charter = there.charter
    others = [replace(spec, description="Something else.") for spec in charter.world.tools or ()]
    told = unproved(replay(there.store, charter.within(tools=others), kept))
    again = "the tools are described in another way now; give them as they were with --tools FILE"
    assert told == {"tools": again, "request": "not tried: tools not proved"}


@pytest.mark.requirement("N-01", "N-18")
def test_past_messages_that_left_the_log_are_counted() -> None:
    there = taking("contract")
    there.turn("Hello 0")
    kept = there.turn("Hello 1")
    for number in range(2, 23):
        there.turn(f"Hello {number}")
    assert unproved(there.replay(kept)) == {
        "messages": "2 of 2 past messages are not kept any more",
        "request": "not tried: messages not proved",
    }


@pytest.mark.requirement("N-01")
def test_a_layer_that_gave_way_then_and_would_not_now_says_so(tmp_path: Path) -> None:
    folder = shutil.copytree(find("sovereign"), tmp_path / "mine", ignore=shutil.ignore_patterns("charter.lock"))
    config = folder / "charter.toml"
    roomy = config.read_text()
    config.write_text(roomy.replace("max_chars = 8000", "max_chars = 4100"))
    there = taking(folder)
    kept = there.turn("Hello")
    assert kept.entry("self_modification")["disposition"] == "summary"  # type: ignore[index]
    config.write_text(roomy)
    told = unproved(replay(there.store, load(folder, tools=there.charter.world.tools), kept))
    assert layers_of(told)["self_modification"] == (
        "it was sent summary and would be whole now: the prompt has another size"
    )
