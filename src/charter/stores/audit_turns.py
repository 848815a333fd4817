"""Turn records in an audit: each has the hash the log has of it, and lies in the chain of whose turn it was."""

from __future__ import annotations

import json

from .audit_log import FACT, Fact, Findings, Log, People, plain, shown, together
from .database import Row, Stream
from .turns import COLUMNS, counted, record_hash, turn_of

_RECORDS = f"SELECT chain, {COLUMNS} FROM turn_records ORDER BY chain, turn_id"
_ENTRIES = f"SELECT {FACT} FROM change_log WHERE kind = 'turn' ORDER BY chain, place, seq"


def turns(run: Stream, log: Log, people: People, findings: Findings) -> int:
    """Checks each turn record against the log, in both directions; how many records there are."""
    count = 0
    entries = (((fact.chain, fact.place), fact) for fact in map(Fact.of, plain(run(_ENTRIES))))
    records = (((row[0], row[2]), row) for row in plain(run(_RECORDS)))
    for (chain, turn_id), (facts, rows) in together(entries, records):
        alive = [fact for fact in facts if not log.was_pruned(fact, "turns")]
        where = f"{shown(chain)} turn {shown(turn_id)}"
        if rows and len(alive) == 1:
            _record(rows[0], alive[0], log, people, findings, where)
        elif rows:
            said = "was pruned, but it is there" if facts else "the log has no entry of it"
            findings.problem(where, said if not alive else f"the log has {len(alive)} entries of it")
        for fact in alive if not rows else ():
            findings.problem(fact.where, f"the record of turn {shown(turn_id)} is not there")
        for _ in rows[1:]:
            findings.problem(where, "stands twice")
        count += len(rows)
    return count


def _record(row: Row, fact: Fact, log: Log, people: People, findings: Findings, where: str) -> None:
    chain, agent, sender, user = row[0], row[1], row[5], row[6]
    if _hash(row) != fact.sha256:
        findings.problem(where, f"is not the record {fact.where} has the hash of")
    forgotten = log.was_forgotten(fact)
    if forgotten or (chain, row[2]) in log.unnamed:
        if sender or (forgotten and user):
            findings.problem(where, "was to be erased, but it has a name")
        return
    if not people.fits(chain, agent, user or sender, fact.key_id):
        findings.problem(where, "user_id or sender is not whose turn it was")
    proof = people.keys.proves(json.dumps([sender, user]), fact.detail.rpartition(" ")[2], fact.key_id)
    findings.proved(where, proof, "sender or user_id")


def _hash(row: Row) -> str:
    """The hash of a record, read without trust: counts that are not written as we write them have none."""
    try:
        turn = turn_of(row[1:])
        return record_hash(turn) if counted(turn) == row[16] else ""
    except (TypeError, ValueError, RecursionError):
        return ""
