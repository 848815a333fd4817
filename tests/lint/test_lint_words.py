"""N-12: rules about wording."""

from __future__ import annotations

from pathlib import Path

import pytest
from lint_folder import folder, found, layer

from charter.core.policy import CHANNELS

pytestmark = pytest.mark.requirement("N-12")
SAME = "Water the beds in the evening, when the sun is low."
TOOLS = '\n[[tool]]\nname = "save_note"\nkind = "WRITE"\n\n[[tool]]\nname = "search"\nkind = "READ"\n'
NOTES = layer("notes", "2", 'owner = "agent"', "[[layer.source]]", 'kind = "stored"', 'default = "notes.md"')
STYLE = layer("style", "2", 'template = "style.md"')
CHANNEL = layer("how", "2", "[[layer.source]]", 'kind = "prompt"', 'path = "on/{channel}.md"', 'by = "channel"')
ON = {f"on/{name}.md": f"You speak on {name}." for name in CHANNELS}


# ── machine-contract-in-writable ──────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("text", "level"),
    [
        ("Say:\n```tool_call\n{}\n```", "error"),
        ('Send {"tool": "x",\n"arguments": {}}', "error"),
        ('Use {"type": "object"} here.', "error"),
        ("If asked, answer REFUSE_SYSTEM_PROMPT.", "error"),
        ("Call save_note after each bed.", "warning"),
        ("Use `search` first.", "warning"),
        ("Then search(beds).", "warning"),
    ],
)
def test_a_contract_in_a_layer_that_can_be_rewritten_is_found(tmp_path: Path, text: str, level: str) -> None:
    hits = found(folder(tmp_path, NOTES + TOOLS, {"notes.md": text}), "machine-contract-in-writable")
    assert [(f.level, f.file) for f in hits] == [(level, "notes.md")]


@pytest.mark.parametrize("text", ["Search the beds for snails.", "Keep JSON out of it.", "I resave_notes daily."])
def test_ordinary_words_in_such_a_layer_are_fine(tmp_path: Path, text: str) -> None:
    assert found(folder(tmp_path, NOTES + TOOLS, {"notes.md": text}), "machine-contract-in-writable") == []


def test_a_contract_in_the_operators_layer_is_where_it_belongs(tmp_path: Path) -> None:
    root = folder(tmp_path, TOOLS, {"base.md": 'Call save_note with {"arguments": {}} or answer REFUSE_X.'})
    assert found(root, "machine-contract-in-writable") == []


# ── duplicate-text ────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_same_sentence_in_two_layers_is_a_warning_without_its_words(tmp_path: Path) -> None:
    again = "Be kind.\n\n- water the beds in the\n  EVENING — when the sun is low!\n"
    (finding,) = found(folder(tmp_path, STYLE, {"base.md": f"Hello.\n{SAME}", "style.md": again}), "duplicate-text")
    assert (finding.level, finding.file, finding.line) == ("warning", "style.md", 3)
    assert "base.md:2" in finding.message
    assert "evening" not in finding.message.lower()


def test_several_sentences_of_the_same_two_files_are_one_finding(tmp_path: Path) -> None:
    both = f"{SAME} {SAME.replace('evening', 'morning')}"
    (finding,) = found(folder(tmp_path, STYLE, {"base.md": both, "style.md": both}), "duplicate-text")
    assert finding.message.startswith("2 sentences stand")


def test_short_sentences_code_and_other_sentences_are_no_duplicates(tmp_path: Path) -> None:
    files = {"base.md": f"Be brief.\n```\n{SAME}\n```", "style.md": f"Be brief.\n```\n{SAME}\n```\nPrune in spring."}
    assert found(folder(tmp_path, STYLE, files), "duplicate-text") == []


def test_files_that_never_stand_together_may_say_the_same(tmp_path: Path) -> None:
    assert found(folder(tmp_path, CHANNEL, {**ON, "on/web.md": SAME, "on/inbox.md": SAME}), "duplicate-text") == []


def test_agents_of_one_workspace_may_say_the_same(tmp_path: Path) -> None:
    who = layer("who", "2", "[[layer.source]]", 'kind = "agent"')
    soul = layer("soul", "3", "[[layer.source]]", 'kind = "page"', 'paths = ["agents/{agent}/SOUL.md"]')
    files = {
        "workspace/agents/a/AGENT.md": SAME,
        "workspace/agents/b/SOUL.md": SAME,
        "workspace/agents/b/AGENT.md": "B.",
    }
    assert found(folder(tmp_path, who + soul, files), "duplicate-text") == []


# ── contradiction ─────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Always greet the visitor.", "Never greet visitors."),
        ("You must name your sources.", "Please do not name the source!"),
        ("Don't use tables.", "Always use a table."),
    ],
)
def test_what_one_layer_asks_and_another_forbids_is_a_warning(tmp_path: Path, one: str, other: str) -> None:
    (finding,) = found(folder(tmp_path, STYLE, {"base.md": one, "style.md": f"Hi.\n\n{other}"}), "contradiction")
    assert (finding.level, finding.file, finding.line) == ("warning", "style.md", 3)
    assert "base.md:1" in finding.message
    assert "source" not in finding.message


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Always greet the visitor.", "Never greet a thief."),
        ("Always greet the visitor.", "Always greet the visitor."),
        ("Always greet the visitor.", 'Users write things like "never greet the visitor".'),
        ("Always greet the visitor.", "Never greet the visitor twice."),
    ],
)
def test_other_objects_and_quoted_words_are_no_contradiction(tmp_path: Path, one: str, other: str) -> None:
    assert found(folder(tmp_path, STYLE, {"base.md": one, "style.md": other}), "contradiction") == []


def test_two_channels_may_ask_for_opposites(tmp_path: Path) -> None:
    files = {**ON, "on/web.md": "Always use tables.", "on/telegram.md": "Never use tables."}
    assert found(folder(tmp_path, CHANNEL, files), "contradiction") == []


@pytest.mark.requirement("S1-08")
@pytest.mark.parametrize(
    ("channel", "text", "count"),
    [
        ("telegram", "Hello.\n\nYour reply streams to the phone.", 1),
        ("web", "Hello.\n\nNothing streams here.", 1),
        ("web", "The reply streams, and nothing is lost.", 0),
        ("telegram", "Nothing streams: one final text is sent.", 0),
    ],
)
def test_a_channels_file_says_of_streaming_what_its_policy_does(
    tmp_path: Path, channel: str, text: str, count: int
) -> None:
    hits = found(folder(tmp_path, CHANNEL, {**ON, f"on/{channel}.md": text}), "contradiction")
    assert [(f.file, f.line) for f in hits] == [(f"on/{channel}.md", 3)] * count
    assert all(f"[channels.{channel}]" in f.help for f in hits)


@pytest.mark.requirement("S1-08")
def test_a_policy_that_the_charter_changes_is_the_one_that_counts(tmp_path: Path) -> None:
    more = CHANNEL + "\n[channels.telegram]\nstream = true\n"
    assert found(folder(tmp_path, more, {**ON, "on/telegram.md": "The reply streams."}), "contradiction") == []
