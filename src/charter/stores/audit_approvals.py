"""Approvals in an audit: each is the call that was asked about, decided by whom the log says, and used at most once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from ..core.records import Approval
from .approvals import COLUMNS, terms_of
from .audit_log import Fact, Findings, Log, People, plain, shown
from .database import Stream

_APPROVALS = f"SELECT {COLUMNS}, chain FROM tool_approvals"
_WAYS: Final[Mapping[tuple[str, ...], str]] = {
    ("ask-call",): "open",
    ("ask-call", "approve-call"): "approved",
    ("ask-call", "deny-call"): "denied",
    ("ask-call", "expire-call"): "expired",
    ("ask-call", "approve-call", "use-call"): "used",
    ("ask-call", "approve-call", "expire-call"): "expired",
}
"""What may happen to a call, in this order, and the state it is in then."""


def approvals(run: Stream, log: Log, people: People, findings: Findings) -> None:
    """Checks each approval against its arguments and the log, in both directions."""
    for *row, chain in plain(run(_APPROVALS)):
        found = Approval(*row)
        facts = log.approvals.pop(str(found.id), [])
        where = f"approval {shown(found.id)}"
        state = _WAYS.get(tuple(fact.kind for fact in facts))
        if state is None:
            findings.problem(where, f"the log has {len(facts)} entries of it, which are no way a call can go")
            continue
        _asked(found, chain, facts, log, people, findings)
        _went(found, state, facts, log, people, findings)
    for facts in log.approvals.values():
        ended = _WAYS.get(tuple(fact.kind for fact in facts)) not in (None, "open", "approved")
        if not (ended and log.was_pruned(facts[0], "calls")):
            findings.problem(facts[0].where, "tells of an approval that is not there")


def _asked(found: Approval, chain: str, facts: Sequence[Fact], log: Log, people: People, findings: Findings) -> None:
    """What the call is, and whose; of who was forgotten, nothing of it may be left to read."""
    where, asked = f"approval {shown(found.id)}", facts[0]
    gone = log.was_forgotten(asked)
    held = {
        "chain": all(fact.chain == chain for fact in facts),
        "tool": all(fact.place == found.tool for fact in facts),
        "sha256": all(fact.sha256 == found.sha256 for fact in facts),
        "at_ns": found.at_ns == asked.at_ns,
        "turn_id": found.turn_id == asked.actor,
        "agent or user": str(chain).rpartition("/")[0] == found.agent
        if gone
        else people.fits(chain, found.agent, found.user, asked.key_id),
    }
    findings.differs(where, held, asked.where)
    if gone:
        if found.arguments is not None or found.user:
            findings.problem(where, "was to be erased, but it has arguments or a name")
    elif found.arguments is None:
        findings.problem(where, "its arguments are gone, and nobody was forgotten")
    else:
        proof = people.keys.proves(terms_of(found), asked.detail.partition(" ")[2], asked.key_id)
        findings.proved(where, proof, "its arguments, turn or expiry")


def _went(found: Approval, state: str, facts: Sequence[Fact], log: Log, people: People, findings: Findings) -> None:
    """Who decided and which turn used it."""
    decided = next((fact for fact in facts if fact.kind in ("approve-call", "deny-call")), None)
    used = next((fact.actor for fact in facts if fact.kind == "use-call"), "")
    by = found.decided_by == ""
    if decided is not None:
        gone = log.was_forgotten(decided) or (decided.chain, decided.actor) in log.nameless
        by = people.wrote(str(found.decided_by), decided.actor, personal=bool(found.user), gone=gone)
    held = {
        "state": found.state == state,
        "decided_by": by,
        "decided_at_ns": found.decided_at_ns == (decided.at_ns if decided else 0),
        "used_by_turn": found.used_by_turn == used,
    }
    findings.differs(f"approval {shown(found.id)}", held, facts[-1].where)
