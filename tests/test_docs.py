"""The paper is true: commands are documented, examples run, and the README shows what really comes out."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

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


def test_no_page_links_to_a_file_that_is_not_there() -> None:
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]:
        for target in re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text()):
            assert (page.parent / target).exists(), f"{page.name}: {target}"
