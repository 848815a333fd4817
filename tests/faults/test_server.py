"""A PostgreSQL that is killed, stopped or cut off: what it acknowledged is there, and the store goes on."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest

from charter.core.errors import StoreUnavailable

from .hooks import watched
from .killed import counts, hang_up
from .places import impatient
from .processes import TESTS, say
from .server import Server, served
from .whole import wrong
from .work import CANARY, OPERATIONS, amend, opened, persona

pytestmark = pytest.mark.requirement("N-17", "N-03", "S0-13")


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with served() as running:
        yield running


class Writer:
    """A process that writes on and on, and what it says."""

    def __init__(self, url: str, agent: str) -> None:
        command = [sys.executable, "-W", "error", "-m", "faults.writing", url, agent]
        self.process = subprocess.Popen(
            command, cwd=TESTS, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        self.said: list[Any] = []

    def until(self, what: str, times: int) -> None:
        """Reads on until it has said this so often again."""
        assert self.process.stdout is not None
        while times:
            line = json.loads(self.process.stdout.readline())
            self.said.append(line)
            times -= line == what or (isinstance(line, dict) and what in line)

    def kill(self) -> None:
        self.process.kill()
        assert self.process.stdout is not None
        self.said += [json.loads(line) for line in self.process.stdout if line.endswith("\n")]
        self.process.stdout.close()
        self.process.wait()


def untrue(said: list[Any], last: Counter[str]) -> Iterator[str]:
    """Where what was found is not what was acknowledged, or that and the one write that was under way."""
    sure, pending = Counter[str](), Counter[str]()
    for line in [*said, {"have": last}]:
        if line == "done":
            sure, pending = sure + pending, Counter()
        elif "lost" in line:
            if not line["lost"].startswith(("StoreUnavailable: ", "Busy: ")) or CANARY in line["lost"]:
                yield f"a lost write is called {line['lost']}"
        elif "have" in line:
            found = +Counter(line["have"])
            if found not in (sure, sure + pending):
                yield f"{dict(found)}, not {dict(sure)} nor with {dict(pending)}"
            sure, pending = found, Counter()
        else:
            pending = Counter(line)


def crashed(server: Server, times: int, agent: str) -> tuple[int, list[str]]:
    """Kills the server under a writer, so often; how many writes were acknowledged, and what is wrong."""
    writer, chance = Writer(server.url, agent), random.Random(times)
    try:
        for number in range(times):
            writer.until("done", 5 + number * 7 % 13)
            time.sleep(chance.uniform(0, 0.02))  # the moment is what is random here
            server.crash()
            server.start()
            if (number + 1) % 5 == 0:
                say(f"{number + 1} crashes, {writer.said.count('done')} acknowledged writes")
        writer.until("done", 5)
    finally:
        writer.kill()
    hang_up(server.url)
    with opened(server.url) as store:
        problems = [*untrue(writer.said, counts(store, agent)), *wrong(store, agent)]
    say(f"{times} crashes, {sum('lost' in line for line in writer.said)} writes lost under way")
    return writer.said.count("done"), problems


def test_what_a_killed_server_acknowledged_is_there_and_its_clients_go_on(server: Server) -> None:
    acknowledged, problems = crashed(server, 2, "crashed")
    assert problems == []
    assert acknowledged >= 15


@pytest.mark.deep
def test_twenty_killed_servers_lose_nothing(server: Server) -> None:
    acknowledged, problems = crashed(server, 20, "crashed often")
    print(f"20 crashes, {acknowledged} acknowledged writes")
    assert problems == []


def test_a_server_that_was_restarted_between_two_calls_is_not_noticed(server: Server) -> None:
    with opened(server.url) as store:
        amend(store, "between", 1)
        server.stop()
        server.start()
        amend(store, "between", 2)
        server.stop()
        server.start()
        assert [row.version for row in store.history(persona("between"))] == [1, 2]
        assert wrong(store, "between") == []


@pytest.mark.parametrize("name", ["next version", "settle with changes"])
def test_a_server_that_was_restarted_inside_a_transaction_has_nothing_of_it(name: str, server: Server) -> None:
    armed = False

    def hook(when: str, what: str) -> None:
        nonlocal armed
        if armed and (when, what) == ("before", "COMMIT"):
            armed = False
            server.stop()
            server.start()

    agent = f"inside {name}"
    with watched(hook), opened(server.url) as store:
        OPERATIONS[name].prepare(store, agent)
        before, armed = counts(store, agent), True
        with pytest.raises(StoreUnavailable, match="the connection was lost while committing; read before you try"):
            OPERATIONS[name].act(store, agent)
        assert counts(store, agent) == before
        OPERATIONS[name].act(store, agent)
        assert wrong(store, agent) == []


def test_a_server_that_is_down_is_said_to_be_and_is_found_again_when_it_is_up(server: Server) -> None:
    with impatient(server.url) as store:
        amend(store, "down", 1)
        server.stop()
        with pytest.raises(StoreUnavailable, match="PostgreSQL: ") as reading:
            store.head(persona("down"))
        with pytest.raises(StoreUnavailable, match="PostgreSQL: ") as writing:
            amend(store, "down", 2)
        with pytest.raises(StoreUnavailable, match="no connection; check that the server runs and the URL is right"):
            impatient(server.url)
        assert CANARY not in f"{reading.value} {writing.value}"
        server.start()
        amend(store, "down", 2)
        assert wrong(store, "down") == []


def test_a_connection_cut_while_it_waits_for_a_lock_is_replaced(server: Server) -> None:
    with impatient(server.url) as store, psycopg.connect(server.url) as other:
        amend(store, "cut", 1)
        other.execute("SELECT pg_advisory_xact_lock(hashtextextended('cut', 0))")
        other.execute(
            "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE application_name = 'charter'"
        )
        other.rollback()
        amend(store, "cut", 2)
        assert wrong(store, "cut") == []
