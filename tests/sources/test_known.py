"""A file that did not change is not opened again; whatever changed about it or the way to it, it is."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from charter.core.errors import FileRefused
from charter.sources import known
from charter.sources.files import read_file as read_anew
from charter.sources.known import read_file
from charter.sources.skills import load_skills

OLD = time.time_ns() - 60 * 10**9


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names that were really read; a file's times count as old, as if it had lain there for a while."""
    names: list[str] = []

    def counting(root: Path, name: str, *, max_bytes: int) -> object:
        names.append(name)
        return read_anew(root, name, max_bytes=max_bytes)

    monkeypatch.setattr(known, "read_anew", counting)
    monkeypatch.setattr(known, "SETTLED_NS", 0)
    return names


def text_of(root: Path, name: str) -> str | None:
    found = read_file(root, name)
    return found.text if found else None


def test_a_file_that_did_not_change_is_opened_once(tmp_path: Path, opened: list[str]) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a/x.md").write_text("one")
    assert [text_of(tmp_path, "a/x.md") for _ in range(3)] == ["one", "one", "one"]
    assert opened == ["a/x.md"]


def _write(root: Path) -> None:
    (root / "a/x.md").write_text("two!")


def _same_size(root: Path) -> None:
    (root / "a/x.md").write_text("two")
    os.utime(root / "a/x.md", ns=(OLD, OLD))


def _replace(root: Path) -> None:
    (root / "new").write_text("two")
    (root / "new").replace(root / "a/x.md")


def _other_folder(root: Path) -> None:
    (root / "b").mkdir()
    (root / "b/x.md").write_text("two")
    (root / "a").rename(root / "c")
    (root / "b").rename(root / "a")


@pytest.mark.parametrize("change", [_write, _same_size, _replace, _other_folder])
def test_a_file_that_changed_is_read_anew(tmp_path: Path, opened: list[str], change: Callable[[Path], None]) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a/x.md").write_text("one")
    os.utime(tmp_path / "a/x.md", ns=(OLD, OLD))
    assert text_of(tmp_path, "a/x.md") == "one"
    change(tmp_path)
    assert text_of(tmp_path, "a/x.md") in ("two", "two!")


def test_a_file_written_just_now_is_read_every_time(
    tmp_path: Path, opened: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(known, "SETTLED_NS", 10**15)
    (tmp_path / "x.md").write_text("one")
    assert [text_of(tmp_path, "x.md") for _ in range(3)] == ["one"] * 3
    assert opened == ["x.md"] * 3


def test_a_file_that_goes_away_is_gone(tmp_path: Path, opened: list[str]) -> None:
    (tmp_path / "x.md").write_text("one")
    assert text_of(tmp_path, "x.md") == "one"
    (tmp_path / "x.md").unlink()
    assert text_of(tmp_path, "x.md") is None


def test_a_link_put_in_its_place_is_looked_at_as_ever(tmp_path: Path, opened: list[str]) -> None:
    root = tmp_path / "root"
    root.mkdir()
    (tmp_path / "secret").write_text("outside")
    (root / "x.md").write_text("one")
    assert text_of(root, "x.md") == "one"
    (root / "x.md").unlink()
    (root / "x.md").symlink_to(tmp_path / "secret")
    with pytest.raises(FileRefused, match="a link that leads outside its root"):
        read_file(root, "x.md")


def test_a_folder_on_the_way_that_becomes_a_link_is_looked_at_as_ever(tmp_path: Path, opened: list[str]) -> None:
    root = tmp_path / "root"
    (root / "a").mkdir(parents=True)
    (root / "a/x.md").write_text("one")
    assert text_of(root, "a/x.md") == "one"
    (root / "a").rename(tmp_path / "a")
    (root / "a").symlink_to(tmp_path / "a")
    with pytest.raises(FileRefused, match="a link that leads outside its root"):
        read_file(root, "a/x.md")


def test_at_most_so_many_are_kept(tmp_path: Path, opened: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(known, "MOST", 2)
    monkeypatch.setattr(known, "_kept", {})
    for name in ("a", "b", "c"):
        (tmp_path / name).write_text(name)
        assert text_of(tmp_path, name) == name
    assert len(known._kept) == 1


def skill(root: Path, name: str, text: str) -> None:
    folder = root / "skills" / name
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "SKILL.md").write_text(f"---\nname: {name}\ndescription: {text}\n---\n{text}\n")


def test_skills_are_the_ones_that_are_there_now(tmp_path: Path, opened: list[str]) -> None:
    skill(tmp_path, "plan", "Plans.")
    assert [one.description for one in load_skills(tmp_path)[0]] == ["Plans."]
    read = len(opened)
    assert [one.description for one in load_skills(tmp_path)[0]] == ["Plans."]
    assert len(opened) == read
    skill(tmp_path, "plan", "Plans well.")
    assert [one.description for one in load_skills(tmp_path)[0]] == ["Plans well."]
    skill(tmp_path, "rest", "Rests.")
    assert [one.name for one in load_skills(tmp_path)[0]] == ["plan", "rest"]


def test_a_name_that_was_missing_is_not_looked_for_again_while_its_folder_is_looked_at() -> None:
    folder, file = (1, 2, 3, 4, 5), (1, 6, 3, 4, 5)
    looks: known.Looks = {"w/": folder, "w/a": (), "w/b": folder, "w/b/c": (), "w/b/d": file, "v/e": (), "w/a/f": ()}
    assert list(known.telling(looks)) == ["w/", "w/b", "w/b/d", "v/e", "w/a/f"]
