"""A house with one agent and a model that says what it was told to; a clock that goes when it is told to."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from charter import app, stores
from charter.core.served import Schedule
from charter.folder import load
from charter.house import House
from charter.stores.migrate import upgrade
from charter.stores.store import SqlStore
from charter.testing import ScriptedProvider
from stores.pg import fresh_database

SECOND = 10**9
PATIENCE_S = 60
NOON = int(datetime(2026, 11, 16, 12, tzinfo=UTC).timestamp()) * SECOND


def address(kind: str, folder: Path) -> str:
    """A new database of this kind, brought up to date."""
    url = f"sqlite:///{folder}/charter.db" if kind == "sqlite" else fresh_database()
    upgrade(url)
    return url


def opened(url: str) -> SqlStore:
    return stores.open(url, keys=app.keys())


def house_of(store: SqlStore, script: Iterable[Any], *, lease_ns: int = 30 * SECOND, name: str = "assistant") -> House:
    """The assistant, served under this name."""
    agent = app.make_agent(load("assistant"), store, ScriptedProvider(script), name=name)
    return House(store, {name: agent}, lease_ns=lease_ns)


def schedule(cron: str = "0 9 * * *", **more: Any) -> Schedule:
    given = {"id": "s1", "agent": "assistant", "timezone": "UTC", "text": "Read the news to me.", "at_ns": NOON, **more}
    return Schedule(cron=cron, **given)


@dataclass
class Clock:
    """A clock that stands still."""

    now: int = NOON

    def __call__(self) -> int:
        return self.now


@dataclass
class Kept:
    """A queue that keeps what is put into it, each once."""

    put_in: list[tuple[str, int]] = field(default_factory=list)
    begun: list[tuple[str, int]] = field(default_factory=list)
    forgotten: list[tuple[str, int]] = field(default_factory=list)

    def put(self, kind: str, name: str, number: int) -> None:
        if (name, number) not in self.put_in:
            self.put_in.append((name, number))

    def lost(self, older_than_s: float) -> list[tuple[str, int]]:
        return list(self.begun)

    def forget(self, name: str, number: int) -> None:
        self.forgotten.append((name, number))
        self.begun.remove((name, number))

    def tidy(self, before: datetime) -> int:
        return 0


def wait_for(holds: Callable[[], bool]) -> None:
    """Until it holds; a test that waits too long fails."""
    end = time.monotonic() + PATIENCE_S
    pause = threading.Event()
    while not holds():
        assert time.monotonic() < end, "it did not come to hold"
        pause.wait(0.05)
