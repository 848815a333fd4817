"""Layers in an audit: every version is in the log and proves its text, every text now is the newest version of it."""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from decimal import Context, Decimal
from typing import Any, NamedTuple

from .audit_log import Fact, Findings, Log, People, plain, shown
from .database import Row, Stream

_VERSIONS = """SELECT agent_name, user_id, layer_id, version, content, sha256, key_id, actor, updated_by, at_ns,
    restores FROM layer_versions ORDER BY agent_name, user_id, layer_id, version"""
_LAYERS = "SELECT agent_name, layer_id, content, version, updated_at_ns, updated_by_turn FROM prompt_layers"
_INSTRUCTIONS = """SELECT agent_name, user_id, instructions, version, updated_at_ns, updated_by
    FROM user_agent_prompt_customizations"""
_AGENTS = """SELECT agent_name, soul, soul_version, CAST(identity AS TEXT), identity_version, updated_at_ns, updated_by
    FROM agent_configurations"""


class Newest(NamedTuple):
    """The last version of a text, as its head must have it."""

    version: int
    text: str
    json: str
    at_ns: int
    by: str
    seq: int


Newests = Mapping[tuple[str, str], dict[str, Newest]]


def versions(run: Stream, log: Log, people: People, findings: Findings) -> tuple[int, Newests]:
    """Checks each version against its text and the log, in both directions; how many, and the newest of each text."""
    newest: dict[tuple[str, str], dict[str, Newest]] = defaultdict(dict)
    count = 0
    for row in plain(run(_VERSIONS)):
        agent, user, layer, version, content, _, key_id, _, by, at_ns, _ = row
        chain, epoch = people.place(agent, user, key_id)
        where = f"{shown(chain)} {shown(layer)}@{shown(version)}"
        fact = log.versions.pop((chain, epoch, layer, version), None)
        gone = bool(epoch) or (fact is not None and (chain, fact.actor) in log.nameless)
        _logged(row, fact, people, findings, where, gone=gone)
        _text(row, epoch, people, findings, where)
        if not epoch:
            before = newest[agent, user].get(layer)
            if version != (expected := before.version + 1 if before and isinstance(before.version, int) else 1):
                findings.problem(where, f"version {expected} is missing before it")
            says = "" if user else _digest(_parsed(content))
            newest[agent, user][layer] = Newest(version, _digest(content), says, at_ns, by, fact.seq if fact else 0)
        count += 1
    for fact in log.versions.values():
        if people.knows(fact.key_id):
            findings.problem(fact.where, f"tells of {shown(fact.place)}@{shown(fact.version)}, which is not there")
    return count, newest


def _logged(row: Row, fact: Fact | None, people: People, findings: Findings, where: str, *, gone: bool) -> None:
    _, user, _, _, _, sha256, key_id, actor, by, at_ns, restores = row
    if fact is None:
        if people.knows(key_id):
            findings.problem(where, "the log has no entry of it")
        return
    held = {
        "sha256": sha256 == fact.sha256,
        "at_ns": at_ns == fact.at_ns,
        "restores": fact.detail == (f"restores {restores}" if restores else "") and restores != 0,
        "key_id": key_id == (fact.key_id if user else ""),
        "actor": people.wrote(by, fact.actor, actor=actor, personal=bool(user), gone=gone),
    }
    findings.differs(where, held, fact.where)


def _text(row: Row, epoch: int, people: People, findings: Findings, where: str) -> None:
    content, sha256, key_id, by = row[4], row[5], row[6], row[8]
    if epoch:
        if content is not None or by != "erased":
            findings.problem(where, "was to be erased, but it has a text or a name")
    elif content is None:
        findings.problem(where, "its text is gone, and nobody was forgotten")
    else:
        findings.proved(where, people.keys.proves(content, sha256, key_id))


def heads(run: Stream, newest: Newests, people: People, findings: Findings) -> None:
    """Checks that every text now is the newest version there is, and that no text is without one."""
    for agent, layer, content, *about in plain(run(_LAYERS)):
        found = newest.get((agent, ""), {}).pop(layer, None)
        _head(found, _digest(content), about, findings, f"{shown(agent)} {shown(layer)}")
    for agent, user, content, *about in plain(run(_INSTRUCTIONS)):
        where = f"{shown(agent)}/{people.pseudonyms(user)[0]} instructions"
        among, text = newest.get((agent, user), {}), _digest(content)
        _head(_claim(among, about[0], text, next(iter(among), "")), text, about, findings, where)
    for row in plain(run(_AGENTS)):
        _agent(row, newest.get((row[0], ""), {}), findings)
    for (agent, user), among in newest.items():
        chain = f"{shown(agent)}/{people.pseudonyms(user)[0]}" if user else shown(agent)
        for layer in among:
            findings.problem(f"{chain} {shown(layer)}", "has versions, but its text now is not there")


def _agent(row: Row, among: dict[str, Newest], findings: Findings) -> None:
    """Soul and identity lie in one row, which tells who changed the one that was changed last."""
    agent, soul, soul_version, identity, identity_version, at_ns, by = row
    claimed = []
    for layer, content, version in (("soul", soul, soul_version), ("identity", identity, identity_version)):
        where = f"{shown(agent)} {layer}"
        if version == 0:
            if content is not None:
                findings.problem(where, "has a text, but no version")
            continue
        text = _digest(content if layer == "soul" else _parsed(content))
        found = _claim(among, version, text, layer, as_json=layer == "identity")
        _head(found, text, (version, found and found.at_ns, found and found.by), findings, where)
        claimed += [found] if found else []
    if claimed:
        last = max(claimed, key=lambda found: found.seq)
        held = {"updated_at_ns": at_ns == last.at_ns, "updated_by": by == last.by}
        findings.differs(shown(agent), held, "its newest version")


def _claim(
    among: dict[str, Newest], version: int, text: str, otherwise: str, *, as_json: bool = False
) -> Newest | None:
    """The newest version this head shows, whatever its charter calls the layer; else the one it should show."""
    said = {layer: found._replace(text=found.json) if as_json else found for layer, found in among.items()}
    layer = next((layer for layer, found in said.items() if (found.version, found.text) == (version, text)), otherwise)
    among.pop(layer, None)
    return said.get(layer)


def _head(found: Newest | None, text: str, about: Sequence[Any], findings: Findings, where: str) -> None:
    if found is None:
        findings.problem(where, "has a text now, but no version of it")
        return
    held = {
        "version": about[0] == found.version,
        "text": text == found.text,
        "time": about[1] == found.at_ns,
        "author": about[2] == found.by,
    }
    findings.differs(where, held, f"its newest version ({shown(found.version)})")


def _digest(text: object) -> str:
    """A short stand-in for a text."""
    return hashlib.sha256(repr(text).encode()).hexdigest()


def _parsed(text: object) -> object:
    """What a JSON text says, since a database may write it otherwise; any other text as it is."""
    try:
        return repr(json.loads(str(text), parse_int=_number, parse_float=_number, object_pairs_hook=_members))
    except (ValueError, RecursionError):
        return text


def _members(pairs: list[tuple[str, object]]) -> tuple[object, ...]:
    return tuple(sorted(dict(pairs).items(), key=lambda pair: pair[0]))


def _number(written: str) -> Decimal:
    value = Decimal(written)
    return value.normalize(Context(prec=len(written))) if value else Decimal(0)


def labels(run: Stream, log: Log, people: People, findings: Findings) -> None:
    """Checks that every label is where the log last put it."""
    for agent, layer, label, version, by, at_ns in plain(
        run("SELECT agent_name, layer_id, label, version, set_by, at_ns FROM layer_labels")
    ):
        where = f"{shown(agent)} label {shown(label)} of {shown(layer)}"
        fact = log.labels.pop((agent, layer, label), None)
        if fact is None:
            findings.problem(where, "the log has no entry of it")
            continue
        held = {
            "version": version == fact.version,
            "at_ns": at_ns == fact.at_ns,
            "set_by": people.wrote(by, fact.actor, gone=(agent, fact.actor) in log.nameless),
        }
        findings.differs(where, held, fact.where)
    for fact in log.labels.values():
        findings.problem(fact.where, f"tells of a label of {shown(fact.place)}, which is not there")
