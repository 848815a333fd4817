"""Compact mode: the rules, the limits and the moment whole, every other layer one line; chosen for small models."""

from __future__ import annotations

from typing import Any

import pytest

from charter.core.assemble import Assembly
from charter.core.incoming import Incoming
from charter.core.records import ConversationEntry, InboxMessage
from charter.folder import load
from charter.sources.vitals import StaticVitals
from charter.stores.memory import MemoryStore

JOINER = "\n\n---\n\n"
WHOLE = ("interpretation", "constitution", "operations", "situation")
LINES = ("survival", "identity", "ethics", "decision_loop", "inbox", "memory", "self_modification")
WALLET = "0x11d0000000000000000000000000000000009abc"
LIVE = StaticVitals({"cycles_balance": 4_200_000_000_000, "burn_per_hour": 9_800_000_000, "base_wallet": WALLET,
                     "eth_balance": "0.0183", "turn_number": 42})  # fmt: skip


def told(mode: str = "compact", *, text: str = "", sender: str = "", **world: Any) -> Assembly:
    return load("sovereign", **world).assemble(Incoming(channel="inbox", sender=sender, text=text, at=0), mode=mode)


def texts(assembly: Assembly) -> dict[str, str]:
    return {part.section.layer.id: part.text for part in assembly.parts}


def tokens(text: str) -> int:
    return -(-len(text.encode()) // 4)


@pytest.mark.requirement("S0-08")
def test_layers_0_1_5_and_10_are_whole_and_every_other_is_one_line_in_the_same_order() -> None:
    compact, full = told(given={"skills": [("a", "b")]}), told("full", given={"skills": [("a", "b")]})
    assert list(texts(compact)) == list(texts(full))
    assert {name: texts(compact)[name] for name in WHOLE} == {name: texts(full)[name] for name in WHOLE}
    assert "### Active Skills\n- a: b" in texts(compact)["operations"]
    for name in LINES:
        title = texts(full)[name].partition("\n")[0]
        line = texts(compact)[name]
        assert line.startswith(f"{title} — ")
        assert line.endswith(".")
        assert "\n" not in line
    rows = {row.id: (row.disposition, row.reason) for row in compact.manifest.stack}
    assert {name for name, row in rows.items() if row == ("summary", "one line in this mode")} == set(LINES)
    assert {name for name, row in rows.items() if row == ("whole", "")} == set(WHOLE)


@pytest.mark.requirement("S0-08")
def test_the_soul_stands_in_identitys_line() -> None:
    line = texts(told())["identity"]
    assert texts(told(given={"soul": "Lantern"}))["identity"] == f"{line[:-1]}: Lantern."
    row = next(row for row in told(given={"soul": "Lantern"}).manifest.stack if row.id == "identity")
    assert [piece.origin for piece in row.pieces] == ["operator:soul"]


@pytest.mark.requirement("S0-08")
@pytest.mark.parametrize("soul", ["", "Lantern", "s" * 64])
def test_the_static_part_is_at_most_400_tokens_and_the_whole_at_most_600_with_an_empty_inbox(soul: str) -> None:
    prompt = told(given={"soul": soul}, vitals=LIVE).reveal()
    static, joiner, _ = prompt.rpartition(JOINER)
    assert joiner == JOINER
    assert tokens(static) <= 400
    assert tokens(prompt) <= 600


@pytest.mark.requirement("S0-08")
def test_the_full_mode_would_not_keep_to_those_sizes() -> None:
    prompt = told("full").reveal()
    assert tokens(prompt.rpartition(JOINER)[0]) > 400
    assert tokens(prompt) > 600


@pytest.mark.requirement("S0-08", "S0-14")
@pytest.mark.parametrize(("mode", "shown"), [("full", [2, 3, 4, 5, 6]), ("compact", [5, 6])])
def test_history_is_two_exchanges_per_sender_instead_of_five(mode: str, shown: list[int]) -> None:
    store = MemoryStore()
    for sender in ("adam", "zoe"):
        for number in range(7):
            said = ConversationEntry("m", f"{sender}{number}", f"to {sender}{number}", "t", number)
            store.append_conversation("automaton", sender, said)
    store.stage("automaton", InboxMessage("m", "zoe", "hi"))
    layer = texts(told(mode, text="hi", sender="adam", store=store))["situation"]
    talks = [
        f"\n### Conversation with {name}\n" + "\n".join(f'[{name}]: "{name}{n}"\n[you]: "to {name}{n}"' for n in shown)
        for name in ("adam", "zoe")
    ]
    assert "### Conversation History\n" + "\n".join(talks) + "\n\n### Recent Memory" in layer


# ── an amended layer's line ───────────────────────────────────────────────────────────────────────────────────────


def amended(content: str, versions: int = 1) -> str:
    store = MemoryStore()
    store.seed_layer("automaton", "decision_loop", "Seeded.")
    for _ in range(versions):
        store.put_layer("automaton", "decision_loop", content, by="turn-1")
    return texts(told(store=store))["decision_loop"].removeprefix("## Layer 6: Economic Decision Loop — ")


@pytest.mark.requirement("S0-08")
@pytest.mark.parametrize(
    ("content", "line"),
    [
        ("Sell tide tables first. Then rest.", "Sell tide tables first. (version 2)"),
        ("Rest\n\nand wait! Or not.", "Rest and wait! (version 2)"),
        ("no full stop", "no full stop (version 2)"),
        ("### Own heading\nThen act. More.", "Own heading Then act. (version 2)"),
        ("まず休む。次に働く。", '"まず休む。" (version 2)'),
        ("Say <b>this</b>. Then.", '"Say \\u003cb\\u003ethis\\u003c/b\\u003e." (version 2)'),
    ],
)
def test_an_amended_layers_line_is_its_own_first_sentence_and_version(content: str, line: str) -> None:
    assert amended(content) == line


@pytest.mark.requirement("S0-08")
def test_the_version_in_the_line_is_the_records() -> None:
    assert amended("Rest.", versions=4) == "Rest. (version 5)"


@pytest.mark.requirement("S0-08")
@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("1. Check the balance first.\n2. Then act.", "1. Check the balance first."),
        ("1) Check the balance first. Then act.", "1) Check the balance first."),
    ],
)
def test_the_number_of_a_list_is_not_a_sentence(content: str, sentence: str) -> None:
    assert amended(content) == f"{sentence} (version 2)"


@pytest.mark.requirement("S0-08")
def test_an_amended_line_has_at_most_160_characters_of_the_sentence() -> None:
    assert amended("w" * 4000) == '"' + "w" * 159 + '…" (version 2)'


@pytest.mark.requirement("S0-08")
def test_a_record_that_says_what_the_charter_ships_keeps_the_authors_line() -> None:
    charter = load("sovereign")
    default = charter.home.text("layers/06-decision_loop.md")
    assert texts(told())["decision_loop"].endswith(f" — {amended(default)}")
    assert "(version" not in amended(default)


# ── which mode ────────────────────────────────────────────────────────────────────────────────────────────────────

SMALL = ["llama3.1:8b", "LLAMA-3.1-8B", "qwen2.5-0.5b-instruct", "qwen2.5-coder-1.5b", "llama3.2:1b", "llama3.2:3b",
         "mistral-7b-instruct", "smollm2-135m", "smollm2:360m", "embedded", "embedded:qwen"]  # fmt: skip
OTHERS = ["", "gpt-5", "gpt-4.1-mini", "claude-sonnet-4", "claude-opus-4-1", "o4-mini", "gemini-2.5-pro",
          "llama-3.3-70b", "claude-sonnet-4-5[1m]", "gpt-oss-120b", "qwen2.5:32b", "mistral-large"]  # fmt: skip


def chosen(model: str, **said: Any) -> str:
    charter = load("sovereign")
    return charter.assemble(Incoming(channel="inbox", at=0, model=model), **said).mode


@pytest.mark.requirement("S0-08")
@pytest.mark.parametrize("model", SMALL)
def test_a_small_local_model_gets_the_compact_form(model: str) -> None:
    assert chosen(model) == "compact"


@pytest.mark.requirement("S0-08")
@pytest.mark.parametrize("model", OTHERS)
def test_every_other_model_gets_the_full_form(model: str) -> None:
    assert chosen(model) == "full"


@pytest.mark.requirement("S0-08")
@pytest.mark.parametrize(("model", "mode"), [("qwen3:4b", "compact"), ("gemma-2-2b-it", "compact"),
                                             ("deepseek-r1-671b", "full"), ("nemotron-51b", "full")])  # fmt: skip
def test_a_models_size_is_read_as_a_number(model: str, mode: str) -> None:
    assert chosen(model) == mode


@pytest.mark.requirement("S0-08")
def test_the_operator_can_override_the_choice_either_way() -> None:
    assert chosen("llama3.1:8b", mode="full") == "full"
    assert chosen("gpt-5", mode="compact") == "compact"
    charter = load("sovereign")
    assert charter.assemble(Incoming(at=0, model="llama3.1:8b", mode="full")).mode == "full"
    assert charter.assemble(Incoming(at=0, model="gpt-5", mode="compact")).mode == "compact"
    assert charter.assemble(Incoming(at=0, model="gpt-5", mode="compact"), mode="full").mode == "full"
