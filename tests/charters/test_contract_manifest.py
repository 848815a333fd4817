"""The manifest: meets the design's JSON Schema, and every hash in it can be made again by hand."""

from __future__ import annotations

import hashlib
import hmac
import json
from dataclasses import replace
from importlib.resources import files
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from charter.core.assemble import Assembly
from charter.core.incoming import Incoming
from charter.core.ports import ToolSpec
from charter.core.records import ConversationEntry
from charter.demo import demo
from charter.folder import BUILT_IN, Charter, load
from charter.stores.memory import MemoryStore
from charter.tokens import counter

SCHEMAS = {
    name: Draft202012Validator(json.loads((files("charter") / "schema" / f"{name}.json").read_text()))
    for name in ("manifest", "manifest-contract")
}
DESIGN = {"layer": "string", "id": "string", "file": "string", "sha256": "string", "bytes": "integer",
          "tokens_est": "integer", "source": "string"}  # fmt: skip
NOW = Incoming(channel="web", sender="ana", text="hello", at=0, task="triage")
KEY = b"an installation's key"


def told(assembly: Assembly) -> dict[str, Any]:
    """The manifest as it would be stored and read again."""
    kept: dict[str, Any] = json.loads(json.dumps(assembly.manifest.to_dict()))
    return kept


def problems(schema: str, manifest: dict[str, Any]) -> list[str]:
    return [error.message for error in SCHEMAS[schema].iter_errors(manifest)]


# ── schemas (S1-04) ───────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.requirement("S1-04")
def test_the_shipped_schema_of_the_contract_is_the_designs() -> None:
    schema = SCHEMAS["manifest-contract"].schema
    for validator in SCHEMAS.values():
        Draft202012Validator.check_schema(validator.schema)
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert (schema["title"], schema["required"]) == ("PromptManifest", ["version", "stack"])
    stack = schema["properties"]["stack"]
    assert (stack["minItems"], stack["items"]["required"]) == (5, ["layer", "id", "file", "sha256"])
    rows = stack["items"]["properties"]
    assert {name: row["type"] for name, row in rows.items()} == DESIGN
    assert rows["layer"]["enum"] == ["L1", "L2", "L3", "L4", "L5", "L6"]
    assert rows["source"]["enum"] == ["file", "inline", "user"]
    assert rows["sha256"]["pattern"] == schema["properties"]["stack_sha256"]["pattern"] == "^[a-f0-9]{64}$"
    assert rows["bytes"]["minimum"] == rows["tokens_est"]["minimum"] == 0


@pytest.mark.requirement("S1-04")
@pytest.mark.parametrize("task", ["", "triage"])
@pytest.mark.parametrize("key", [None, KEY])
def test_a_contract_manifest_meets_both_schemas(task: str, key: bytes | None) -> None:
    manifest = told(replace(load("contract"), key=key).assemble(replace(NOW, task=task)))
    assert problems("manifest-contract", manifest) == []
    assert problems("manifest", manifest) == []


VIEWS = [(name, mode) for name in BUILT_IN for mode in load(name).stack.modes]


@pytest.mark.requirement("S1-04", "N-01")
@pytest.mark.parametrize(("name", "mode"), VIEWS)
def test_the_manifest_of_every_charter_in_every_mode_meets_the_superset(name: str, mode: str) -> None:
    charter, incoming = demo(name)
    for there in (charter, load(name)):
        assembly = there.assemble(incoming, mode=mode)
        manifest = told(assembly)
        assert problems("manifest", manifest) == []
        assert (manifest["charter"], manifest["mode"], manifest["version"]) == (name, mode, charter.version)
        assert [row["id"] for row in manifest["stack"]] == [part.section.layer.id for part in assembly.parts]
        shown = {row["id"] for row in manifest["stack"] + manifest["left_out"]}
        assert shown == {layer.id for layer in charter.stack.layers}


@pytest.mark.requirement("S1-04")
@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("stack", 0, "layer"), "L7"),
        (("stack", 0, "sha256"), "ABC"),
        (("stack", 0, "bytes"), -1),
        (("stack", 5, "source"), "web"),
        (("stack_sha256",), "0" * 63),
        (("stack",), []),
    ],
)
def test_a_manifest_that_lies_about_its_form_would_not_pass(path: tuple[Any, ...], value: object) -> None:
    manifest = told(load("contract").assemble(NOW))
    inner: Any = manifest
    for step in path[:-1]:
        inner = inner[step]
    inner[path[-1]] = value
    assert problems("manifest-contract", manifest) != []


# ── what it says ──────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.requirement("S1-04")
def test_file_and_source_say_where_each_layer_came_from() -> None:
    rows = told(load("contract").assemble(NOW))["stack"]
    assert [row["file"] for row in rows] == [
        "prompts/base/base_system.md",
        "prompts/agents/assistant.md",
        "prompts/channels/web.md",
        "prompts/tools/default.md",
        "prompts/tasks/triage.md",
        "user_input",
    ]
    assert [row["source"] for row in rows] == ["file"] * 5 + ["user"]


@pytest.mark.requirement("S1-04", "S1-05")
@pytest.mark.parametrize(("name", "mode"), VIEWS)
def test_each_hash_covers_the_sections_bytes_as_sent_and_the_stack_hash_covers_the_lines(name: str, mode: str) -> None:
    charter, incoming = demo(name)
    assembly = charter.assemble(incoming, mode=mode)
    manifest, parts = told(assembly), [part.text.encode() for part in assembly.parts]
    assert assembly.reveal().encode() == charter.stack.joiner.encode().join(parts)
    rows = manifest["stack"]
    assert [row["sha256"] for row in rows] == [hashlib.sha256(data).hexdigest() for data in parts]
    assert [row["bytes"] for row in rows] == [len(data) for data in parts]
    assert [row["tokens_est"] for row in rows] == [-(-len(data) // 4) for data in parts]
    assert manifest["bytes"] == len(assembly.reveal().encode())
    lines = "".join(f"{row['layer']}:{row['id']}:{row['sha256']}\n" for row in rows)
    assert manifest["stack_sha256"] == hashlib.sha256(lines.encode()).hexdigest() == assembly.stack_sha256


@pytest.mark.requirement("S1-05")
def test_order_a_missing_layer_and_a_swapped_text_each_give_another_stack_hash() -> None:
    charter = load("contract")
    seen = {
        charter.assemble(replace(NOW, task=task, agent=agent, text=text)).stack_sha256
        for task in ("", "triage")
        for agent in ("assistant", "support")
        for text in ("hello", "hello ", "Hello")
    }
    assert len(seen) == 12
    assert charter.assemble(replace(NOW, at=99, sender="bob")).stack_sha256 == charter.assemble(NOW).stack_sha256


def hidden_text(charter: Charter, incoming: Incoming) -> dict[str, str]:
    return {part.section.layer.label: part.text for part in charter.assemble(incoming).parts}


@pytest.mark.requirement("S1-04", "N-01")
def test_with_a_key_the_users_layer_is_keyed_and_no_other() -> None:
    plain, keyed = load("contract"), replace(load("contract"), key=KEY)
    before, after = told(plain.assemble(NOW)), told(keyed.assemble(NOW))
    assert [row["sha256"] for row in after["stack"][:5]] == [row["sha256"] for row in before["stack"][:5]]
    assert after["stack"][5]["sha256"] == hmac.new(KEY, b"> hello", hashlib.sha256).hexdigest()
    assert after["stack"][5]["pieces"][0]["sha256"] == hmac.new(KEY, b"hello", hashlib.sha256).hexdigest()
    assert before["stack"][5]["sha256"] == hashlib.sha256(b"> hello").hexdigest()
    assert before["notes"] == ["tokens: ceil(utf8 bytes / 4)"]
    assert after["notes"] == ["tokens: ceil(utf8 bytes / 4)", "hmac-sha256: L6"]
    lines = "".join(f"{row['layer']}:{row['id']}:{row['sha256']}\n" for row in after["stack"])
    assert after["stack_sha256"] == hashlib.sha256(lines.encode()).hexdigest() != before["stack_sha256"]
    assert hidden_text(plain, NOW) == hidden_text(keyed, NOW)
    assert repr(KEY)[2:-1] not in repr(keyed)


@pytest.mark.requirement("N-01")
def test_with_a_key_sovereigns_layer_10_and_every_persons_text_in_it_is_keyed() -> None:
    store = MemoryStore()
    store.append_conversation("automaton", "ana", ConversationEntry("m", "four", "five", "t", 1))
    charter = replace(load("sovereign", store=store), key=KEY)
    manifest = told(charter.assemble(replace(NOW, task="", text="six")))
    assert manifest["notes"][1:] == ["hmac-sha256: 10"]
    pieces = {piece["sha256"] for piece in manifest["stack"][10]["pieces"]}
    for text in (b"four", b"five", b"six"):
        assert hmac.new(KEY, text, hashlib.sha256).hexdigest() in pieces
        assert hashlib.sha256(text).hexdigest() not in pieces


@pytest.mark.requirement("S1-04", "N-05")
def test_the_notes_name_the_counter_and_the_counts_are_its() -> None:
    exact = counter("o200k_base")
    assembly = replace(load("contract"), counter=exact).assemble(NOW)
    assert told(assembly)["notes"] == ["tokens: o200k_base"]
    assert [row.tokens_est for row in assembly.manifest.stack] == [exact(part.text.encode()) for part in assembly.parts]
    assert assembly.stack_sha256 == load("contract").assemble(NOW).stack_sha256


@pytest.mark.requirement("N-01", "N-05")
def test_tool_schemas_are_hashed_and_counted_in_canonical_json() -> None:
    tools = (ToolSpec("look", "Zoë", {"z": 1, "a": [2]}), ToolSpec("rest"))
    manifest = told(load("contract", tools=tools).assemble(NOW))
    canonical = (
        '[{"description":"Zoë","name":"look","parameters":{"a":[2],"z":1}},'
        '{"description":"","name":"rest","parameters":{"properties":{},"type":"object"}}]'
    ).encode()
    expected = {"sha256": hashlib.sha256(canonical).hexdigest(), "tokens_est": -(-len(canonical) // 4)}
    assert manifest["tools"] == expected
    joints = len(manifest["stack"]) - 1
    assert (
        manifest["tokens_est"] == sum(row["tokens_est"] for row in manifest["stack"]) + joints + expected["tokens_est"]
    )
    assert told(load("contract").assemble(NOW))["tools"] is None
