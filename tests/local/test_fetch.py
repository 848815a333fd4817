"""Weights come whole or not at all: resumed, verified, from whichever mirror has them, one fetch at a time."""

from __future__ import annotations

import shutil
import socket
import tempfile
import threading
from collections import namedtuple
from pathlib import Path
from time import monotonic

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from charter import mirrors, weights
from charter.core.errors import FileRefused, ProviderDown
from charter.mirrors import UrlMirror

from .hub import FILE, NAME, Heard, know, names, serving

pytestmark = pytest.mark.requirement("N-16")

DATA = bytes(range(256)) * 40
OTHER = bytes(reversed(DATA))


def refused_port() -> str:
    """An address where nobody listens."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{found.getsockname()[1]}/{FILE}"


def test_a_fetched_file_has_its_name_its_bytes_and_a_folder_closed_to_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "deep" / "models"
    heard = Heard()
    with serving(DATA) as hub:
        know(monkeypatch, DATA, hub)
        path = weights.fetch(NAME, folder=folder, progress=heard)
    assert path.read_bytes() == DATA
    assert names(folder) == [FILE, f"{FILE}.verified"]
    assert (folder.stat().st_mode & 0o777, hub.ranges) == (0o700, [""])
    assert heard.lines == ["fetching tiny-model, 0 MB, from hub 1"]
    assert heard.sizes == [len(DATA)]


def test_what_came_before_the_line_was_cut_is_kept_and_the_next_fetch_asks_for_the_rest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving(DATA) as hub:
        know(monkeypatch, DATA, hub)
        hub.cut = 4000
        with pytest.raises(ProviderDown) as caught:
            weights.fetch(NAME, folder=tmp_path)
        assert str(caught.value) == (
            "embedded/tiny-model: its weights could not be fetched (hub 1: it ended after 4,000 of 10,240 bytes; "
            "what came is kept); run: charter model fetch tiny-model"
        )
        assert names(tmp_path) == [f"{FILE}.part"]
        assert (tmp_path / f"{FILE}.part").read_bytes() == DATA[:4000]
        hub.cut = None
        heard = Heard()
        assert weights.fetch(NAME, folder=tmp_path, progress=heard).read_bytes() == DATA
    assert hub.ranges == ["", "bytes=4000-"]
    assert heard.lines == ["going on with tiny-model, 0 MB, from hub 1"]


def test_a_mirror_that_does_not_do_ranges_is_heard_from_the_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / f"{FILE}.part").write_bytes(DATA[:100])
    with serving(DATA) as hub:
        hub.whole = True
        know(monkeypatch, DATA, hub)
        assert weights.fetch(NAME, folder=tmp_path).read_bytes() == DATA
    assert hub.ranges == ["bytes=100-"]


def test_bytes_with_a_wrong_hash_are_deleted_and_the_next_mirror_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    heard = Heard()
    with serving(OTHER) as false, serving(DATA) as true:
        know(monkeypatch, DATA, false, true)
        assert weights.fetch(NAME, folder=tmp_path, progress=heard).read_bytes() == DATA
    assert "hub 1: what it sent is not what the publisher made (its hash is wrong); deleted" in heard.lines
    assert (false.ranges, true.ranges) == ([""], [""])


def test_a_wrong_hash_everywhere_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(OTHER) as false:
        know(monkeypatch, DATA, false)
        with pytest.raises(ProviderDown, match=r"hub 1: what it sent is not what the publisher made \(its hash is"):
            weights.fetch(NAME, folder=tmp_path)
    assert names(tmp_path) == []


def test_a_beginning_that_was_wrong_does_not_cost_a_right_mirror_its_turn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / f"{FILE}.part").write_bytes(OTHER[:300])
    with serving(DATA) as hub:
        know(monkeypatch, DATA, hub)
        assert weights.fetch(NAME, folder=tmp_path).read_bytes() == DATA
    assert hub.ranges == ["bytes=300-", ""]


@pytest.mark.parametrize("have", [0, 300])
def test_a_file_of_another_size_is_not_taken_in_at_all(
    have: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / f"{FILE}.part").write_bytes(DATA[:have])
    with serving(DATA + b"!") as hub:
        know(monkeypatch, DATA, hub)
        with pytest.raises(ProviderDown, match="hub 1: the file it has is of another size"):
            weights.fetch(NAME, folder=tmp_path)
    assert (tmp_path / f"{FILE}.part").read_bytes() == DATA[:have]


def test_a_mirror_that_never_stops_is_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(DATA + b"!") as hub:
        hub.chunked = True
        know(monkeypatch, DATA, hub)
        with pytest.raises(ProviderDown, match="hub 1: it sends more than 10,240 bytes; deleted"):
            weights.fetch(NAME, folder=tmp_path)
    assert names(tmp_path) == []


def test_a_mirror_that_ends_early_without_a_word_is_not_believed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving(DATA[:-1]) as hub:
        hub.chunked = True
        know(monkeypatch, DATA, hub)
        with pytest.raises(ProviderDown, match="it ended after 10,239 of 10,240 bytes; what came is kept"):
            weights.fetch(NAME, folder=tmp_path)
    assert names(tmp_path) == [f"{FILE}.part"]


def test_every_mirror_that_was_tried_is_named_with_its_problem_and_the_next_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving(DATA) as hub:
        hub.status = 503
        know(monkeypatch, DATA, UrlMirror("the moon", refused_port()), UrlMirror("a riddle", "x://y"), hub)
        with pytest.raises(ProviderDown) as caught:
            weights.fetch(NAME, folder=tmp_path)
    assert str(caught.value) == (
        "embedded/tiny-model: its weights could not be fetched (the moon: out of reach; a riddle: out of reach; "
        "hub 3: it answered with status 503); run: charter model fetch tiny-model"
    )


def test_a_host_that_takes_the_call_and_says_nothing_is_left_within_the_time_to_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mirrors, "OPEN_SECONDS", 0.05)
    begin = monotonic()
    with serving(DATA) as silent:
        silent.open.clear()
        know(monkeypatch, DATA, silent)
        with pytest.raises(ProviderDown, match=r"hub 1: no answer within 0\.05 s"):
            weights.fetch(NAME, folder=tmp_path)
    assert names(tmp_path) == []
    assert monotonic() - begin < 5


def test_a_host_that_falls_silent_on_the_way_is_left_and_what_came_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mirrors, "READ_SECONDS", 0.2)
    monkeypatch.setattr(mirrors, "BLOCK", 1000)
    with serving(DATA) as hub:
        hub.cut, hub.stall = 4500, threading.Event()
        know(monkeypatch, DATA, hub)
        with pytest.raises(ProviderDown, match="hub 1: it broke off; what came is kept"):
            weights.fetch(NAME, folder=tmp_path)
    assert (tmp_path / f"{FILE}.part").read_bytes() == DATA[:4000]


# ── the disk ──────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_disk_that_is_too_small_is_known_before_the_first_byte(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage(0, 0, 4_000_000))
    with serving(DATA) as hub:
        row = know(monkeypatch, DATA, hub)
        large = {NAME: weights.Weights(**{**{f: getattr(row, f) for f in row.__struct_fields__}, "bytes": 9_000_000})}
        monkeypatch.setattr(weights, "known", lambda: large)
        with pytest.raises(FileRefused) as caught:
            weights.fetch(NAME, folder=tmp_path)
    assert str(caught.value) == (
        f"{tmp_path}: 9.0 MB are needed and 4.0 MB are free; make room, or set CHARTER_MODELS to another folder"
    )
    assert hub.ranges == []


def test_a_disk_that_fills_up_on_the_way_ends_it_without_asking_other_mirrors(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / f"{FILE}.part").symlink_to("/dev/full")
    with serving(DATA) as hub, serving(DATA) as second:
        know(monkeypatch, DATA, hub, second)
        with pytest.raises(FileRefused, match="No space left on device; check that folder, or set CHARTER_MODELS"):
            weights.fetch(NAME, folder=tmp_path)
    assert second.ranges == []


def test_a_folder_that_cannot_be_made_is_an_error_that_names_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    know(monkeypatch, DATA)
    with pytest.raises(FileRefused, match=f"{tmp_path}/file/models: Not a directory; check that folder"):
        weights.fetch(NAME, folder=tmp_path / "file" / "models")


# ── at once, and cut at will ──────────────────────────────────────────────────────────────────────────────────────


def test_two_fetches_at_once_are_one_the_second_waits_and_finds_it_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits = threading.Event()

    class Second(Heard):
        def say(self, line: str) -> None:
            super().say(line)
            waits.set()

    found: list[Path] = []
    second = Second()
    with serving(DATA) as hub:
        hub.open.clear()
        know(monkeypatch, DATA, hub)

        class First(Heard):
            def say(self, line: str) -> None:
                other.start()
                assert waits.wait(10)
                hub.open.set()

        other = threading.Thread(target=lambda: found.append(weights.fetch(NAME, folder=tmp_path, progress=second)))
        found.append(weights.fetch(NAME, folder=tmp_path, progress=First()))
        other.join()
    assert found == [tmp_path / FILE] * 2
    assert second.lines == ["another process fetches tiny.gguf; waiting for it"]
    assert hub.ranges == [""]


@settings(max_examples=40, deadline=None)
@given(cuts=st.lists(st.integers(0, len(DATA)), max_size=5), begun=st.binary(max_size=400))
def test_however_often_it_is_cut_the_name_appears_with_the_right_bytes_or_not_at_all(
    cuts: list[int], begun: bytes
) -> None:
    with tempfile.TemporaryDirectory() as place, serving(DATA) as hub, pytest.MonkeyPatch.context() as patch:
        know(patch, DATA, hub)
        path = Path(place) / FILE
        path.with_name(f"{FILE}.part").write_bytes(begun)
        for hub.cut in [*cuts, None]:
            try:
                weights.fetch(NAME, folder=path.parent)
            except ProviderDown:
                assert not path.exists()
            else:
                assert path.read_bytes() == DATA
        assert path.read_bytes() == DATA
