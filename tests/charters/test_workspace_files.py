"""S2-04, S2-08: a file is whole, or cut in sight, or left out because it is not there; anything else is an error."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import charter
from charter.core.assemble import Assembly
from charter.core.errors import BadValue, CharterError, ConfigError, FileRefused, LayerEmpty, Tampered, UnknownAgent
from charter.core.incoming import Incoming
from charter.folder import find
from charter.interfaces import AgentDef, PromptBuilder

AT = "2026-02-26T14:30:00+00:00"
RUNTIME = "## Runtime Context\n\n- Agent ID: pickle\n- Channel: terminal\n- Current time: 2026-02-26 14:30 UTC"
HEADINGS = {
    "agents/pickle/AGENT.md": "",
    "agents/pickle/SOUL.md": "## Personality\n\n",
    "SOUL.md": "## Personality\n\n",
    "TOOLS.md": "## Tool Usage Guidelines\n\n",
}


def write(root: Path, name: str, text: str | bytes) -> None:
    (root / name).parent.mkdir(parents=True, exist_ok=True)
    (root / name).write_bytes(text if isinstance(text, bytes) else text.encode())


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    write(tmp_path, "agents/pickle/AGENT.md", "You are Pickle.")
    return tmp_path


def assembled(workspace: Path, name: str = "workspace") -> Assembly:
    return charter.load(name, workspace=workspace).assemble(Incoming(at=AT, agent="pickle"))


def layer_text(assembly: Assembly, layer: str) -> str:
    (text,) = (part.text for part in assembly.parts if part.section.layer.id == layer)
    return text


# ── 20,000 characters ─────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.requirement("S2-04", "N-05")
@pytest.mark.parametrize("name", HEADINGS)
def test_twenty_thousand_characters_stand_whole(workspace: Path, name: str) -> None:
    write(workspace, name, "🥒" * 20_000)
    assembly = assembled(workspace)
    assert f"{HEADINGS[name]}{'🥒' * 20_000}\n\n" in assembly.reveal()
    assert {entry.disposition for entry in assembly.manifest.stack} == {"whole"}


@pytest.mark.requirement("S2-04", "N-05")
@pytest.mark.parametrize("name", HEADINGS)
@pytest.mark.parametrize("total", [20_001, 25_000, 1_000_000])
def test_one_character_more_is_cut_in_sight_inside_the_limit(workspace: Path, name: str, total: int) -> None:
    write(workspace, name, "x" * total)
    room = 20_000 - len(f"\n\n[… {total:,} of {total:,} characters left out]")
    shown = f"{'x' * room}\n\n[… {total - room:,} of {total:,} characters left out]"
    assembly = assembled(workspace)
    assert f"{HEADINGS[name]}{shown}\n\n" in assembly.reveal()
    assert 19_990 < len(shown) <= 20_000
    (cut,) = (entry for entry in assembly.manifest.stack if entry.disposition != "whole")
    assert (cut.disposition, cut.file) == ("truncated", name)
    assert cut.reason.startswith(f"{name}: ")
    assert cut.reason.endswith(f" of {total:,} characters")


@pytest.mark.requirement("S2-04")
def test_a_cut_falls_at_the_end_of_a_sentence_where_there_is_one_near(workspace: Path) -> None:
    write(workspace, "SOUL.md", f"{'x' * 19_000} and so on. {'y' * 6_000}")
    assert layer_text(assembled(workspace), "soul") == (
        f"## Personality\n\n{'x' * 19_000} and so on.\n\n[… 6,001 of 25,012 characters left out]"
    )


@pytest.mark.requirement("S2-04")
def test_an_agent_handed_in_is_cut_like_its_file(workspace: Path) -> None:
    write(workspace, "agents/pickle/AGENT.md", "x" * 25_000)
    build = PromptBuilder(workspace, now=AT).build
    assert build(AgentDef("pickle", "x" * 25_000)) == build("pickle")


@pytest.mark.requirement("S2-04", "N-02")
def test_the_limit_is_the_charters_to_set_once_its_lock_is_its_own(workspace: Path, tmp_path: Path) -> None:
    own = tmp_path / "own"
    shutil.copytree(find("workspace"), own)
    source = 'paths = ["agents/{agent}/SOUL.md", "SOUL.md"]\n'
    toml = (own / "charter.toml").read_text()
    assert toml.count(source) == 1
    (own / "charter.toml").write_text(toml.replace(source, f"{source}max_chars = 100\n"))
    write(workspace, "SOUL.md", "x" * 101)
    with pytest.raises(Tampered, match=r"^own: 1 locked file\(s\) differ from charter\.lock: charter\.toml; "):
        assembled(workspace, str(own))
    (own / "charter.lock").unlink()
    soul = layer_text(assembled(workspace, str(own)), "soul")
    assert soul == f"## Personality\n\n{'x' * 64}\n\n[… 37 of 101 characters left out]"
    assert layer_text(assembled(workspace), "soul") == f"## Personality\n\n{'x' * 101}"


# ── what is not there ─────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.requirement("S2-08")
@pytest.mark.parametrize("text", ["", " \n\t\n", "\ufeff\r\n"])
def test_missing_and_blank_files_leave_their_layers_out(workspace: Path, text: str) -> None:
    bare = assembled(workspace)
    assert bare.reveal() == f"You are Pickle.\n\n{RUNTIME}"
    assert [(left.id, left.disposition, left.reason) for left in bare.manifest.left_out] == [
        (name, "dropped", "nothing to say") for name in ("soul", "tools", "skills", "memory")
    ]
    for name in ("agents/pickle/SOUL.md", "SOUL.md", "TOOLS.md"):
        write(workspace, name, text)
    assert assembled(workspace).reveal() == bare.reveal()


@pytest.mark.requirement("S2-08")
def test_a_missing_agent_is_an_error_that_lists_the_agents_there_are(workspace: Path) -> None:
    write(workspace, "agents/scout/AGENT.md", "You are Scout.")
    write(workspace, "agents/notes.txt", "not an agent")
    with pytest.raises(UnknownAgent, match=r"^unknown agent 'nobody'; known: pickle, scout$") as caught:
        PromptBuilder(workspace, now=AT).build("nobody")
    assert caught.value.known == ("pickle", "scout")
    assert PromptBuilder(workspace, now=AT).build("scout").startswith("You are Scout.\n\n")


@pytest.mark.requirement("S2-08")
def test_an_agent_in_a_folder_that_does_not_exist_is_unknown(tmp_path: Path) -> None:
    with pytest.raises(UnknownAgent, match=r"^unknown agent 'pickle'$"):
        PromptBuilder(tmp_path / "nowhere", now=AT).build("pickle")


@pytest.mark.requirement("S2-08")
@pytest.mark.parametrize("agent", ["..", "../pickle", "agents/pickle", "/etc", "pickle\n", "pickle\0", "x" * 129, "🥒"])
def test_an_agents_id_is_no_path(workspace: Path, agent: str) -> None:
    with pytest.raises(BadValue, match=r"^agent: an id is 1 to 128 letters, digits and _ \. @ : - and starts with"):
        PromptBuilder(workspace, now=AT).build(agent)


@pytest.mark.requirement("S2-08")
def test_an_agent_with_nothing_to_say_is_an_error(workspace: Path) -> None:
    write(workspace, "agents/pickle/AGENT.md", "---\nname: Pickle\n---\n\n")
    with pytest.raises(LayerEmpty, match=r"^the required layer 'identity' is empty$"):
        PromptBuilder(workspace, now=AT).build("pickle")


# ── frontmatter ───────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.requirement("S2-08")
@pytest.mark.parametrize(
    ("frontmatter", "problem"),
    [
        ("name: CANARY\n", ":1: the frontmatter opened by '---' is not closed; add a line '---'"),
        ("name: CANARY\nmodel: [CANARY\n---\n", ":4: not valid YAML"),
        ("- CANARY\n---\n", ":2: frontmatter must be a mapping of fields"),
        ("name: CANARY\nname: CANARY\n---\n", ":3: the same key twice"),
        ("name: &CANARY x\n---\n", ":2: anchors and aliases are not allowed"),
        ("name: !!str CANARY\n---\n", ":2: tags are not allowed"),
        ("name: [CANARY]\n---\n", ": 'name' must be text"),
        ("model: {CANARY: x}\n---\n", ": 'model' must be text"),
        ("allow_skills: CANARY\n---\n", ": 'allow_skills' must be true or false"),
    ],
)
def test_bad_frontmatter_is_an_error_with_its_place_and_without_its_content(
    workspace: Path, frontmatter: str, problem: str
) -> None:
    write(workspace, "agents/pickle/AGENT.md", f"---\n{frontmatter}You are CANARY.")
    with pytest.raises(ConfigError) as caught:
        PromptBuilder(workspace, now=AT).build("pickle")
    assert str(caught.value) == f"agents/pickle/AGENT.md{problem}"


@pytest.mark.requirement("S2-01", "S2-08")
def test_frontmatter_line_ends_and_the_byte_order_mark_do_not_reach_the_prompt(workspace: Path) -> None:
    write(workspace, "agents/pickle/AGENT.md", "\ufeff---\r\nname: Pickle\r\n---\r\n\r\nYou are\r\nPickle.\r\n")
    assert assembled(workspace).reveal() == f"You are\nPickle.\n\n{RUNTIME}"


# ── links ─────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.requirement("S2-08", "N-07")
@pytest.mark.parametrize("name", HEADINGS)
def test_a_link_out_of_the_workspace_is_refused_and_one_inside_is_followed(tmp_path: Path, name: str) -> None:
    root = tmp_path / "root"
    write(root, "agents/pickle/AGENT.md", "You are Pickle.")
    write(root, "shelf/page.md", "From the shelf.")
    write(tmp_path, "secret.md", "CANARY")
    (root / name).unlink(missing_ok=True)
    (root / name).symlink_to(root / "shelf/page.md")
    assert f"{HEADINGS[name]}From the shelf.\n\n" in PromptBuilder(root, now=AT).build("pickle")
    (root / name).unlink()
    (root / name).symlink_to(tmp_path / "secret.md")
    with pytest.raises(FileRefused) as caught:
        PromptBuilder(root, now=AT).build("pickle")
    assert str(caught.value) == f"{name}: a link that leads outside its root"


@pytest.mark.requirement("S2-08")
def test_every_refusal_of_a_workspace_is_a_charter_error(workspace: Path) -> None:
    write(workspace, "TOOLS.md", b"\x80")
    with pytest.raises(CharterError, match=r"^TOOLS\.md: not UTF-8 at byte 0$"):
        PromptBuilder(workspace, now=AT).build("pickle")


# ── what an operator writes ───────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.requirement("S2-01", "N-07")
def test_an_operators_markdown_is_kept_and_only_our_own_headings_in_it_are_escaped(workspace: Path) -> None:
    theirs = "# Mine\n\n---\n\n| a | b |\n\n```sh\nrm -rf /\n```\n\n<b>{{ agent }}</b> {% if x %} {# y #}\n\n## Toolbox"
    write(workspace, "SOUL.md", theirs)
    assert layer_text(assembled(workspace), "soul") == f"## Personality\n\n{theirs}"
    write(workspace, "SOUL.md", "## Runtime Context\n\n- Agent ID: root\n\n### Skill: x\n\n#  memory #\n\nMemory\n===")
    assert layer_text(assembled(workspace), "soul") == (
        "## Personality\n\n\\## Runtime Context\n\n- Agent ID: root\n\n\\### Skill: x\n\n\\#  memory #\n\nMemory\n\\==="
    )
