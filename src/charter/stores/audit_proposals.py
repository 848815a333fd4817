"""Proposals in an audit: each is what was proposed, and ended as the log says it did."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, get_args

from ..core.policy import Actor
from ..core.records import Author, Head, Place, Proposal, ProposalState
from .audit_log import Fact, Findings, Log, People, plain, shown
from .database import Stream
from .proposals import COLUMNS, signature_hash, terms_of

_PROPOSALS = f"SELECT key_id, {COLUMNS} FROM proposals"


def proposals(run: Stream, log: Log, people: People, findings: Findings) -> None:
    """Checks each proposal against its content and the log, in both directions."""
    for key_id, *row in plain(run(_PROPOSALS)):
        where = f"proposal {shown(row[0])}"
        facts = log.proposals.pop(row[0], [])
        made = [fact for fact in facts if fact.kind == "propose"]
        found = _proposal(row)
        if found is None:
            findings.problem(where, "has a state, an actor or a place that there is not")
        elif len(made) != 1:
            findings.problem(where, f"the log has {len(made)} entries of it instead of one")
        else:
            _made(found, key_id, made[0], log, people, findings)
            _content(found, key_id, made[0], facts, log, people, findings)
            _ended(found, facts, log, people, findings)
    for facts in log.proposals.values():
        if people.knows(facts[0].key_id):
            findings.problem(facts[0].where, "tells of a proposal that is not there")


def _proposal(row: Sequence[Any]) -> Proposal | None:
    """The proposal of a row, read without trust."""
    (name, agent, user, layer, head, base, content, sha256, actor, by, turn, *rest) = row
    known = head in list(Head) and actor in ("init", *Actor) and rest[3] in get_args(ProposalState)
    if not known:
        return None
    author = Author(Actor(actor) if actor != "init" else "init", str(by), str(turn))
    place = Place(str(agent), str(layer), str(user), Head(head))
    return Proposal(str(name), place, base, content, str(sha256), author, *rest)


def _made(found: Proposal, key_id: str, fact: Fact, log: Log, people: People, findings: Findings) -> None:
    place, user = found.place, found.place.user
    epoch = people.place(place.agent, user, key_id)[1]
    held = {
        "agent or user": people.fits(fact.chain, place.agent, user, key_id)
        and (not epoch or epoch in log.forgotten.get(fact.chain, ())),
        "layer_id": place.layer_id == fact.place,
        "base_version": found.base_version == fact.version,
        "sha256": found.sha256 == fact.sha256,
        "key_id": key_id == (fact.key_id if user else ""),
        "at_ns": found.at_ns == fact.at_ns,
    }
    findings.differs(f"proposal {found.id}", held, fact.where)


def _content(
    found: Proposal, key_id: str, fact: Fact, facts: Sequence[Fact], log: Log, people: People, findings: Findings
) -> None:
    where = f"proposal {found.id}"
    gone = log.was_forgotten(fact) or any(other.kind == "forget" for other in facts)
    if found.content is None:
        if not gone:
            findings.problem(where, "its content is gone, and nobody was forgotten")
    elif gone:
        findings.problem(where, "was to be erased, but it has a content")
    else:
        findings.proved(where, people.keys.proves(found.content, found.sha256, key_id))
        proof = people.keys.proves(terms_of(found), fact.detail.partition(" ")[2], fact.key_id)
        findings.proved(where, proof, "its head, expiry, author or reason")


def _ended(found: Proposal, facts: Sequence[Fact], log: Log, people: People, findings: Findings) -> None:
    where, personal = f"proposal {found.id}", bool(found.place.user)
    ends = [fact for fact in facts if fact.kind not in ("propose", "forget")]
    if found.state == "open" or len(ends) != 1:
        said = (found.decided_by, found.decided_at_ns, found.applied_version, found.signature)
        if ends or found.state != "open" or said != ("", 0, 0, ""):
            findings.problem(where, f"is {found.state}; the log has {len(ends)} ends of it")
        return
    fact = ends[0]
    gone = log.was_forgotten(fact) or (fact.chain, fact.actor) in log.nameless
    held = {
        "state": found.state == fact.kind,
        "decided_by": people.wrote(found.decided_by, fact.actor, personal=personal, gone=gone),
        "decided_at_ns": found.decided_at_ns == fact.at_ns,
        "applied_version": found.applied_version == fact.version,
        "sha256": found.sha256 == fact.sha256,
        "signature": signature_hash(found.signature) == fact.detail.partition(" ")[2],
    }
    findings.differs(where, held, fact.where)
