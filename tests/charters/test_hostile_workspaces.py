"""S2-08, S3-04, N-07: a hostile workspace ends in a typed error or in a prompt that shows what is missing, and soon.

Each case runs in a process of its own: that it ends and stays small is asserted, its time is printed.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

pytestmark = pytest.mark.requirement("S2-08", "S3-04", "N-07")

BUDGET_SECONDS = 2
PEAK_MB = 200
# Prints one line of JSON per root: the typed error, or the prompt. A plain exception ends the process and the test.
SCRIPT = """
import json, os, resource, sys, time
from pathlib import Path
import charter
from charter.core.errors import CharterError
from charter.core.incoming import Incoming

def build(name, root):
    if name == "workspace":
        world = {"workspace": root}
    else:
        world = {"data_dir": root / "data", "project_dir": root / "project", "project_root": root,
                 "skills_dir": root / "skills", "tools": (), "given": {"no_host": True}}
    return charter.load(name, **world).assemble(Incoming(agent="pickle", at=0)).reveal()

name, user, *roots = sys.argv[1:]
build("gateway", Path("/nonexistent-" + name) if False else Path(roots[0]).parent / "warm")
if user and os.getuid() == 0:
    os.setuid(int(user))
started = time.perf_counter()
for root in roots:
    try:
        print(json.dumps({"prompt": build(name, Path(root))}))
    except CharterError as error:
        print(json.dumps({"error": f"{type(error).__name__}: {error}"}))
seconds = time.perf_counter() - started
status = Path("/proc/self/status")
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
if status.exists():  # the peak of this program alone, without that of the one that started it
    peak = next(int(line.split()[1]) for line in status.read_text().splitlines() if line.startswith("VmHWM")) // 1024
print(json.dumps({"seconds": seconds / len(roots), "peak": peak}))
"""
