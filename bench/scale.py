"""What a turn costs a database, so that a larger house can be reckoned: statements, rows, bytes, and waiting.

docs/scale.md reckons with what this prints.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from time import perf_counter, process_time
from typing import Any

import psycopg

from charter import Incoming, load, stores
from charter.agent import Agent
from charter.amend import seed_all
from charter.app import toolbox
from charter.stores.store import SqlStore
from charter.turn import take_turn
from one_turn import Stub
from rounds import KEYS, environment_text, folder, postgres, spoken

USERS = 500
MESSAGE = "When is high tide in Porto today, and should I take the small boat out before it?"
NOTE = "Ana keeps a small boat in Porto and sails on Thursday evenings when the wind is from the west."


@contextmanager
def counted() -> Iterator[Counter[str]]:
    """Counts what is sent to the server, by the first word of it."""
    found: Counter[str] = Counter()
    before: Any = psycopg.Connection.execute

    def execute(self: Any, query: Any, *rest: Any, **more: Any) -> Any:
        found[str(query).split(None, 1)[0].upper()] += 1
        return before(self, query, *rest, **more)

    psycopg.Connection.execute = execute  # type: ignore[method-assign]
    try:
        yield found
    finally:
        psycopg.Connection.execute = before  # type: ignore[method-assign]


def agent_in(store: SqlStore, name: str) -> Agent:
    charter = replace(load("assistant"), key=KEYS.current[1])
    seed_all(store, charter, name, 1)
    return Agent(name, charter, store, Stub(False), tools=toolbox(charter), key=KEYS.current[1])


def ask(agent: Agent, number: int) -> None:
    user = f"user{number % USERS}"
    take_turn(agent, Incoming(channel="web", sender=user, user=user, text=f"{MESSAGE} {number}"))


def sizes(url: str) -> dict[str, tuple[int, int]]:
    """Rows and bytes, indexes included, of every table that has any."""
    with psycopg.connect(url, autocommit=True) as connection:
        names = [row[0] for row in connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")]
        found = {}
        for name in names:
            sql = spoken(f"SELECT count(*), pg_total_relation_size('{name}') FROM {name}")
            row = connection.execute(sql).fetchone()
            assert row is not None
            found[name] = (row[0], row[1])
    return found


def per_turn(url: str, turns: int) -> dict[str, Any]:
    """Statements of one turn, rows and bytes it leaves, seconds of the process it takes."""
    with stores.open(url, keys=KEYS) as store:
        agent = agent_in(store, "assistant")
        for number in range(USERS):
            ask(agent, number)
        with counted() as statements:
            for number in range(100):
                ask(agent, number)
        before = sizes(url)
        cpu, wall = process_time(), perf_counter()
        for number in range(turns):
            ask(agent, number)
        cpu, wall = process_time() - cpu, perf_counter() - wall
        after = sizes(url)
    grown = {
        name: ((rows - before[name][0]) / turns, (size - before[name][1]) / turns)
        for name, (rows, size) in after.items()
        if rows > before[name][0]
    }
    return {
        "statements": {name: count / 100 for name, count in statements.most_common()},
        "grown": grown,
        "cpu_ms": cpu / turns * 1000,
        "wall_ms": wall / turns * 1000,
    }


def per_note(url: str, notes: int) -> float:
    """Bytes that one remembered note takes, with the terms it is found by."""
    with stores.open(url, keys=KEYS) as store:
        before = sum(size for _, size in sizes(url).values())
        for number in range(notes):
            store.remember("assistant", f"user{number % USERS}", f"{NOTE} {number}", day="2026-01-15")
    return (sum(size for _, size in sizes(url).values()) - before) / notes


def together(url: str, threads: int, agents: int, turns: int) -> float:
    """Turns a second of several connections at once, over one agent or over several."""
    with stores.open(url, keys=KEYS) as store:
        made = [agent_in(store, f"agent{number}") for number in range(agents)]

        def work(thread: int) -> None:
            for number in range(turns):
                ask(made[thread % agents], number * threads + thread)  # no two threads for one user

        began = perf_counter()
        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(work, range(threads)))
        return threads * turns / (perf_counter() - began)


def measure(turns: int) -> dict[str, Any]:
    with folder("memory", need=2 * 10**9) as path, postgres(path) as database:
        found = per_turn(database("one"), turns)
        found["note_bytes"] = per_note(database("two"), turns)
        url = database("three")
        found["together"] = {
            f"{threads} at once, {agents} agent(s)": together(url, threads, agents, turns // threads // 2)
            for threads, agents in ((1, 1), (4, 1), (4, 4))
        }
    return found


def told(found: dict[str, Any]) -> str:
    statements = found["statements"]
    lines = [f"statements of a turn: {sum(statements.values()):.1f}"]
    lines += [f"  {name:<10}{count:>6.2f}" for name, count in statements.items()]
    total = sum(size for _, size in found["grown"].values())
    lines.append(f"a turn leaves {sum(rows for rows, _ in found['grown'].values()):.1f} rows, {total:,.0f} bytes:")
    lines += [f"  {name:<34}{rows:>6.2f} rows {size:>8,.0f} bytes" for name, (rows, size) in found["grown"].items()]
    lines.append(f"a note takes {found['note_bytes']:,.0f} bytes")
    lines.append(f"a turn takes {found['cpu_ms']:.2f} ms of the worker's processor, {found['wall_ms']:.2f} ms in all")
    lines += [f"{name}: {rate:,.0f} turns/s" for name, rate in found["together"].items()]
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=2000)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    found = measure(given.turns)
    sys.stdout.write(f"{json.dumps(found, indent=2) if given.json else environment_text() + chr(10) + told(found)}\n")


if __name__ == "__main__":
    main()
