"""A manifest says everything about a prompt but its words."""

from __future__ import annotations

import json

import pytest

from charter.core.assemble import ESTIMATE, About, Section, Settings, assemble
from charter.core.layer import Layer, Mode, Owner, Role, Stack
from charter.core.manifest import content_hash, layer_hash, text_hash
from charter.core.ports import ToolSpec
from charter.core.text import Piece, Trust
from charter.templates import Compiled

pytestmark = pytest.mark.requirement("S1-04", "N-01")

TEXT = Compiled("{% if text %}{{ text }}{% endif %}", "text.md")
NEVER_LIE = Compiled("Never lie.", "base.md")
BASE = Layer("base", "L1", NEVER_LIE, "## Base", Owner.SEALED, required=True, accepts=Trust.OPERATOR)
TASK = Layer("task", "L5", TEXT)
SAID = Layer("said", "L6", TEXT, role=Role.USER, owner=Owner.TURN, required=True)
STACK = Stack((BASE, TASK, SAID), {"full": Mode("full", frozenset({"base", "task", "said"}))})


class Words:
    """Counts words, to show that the counter is the one that was configured."""

    name = "words"

    def __call__(self, data: bytes) -> int:
        return len(data.split())


def test_a_manifest_as_a_dictionary_has_every_field_and_no_word_of_the_prompt() -> None:
    sections = [
        Section(BASE, {}, about=About("base.md", "file", version="1.2.0")),
        Section(TASK, {"text": None}),
        Section(SAID, {"text": Piece("Zoë asks.", "message")}, about=About("user_input", "user", "web")),
    ]
    settings = Settings(charter="small", version="1.2.0", key=b"a key of this house")
    tools = (ToolSpec("send", "Sends a letter."),)
    found = assemble(STACK, sections, mode="full", settings=settings, tools=tools).manifest.to_dict()
    assert json.loads(json.dumps(found)) == {
        "version": "1.2.0",
        "charter": "small",
        "mode": "full",
        "stack": [
            {
                "layer": "L1",
                "id": "base",
                "file": "base.md",
                "sha256": "9bb337e8e012c2b1ab98ab9f2a0fe6d884c7729ba238ab012e81b760faba5fca",
                "bytes": 19,
                "tokens_est": 5,
                "source": "file",
                "version": "1.2.0",
                "owner": "sealed",
                "origin": "base.md",
                "disposition": "whole",
                "reason": "",
                "pieces": [],
            },
            {
                "layer": "L6",
                "id": "said",
                "file": "user_input",
                "sha256": "e534db7344ff3fdb8c2de882a7382cdedf8cad5fce7e9e261baf1f5725364a99",
                "bytes": 10,
                "tokens_est": 3,
                "source": "user",
                "version": "",
                "owner": "turn",
                "origin": "web",
                "disposition": "whole",
                "reason": "",
                "pieces": [
                    {
                        "origin": "message",
                        "sha256": "e534db7344ff3fdb8c2de882a7382cdedf8cad5fce7e9e261baf1f5725364a99",
                    }
                ],
            },
        ],
        "left_out": [{"layer": "L5", "id": "task", "disposition": "dropped", "reason": "nothing to say"}],
        "stack_sha256": "a96c925bf0322a8679c1c84edd0bd3eb9c62fa4d609c952589416b5f5f316dcc",
        "tools": {
            "sha256": "9b0874991ad94f9614216832c4f7e1d33e43368c39e59c72f631996e54ad4aef",
            "tokens_est": 24,
        },
        "bytes": 31,
        "tokens_est": 33,
        "notes": ["tokens: ceil(utf8 bytes / 4)", "hmac-sha256: L6"],
    }


def test_without_tools_and_key_a_manifest_says_so() -> None:
    sections = [Section(BASE, {}), Section(SAID, {"text": "Zoë"})]
    found = assemble(STACK, sections, mode="full", settings=Settings()).manifest.to_dict()
    assert found["tools"] is None
    assert found["notes"] == ["tokens: ceil(utf8 bytes / 4)"]
    assert [entry["file"] for entry in found["stack"]] == ["inline", "inline"]
    assert [entry["origin"] for entry in found["stack"]] == ["inline", "inline"]
    assert found["tokens_est"] == 5 + 1 + 1  # the joiner is sent and paid for too


def test_every_layer_with_a_keyed_hash_is_named_in_the_notes() -> None:
    sections = [Section(BASE, {}), Section(TASK, {"text": "Zoë"}), Section(SAID, {"text": "Zoë"})]
    manifest = assemble(STACK, sections, mode="full", settings=Settings(key=b"a key of this house")).manifest
    assert manifest.notes == ("tokens: ceil(utf8 bytes / 4)", "hmac-sha256: L5, L6")


@pytest.mark.parametrize("text", ["one two three", Compiled("one {{ two }} three", "quick.md")])
def test_a_configured_counter_counts_every_layer(text: str | Compiled) -> None:
    template = Compiled(text, "fixed.md") if isinstance(text, str) else text
    layer = Layer("base", "L1", template, required=True)
    stack = Stack((layer,), {"full": Mode("full", frozenset({"base"}))})
    for counter, tokens in ((Words(), 3), (ESTIMATE, 4)):
        settings = Settings(counter=counter)
        manifest = assemble(stack, [Section(layer, {"two": "two"})], mode="full", settings=settings).manifest
        assert manifest.tokens_est == tokens


def test_tokens_are_counted_by_the_configured_counter_and_the_notes_name_it() -> None:
    sections = [Section(BASE, {}), Section(SAID, {"text": "one two three"})]
    manifest = assemble(STACK, sections, mode="full", settings=Settings(counter=Words())).manifest
    assert [entry.tokens_est for entry in manifest.stack] == [4, 3]
    assert manifest.tokens_est == 7
    assert manifest.notes == ("tokens: words",)


@pytest.mark.parametrize(("data", "tokens"), [(b"", 0), (b"a", 1), (b"abcd", 1), (b"abcde", 2), ("éé".encode(), 1)])
def test_the_estimate_is_a_quarter_of_the_bytes_rounded_up(data: bytes, tokens: int) -> None:
    assert ESTIMATE(data) == tokens


def test_lone_surrogates_in_a_piece_can_still_be_hashed() -> None:
    sections = [Section(BASE, {}), Section(SAID, {"text": Piece("\ud800", "message")})]
    manifest = assemble(STACK, sections, mode="full", settings=Settings()).manifest
    # printf '\xed\xa0\x80' | sha256sum
    assert manifest.stack[1].pieces[0].sha256 == "91a681b998555fb475479817b126c94e57e52011fa1842c5d188795a4a05226b"


def test_two_assemblies_of_the_same_sections_are_one_in_every_byte_and_hash() -> None:
    def build() -> tuple[str, dict[str, object]]:
        sections = [Section(BASE, {}), Section(SAID, {"text": "Zoë"})]
        assembly = assemble(STACK, sections, mode="full", settings=Settings())
        return assembly.reveal(), assembly.manifest.to_dict()

    assert build() == build()


@pytest.mark.parametrize("size", [1, 1024, 1025])
def test_a_text_that_comes_again_has_the_hash_it_had_under_the_same_key(size: int) -> None:
    text = "é" * size
    for _ in range(2):
        assert text_hash(text, None) == content_hash(text.encode(), None)
        assert text_hash(text, b"k") == content_hash(text.encode(), b"k")
    assert layer_hash(text.encode() * 10) == content_hash(text.encode() * 10, None)
