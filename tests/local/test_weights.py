"""A file that is here is used when its bytes are its publisher's, and quickly when they were proved before."""

from __future__ import annotations

import hashlib
import os
import shutil
from pathlib import Path

import pytest

from charter import weights
from charter.core.errors import FileRefused, ProviderDown, RequestError

from .hub import FILE, NAME, know, names, serving

pytestmark = pytest.mark.requirement("N-16")

DATA = bytes(range(256)) * 40


def test_the_folder_is_the_variables_else_the_platforms_cache() -> None:
    assert weights.models_folder({"CHARTER_MODELS": "/srv/models"}) == Path("/srv/models")
    assert weights.models_folder({}).parts[-2:] == ("charter", "models")


@pytest.fixture
def fetched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file that was fetched, and no mirror any more."""
    with serving(DATA) as hub:
        know(monkeypatch, DATA, hub)
        path = weights.fetch(NAME, folder=tmp_path)
    know(monkeypatch, DATA)
    return path


def unread(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Counts the times a file is hashed."""
    hashed: list[str] = []
    real = hashlib.file_digest

    def count(file: object, name: str) -> object:
        hashed.append(name)
        return real(file, name)  # type: ignore[arg-type]

    monkeypatch.setattr(hashlib, "file_digest", count)
    return hashed


def test_a_proved_file_is_not_read_again(fetched: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hashed = unread(monkeypatch)
    assert weights.fetch(NAME, folder=fetched.parent) == fetched
    assert weights.verified(NAME, folder=fetched.parent) == fetched
    assert hashed == []


@pytest.mark.parametrize("touch", ["times", "no stamp", "copied", "stamp of another"])
def test_a_file_of_which_nobody_is_sure_is_proved_again(
    touch: str, fetched: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stamp = fetched.with_name(f"{FILE}.verified")
    if touch == "times":
        os.utime(fetched)
    elif touch == "no stamp":
        stamp.unlink()
    elif touch == "copied":
        shutil.copy2(fetched, fetched.with_name("copy"))
        fetched.with_name("copy").replace(fetched)
    else:
        stamp.write_text(stamp.read_text().replace(" ", "  ", 1))
    hashed = unread(monkeypatch)
    assert weights.verified(NAME, folder=fetched.parent) == fetched
    assert hashed == ["sha256"]
    weights.verified(NAME, folder=fetched.parent)
    assert hashed == ["sha256"]


@pytest.mark.parametrize("change", ["a byte", "its end"])
def test_a_file_that_was_changed_is_refused_and_a_fetch_makes_it_right(
    change: str, fetched: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = fetched.stat()
    changed = bytearray(DATA if change == "a byte" else DATA[:-1])
    changed[7] ^= 1
    fetched.write_bytes(changed)
    os.utime(fetched, ns=(before.st_atime_ns, before.st_mtime_ns))  # as if nothing had been
    with pytest.raises(FileRefused) as caught:
        weights.verified(NAME, folder=fetched.parent)
    assert str(caught.value) == (
        "tiny.gguf: not what its publisher made (size or hash); run: charter model fetch tiny-model"
    )
    with serving(DATA) as hub:
        know(monkeypatch, DATA, hub)
        assert weights.fetch(NAME, folder=fetched.parent).read_bytes() == DATA


def test_weights_that_are_not_here_say_how_to_fetch_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    know(monkeypatch, DATA)
    with pytest.raises(ProviderDown) as caught:
        weights.verified(NAME, folder=tmp_path)
    assert str(caught.value) == "embedded/tiny-model: its weights are not here; run: charter model fetch tiny-model"
    assert not weights.present(NAME, folder=tmp_path)
    with pytest.raises(RequestError, match="unknown embedded model 'large'; known: tiny-model"):
        weights.verified("large", folder=tmp_path)


def test_removing_frees_all_that_is_here_of_a_model_and_nothing_else(fetched: Path) -> None:
    (fetched.parent / "mine.txt").write_text("")
    (fetched.parent / f"{FILE}.part").write_bytes(b"12345")
    (fetched.parent / f"{FILE}.wheels").mkdir()
    assert weights.remove(NAME, folder=fetched.parent) == len(DATA) + 5
    assert names(fetched.parent) == ["mine.txt"]
