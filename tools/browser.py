"""The browser of the tests: found where it is, installed where it may be, else one command to run."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

NAMES: Final = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome")
VARIABLE: Final = "CHARTER_CHROMIUM"
INSTALL: Final = ("apt-get", "install", "-y", "--no-install-recommends", "chromium")
FLAGS: Final = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-dev-shm-usage",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
)  # fmt: skip


def find() -> Path:
    """The browser; an error that says how to get one when there is none."""
    found = _there()
    if found is None:
        raise FileNotFoundError(f"no Chromium; {_advice()}")
    return found


def _there() -> Path | None:
    named = os.environ.get(VARIABLE, "")
    rows = [named] if named else [path for name in NAMES if (path := shutil.which(name))]
    return next((Path(row) for row in rows if Path(row).is_file()), None)


def _advice() -> str:
    return f"run: sudo {' '.join(INSTALL)}   (or name one: {VARIABLE}=/path/to/chrome)"


def main() -> int:
    """Makes sure that there is a browser."""
    if _there() is not None:
        return 0
    if os.geteuid() != 0 or shutil.which(INSTALL[0]) is None:
        print(f"error: the tests of pages need a Chromium; {_advice()}", file=sys.stderr)
        return 1
    print("── Chromium for the tests of pages, once", flush=True)
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for command in (("apt-get", "update", "-q"), INSTALL):
        if subprocess.run(command, env=environment, stdout=subprocess.DEVNULL).returncode:
            print(f"error: that did not work; {_advice()}", file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
