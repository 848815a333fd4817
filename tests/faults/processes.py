"""Processes that tests start, kill and wait for; a program of these tests forks, pytest itself never does."""

from __future__ import annotations

import fcntl
import json
import os
import select
import signal
import subprocess
import sys
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

TESTS = Path(__file__).parent.parent


def ask(module: str, *arguments: object, preload: Path | None = None) -> Any:
    """Runs `python -m faults.<module> …` and gives its answer, the last line it prints; what it says is shown."""
    command = [sys.executable, "-W", "error", "-m", f"faults.{module}", *map(str, arguments)]
    environment = {**os.environ, **({"LD_PRELOAD": str(preload)} if preload else {})}
    done = subprocess.run(command, cwd=TESTS, stdout=subprocess.PIPE, text=True, env=environment)
    assert done.returncode == 0, f"{module} ended with {done.returncode}"
    return json.loads(done.stdout)


def answer(commands: dict[str, Callable[..., object]]) -> None:
    """The other side of `ask`: the command the arguments name, its answer as JSON."""
    name, *rest = sys.argv[1:]
    print(json.dumps(commands[name](*rest)))


def say(what: str) -> None:
    """Progress, for who waits."""
    print(what, file=sys.stderr, flush=True)


def fork(work: Callable[[], object]) -> int:
    """A child that does this work and nothing else; its id."""
    child = os.fork()
    if child == 0:
        try:
            work()
        except BaseException:
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    return child


def ended(child: int) -> int:
    """Waits for the end of a child: 0 when it ended well, minus the signal when it was killed."""
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def kill(child: int) -> None:
    os.kill(child, signal.SIGKILL)


def die() -> None:
    """This process ends as if the machine had taken it away."""
    os.kill(os.getpid(), signal.SIGKILL)


class Lines:
    """A pipe that a child writes lines to, each at once, and its parent reads."""

    def __init__(self) -> None:
        self.reading, self.writing = os.pipe()
        fcntl.fcntl(self.writing, fcntl.F_SETPIPE_SZ, 1 << 20)  # children tell much before anybody reads
        self.rest = b""

    def tell(self, value: object) -> None:
        os.write(self.writing, json.dumps(value).encode() + b"\n")

    def ready(self) -> bool:
        return b"\n" in self.rest or bool(select.select([self.reading], [], [], 0)[0])

    def __iter__(self) -> Iterator[Any]:
        """Every line until nobody can write any more; the parent's own end is closed first."""
        if self.writing >= 0:
            os.close(self.writing)
            self.writing = -1
        while True:
            while b"\n" not in self.rest:
                some = os.read(self.reading, 65536)
                if not some:
                    return
                self.rest += some
            line, _, self.rest = self.rest.partition(b"\n")
            yield json.loads(line)

    def close(self) -> None:
        for end in (self.reading, self.writing):
            if end >= 0:
                os.close(end)
        self.reading = self.writing = -1
