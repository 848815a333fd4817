"""Processes that migrate, to be killed or to race: `python -m stores.children killed|together …` says what they did."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from sqlalchemy import Engine, event

from charter.stores import migrate, sqlite_path

from . import databases
from .pg import copied

HERE = Path(__file__).parent


def ask(*arguments: str) -> Any:
    """Runs this module as a program of its own, which may fork, and gives its answer."""
    command = [sys.executable, "-W", "error", "-m", "stores.children", *arguments]
    done = subprocess.run(command, cwd=HERE.parent, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def killed(way: str, url: str, every: int = 1) -> dict[str, Any]:
    """Migrates copies of a database, each killed at another statement; what was wrong with the copies after that."""
    before, number, journals, spilled = state(url), 0, 0, 0
    wrong: list[int] = []
    _migrate(way, _copy(url, 0))  # so that what is forked has everything imported
    while True:
        number += every
        copy = _copy(url, number)
        status = _forked(lambda at=number, copy=copy: _killed_at(way, copy, at))  # type: ignore[misc]
        if os.WIFEXITED(status):
            return {
                "killed": number // every - 1, "journals": journals, "spilled": spilled, "wrong": wrong,
                "status": status,
            }  # fmt: skip
        journals += any(_journals(copy))
        spilled += _bytes(copy) != _bytes(url)
        if state(copy) != before:
            wrong.append(number)


def together(url: str, count: int) -> list[list[str]]:
    """What each of several processes that begin at once says it applied."""
    start, answers = os.pipe(), os.pipe()

    def wait_and_upgrade() -> None:
        os.close(start[1])
        os.read(start[0], 1)  # until the parent closes its end
        os.write(answers[1], json.dumps(migrate.upgrade(url)).encode() + b"\n")

    children = [_fork(wait_and_upgrade) for _ in range(count)]
    os.close(start[1])
    assert [os.waitpid(child, 0)[1] for child in children] == [0] * count
    return [json.loads(line) for line in os.read(answers[0], 65536).splitlines()]


def state(url: str) -> tuple[Any, ...]:
    """All a database holds and how it is built."""
    return migrate.current(url), databases.contents(url), databases.catalogue(url)


def _killed_at(way: str, url: str, number: int) -> None:
    left = number

    def count(*_: object) -> None:
        nonlocal left
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    event.listen(Engine, "before_cursor_execute", count)
    event.listen(Engine, "commit", count)
    _migrate(way, url)


def _migrate(way: str, url: str) -> None:
    if way == "upgrade":
        migrate.upgrade(url)
    else:
        migrate.downgrade(url, "0001")


def _copy(url: str, number: int) -> str:
    path = sqlite_path(url) if url.startswith("sqlite:") else None
    if path is None:
        return copied(url)
    copy = path.with_name(f"copy-{number}.db")
    shutil.copy(path, copy)
    return f"sqlite:///{copy}"


def _journals(url: str) -> list[bool]:
    """Whether SQLite left something to roll back."""
    path = sqlite_path(url) if url.startswith("sqlite:") else None
    sides = [Path(f"{path}-{side}") for side in ("journal", "wal")]
    return [side.exists() and side.stat().st_size > 0 for side in sides]


def _bytes(url: str) -> bytes:
    path = sqlite_path(url) if url.startswith("sqlite:") else None
    return path.read_bytes() if path else b""


def _forked(work: Callable[[], None]) -> int:
    return os.waitpid(_fork(work), 0)[1]


def _fork(work: Callable[[], None]) -> int:
    child = os.fork()
    if child == 0:
        try:
            work()
        except BaseException as error:
            print(repr(error), file=sys.stderr)
            os._exit(1)
        os._exit(0)
    return child


if __name__ == "__main__":
    name, *rest = sys.argv[1:]
    answer: object = killed(rest[0], rest[1], int(rest[2])) if name == "killed" else together(rest[0], int(rest[1]))
    print(json.dumps(answer))
