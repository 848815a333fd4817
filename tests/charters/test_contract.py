"""Contract: six layers from versioned files, chosen by the request; what breaks the contract makes no prompt."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from charter.core.assemble import Assembly, Section, assemble
from charter.core.errors import (
    BadValue,
    FileMissing,
    LayerEmpty,
    LayerMissing,
    LayerOrder,
    MisplacedContent,
    ModeDropsLayer,
    RequestError,
    StackError,
    UnknownAgent,
    UnknownChannel,
    UnknownLayer,
    UserLayerNotLast,
)
from charter.core.incoming import Incoming
from charter.core.layer import Layer, Owner, Role
from charter.core.text import Trust
from charter.folder import Charter, find, load
from charter.sources.caller import CallerText
from charter.sources.user import UserInput

HOME = find("contract")
LAYERS = {
    "base_system": ("L1", "## Base", "prompts/base/base_system.md"),
    "agent_role": ("L2", "## Role", "prompts/agents/{}.md"),
    "channel_policy": ("L3", "## Channel Policy", "prompts/channels/{}.md"),
    "tool_policy": ("L4", "## Tool Policy", "prompts/tools/{}.md"),
    "task_instruction": ("L5", "## Task", "prompts/tasks/{}.md"),
    "user_input": ("L6", "", ""),
}
HIDDEN = tuple(LAYERS)[:5]
REQUIRED = ("base_system", "agent_role", "channel_policy", "tool_policy", "user_input")
CHANNELS = ("terminal", "cli_local", "web", "telegram", "scheduled", "inbox", "external_email", "external_message")
NOW = Incoming(channel="web", text="hello", at=0)


def names(folder: str) -> list[str]:
    return sorted(path.stem for path in (HOME / "prompts" / folder).glob("*.md"))


def body(name: str) -> str:
    """A prompt file without its frontmatter."""
    return (HOME / name).read_text().split("---\n", 2)[2].strip()


def copied(tmp_path: Path) -> Path:
    shutil.copytree(HOME, tmp_path / "contract", ignore=shutil.ignore_patterns("charter.lock"))
    return tmp_path / "contract"


def edited(tmp_path: Path, old: str, new: str) -> Path:
    root = copied(tmp_path)
    text = (root / "charter.toml").read_text()
    assert text.count(old) == 1
    (root / "charter.toml").write_text(text.replace(old, new))
    return root


def ids(assembly: Assembly) -> list[str]:
    return [part.section.layer.id for part in assembly.parts]


# ── the six layers (S1-01) ────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.requirement("S1-01")
def test_the_layers_are_those_of_the_design_in_its_order() -> None:
    layers = load("contract").stack.layers
    assert [(layer.label, layer.id) for layer in layers] == [(row[0], name) for name, row in LAYERS.items()]
    assert [layer.id for layer in layers if layer.required] == list(REQUIRED)
    assert [layer.role for layer in layers] == [Role.SYSTEM] * 5 + [Role.USER]
    assert [layer.label for layer in layers if layer.visible] == ["L6"]
    assert [layer.owner for layer in layers] == [Owner.SEALED, *[Owner.OPERATOR] * 4, Owner.TURN]


@pytest.mark.requirement("S1-01")
@pytest.mark.parametrize("task", ["", *names("tasks")])
@pytest.mark.parametrize("agent", ["", *names("agents")])
@pytest.mark.parametrize("policy", ["", *names("tools")])
def test_each_layer_is_its_file_chosen_by_the_request(agent: str, policy: str, task: str) -> None:
    incoming = replace(NOW, agent=agent, tool_policy=policy, task=task)
    files = {
        "base_system": "prompts/base/base_system.md",
        "agent_role": f"prompts/agents/{agent or 'assistant'}.md",
        "channel_policy": "prompts/channels/web.md",
        "tool_policy": f"prompts/tools/{policy or 'default'}.md",
        **({"task_instruction": f"prompts/tasks/{task}.md"} if task else {}),
    }
    assembly = load("contract").assemble(incoming)
    expected = [f"{LAYERS[name][1]}\n\n{body(file)}" for name, file in files.items()]
    assert [part.text for part in assembly.parts] == [*expected, "> hello"]
    assert assembly.reveal() == "\n\n".join([*expected, "> hello"])
    assert [row.file for row in assembly.manifest.stack] == [*files.values(), "user_input"]


@pytest.mark.requirement("S1-01")
def test_every_file_carries_a_version_that_the_manifest_tells(tmp_path: Path) -> None:
    root = copied(tmp_path)
    path = root / "prompts/agents/support.md"
    path.write_text(path.read_text().replace("version: 1.0.0", "version: 2.3.4"))
    manifest = load(root).assemble(replace(NOW, agent="support")).manifest
    assert [row.version for row in manifest.stack] == ["1.0.0", "2.3.4", "1.0.0", "1.0.0", "1.1.0"]
    for file in HOME.glob("prompts/*/*.md"):
        assert file.read_text().startswith("---\nversion: 1.0.0\n---\n")
    assert "version:" not in load(root).assemble(replace(NOW, agent="support")).reveal()


@pytest.mark.requirement("S1-01")
def test_there_is_a_policy_for_each_channel_and_no_other() -> None:
    assert tuple(load("contract").channels) == CHANNELS
    assert names("channels") == sorted(CHANNELS)


@pytest.mark.requirement("S1-08")
@pytest.mark.parametrize(
    ("channel", "streams"),
    [
        ("terminal", True),
        ("cli_local", True),
        ("web", True),
        ("telegram", False),
        ("scheduled", False),
        ("inbox", False),
        ("external_email", False),
        ("external_message", False),
    ],
)
def test_the_channels_policy_and_its_prompt_agree_on_streaming(channel: str, streams: bool) -> None:
    assert load("contract").channels[channel].stream is streams
    text = body(f"prompts/channels/{channel}.md")
    assert text.startswith(f"Channel: {channel}. ")
    assert ("The reply streams" in text, "othing streams" in text) == (streams, not streams)


# ── what the request names ────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.requirement("S1-01")
@pytest.mark.parametrize(
    ("said", "kind", "message"),
    [
        ({"agent": "nobody"}, UnknownAgent, "unknown agent 'nobody'; known: assistant, researcher, support"),
        ({"task": "nothing"}, UnknownAgent, "unknown task 'nothing'; known: draft_reply, summarize, triage"),
        ({"tool_policy": "all"}, UnknownAgent, "unknown tool policy 'all'; known: default, none, read_only"),
        (
            {"channel": "fax"},
            UnknownChannel,
            f"unknown channel 'fax'; known: {', '.join(CHANNELS)}",
        ),
    ],
)
def test_what_does_not_exist_is_an_error_that_lists_what_does(
    said: dict[str, Any], kind: type[RequestError], message: str
) -> None:
    with pytest.raises(kind) as caught:
        load("contract").assemble(replace(NOW, **said))
    assert str(caught.value) == message


@pytest.mark.requirement("S1-01")
@pytest.mark.parametrize("name", ["../base/base_system", "a/b", ".hidden", "a b", "x" * 129, "{agent}"])
@pytest.mark.parametrize("field", ["agent", "task", "tool_policy"])
def test_a_name_that_could_be_a_path_is_refused_before_any_file_is_looked_for(field: str, name: str) -> None:
    said: dict[str, Any] = {field: name}
    with pytest.raises(BadValue) as caught:
        Incoming(text="hello", **said)
    told = "an id is 1 to 128 letters, digits and _ . @ : - and starts with a letter or digit"
    assert str(caught.value) == f"{field}: {told}"


# ── hard failures (S1-02) ─────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.requirement("S1-02")
def test_without_its_base_file_there_is_no_charter(tmp_path: Path) -> None:
    root = copied(tmp_path)
    (root / "prompts/base/base_system.md").unlink()
    with pytest.raises(FileMissing, match=r"^prompts/base/base_system.md: missing, needed by layer 'base_system'"):
        load(root)


@pytest.mark.requirement("S1-02")
@pytest.mark.parametrize("blank", ["", "  \n\t\n", "---\nversion: 1.0.0\n---\n\n"])
@pytest.mark.parametrize("name", HIDDEN[:4])
def test_an_empty_required_layer_makes_no_prompt(tmp_path: Path, name: str, blank: str) -> None:
    root = copied(tmp_path)
    chosen = {"agent_role": "assistant", "channel_policy": "web", "tool_policy": "default"}.get(name, "")
    (root / LAYERS[name][2].format(chosen)).write_text(blank)
    with pytest.raises(LayerEmpty) as caught:
        load(root).assemble(NOW)
    assert str(caught.value) == f"the required layer '{name}' is empty"


@pytest.mark.requirement("S1-02")
@pytest.mark.parametrize("text", ["", " ", "\n\t\r\n", "\u2028\u3000"])
def test_without_a_message_there_is_no_prompt(text: str) -> None:
    with pytest.raises(LayerEmpty, match=r"^the required layer 'user_input' is empty$"):
        load("contract").assemble(replace(NOW, text=text))


@pytest.mark.requirement("S1-02")
def test_without_a_task_there_are_five_layers_and_the_manifest_says_so() -> None:
    assembly = load("contract").assemble(NOW)
    assert ids(assembly) == list(REQUIRED)
    (left,) = assembly.manifest.left_out
    assert (left.layer, left.id, left.disposition, left.reason) == (
        "L5",
        "task_instruction",
        "dropped",
        "nothing to say",
    )


def gathered(charter: Charter) -> list[Section]:
    return [section for section, _ in charter.gather(replace(NOW, task="triage"), mode="full")]


@pytest.mark.requirement("S1-02")
@pytest.mark.parametrize("first", range(5))
def test_sections_in_another_order_make_no_prompt(first: int) -> None:
    charter = load("contract")
    sections = gathered(charter)
    assert ids(assemble(charter.stack, sections, mode="full", settings=charter.settings)) == list(LAYERS)
    sections[first], sections[first + 1] = sections[first + 1], sections[first]
    above, below = list(LAYERS)[first : first + 2]
    with pytest.raises(LayerOrder, match=f"^layer '{above}' came after '{below}'; the order is the stack's$"):
        assemble(charter.stack, sections, mode="full", settings=charter.settings)


@pytest.mark.requirement("S1-02")
@pytest.mark.parametrize("name", REQUIRED)
def test_a_missing_required_section_makes_no_prompt(name: str) -> None:
    charter = load("contract")
    sections = [section for section in gathered(charter) if section.layer.id != name]
    with pytest.raises(LayerMissing, match=f"^the required layer '{name}' is missing$"):
        assemble(charter.stack, sections, mode="full", settings=charter.settings)


@pytest.mark.requirement("S1-02")
def test_a_section_of_a_layer_the_stack_does_not_have_makes_no_prompt() -> None:
    charter = load("contract")
    stranger = Section(Layer("extra", "L7", charter.stack.layers[0].template), {})
    with pytest.raises(UnknownLayer, match=r"^layer 'extra' is not in this stack$"):
        assemble(charter.stack, [*gathered(charter), stranger], mode="full", settings=charter.settings)


@pytest.mark.requirement("S1-02")
@pytest.mark.parametrize("name", HIDDEN)
def test_user_content_above_L6_makes_no_prompt(name: str) -> None:
    charter = load("contract")
    charter = replace(charter, sources={**charter.sources, name: (UserInput(), CallerText(fact="caller"))})
    with pytest.raises(MisplacedContent) as caught:
        charter.assemble(NOW)
    assert str(caught.value) == f"layer '{name}' takes operator text only, but was given outside text"
    layers = tuple(replace(layer, accepts=Trust.OUTSIDE) for layer in charter.stack.layers)
    open_stack = replace(charter.stack, layers=layers)
    assert replace(charter, stack=open_stack).assemble(NOW).reveal().count("hello") == 2


@pytest.mark.requirement("S1-02")
@pytest.mark.parametrize("name", REQUIRED)
def test_a_mode_that_drops_a_required_layer_is_refused_at_load(tmp_path: Path, name: str) -> None:
    whole = [layer for layer in LAYERS if layer != name]
    with pytest.raises(ModeDropsLayer, match=f"^mode 'small' drops the required layer '{name}'$"):
        load(edited(tmp_path, "[modes.full]", f'[modes.full]\n[modes.small]\nwhole = {whole}\nchannels = ["telegram"]'))


@pytest.mark.requirement("S1-02", "N-05")
@pytest.mark.parametrize("name", REQUIRED)
def test_a_budget_that_would_take_a_required_layer_away_is_refused_at_load(tmp_path: Path, name: str) -> None:
    step = f'[budget]\nmax_chars = 100\n[[budget.shed]]\nlayer = "{name}"\nto = "nothing"\n[modes.full]'
    with pytest.raises(StackError, match=r"^\[budget\] may not "):
        load(edited(tmp_path, "[modes.full]", step))


@pytest.mark.requirement("S1-02")
def test_the_users_layer_anywhere_but_last_is_refused_at_load(tmp_path: Path) -> None:
    with pytest.raises(UserLayerNotLast, match=r"^layer 'task_instruction' has the user role but is not last$"):
        load(edited(tmp_path, 'title = "## Task"', 'title = "## Task"\nrole = "user"'))
