"""Memory in SQL: notes with their provenance, found by a posting table; every key has its owner in it (N-10)."""

from __future__ import annotations

import json
import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import date
from functools import cache, lru_cache
from typing import Any

from ..core.errors import BadValue, NotStored
from ..core.records import UNKNOWN, Author, Memory, Note, Provenance
from ..core.text import Trust
from . import log
from .database import Database, Row, Run, is_storable, marks, named, one, storable, when
from .terms import terms

MAX_QUERY_TERMS = 64
NOTE = "notes, day, said_by, channel, source_class, source, trust, note_id"
_ROWS_AT_ONCE = 40


def note_of(row: Row) -> Memory:
    """A note from its columns `NOTE`."""
    return Memory(str(row[7]), row[0], row[1], _provenance(*row[2:7]))


@lru_cache(maxsize=4096)
def _provenance(said_by: str, channel: str, source_class: Any, source: str, trust: int) -> Provenance:
    return Provenance(said_by, channel, source_class, source, Trust(trust))


# ── writing ───────────────────────────────────────────────────────────────────────────────────────────────────────


def remember(
    db: Database, agent: str, user: str, text: str, *, day: str, at_ns: int = 0, provenance: Provenance = UNKNOWN
) -> Memory:
    """Keeps a note of this user with this agent."""
    with db.writing(log.chain_of(db, agent, user)) as run:
        return remember_in(db, run, agent, Note(user, text, day, provenance), at_ns)


def remember_in(db: Database, run: Run, agent: str, note: Note, at_ns: int) -> Memory:
    """The same, inside a transaction that holds the owner's chain."""
    user, text, provenance = note.user, note.text, note.provenance
    named("agent", agent)
    named("user", user, empty=True)
    day = _day(note.day)
    counts = Counter(terms(storable("note", text)))
    if not text.strip():
        raise BadValue("note", "has no text")
    digest, key_id = db.keys.text_hash(text, personal=True)
    trust, sources = _lineage(run, agent, user, provenance)
    note_id = run(
        """INSERT INTO agent_long_term_memory (user_id, agent_name, notes, day, created_at_ns, said_by, channel,
        source_class, source, trust, length, sha256, key_id) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        RETURNING note_id""",
        user, agent, text, day, when("at", at_ns), named("said_by", provenance.said_by, empty=True),
        provenance.channel, provenance.source_class, provenance.source, int(trust), counts.total(), digest, key_id,
    )[0][0]  # fmt: skip
    _index(run, agent, user, note_id, counts)
    for source in sources:
        run("INSERT INTO memory_sources (agent_name, source, note_id) VALUES (?, ?, ?)", agent, source, note_id)
    log.append(
        db, run, log.chain_of(db, agent, user), kind="remember", place=f"memory:{note_id}", content_sha256=digest,
        actor=provenance.source_class, at_ns=at_ns,
        detail=f"{trust.name.lower()} {db.keys.text_hash(origin(day, provenance, sources), personal=True)[0]}",
    )  # fmt: skip
    return Memory(str(note_id), text, day, replace(provenance, trust=trust, derived_from=()))


def origin(day: str, provenance: Provenance, sources: Sequence[str]) -> str:
    """What the log proves of a note beside its text: the day, who said it, where, and every source of it (N-10)."""
    return json.dumps([day, provenance.said_by, provenance.channel, provenance.source, sorted(sources)])


def _lineage(run: Run, agent: str, user: str, provenance: Provenance) -> tuple[Trust, list[str]]:
    """The lowest trust of what a note comes from, and every source of it; only its owner's notes count."""
    trust, sources = provenance.trust, {provenance.source} - {""}
    for name in provenance.derived_from:
        found = one(
            run(
                """SELECT trust, note_id FROM agent_long_term_memory
                WHERE agent_name = ? AND user_id = ? AND note_id = ? AND revoked_at_ns = 0""",
                agent, user, _number(name),
            )
        )  # fmt: skip
        if found is None:
            raise NotStored("note of this id to derive from", "see: charter memory list")
        trust = min(trust, Trust(found[0]))
        sources |= {
            row[0]
            for row in run("SELECT source FROM memory_sources WHERE agent_name = ? AND note_id = ?", agent, found[1])
        }
    return trust, sorted(named("source", source, limit=500) for source in sources)


def _day(day: str) -> str:
    try:
        return date.fromisoformat(day).isoformat()
    except ValueError:
        raise BadValue("day", "a day is written YYYY-MM-DD") from None


def _number(name: str) -> int:
    if not (name.isascii() and name.isdigit() and len(name) < 19):
        raise BadValue("note", "a note's id is a number; see: charter memory list")
    return int(name)


def _index(run: Run, agent: str, user: str, note_id: int, counts: Mapping[str, int]) -> None:
    length = sum(counts.values())
    owner = run(
        """INSERT INTO memory_owners (agent_name, user_id, notes, terms) VALUES (?, ?, 1, ?)
        ON CONFLICT (agent_name, user_id) DO UPDATE SET notes = memory_owners.notes + 1,
        terms = memory_owners.terms + excluded.terms RETURNING owner_id""",
        agent, user, length,
    )[0][0]  # fmt: skip
    rows = [(owner, term, note_id, tf, length) for term, tf in sorted(counts.items())]
    for start in range(0, len(rows), _ROWS_AT_ONCE):
        some = rows[start : start + _ROWS_AT_ONCE]
        holes = ", ".join(["(?, ?, ?, ?, ?)"] * len(some))
        flat = [value for row in some for value in row]
        run(f"INSERT INTO memory_terms (owner_id, term, note_id, tf, length) VALUES {holes}", *flat)


def revoke(db: Database, agent: str, source: str, *, by: Author, at_ns: int) -> int:
    """Takes back everything this source said to this agent, and what was made from it; how many notes."""
    return _take_back(
        db, agent, by, at_ns, "revoke",
        """SELECT m.note_id, m.user_id, m.length FROM memory_sources s JOIN agent_long_term_memory m
        ON m.note_id = s.note_id WHERE s.agent_name = ? AND s.source = ? AND m.revoked_at_ns = 0""", (agent, source),
    )  # fmt: skip


def forget_note(db: Database, agent: str, user: str, note: str, *, by: Author, at_ns: int) -> None:
    """Takes back one note of this user."""
    gone = _take_back(
        db, agent, by, at_ns, "revoke",
        """SELECT note_id, user_id, length FROM agent_long_term_memory
        WHERE agent_name = ? AND user_id = ? AND note_id = ? AND revoked_at_ns = 0""", (agent, user, _number(note)),
    )  # fmt: skip
    if not gone:
        raise NotStored("note of this id", "see: charter memory list")


def _take_back(
    db: Database, agent: str, by: Author, at_ns: int, kind: str, sql: str, values: tuple[object, ...]
) -> int:
    chains = {log.chain_of(db, agent, row[1]) for row in db.read(sql, *values)}
    with db.writing(*sorted(chains)) as run:
        found = [row for row in run(sql, *values) if log.chain_of(db, agent, row[1]) in chains]
        for note_id, user, length in found:
            run(
                "UPDATE agent_long_term_memory SET revoked_at_ns = ? WHERE note_id = ?",
                max(when("at", at_ns), 1),
                note_id,
            )
            unindex(run, agent, user, note_id, length)
            log.append(
                db, run, log.chain_of(db, agent, user), kind=kind, place=f"memory:{note_id}",
                actor=log.actor_of(db, by, personal=bool(user)), at_ns=at_ns,
            )  # fmt: skip
    return len(found)


def unindex(run: Run, agent: str, user: str, note_id: int, length: int) -> None:
    """Takes a note out of recall."""
    run(
        """DELETE FROM memory_terms WHERE note_id = ? AND owner_id =
        (SELECT owner_id FROM memory_owners WHERE agent_name = ? AND user_id = ?)""",
        note_id, agent, user,
    )  # fmt: skip
    run(
        "UPDATE memory_owners SET notes = notes - 1, terms = terms - ? WHERE agent_name = ? AND user_id = ?",
        length, agent, user,
    )  # fmt: skip


# ── reading ───────────────────────────────────────────────────────────────────────────────────────────────────────

_POSTINGS = """SELECT p.term, p.note_id, p.tf, p.length, o.notes, o.terms FROM memory_owners o JOIN memory_terms p
    ON p.owner_id = o.owner_id WHERE o.agent_name = ? AND o.user_id = ? AND p.term IN ({marks})"""


@cache
def _postings(terms: int) -> str:
    return _POSTINGS.format(marks=marks(terms))


@cache
def _texts(notes: int) -> str:
    return f"SELECT {NOTE} FROM agent_long_term_memory WHERE note_id IN ({marks(notes)})"


def recall(db: Database, agent: str, user: str, query: str, limit: int) -> tuple[Memory, ...]:
    """The notes that fit the query best, by BM25; ties go to the newer note (S2-06)."""
    wanted = query_terms(query)
    if not wanted or limit <= 0 or not is_storable(user):
        return ()
    best = rank(db.read(_postings(len(wanted)), agent, user, *wanted), limit)
    if not best:
        return ()
    rows = db.read(_texts(len(best)), *best)
    found = {row[7]: note_of(row) for row in rows}
    return tuple(found[note_id] for note_id in best if note_id in found)


def query_terms(query: str) -> list[str]:
    """What a query looks for: its first 64 different terms."""
    return sorted(list(dict.fromkeys(terms(query)))[:MAX_QUERY_TERMS])


def rank(postings: Iterable[Row], limit: int) -> list[int]:
    """Ids of the best notes; rows are (term, note, tf, length, notes of the owner, terms of the owner).

    Scores add up in the order of the terms, so they are the same to the last bit wherever the rows come from.
    """
    held: defaultdict[str, list[Row]] = defaultdict(list)
    for row in postings:
        held[row[0]].append(row)
    scores: dict[int, float] = {}
    for term in sorted(held):
        rows = held[term]
        notes, total = rows[0][4], rows[0][5]
        idf = math.log(1 + (notes - len(rows) + 0.5) / (len(rows) + 0.5)) * 2.2
        norm = 0.9 * notes / total if total else 0.0
        for _, note, tf, length, _, _ in rows:
            scores[note] = scores.get(note, 0.0) + idf * tf / (tf + 0.3 + norm * length)
    best = sorted([(-score, -note) for note, score in scores.items()])
    return [-note for _, note in best[:limit]]


def recent(db: Database, agent: str, user: str, limit: int) -> tuple[Memory, ...]:
    """The newest notes of this user with this agent."""
    if not is_storable(user):
        return ()
    rows = db.read(
        f"""SELECT {NOTE} FROM agent_long_term_memory WHERE agent_name = ? AND user_id = ? AND revoked_at_ns = 0
        ORDER BY note_id DESC LIMIT ?""",
        agent, user, max(limit, 0),
    )  # fmt: skip
    return tuple(note_of(row) for row in rows)


def sources(db: Database, agent: str) -> Sequence[tuple[str, int]]:
    """Every source an agent's notes come from, with how many live notes."""
    rows = db.read(
        """SELECT s.source, count(*) FROM memory_sources s JOIN agent_long_term_memory m ON m.note_id = s.note_id
        WHERE s.agent_name = ? AND m.revoked_at_ns = 0 GROUP BY s.source ORDER BY s.source""",
        agent,
    )
    return [(row[0], row[1]) for row in rows]
