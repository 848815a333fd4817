"""The log's side of an audit: one pass proves every chain and gathers what the tables must agree with."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from heapq import merge
from itertools import groupby
from operator import itemgetter
from typing import Any, NamedTuple

from ..core.chain import broken, pseudonym, row_seal
from ..core.keyring import KeyRing
from ..core.records import LogRow
from .approvals import CALLS
from .database import Row, Stream
from .layers import ERASED
from .log import chain_then

MAX_FINDINGS = 1_000
_ERASED = re.compile(rf"{ERASED}([0-9a-f]{{32}}):([1-9][0-9]{{0,17}})")
_HASH = re.compile("[0-9a-f]{64}")


# ── words and rows ────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(slots=True)
class Findings:
    """What an audit found: ids, places and numbers; never content, never a person's name."""

    problems: list[str] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)
    more: int = 0

    def problem(self, where: str, what: str) -> None:
        if len(self.problems) < MAX_FINDINGS:
            self.problems.append(f"{where}: {what}")
        else:
            self.more += 1

    def differs(self, where: str, held: Mapping[str, bool], from_what: str) -> None:
        """One problem for all columns of a row that do not hold."""
        wrong = ", ".join(name for name, holds in held.items() if not holds)
        if wrong:
            self.problem(where, f"not as {from_what} says: {wrong}")

    def notice(self, where: str, what: str) -> None:
        if len(self.notices) < MAX_FINDINGS:
            self.notices.append(f"{where}: {what}")

    def proved(self, where: str, proof: bool | None, what: str = "its text") -> None:
        """A problem when a hash does not fit, a notice when nobody can tell any more."""
        if proof is None:
            self.notice(where, f"{what} cannot be proved: its key is gone")
        elif not proof:
            self.problem(where, f"{what} does not have the hash it was written with")


def shown(name: object) -> str:
    """A name as a finding may repeat it: one line of a name's length, else only how long it is."""
    text = str(name)
    return text if text.isprintable() and len(text) <= 250 else f"<{len(text)} characters>"


def plain(rows: Iterable[Row]) -> Iterator[Row]:
    """Rows of numbers and texts alone; what somebody put in their place (bytes, half characters) becomes a `?`."""
    for row in rows:
        yield row if all(map(_is_plain, row)) else tuple(cell if _is_plain(cell) else "?" for cell in row)


def _is_plain(cell: Any) -> bool:
    if isinstance(cell, str):
        return cell.isascii() or not any("\ud800" <= letter <= "\udfff" for letter in cell)
    return cell is None or isinstance(cell, int)


def together(*streams: Iterable[tuple[Any, Any]]) -> Iterator[tuple[Any, list[list[Any]]]]:
    """Streams of (key, value) that are sorted by their keys, as one: each key with its values of every stream."""

    def tagged(number: int, stream: Iterable[tuple[Any, Any]]) -> Iterator[tuple[Any, int, Any]]:
        return ((key, number, value) for key, value in stream)

    merged = merge(*(tagged(*pair) for pair in enumerate(streams)), key=itemgetter(0, 1))
    for key, some in groupby(merged, key=itemgetter(0)):
        values: list[list[Any]] = [[] for _ in streams]
        for _, number, value in some:
            values[number].append(value)
        yield key, values


# ── people ────────────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class People:
    """Names as chains know them: by the oldest key, or by none where there was none yet."""

    keys: KeyRing

    def pseudonyms(self, name: str) -> tuple[str, str]:
        return self.keys.person(name), pseudonym(name, None)

    def place(self, agent: str, user: str, key_id: str) -> tuple[str, int]:
        """The chain of a user's row, and the entry by which the user was forgotten; 0 for one who was not."""
        erased = _ERASED.fullmatch(user)
        return (f"{agent}/{erased[1]}", int(erased[2])) if erased else (chain_then(self.keys, agent, user, key_id), 0)

    def knows(self, key_id: str) -> bool:
        return not key_id or key_id in dict(self.keys.keys)

    def fits(self, chain: str, agent: str, user: str, key_id: str) -> bool:
        """Whether this chain is that of the user; nobody can tell when the key is gone."""
        return chain == self.place(agent, user, key_id)[0] or (bool(user) and not self.knows(key_id))

    def wrote(self, mark: str, said: str, *, actor: str = "", personal: bool = False, gone: bool = False) -> bool:
        """Whether the log's `said` is who a row names; of who is gone, only the sort of actor is left to compare."""
        if gone and mark == "erased":
            return said.startswith(_SORTS.get(actor, ("",)))
        sort = "init" if mark == "init" else _MARKS.get("".join(mark.partition(":")[:2]), "agent")
        if actor not in (sort, ""):
            return False
        if sort == "user":
            return said in {f"user:{name}" for name in self.pseudonyms(mark[5:])}
        return said == mark or (personal and said == sort and (sort == "operator" or not mark))


_MARKS = {"user:": "user", "admin:": "operator"}
_SORTS = {"user": ("user:",), "operator": ("admin:", "operator"), "init": ("init",)}


# ── the log ───────────────────────────────────────────────────────────────────────────────────────────────────────


class Fact(NamedTuple):
    """What one entry of the log says."""

    chain: str
    seq: int
    kind: str
    place: str
    version: int
    sha256: str
    actor: str
    at_ns: int
    detail: str
    key_id: str

    @property
    def where(self) -> str:
        return f"{shown(self.chain)} entry {self.seq}"

    @staticmethod
    def of(cells: Row) -> Fact:
        """The fact in these cells; what stands in place of a number is -1, which nothing has."""
        cells = tuple(cell if at not in (1, 4, 7) or isinstance(cell, int) else -1 for at, cell in enumerate(cells))
        return Fact(*cells)


FACT = "chain, seq, kind, place, version, content_sha256, actor, at_ns, detail, key_id"
_ENTRIES = f"SELECT {FACT}, prev_sha256, sha256, seal FROM change_log ORDER BY chain, seq"


@dataclass(slots=True)
class Log:
    """What the chains say together; what a table has is taken out, so what is left over is missing there."""

    versions: dict[tuple[str, int, str, int], Fact] = field(default_factory=dict)
    labels: dict[tuple[str, str, str], Fact] = field(default_factory=dict)
    proposals: dict[str, list[Fact]] = field(default_factory=lambda: defaultdict(list))
    approvals: dict[str, list[Fact]] = field(default_factory=lambda: defaultdict(list))
    switches: dict[str, Fact] = field(default_factory=dict)
    limits: dict[str, Fact] = field(default_factory=dict)
    forgotten: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    nameless: set[tuple[str, str]] = field(default_factory=set)
    unnamed: set[tuple[str, str]] = field(default_factory=set)
    pruned: dict[tuple[str, str], list[tuple[int, int]]] = field(default_factory=lambda: defaultdict(list))
    heads: dict[str, str] = field(default_factory=dict)
    anchored: set[str] = field(default_factory=set)
    entries: int = 0

    def was_forgotten(self, fact: Fact) -> bool:
        """Whether the person of this entry's chain was forgotten later."""
        return any(seq > fact.seq for seq in self.forgotten.get(fact.chain, ()))

    def was_pruned(self, fact: Fact, what: str) -> bool:
        """Whether what this entry tells of (a turn, a call) was pruned later."""
        return any(seq > fact.seq and fact.at_ns < before for seq, before in self.pruned.get((fact.chain, what), ()))


def read_log(run: Stream, keys: KeyRing, findings: Findings, anchor: Mapping[str, str]) -> Log:
    """Proves every chain: it follows, its seals hold, its end is where its head says, and it holds the anchor."""
    log = Log()
    ends = {chain: (seq, sha256) for chain, seq, sha256 in plain(run("SELECT chain, seq, sha256 FROM chain_heads"))}
    for chain, rows in groupby(plain(run(_ENTRIES)), key=itemgetter(0)):
        watch = _Chain(chain, dict(keys.keys), log, findings, anchor.get(chain, ""))
        for seq, what in broken(map(watch.saw, rows)):
            findings.problem(f"{shown(chain)} entry {seq}", what)
        watch.ended(ends.pop(chain, None))
    for chain, (seq, _) in ends.items():
        findings.problem(shown(chain), f"all its entries are gone; its head says there were {shown(seq)}")
    for chain in sorted(set(anchor) - log.anchored):
        findings.problem(shown(chain), "does not hold the entry of the anchor: it was cut off or rewritten since")
    return log


@dataclass(slots=True)
class _Chain:
    """One chain while it is read."""

    name: str
    ring: Mapping[str, bytes]
    log: Log
    findings: Findings
    anchor: str
    last: LogRow | None = None
    sealed: bool = False
    stripped: bool = False
    strange: Counter[str] = field(default_factory=Counter)
    current: dict[tuple[str, int], Fact] = field(default_factory=dict)

    def saw(self, cells: Row) -> LogRow:
        fact, (prev, sha256, seal) = Fact.of(cells[:10]), cells[10:]
        self.last = LogRow(*fact[:9], prev, sha256, seal)
        self._seal(self.last, fact.key_id)
        self._gather(fact)
        self.log.entries += 1
        if sha256 == self.anchor:
            self.log.anchored.add(self.name)
        return self.last

    def _seal(self, row: LogRow, key_id: str) -> None:
        if row.seal or key_id:
            self.sealed = True
            key = self.ring.get(key_id)
            if key is None:
                self.strange[key_id] += 1
            elif _HASH.fullmatch(row.sha256) and row_seal(row.sha256, key) != row.seal:
                self.findings.problem(f"{shown(self.name)} entry {row.seq}", "its seal is not by the key it names")
        elif self.sealed and not self.stripped:
            self.stripped = True
            self.findings.problem(f"{shown(self.name)} entry {row.seq}", "has no seal, though entries before it have")

    def _gather(self, fact: Fact) -> None:
        if fact.kind in ("seed", "amend", "rollback"):
            key = (fact.place, fact.version)
            if key in self.current:
                self.log.versions[self.name, -fact.seq, *key] = fact  # written twice: no table can have both
            self.current.setdefault(key, fact)
        elif fact.kind == "label":
            self.log.labels[self.name, fact.place, fact.detail] = fact
        elif fact.kind in ("propose", "applied", "rejected", "expired") or fact[2:4] == ("forget", "proposal"):
            self.log.proposals[fact.detail.partition(" ")[0]].append(fact)
        elif fact[2:4] == ("forget", "person"):
            self.log.forgotten[self.name].append(fact.seq)
            self._file(fact.seq)
        elif fact[2:4] == ("forget", "name"):
            self.log.nameless.add((self.name, fact.detail))
        elif fact[2:4] == ("forget", "turn"):
            self.log.unnamed.add((self.name, fact.detail))
        elif fact.kind in CALLS:
            self.log.approvals[fact.detail.partition(" ")[0]].append(fact)
        elif fact.kind in ("pause", "resume"):
            self.log.switches[self.name] = fact
        elif fact.kind == "limit":
            self.log.limits[self.name] = fact
        elif fact[2:4] in (("prune", "turns"), ("prune", "calls")):
            before = fact.detail.rpartition(" ")[2]
            self.log.pruned[self.name, fact.place].append((fact.seq, int(before) if before.isdecimal() else 0))

    def _file(self, epoch: int) -> None:
        for key, fact in self.current.items():
            self.log.versions[self.name, epoch, *key] = fact
        self.current.clear()

    def ended(self, head: tuple[int, str] | None) -> None:
        self._file(0)
        assert self.last is not None
        self.log.heads[self.name] = self.last.sha256
        if head != (self.last.seq, self.last.sha256):
            said = "is not there" if head is None else f"is at {shown(head[0])}: entries were cut off or changed"
            self.findings.problem(shown(self.name), f"ends with entry {self.last.seq}, but its head {said}")
        for key_id, count in sorted(self.strange.items()):
            where = f"{shown(self.name)}: {count} entries"
            self.findings.problem(where, f"sealed with a key that is not here ({shown(key_id) or 'unnamed'})")
        if self.ring and not self.sealed:
            said = "no entry is sealed: all were written before there was a key, or their seals were taken away"
            self.findings.notice(shown(self.name), said)
