"""Memory in an audit: each note proves its text and where it comes from, and recall finds exactly the live ones."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from ..core.records import Provenance
from ..core.text import Trust
from .audit_log import FACT, Fact, Findings, Log, People, plain, shown, together
from .database import Row, Stream
from .notes import origin
from .terms import terms

IMPORTED = "import:agent_long_term_memory"
_NOTES = """SELECT note_id, agent_name, user_id, notes, day, created_at_ns, said_by, channel, source_class, source,
    trust, length, sha256, key_id, revoked_at_ns FROM agent_long_term_memory ORDER BY note_id"""
_ENTRIES = f"""SELECT {FACT} FROM change_log WHERE kind IN ('remember', 'revoke', 'forget')
    AND substr(place, 1, 7) = 'memory:' ORDER BY length(place), place, chain, seq"""
_SOURCES = "SELECT note_id, agent_name, source FROM memory_sources ORDER BY note_id, source"
_TERMS = "SELECT note_id, owner_id, term, tf, length FROM memory_terms ORDER BY note_id, term"
_OWNERS = "SELECT owner_id, agent_name, user_id, notes, terms FROM memory_owners"


@dataclass(frozen=True, slots=True)
class _Note:
    """A row of the memory, with the rows that belong to it."""

    facts: Sequence[Fact]
    sources: Sequence[Row]
    postings: Sequence[Row]
    id: int
    agent: str
    user: str
    text: str
    day: str
    at_ns: int
    said_by: str
    channel: str
    source_class: str
    source: str
    trust: int
    length: int
    sha256: str
    key_id: str
    revoked_at_ns: int


def notes(run: Stream, log: Log, people: People, findings: Findings) -> int:
    """Checks each note against the log and recall, in both directions; how many notes there are."""
    owners = {(agent, user): (number, held, long) for number, agent, user, held, long in plain(run(_OWNERS))}
    live: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    count = 0
    entries = (((len(fact.place), fact.place), fact) for fact in map(Fact.of, plain(run(_ENTRIES))))
    streams = [((_key(row[0]), row) for row in plain(run(sql))) for sql in (_NOTES, _SOURCES, _TERMS)]
    for (_, place), (facts, rows, sources, postings) in together(entries, *streams):
        if rows:
            note = _Note(facts, sources, postings, *rows[0])
            _note(note, log, people, findings)
            _recalled(note, owners.get((note.agent, note.user)), findings)
            if note.revoked_at_ns == 0:
                live[note.agent, note.user].update(notes=1, terms=len(terms(str(note.text))))
            count += 1
        else:
            _missing(place, facts, [*sources, *postings], log, findings)
    _counted(owners, live, people, findings)
    return count


def _key(note_id: object) -> tuple[int, str]:
    """A note's place in the log, in the order of numbers."""
    return len(place := f"memory:{note_id}"), place


def _missing(place: str, facts: Sequence[Fact], rest: Sequence[Row], log: Log, findings: Findings) -> None:
    """A note may be gone only if it was forgotten, or its person was; then nothing of it may be left."""
    forgets = [fact for fact in facts if fact.kind == "forget"]
    for fact in facts:
        named = any(other.chain == fact.chain and other.seq > fact.seq for other in forgets)
        if fact.kind == "remember" and not named and not log.was_forgotten(fact):
            findings.problem(fact.where, f"tells of {shown(place)}, which is not there")
    if rest:
        findings.problem(shown(place), f"is not there, but {len(rest)} sources and terms of it are")


def _note(note: _Note, log: Log, people: People, findings: Findings) -> None:
    where = f"memory:{note.id}"
    made = [fact for fact in note.facts if fact.kind == "remember"]
    if len(made) != 1:
        findings.problem(where, f"the log has {len(made)} entries of it instead of one")
        return
    fact = made[0]
    if log.was_forgotten(fact) or any(other.kind == "forget" for other in note.facts):
        findings.problem(where, "was forgotten, but it is there")
    revoked = [max(other.at_ns, 1) for other in note.facts if other.kind == "revoke"]
    held = {
        "agent or user": people.fits(fact.chain, note.agent, note.user, note.key_id),
        "sha256": note.sha256 == fact.sha256,
        "key_id": note.key_id == fact.key_id,
        "created_at_ns": note.at_ns == fact.at_ns,
        "revoked_at_ns": [note.revoked_at_ns] == (revoked or [0]),
        **_origin(note, fact, people),
    }
    findings.differs(where, held, fact.where)
    if note.key_id == fact.key_id:
        findings.proved(where, people.keys.proves(str(note.text), note.sha256, note.key_id))


def _origin(note: _Note, fact: Fact, people: People) -> Mapping[str, bool]:
    """Whether a note comes from where the log says; of imported ones all is known without a hash."""
    sources = [source for _, agent, source in note.sources if agent == note.agent]
    whole = len(sources) == len(note.sources)
    if fact.actor == "init":
        day = datetime.fromtimestamp(fact.at_ns // 10**9, UTC).date().isoformat()
        known = (note.user, "", "import", IMPORTED, Trust.OUTSIDE, day, [IMPORTED])
        said = (note.said_by, note.channel, note.source_class, note.source, note.trust, note.day, sources)
        return {"origin": whole and said == known}
    trust, _, proof = fact.detail.partition(" ")
    claim = origin(note.day, Provenance(note.said_by, note.channel, source=note.source), sources)
    return {
        "trust": note.trust in list(Trust) and Trust(note.trust).name.lower() == trust,
        "source_class": note.source_class == fact.actor,
        "day, said_by, channel or sources": whole and people.keys.proves(claim, proof, fact.key_id) is not False,
    }


def _recalled(note: _Note, owner: tuple[int, int, int] | None, findings: Findings) -> None:
    """A live note is found by each of its terms, one that was taken back by none."""
    counts = Counter(terms(str(note.text)))
    wanted = {(note.id, owner[0] if owner else None, term, tf, counts.total()) for term, tf in counts.items()}
    where = f"memory:{note.id}"
    if note.length != counts.total():
        findings.problem(where, "length is not how many terms its text has")
    if set(note.postings) != (wanted if note.revoked_at_ns == 0 else set()):
        findings.problem(where, "the terms it is found by are not those of its text")


def _counted(
    owners: Mapping[tuple[str, str], tuple[int, int, int]],
    live: Mapping[tuple[str, str], Counter[str]],
    people: People,
    findings: Findings,
) -> None:
    for agent, user in sorted({*owners, *live}):
        number, held, long = owners.get((agent, user), (0, 0, 0))
        counted = live.get((agent, user), Counter())
        if (held, long) != (counted["notes"], counted["terms"]):
            where = f"{shown(agent)}/{people.pseudonyms(user)[0]}" if user else shown(agent)
            findings.problem(f"{where} memory owner {number}", "its counts are not those of its live notes")
