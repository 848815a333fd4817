"""Approvals in SQL: a call of a tool waits for a person, bound to its hash; one approval is one execution (S1-08)."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Literal

from ..core.errors import BadValue, NotStored, Refused
from ..core.records import Approval, Author
from . import log, notices
from .database import MOST, Database, Read, Row, Run, named, one, storable, when

COLUMNS = """approval_id, agent_name, turn_id, tool, arguments, sha256, at_ns, expires_at_ns, user_id, state,
    decided_by, decided_at_ns, used_by_turn"""
KINDS = {"approved": "approve-call", "denied": "deny-call"}
CALLS = ("ask-call", "approve-call", "deny-call", "use-call", "expire-call")
_CALL = "agent_name = ? AND user_id = ? AND tool = ? AND sha256 = ?"
_OPEN = f"SELECT {COLUMNS} FROM tool_approvals WHERE {_CALL} AND state = 'open'"
_GIVEN = f"""SELECT approval_id, chain FROM tool_approvals WHERE {_CALL} AND state = 'approved' AND expires_at_ns > ?
    ORDER BY at_ns, approval_id"""


def request_approval(db: Database, wanted: Approval) -> Approval:
    """Has a call wait for a person; the one that waits already for the very same call, if there is one."""
    wanted = replace(_checked(wanted), state="open", decided_by="", decided_at_ns=0, used_by_turn="")
    chain = log.chain_of(db, wanted.agent, wanted.user)
    with db.writing(chain) as run:
        for row in run(_OPEN, wanted.agent, wanted.user, wanted.tool, wanted.sha256):
            found = Approval(*row)
            if wanted.at_ns < found.expires_at_ns:
                return found
            end_in(db, run, found.id, wanted.at_ns)
        _insert(run, wanted, chain)
        log.append(
            db, run, chain, kind="ask-call", place=wanted.tool, content_sha256=wanted.sha256, actor=wanted.turn_id,
            at_ns=wanted.at_ns, detail=f"{wanted.id} {db.keys.text_hash(terms_of(wanted), personal=True)[0]}",
        )  # fmt: skip
    return wanted


def _checked(wanted: Approval) -> Approval:
    for field, name in (("approval", wanted.id), ("agent", wanted.agent), ("turn", wanted.turn_id)):
        named(field, name)
    if " " in wanted.id:  # the log tells of it in its first word
        raise BadValue("approval", "an id has no space in it")
    named("tool", wanted.tool)
    named("hash of the call", wanted.sha256, limit=128)
    named("user", wanted.user, empty=True)
    if wanted.arguments is None:
        raise BadValue("arguments", "a call that waits for a person has some, if only {}")
    storable("arguments", wanted.arguments)
    when("at", wanted.at_ns)
    when("expires", wanted.expires_at_ns)
    return wanted


def _insert(run: Run, made: Approval, chain: str) -> None:
    written = run(
        f"""INSERT INTO tool_approvals ({COLUMNS}, chain) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        ON CONFLICT (approval_id) DO NOTHING RETURNING 1""",
        made.id, made.agent, made.turn_id, made.tool, made.arguments, made.sha256, made.at_ns, made.expires_at_ns,
        made.user, made.state, "", 0, "", chain,
    )  # fmt: skip
    if not written:
        raise BadValue("approval", "there is one of this id already; give each an id of its own")


def terms_of(made: Approval) -> str:
    """What the log proves of an approval beside the call's hash: whose turn asked, with what, until when."""
    return json.dumps([made.turn_id, made.arguments, made.expires_at_ns])


# ── reading ───────────────────────────────────────────────────────────────────────────────────────────────────────


def approvals(db: Database, agent: str = "", state: str = "") -> list[Approval]:
    """Approvals, oldest first: of one agent, in one state, or all."""
    rows = db.read(
        f"SELECT {COLUMNS} FROM tool_approvals WHERE (agent_name = ? OR ? = '') AND (state = ? OR ? = '')"
        " ORDER BY at_ns, approval_id",
        agent, agent, state, state,
    )  # fmt: skip
    return [Approval(*row) for row in rows]


def approval(db: Database, name: str) -> Approval:
    """One approval by its id."""
    return Approval(*_find(db.read, name)[:13])


def _find(run: Read, name: str) -> Row:
    row = one(run(f"SELECT {COLUMNS}, chain FROM tool_approvals WHERE approval_id = ?", name))
    if row is None:
        raise NotStored("approval of this id", "it may have been decided and pruned")
    return row


# ── deciding and using ────────────────────────────────────────────────────────────────────────────────────────────


def decide_approval(
    db: Database, name: str, sha256: str, verdict: Literal["approved", "denied"], *, by: Author, at_ns: int
) -> Approval:
    """A person's word about a call, over the hash they saw; only while it waits, and only once."""
    if verdict not in KINDS:
        raise BadValue("verdict", "approved or denied")
    when("at", at_ns)
    chain = _find(db.read, name)[13]
    with db.writing(chain) as run:
        found = Approval(*_find(run, name)[:13])
        _must_wait(found, sha256, at_ns)
        decided = replace(found, state=verdict, decided_by=by.mark, decided_at_ns=at_ns)
        run(
            "UPDATE tool_approvals SET state = ?, decided_by = ?, decided_at_ns = ? WHERE approval_id = ?",
            verdict, decided.decided_by, at_ns, name,
        )  # fmt: skip
        log.append(
            db, run, chain, kind=KINDS[verdict], place=found.tool, content_sha256=found.sha256,
            actor=log.actor_of(db, by, personal=bool(found.user)), at_ns=at_ns, detail=name,
        )  # fmt: skip
        notices.notify(db, run, found.agent)
    return decided


def _must_wait(found: Approval, sha256: str, at_ns: int) -> None:
    if found.state != "open":
        raise Refused(f"APPROVAL_{found.state.upper()}", f"this call is {found.state} already; one decision, once")
    if at_ns >= found.expires_at_ns:
        raise Refused("APPROVAL_EXPIRED", "its time is over; the agent has to ask anew")
    if sha256 != found.sha256:
        raise Refused("APPROVAL_SWAPPED", "what was seen is not what is stored; look at it again")


def use_approval(
    db: Database, agent: str, user: str, tool: str, sha256: str, turn_id: str, at_ns: int
) -> Approval | None:
    """Takes one approval of exactly this call, for this turn alone; None when there is none to take."""
    when("at", at_ns)
    named("turn", turn_id)
    call = (agent, user, tool, sha256, at_ns)
    for name, chain in db.read(_GIVEN, *call):
        with db.writing(chain) as run:
            taken = run(
                f"""UPDATE tool_approvals SET state = 'used', used_by_turn = ? WHERE approval_id = ?
                AND state = 'approved' AND {_CALL} AND expires_at_ns > ? RETURNING {COLUMNS}""",
                turn_id, name, *call,
            )  # fmt: skip
            if taken:
                log.append(
                    db, run, chain, kind="use-call", place=tool, content_sha256=sha256, actor=turn_id, at_ns=at_ns,
                    detail=name,
                )  # fmt: skip
                return Approval(*taken[0])
    return None


def end_in(db: Database, run: Run, name: str, at_ns: int) -> None:
    """Ends an approval nobody may use any more, inside a transaction that holds its chain."""
    found = _find(run, name)
    run("UPDATE tool_approvals SET state = 'expired' WHERE approval_id = ?", name)
    log.append(
        db, run, found[13], kind="expire-call", place=found[3], content_sha256=found[5], actor="init", at_ns=at_ns,
        detail=name,
    )  # fmt: skip


def expire(db: Database, at_ns: int, asked_before_ns: int = MOST - 1) -> int:
    """Ends every approval whose time is over, whether somebody decided about it or nobody did; how many."""
    over = "state IN ('open', 'approved') AND expires_at_ns <= ? AND at_ns < ?"
    times, ended = (when("at", at_ns), asked_before_ns), 0
    for name, chain in db.read(f"SELECT approval_id, chain FROM tool_approvals WHERE {over}", *times):
        with db.writing(chain) as run:
            if run(f"SELECT 1 FROM tool_approvals WHERE approval_id = ? AND {over}", name, *times):
                end_in(db, run, name, at_ns)
                ended += 1
    return ended
