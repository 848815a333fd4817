"""A process that writes to a store until its input ends: `python -m stores.writers URL` says a line per deed."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from select import select
from typing import IO

from charter import stores

from .filled import KEYS
from .histories import DEEDS, History, is_forgotten, is_pruned


@contextmanager
def writing(url: str) -> Iterator[IO[str]]:
    """Another process that writes; each line of its is one thing it has done."""
    command = [sys.executable, "-W", "error", "-m", "stores.writers", url]
    with subprocess.Popen(
        command, cwd=Path(__file__).parents[1], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin
        assert process.stdout
        process.stdout.readline()
        try:
            yield process.stdout
        finally:
            process.stdin.close()
            while process.stdout.readline():
                pass
    assert process.returncode == 0


def write(url: str) -> None:
    """Does one thing after the other until its input ends."""
    with stores.open(url, keys=KEYS) as store:
        history = History(store, 5, tuple(deed for deed in DEEDS if deed not in (is_forgotten, is_pruned)))
        while not select([sys.stdin], [], [], 0)[0]:
            history.go_on(1)
            print(".", flush=True)


if __name__ == "__main__":
    write(sys.argv[1])
