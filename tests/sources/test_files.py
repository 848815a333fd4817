"""S2-08: a file is opened once, inside its root, capped, UTF-8 and hashed as read, or refused with a reason."""

from __future__ import annotations

import hashlib
import os
import socket
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from charter.core.errors import FileRefused
from charter.sources.files import FileText, list_dir, read_file, show_name

pytestmark = pytest.mark.requirement("S2-08")

OUTSIDE = "a link that leads outside its root"
LOOPS = "a link that loops, changed, or is too deep to follow"


def text_of(root: Path, name: str, **limits: int) -> str:
    found = read_file(root, name, **limits)
    assert found is not None
    return found.text


def refused(root: Path, name: str, **limits: int) -> str:
    with pytest.raises(FileRefused) as caught:
        read_file(root, name, **limits)
    return caught.value.reason


def test_a_file_comes_with_its_name_text_hash_and_size_as_read(tmp_path: Path) -> None:
    (tmp_path / "agents").mkdir()
    data = b"\xef\xbb\xbfone\r\ntwo\rthree\n"
    (tmp_path / "agents/AGENT.md").write_bytes(data)
    expected = FileText("agents/AGENT.md", "one\ntwo\nthree\n", hashlib.sha256(data).hexdigest(), len(data))
    assert read_file(tmp_path, "./agents//AGENT.md") == expected


def test_the_text_never_shows_in_the_repr(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("canary")
    assert "canary" not in repr(read_file(tmp_path, "a.md"))


def test_only_the_first_byte_order_mark_is_dropped(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("\ufeff\ufeffx", encoding="utf-8")
    assert text_of(tmp_path, "a.md") == "\ufeffx"


def test_text_that_looks_like_a_template_stays_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("{{ x }} {% raw %} ${y} %(z)s")
    assert text_of(tmp_path, "a.md") == "{{ x }} {% raw %} ${y} %(z)s"


@pytest.mark.parametrize("name", ["none.md", "none/none.md", "file.md/none.md"])
def test_what_is_not_there_is_none(tmp_path: Path, name: str) -> None:
    (tmp_path / "file.md").write_text("x")
    assert read_file(tmp_path, name) is None
    assert read_file(tmp_path / "no root", name) is None


@pytest.mark.parametrize(
    "name",
    ["", ".", "/etc/passwd", "..", "../x", "a/../../x", "a/..", "a\\b", "a\0b", "a\nb", "a\x7f", "a\x85", "\udcff"],
)
def test_a_name_that_is_not_a_plain_relative_path_is_refused(tmp_path: Path, name: str) -> None:
    assert refused(tmp_path, name) == "not a plain relative path"


def test_a_link_inside_the_root_is_followed(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "real/a.md").write_text("inside")
    (tmp_path / "relative").symlink_to("real")
    (tmp_path / "absolute.md").symlink_to(tmp_path / "real/a.md")
    (tmp_path / "round.md").symlink_to(f"../{tmp_path.name}/relative/a.md")
    for name in ("relative/a.md", "absolute.md", "round.md"):
        assert text_of(tmp_path, name) == "inside"


def test_a_root_that_is_itself_a_link_is_a_root(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "real/a.md").write_text("x")
    (tmp_path / "real/b.md").symlink_to("a.md")
    (tmp_path / "root").symlink_to("real")
    assert text_of(tmp_path / "root", "b.md") == "x"


def test_a_link_out_of_the_root_is_refused(tmp_path: Path) -> None:
    root = tmp_path / "root"
    (root / "sub").mkdir(parents=True)
    (tmp_path / "root2").mkdir()
    (tmp_path / "root2/secret.md").write_text("secret")
    (root / "file.md").symlink_to("../root2/secret.md")
    (root / "dir").symlink_to(tmp_path / "root2")
    (root / "dangling.md").symlink_to("/nowhere/at/all")
    (root / "zero.md").symlink_to("/dev/zero")
    (root / "sub/up.md").symlink_to("../../root2/secret.md")
    for name in ("file.md", "dir/secret.md", "dir/none.md", "dangling.md", "zero.md", "sub/up.md"):
        assert refused(root, name) == OUTSIDE
    with pytest.raises(FileRefused, match=OUTSIDE):
        list_dir(root, "dir")


def test_a_link_to_nothing_and_a_link_in_a_circle_are_refused(tmp_path: Path) -> None:
    (tmp_path / "nothing.md").symlink_to("gone.md")
    (tmp_path / "a.md").symlink_to("b.md")
    (tmp_path / "b.md").symlink_to("a.md")
    assert refused(tmp_path, "nothing.md") == "a link to nothing"
    assert refused(tmp_path, "a.md") == LOOPS


def test_a_missing_file_behind_a_linked_directory_is_none(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    assert read_file(tmp_path, "link/none.md") is None


def test_a_directory_swapped_for_a_link_after_resolving_is_not_followed(tmp_path: Path, monkeypatch: Any) -> None:
    root, outside = tmp_path / "root", tmp_path / "outside"
    (root / "real").mkdir(parents=True)
    (root / "real/a.md").write_text("inside")
    (root / "link").symlink_to("real")
    outside.mkdir()
    (outside / "a.md").write_text("secret")
    resolve = os.path.realpath

    def resolve_then_swap(path: Any, **options: Any) -> str:
        resolved = str(resolve(path, **options))
        if resolved.endswith("a.md"):
            (root / "real").rename(root / "old")
            (root / "real").symlink_to(outside)
        return resolved

    monkeypatch.setattr(os.path, "realpath", resolve_then_swap)
    assert refused(root, "link/a.md") == LOOPS


def test_a_file_swapped_for_a_link_before_opening_is_not_followed(tmp_path: Path, monkeypatch: Any) -> None:
    (tmp_path / "secret.md").write_text("secret")
    (tmp_path / "root").mkdir()
    victim = tmp_path / "root/a.md"
    victim.write_text("inside")
    real_open = os.open

    def swap_then_open(path: Any, flags: int, *args: Any, **options: Any) -> int:
        if path == "a.md":
            victim.unlink()
            victim.symlink_to(tmp_path / "secret.md")
        return real_open(path, flags, *args, **options)

    monkeypatch.setattr(os, "open", swap_then_open)
    assert refused(tmp_path / "root", "a.md") == LOOPS


def test_what_is_not_a_regular_file_is_refused_without_waiting(tmp_path: Path) -> None:
    (tmp_path / "directory").mkdir()
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "link").symlink_to("fifo")
    (tmp_path / "self").symlink_to(".")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "socket"))
        for name in ("directory", "fifo", "link", "self", "socket"):
            assert refused(tmp_path, name) == "not a regular file"
    assert refused(Path("/dev"), "zero") == "not a regular file"


def test_a_pipe_swapped_in_before_opening_is_refused_without_waiting(tmp_path: Path, monkeypatch: Any) -> None:
    (tmp_path / "a.md").write_text("x")
    real_open = os.open

    def swap_then_open(path: Any, flags: int, *args: Any, **options: Any) -> int:
        if path == "a.md":
            (tmp_path / "a.md").unlink()
            os.mkfifo(tmp_path / "a.md")
        return real_open(path, flags, *args, **options)

    monkeypatch.setattr(os, "open", swap_then_open)
    assert refused(tmp_path, "a.md") == "not a regular file"


def test_the_size_limit_is_inclusive_and_checked_before_reading(tmp_path: Path, monkeypatch: Any) -> None:
    (tmp_path / "a.md").write_text("x" * 1001)
    assert text_of(tmp_path, "a.md", max_bytes=1001) == "x" * 1001
    monkeypatch.setattr(os, "read", lambda *_: pytest.fail("read before the size was checked"))
    assert refused(tmp_path, "a.md", max_bytes=1000) == "1,001 bytes, the limit is 1,000"


def test_a_file_that_grows_while_it_is_read_is_refused(tmp_path: Path, monkeypatch: Any) -> None:
    path = tmp_path / "a.md"
    path.write_text("x" * 10)
    read = os.read

    def grow_then_read(fd: int, count: int) -> bytes:
        with path.open("a") as more:
            more.write("y" * 10)
        return read(fd, count)

    monkeypatch.setattr(os, "read", grow_then_read)
    assert refused(tmp_path, "a.md", max_bytes=15) == "grew while it was read, the limit is 15 bytes"


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"abc\xff", "not UTF-8 at byte 3"),
        (b"\xed\xa0\x80", "not UTF-8 at byte 0"),
        (b"ok\xc3", "not UTF-8 at byte 2"),
        ("hi".encode("utf-16-be"), "NUL at byte 0"),
        (b"abcdef\0", "NUL at byte 6"),
    ],
)
def test_bytes_that_are_not_text_are_refused_by_offset_and_the_error_carries_no_content(
    tmp_path: Path, data: bytes, reason: str
) -> None:
    (tmp_path / "a.md").write_bytes(data)
    with pytest.raises(FileRefused) as caught:
        read_file(tmp_path, "a.md")
    assert str(caught.value) == f"a.md: {reason}"
    assert (caught.value.__context__, caught.value.__cause__) == (None, None)


@pytest.mark.parametrize(
    ("error", "reason"), [(PermissionError(13, "no"), "not readable"), (OSError(5, "io"), "cannot be read (EIO)")]
)
def test_a_file_the_system_does_not_open_is_refused(
    tmp_path: Path, monkeypatch: Any, error: OSError, reason: str
) -> None:
    (tmp_path / "a.md").write_text("x")
    real_open = os.open

    def deny(path: Any, flags: int, *args: Any, **options: Any) -> int:
        if path in ("a.md", str(tmp_path / "closed")):
            raise error
        return real_open(path, flags, *args, **options)

    monkeypatch.setattr(os, "open", deny)
    assert refused(tmp_path, "a.md") == reason
    assert refused(tmp_path / "closed", "a.md") == f"root {reason}"


def test_a_name_too_long_for_the_system_is_refused(tmp_path: Path) -> None:
    assert refused(tmp_path, "x" * 300) == "name too long for this system"


def test_no_descriptor_stays_open_whatever_happens(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub/a.md").write_text("x")
    (tmp_path / "bad.md").write_bytes(b"\0")
    (tmp_path / "out.md").symlink_to("/etc/passwd")
    before = sorted(os.listdir("/proc/self/fd"))
    read_file(tmp_path, "sub/a.md")
    list_dir(tmp_path, "sub")
    for name in ("bad.md", "out.md", "sub", "sub/../a.md"):
        refused(tmp_path, name)
    assert sorted(os.listdir("/proc/self/fd")) == before


def test_a_listing_is_sorted_and_keeps_odd_names_for_the_caller(tmp_path: Path) -> None:
    for name in (b"b.md", b"a.md", b"new\nline.md", b"\xff.md"):
        (tmp_path / os.fsdecode(name)).write_text("x")
    (tmp_path / "folder").mkdir()
    (tmp_path / "loop").symlink_to("loop")
    assert list_dir(tmp_path, ".") == ["a.md", "b.md", "folder", "loop", "new\nline.md", "\udcff.md"]
    assert list_dir(tmp_path, ".", folders_only=True) == ["folder", "loop"]
    assert list_dir(tmp_path, "none") == list_dir(tmp_path / "none", ".") == []


def test_a_listing_that_is_too_long_or_no_directory_is_refused(tmp_path: Path) -> None:
    for number in range(4):
        (tmp_path / f"{number}").write_text("x")
    assert len(list_dir(tmp_path, ".", limit=4)) == 4
    with pytest.raises(FileRefused, match="more than 3 entries"):
        list_dir(tmp_path, ".", limit=3)
    with pytest.raises(FileRefused, match="not a directory"):
        list_dir(tmp_path, "0")


@pytest.mark.parametrize(
    ("name", "shown"),
    [("plain é 名.md", "plain é 名.md"), ("a\nb\\", "a\\nb\\\\"), ("\udcff\u202e", "\\xff\\u202e"), ("x" * 121, None)],
)
def test_a_name_is_shown_on_one_line(name: str, shown: str | None) -> None:
    assert show_name(name) == (shown or "x" * 59 + "…" + "x" * 59)


@given(st.text(st.characters()))
def test_whatever_the_name_it_is_shown_printable_and_short(name: str) -> None:
    shown = show_name(name)
    assert shown.isprintable()
    assert len(shown) <= 120
    assert shown.encode("utf-8").decode("utf-8") == shown
