"""The page of tools is true: its example runs, and its tables say what the code does."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from charter.tools import built_in
from charter.tools.fallback import parse
from charter.tools.function import RESERVED

from .acting import Stand

PAGE = (Path(__file__).parents[2] / "docs" / "tools.md").read_text()


def test_the_example_of_a_tool_runs() -> None:
    (script,) = re.findall(r"^```python\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "['city'] READ\n", "")


def test_the_table_of_built_in_tools_names_each_with_its_arguments_class_and_limit() -> None:
    rows = re.findall(r"^\| `(\w+) \{(.*?)\}` \| (\w+)(, once a turn)? \|", PAGE, re.MULTILINE)
    tools = built_in(Stand(), sorted(RESERVED))
    said = {name: (arguments, kind, 1 if once else None) for name, arguments, kind, once in rows}
    assert said == {
        name: (", ".join(tool.spec.parameters["properties"]), tool.policy.kind, tool.policy.max_per_turn)
        for name, tool in tools.items()
    }


def test_the_block_shown_for_models_without_tool_calling_is_one() -> None:
    (shown,) = re.findall(r"^````\n(.*?)^````", PAGE, re.MULTILINE | re.DOTALL)
    assert [call.name for call in parse(shown, RESERVED).calls] == ["read_memory"]
