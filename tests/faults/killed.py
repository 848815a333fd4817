"""Writers that are killed, at random or at a step of their own: what was acknowledged is there, whole, and no more."""

from __future__ import annotations

import os
import random
import sqlite3
import statistics
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, Final

import psycopg

from charter.core.records import InboxMessage
from charter.stores import sqlite_path
from charter.stores.store import SqlStore

from . import work
from .hooks import watch_files, watched
from .processes import Lines, answer, die, ended, fork, kill, say
from .whole import rows_of, shape_of, wrong
from .work import LEASE, NOW, OPERATIONS, note, opened, text, user_of

PER_AGENT: Final = 20
PER_DATABASE: Final = 200


class Restarts:
    """Opens a database after a kill, and remembers how long that took."""

    def __init__(self) -> None:
        self.seconds: list[float] = []

    def open(self, url: str) -> SqlStore:
        if not url.startswith("sqlite:"):
            hang_up(url)
        begun = time.perf_counter()
        store = opened(url)
        self.seconds.append(time.perf_counter() - begun)
        return store

    def told(self) -> dict[str, float]:
        return {"median": statistics.median(self.seconds), "slowest": max(self.seconds)}


def hang_up(url: str) -> None:
    """Ends what the server still does for clients of ours, and waits until it is ended."""
    with psycopg.connect(url, autocommit=True) as connection:
        for wait in (0, 60_000):  # first all are told, then each is waited for
            connection.execute(
                """SELECT pg_terminate_backend(pid, %s) FROM pg_stat_activity
                WHERE application_name = 'charter' AND datname = current_database()""",
                (wait,),
            )


def integrity(url: str) -> list[str]:
    """What SQLite itself finds wrong with a file."""
    path = sqlite_path(url) if url.startswith("sqlite:") else None
    if path is None:
        return []
    with closing(sqlite3.connect(path)) as file:
        found = file.execute("PRAGMA integrity_check").fetchall()
    return [] if found == [("ok",)] else [f"{path.name}: {found[:3]}"]


# ── at random ─────────────────────────────────────────────────────────────────────────────────────────────────────

_COUNTS = """SELECT (SELECT count(*) FROM layer_versions WHERE agent_name = ?) AS versions,
    (SELECT count(*) FROM agent_long_term_memory WHERE agent_name = ?) AS notes,
    (SELECT COALESCE(sum(last_seq), 0) FROM conversations WHERE agent_name = ?) AS entries,
    (SELECT count(*) FROM inbox_messages WHERE agent_name = ?) AS staged,
    (SELECT count(*) FROM turn_records WHERE agent_name = ?) AS turns,
    (SELECT count(*) FROM proposals WHERE agent_name = ?) AS proposals,
    (SELECT count(*) FROM proposals WHERE agent_name = ? AND state = 'applied') AS applied"""
_COUNTED: Final = ("versions", "notes", "entries", "staged", "turns", "proposals", "applied")


def counts(store: SqlStore, agent: str) -> Counter[str]:
    """How much there is of everything that only grows."""
    return Counter(dict(zip(_COUNTED, map(int, store.db.read(_COUNTS, *[agent] * 7)[0]), strict=True)))


def write_on(store: SqlStore, agent: str, seed: int, tell: Callable[[object], None]) -> None:
    """Writes until it is killed; says what each write adds before it, and that it is done after it."""
    chance, have = random.Random(seed), counts(store, agent)
    while True:
        for adds, act in chance.choice((_amendment, _note, _exchange, _turn, _proposal))(store, agent, have, seed):
            tell(adds)
            act()
            tell("done")
            have.update(adds)


Writes = Iterator[tuple[dict[str, int], Callable[[], object]]]


def _amendment(store: SqlStore, agent: str, have: Counter[str], seed: int) -> Writes:
    yield {"versions": 1}, lambda: work.amend(store, agent, have["versions"] + 1)


def _note(store: SqlStore, agent: str, have: Counter[str], seed: int) -> Writes:
    yield {"notes": 1}, lambda: work.remember(store, agent, have["notes"] + 1)


def _exchange(store: SqlStore, agent: str, have: Counter[str], seed: int) -> Writes:
    yield {"entries": 1}, lambda: work.converse(store, agent, have["entries"] + 1)


def _turn(store: SqlStore, agent: str, have: Counter[str], seed: int) -> Writes:
    taken: list[InboxMessage] = []
    turn = f"t{have['turns'] + 1}-{seed}"
    yield {"staged": 1}, lambda: work.stage(store, agent, have["staged"] + 1)
    yield {}, lambda: taken.extend(work.take(store, agent, turn, NOW + 2 * LEASE * seed))
    yield {"turns": 1, "entries": len(taken)}, lambda: work.settle(store, agent, turn, taken)


def _proposal(store: SqlStore, agent: str, have: Counter[str], seed: int) -> Writes:
    for left in store.proposals(agent, "open"):  # of a writer that was killed before it was decided
        yield {}, lambda left=left: store.close_proposal(work.decision(store, agent), "rejected")  # type: ignore[misc]
    yield {"proposals": 1}, lambda: work.propose(store, agent, have["versions"])
    yield {"applied": 1, "versions": 1}, lambda: store.apply(work.decision(store, agent))


def at_random(target: str, kills: str, seed: str) -> dict[str, Any]:
    """Kills a writer this often, each time at another moment, and looks at what it left."""
    chance, restarts, acknowledged, problems = random.Random(int(seed)), Restarts(), 0, list[str]()
    known, typical, agent, url = Counter[str](), 0.003, "", target
    for number in range(int(kills)):
        if number % PER_DATABASE == 0 and not target.startswith("postgresql:"):
            url = f"sqlite:///{target}/random-{number // PER_DATABASE}.db"
        if number % PER_AGENT == 0:
            agent, known = f"agent-{number // PER_AGENT}", Counter()
        told, pause = _killed(url, agent, number + 1, chance, typical)
        typical = 0.9 * typical + 0.1 * pause
        adds = [line for line in told if line != "done"]
        sure = len(told) - len(adds)
        acknowledged += sure
        with restarts.open(url) as store:
            found = counts(store, agent)
            expected = [sum((Counter(some) for some in adds[:upto]), known) for upto in (sure, len(adds))]
            if +found not in [+Counter(one) for one in expected]:
                problems.append(f"kill {number}: {dict(found)}, not {[dict(one) for one in expected]}")
            problems += wrong(store, agent) + list(_contents(store, agent))
        known = found
        if (number + 1) % PER_DATABASE == 0 or number + 1 == int(kills):
            problems += integrity(url)
        if (number + 1) % 100 == 0:
            say(f"{number + 1} kills, {acknowledged} acknowledged writes, {restarts.told()}, {len(problems)} wrong")
    return {"kills": int(kills), "acknowledged": acknowledged, "wrong": problems, **restarts.told()}


def _killed(url: str, agent: str, seed: int, chance: random.Random, typical: float) -> tuple[list[Any], float]:
    """What a writer said until it was killed: after some writes and a part of one more; and how long a write took."""
    lines = Lines()
    child = fork(lambda: write_on(opened(url), agent, seed, lines.tell))
    told, wanted, begun = list[Any](), chance.randrange(5), 0.0
    saying = iter(lines)
    while told.count("done") < wanted or not told:
        told.append(next(saying))
        begun = begun or time.perf_counter()
    pause = (time.perf_counter() - begun) / wanted if wanted else typical
    time.sleep(chance.uniform(0, 1.2 * typical))  # the moment is what is random here
    kill(child)
    told += saying
    lines.close()
    status = ended(child)
    assert status == -9, f"the writer ended by itself: {status}"
    return told, pause


def _contents(store: SqlStore, agent: str) -> Iterator[str]:
    """Whether every text is the one that was written under its number."""
    for version in store.history(work.persona(agent)):
        if version.content != text(agent, version.version):
            yield f"{agent}: version {version.version} has another text"
    notes = reversed(store.recent(agent, user_of(agent), 10**6))
    for number, memory in enumerate(notes, 1):
        if memory.text != note(agent, number):
            yield f"{agent}: note {number} has another text"
    talk = store.conversation(agent, work.sender_of(agent))
    for entry in talk.entries if talk else ():
        if entry.sender_body != text(agent, int(entry.inbox_message_id[1:]))[:500]:
            yield f"{agent}: the exchange {entry.inbox_message_id} has another text"
    for name, body in store.db.read("SELECT message_id, body FROM inbox_messages WHERE agent_name = ?", agent):
        if body != text(agent, int(name[1:])):
            yield f"{agent}: message {name} has another text"


# ── at every step ─────────────────────────────────────────────────────────────────────────────────────────────────


def at_every_step(target: str, times: str, every: str = "1", *names: str) -> dict[str, Any]:
    """Kills every operation before and after each of its statements; what is there is the state before or after.

    With `every` above 1, at every so many of its steps.
    """
    restarts, problems, steps, kills = Restarts(), list[str](), 0, 0
    with watched(lambda when, what: None, quick=True):
        for which, name in enumerate(names or OPERATIONS):
            url = target if target.startswith("postgresql:") else f"sqlite:///{target}/steps-{which}.db"
            with opened(url) as store:
                OPERATIONS[name].prepare(store, f"{name} done")
                OPERATIONS[name].act(store, f"{name} done")
                after = shape_of(store, f"{name} done")
            for time_ in range(int(times)):
                step = 1 + which % int(every)
                while _step(url, name, f"{name} {time_} {step}", step, after, restarts, problems):
                    steps += time_ == 0
                    kills += 1
                    step += int(every)
            problems += integrity(url)
            if int(times) > 1:
                say(f"{kills} kills at {steps} steps, now {name!r}, {restarts.told()}, {len(problems)} wrong")
    return {"kills": kills, "steps": steps, "wrong": problems, **restarts.told()}


def _step(
    url: str, name: str, agent: str, step: int, after: object, restarts: Restarts, problems: list[str]
) -> bool:  # fmt: skip
    """Kills one operation at one step; whether it had that many."""
    lines = Lines()
    child = fork(lambda: _die_at(step, url, name, agent, lines.tell))
    told = list(lines)
    lines.close()
    killed = ended(child) != 0
    with restarts.open(url) as store:
        committed = not killed or "after COMMIT" in told
        expected, found = (after, shape_of(store, agent)) if committed else (told[0], _plain(rows_of(store, agent)))
        if found != expected:
            problems.append(f"{name}, killed {told[-1]}: not the state {'after' if committed else 'before'} it")
        problems += wrong(store, agent)
    return killed


def _plain(rows: object) -> Any:
    """As JSON gives it back."""
    return {table: [list(row) for row in found] for table, found in rows.items()} if isinstance(rows, dict) else rows


def _die_at(step: int, url: str, name: str, agent: str, tell: Callable[[object], None]) -> None:
    count = 0
    armed = False

    def hook(when: str, what: str) -> None:
        nonlocal count
        count += armed
        if armed:
            tell(f"{when} {' '.join(what.split()[:3])}" if what != "COMMIT" else f"{when} COMMIT")
        if armed and count == step:
            die()

    with watched(hook, quick=True), opened(url) as store:
        OPERATIONS[name].prepare(store, agent)
        tell(_plain(rows_of(store, agent)))
        armed = True
        OPERATIONS[name].act(store, agent)
        armed = False


# ── while the database is made ────────────────────────────────────────────────────────────────────────────────────


def while_created(folder: str, times: str) -> dict[str, Any]:
    """Kills the making of a database before and after each of its steps; who comes next has a whole one."""
    restarts, problems, kills = Restarts(), list[str](), 0
    for time_ in range(int(times)):
        step, killed = 0, True
        while killed:
            step += 1
            place = Path(folder, f"{time_}-{step}")
            url = f"sqlite:///{place}/charter.db"
            killed = ended(fork(lambda url=url, at=step: _create_and_die(url, at))) != 0  # type: ignore[misc]
            kills += killed
            before = (place / "charter.db").exists()
            with restarts.open(url) as store:
                work.amend(store, "first", 1)
                problems += wrong(store, "first")
            problems += integrity(url)
            if before and len(os.listdir(place)) > 1 and not killed:
                problems.append(f"making it left {os.listdir(place)}")
    return {"kills": kills, "wrong": problems, **restarts.told()}


def _create_and_die(url: str, step: int) -> None:
    count = 0

    def hook(when: str, what: str) -> None:
        nonlocal count
        count += 1
        if count == step:
            die()

    path = sqlite_path(url)
    assert path is not None
    watch_files(str(path.parent), hook)
    with watched(hook), opened(url):
        pass


if __name__ == "__main__":
    answer({"random": at_random, "steps": at_every_step, "created": while_created})
