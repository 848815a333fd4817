"""Recall finds a user's ten best notes as fast in a large store as in a small one; FTS5 stands beside it."""

from __future__ import annotations

import argparse
import json
import random
import shutil
import sqlite3
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from itertools import accumulate, islice
from pathlib import Path
from time import perf_counter

import psycopg

from assembly import Target
from charter import stores
from charter.core.chain import START, link_hash
from charter.core.records import UNKNOWN
from charter.stores.database import marks
from charter.stores.notes import NOTE, origin, query_terms
from charter.stores.sqlite import Sqlite
from charter.stores.store import SqlStore
from charter.stores.terms import terms
from rounds import (
    KEYS,
    WARM_UP_ROUNDS,
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
    say,
    spoken,
)

AGENT, DAY = "bench", "2026-02-26"
LIMIT = 10
VOCABULARY = 30_000
QUERIES = 1_000
SAMPLE = 500  # queries whose answers are compared
BATCH = 20_000  # notes per transaction of the loader
BYTES_PER_NOTE = 4_000  # ours and FTS5 together, with room to spare
STOP_WORDS = """the of and to a in is it you that he was for on are with as his they at be this have from or had by not
    but what were we when your can there an which she do how their if will would who so them these then her into has him
    could no than been its did my me why does us our should where""".split()
HEAVY = "what was it that {} and {} had for me in the {} of my"
MESSAGE_WORDS = 40
SHORT, LONG = "3 words", f"a message of {MESSAGE_WORDS} words"


@dataclass(frozen=True)
class Sizes:
    """Notes in the small and in the large store, and the people they belong to."""

    small: int
    large: int
    users: int
    rounds: int

    @property
    def some(self) -> int:
        """So many users of the large store have as many notes as the small one holds."""
        return self.users * self.small // self.large


FULL = Sizes(100_000, 1_000_000, 10_000, 60)
QUICK = Sizes(10_000, 50_000, 1_000, 20)

ABOUT = f"""\
Notes: words by Zipf's law from {VOCABULARY:,}, the commonest of them stop words, as in English; 8 to 20 others a note,
of users at random. Queries are of a user who has something to find: two words of a note and one by Zipf; the same among
ten stop words; or a message of {MESSAGE_WORDS} words by Zipf, since a turn recalls by the whole message (no target).

Ours: store.recall(agent, user, query, {LIMIT}), from the query's text to the notes as records. FTS5: every term indexed
as u<user>_<term> (the same terms, stop words dropped, no copy of the content), one statement: MATCH of the query's
prefixed terms with OR, ORDER BY bm25 LIMIT {LIMIT}, joined to the same columns of the notes, fetched as bare rows; same
pragmas, same file system. "FTS5" is the index as it grew, with its default merging; "FTS5 optimized" is a copy merged
into one segment by its `optimize` command, which later inserts undo. Before timing both found the same notes for
{SAMPLE} queries when not limited; rank differs: FTS5 weighs terms over all users, ours over the user's own notes.

Stores: "small" and "large" have the same users, so each has more notes in the large one; "small, full users" has the
notes of the first users of the large store and nobody else, so the same query does the same work in both."""


# ── notes ─────────────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class Words:
    """A vocabulary by Zipf's law; what a word is indexed as is kept, so that a million notes are quick to make."""

    words: list[str]
    weights: list[float]  # cumulated
    indexed: dict[str, list[str]]

    def some(self, rng: random.Random, count: int) -> list[str]:
        """By Zipf's law, stop words too."""
        return rng.choices(self.words, cum_weights=self.weights, k=count)

    def telling(self, rng: random.Random) -> str:
        """One that is not a stop word."""
        return next(word for word in iter(lambda: self.some(rng, 1)[0], "") if self.indexed[word])

    def counts(self, text: str) -> Counter[str]:
        """The terms of a text of these words, as `terms` gives them."""
        return Counter([term for word in text.split() for term in self.indexed[word]])


def vocabulary() -> Words:
    rng = random.Random("words")
    syllables = [first + second for first in "bcdfghjklmnprstvwz" for second in "aeiou"]
    made = dict.fromkeys(STOP_WORDS)
    while len(made) < VOCABULARY:
        word = "".join(rng.choices(syllables, k=rng.randint(2, 4))) + rng.choice(["", "", "n", "r", "s", "ed", "ing"])
        if terms(word):
            made[word] = None
    words = list(made)
    weights = list(accumulate(1 / rank for rank in range(1, VOCABULARY + 1)))
    return Words(words, weights, {word: terms(word) for word in words})


Note = tuple[int, str]  # user, text


def make_notes(words: Words, count: int, users: int, seed: str) -> Iterator[Note]:
    rng = random.Random(seed)
    for _ in range(count):
        left, text = rng.randint(8, 20), []
        while left > 0:
            text += (drawn := words.some(rng, left))
            left -= sum(map(bool, map(words.indexed.__getitem__, drawn)))
        yield rng.randrange(users), " ".join(text)


def user_name(user: int) -> str:
    return f"user-{user:05}@example.org"


Asked = list[tuple[int, str]]  # user, query


def make_queries(words: Words, notes: Sequence[Note]) -> dict[str, Asked]:
    """Queries by kind; the user of each is one of these notes'."""
    rng = random.Random("queries")
    short, heavy, long = Asked(), Asked(), Asked()
    for user, text in rng.sample(notes, QUERIES):
        known = sorted({word for word in text.split() if words.indexed[word]})
        three = [*rng.sample(known, 2), words.telling(rng)]
        short.append((user, " ".join(three)))
        heavy.append((user, HEAVY.format(*three)))
        long.append((user, " ".join(words.some(rng, MESSAGE_WORDS))))
    return {SHORT: short, "3 words among stop words": heavy, LONG: long}


# ── loading ───────────────────────────────────────────────────────────────────────────────────────────────────────

COLUMNS = {
    "agent_long_term_memory": """note_id, user_id, agent_name, notes, day, created_at_ns, said_by, channel,
        source_class, source, trust, length, sha256, key_id""",
    "memory_terms": "owner_id, term, note_id, tf, length",
    "change_log": """chain, seq, kind, place, version, content_sha256, actor, at_ns, detail, prev_sha256, sha256,
        seal, key_id""",
    "memory_owners": "owner_id, agent_name, user_id, notes, terms",
    "chain_heads": "chain, seq, sha256",
}
DETAIL = f"{UNKNOWN.trust.name.lower()} {KEYS.text_hash(origin(DAY, UNKNOWN, ()), personal=True)[0]}"
Tables = dict[str, list[Row]]


@dataclass
class Owner:
    """What the loader knows of one user."""

    id: int  # remember() draws one for every note, and the first is kept
    chain: str
    notes: int = 0
    terms: int = 0
    sha256: str = START


@dataclass
class Loader:
    """Makes the rows that `remember` would write, without a commit each; `check_loader` holds it to that."""

    words: Words
    owners: dict[int, Owner] = field(default_factory=dict)
    notes: int = 0

    def batches(self, notes: Iterable[Note]) -> Iterator[Tables]:
        waiting = iter(notes)
        while some := list(islice(waiting, BATCH)):
            tables: Tables = {"agent_long_term_memory": [], "memory_terms": [], "change_log": []}
            for user, text in some:
                self._note(tables, user, text)
            tables["memory_terms"].sort()
            yield tables
        owners = self.owners.items()
        yield {
            "memory_owners": [(one.id, AGENT, user_name(user), one.notes, one.terms) for user, one in owners],
            "chain_heads": sorted((one.chain, one.notes, one.sha256) for _, one in owners),
        }

    def _note(self, tables: Tables, user: int, text: str) -> None:
        self.notes += 1
        name, note = user_name(user), self.notes
        if user not in self.owners:
            self.owners[user] = Owner(note, f"{AGENT}/{KEYS.person(name)}")
        owner = self.owners[user]
        counts = self.words.counts(text)
        length = counts.total()
        digest, key = KEYS.text_hash(text, personal=True)
        tables["agent_long_term_memory"].append(
            (note, name, AGENT, text, DAY, 0, "", "", UNKNOWN.source_class, "", int(UNKNOWN.trust), length, digest, key)
        )
        tables["memory_terms"] += [(owner.id, term, note, tf, length) for term, tf in counts.items()]
        owner.notes += 1
        owner.terms += length
        row = (owner.chain, owner.notes, "remember", f"memory:{note}", 0, digest, UNKNOWN.source_class, 0, DETAIL)
        prev, owner.sha256 = owner.sha256, link_hash(owner.sha256, *row)
        tables["change_log"].append((*row, prev, owner.sha256, *KEYS.seal(owner.sha256)))


def insert_sql(table: str, columns: str) -> str:
    return f"INSERT INTO {table} ({columns}) VALUES ({marks(len(columns.split(',')))})"


@contextmanager
def bulk(path: Path) -> Iterator[sqlite3.Connection]:
    """A connection that loads fast and leaves the file as the store wants it."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for pragma in ("journal_mode = OFF", "synchronous = OFF", "cache_size = -2000000"):
            connection.execute(f"PRAGMA {pragma}")
        connection.execute("BEGIN")
        yield connection
        connection.execute("COMMIT")
        connection.execute("PRAGMA journal_mode = WAL")


def load_sqlite(path: Path, words: Words, notes: Iterable[Note], count: int) -> None:
    stores.open(f"sqlite:///{path}", keys=KEYS).close()
    done, begin = 0, perf_counter()
    with bulk(path) as connection:
        for tables in Loader(words).batches(notes):
            for table, rows in tables.items():
                connection.executemany(insert_sql(table, COLUMNS[table]), rows)
            if notes_in := tables.get("agent_long_term_memory"):
                done += len(notes_in)
                progress(f"ours, {path.stem}", done, count, begin)
        connection.execute("UPDATE sqlite_sequence SET seq = ? WHERE name = 'memory_owners'", (done,))


def progress(name: str, done: int, count: int, begin: float) -> None:
    """A line for every fifth of a store that takes a while."""
    if count > BATCH and done * 5 % count < BATCH * 5:
        say(f"  {name}: {done:,} of {count:,} notes after {perf_counter() - begin:.0f} s")


def load_postgres(url: str, words: Words, notes: Iterable[Note]) -> None:
    with psycopg.connect(url) as connection, connection.cursor() as cursor:
        for tables in Loader(words).batches(notes):
            for table, rows in tables.items():
                with cursor.copy(spoken(f"COPY {table} ({COLUMNS[table]}) FROM STDIN")) as copy:
                    for row in rows:
                        copy.write_row(row)
        for table, column in (("agent_long_term_memory", "note_id"), ("memory_owners", "owner_id")):
            sequence = f"pg_get_serial_sequence('{table}', '{column}')"
            cursor.execute(spoken(f"SELECT setval({sequence}, max(note_id)) FROM agent_long_term_memory"))
        connection.commit()
        connection.autocommit = True
        connection.execute("VACUUM ANALYZE")


CHECKED = ("loaded", "remembered")


def check_loader(place: Path, words: Words) -> None:
    """The loader and `remember` leave the same rows in every table."""
    notes = list(make_notes(words, 400, 20, "checked"))
    load_sqlite(place / f"{CHECKED[0]}.db", words, notes, len(notes))
    with stores.open(f"sqlite:///{place / CHECKED[1]}.db", keys=KEYS) as store:
        for user, text in notes:
            store.remember(AGENT, user_name(user), text, day=DAY)
    loaded, remembered = (Sqlite(place / f"{name}.db") for name in CHECKED)
    with closing(loaded), closing(remembered):
        for (table,) in loaded.read("SELECT name FROM sqlite_master WHERE type = 'table'"):
            one, other = (sorted(db.read(f"SELECT * FROM {table}"), key=repr) for db in (loaded, remembered))
            if one != other:
                raise DifferenceError(f"the loader's {len(one)} rows of {table} are not the {len(other)} of remember()")


# ── FTS5 ──────────────────────────────────────────────────────────────────────────────────────────────────────────

FTS_TABLES = (
    """CREATE TABLE notes (note_id INTEGER PRIMARY KEY, notes TEXT, day TEXT, said_by TEXT, channel TEXT,
    source_class TEXT, source TEXT, trust BIGINT)""",
    """CREATE VIRTUAL TABLE found USING fts5(body, content='', tokenize="ascii tokenchars '_'")""",
)
FTS_NOTE = insert_sql("notes", "note_id, notes, day, said_by, channel, source_class, source, trust")
FTS_INDEX = "INSERT INTO found (rowid, body) VALUES (?, ?)"
# The fastest of four: ORDER BY rank, a subquery, and two statements took longer.
FTS_RECALL = f"""SELECT {NOTE} FROM found JOIN notes ON note_id = found.rowid
    WHERE found MATCH ? ORDER BY bm25(found) LIMIT ?"""


def fts_rows(note: int, user: int, text: str, found: Iterable[str]) -> tuple[Row, Row]:
    row = (note, text, DAY, "", "", UNKNOWN.source_class, "", int(UNKNOWN.trust))
    return row, (note, " ".join([f"u{user}_{term}" for term in found]))


def load_fts(path: Path, words: Words, notes: Iterable[Note], count: int) -> None:
    begin, done, waiting = perf_counter(), 0, iter(notes)
    with bulk(path) as connection:
        for sql in FTS_TABLES:
            connection.execute(sql)
        while some := list(islice(waiting, BATCH)):
            rows = [
                fts_rows(done + place, user, text, words.counts(text).elements())
                for place, (user, text) in enumerate(some, 1)
            ]
            connection.executemany(FTS_NOTE, [row for row, _ in rows])
            connection.executemany(FTS_INDEX, [row for _, row in rows])
            done += len(some)
            progress(path.stem, done, count, begin)


def optimize_fts(path: Path, made: Path) -> None:
    """A copy with its index merged into one segment, which is the fastest it can be."""
    shutil.copyfile(path, made)
    with bulk(made) as connection:
        connection.execute("INSERT INTO found (found) VALUES ('optimize')")


def fts_recall(connection: sqlite3.Connection, user: int, query: str, limit: int = LIMIT) -> list[Row]:
    wanted = " OR ".join([f'"u{user}_{term}"' for term in query_terms(query)])
    return connection.execute(FTS_RECALL, (wanted, limit)).fetchall()


# ── timing ────────────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class Agreement:
    """How often both give the same ten notes; for information, since they weigh terms over different notes."""

    queries: int
    more: int  # queries that match more than ten notes; all others agree
    same: int  # of these, queries with the same ten
    shared: float  # of these, notes in common


def agreement(store: SqlStore, connection: sqlite3.Connection, queries: Asked) -> Agreement:
    """Raises when the two do not match the same notes."""
    shares: list[float] = []
    for number, (user, query) in enumerate(queries):
        ours = [note.id for note in store.recall(AGENT, user_name(user), query, 10**6)]
        theirs = [str(row[7]) for row in fts_recall(connection, user, query, 10**6)]
        if set(ours) != set(theirs):
            raise DifferenceError(f"query {number}: ours matches {len(ours)} notes, FTS5 {len(theirs)} others")
        if len(ours) > LIMIT:
            shares.append(len(set(ours[:LIMIT]) & set(theirs[:LIMIT])) / LIMIT)
    return Agreement(len(queries), len(shares), shares.count(1.0), sum(shares) / max(len(shares), 1))


def ours_recall(store: SqlStore, queries: Asked) -> Call:
    asked = [(user_name(user), query) for user, query in queries]

    def recall(number: int) -> object:
        user, query = asked[number % len(asked)]
        return store.recall(AGENT, user, query, LIMIT)

    return recall


def fts_asks(connection: sqlite3.Connection, queries: Asked) -> Call:
    def recall(number: int) -> object:
        user, query = queries[number % len(queries)]
        return fts_recall(connection, user, query)

    return recall


def ours_remember(store: SqlStore, notes: Sequence[Note]) -> Call:
    told = [(user_name(user), text) for user, text in notes]

    def remember(number: int) -> object:
        user, text = told[number]
        return store.remember(AGENT, user, text, day=DAY)

    return remember


def fts_remember(connection: sqlite3.Connection, notes: Sequence[Note]) -> Call:
    first = connection.execute("SELECT max(note_id) + 1 FROM notes").fetchone()[0]

    def remember(number: int) -> None:
        user, text = notes[number]
        note, index = fts_rows(first + number, user, text, terms(text))
        connection.execute("BEGIN IMMEDIATE")
        connection.execute(FTS_NOTE, note)
        connection.execute(FTS_INDEX, index)
        connection.execute("COMMIT")

    return remember


# ── all of it ─────────────────────────────────────────────────────────────────────────────────────────────────────

SMALL, FULL_USERS, LARGE = "small", "small, full users", "large"
GROWTH = (Target(f"ours, {LARGE}", f"ours, {SMALL}", 1.5), Target(f"ours, {LARGE}", f"ours, {FULL_USERS}", 1.5))
GROWN, OPTIMIZED = "FTS5", "FTS5 optimized"
BESIDE = tuple(Target(f"ours, {size}", f"{fts}, {size}", 0.5) for fts in (GROWN, OPTIMIZED) for size in (SMALL, LARGE))


@dataclass
class Opened:
    """What is compared, open."""

    ours: dict[str, SqlStore]
    fts: dict[tuple[str, str], sqlite3.Connection]
    postgres: SqlStore


@dataclass(frozen=True)
class Report:
    """Everything that is printed."""

    sizes: Sizes
    file_system: str
    bytes: dict[str, int]
    agreement: dict[str, Agreement]
    comparisons: list[Comparison]


def load(place: Path, sizes: Sizes, words: Words, database: Callable[[str], str]) -> tuple[str, dict[str, Asked]]:
    """Fills every database; the address of PostgreSQL's, and the queries."""
    say(f"making {sizes.large:,} notes of {sizes.users:,} users")
    notes = list(make_notes(words, sizes.large, sizes.users, "notes"))
    few = notes[: sizes.small]
    full_users = [note for note in notes if note[0] < sizes.some]
    for name, kept in ((SMALL, few), (FULL_USERS, full_users), (LARGE, notes)):
        load_sqlite(place / f"{name}.db", words, kept, len(kept))
    for name, kept in ((SMALL, few), (LARGE, notes)):
        load_fts(place / f"FTS5, {name}.db", words, kept, len(kept))
        optimize_fts(place / f"FTS5, {name}.db", place / f"FTS5 optimized, {name}.db")
    say(f"  PostgreSQL, {sizes.small:,} notes")
    url = database("recall")
    load_postgres(url, words, few)
    return url, make_queries(words, [note for note in few if note[0] < sizes.some])


@contextmanager
def opened(place: Path, url: str) -> Iterator[Opened]:
    with ExitStack() as stack:
        yield Opened(
            {
                name: stack.enter_context(stores.open(f"sqlite:///{place / name}.db", keys=KEYS))
                for name in (SMALL, FULL_USERS, LARGE)
            },
            {
                (fts, name): stack.enter_context(bare_sqlite(place / f"{fts}, {name}.db"))
                for fts in (GROWN, OPTIMIZED)
                for name in (SMALL, LARGE)
            },
            stack.enter_context(stores.open(url, keys=KEYS)),
        )


def compare_queries(at: Opened, kind: str, queries: Asked, rounds: int) -> Comparison:
    contenders = {
        **{f"{fts}, {size}": fts_asks(connection, queries) for (fts, size), connection in at.fts.items()},
        **{f"ours, {size}": ours_recall(store, queries) for size, store in at.ours.items()},
        f"ours, {SMALL}, PostgreSQL": ours_recall(at.postgres, queries),
    }
    targets = () if kind == LONG else (*BESIDE, *GROWTH)
    return Comparison(f"recall, {kind}", interleave(contenders, rounds=rounds, calls=50), targets)


def compare_inserts(at: Opened, notes: Sequence[Note], rounds: int) -> Comparison:
    contenders = {
        **{f"{GROWN}, {size}": fts_remember(at.fts[GROWN, size], notes) for size in (SMALL, LARGE)},
        **{f"ours, {size}": ours_remember(store, notes) for size, store in at.ours.items()},
        f"ours, {SMALL}, PostgreSQL": ours_remember(at.postgres, notes),
    }
    name = "insert: ours is remember() with its hash, log row and seal; FTS5 is two bare inserts; both commit"
    return Comparison(name, interleave(contenders, rounds=rounds, calls=20), GROWTH)


def measure(sizes: Sizes) -> Report:
    need = BYTES_PER_NOTE * (sizes.large + 3 * sizes.small)
    words = vocabulary()
    with folder("memory", need) as place, postgres(place) as database:
        say(f"everything lies on {place} ({file_system(place)})")
        check_loader(place, words)
        url, queries = load(place, sizes, words, database)
        held = {path.stem: path.stat().st_size for path in sorted(place.glob("*.db")) if path.stem not in CHECKED}
        check_pragmas(place / f"{SMALL}.db")
        with opened(place, url) as at:
            check_postgres(at, queries[LONG][:SAMPLE])
            agreed = {
                f"{size}, {kind}": agreement(at.ours[size], at.fts[GROWN, size], queries[kind][:SAMPLE])
                for size in (SMALL, LARGE)
                for kind in (SHORT, LONG)
            }
            say("timing")
            more = list(make_notes(words, 20 * (sizes.rounds + WARM_UP_ROUNDS), sizes.some, "more"))
            found = [compare_queries(at, kind, asked, sizes.rounds) for kind, asked in queries.items()]
            found.append(compare_inserts(at, more, sizes.rounds))
        return Report(sizes, file_system(place), held, agreed, found)


def check_postgres(at: Opened, queries: Asked) -> None:
    for number, (user, query) in enumerate(queries):
        asked = (AGENT, user_name(user), query, LIMIT)
        if at.ours[SMALL].recall(*asked) != at.postgres.recall(*asked):
            raise DifferenceError(f"query {number}: PostgreSQL and SQLite do not recall the same notes")


def report_text(report: Report) -> str:
    sizes = report.sizes
    shapes = (
        (SMALL, sizes.small, sizes.users),
        (FULL_USERS, sizes.small, sizes.some),
        (LARGE, sizes.large, sizes.users),
    )
    held = [f"{name} {size / 1e6:,.0f} MB" for name, size in report.bytes.items()]
    laid = [
        *(f"  {name}: {notes:,} notes of {users:,} users, {notes / users:g} each" for name, notes, users in shapes),
        f"  files on {report.file_system}: {', '.join(held)}",
    ]
    agreed = [f"  {name}: {agreement_text(found)}" for name, found in report.agreement.items()]
    head = f"{environment_text()}\n{sizes.rounds} interleaved rounds"
    tables = [comparison_text(result) for result in report.comparisons]
    return "\n\n".join(
        [head, ABOUT, "\n".join(["stores", *laid]), *tables, "\n".join(["agreement of the ten best", *agreed])]
    )


def agreement_text(found: Agreement) -> str:
    if not found.more:
        return f"none of {found.queries} queries matches more than {LIMIT} notes, so both give the same"
    return (
        f"{found.more} of {found.queries} queries match more than {LIMIT} notes; {found.same} of these have the same"
        f" {LIMIT}, and {found.shared:.0%} of the notes are in common"
    )


def report_json(report: Report) -> str:
    found = {
        "environment": environment(),
        "sizes": vars(report.sizes),
        "file_system": report.file_system,
        "bytes": report.bytes,
        "agreement": {size: vars(value) for size, value in report.agreement.items()},
        "results": comparison_data(report.comparisons),
    }
    return json.dumps(found, indent=2)


def main() -> int:
    parser = argparse.ArgumentParser(description="Compare recall with FTS5, and a small store with a large one.")
    parser.add_argument("--json", action="store_true", help="print numbers as JSON")
    parser.add_argument("--quick", action="store_true", help="small stores, seconds: shows that it runs, not how fast")
    options = parser.parse_args()
    try:
        report = measure(QUICK if options.quick else FULL)
    except (DifferenceError, OSError) as error:
        print(error, file=sys.stderr)
        return 2
    print(report_json(report) if options.json else report_text(report))
    return 0


if __name__ == "__main__":
    sys.exit(main())
