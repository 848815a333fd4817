"""Proposals in SQL: a change waits, bound to its hash and its base; one approval applies it once (N-04)."""

from __future__ import annotations

import hashlib
import json
import secrets
from typing import Literal

from ..core.errors import Conflict, NotStored, Refused
from ..core.policy import Actor
from ..core.records import Author, Change, Decision, Head, Place, Proposal, Proposed, StoredLayer
from . import log
from .database import Database, Read, Row, Run, one, storable, when
from .layers import checked, commit_in

COLUMNS = """proposal_id, agent_name, user_id, layer_id, head, base_version, content, sha256, actor, proposed_by,
    turn_id, reason, at_ns, expires_at_ns, state, decided_by, decided_at_ns, applied_version, signature"""


def _proposal(row: Row) -> Proposal:
    (name, agent, user, layer, head, base, content, sha, actor, by, turn, *rest) = row
    author = Author("init" if actor == "init" else Actor(actor), by, turn)
    return Proposal(name, Place(agent, layer, user, Head(head)), base, content, sha, author, *rest)


def propose(
    db: Database,
    place: Place,
    content: str,
    *,
    base_version: int,
    by: Author,
    reason: str,
    at_ns: int,
    expires_at_ns: int,
) -> Proposal:
    """Stages a change for a person to decide on; nothing is applied."""
    with db.writing(log.chain_at(db, checked(place))) as run:
        return propose_in(db, run, Proposed(place, content, base_version, by, reason, expires_at_ns), at_ns)


def propose_in(db: Database, run: Run, wanted: Proposed, at_ns: int) -> Proposal:
    """The same, inside a transaction that holds the chain of the place."""
    place, by, base = checked(wanted.place), wanted.by, when("base version", wanted.base_version)
    digest, key_id = db.keys.text_hash(storable("content", wanted.content), personal=bool(place.user))
    reason = storable("reason", wanted.reason)[:500]
    made = Proposal(
        f"p-{secrets.token_hex(5)}", place, base, wanted.content, digest, by, reason, when("at", at_ns),
        when("expires", wanted.expires_at_ns),
    )  # fmt: skip
    run(
        """INSERT INTO proposals (proposal_id, agent_name, user_id, layer_id, head, base_version, content, sha256,
        key_id, actor, proposed_by, turn_id, reason, at_ns, expires_at_ns, state)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'open')""",
        made.id, place.agent, place.user, place.layer_id, str(place.head), base, made.content, digest, key_id,
        str(by.actor), by.name, by.turn, reason, made.at_ns, made.expires_at_ns,
    )  # fmt: skip
    log.append(
        db, run, log.chain_at(db, place), kind="propose", place=place.layer_id, version=base, content_sha256=digest,
        actor=log.actor_of(db, by, personal=bool(place.user)), at_ns=at_ns,
        detail=f"{made.id} {db.keys.text_hash(terms_of(made), personal=True)[0]}",
    )  # fmt: skip
    return made


def terms_of(made: Proposal) -> str:
    """What the log proves of a proposal beside its content: where it goes, until when it may, by whom and why."""
    by = made.by
    return json.dumps([str(made.place.head), made.expires_at_ns, made.reason, str(by.actor), by.name, by.turn])


def proposals(db: Database, agent: str = "", state: str = "") -> list[Proposal]:
    """Proposals, oldest first: of one agent, in one state, or all."""
    rows = db.read(
        f"SELECT {COLUMNS} FROM proposals WHERE (agent_name = ? OR ? = '') AND (state = ? OR ? = '')"
        " ORDER BY at_ns, proposal_id",
        agent, agent, state, state,
    )  # fmt: skip
    return [_proposal(row) for row in rows]


def proposal(db: Database, name: str) -> Proposal:
    """One proposal by its id."""
    return _find(db.read, name)


def _find(run: Read, name: str) -> Proposal:
    row = one(run(f"SELECT {COLUMNS} FROM proposals WHERE proposal_id = ?", name))
    if row is None:
        raise NotStored("proposal of this id", "see: charter proposals")
    return _proposal(row)


def apply(db: Database, decision: Decision) -> StoredLayer:
    """Applies an open proposal, once, exactly as it was seen; stale, swapped or expired ones are refused."""
    when("at", decision.at_ns)
    place = proposal(db, decision.proposal_id).place
    with db.writing(log.chain_at(db, place)) as run:
        found = _open(run, decision)
        content = _unswapped(db, run, found, decision)
        change = Change(found.place, content, found.base_version, found.by, decision.at_ns)
        try:
            written = commit_in(db, run, change)
        except Conflict as error:
            raise Refused(
                "PROPOSAL_STALE",
                f"made on version {found.base_version}, the layer is at {error.current}; propose it anew",
            ) from None
        _close(db, run, found, decision, "applied", written.version)
    return written


def close(db: Database, decision: Decision, state: Literal["rejected", "expired"]) -> Proposal:
    """Ends a proposal without applying it."""
    place = proposal(db, decision.proposal_id).place
    with db.writing(log.chain_at(db, place)) as run:
        found = _find(run, decision.proposal_id)
        _must_be_open(found)
        _close(db, run, found, decision, state, 0)
    return proposal(db, decision.proposal_id)


def expire(db: Database, at_ns: int) -> int:
    """Ends every proposal whose time is over; how many."""
    over = [found for found in proposals(db, state="open") if found.expires_at_ns <= at_ns]
    ended = 0
    for found in over:
        try:
            close(db, Decision(found.id, found.sha256, Author("init"), at_ns), "expired")
        except Refused:  # somebody decided in between
            continue
        ended += 1
    return ended


def _open(run: Run, decision: Decision) -> Proposal:
    found = _find(run, decision.proposal_id)
    _must_be_open(found)
    if decision.at_ns >= found.expires_at_ns:
        raise Refused("PROPOSAL_EXPIRED", "its time is over; propose it anew")
    return found


def _must_be_open(found: Proposal) -> None:
    if found.state != "open":
        raise Refused(f"PROPOSAL_{found.state.upper()}", f"this proposal was {found.state} already; one decision, once")


def _unswapped(db: Database, run: Run, found: Proposal, decision: Decision) -> str:
    """The content, if it is what the person saw and what was proposed."""
    key_id = one(run("SELECT key_id FROM proposals WHERE proposal_id = ?", found.id))
    if found.content is None or decision.sha256 != found.sha256:
        raise Refused("PROPOSAL_SWAPPED", "what was seen is not what is stored; look at it again")
    if db.keys.proves(found.content, found.sha256, key_id[0] if key_id else "") is not True:
        raise Refused("PROPOSAL_SWAPPED", "its content does not have the hash it was proposed with")
    return found.content


def _close(db: Database, run: Run, found: Proposal, decision: Decision, state: str, applied: int) -> None:
    run(
        """UPDATE proposals SET state = ?, decided_by = ?, decided_at_ns = ?, applied_version = ?, signature = ?
        WHERE proposal_id = ?""",
        state, decision.by.mark, when("at", decision.at_ns), applied, decision.signature, found.id,
    )  # fmt: skip
    log.append(
        db, run, log.chain_at(db, found.place), kind=state, place=found.place.layer_id, version=applied,
        content_sha256=found.sha256, actor=log.actor_of(db, decision.by, personal=bool(found.place.user)),
        at_ns=decision.at_ns, detail=f"{found.id} {signature_hash(decision.signature)}".strip(),
    )  # fmt: skip


def signature_hash(signature: str) -> str:
    """What the log keeps of a signature under a decision; nothing of none."""
    return hashlib.sha256(signature.encode()).hexdigest() if signature else ""
