"""S2-08, N-07: what is far too big is refused by its size, and the process stays small."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.requirement("S2-08", "N-07")

SIZE = 104_857_600

# Runs in a process of its own, because the peak of memory is a number of the whole process.
SCRIPT = """
import re, sys
from pathlib import Path
from charter.core.errors import FileRefused
from charter.sources.files import read_file
from charter.sources.project import project_files
from charter.sources.skills import load_skills

root = Path(sys.argv[1])
try:
    read_file(root, "CLAUDE.md")
except FileRefused as refused:
    print(refused)
print(*project_files(root, root=root).notices)
print(*load_skills(root)[1])
# Not getrusage: its peak counts what the parent had before this program was loaded.
peak = int(re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text()).group(1)) // 1024
print("small" if peak < 200 else f"{peak} MB")
"""


def run(root: Path) -> list[str]:
    done = subprocess.run([sys.executable, "-c", SCRIPT, str(root)], capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


def fill_sparse(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(SIZE)


def fill_whole(path: Path) -> None:
    with path.open("wb") as file:
        for _ in range(SIZE // 1_048_576):
            file.write(b"x" * 1_048_576)


@pytest.mark.parametrize("fill", [fill_sparse, fill_whole])
def test_a_hundred_megabytes_are_refused_unread(tmp_path: Path, fill: object) -> None:
    assert callable(fill)
    (tmp_path / "skills/big").mkdir(parents=True)
    for name in ("CLAUDE.md", "skills/big/SKILL.md"):
        fill(tmp_path / name)
    try:
        assert run(tmp_path) == [
            "CLAUDE.md: 104,857,600 bytes, the limit is 8,388,608",
            "[left out: CLAUDE.md — 104,857,600 bytes, the limit is 262,144]",
            "[skill left out: big — 104,857,600 bytes, the limit is 1,048,576]",
            "small",
        ]
    finally:
        for name in ("CLAUDE.md", "skills/big/SKILL.md"):
            (tmp_path / name).unlink()


def test_the_largest_file_that_is_read_keeps_the_process_small(tmp_path: Path) -> None:
    (tmp_path / "CLAUDE.md").write_bytes("😀\r".encode() * (8_388_608 // 5))
    assert run(tmp_path) == ["[left out: CLAUDE.md — 8,388,605 bytes, the limit is 262,144]", "", "small"]


def test_a_full_budget_of_imports_keeps_the_process_small(tmp_path: Path) -> None:
    (tmp_path / "CLAUDE.md").write_text("@a.md " * 40_000)
    (tmp_path / "a.md").write_text("- `@a.md` @b.md\n" * 1000)
    (tmp_path / "b.md").write_text("* " * 10_000)
    assert run(tmp_path) == ["", "", "small"]
