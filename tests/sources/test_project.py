"""S3-04: project files from the outermost directory inwards, imports in place, and a notice for every hole."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from charter.core.errors import BadValue
from charter.sources.project import Found, ProjectFile, project_files

pytestmark = pytest.mark.requirement("S3-04")

OUTSIDE = "a link that leads outside its root"


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def expanded(root: Path) -> str:
    """The one file of a root, whose import notices are exactly those in its text."""
    (found,) = project_files(root, root=root).files
    assert all(notice in found.text for notice in found.notices)
    assert found.text.count("[import left out: ") == len(found.notices)
    return found.text


def test_files_come_outermost_first_and_in_the_order_of_the_design(tmp_path: Path) -> None:
    for place in ("", "a", "a/b"):
        for name in ("AGENTS.md", ".claude/rules/z.md", ".claude/rules/b.md", "CLAUDE.local.md", "CLAUDE.md"):
            write(tmp_path / place / name, f"\n{place}:{name}\n")
    write(tmp_path / "a/b/c/CLAUDE.md", "below the project directory")
    found = project_files(tmp_path / "a/b", root=tmp_path)
    order = ("CLAUDE.md", "CLAUDE.local.md", ".claude/rules/b.md", ".claude/rules/z.md", "AGENTS.md")
    expected = [ProjectFile(f"{p}{n}", f"{p.rstrip('/')}:{n}") for p in ("", "a/", "a/b/") for n in order]
    assert found == Found(tuple(expected), ())


def test_without_a_root_the_walk_goes_to_the_top_and_paths_are_relative_to_the_directory(tmp_path: Path) -> None:
    write(tmp_path / "CLAUDE.md", "outer")
    write(tmp_path / "a/b/CLAUDE.md", "inner")
    files = project_files(tmp_path / "a/b").files
    assert files[-2:] == (ProjectFile("../../CLAUDE.md", "outer"), ProjectFile("CLAUDE.md", "inner"))


def test_missing_and_blank_files_say_nothing(tmp_path: Path) -> None:
    write(tmp_path / "CLAUDE.md", " \n\n")
    write(tmp_path / ".claude/rules/notes.txt", "not Markdown")
    write(tmp_path / ".claude/rules/.hidden.md", "hidden")
    assert project_files(tmp_path, root=tmp_path) == Found((), ())


def test_the_directory_is_reached_physically(tmp_path: Path) -> None:
    write(tmp_path / "real/CLAUDE.md", "real")
    (tmp_path / "real/sub").mkdir()
    write(tmp_path / "other/CLAUDE.md", "other")
    (tmp_path / "other/link").symlink_to("../real/sub")
    found = project_files(tmp_path / "other/link", root=tmp_path)
    assert [file.path for file in found.files] == ["real/CLAUDE.md"]


def test_a_root_that_does_not_contain_the_directory_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(BadValue, match=r"^root: does not contain the project directory$"):
        project_files(tmp_path / "root2", root=tmp_path / "root")


def test_a_directory_that_is_not_there_is_an_error(tmp_path: Path, monkeypatch: Any) -> None:
    write(tmp_path / "file", "x")
    with pytest.raises(BadValue, match=r"^directory: does not exist$"):
        project_files(tmp_path / "none")
    with pytest.raises(BadValue, match=r"^directory: is not a directory, or was replaced during the walk$"):
        project_files(tmp_path / "file")
    with pytest.raises(BadValue, match=r"^root: not a directory that can be opened: not there$"):
        project_files(tmp_path / "none", root=tmp_path / "none")
    monkeypatch.setattr(os, "getcwd", lambda: os.stat(tmp_path / "none"))
    with pytest.raises(BadValue, match=r"^directory: not there$"):
        project_files(Path("."))


def test_a_file_that_cannot_be_used_is_left_out_with_a_notice(tmp_path: Path) -> None:
    (tmp_path / "CLAUDE.md").write_bytes(b"twelve bytes\xff")
    (tmp_path / "CLAUDE.local.md").symlink_to("/etc/passwd")
    os.mkfifo(tmp_path / "AGENTS.md")
    for name in (b"new\nline.md", b"\xff.md"):
        write(tmp_path / ".claude/rules" / os.fsdecode(name), "odd")
    write(tmp_path / ".claude/rules/big.md", "x" * 262_145)
    found = project_files(tmp_path, root=tmp_path)
    assert found == Found(
        (),
        (
            "[left out: CLAUDE.md — not UTF-8 at byte 12]",
            f"[left out: CLAUDE.local.md — {OUTSIDE}]",
            "[left out: .claude/rules/big.md — 262,145 bytes, the limit is 262,144]",
            "[left out: .claude/rules/new\\nline.md — not a plain relative path]",
            "[left out: .claude/rules/\\xff.md — not a plain relative path]",
            "[left out: AGENTS.md — not a regular file]",
        ),
    )


def test_links_are_followed_inside_their_directory_only_even_under_a_wider_root(tmp_path: Path) -> None:
    write(tmp_path / "shared/rules/a.md", "a")
    write(tmp_path / "project/AGENTS.md", "agents")
    (tmp_path / "project/CLAUDE.md").symlink_to("AGENTS.md")
    (tmp_path / "project/.claude").mkdir()
    (tmp_path / "project/.claude/rules").symlink_to("../../shared/rules")
    found = project_files(tmp_path / "project", root=tmp_path)
    assert [file.text for file in found.files] == ["agents", "agents"]
    assert found.notices == (f"[left out: project/.claude/rules — {OUTSIDE}]",)


def test_an_odd_directory_name_is_shown_on_one_line(tmp_path: Path) -> None:
    write(tmp_path / "new\nline/CLAUDE.md", "x")
    assert project_files(tmp_path / "new\nline", root=tmp_path).files[0].path == "new\\nline/CLAUDE.md"


def test_an_import_becomes_a_paragraph_of_its_own(tmp_path: Path) -> None:
    write(tmp_path / "docs/a.md", "\nA1\n\nA2\n\n")
    write(tmp_path / "CLAUDE.md", "@docs/a.md\nSee @docs/a.md for more (or @./docs/a.md).\n- @docs/a.md\n\n    code\n")
    assert expanded(tmp_path) == (
        "A1\n\nA2\n\nSee\n\nA1\n\nA2\n\nfor more (or\n\nA1\n\nA2\n\n).\n-\n\nA1\n\nA2\n\n    code"
    )


def test_template_looking_text_stays_as_it_is(tmp_path: Path) -> None:
    write(tmp_path / "a.md", "{{ x }} \\1 \\g<0>")
    write(tmp_path / "CLAUDE.md", "{% raw %} @a.md")
    assert expanded(tmp_path) == "{% raw %}\n\n{{ x }} \\1 \\g<0>"


@pytest.mark.parametrize(
    "text",
    [
        "mail ada@a.md or <ada@a.md>, ask @ada or @ada. @",
        "`@a.md` and `` code ` @a.md `` and ` @a.md\n@a.md `",
        "```\n@a.md\n```\n\n~~~~ @a.md\n@a.md\n~~~\n@a.md\n~~~~",
        "text\n\n    @a.md\n\n\t@a.md",
        "- item\n\n  ```\n  @a.md\n  ```\n\n> ```\n> @a.md",
        "<!-- @a.md -->\n\n<pre>\n@a.md\n</pre>",
        "> " * 30 + "@a.md",
        "x \ue000" + "9" * 5000 + "\ue001 ` @a.md `",
    ],
)
def test_code_comments_mentions_and_addresses_are_not_imports(tmp_path: Path, text: str) -> None:
    write(tmp_path / "a.md", "IMPORTED")
    write(tmp_path / "CLAUDE.md", text)
    assert expanded(tmp_path) == text


@pytest.mark.parametrize(
    "text", ["`open @a.md", "\\` @a.md `", "<rules>\n@a.md\n</rules>", "a\n    @a.md", "1. x\n   @a.md", "> @a.md"]
)
def test_what_only_looks_like_code_is_prose(tmp_path: Path, text: str) -> None:
    write(tmp_path / "a.md", "IMPORTED")
    write(tmp_path / "CLAUDE.md", text)
    assert "IMPORTED" in expanded(tmp_path)


def test_an_import_is_relative_to_its_file_and_stops_at_the_declared_root(tmp_path: Path) -> None:
    write(tmp_path / "secret.md", "secret")
    write(tmp_path / "root/shared.md", "shared")
    write(tmp_path / "root/p/docs/a.md", "@b.md @../../shared.md @../../../secret.md")
    write(tmp_path / "root/p/docs/b.md", "b")
    write(tmp_path / "root/p/CLAUDE.md", "@docs/a.md")
    (found,) = project_files(tmp_path / "root/p", root=tmp_path / "root").files
    notice = "[import left out: ../../../secret.md — outside the root]"
    assert found == ProjectFile("p/CLAUDE.md", f"b\n\nshared\n\n{notice}", (notice,))


def test_without_a_declared_root_imports_stay_in_the_directory_of_the_first_file(tmp_path: Path) -> None:
    write(tmp_path / "shared.md", "shared")
    write(tmp_path / "p/docs/a.md", "a")
    write(tmp_path / "p/CLAUDE.md", "@../shared.md")
    write(tmp_path / "p/.claude/rules/r.md", "@../../docs/a.md")
    claude, rule = project_files(tmp_path / "p").files[-2:]
    assert claude.text == "[import left out: ../shared.md — outside the root]"
    assert rule == ProjectFile(".claude/rules/r.md", "a")


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("none.md", "no such file"),
        ("/etc/passwd", "an absolute path"),
        ("~/x.md", "a path in a home directory"),
        ("../x.md", "outside the root"),
        ("docs/../../x.md", "outside the root"),
        ("CLAUDE.md", "it imports itself"),
        ("docs/../CLAUDE.md", "it imports itself"),
        ("out.md", OUTSIDE),
        ("docs/", "not a regular file"),
        ("fifo.md", "not a regular file"),
        ("logo.png", "NUL at byte 4"),
        ("a\\b.md", "not a plain relative path"),
        ("x" * 300 + ".md", "name too long for this system"),
    ],
)
def test_an_import_that_cannot_be_used_leaves_a_notice_in_its_place(tmp_path: Path, path: str, reason: str) -> None:
    write(tmp_path / "docs/a.md", "a")
    (tmp_path / "logo.png").write_bytes(b"\x89PNG"[1:] + b"x\0")
    (tmp_path / "out.md").symlink_to("/etc/passwd")
    os.mkfifo(tmp_path / "fifo.md")
    write(tmp_path / "CLAUDE.md", f"before @{path} after")
    shown = path.replace("\\", "\\\\") if len(path) < 120 else "x" * 59 + "…" + "x" * 56 + ".md"
    assert expanded(tmp_path) == f"before [import left out: {shown} — {reason}] after"


def test_a_cycle_is_cut_where_it_closes(tmp_path: Path) -> None:
    write(tmp_path / "CLAUDE.md", "top @a.md")
    write(tmp_path / "a.md", "a @b.md")
    write(tmp_path / "b.md", "b @a.md")
    assert expanded(tmp_path) == "top\n\na\n\nb [import left out: a.md — it imports itself]"


def test_four_hops_are_followed_and_the_fifth_is_not(tmp_path: Path) -> None:
    write(tmp_path / "CLAUDE.md", "0 @1.md")
    for hop in range(1, 6):
        write(tmp_path / f"{hop}.md", f"{hop} @{hop + 1}.md")
    assert expanded(tmp_path) == "0\n\n1\n\n2\n\n3\n\n4 [import left out: 5.md — more than 4 hops]"


def test_fifty_files_are_imported_and_no_more(tmp_path: Path) -> None:
    write(tmp_path / "a.md", "A")
    write(tmp_path / "CLAUDE.md", "@a.md " * 52)
    left_out = "[import left out: a.md — more than 50 imports]"
    assert expanded(tmp_path) == "\n\n".join(["A"] * 50 + [f"{left_out} {left_out}"])


def test_a_mebibyte_is_imported_and_no_more(tmp_path: Path) -> None:
    write(tmp_path / "a.md", "x" * 262_144)
    write(tmp_path / "CLAUDE.md", "@a.md " * 5)
    text = expanded(tmp_path)
    assert text.count("x" * 262_144) == 4
    assert text.endswith("\n\n[import left out: a.md — 262,144 bytes, the limit is 0]")


def test_many_refused_imports_take_no_long_time(tmp_path: Path) -> None:
    write(tmp_path / "CLAUDE.md", "@/a " * 65_000)
    start = time.perf_counter()
    assert expanded(tmp_path).count("an absolute path") == 65_000
    assert time.perf_counter() - start < 5


@pytest.fixture
def deep(tmp_path: Path) -> Iterator[Path]:
    """A place for deep trees, which Python's own clean-up cannot remove."""
    yield tmp_path / "deep"
    subprocess.run(["rm", "-rf", str(tmp_path / "deep")], check=True)


def nest(top: Path, name: str, levels: int) -> Path:
    top.mkdir()
    here = os.open(top, os.O_RDONLY)
    for _ in range(levels):
        os.mkdir(name, dir_fd=here)
        child = os.open(name, os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = child
    with open(os.open("CLAUDE.md", os.O_WRONLY | os.O_CREAT, dir_fd=here), "w") as file:
        file.write("the deepest")
    os.close(here)
    return top.joinpath(*[name] * levels)


@pytest.mark.parametrize("name", ["d", "longer than PATH_MAX"])
def test_a_thousand_nested_directories_are_walked_in_under_a_second(deep: Path, name: str) -> None:
    bottom = nest(deep, name, 1000)
    write(deep / "CLAUDE.md", "the topmost")
    start = time.perf_counter()
    found = project_files(bottom)
    assert time.perf_counter() - start < 1
    assert found.files[-2:] == (
        ProjectFile("../" * 1000 + "CLAUDE.md", "the topmost"),
        ProjectFile("CLAUDE.md", "the deepest"),
    )
    assert project_files(bottom, root=deep).files[-1].path == f"{name}/" * 1000 + "CLAUDE.md"


def test_a_directory_the_system_does_not_open_ends_the_walk_with_a_notice(tmp_path: Path, monkeypatch: Any) -> None:
    write(tmp_path / "CLAUDE.md", "outer")
    write(tmp_path / "closed/sub/CLAUDE.md", "inner")
    real_open = os.open

    def deny(path: Any, flags: int, *args: Any, **options: Any) -> int:
        if path == "closed":
            raise PermissionError(13, "no")
        return real_open(path, flags, *args, **options)

    monkeypatch.setattr(os, "open", deny)
    found = project_files(tmp_path / "closed/sub", root=tmp_path)
    assert found == Found((ProjectFile("CLAUDE.md", "outer"),), ("[left out: closed and below — not readable]",))
