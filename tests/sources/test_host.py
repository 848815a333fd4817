"""S3-05: what the host says about itself is detected when asked, empty values are left out, and nothing raises."""

from __future__ import annotations

import os
import platform
import stat
import time
from pathlib import Path
from typing import Any

import pytest

from charter.sources import host
from charter.sources.host import detect_host

pytestmark = pytest.mark.requirement("S3-05")


@pytest.fixture(autouse=True)
def a_known_host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "node", lambda: "devbox")
    monkeypatch.setattr(platform, "system", lambda: "Linux")
    monkeypatch.setattr(platform, "machine", lambda: "x86_64")
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(host, "_LOCALTIME", str(tmp_path / "localtime"))
    monkeypatch.setattr(host, "_TIMEZONE", str(tmp_path / "timezone"))
    monkeypatch.setenv("SHELL", "/usr/bin/zsh")
    monkeypatch.setenv("TZ", "Europe/Paris")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))


def put_sudo(tmp_path: Path, script: str) -> None:
    sudo = tmp_path / "bin/sudo"
    sudo.parent.mkdir()
    sudo.write_text(f"#!/bin/sh\n{script}\n")
    sudo.chmod(sudo.stat().st_mode | stat.S_IXUSR)


def test_the_host_is_described_by_six_values() -> None:
    assert detect_host() == {
        "host": "devbox",
        "os": "linux",
        "arch": "x86_64",
        "shell": "zsh",
        "sudo_non_interactive": "true",
        "timezone": "Europe/Paris",
    }


@pytest.mark.parametrize(("system", "name"), [("Darwin", "macos"), ("Windows", "windows"), ("FreeBSD", "freebsd")])
def test_systems_go_by_their_plain_names(monkeypatch: Any, system: str, name: str) -> None:
    monkeypatch.setattr(platform, "system", lambda: system)
    assert detect_host()["os"] == name


def test_empty_and_unprintable_values_are_left_out(monkeypatch: Any) -> None:
    monkeypatch.setattr(platform, "node", lambda: "")
    monkeypatch.setattr(platform, "machine", lambda: "new\nline")
    monkeypatch.setenv("SHELL", "/bin/\udcff")
    assert list(detect_host()) == ["os", "sudo_non_interactive", "timezone"]
    monkeypatch.delenv("SHELL")
    assert "shell" not in detect_host()


@pytest.mark.parametrize(("script", "answer"), [('test "$*" = "-n true"', "true"), ("exit 1", "false")])
def test_sudo_is_asked_without_a_password_when_not_root(
    tmp_path: Path, monkeypatch: Any, script: str, answer: str
) -> None:
    put_sudo(tmp_path, script)
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert detect_host()["sudo_non_interactive"] == answer


def test_without_sudo_or_with_one_that_does_not_run_the_answer_is_false(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert detect_host()["sudo_non_interactive"] == "false"
    put_sudo(tmp_path, "")
    (tmp_path / "bin/sudo").write_text("#!/nowhere\n")
    assert detect_host()["sudo_non_interactive"] == "false"


def test_a_sudo_that_hangs_is_given_up(tmp_path: Path, monkeypatch: Any) -> None:
    put_sudo(tmp_path, "read line < $0.pipe")
    os.mkfifo(tmp_path / "bin/sudo.pipe")
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    monkeypatch.setattr(host, "_SUDO_SECONDS", 0.05)
    start = time.perf_counter()
    assert detect_host()["sudo_non_interactive"] == "false"
    assert time.perf_counter() - start < 1


@pytest.mark.parametrize(
    ("value", "zone"),
    [
        (":America/New_York", "America/New_York"),
        ("/usr/share/zoneinfo/Asia/Tokyo", "Asia/Tokyo"),
        ("posix/Asia/Tokyo", "Asia/Tokyo"),
        ("UTC", "UTC"),
    ],
)
def test_the_time_zone_is_the_iana_name_in_tz(monkeypatch: Any, value: str, zone: str) -> None:
    monkeypatch.setenv("TZ", value)
    assert detect_host()["timezone"] == zone


@pytest.mark.parametrize(
    "value", ["", "CET-1CEST-2", "Europe", "localtime", "../../etc/passwd", "/etc/passwd", "x" * 5000, "\udcff", "a\nb"]
)
def test_when_tz_is_no_iana_name_the_system_is_asked_and_utc_is_last(
    tmp_path: Path, monkeypatch: Any, value: str
) -> None:
    monkeypatch.setenv("TZ", value)
    assert detect_host()["timezone"] == "UTC"
    (tmp_path / "timezone").write_text("Asia/Tokyo\n")
    assert detect_host()["timezone"] == "Asia/Tokyo"
    (tmp_path / "localtime").symlink_to("../usr/share/zoneinfo/Europe/Berlin")
    assert detect_host()["timezone"] == "Europe/Berlin"


def test_system_files_that_make_no_sense_are_passed_over(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.delenv("TZ")
    (tmp_path / "localtime").write_text("not a link")
    (tmp_path / "timezone").write_bytes(b"\xff\xfe")
    assert detect_host()["timezone"] == "UTC"
