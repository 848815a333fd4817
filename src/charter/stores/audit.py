"""An audit proves the database against its own log: what was changed, added or taken away beside the log is named.

It reads one committed state and writes nothing. A problem names chains, entries, layers, versions and ids; people are
named by the pseudonym of their chain, and no text is repeated.

What no audit inside a database can find, and what does:

- a database put back whole to an earlier state, or cut at the end of its chains with everything that hung on it:
  keep the `heads` of an audit elsewhere, and give them to the next one;
- a chain rewritten from its start by who has the key; the same `heads` find it;
- a chain rewritten by who has no key, in an installation without one; with a key, its seals are wrong, or are
  missing altogether: then the notice about entries without a seal is the trace of it;
- a change of what the log does not tell of: messages, conversations, leases, settings, what a day cost, tokens,
  schedules and peers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from .audit_approvals import approvals as check_approvals
from .audit_controls import controls as check_controls
from .audit_layers import heads as check_heads
from .audit_layers import labels as check_labels
from .audit_layers import versions as check_versions
from .audit_log import Findings, People, read_log
from .audit_memory import notes as check_notes
from .audit_proposals import proposals as check_proposals
from .audit_turns import turns as check_turns
from .database import Database


@dataclass(frozen=True, slots=True)
class Audit:
    """What was found, what was looked at, and where every chain ends now."""

    problems: tuple[str, ...]
    notices: tuple[str, ...]
    chains: int
    entries: int
    versions: int
    turns: int
    notes: int
    heads: dict[str, str]


def audit(db: Database, *, heads: Mapping[str, str] | None = None) -> Audit:
    """Checks every chain and every row the log tells of; `heads` of an earlier audit must still be in the chains.

    What it remembers grows with versions and proposals; turns, notes and terms pass by.
    """
    findings, people = Findings(), People(db.keys)
    with db.snapshot() as run:
        log = read_log(run, db.keys, findings, heads or {})
        versions, newest = check_versions(run, log, people, findings)
        check_heads(run, newest, people, findings)
        check_labels(run, log, people, findings)
        check_proposals(run, log, people, findings)
        check_approvals(run, log, people, findings)
        check_controls(run, log, people, findings)
        turns = check_turns(run, log, people, findings)
        notes = check_notes(run, log, people, findings)
    more = (f"and {findings.more:,} more problems",) if findings.more else ()
    return Audit(
        (*findings.problems, *more), tuple(findings.notices), len(log.heads), log.entries, versions, turns, notes,
        log.heads,
    )  # fmt: skip
