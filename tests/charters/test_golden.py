"""Golden prompts: every charter in every mode, as Markdown files that people read."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from golden_views import VIEWS

GOLDEN = Path(__file__).parent.parent / "golden"


@pytest.mark.requirement("S0-01", "S0-04", "S1-01", "S2-01", "S2-03", "S3-01", "S3-09", "S4-01")
@pytest.mark.parametrize("name", VIEWS)
def test_the_prompt_is_the_golden_file_byte_for_byte(name: str) -> None:
    path = GOLDEN / f"{name}.md"
    text = VIEWS[name]().reveal() + "\n"
    if os.environ.get("UPDATE_GOLDEN"):
        path.write_text(text)
    assert text == path.read_text()


def test_no_golden_file_is_without_its_view() -> None:
    assert sorted(path.stem for path in GOLDEN.glob("*.md")) == sorted(VIEWS)
