"""What the machine says about itself, asked now; what it does not say is left out, and nothing here raises."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
from contextlib import suppress
from typing import Final
from zoneinfo import ZoneInfo

_SYSTEMS: Final = {"darwin": "macos"}
_LOCALTIME: Final = "/etc/localtime"
_TIMEZONE: Final = "/etc/timezone"
_NOT_PLACES: Final = frozenset({"localtime", "posixrules", "Factory"})
_SUDO_SECONDS: Final = 1.0


def detect_host() -> dict[str, str]:
    """host, os, arch, shell, sudo_non_interactive and timezone; a value that is empty or not printable is left out."""
    system = platform.system().lower()
    facts = {
        "host": platform.node(),
        "os": _SYSTEMS.get(system, system),
        "arch": platform.machine(),
        "shell": os.path.basename(os.environ.get("SHELL", "")),
        "sudo_non_interactive": "true" if _sudo() else "false",
        "timezone": _timezone(),
    }
    return {name: value for name, value in facts.items() if value and value.isprintable()}


def _sudo() -> bool:
    """Whether root's power is there without a password."""
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        return True
    sudo = shutil.which("sudo")
    return bool(sudo) and _succeeds([str(sudo), "-n", "true"])


def _succeeds(command: list[str]) -> bool:
    null = subprocess.DEVNULL
    try:
        process = subprocess.Popen(command, stdin=null, stdout=null, stderr=null, start_new_session=True)
    except OSError:
        return False
    try:
        return process.wait(timeout=_SUDO_SECONDS) == 0
    except subprocess.TimeoutExpired:
        with suppress(OSError, subprocess.TimeoutExpired):  # a process of root's may not be ours to stop
            process.kill()
            process.wait(timeout=_SUDO_SECONDS)
        return False


def _timezone() -> str:
    candidates = (os.environ.get("TZ", "").removeprefix(":"), _link(_LOCALTIME), _first_line(_TIMEZONE))
    names = (_zone_name(candidate) for candidate in candidates)
    return next((name for name in names if _is_zone(name)), "UTC")


def _zone_name(value: str) -> str:
    """The IANA name in a zone file's path, or the value itself."""
    name = value.rpartition("zoneinfo/")[2]
    return name.removeprefix("posix/").removeprefix("right/")


def _is_zone(name: str) -> bool:
    if not name or name in _NOT_PLACES:
        return False
    try:
        ZoneInfo(name)
    except (KeyError, ValueError, OSError):  # unknown, not a name, a directory
        return False
    return True


def _link(path: str) -> str:
    try:
        return os.readlink(path)
    except OSError:
        return ""


def _first_line(path: str) -> str:
    try:
        with open(path, encoding="utf-8") as lines:
            return lines.readline(256).strip()
    except (OSError, ValueError):
        return ""
