"""Layers of files say again what they said only while nothing that they were read from has changed."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from charter import Incoming, load
from charter.charter import Charter
from charter.folder import SHIPPED
from charter.sources import Ask, known


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """A workspace whose files have lain there for a while."""
    shutil.copytree(SHIPPED / "workspace/workspace", tmp_path / "w")
    return tmp_path / "w"


@pytest.fixture
def old(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files count as lying there for long."""
    monkeypatch.setattr(known, "SETTLED_NS", -(10**12))


def asked(charter: Charter, agent: str = "main") -> list[str]:
    """What a prompt says, layer by layer; the sources that are asked for it are counted in `charter.made`."""
    charter.made.clear()
    return charter.assemble(Incoming(channel="web", agent=agent, text="hello", at=0)).reveal().split("\n\n")


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


@pytest.mark.usefixtures("old")
def test_layers_of_files_are_not_asked_again_while_nothing_changes(workspace: Path) -> None:
    charter = load("workspace", workspace=workspace)
    first = asked(charter)
    assert {"identity", "soul", "tools", "skills"} <= charter.made.keys()
    assert asked(charter) == first
    assert charter.made.keys() == {"memory", "runtime"}


CHANGES: list[Callable[[Path], None]] = [
    lambda root: write(root / "TOOLS.md", "Count twice."),
    lambda root: write(root / "agents/main/SOUL.md", "A soul of its own, and Count twice."),
    lambda root: write(root / "agents/main/AGENT.md", "---\nname: Other\n---\nCount twice."),
    lambda root: write(root / "skills/count/SKILL.md", "---\nname: count\ndescription: Count twice.\n---\nCount."),
    lambda root: write(
        root / "skills/plan-a-task/SKILL.md", "---\nname: plan-a-task\ndescription: Count twice.\n---\n"
    ),
]


@pytest.mark.usefixtures("old")
@pytest.mark.parametrize("change", CHANGES)
def test_a_file_that_changes_or_appears_is_in_the_next_prompt(workspace: Path, change: Callable[[Path], None]) -> None:
    write(workspace / "agents/main/AGENT.md", "---\nname: Main\nallow_skills: true\n---\nYou are Main.")
    charter = load("workspace", workspace=workspace)
    assert asked(charter) == asked(charter)
    change(workspace)
    after = "\n\n".join(asked(charter))
    assert "Count twice." in after
    assert after == "\n\n".join(asked(load("workspace", workspace=workspace)))


@pytest.mark.usefixtures("old")
def test_a_file_that_goes_is_in_no_prompt_any_more(workspace: Path) -> None:
    charter = load("workspace", workspace=workspace)
    soul = (workspace / "SOUL.md").read_text().strip().splitlines()[-1]
    assert soul in "\n\n".join(asked(charter))
    assert soul in "\n\n".join(asked(charter))
    (workspace / "SOUL.md").unlink()
    assert soul not in "\n\n".join(asked(charter))


@pytest.mark.usefixtures("old")
def test_a_folder_that_becomes_a_link_is_seen(workspace: Path) -> None:
    charter = load("workspace", workspace=workspace)
    assert asked(charter) == asked(charter)
    write(workspace / "elsewhere/main/AGENT.md", "You are from elsewhere.")
    (workspace / "agents").rename(workspace / "gone")
    (workspace / "agents").symlink_to("elsewhere")
    for _ in range(2):
        assert "You are from elsewhere." in "\n\n".join(asked(charter))
        assert "identity" in charter.made  # what lies behind a link is read every time


@pytest.mark.usefixtures("old")
def test_each_agent_and_mode_is_told_its_own(workspace: Path) -> None:
    write(workspace / "agents/other/AGENT.md", "You are the other one.")
    charter = load("workspace", workspace=workspace)
    for _ in range(2):
        assert "You are the other one." in "\n\n".join(asked(charter, "other"))
        assert "You are the other one." not in "\n\n".join(asked(charter, "main"))
    minimal = charter.assemble(Incoming(channel="web", text="hello", at=0), mode="none")
    assert [part.section.layer.id for part in minimal.parts] == ["identity"]


def test_what_was_written_just_now_is_read_every_time(workspace: Path) -> None:
    write(workspace / "TOOLS.md", "one")
    charter = load("workspace", workspace=workspace)
    asked(charter)
    asked(charter)
    assert "tools" in charter.made


@pytest.mark.usefixtures("old")
def test_a_program_that_hands_an_agent_in_is_heard_every_time(workspace: Path) -> None:
    from charter.sources import AgentDef

    charter = load("workspace", workspace=workspace)
    asked(charter)
    given = charter.within(given={"agent": AgentDef("main", "You are handed in.")})
    assert "You are handed in." in "\n\n".join(asked(given))
    handed = charter.assemble(Incoming(channel="web", text="hello", at=0), world=given.world)
    assert "You are handed in." in handed.reveal()


@pytest.mark.usefixtures("old")
def test_what_one_prompt_looks_at_besides_is_no_other_prompts(workspace: Path) -> None:
    charter = load("workspace", workspace=workspace)
    asked(charter)

    def ask() -> Ask:
        incoming = Incoming(channel="web", text="hello", at=0)
        return Ask(incoming, charter.stack.mode("full"), charter.world, charter.home, "")

    one, two = ask(), ask()
    told = charter.still.told(one)
    assert told.keys() == {"identity", "soul", "tools", "skills"}
    one.seen["looks"]["/nowhere"] = None
    assert charter.still.told(two) == told
    assert "/nowhere" not in two.seen["looks"]
