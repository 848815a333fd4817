"""What must hold in every database after whatever happened to it: nothing torn, nothing missing, every proof true."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from charter.core.chain import broken, row_seal
from charter.core.records import Head, LogRow, Place
from charter.stores.store import SqlStore
from charter.stores.terms import terms
from charter.stores.turns import record_hash

from .work import KEYS, user_of

Row = tuple[Any, ...]
Rows = Mapping[str, list[Row]]

# Every table that belongs to an agent: how to find its rows, and the columns that tell one state from another.
_OF_AGENT = "agent_name = ?"
_OF_CHAIN = "(chain = ? OR substr(chain, 1, length(CAST(? AS TEXT)) + 1) = CAST(? AS TEXT) || '/')"
_OF_OWNER = "owner_id IN (SELECT owner_id FROM memory_owners WHERE agent_name = ?)"
TABLES: Final[dict[str, tuple[str, str]]] = {
    "prompt_layers": (_OF_AGENT, "layer_id, version"),
    "layer_versions": (_OF_AGENT, "layer_id, version"),
    "layer_labels": (_OF_AGENT, "label, version"),
    "agent_configurations": (_OF_AGENT, "soul_version, identity_version"),
    "user_agent_prompt_customizations": (_OF_AGENT, "version"),
    "user_settings": ("user_id = ?", "timezone"),
    "proposals": (_OF_AGENT, "state, applied_version"),
    "change_log": (_OF_CHAIN, "seq, kind, version"),
    "chain_heads": (_OF_CHAIN, "seq"),
    "inbox_messages": (_OF_AGENT, "message_id, state, turn_id"),
    "outbox_messages": (_OF_AGENT, "part, sent_at_ns"),
    "turn_leases": (_OF_AGENT, "lane, turn_id"),
    "turn_records": (_OF_AGENT, "turn_id, outcome"),
    "tool_approvals": (_OF_AGENT, "state, used_by_turn"),
    "agent_controls": (_OF_AGENT, "paused, tokens_per_day"),
    "agent_spend": (_OF_AGENT, "tokens, turns"),
    "conversations": (_OF_AGENT, "last_seq, fresh_from"),
    "conversation_entries": (_OF_AGENT, "seq"),
    "memory_owners": (_OF_AGENT, "notes"),
    "agent_long_term_memory": (_OF_AGENT, "revoked_at_ns"),
    "memory_terms": (_OF_OWNER, "tf"),
    "memory_sources": (_OF_AGENT, "1"),
    "api_tokens": (_OF_AGENT, "role, revoked_at_ns"),
    "schedules": (_OF_AGENT, "catch_up"),
    "schedule_runs": ("schedule_id = ?", "tick_ns, state"),  # an agent here has one schedule, of its own name
    "channel_peers": (_OF_AGENT, "channel, at_ns"),
    "channel_pairings": (_OF_AGENT, "channel, at_ns"),
}


def rows_of(store: SqlStore, agent: str) -> Rows:
    """Every row of an agent, to the byte."""
    return _read(store, agent, dict.fromkeys(TABLES, "*"))


def shape_of(store: SqlStore, agent: str) -> Rows:
    """The state an agent is in, without what no two runs have in common: ids, hashes, names."""
    return _read(store, agent, {table: columns for table, (_, columns) in TABLES.items()})


def _read(store: SqlStore, agent: str, wanted: Mapping[str, str]) -> Rows:
    found = {}
    for table, columns in wanted.items():
        where = TABLES[table][0]
        key = user_of(agent) if table == "user_settings" else agent
        rows = store.db.read(f"SELECT {columns} FROM {table} WHERE {where}", *[key] * where.count("?"))
        found[table] = sorted(rows, key=repr)
    return found


def wrong(store: SqlStore, agent: str) -> list[str]:
    """What does not hold for this agent; nothing when all is whole."""
    log = [row for chain in _chains(store, agent) for row in store.log(chain)]
    checks = (_log, _layers, _proposals, _notes, _messages, _turns, _conversations, _labels, _calls, _controls, _spent)
    return [f"{agent}: {problem}" for check in checks for problem in check(store, agent, log)]


def _chains(store: SqlStore, agent: str) -> list[str]:
    return [chain for chain in store.chains() if chain == agent or chain.startswith(f"{agent}/")]


def _differ(what: str, found: Iterable[Any], expected: Iterable[Any]) -> Iterator[str]:
    here, there = Counter(found), Counter(expected)
    if here != there:
        yield f"{what}: {sum((here - there).values())} too many, {sum((there - here).values())} missing"


def _log(store: SqlStore, agent: str, log: list[LogRow]) -> Iterator[str]:
    for chain in _chains(store, agent):
        rows = [row for row in log if row.chain == chain]
        for seq, problem in broken(rows):
            yield f"log {chain}@{seq} {problem}"
        for row in rows:
            if row.seal != row_seal(row.sha256, KEYS.keys[0][1]):
                yield f"log {chain}@{row.seq} has a false seal"
        head = store.db.read("SELECT seq, sha256 FROM chain_heads WHERE chain = ?", chain)
        if head != [(rows[-1].seq, rows[-1].sha256)] if rows else True:
            yield f"the head of {chain} is not its last row"


def _layers(store: SqlStore, agent: str, log: list[LogRow]) -> Iterator[str]:
    versions = store.db.read(
        """SELECT user_id, layer_id, version, content, sha256, key_id FROM layer_versions WHERE agent_name = ?
        ORDER BY user_id, layer_id, version""",
        agent,
    )
    last: dict[tuple[str, str], tuple[int, str]] = defaultdict(lambda: (0, ""))
    for user, layer, version, content, sha256, key_id in versions:
        if version != last[user, layer][0] + 1:
            yield f"{layer}: version {version} follows {last[user, layer][0]}"
        if KEYS.proves(content, sha256, key_id) is not True:
            yield f"{layer}@{version} is torn: its hash is another"
        last[user, layer] = version, content
    heads = {"persona": Head.LAYER, "soul": Head.SOUL, "instructions": Head.INSTRUCTIONS}
    for user, layer in {("", "persona"), ("", "soul"), (user_of(agent), "instructions")}:
        head = store.head(Place(agent, layer, user, heads[layer]))
        if ((head.version, head.content) if head else (0, "")) != last[user, layer]:
            yield f"{layer}: the text now is not the last version"
    kinds = ("seed", "amend", "rollback")
    proved = ((row.place, row.version, row.content_sha256) for row in log if row.kind in kinds)
    yield from _differ("versions and their log", ((row[1], row[2], row[4]) for row in versions), proved)


def _proposals(store: SqlStore, agent: str, log: list[LogRow]) -> Iterator[str]:
    found = store.db.read(
        "SELECT proposal_id, state, content, sha256, key_id, applied_version FROM proposals WHERE agent_name = ?", agent
    )
    for name, state, content, sha256, key_id, applied in found:
        if KEYS.proves(content, sha256, key_id) is not True:
            yield f"proposal {name} is torn"
        if (applied > 0) != (state == "applied"):
            yield f"proposal {name} is {state} with version {applied}"
    kept = [("propose", name) for name, *_ in found] + [(state, name) for name, state, *_ in found if state != "open"]
    kinds = ("propose", "applied", "rejected", "expired")
    told = ((row.kind, row.detail.split()[0]) for row in log if row.kind in kinds)
    yield from _differ("proposals and their log", kept, told)


def _notes(store: SqlStore, agent: str, log: list[LogRow]) -> Iterator[str]:
    found = store.db.read(
        """SELECT note_id, notes, sha256, key_id, length, revoked_at_ns, source FROM agent_long_term_memory
        WHERE agent_name = ?""",
        agent,
    )
    live = [row for row in found if row[5] == 0]
    for note_id, text, sha256, key_id, *_ in found:
        if KEYS.proves(text, sha256, key_id) is not True:
            yield f"note {note_id} is torn"
    remembered = ((row.place, row.content_sha256) for row in log if row.kind == "remember")
    yield from _differ("notes and their log", ((f"memory:{row[0]}", row[2]) for row in found), remembered)
    revoked = (f"memory:{row[0]}" for row in found if row[5])
    yield from _differ("revoked notes and their log", revoked, (row.place for row in log if row.kind == "revoke"))
    words = ((note, term, tf) for note, text, *_ in live for term, tf in Counter(terms(text)).items())
    index = store.db.read(
        f"SELECT note_id, term, tf FROM memory_terms WHERE {_OF_OWNER}",
        agent,
    )
    yield from _differ("notes and their words", index, words)
    owner = store.db.read("SELECT notes, terms FROM memory_owners WHERE agent_name = ?", agent)
    if (owner or [(0, 0)]) != [(len(live), sum(row[4] for row in live))]:
        yield "the owner's sums are not those of the notes"
    sources = store.db.read("SELECT source, note_id FROM memory_sources WHERE agent_name = ?", agent)
    yield from _differ("notes and their sources", sources, ((row[6], row[0]) for row in found))


def _messages(store: SqlStore, agent: str, _: list[LogRow]) -> Iterator[str]:
    inbox = store.db.read("SELECT message_id, state, turn_id FROM inbox_messages WHERE agent_name = ?", agent)
    leases = {row[0] for row in store.db.read("SELECT turn_id FROM turn_leases WHERE agent_name = ?", agent)}
    ended: dict[str, str] = dict(store.db.read("SELECT turn_id, outcome FROM turn_records WHERE agent_name = ?", agent))
    for name, state, turn in inbox:
        held = {"staged": turn == "", "taken": turn in leases, "done": ended.get(turn) == "done"}
        if not held[state]:
            yield f"message {name} is {state} by {turn!r}, which ended {ended.get(turn)!r}"
    for turn in leases & ended.keys():
        yield f"turn {turn} has ended and still has a lease"
    for (turn,) in store.db.read("SELECT DISTINCT turn_id FROM outbox_messages WHERE agent_name = ?", agent):
        if ended.get(turn) != "done":
            yield f"turn {turn} sent a reply and did not end well"


def _turns(store: SqlStore, agent: str, log: list[LogRow]) -> Iterator[str]:
    turns = store.turns(agent, 10**6)
    told = ((row.place, row.content_sha256) for row in log if row.kind == "turn")
    yield from _differ("turns and their log", ((turn.id, record_hash(turn)) for turn in turns), told)
    inbox = Counter(row[0] for row in store.db.read("SELECT turn_id FROM inbox_messages WHERE agent_name = ?", agent))
    outbox = Counter(row[0] for row in store.db.read("SELECT turn_id FROM outbox_messages WHERE agent_name = ?", agent))
    for turn in turns:
        expected = turn.counts["messages"] if turn.outcome == "done" else 0
        if {inbox[turn.id], outbox[turn.id]} != {expected}:
            yield f"turn {turn.id}: {expected} messages, {inbox[turn.id]} are its own, {outbox[turn.id]} replies"


def _conversations(store: SqlStore, agent: str, _: list[LogRow]) -> Iterator[str]:
    entries: dict[str, list[int]] = defaultdict(list)
    for sender, seq in store.db.read(
        "SELECT sender, seq FROM conversation_entries WHERE agent_name = ? ORDER BY seq", agent
    ):
        entries[sender].append(seq)
    heads: dict[str, int] = dict(
        store.db.read("SELECT sender, last_seq FROM conversations WHERE agent_name = ?", agent)
    )
    if heads.keys() != entries.keys():
        yield "conversations and entries are not of the same senders"
    for sender, seqs in entries.items():
        last = heads.get(sender, 0)
        if seqs != list(range(max(last - 20, 0) + 1, last + 1)):
            yield f"a conversation at {last} has the entries {seqs}"


def _labels(store: SqlStore, agent: str, log: list[LogRow]) -> Iterator[str]:
    told = {(row.place, row.detail): row.version for row in log if row.kind == "label"}
    kept = {(label.layer_id, label.label): label.version for label in store.labels(agent)}
    if told != kept:
        yield "labels are not what the log says"


def _calls(store: SqlStore, agent: str, log: list[LogRow]) -> Iterator[str]:
    kept = []
    for found in store.approvals(agent):
        steps = {
            "open": (),
            "approved": (),
            "denied": ("deny-call",),
            "used": ("use-call",),
            "expired": ("expire-call",),
        }
        given = ("approve-call",) if found.decided_by and found.state != "denied" else ()
        kept += [(kind, found.id) for kind in ("ask-call", *given, *steps[found.state])]
        if (found.state == "used") != bool(found.used_by_turn):
            yield f"approval {found.id} is {found.state} by {found.used_by_turn!r}"
    told = ((row.kind, row.detail.split()[0]) for row in log if row.kind.endswith("-call"))
    yield from _differ("approvals and their log", kept, told)


def _controls(store: SqlStore, agent: str, log: list[LogRow]) -> Iterator[str]:
    now = store.control(agent, "2001-09-09")
    switches = [row.kind for row in log if row.kind in ("pause", "resume")]
    limits = [row.detail for row in log if row.kind == "limit"]
    if now.paused != (switches[-1:] == ["pause"]):
        yield "the switch is not where the log says"
    if (now.tokens_per_day is not None) != bool(limits):
        yield "the limits are not what the log says"


def _spent(store: SqlStore, agent: str, _: list[LogRow]) -> Iterator[str]:
    turns = store.turns(agent, 10**6)
    tokens = sum(turn.counts.get("input", 0) + turn.counts.get("output", 0) for turn in turns)
    spent = store.db.read("SELECT sum(tokens), sum(turns) FROM agent_spend WHERE agent_name = ?", agent)
    if spent not in ([(tokens, len(turns))], [(None, None)] if not turns else []):
        yield f"{len(turns)} turns cost {tokens}, but {spent} was counted"
