"""What a test cannot do to its own process: fork, become nobody, run out of room; each here in a process of its own."""

from __future__ import annotations

import gc
import os
import resource
import signal
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from charter.core.errors import CharterError
from charter.stores import sqlite_path
from charter.stores.memory import MemoryStore
from charter.stores.store import SqlStore

from . import work
from .processes import Lines, answer, die, ended, fork
from .whole import wrong
from .work import opened


def said(attempt: Callable[[], object]) -> str:
    """What came of it: `done`, or an error of ours in words."""
    try:
        attempt()
    except CharterError as error:
        return f"{type(error).__name__}: {error}"
    return "done"


def told(*attempts: Callable[[], object]) -> list[str]:
    """What a child is told when it tries these, one after the other."""
    lines = Lines()

    def try_all() -> None:
        for attempt in attempts:
            lines.tell(said(attempt))

    child = fork(try_all)
    answers = [str(line) for line in lines]
    lines.close()
    assert ended(child) == 0
    return answers


def write(store: SqlStore, agent: str, *versions: int) -> None:
    for version in versions:
        work.amend(store, agent, version)
        assert store.head(work.persona(agent)) is not None


# ── forks ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def orphan(url: str) -> dict[str, Any]:
    """A child goes on to write when its parent has closed the store, and is killed: what it acknowledged is there."""
    store, go, lines = opened(url), os.pipe(), Lines()
    write(store, "agent", 1)

    def outlive() -> None:
        write(store, "agent", 2)
        lines.tell("up")
        os.read(go[0], 1)
        write(store, "agent", 3, 4, 5)
        lines.tell("down")
        die()

    child = fork(outlive)
    saying = iter(lines)
    assert next(saying) == "up"
    store.close()
    os.write(go[1], b".")
    assert [*saying, ended(child)] == ["down", -signal.SIGKILL]
    with opened(url) as again:
        return {"versions": len(again.history(work.persona("agent"))), "wrong": wrong(again, "agent")}


def inside(url: str) -> dict[str, Any]:
    """A fork inside a transaction: that file is not for the child; the parent goes on."""
    with opened(url) as store:
        with store.db.writing() as run:
            run("INSERT INTO user_settings (user_id, timezone) VALUES ('ada', 'Europe/Berlin')")
            child = told(lambda: store.timezone("ada"), lambda: write(store, "child", 1), lambda: opened(url))
        write(store, "parent", 1)
        return {"child": child, "kept": store.timezone("ada"), "wrong": wrong(store, "parent")}


def amid_threads(url: str, children: str) -> dict[str, Any]:
    """Forks while other threads read and write all the time: everybody's writes are there."""
    over, errors = threading.Event(), list[str]()

    def busy(name: str) -> None:
        version = 0
        while not over.is_set():
            version += 1
            answer_ = said(lambda next_=version: write(store, name, next_))  # type: ignore[misc]
            if answer_ != "done":
                errors.append(answer_)

    with opened(url) as store:
        threads = [threading.Thread(target=busy, args=(f"thread {number}",)) for number in range(3)]
        for thread in threads:
            thread.start()
        for number in range(int(children)):
            errors += [line for line in told(lambda n=number: write(store, f"child {n}", 1, 2, 3)) if line != "done"]  # type: ignore[misc]
        over.set()
        for thread in threads:
            thread.join()
        names = [f"thread {number}" for number in range(3)] + [f"child {number}" for number in range(int(children))]
        problems = [problem for name in names for problem in wrong(store, name)]
        written = sum(len(store.history(work.persona(name))) == 3 for name in names[3:])
    return {"errors": errors, "wrong": problems, "children": written}


def shared(url: str) -> dict[str, Any]:
    """A child uses its parent's store and ends as programs do: the parent has the connections it had."""
    with opened(url) as store:
        write(store, "parent", 1)
        before = _served(store)

        def use_and_clean_up() -> None:
            write(store, "child", 1)
            store.close()
            gc.collect()

        child = told(use_and_clean_up, lambda: write(store, "child", 2))
        after = _served(store)
        write(store, "parent", 2)
        return {"child": child, "same": before <= after, "wrong": wrong(store, "parent") + wrong(store, "child")}


def _served(store: SqlStore) -> set[int]:
    """Which processes of a server serve this database, as clients of ours."""
    if store.db.kind == "sqlite":
        return set()
    mine = "application_name = 'charter' AND datname = current_database()"
    return {row[0] for row in store.db.read(f"SELECT pid FROM pg_stat_activity WHERE {mine}")}


def in_memory() -> list[str]:
    """A store in memory goes on in the child, as a copy; a closed one stays closed."""
    store, closed = MemoryStore(work.KEYS), MemoryStore(work.KEYS)
    write(store, "agent", 1)
    closed.close()
    answers = told(lambda: write(store, "agent", 2), lambda: write(closed, "agent", 1))
    write(store, "agent", 2)
    return answers


# ── limits ────────────────────────────────────────────────────────────────────────────────────────────────────────


def no_room(url: str) -> dict[str, Any]:
    """A file that may grow no further, and then may again: with the same store."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    path, hard = sqlite_path(url), resource.getrlimit(resource.RLIMIT_FSIZE)[1]
    assert path is not None
    with opened(url) as store:
        write(store, "agent", 1)
        size = path.stat().st_size + 40_000
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
        full = said(lambda: write(store, "agent", *range(2, 500)))
        seen = len(store.history(work.persona("agent")))
        resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
        again = said(lambda: write(store, "agent", seen + 1))
        return {"full": full, "again": again, "wrong": wrong(store, "agent")}


def no_handles(url: str) -> dict[str, Any]:
    """A process that may open no more files, and then may again."""
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    opened(url).close()
    used = len(os.listdir("/proc/self/fd"))
    answers = []
    for more in range(12):
        resource.setrlimit(resource.RLIMIT_NOFILE, (used + more, hard))
        answers.append(said(lambda n=more: _open_and_write(url, f"agent {n}")))  # type: ignore[misc]
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    with opened(url) as store:
        problems = [problem for more in range(12) for problem in wrong(store, f"agent {more}")]
        there = [len(store.history(work.persona(f"agent {more}"))) for more in range(12)]
    return {"answers": answers, "there": there, "wrong": problems}


def _open_and_write(url: str, agent: str) -> None:
    with opened(url) as store:
        write(store, agent, 1)


def as_nobody(url: str) -> str:
    """Writes as a user whom permissions bind, which they do not for root."""
    if os.geteuid() == 0:
        os.setgroups([])
        os.setgid(65534)
        os.setuid(65534)
    return said(lambda: _open_and_write(url, "agent"))


# ── other places ──────────────────────────────────────────────────────────────────────────────────────────────────


def elsewhere(folder: str) -> dict[str, Any]:
    """A store named by a relative path, in a process that then goes elsewhere."""
    os.chdir(folder)
    Path("other").mkdir()
    with opened("sqlite:///charter.db") as store:
        os.chdir("other")
        answers = [said(lambda: write(store, "agent", 1))]
        return {"answers": answers, "made": os.listdir("."), "wrong": wrong(store, "agent")}


if __name__ == "__main__":
    scenarios: dict[str, Callable[..., object]] = {
        "orphan": orphan, "inside": inside, "amid_threads": amid_threads, "shared": shared, "in_memory": in_memory,
        "no_room": no_room, "no_handles": no_handles, "as_nobody": as_nobody, "elsewhere": elsewhere,
    }  # fmt: skip
    answer(scenarios)
