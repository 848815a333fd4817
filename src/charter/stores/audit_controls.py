"""The stop switch in an audit: an agent is paused, and limited, as the log last said."""

from __future__ import annotations

from .audit_log import Findings, Log, People, plain, shown
from .controls import limits_of
from .database import Row, Stream

_CONTROLS = """SELECT agent_name, tokens_per_day, turns_per_day, paused, paused_by, paused_at_ns, reason
    FROM agent_controls"""


def controls(run: Stream, log: Log, people: People, findings: Findings) -> None:
    """Checks each agent's switch and limits against the log, in both directions."""
    for agent, tokens, turns, *switch in plain(run(_CONTROLS)):
        where = f"{shown(agent)} controls"
        limit = log.limits.pop(agent, None)
        if limit is None and agent not in log.switches:
            findings.problem(where, "the log has no entry of it")
            continue
        if limits_of(tokens, turns) != (limit.detail if limit else limits_of(None, None)):
            findings.problem(where, "the limits are not those that were set last")
        _switch(agent, tuple(switch), log, people, findings)
    for fact in (*log.limits.values(), *log.switches.values()):
        findings.problem(fact.where, "tells of a switch or a limit that is not there")


def _switch(agent: str, row: Row, log: Log, people: People, findings: Findings) -> None:
    where, fact = f"{shown(agent)} controls", log.switches.pop(agent, None)
    if fact is None or fact.kind == "resume":
        if row != (0, "", 0, ""):
            findings.problem(where, "is paused or tells of a pause; the log does not")
        return
    paused, by, at_ns, reason = row
    gone = by == "erased" and (agent, fact.actor) in log.nameless
    held = {
        "paused": paused == 1,
        "paused_by": people.wrote(str(by), fact.actor, gone=gone),
        "paused_at_ns": at_ns == fact.at_ns,
        "reason": not gone or reason == "",
    }
    findings.differs(where, held, fact.where)
    if not gone:
        findings.proved(where, people.keys.proves(str(reason), fact.sha256, fact.key_id), "its reason")
