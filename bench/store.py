"""A store costs little over its database: a turn's reads and an amendment, beside the bare driver doing the same."""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import psycopg

from assembly import Target
from charter import stores
from charter.core.incoming import sender_key
from charter.core.policy import Actor
from charter.core.ports import Part, Wanted
from charter.core.records import INIT, Author, Change, Place
from charter.stores.database import Database, Run, marks
from charter.stores.reading import TurnReads, for_turn
from charter.stores.store import SqlStore
from rounds import (
    KEYS,
    Call,
    Comparison,
    DifferenceError,
    Row,
    bare_sqlite,
    check_pragmas,
    comparison_data,
    comparison_text,
    environment,
    environment_text,
    file_system,
    folder,
    interleave,
    postgres,
    prose,
    say,
    spoken,
)

AGENTS, USERS = 50, 1_000
LAYERS = ("decision_loop", "inbox", "memory", "self_modification")
SOVEREIGN: tuple[Part, ...] = ("layers", "inbox", "history", "recent", "timezone")
ASSISTANT: tuple[Part, ...] = ("timezone", "instructions", "agent")
ZONES = ("Europe/Vienna", "America/New_York", "Asia/Tokyo", "Africa/Lagos")
NOW = 1_772_000_000_000_000_000
TURNS = 512  # different turns that are cycled through
CHECKED_COMMITS = 400

ABOUT = f"""\
Data: {AGENTS} agents, {USERS:,} users; per agent {len(LAYERS)} layers, 100 conversations of up to 20 entries, 5 open
and 200 done messages, 50 notes of its own; per user two agents' instructions, 20 notes, a timezone.

Reads. Ours: store.for_turn(Wanted(...)), from the request to rows by part; "and records" also makes every record a
turn asks for. Bare: one kept connection (SQLite: our pragmas; PostgreSQL: autocommit, prepared) executes the same
statement with its values ready in a tuple and fetches all rows. Both gave the same rows before they were timed.

Commits. Ours: store.commit(Change(...)): validation, compare-and-swap, keyed hashes, version row, log row chained and
sealed. Bare: BEGIN (IMMEDIATE on SQLite), UPDATE of the head where the version is the expected one, INSERT of the
version, INSERT of the log row, UPDATE of the chain's head, COMMIT; version and sequence are counted in Python, hashes
and seal are constants of the same length; nothing is validated, read, hashed or locked by name. Each side has its own
database with the same rows, compared (all but hashes) after {CHECKED_COMMITS} commits and before timing."""


# ── data ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def agent_name(number: int) -> str:
    return f"agent-{number % AGENTS:02}"


def user_name(number: int) -> str:
    return f"user-{number % USERS:04}@example.org"


def sender_name(agent: int, number: int) -> str:
    return sender_key(f"0x{agent % AGENTS:020x}{number % 100:020x}")


def insert(run: Run, table: str, columns: str, rows: Sequence[Row]) -> None:
    """Many rows, a few hundred a statement."""
    hole = f"({marks(len(columns.split(',')))})"
    for start in range(0, len(rows), 200):
        some = rows[start : start + 200]
        values = [value for row in some for value in row]
        run(f"INSERT INTO {table} ({columns}) VALUES {', '.join([hole] * len(some))}", *values)


def fill(store: SqlStore) -> None:
    """Everything a turn may read, in one transaction; the same on every database."""
    rng = random.Random("stores")
    seed_layers(store, rng)
    with store.db.writing() as run:
        for agent in range(AGENTS):
            fill_agent(run, rng, agent)
        fill_people(run, rng)


def seed_layers(store: SqlStore, rng: random.Random) -> None:
    for agent in range(AGENTS):
        for layer in LAYERS:
            store.commit(Change(Place(agent_name(agent), layer), prose(rng, 60, 180), 0, INIT, NOW, "seed"))


def fill_agent(run: Run, rng: random.Random, agent: int) -> None:
    name = agent_name(agent)
    identity = json.dumps({"name": name, "creature": "assistant", "vibe": prose(rng, 4, 8)})
    insert(
        run,
        "agent_configurations",
        "agent_name, soul, identity, soul_version, identity_version",
        [(name, prose(rng, 80, 200), identity, 1, 1)],
    )
    insert(
        run,
        "inbox_messages",
        "agent_name, message_id, sender, user_id, channel, body, received_at_ns, state",
        [
            (name, f"m{n}", sender_name(agent, n // 2 if n >= 200 else n), "", "inbox", prose(rng, 10, 80), NOW + n,
             "staged" if n >= 200 else "done")
            for n in range(205)
        ],
    )  # fmt: skip
    lengths = [rng.randint(1, 20) for _ in range(100)]
    insert(
        run,
        "conversations",
        "agent_name, sender, last_activity_ns, last_seq",
        [(name, sender_name(agent, n), NOW + n, length) for n, length in enumerate(lengths)],
    )
    insert(
        run,
        "conversation_entries",
        "agent_name, sender, seq, inbox_message_id, sender_body, agent_reply, turn_id, timestamp_ns",
        [
            (name, sender_name(agent, n), seq, f"c{n}-{seq}", prose(rng, 10, 60), prose(rng, 20, 70), f"t{seq}", NOW)
            for n, length in enumerate(lengths)
            for seq in range(1, length + 1)
        ],
    )
    insert_notes(run, rng, [(name, "")] * 50)


def fill_people(run: Run, rng: random.Random) -> None:
    users = [(user_name(n), agent_name(n + k)) for n in range(USERS) for k in range(2)]
    insert(run, "user_settings", "user_id, timezone", [(user_name(n), rng.choice(ZONES)) for n in range(USERS)])
    insert(
        run,
        "user_agent_prompt_customizations",
        "user_id, agent_name, instructions, version",
        [(user, agent, prose(rng, 20, 120), 1) for user, agent in users],
    )
    insert_notes(run, rng, [(agent, user) for _ in range(10) for user, agent in users])


def insert_notes(run: Run, rng: random.Random, owners: Sequence[tuple[str, str]]) -> None:
    insert(
        run,
        "agent_long_term_memory",
        "agent_name, user_id, notes, day, created_at_ns, said_by, channel, source_class, source, trust, length, sha256,"
        " key_id",
        [
            (agent, user, prose(rng, 8, 20), "2026-02-25", NOW, user, "inbox", "agent", "", 0, 14, "0" * 64, "")
            for agent, user in owners
        ],
    )


# ── a turn's reads ────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass
class Recorder:
    """Stands where a database is read from and only notes what it is asked."""

    asked: tuple[str, Row] = ("", ())

    def read(self, sql: str, *values: Any) -> list[Row]:
        self.asked = (sql, values)
        return []


def request(parts: tuple[Part, ...], number: int) -> Wanted:
    """A turn's request; users meet the agents that know them."""
    agent = number * 7 % AGENTS
    user = agent + AGENTS * (number % (USERS // AGENTS))
    return Wanted(agent_name(agent), parts, user_name(user), sender_name(agent, number), "")


def statement(want: Wanted) -> tuple[str, Row]:
    """What our store sends for this request."""
    recorder = Recorder()
    for_turn(cast(Database, recorder), want)
    return recorder.asked


def records(reads: TurnReads) -> object:
    """Every record this turn's sources ask for."""
    want = reads.want
    if "layers" not in want.parts:
        instructions = reads.instructions(want.agent, want.user)
        return instructions, reads.timezone(want.user), reads.agent_configuration(want.agent)
    layers = [reads.layer(want.agent, layer) for layer in LAYERS]
    messages = reads.staged(want.agent)
    senders = dict.fromkeys([want.sender, *(message.sender for message in messages)])
    talks = [reads.conversation(want.agent, sender) for sender in senders]
    notes = reads.recent(want.agent, want.recent_of, want.recent)
    return layers, messages, reads.waiting(want.agent), talks, notes, reads.timezone(want.user)


def check_rows(store: SqlStore, parts: tuple[Part, ...], bare: Callable[[str, Row], list[Row]]) -> float:
    """Rows of a turn on average, once both sides gave the same ones for every turn."""
    total = 0
    for number in range(TURNS):
        want = request(parts, number)
        ours = [row for rows in store.for_turn(want).rows.values() for row in rows]
        theirs = bare(*statement(want))
        if sorted(ours) != sorted(theirs):
            raise DifferenceError(f"turn {number} of {parts}: ours gave {len(ours)} rows, bare {len(theirs)} others")
        total += len(ours)
    return total / TURNS


def compare_reads(
    name: str, store: SqlStore, parts: tuple[Part, ...], bare: Callable[[str, Row], list[Row]], rounds: int
) -> Comparison:
    rows = check_rows(store, parts, bare)
    asked = [statement(request(parts, number)) for number in range(TURNS)]
    wants = [request(parts, number) for number in range(TURNS)]

    def ours(number: int) -> TurnReads:
        want = wants[number % TURNS]
        return store.for_turn(Wanted(want.agent, parts, want.user, want.sender, ""))

    contenders: dict[str, Call] = {
        "bare": lambda number: bare(*asked[number % TURNS]),
        "ours": ours,
        "ours and records": lambda number: records(ours(number)),
    }
    timings = interleave(contenders, rounds=rounds, calls=32)
    return Comparison(f"{name} ({rows:.0f} rows)", timings, (Target("ours", "bare", 1.5),))


def reads_sqlite(place: Path, rounds: int) -> Iterator[Comparison]:
    path = place / "reads.db"
    with stores.open(f"sqlite:///{path}", keys=KEYS) as store:
        fill(store)
        check_pragmas(path)
        with bare_sqlite(path) as connection:
            execute = connection.execute

            def bare(sql: str, values: Row) -> list[Row]:
                return execute(sql, values).fetchall()

            for kind, parts in (("sovereign", SOVEREIGN), ("assistant", ASSISTANT)):
                name = f"SQLite on {file_system(place)}: reads of {article(kind)} turn"
                yield compare_reads(name, store, parts, bare, rounds)


def reads_postgres(url: str, rounds: int) -> Iterator[Comparison]:
    with stores.open(url, keys=KEYS) as store, psycopg.connect(url, autocommit=True) as connection:
        fill(store)
        connection.execute("VACUUM ANALYZE")
        execute = connection.execute

        for kind, parts in (("sovereign", SOVEREIGN), ("assistant", ASSISTANT)):
            said = spoken(statement(request(parts, 0))[0])

            def bare(sql: str, values: Row, said: Any = said) -> list[Row]:
                return execute(said, values, prepare=True).fetchall()

            yield compare_reads(f"PostgreSQL: reads of {article(kind)} turn", store, parts, bare, rounds)


def article(noun: str) -> str:
    return f"an {noun}" if noun[0] in "aeiou" else f"a {noun}"


# ── an amendment with its commit ──────────────────────────────────────────────────────────────────────────────────

SET_HEAD = """UPDATE prompt_layers SET content = ?, updated_at_ns = ?, updated_by_turn = ?, version = ?
    WHERE agent_name = ? AND layer_id = ? AND version = ?"""
ADD_VERSION = """INSERT INTO layer_versions (agent_name, user_id, layer_id, version, content, sha256, key_id, actor,
    updated_by, at_ns, restores) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"""
ADD_ROW = """INSERT INTO change_log (chain, seq, kind, place, version, content_sha256, actor, at_ns, detail,
    prev_sha256, sha256, seal, key_id) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"""
SET_CHAIN = "UPDATE chain_heads SET seq = ?, sha256 = ? WHERE chain = ?"
SAME = {
    "prompt_layers": "*",
    "layer_versions": "agent_name, user_id, layer_id, version, content, key_id, actor, updated_by, at_ns, restores",
    "change_log": "chain, seq, kind, place, version, actor, at_ns, detail, length(prev_sha256), length(seal), key_id",
    "chain_heads": "chain, seq, length(sha256)",
}
HASH = "5" * 64


@dataclass
class Amendments:
    """The n-th amendment of a run: agents and layers in turn, each at its next version."""

    texts: list[str]
    versions: dict[Place, int] = field(default_factory=dict)

    def next(self, number: int) -> Change:
        place = Place(agent_name(number), LAYERS[number // AGENTS % len(LAYERS)])
        version = self.versions.get(place, 1)
        self.versions[place] = version + 1
        by = Author(Actor.AGENT, turn=f"turn-{number:08}")
        return Change(place, self.texts[number % len(self.texts)], version, by, NOW + number)


def ours_commit(store: SqlStore, changes: Amendments) -> Call:
    return lambda number: store.commit(changes.next(number))


def bare_commit(execute: Callable[[str, Row], object], begin: str, changes: Amendments) -> Call:
    """The same rows written by hand; `execute` runs one statement."""
    seqs = {agent_name(number): len(LAYERS) for number in range(AGENTS)}
    key = KEYS.current[0]

    def commit(number: int) -> None:
        change = changes.next(number)
        agent, layer, turn, at_ns = change.place.agent, change.place.layer_id, change.by.turn, change.at_ns
        version = change.expected_version + 1
        seq = seqs[agent] = seqs[agent] + 1
        execute(begin, ())
        execute(SET_HEAD, (change.content, at_ns, turn, version, agent, layer, version - 1))
        execute(ADD_VERSION, (agent, "", layer, version, change.content, HASH, "", "agent", turn, at_ns, None))
        execute(ADD_ROW, (agent, seq, "amend", layer, version, HASH, turn, at_ns, "", HASH, HASH, HASH, key))
        execute(SET_CHAIN, (seq, HASH, agent))
        execute("COMMIT", ())

    return commit


def compare_commits(
    name: str, store: SqlStore, execute: Callable[[str, Row], Any], begin: str, shape: tuple[int, int]
) -> Comparison:
    rng = random.Random("amendments")
    texts = [prose(rng, 60, 180) for _ in range(64)]
    sides = {
        "bare": bare_commit(execute, begin, Amendments(texts)),
        "ours": ours_commit(store, Amendments(texts)),
    }
    for commit in sides.values():
        for number in range(CHECKED_COMMITS):
            commit(number)
    check_tables(name, store.db.read, lambda sql: execute(sql, ()).fetchall())
    rounds, calls = shape
    timings = interleave({side: later(commit) for side, commit in sides.items()}, rounds=rounds, calls=calls)
    return Comparison(name, timings, (Target("ours", "bare", 2.0),))


def check_tables(name: str, ours: Callable[[str], list[Row]], bare: Callable[[str], list[Row]]) -> None:
    for table, columns in SAME.items():
        ask = f"SELECT {columns} FROM {table}"
        if sorted(ours(ask), key=repr) != sorted(bare(ask), key=repr):
            raise DifferenceError(f"{name}: after {CHECKED_COMMITS} commits {table} is not the same on both sides")


def later(commit: Call) -> Call:
    """Goes on after the commits that were checked."""
    return lambda number: commit(number + CHECKED_COMMITS)


@contextmanager
def seeded(url: str) -> Iterator[SqlStore]:
    """A store with the first text of every layer."""
    with stores.open(url, keys=KEYS) as store:
        seed_layers(store, random.Random("layers"))
        yield store


def commits_sqlite(place: Path, shape: tuple[int, int]) -> Comparison:
    with seeded(f"sqlite:///{place / 'bare.db'}"):
        pass
    name = f"SQLite on {file_system(place)}: amend with commit"
    with seeded(f"sqlite:///{place / 'ours.db'}") as store, bare_sqlite(place / "bare.db") as connection:
        return compare_commits(name, store, connection.execute, "BEGIN IMMEDIATE", shape)


def commits_postgres(ours: str, bare: str, shape: tuple[int, int]) -> Comparison:
    with seeded(bare):
        pass
    said = {sql: spoken(sql) for sql in (SET_HEAD, ADD_VERSION, ADD_ROW, SET_CHAIN)}
    with seeded(ours) as store, psycopg.connect(bare, autocommit=True) as connection:

        def execute(sql: str, values: Row) -> Any:
            known = said.get(sql)
            return connection.execute(known, values, prepare=True) if known else connection.execute(spoken(sql))

        return compare_commits("PostgreSQL: amend with commit", store, execute, "BEGIN", shape)


# ── all of it ─────────────────────────────────────────────────────────────────────────────────────────────────────


def measure(rounds: int) -> Iterator[Comparison]:
    shape = (rounds, 32)
    with folder("memory", need=10**9) as place:
        say(f"SQLite on {place} ({file_system(place)})")
        yield from reads_sqlite(place, rounds)
        yield commits_sqlite(place, shape)
        say(f"PostgreSQL with its data on {place} ({file_system(place)}), fsync on")
        with postgres(place) as database:
            yield from reads_postgres(database("turns"), rounds)
            yield commits_postgres(database("ours"), database("bare"), shape)
    with folder("disk") as place:
        say(f"SQLite on {place} ({file_system(place)})")
        found = commits_sqlite(place, (rounds, 8))
        yield Comparison(f"{found.name}, a disk: mostly what a synced write costs there; no target", found.timings)


def main() -> int:
    parser = argparse.ArgumentParser(description="Compare a store with its bare database, interleaved.")
    parser.add_argument("--json", action="store_true", help="print numbers as JSON")
    parser.add_argument("--quick", action="store_true", help="fewer rounds: shows that it runs, not how fast")
    options = parser.parse_args()
    rounds = 20 if options.quick else 150
    try:
        results = list(measure(rounds))
    except (DifferenceError, OSError) as error:
        print(error, file=sys.stderr)
        return 2
    if options.json:
        print(
            json.dumps({"environment": environment(), "rounds": rounds, "results": comparison_data(results)}, indent=2)
        )
    else:
        head = f"{environment_text()}\n{rounds} interleaved rounds"
        print(head, ABOUT, *(comparison_text(result) for result in results), sep="\n\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
