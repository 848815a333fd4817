"""The public names are the ones we promise, and importing them is cheap and silent."""

from __future__ import annotations

import inspect
import subprocess
import sys
from pathlib import Path

import pytest

import charter
from charter import interfaces


def test_every_public_name_exists_and_no_other_is_listed() -> None:
    assert {name for name in charter.__all__ if getattr(charter, name) is None} == set()
    assert dir(charter) == sorted([*charter.__all__, "__version__"])
    with pytest.raises(AttributeError, match="no attribute 'Manager'"):
        charter.Manager  # noqa: B018


def test_importing_charter_imports_no_third_party() -> None:
    script = "import sys, charter; print(sorted({'typer','rich','minijinja','msgspec','yaml'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.requirement("S2-02", "S3-11", "S4-01", "S0-11")
@pytest.mark.parametrize(
    ("function", "names"),
    [
        (interfaces.PromptBuilder.build, ["self", "agent", "channel", "user_message", "mode"]),
        (interfaces.build_system_prompt, ["tools", "native_tools", "project_dir"]),
        (
            interfaces.build_system_prompt_with_session_runtime,
            ["tools", "data_dir", "project_dir", "skills", "runtime", "native_tools"],
        ),
        (interfaces.build_system_prompt_minimal_runtime, ["data_dir", "project_dir", "runtime"]),
        (
            interfaces.build_agent_prompt,
            ["soul", "identity", "channel", "user_instructions", "timezone", "tool_names"],
        ),
    ],
)
def test_the_entry_points_have_the_designs_signatures(function: object, names: list[str]) -> None:
    assert callable(function)
    assert list(inspect.signature(function).parameters) == names


def test_no_module_is_too_long_to_hold_in_the_head() -> None:
    package = Path(charter.__file__).parent
    long = {p.name: n for p in package.rglob("*.py") if (n := len(p.read_text().splitlines())) > 400}
    assert long == {}


def test_every_module_opens_with_its_law() -> None:
    package = Path(charter.__file__).parent
    without = [p.name for p in package.rglob("*.py") if p.read_text().strip() and not p.read_text().startswith('"""')]
    assert without == []
