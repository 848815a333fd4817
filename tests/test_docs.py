"""The paper is true: commands are documented, examples run, and the README shows what really comes out."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from charter.cli import app

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "tools"))

import commands  # noqa: E402


def blocks(page: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", (ROOT / page).read_text(), re.MULTILINE | re.DOTALL)


def test_the_page_of_commands_is_what_the_commands_say() -> None:
    assert (ROOT / "docs" / "commands.md").read_text() == commands.page()


PAGES = ("README.md", "docs/stores.md", "docs/providers.md")
EXAMPLES = [(page, number) for page in PAGES for number in range(len(blocks(page, "python")))]


@pytest.mark.parametrize(("page", "number"), EXAMPLES)
def test_a_python_example_of_a_page_runs(page: str, number: int, tmp_path: Path) -> None:
    script = blocks(page, "python")[number]
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")


def test_the_readme_opens_with_the_two_commands() -> None:
    first_screen = "\n".join((ROOT / "README.md").read_text().split("\n")[:30])
    assert "make run" in first_screen
    assert "make test" in first_screen


@pytest.mark.requirement("S1-05")
def test_the_golden_vectors_on_the_manifest_page_are_right() -> None:
    from charter import stack_hash

    page = (ROOT / "docs" / "manifest.md").read_text()
    first = ("L1", "base", "0" * 64)
    for lines in ([], [first], [first, ("L6", "user_input", "f" * 64)]):
        assert stack_hash(lines) in page


@pytest.mark.requirement("N-03")
def test_the_golden_vectors_on_the_page_of_stores_are_right() -> None:
    from charter.core.chain import START, row_hash
    from charter.core.records import LogRow

    page = (ROOT / "docs" / "stores.md").read_text()
    first = row_hash(LogRow("automaton", 1, "seed", "inbox", 1, "a" * 64, "init", 0, "", START, ""))
    second = row_hash(LogRow("automaton", 2, "amend", "inbox", 2, "b" * 64, "admin:mo", 1, "", first, ""))
    assert first in page
    assert second in page


def test_the_toml_example_of_the_charters_page_is_a_valid_case_file() -> None:
    from charter.cases import CaseFile
    from charter.config import parse

    (example,) = blocks("docs/charters.md", "toml")
    assert parse(example, "docs", CaseFile).case[0].name == "telegram is told to be brief"


@pytest.mark.parametrize("page", ["docs/serve.md", "docs/models.md"])
def test_an_example_of_config_toml_is_a_valid_one(page: str) -> None:
    from charter.choice import HomeConfig
    from charter.config import parse

    (example,) = blocks(page, "toml")
    found = parse(example, "docs", HomeConfig)
    assert found.agents or found.model.name


EVERY_PAGE = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def targets(page: Path) -> list[str]:
    """What a page links to, and the images it shows, on this side of the network."""
    return re.findall(r"\]\((?!https?:|#)([^)#\s]+)", page.read_text())


def test_no_page_links_to_a_file_or_an_image_that_is_not_there() -> None:
    links = [(page, target) for page in EVERY_PAGE for target in targets(page)]
    assert [(page.name, target) for page, target in links if not (page.parent / target).exists()] == []


def test_every_page_can_be_reached_from_the_readme() -> None:
    there = {(ROOT / target).resolve() for target in targets(ROOT / "README.md")}
    assert [page.name for page in EVERY_PAGE[1:] if page not in there] == []


def test_every_image_is_shown_on_a_page_and_small_enough_to_load_at_once() -> None:
    shown = {(page.parent / target).resolve() for page in EVERY_PAGE for target in targets(page)}
    images = sorted((ROOT / "docs" / "img").iterdir())
    assert [image.name for image in images if image not in shown or image.stat().st_size > 150_000] == []


TREE = get_command(app)


def written(page: Path) -> list[str]:
    """The commands on a page: lines of its blocks, and what stands between backquotes."""
    text = page.read_text().replace("\\\n", " ")
    fenced = "".join(re.findall(r"^```\w*\n(.*?)^```", text, re.MULTILINE | re.DOTALL))
    return re.findall(r"^(charter [a-z].*)", fenced, re.MULTILINE) + re.findall(r"`(charter [a-z][^`\n]*)`", text)


def wrong_in(line: str) -> str:
    """What a command line of a page names that is not there; its explanation stands after two spaces or a sign."""
    words = re.split(r"\s[|&#>]|\s{3,}|: ", line)[0].split()[1:]
    command: Any = TREE
    while hasattr(command, "commands"):
        if not words:
            return ""
        name = words.pop(0)
        if name not in command.commands:
            return name
        command = command.commands[name]
    known = {name for one in command.params for name in (*one.opts, *one.secondary_opts)} | {"--help"}
    return next((word for word in words if word.startswith("--") and word.partition("=")[0] not in known), "")


def test_every_command_on_a_page_is_one_with_these_options() -> None:
    lines = [(page.name, line) for page in EVERY_PAGE for line in written(page)]
    assert len(lines) > 100
    assert [row for row in lines if wrong_in(row[1])] == []
