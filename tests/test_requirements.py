"""Requirements and tests know each other, in both directions."""

from __future__ import annotations

import ast
import tomllib
from collections import defaultdict
from pathlib import Path

HERE = Path(__file__).parent
TABLE = tomllib.loads((HERE / "requirements.toml").read_text())


def named_by_tests() -> dict[str, set[str]]:
    """The ids that `pytest.mark.requirement(…)` names, and the files that name them."""
    named: dict[str, set[str]] = defaultdict(set)
    for path in sorted(HERE.rglob("test_*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "requirement":
                for argument in node.args:
                    assert isinstance(argument, ast.Constant), f"{path.name}: ids are plain strings"
                    named[str(argument.value)].add(path.name)
    return named


def test_every_requirement_without_a_gap_is_named_by_a_test() -> None:
    named = named_by_tests()
    unproved = [name for name, row in TABLE.items() if "gap" not in row and name not in named]
    assert unproved == []


def test_every_id_a_test_names_is_a_requirement() -> None:
    unknown = {name: files for name, files in named_by_tests().items() if name not in TABLE}
    assert unknown == {}


def test_a_gap_says_what_is_missing_and_which_issue_brings_it() -> None:
    for name, row in TABLE.items():
        assert set(row) in ({"gap", "issue"}, set()), name
