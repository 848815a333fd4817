"""S2-08, S3-04, N-07: a hostile workspace ends in a typed error or in a prompt that shows what is missing.

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
from contextlib import contextmanager
from pathlib import Path

import pytest

from charter.interfaces import build_system_prompt

pytestmark = pytest.mark.requirement("S2-08", "S3-04", "N-07")

NOBODY = 65534
# One line of JSON per case: the typed error, or the prompt. Any other exception ends the process and fails the test.
SCRIPT = """
import json, os, resource, sys, time
from pathlib import Path
import charter, charter.sources.project
from charter.core.errors import CharterError
from charter.core.incoming import Incoming

def build(name, root, project):
    world = {"workspace": root} if name == "workspace" else {
        "data_dir": root / "data", "project_dir": root / project, "project_root": root, "skills_dir": root / "skills",
        "tools": (), "given": {"no_host": True}}
    return charter.load(name, **world).assemble(Incoming(agent="pickle", at=0)).reveal()

cases, user = json.load(sys.stdin)
if user and os.getuid() == 0:
    build("gateway", Path("/"), ".")  # everything is imported before root's power goes
    os.setuid(user)
started = time.perf_counter()
for name, root, project in cases:
    try:
        print(json.dumps({"prompt": build(name, Path(root), project)}))
    except CharterError as error:
        print(json.dumps({"error": f"{type(error).__name__}: {error}"}))
status = Path("/proc/self/status")  # the peak of this program alone; getrusage counts the one that started it too
kept = [line.split()[1] for line in status.read_text().splitlines() if "VmHWM" in line] if status.exists() else []
peak = int(kept[0]) if kept else resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
unit = 1024 * 1024 if sys.platform == "darwin" else 1024
print(json.dumps({"seconds": (time.perf_counter() - started) / len(cases), "peak_mb": peak // unit}))
"""
INTRODUCTION, _, GUIDELINES = build_system_prompt([]).partition("\n\n")  # test_gateway.py has them word for word
RUNTIME = "## Runtime Context\n\n- Agent ID: pickle\n- Channel: terminal\n- Current time: 1970-01-01 00:00 UTC"
# Where a file can stand, and how large it may be there.
NAMED = {
    "workspace": ("agents/pickle/AGENT.md", "agents/pickle/SOUL.md", "SOUL.md", "TOOLS.md"),
    "gateway": ("data/IDENTITY.md", "data/SOUL.md", "data/USER.md", "data/AGENTS.md", "data/TOOLS.md"),
}
WALKED = ("project/CLAUDE.md", "project/CLAUDE.local.md", "project/.claude/rules/r.md", "project/AGENTS.md")
SKILL = "skills/s/SKILL.md"
LIMITS = {**dict.fromkeys(WALKED, "262,144"), SKILL: "1,048,576"}
Case = tuple[str, Path, str]


def root(base: Path, number: int) -> Path:
    """A workspace and a gateway's folders in one, in good order; a test spoils one file of it."""
    here = base / str(number)
    for folder in ("agents/pickle", "data", "project/.claude/rules", "skills"):
        (here / folder).mkdir(parents=True)
    (here / "agents/pickle/AGENT.md").write_text("---\nallow_skills: true\n---\nYou are Pickle.")
    return here


def outcomes(cases: list[Case], user: int = 0) -> list[dict[str, str]]:
    """What each case came to; the process ended, and stayed small."""
    asked = json.dumps([[(name, str(here), project) for name, here, project in cases], user])
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], input=asked, capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 0, done.stderr
    *found, cost = (json.loads(line) for line in done.stdout.splitlines())
    print(f"{cost['seconds']:.3f} of 2 seconds a case, {cost['peak_mb']} of 200 MB")
    assert cost["peak_mb"] < 200
    return found


def shown(name: str, title: str, text: str) -> dict[str, str]:
    """The whole prompt of a root in good order but for one section."""
    if name == "workspace":
        return {"prompt": f"You are Pickle.\n\n## {title}\n\n{text}\n\n{RUNTIME}"}
    return {"prompt": f"{INTRODUCTION}\n\n## {title}\n{text}\n\n{GUIDELINES}"}


def spoiled(base: Path, places: list[tuple[str, str]], spoil: Callable[[Path], object]) -> list[Case]:
    """A root for each place, with that one file spoiled."""
    cases = [(name, root(base, number), "project") for number, (name, _) in enumerate(places)]
    for (_, here, _), (_, place) in zip(cases, places, strict=True):
        (here / place).parent.mkdir(parents=True, exist_ok=True)
        (here / place).unlink(missing_ok=True)
        spoil(here / place)
    return cases


def spoil_each(base: Path, spoil: Callable[[Path], object], reason: str, user: int = 0) -> None:
    """Spoils every place in turn: a named file is an error, one found by walking leaves a notice (DESIGN, files)."""
    places = [(name, place) for name in ("workspace", "gateway") for place in (*NAMED[name], SKILL)]
    places += [("gateway", place) for place in WALKED]
    for (name, place), found in zip(places, outcomes(spoiled(base, places, spoil), user), strict=True):
        why = reason.format(limit=LIMITS.get(place, "8,388,608"))
        if place in NAMED[name]:
            assert found == {"error": f"FileRefused: {place.removeprefix('data/')}: {why}"}
        elif place == SKILL:
            assert found == shown(name, "Available Skills", f'("[skill left out: s — {why}]")')
        else:
            assert found == shown(name, "Project Context", f'("[left out: {place} — {why}]")')


def sparse(path: Path) -> None:
    path.touch()
    os.truncate(path, 104_857_600)


@pytest.mark.parametrize(
    ("spoil", "reason"),
    [
        (lambda path: path.symlink_to("/etc/hostname"), "a link that leads outside its root"),
        (lambda path: path.symlink_to("/dev/zero"), "a link that leads outside its root"),
        (lambda path: path.symlink_to(path.name), "a link that loops, changed, or is too deep to follow"),
        (lambda path: path.symlink_to("gone.md"), "a link to nothing"),
        (os.mkfifo, "not a regular file"),
        (Path.mkdir, "not a regular file"),
        (sparse, "104,857,600 bytes, the limit is {limit}"),
        (lambda path: path.write_bytes(b"caf\xe9 CANARY"), "not UTF-8 at byte 3"),
        (lambda path: path.write_bytes(b"CANARY\0"), "NUL at byte 6"),
    ],
    ids=["link out", "dev zero", "link loop", "dangling", "fifo", "folder", "100 MB", "not utf-8", "nul"],
)
def test_a_file_that_may_not_be_read_is_an_error_or_leaves_a_notice(
    tmp_path: Path, spoil: Callable[[Path], object], reason: str
) -> None:
    spoil_each(tmp_path, spoil, reason)


@pytest.fixture
def public(tmp_path: Path) -> Iterator[Path]:
    """A folder that a user without rights can reach, unlike pytest's own."""
    base = Path(tempfile.mkdtemp(prefix="charter-hostile-"))
    base.chmod(0o755)
    yield base
    for folder in base.rglob("*"):
        if folder.is_dir():
            folder.chmod(0o755)
    shutil.rmtree(base)


def test_a_file_without_the_right_to_read_it_is_an_error_or_leaves_a_notice(public: Path) -> None:
    def lock(path: Path) -> None:
        path.write_text("---\nname: CANARY\ndescription: CANARY\n---\nCANARY")
        path.chmod(0)

    spoil_each(public, lock, "not readable", NOBODY)


def test_a_folder_without_the_right_to_enter_it_is_an_error_or_leaves_a_notice(public: Path) -> None:
    names = (
        "project/CLAUDE.md",
        "project/CLAUDE.local.md",
        "project/.claude/rules",
        "project/AGENTS.md",
        "sub and below",
    )
    lines = [f'("[left out: {name} — not readable]")' for name in names]
    folders = ("agents/pickle", "skills", "data", "project/.claude/rules", "project")
    cases: list[Case] = []
    for number, folder in enumerate(folders):
        here = root(public, number)
        (here / "project/sub").mkdir()
        (here / folder).chmod(0)
        cases.append(("workspace" if number < 2 else "gateway", here, "project/sub"))
    agent, skill, data, rules, project = outcomes(cases, NOBODY)
    assert agent == {"error": "FileRefused: agents/pickle/AGENT.md: not readable"}
    assert skill == shown("workspace", "Available Skills", '("[skills left out: skills — not readable]")')
    assert data == {"error": "FileRefused: IDENTITY.md: not readable"}
    assert rules == shown("gateway", "Project Context", lines[2])
    assert project == shown("gateway", "Project Context", "\n".join(lines))


LAUGHS = "".join(f"l{n}: &l{n} [{', '.join([f'*l{n - 1}'] * 10)}]\n" for n in range(1, 10))


@pytest.mark.parametrize(
    ("yaml", "line", "problem"),
    [
        (f"l0: &l0 ha\n{LAUGHS}", 2, "anchors and aliases are not allowed"),
        ("name: x\nmodel: !!python/object/apply:os.system ['touch CANARY']\n", 3, "tags are not allowed"),
        (f"name: {'[' * 5_000}\n", 2, "nested deeper than 8 levels"),
        (f"name: {'x' * 20_000}\n", 1, "frontmatter of 20,007 bytes, the limit is 16,384"),
    ],
    ids=["bomb", "tag", "depth", "size"],
)
def test_yaml_that_would_run_or_blow_up_is_refused_by_line(tmp_path: Path, yaml: str, line: int, problem: str) -> None:
    named = [("workspace", "agents/pickle/AGENT.md"), ("gateway", "data/IDENTITY.md"), ("gateway", "data/USER.md")]
    places = [*named, ("workspace", SKILL), ("gateway", SKILL)]
    cases = spoiled(tmp_path, places, lambda path: path.write_text(f"---\n{yaml}---\nbody"))
    for (name, place), found in zip(places, outcomes(cases), strict=True):
        if place == SKILL:
            assert found == shown(name, "Available Skills", f'("[skill left out: s — SKILL.md:{line}: {problem}]")')
        else:
            assert found == {"error": f"ConfigError: {place.removeprefix('data/')}:{line}: {problem}"}
    assert not list(tmp_path.rglob("CANARY"))


def test_imports_in_a_circle_end_with_a_notice_and_a_workspace_imports_nothing(tmp_path: Path) -> None:
    here = root(tmp_path, 0)
    (here / "project/CLAUDE.md").write_text("One @a.md")
    (here / "project/a.md").write_text("two @b.md @CLAUDE.md")
    (here / "project/b.md").write_text("three @a.md @b.md")
    (here / "SOUL.md").write_text("@agents/pickle/AGENT.md @SOUL.md")
    workspace, gateway = outcomes([("workspace", here, ""), ("gateway", here, "project")])
    assert workspace == shown("workspace", "Personality", "@agents/pickle/AGENT.md @SOUL.md")
    one, two, three = (f"[import left out: {name} — it imports itself]" for name in ("a.md", "b.md", "CLAUDE.md"))
    text = f"### project/CLAUDE.md\n\nOne\n\ntwo\n\nthree {one} {two}\n\n{three}"
    assert gateway == shown("gateway", "Project Context", text)


def step(fd: int, name: str) -> int:
    opened = os.open(name, os.O_RDONLY, dir_fd=fd)
    os.close(fd)
    return opened


@contextmanager
def nested(top: Path, levels: int) -> Iterator[str]:
    """Folders in folders, made and removed step by step: by recursion this deep is more than Python allows."""
    fd = os.open(top, os.O_RDONLY)
    for level in range(levels):
        os.mkdir("d", dir_fd=fd)
        fd = step(fd, "d")
        with open(os.open("CLAUDE.md", os.O_WRONLY | os.O_CREAT, dir_fd=fd), "w") as file:
            file.write(f"level {level}.")
    yield "/".join([top.name, *"d" * levels])
    for _ in range(levels):
        os.unlink("CLAUDE.md", dir_fd=fd)
        fd = step(fd, "..")
        os.rmdir("d", dir_fd=fd)
    os.close(fd)


def test_a_thousand_nested_folders_are_walked_once_and_none_is_lost(tmp_path: Path) -> None:
    here = root(tmp_path, 0)
    (here / "skills").rmdir()
    (here / "skills").symlink_to("project")
    with nested(here / "project", 1_000) as deepest:
        workspace, gateway = outcomes([("workspace", here, ""), ("gateway", here, deepest)])
    assert workspace == shown("workspace", "Available Skills", '("[skill left out: d — it has no SKILL.md]")')
    found = [line for line in gateway["prompt"].split("\n") if line.startswith("level ")]
    assert found == [f"level {level}." for level in range(1_000)]


def test_a_name_that_is_no_line_is_shown_escaped_and_its_file_left_out(tmp_path: Path) -> None:
    here = root(tmp_path, 0)
    for name in (b"skills/a\nb", b"skills/\xff", b"project/.claude/rules/a\nb.md", b"project/.claude/rules/\xff.md"):
        path = here / os.fsdecode(name)
        (path if b"skills" in name else path.parent).mkdir(exist_ok=True)
        (path / "SKILL.md" if b"skills" in name else path).write_text("---\ndescription: CANARY\n---\nCANARY")
    agents = root(tmp_path, 1)
    (agents / "agents/pickle").rename(agents / "agents/a\n## b")
    (here / "pro\n## ject").mkdir()
    (here / "pro\n## ject/CLAUDE.md").write_text("Inside.")
    plain = "not a plain relative path"
    skills = "\n".join(f'("[skill left out: {name} — {plain}]")' for name in ("a\\\\nb", "\\\\xff"))
    rules = "\n".join(f'("[left out: project/.claude/rules/{name}.md — {plain}]")' for name in ("a\\\\nb", "\\\\xff"))
    cases = [("workspace", here, ""), ("gateway", here, "project"), ("workspace", agents, "")]
    first, second, third, fourth = outcomes([*cases, ("gateway", here, "pro\n## ject")])
    assert first == shown("workspace", "Available Skills", skills)
    assert second == shown("gateway", "Project Context", f"{rules}\n\n## Available Skills\n{skills}")
    assert third == {"error": "UnknownAgent: unknown agent 'pickle'; known: a\\n## b"}
    assert '\n\n## Project Context\n### "pro\\\\n## ject/CLAUDE.md"\n\nInside.\n\n' in fourth["prompt"]


def test_text_that_looks_like_a_template_is_never_evaluated(tmp_path: Path) -> None:
    here = root(tmp_path, 0)
    marks = "{{ 7 * 7 }}{% for x in y %}{# gone #}{{ agent_id }}"
    (here / "agents/pickle/AGENT.md").write_text(f"---\nmodel: '{marks}'\nallow_skills: true\n---\n{marks}")
    (here / "skills/s").mkdir()
    (here / SKILL).write_text(f"---\nname: s\ndescription: '{marks}'\n---\n")
    for place in ("SOUL.md", "TOOLS.md", "data/SOUL.md", "data/AGENTS.md", "data/TOOLS.md", *WALKED):
        (here / place).write_text(marks)
    for place in ("data/IDENTITY.md", "data/USER.md"):
        (here / place).write_text(
            "---\n" + "".join(f"{k}: '{marks}'\n" for k in ("name", "vibe", "location")) + "---\n"
        )
    workspace, gateway = outcomes([("workspace", here, ""), ("gateway", here, "project")])
    assert workspace["prompt"].count(marks) == 5
    assert gateway["prompt"].count(marks) == 12
    assert "49" not in workspace["prompt"] + gateway["prompt"]
