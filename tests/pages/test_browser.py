"""The browser of the tests is found, or installed, or asked for with the one command that brings it."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import browser
import pytest


@pytest.fixture
def nowhere(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    monkeypatch.delenv(browser.VARIABLE, raising=False)
    monkeypatch.setattr("browser.shutil.which", lambda name: "/usr/bin/apt-get" if name == "apt-get" else None)
    return monkeypatch


def test_one_that_is_named_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = tmp_path / "chrome"
    made.touch()
    monkeypatch.setenv(browser.VARIABLE, str(made))
    assert browser.find() == made


def test_without_one_the_command_is_said(nowhere: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(FileNotFoundError, match="sudo apt-get install -y --no-install-recommends chromium"):
        browser.find()
    nowhere.setattr("browser.os.geteuid", lambda: 1000)
    assert browser.main() == 1
    assert "run: sudo apt-get install -y --no-install-recommends chromium" in capsys.readouterr().err


@pytest.mark.parametrize(("status", "result"), [(0, 0), (100, 1)])
def test_as_root_it_is_installed(nowhere: pytest.MonkeyPatch, status: int, result: int) -> None:
    ran: list[tuple[str, ...]] = []

    def run(command: tuple[str, ...], **_: Any) -> subprocess.CompletedProcess[str]:
        ran.append(command)
        return subprocess.CompletedProcess(command, status)

    nowhere.setattr("browser.os.geteuid", lambda: 0)
    nowhere.setattr("browser.subprocess.run", run)
    assert browser.main() == result
    assert ran[-1] == (browser.INSTALL if status == 0 else ("apt-get", "update", "-q"))
