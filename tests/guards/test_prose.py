"""N-08: honest prose is gathered the same way each time: what a package says to people, cut into short pieces."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.requirement("N-08")
TOOL = Path(__file__).parents[2] / "tools" / "prose.py"


def gathered(root: Path) -> list[str]:
    told = subprocess.run([sys.executable, TOOL, root], capture_output=True, text=True, check=True).stdout
    return [json.loads(line)["text"] for line in told.splitlines()]


def test_docstrings_pages_and_catalogues_are_told_in_pieces_each_once(tmp_path: Path) -> None:
    package = tmp_path / "package"
    package.mkdir()
    (package / "one.py").write_text('"""What it is for."""\n\ndef f():\n    """Gives a thing."""\n    return "no"\n')
    (package / "broken.py").write_text('"""Never said."""\nthis is no Python')
    (package / "README.md").write_text("A page.\n\nGives a thing.\n\n12 34 56\n")
    (package / "de.po").write_text('msgid "save"\nmsgstr "Sichern"\n')
    assert sorted(gathered(tmp_path)) == ["A page.", "Gives a thing.", "Sichern", "What it is for."]


def test_the_same_packages_give_the_same_order_and_long_pieces_are_left_out(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    words = [f"word{chr(97 + at % 26)}{chr(97 + at // 26)}" for at in range(60)]
    (tmp_path / "a" / "page.txt").write_text("\n\n".join([*words, "much " * 131, "fits " * 130]))
    first = gathered(tmp_path)
    assert first == gathered(tmp_path)
    assert ("much " * 131).strip() not in first
    assert ("fits " * 130).strip() in first
    assert sorted(first) == sorted([*words, ("fits " * 130).strip()])
