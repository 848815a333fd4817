"""Old rows into new ones: every text is version 1 of its history, every note can be recalled, the log tells of all.

A pure function of the old rows, without a clock: the same old data gives the same new rows on both databases.
"""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from datetime import UTC, datetime
from typing import Any

from charter.core.chain import START, pseudonym, row_hash
from charter.core.records import LogRow
from charter.stores.terms import terms

from .legacy import OldAgent, OldNote, OldSetting, merged

IMPORTED = "import:agent_long_term_memory"
Rows = dict[str, list[dict[str, Any]]]


def new_rows(
    agents: Sequence[OldAgent], instructions: Mapping[tuple[str, str], Sequence[OldSetting]], notes: Sequence[OldNote]
) -> Rows:
    """Rows by the table they go into, in the order to insert them; no table without rows."""
    rows: Rows = defaultdict(list)
    log: list[LogRow] = []
    for old in agents:
        rows["agent_configurations"].append(
            {"agent_name": old.agent, "soul": old.text or None, "soul_version": int(bool(old.text)),
             "updated_at_ns": old.at_ns}
        )  # fmt: skip
        if old.text:
            log.append(_first(rows, old.agent, "", "soul", old.text, old.at_ns))
    for (user, agent), settings in instructions.items():
        text, at_ns = merged(settings), max((setting.at_ns for setting in settings if setting.active), default=0)
        if text:
            rows["user_agent_prompt_customizations"].append(
                {"user_id": user, "agent_name": agent, "instructions": text, "version": 1, "updated_at_ns": at_ns}
            )
            log.append(_first(rows, agent, user, "instructions", text, at_ns))
    log += _notes(rows, [note for note in notes if note.text.strip()])
    _chained(rows, log)
    return dict(rows)


def _first(rows: Rows, agent: str, user: str, layer_id: str, text: str, at_ns: int) -> LogRow:
    """Version 1 of a layer, and the log's row for it."""
    digest = _hash(text)
    rows["layer_versions"].append(
        {"agent_name": agent, "user_id": user, "layer_id": layer_id, "version": 1, "content": text, "sha256": digest,
         "key_id": "", "actor": "init", "updated_by": "init", "at_ns": at_ns, "restores": None}
    )  # fmt: skip
    return _logged(agent, user, "seed", layer_id, 1, digest, at_ns)


def _notes(rows: Rows, notes: Sequence[OldNote]) -> list[LogRow]:
    """Notes with their owners and source, numbered in the order they come; and the log's rows for them."""
    log: list[LogRow] = []
    owners: dict[tuple[str, str], dict[str, Any]] = {}
    for note_id, note in enumerate(notes, 1):
        length, digest = len(terms(note.text)), _hash(note.text)
        key = {"agent_name": note.agent, "user_id": note.user}
        owner = owners.setdefault((note.agent, note.user), {"owner_id": len(owners) + 1, **key, "notes": 0, "terms": 0})
        owner["notes"] += 1
        owner["terms"] += length
        rows["agent_long_term_memory"].append(
            {"note_id": note_id, **key, "notes": note.text, "day": _day(note.at_ns), "created_at_ns": note.at_ns,
             "said_by": note.user, "channel": "", "source_class": "import", "source": IMPORTED, "trust": 0,
             "length": length, "sha256": digest, "key_id": ""}
        )  # fmt: skip
        rows["memory_sources"].append({"agent_name": note.agent, "source": IMPORTED, "note_id": note_id})
        log.append(_logged(note.agent, note.user, "remember", f"memory:{note_id}", 0, digest, note.at_ns))
    rows["memory_owners"] += owners.values()
    return log


def postings(rows: Rows) -> Iterator[dict[str, Any]]:
    """The terms the notes among these rows are found by: many, so one after the other."""
    owners = {(row["agent_name"], row["user_id"]): row["owner_id"] for row in rows.get("memory_owners", ())}
    for note in rows.get("agent_long_term_memory", ()):
        owner_id = owners[note["agent_name"], note["user_id"]]
        for term, tf in sorted(Counter(terms(note["notes"])).items()):
            yield {"owner_id": owner_id, "term": term, "note_id": note["note_id"], "tf": tf, "length": note["length"]}


def _logged(agent: str, user: str, kind: str, place: str, version: int, digest: str, at_ns: int) -> LogRow:
    chain = f"{agent}/{pseudonym(user, None)}" if user else agent
    return LogRow(chain, 0, kind, place, version, digest, "init", at_ns, "", "", "")


def _chained(rows: Rows, log: Sequence[LogRow]) -> None:
    """Each row of a chain follows from the one before it, in the order of time."""
    heads: dict[str, tuple[int, str]] = {}
    for entry in sorted(log, key=lambda row: row.at_ns):
        seq, prev = heads.get(entry.chain, (0, START))
        row = replace(entry, seq=seq + 1, prev_sha256=prev)
        row = replace(row, sha256=row_hash(row))
        heads[row.chain] = (row.seq, row.sha256)
        rows["change_log"].append({**asdict(row), "key_id": ""})
    rows["chain_heads"] += [{"chain": chain, "seq": seq, "sha256": sha} for chain, (seq, sha) in heads.items()]
    for table in [table for table, some in rows.items() if not some]:
        del rows[table]


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _day(at_ns: int) -> str:
    return datetime.fromtimestamp(at_ns // 10**9, UTC).date().isoformat()
