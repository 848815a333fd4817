"""A worker in a process of its own: python -m schedule.worker URL POINT SECONDS.

It dies at the point, or works until its input ends. After so many seconds what another worker left is taken up.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from typing import Any

from charter.scheduler import working
from charter.stores.store import SqlStore

from .rooms import SECOND, house_of, opened

POINTS = ("before it begins", "begun", "taken", "asked", "settled", "ended")


def die(*_: object) -> str:
    os.kill(os.getpid(), signal.SIGKILL)
    return ""


def dying(name: str, *, after: bool) -> None:
    """This method of the store is the last thing the process does, or the first it does not do."""
    real: Callable[..., Any] = getattr(SqlStore, name)

    def run(*given: Any, **named: Any) -> None:
        if after:
            real(*given, **named)
        die()

    setattr(SqlStore, name, run)


def main(url: str, point: str, seconds: str) -> None:
    methods = {
        "before it begins": "begin_run",
        "begun": "begin_run",
        "taken": "take",
        "settled": "settle",
        "ended": "end_run",
    }
    if point in methods:
        dying(methods[point], after=point != "before it begins")
    script = [die] if point == "asked" else ["Here is the news."] * 1000
    with opened(url) as store:
        house = house_of(store, script, lease_ns=int(float(seconds) * SECOND))
        with working(house, database=url, stale_s=float(seconds)):
            print("working", flush=True)
            sys.stdin.read()
        house.close()
    print("ended", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
