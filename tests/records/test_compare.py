"""What changed between two turns is told layer by layer, with who changed it and when."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from charter.amend import Edit, rollback
from charter.compare import Difference, Fact, LayerChange, Written, compare
from charter.core.keyring import KeyRing, key_id
from charter.folder import find, load
from charter.stores.memory import MemoryStore

from .taking import MO, RING, call, said, taking


def changes(found: Difference) -> dict[str, tuple[str, str, str, str, str]]:
    return {one.id: (one.how, one.kind, one.first, one.second, one.why) for one in found.changed}


@pytest.mark.requirement("N-01")
def test_an_amendment_between_two_turns_names_the_layer_the_versions_and_who_wrote_each() -> None:
    there = taking("sovereign", world={"given": {"soul": "Lantern"}})
    first = there.turn("Hello")
    there.amend("inbox", "Answer in one line.")
    one = there.clock.now
    there.amend("inbox", "Answer in two lines.")
    two = there.clock.now
    second = there.turn("Hello")
    there.amend("inbox", "Answer nobody.")
    found = compare(there.store, first, second)
    assert [layer.id for layer in found.changed] == ["inbox", "situation"]
    assert found.changed[0] == LayerChange(
        "7", "inbox", "changed", "stored", "1", "3", (Written(2, "admin:mo", one), Written(3, "admin:mo", two))
    )
    assert changes(found)["situation"] == ("changed", "turn", "1.2.0", "1.2.0", "built each turn")
    assert [layer.how for layer in found.layers].count("same") == 9
    assert found.facts == ()


@pytest.mark.requirement("N-01", "S0-09")
def test_a_layer_the_agent_rewrote_names_the_turn_that_did_and_a_rollback_what_it_brought_back() -> None:
    there = taking(
        "sovereign", said("", call("update_prompt_layer", '{"layer_id": "memory", "content": "Keep less."}')), "Done."
    )
    first = there.turn("Rewrite yourself", operator=True)
    second = there.turn("Hello")
    (layer, _) = compare(there.store, first, second).changed
    assert layer.written == (Written(2, first.record.id, first.record.at_ns),)
    there.clock.goes_on(1)
    edit = Edit("memory", "", 2)
    rollback(there.store, there.charter, edit, to=1, by=MO, at_ns=there.clock.now)
    third = there.turn("Hello")
    (layer, _) = compare(there.store, second, third).changed
    assert layer.written == (Written(3, "admin:mo", third.record.at_ns - 61 * 10**9, restores=1),)
    back_and_forth = compare(there.store, first, third)
    assert [layer.id for layer in back_and_forth.changed] == ["situation"]  # the text is what it was


@pytest.mark.requirement("N-01", "S4-06")
def test_instructions_are_told_with_who_gave_them_and_another_persons_are_not_compared() -> None:
    there = taking("assistant")
    there.amend("instructions", "Use bullets.", user="ana")
    first = there.turn("Hello", seconds=1)
    there.amend("instructions", "Use prose.", user="ana")
    second = there.turn("Hello", seconds=1)
    (layer,) = compare(there.store, first, second).changed
    assert (layer.id, layer.first, layer.second) == ("instructions", "1", "2")
    assert [row.by for row in layer.written] == ["user:ana"]
    back = compare(there.store, second, first).changed[0]
    assert (back.why, [row.version for row in back.written]) == ("back to an older version", [2])
    there.amend("instructions", "Be kind.", user="bob")
    other = there.turn("Hello", sender="bob", user="bob", seconds=1)
    found = compare(there.store, second, other)
    assert changes(found)["instructions"][4] == "another person's, or another agent's"
    assert found.facts == (Fact("sender", "ana", "bob"), Fact("user", "ana", "bob"))


@pytest.mark.requirement("N-01")
def test_a_changed_file_is_named_with_its_version_and_one_without_a_new_version_says_so(tmp_path: Path) -> None:
    folder = shutil.copytree(find("contract"), tmp_path / "mine", ignore=shutil.ignore_patterns("charter.lock"))
    store = MemoryStore(RING)
    first = taking(folder, store=store).turn("Hello")
    role = folder / "prompts/agents/assistant.md"
    role.write_text(role.read_text() + "\nBe brief.\n")
    second = taking(folder, store=store).turn("Hello", seconds=90)
    why = "prompts/agents/assistant.md changed without a new version; see: charter verify"
    found = changes(compare(store, first, second))
    assert found["agent_role"] == ("changed", "file", "1.0.0", "1.0.0", why)
    role.write_text(role.read_text().replace("1.0.0", "1.1.0"))
    third = taking(folder, store=store).turn("Hello", seconds=120)
    found = changes(compare(store, first, third))
    assert found["agent_role"] == ("changed", "file", "1.0.0", "1.1.0", "prompts/agents/assistant.md")
    other = taking(folder, store=store).turn("Hello", seconds=150, channel="telegram", task="summarize")
    found = changes(compare(store, third, other))
    assert found["channel_policy"][4] == "prompts/channels/web.md, then prompts/channels/telegram.md"
    assert found["task_instruction"] == ("only in the second", "file", "", "", "nothing to say")


@pytest.mark.requirement("N-01")
def test_mode_model_and_tools_are_told() -> None:
    store = MemoryStore(RING)
    first = taking("sovereign", store=store).turn("Hello")
    there = taking("sovereign", store=store, provider={"model": "small-3b"}, tools=lambda _: {})
    second = there.turn("Hello", seconds=90)
    found = compare(store, first, second)
    names = ", ".join(first.detail["tools"])
    assert found.facts == (
        Fact("mode", "full", "compact"), Fact("model", "scripted-70b", "small-3b"), Fact("tools", names, "none"),
    )  # fmt: skip
    assert changes(found)["ethics"][4] == "sent whole, then summary: one line in this mode"
    described = replace(second, record=replace(second.record, tools_sha256="a" * 64))
    assert compare(store, second, described).facts == (Fact("tool schemas", "", "a" * 12),)


@pytest.mark.requirement("N-01")
def test_a_text_that_a_program_handed_in_and_a_key_that_was_rotated_are_told() -> None:
    store = MemoryStore(RING)
    first = taking("assistant", store=store, world={"given": {"soul": "Warm."}}).turn("Hello")
    second = taking("assistant", store=store, world={"given": {"soul": "Cold."}}).turn("Hello", seconds=62)
    found = compare(store, first, second)
    version = load("assistant").version
    assert changes(found) == {"soul": ("changed", "given", version, version, "handed in by a program")}
    newer = b"n" * 32
    third = taking("assistant", store=MemoryStore(KeyRing(((key_id(newer), newer),))), key=newer).turn("Hello")
    assert Fact("key", first.detail["key"], key_id(newer)) in compare(store, first, third).facts
    assert (compare(store, first, first).changed, compare(store, first, first).facts) == ((), ())
