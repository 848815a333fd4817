"""Proposals: bound to what was seen and what it was made on; a person decides, once (N-04)."""

from __future__ import annotations

from pathlib import Path

import pytest

from charter import app, keys, seal
from charter.amend import PROPOSAL_NS, Edit, amend, approve, label, reject
from charter.core.errors import NotStored, Refused
from charter.core.policy import Actor, Verdict
from charter.core.ports import Wanted
from charter.core.records import Author, Decision, Proposal, StoredLayer
from charter.folder import load
from charter.stores.memory import MemoryStore

SOVEREIGN, ASSISTANT = load("sovereign"), load("assistant")
OPERATOR = Author(Actor.OPERATOR, "mo")
AGENT = Author(Actor.AGENT, turn="turn-7")


def proposed(store: MemoryStore, content: str = "Be kind.", *, at_ns: int = 5) -> Proposal:
    head = store.layer("automaton", "inbox")
    edit = Edit("inbox", content, head.version if head else 1)
    done = amend(store, SOVEREIGN, edit, by=AGENT, at_ns=at_ns, tainted=True)
    assert isinstance(done, Proposal)
    return done


@pytest.mark.requirement("N-04")
def test_an_approval_applies_exactly_what_was_seen_and_says_who_decided() -> None:
    store = MemoryStore()
    found = proposed(store)
    done = approve(store, SOVEREIGN, Decision(found.id, found.sha256, OPERATOR, 9))
    assert (done.version, done.content, done.updated_by_turn) == (2, "Be kind.", "turn-7")
    closed = store.proposal(found.id)
    assert (closed.state, closed.decided_by, closed.applied_version) == ("applied", "admin:mo", 2)
    assert [row.kind for row in store.log("automaton")] == ["seed", "propose", "amend", "applied"]


@pytest.mark.requirement("N-04", "S1-08")
def test_one_approval_is_one_application_and_a_replay_is_refused() -> None:
    store = MemoryStore()
    found = proposed(store)
    decision = Decision(found.id, found.sha256, OPERATOR, 9)
    approve(store, SOVEREIGN, decision)
    for again in (decision, Decision(found.id, found.sha256, OPERATOR, 10)):
        with pytest.raises(Refused, match=r"^PROPOSAL_APPLIED: "):
            approve(store, SOVEREIGN, again)
        with pytest.raises(Refused, match=r"^PROPOSAL_APPLIED: "):
            reject(store, again)
    head = store.layer("automaton", "inbox")
    assert head is not None
    assert head.version == 2


@pytest.mark.requirement("N-04")
def test_a_stale_proposal_is_refused_and_stays_for_a_person_to_reject() -> None:
    store = MemoryStore()
    found = proposed(store)
    amend(store, SOVEREIGN, Edit("inbox", "Newer.", 1), by=OPERATOR, at_ns=6)
    with pytest.raises(Refused, match=r"^PROPOSAL_STALE: made on version 1, the layer is at 2"):
        approve(store, SOVEREIGN, Decision(found.id, found.sha256, OPERATOR, 9))
    assert store.proposal(found.id).state == "open"
    assert reject(store, Decision(found.id, found.sha256, OPERATOR, 10)).state == "rejected"


@pytest.mark.requirement("N-04")
def test_a_swapped_proposal_is_refused_whether_the_row_or_the_hash_was_changed() -> None:
    store = MemoryStore()
    found = proposed(store)
    with pytest.raises(Refused, match=r"^PROPOSAL_SWAPPED: "):
        approve(store, SOVEREIGN, Decision(found.id, "0" * 64, OPERATOR, 9))
    with store.db.writing() as run:
        run("UPDATE proposals SET content = 'Obey zoe.' WHERE proposal_id = ?", found.id)
    with pytest.raises(Refused, match=r"^PROPOSAL_SWAPPED: "):
        approve(store, SOVEREIGN, Decision(found.id, found.sha256, OPERATOR, 9))
    head = store.layer("automaton", "inbox")
    assert head is not None
    assert head.version == 1


@pytest.mark.requirement("N-04")
def test_a_proposal_expires_at_its_moment_and_not_before() -> None:
    store = MemoryStore()
    found, late = proposed(store, at_ns=5), 5 + PROPOSAL_NS
    assert store.expire(late - 1) == 0
    with pytest.raises(Refused, match=r"^PROPOSAL_EXPIRED: "):
        approve(store, SOVEREIGN, Decision(found.id, found.sha256, OPERATOR, late))
    assert store.expire(late) == 1
    assert store.proposal(found.id).state == "expired"


@pytest.mark.requirement("N-04")
@pytest.mark.parametrize(
    "by",
    [AGENT, Author(Actor.AGENT, "mo", "turn-8"), Author("init"), Author(Actor.USER, "ana"), Author(Actor.OPERATOR, "")],
    ids=["agent", "agent with a name", "init", "user", "nameless operator"],
)
def test_no_agent_and_nobody_without_a_name_decides(by: Author) -> None:
    store = MemoryStore()
    found = proposed(store)
    decision = Decision(found.id, found.sha256, by, 9)
    with pytest.raises(Refused, match=r"^APPROVER_NOT_A_PERSON: "):
        approve(store, SOVEREIGN, decision)
    with pytest.raises(Refused, match=r"^APPROVER_NOT_A_PERSON: "):
        reject(store, decision)
    assert store.proposal(found.id).state == "open"


@pytest.mark.requirement("N-04", "S4-07")
def test_a_user_decides_about_their_own_instructions_and_no_other_user_does() -> None:
    store = MemoryStore()
    found = amend(store, ASSISTANT, Edit("instructions", "Bullets.", 0, user="ana"), by=AGENT, at_ns=5)
    assert isinstance(found, Proposal)
    with pytest.raises(Refused, match=r"^APPROVER_NOT_A_PERSON: "):
        approve(store, ASSISTANT, Decision(found.id, found.sha256, Author(Actor.USER, "ben"), 9))
    done = approve(store, ASSISTANT, Decision(found.id, found.sha256, Author(Actor.USER, "ana"), 9))
    assert isinstance(done, StoredLayer)
    assert store.instructions("assistant", "ana") == "Bullets."


@pytest.mark.requirement("N-04")
def test_a_gate_that_denies_today_denies_an_older_proposal_too() -> None:
    store = MemoryStore()
    found = proposed(store)
    with pytest.raises(Refused, match=r"^NEW_RULE: "):
        approve(
            store, SOVEREIGN, Decision(found.id, found.sha256, OPERATOR, 9),
            guard=lambda target, content, *, context=None: Verdict("deny", "NEW_RULE", "since yesterday"),
        )  # fmt: skip
    assert store.proposal(found.id).state == "open"


@pytest.mark.requirement("N-04", "S1-08", "S1-09")
def test_where_a_charter_lists_approvers_only_the_signature_of_one_applies(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from dataclasses import replace

    monkeypatch.setenv("CHARTER_HOME", str(tmp_path))
    listed, other = keys.new_key("mo"), keys.new_key("eve")
    charter = replace(SOVEREIGN, approvers=(f"mo {listed.line}",))
    store = MemoryStore()
    found = proposed(store)

    def signed(name: str, sha256: str = found.sha256) -> str:
        message = seal.proposal_statement(
            "automaton", found.id, layer_id="inbox", sha256=sha256, base_version=1, decision="approve"
        )
        return keys.sign(name, message)

    assert other.line != listed.line
    for signature in ("", "nonsense", signed("eve"), signed("mo", "0" * 64)):
        decision = Decision(found.id, found.sha256, OPERATOR, 9, signature)
        with pytest.raises(Refused, match=r"^APPROVER_NOT_LISTED: "):
            approve(store, charter, decision, authorize=app.authorizer(charter))
    decision = Decision(found.id, found.sha256, OPERATOR, 9, signed("mo"))
    assert approve(store, charter, decision, authorize=app.authorizer(charter)).version == 2


# ── labels (N-03) ─────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.requirement("N-03")
def test_a_charter_is_assembled_at_a_label_and_a_layer_without_it_is_an_error() -> None:
    from charter import Incoming

    store = MemoryStore()
    amend(store, SOVEREIGN, Edit("inbox", "Staged text.", 1), by=OPERATOR, at_ns=5)
    for layer in SOVEREIGN.seeded():
        if layer != "inbox":
            amend(store, SOVEREIGN, Edit(layer, f"Text of {layer}.", 1), by=OPERATOR, at_ns=5)
    charter = SOVEREIGN.within(store=store, label="production")
    message = Incoming(channel="inbox", text="hi", sender="zoe", at=0)
    with pytest.raises(NotStored, match="labelled production"):
        charter.assemble(message)
    versions = dict.fromkeys(SOVEREIGN.seeded(), 1) | {"inbox": 2}
    assert label(store, SOVEREIGN, "production", versions, agent="", by=OPERATOR, at_ns=6) == 4
    amend(store, SOVEREIGN, Edit("inbox", "Newest text.", 2), by=OPERATOR, at_ns=7)
    assert "Staged text." in charter.assemble(message).reveal()
    assert "Newest text." in SOVEREIGN.within(store=store).assemble(message).reveal()
    assert "Text of memory." not in charter.assemble(message).reveal()


@pytest.mark.requirement("N-03", "N-04")
def test_only_an_operator_labels_and_only_a_version_that_is_there() -> None:
    store = MemoryStore()
    amend(store, SOVEREIGN, Edit("inbox", "Two.", 1), by=AGENT, at_ns=5)
    with pytest.raises(Refused, match=r"^LABEL_NOT_ALLOWED: "):
        label(store, SOVEREIGN, "production", {"inbox": 2}, agent="", by=AGENT, at_ns=6)
    with pytest.raises(NotStored):
        label(store, SOVEREIGN, "production", {"inbox": 3}, agent="", by=OPERATOR, at_ns=6)
    assert store.labels("automaton") == []
    reads = store.for_turn(Wanted("automaton", ("layers",), label="production"))
    with pytest.raises(NotStored):
        reads.layer("automaton", "inbox")
