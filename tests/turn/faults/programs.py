"""Programs of these tests: they fork, race and die, so each runs beside pytest and answers with JSON."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

TESTS = Path(__file__).parents[2]


def ask(module: str, *arguments: object) -> Any:
    """Runs `python -m turn.<module> …` and gives its answer, the last line it prints."""
    command = [sys.executable, "-W", "error", "-m", f"turn.{module}", *map(str, arguments)]
    done = subprocess.run(command, cwd=TESTS, stdout=subprocess.PIPE, text=True)
    assert done.returncode == 0, f"{module} ended with {done.returncode}"
    return json.loads(done.stdout)
