"""What is kept of a turn: enough to prove and compare it, and no word of anybody."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from charter.core.errors import StoreDamaged
from charter.core.keyring import key_id
from charter.kept import read_back
from charter.testing import ScriptedProvider

from .taking import KEY, call, said, taking


@pytest.mark.requirement("N-01", "S1-07")
def test_a_record_holds_no_word_of_message_reply_tool_or_layer() -> None:
    there = taking(
        "assistant", said("CANARY-thought", call("save_memory", '{"text": "CANARY-note"}')), "CANARY-reply",
        provider={"options": {"temperature": 0}},
    )  # fmt: skip
    there.amend("instructions", "Sign with CANARY-instructions.", user="ana")
    there.turn("CANARY-message")
    kept = there.turn("CANARY-again", task="summarize", session="s1")
    assert "CANARY" not in kept.record.manifest + kept.record.detail
    assert "CANARY" not in repr(kept)
    provider = there.agent.provider
    assert isinstance(provider, ScriptedProvider)
    assert "CANARY-again" in json.dumps(provider.payloads[-1])
    assert kept.detail["sent"] == {"model": "scripted-70b", "stream": True, "temperature": 0}


@pytest.mark.requirement("N-01")
@pytest.mark.parametrize("dialect", ["openai", "openai-responses", "anthropic", "ollama", "completion"])
def test_of_a_request_only_what_is_nobodys_word_is_kept(dialect: str) -> None:
    there = taking("contract", provider={"dialect": dialect, "options": {"seed": 7}})
    there.turn("CANARY one")
    kept = there.turn("CANARY two")
    assert set(kept.detail["sent"]) <= {"model", "stream", "seed", "max_tokens"}
    assert "CANARY" not in kept.record.detail


@pytest.mark.requirement("N-01", "N-06")
def test_the_detail_says_what_a_replay_and_a_comparison_need() -> None:
    there = taking(
        "assistant", said("", call("save_memory", '{"text": "Tea."}'), call("update_instructions",
        '{"instructions": "Be brief."}', 2)), "Kept.",
    )  # fmt: skip
    kept = there.turn("Remember tea, and be brief")
    detail = kept.detail
    assert detail["key"] == key_id(KEY)
    assert detail["tools"] == [spec.name for spec in there.charter.world.tools or ()]
    assert detail["wrote"] == {"layers": {"instructions": 1}, "notes": 1, "proposals": 0}
    assert (detail["started_ns"], kept.read_ns) == (there.clock.now, there.clock.now)
    assert (detail["native"], detail["user_layer"]) == (True, False)
    assert [row[0] for row in detail["beside"]] == ["user", "assistant", "tool", "tool"]
    assert [(step["before"], step["after"]) for step in kept.steps] == [(0, 0), (0, 3)]
    following = there.turn("And?")
    assert following.beside[1] == detail["reply"]
    assert following.beside[0] == detail["beside"][0]


@pytest.mark.requirement("N-01", "S0-13")
def test_a_failed_turn_has_neither_a_reply_nor_anything_written() -> None:
    there = taking("assistant", said("", call("save_memory", '{"text": "Tea."}')), RuntimeError("gone"))
    with pytest.raises(RuntimeError):
        there.turn("Remember tea")
    kept = read_back(there.store.turns(there.agent.name, 1)[0])
    assert (kept.detail["reply"], kept.detail["wrote"]) == (None, {})
    assert len(kept.steps) == 1


@pytest.mark.requirement("N-01")
def test_the_users_layer_is_the_message_among_the_messages_and_not_among_the_systems_layers() -> None:
    there = taking("contract")
    first, second = there.turn("Hello"), there.turn("Again")
    assert second.detail["user_layer"]
    assert [entry["id"] for entry in second.system] == [entry["id"] for entry in second.stack][:-1]
    assert second.beside[0] == first.beside[0]
    assert len(second.beside) == 3


@pytest.mark.requirement("N-01")
def test_the_bytes_between_layers_are_told_from_the_totals() -> None:
    there = taking("sovereign")
    kept = there.turn("Hello")
    joiner = there.charter.stack.joiner.encode()
    assert kept.joint == (len(joiner), there.charter.counter(joiner))
    alone = replace(kept, manifest={**kept.manifest, "stack": kept.stack[:1]})
    assert alone.joint == (0, 0)


@pytest.mark.requirement("N-01")
@pytest.mark.parametrize(("manifest", "detail"), [("not JSON", "{}"), ("[]", "{}"), ("{}", "3")])
def test_a_record_that_cannot_be_read_says_what_to_do(manifest: str, detail: str) -> None:
    kept = taking("assistant").turn("Hello")
    with pytest.raises(StoreDamaged, match=f"the record of turn {kept.record.id} cannot be read; look at it with: "):
        read_back(replace(kept.record, manifest=manifest, detail=detail))
