"""Processes that race: for versions of one layer, and for messages; each must win what it is told it won, and alone."""

from __future__ import annotations

import itertools
import mmap
import os
import random
import select
import signal
import struct
import time
from collections import Counter
from collections.abc import Callable
from typing import Any, Final, Literal

from charter.core.errors import Busy, Conflict, Refused
from charter.core.policy import Actor
from charter.core.records import (
    Approval,
    Author,
    Change,
    ConversationEntry,
    InboxMessage,
    OutboxMessage,
    Place,
    Settled,
    TurnRecord,
)
from charter.core.served import Schedule
from charter.stores.store import SqlStore

from .processes import Lines, answer, die, ended, fork
from .whole import wrong
from .work import opened, persona, text


class Gate:
    """Everybody waits at it until it opens."""

    def __init__(self) -> None:
        self.reading, self.writing = os.pipe()

    def wait(self) -> None:
        os.read(self.reading, 1)

    def open(self, everybody: int) -> None:
        os.write(self.writing, b"." * everybody)


# ── versions ──────────────────────────────────────────────────────────────────────────────────────────────────────


def versions(url: str, writers: str, each: str, readers: str, layers: str = "1") -> dict[str, Any]:
    """Writers that compare and swap, on one layer or on some, and readers that look on; what was wrong."""
    opened(url).close()
    gate, lines, done = Gate(), Lines(), os.pipe()
    places = [persona(f"agent {number}") for number in range(int(layers))]
    looking = [fork(lambda: _look(url, places, done, lines.tell)) for _ in range(int(readers))]
    working = [
        fork(lambda who=who: _swap(url, places[who % len(places)], who, int(each), gate, lines.tell))  # type: ignore[misc]
        for who in range(int(writers))
    ]
    begun = time.monotonic()
    gate.open(len(working))
    statuses = [ended(child) for child in working]
    seconds = time.monotonic() - begun
    os.write(done[1], b"." * len(looking))
    statuses += [ended(child) for child in looking]
    told = list(lines)
    with opened(url) as store:
        problems = [problem for place in places for problem in wrong(store, place.agent)]
        for number, place in enumerate(places):
            mine = [line for line in told if "wrote" in line and line["who"] % len(places) == number]
            problems += _every_write(store, place, mine)
        problems += [problem for line in told for problem in line["wrong"]]
        count = sum(len(store.history(place)) for place in places)
    return {
        "statuses": sorted(set(statuses)),
        "versions": count,
        "wrong": problems[:20],
        "looks": sum(line.get("looks", 0) for line in told),
        "seconds": seconds,
        "conflicts": sum(line.get("conflicts", 0) for line in told),
        "longest wait": max(line.get("longest", 0) for line in told),
    }


def _swap(url: str, place: Place, who: int, each: int, gate: Gate, tell: Callable[[object], None]) -> None:
    """Reads the text and writes the next version of it, this often; who comes second reads again."""
    wrote, conflicts, longest = list[int](), 0, 0.0
    with opened(url) as store:
        gate.wait()
        while len(wrote) < each:
            head = store.head(place)
            expected = head.version if head else 0
            content = f"{who} {len(wrote)} {text(place.agent, expected)}"
            begun = time.monotonic()
            try:
                written = store.commit(Change(place, content, expected, Author(Actor.OPERATOR, f"{who}"), expected))
                wrote.append(written.version)
            except Conflict:
                conflicts += 1
            longest = max(longest, time.monotonic() - begun)
    tell({"who": who, "wrote": wrote, "conflicts": conflicts, "longest": longest, "wrong": []})


def _look(url: str, places: list[Place], done: tuple[int, int], tell: Callable[[object], None]) -> None:
    """Reads until the writers are done: versions only grow, and every text is whole."""
    last, looks, problems = Counter[Place](), 0, list[str]()
    with opened(url) as store:
        for place in itertools.cycle(places):
            head = store.head(place)
            if head is not None:
                looks += 1
                if head.version < last[place]:
                    problems.append(f"version {head.version} after {last[place]}")
                if not head.content.endswith(text(place.agent, head.version - 1)):
                    problems.append(f"version {head.version} is torn")
                last[place] = head.version
            if select.select([done[0]], [], [], 0.001)[0]:  # so that eight of them leave writers some of the machine
                os.read(done[0], 1)
                break
    tell({"looks": looks, "wrong": problems[:5]})


def _every_write(store: SqlStore, place: Place, told: list[dict[str, Any]]) -> list[str]:
    """Whether every version is the one its writer was told it wrote, and there is no other."""
    mine = {number: (line["who"], at) for line in told for at, number in enumerate(line["wrote"])}
    claimed = Counter(number for line in told for number in line["wrote"])
    problems = [f"version {number} was written {times} times" for number, times in claimed.items() if times > 1]
    history = store.history(place)
    if [row.version for row in history] != sorted(mine):
        problems.append(f"{len(history)} versions, {len(mine)} acknowledged")
    for row in history:
        who, at = mine.get(row.version, (-1, -1))
        if row.content != f"{who} {at} {text(place.agent, row.version - 1)}":
            problems.append(f"version {row.version} is not what its writer wrote")
    return problems


# ── messages ──────────────────────────────────────────────────────────────────────────────────────────────────────

LANES: Final = ("", "s0", "s1", "s2", "s3", "s4")
LEASE: Final = 40  # ticks
VERDICTS: Final[tuple[Literal["approved", "denied"], ...]] = ("approved", "approved", "denied")


class Clock:
    """Time that passes only when somebody looks at it, for all processes together; so a lease ends without waiting."""

    def __init__(self) -> None:
        self.memory, self.token = mmap.mmap(-1, 8), os.pipe()
        os.write(self.token[1], b".")

    def tick(self) -> int:
        os.read(self.token[0], 1)
        (now,) = struct.unpack("q", self.memory[:])
        self.memory[:] = struct.pack("q", now + 1)
        os.write(self.token[1], b".")
        return int(now) + 1


def messages(url: str, workers: str, count: str, seed: str) -> dict[str, Any]:
    """Workers that take messages and answer, fail or die, until all are answered; who died is replaced."""
    chance, clock, lines, names = random.Random(int(seed)), Clock(), Lines(), itertools.count()
    with opened(url) as store:
        for number in range(int(count)):
            store.stage("agent", InboxMessage(f"m{number}", f"s{chance.randrange(5)}", text("agent", number), number))

    def worker() -> int:
        name = f"{seed}-{next(names)}"
        return fork(lambda: _serve(url, clock, name, lines.tell))

    living, deaths, problems = {worker() for _ in range(int(workers))}, 0, list[str]()
    while living:
        child, raw = os.wait()
        living.discard(child)
        status = os.waitstatus_to_exitcode(raw)
        if status == -signal.SIGKILL:
            deaths += 1
            living.add(worker())
        elif status != 0:
            problems.append(f"a worker ended with {status}")
    told = list(lines)
    with opened(url) as store:
        problems += wrong(store, "agent") + _each_once(store, int(count), told)
        turns = Counter(turn.outcome for turn in store.turns("agent", 10**6))
    return {"deaths": deaths, "turns": turns, "wrong": problems[:20], "told": Counter(line[0] for line in told)}


def _serve(url: str, clock: Clock, name: str, tell: Callable[[object], None]) -> None:
    """Takes turns until nothing is left to do."""
    chance = random.Random(name)
    with opened(url) as store:
        for number in range(10**6):
            turn, lane = f"t{name}-{number}", chance.choice(LANES)
            try:
                taken = store.take("agent", turn, lane=lane, at_ns=clock.tick(), lease_ns=LEASE, max_messages=2)
            except Busy:
                continue
            fate = chance.random()
            if taken and fate < 0.1:
                die()
            if taken and fate < 0.2:
                for _ in range(2 * LEASE):  # too slow: its lease is over before it ends
                    clock.tick()
            try:
                _end(store, turn, taken, failed=0.2 < fate < 0.3)
                if taken and not 0.2 < fate < 0.3:
                    tell(("settled", turn, [message.id for message in taken]))
            except Busy:
                tell(("lost", turn, []))
            if not taken and _all_done(store):
                return


def _end(store: SqlStore, turn: str, taken: list[InboxMessage], *, failed: bool) -> None:
    counts = {"messages": len(taken)}
    if failed:
        store.fail(TurnRecord("agent", turn, 1, "inbox", outcome="failed", code="MODEL_UNREACHABLE", counts=counts))
        return
    replies = [OutboxMessage(message.sender, message.id, part=part) for part, message in enumerate(taken)]
    said = [(message.sender, ConversationEntry(message.id, message.body, "", turn, 1)) for message in taken]
    store.settle(Settled(TurnRecord("agent", turn, 1, "inbox", counts=counts), replies, said))


def _all_done(store: SqlStore) -> bool:
    return not store.db.read("SELECT 1 FROM inbox_messages WHERE agent_name = 'agent' AND state <> 'done' LIMIT 1")


def _each_once(store: SqlStore, count: int, told: list[Any]) -> list[str]:
    """Whether every message was answered by exactly one turn that ended well, the one that has it."""
    rows = store.db.read("SELECT message_id, state, turn_id FROM inbox_messages WHERE agent_name = 'agent'")
    replies = store.db.read("SELECT body, turn_id FROM outbox_messages WHERE agent_name = 'agent'")
    problems = [f"{name} is {state}" for name, state, _ in rows if state != "done"]
    if sorted(replies) != sorted((name, turn) for name, _, turn in rows) or len(rows) != count:
        problems.append(f"{len(replies)} replies for {len(rows)} messages")
    answered = {(name, turn) for what, turn, names in told if what == "settled" for name in names}
    problems += [f"{name} was answered by {turn}, and not kept" for name, turn in answered - set(replies)]
    return problems


# ── approvals ─────────────────────────────────────────────────────────────────────────────────────────────────────


def approvals(url: str, workers: str, count: str, seed: str) -> dict[str, Any]:
    """Workers that ask, decide and use each other's calls, replay them and swap them; what was used wrongly."""
    opened(url).close()
    lines = Lines()
    children = [
        fork(lambda who=who: _call(url, int(count), f"{seed}-{who}", lines.tell))  # type: ignore[misc]
        for who in range(int(workers))
    ]
    statuses = sorted({ended(child) for child in children})
    told = list(lines)
    used = Counter(name for line in told for name in line["used"])
    with opened(url) as store:
        kept = {found.id for found in store.approvals("agent", "used")}
        yes = sum(row.kind == "approve-call" for chain in store.chains() for row in store.log(chain))
        problems = wrong(store, "agent") + [
            f"{name} was used {times} times" for name, times in used.items() if times > 1
        ]
    problems += [f"{name} was used, and not kept" for name in used.keys() - kept]
    problems += [problem for line in told for problem in line["wrong"]]
    attempts = sum(line["attempts"] for line in told)
    return {"statuses": statuses, "wrong": problems[:20], "attempts": attempts, "used": len(used), "yes": yes}


def _call(url: str, count: int, name: str, tell: Callable[[object], None]) -> None:
    """Does one thing after the other about a few calls that all know; an answer for another call is wrong."""
    chance, used, problems, attempts = random.Random(name), list[str](), list[str](), 0
    with opened(url) as store:
        for number in range(count):
            user, digest = f"u{chance.randrange(3)}", f"{chance.randrange(4)}" * 64
            deed = chance.random()
            if deed < 0.2:
                asked = Approval(f"a-{name}-{number}", "agent", f"t-{name}", "mail", "{}", digest, 1, 2, user)
                store.request_approval(asked)
            elif deed < 0.3:
                attempts += _decide(store, chance)
            else:  # mostly of what nobody approved: another hash, user, tool or agent, used already or too late
                key = (
                    chance.choice(("agent", "agent", "other")),
                    user,
                    chance.choice(("mail", "mail", "mails")),
                    digest,
                )
                late = chance.random() < 0.1
                found = store.use_approval(*key, f"t-{name}-{number}", 2 if late else 1)
                attempts += 1
                if found is not None:
                    used.append(found.id)
                    got = (found.agent, found.user, found.tool, found.sha256, found.used_by_turn)
                    if late or got != (*key, f"t-{name}-{number}"):
                        problems.append(f"{found.id} was used for another call")
    tell({"used": used, "wrong": problems, "attempts": attempts})


def _decide(store: SqlStore, chance: random.Random) -> int:
    """A yes or a no to a call that waits, now and then over another hash than it has; how many attempts that was."""
    waits = store.approvals("agent", "open")
    if not waits:
        return 0
    found, verdict = chance.choice(waits), chance.choice(VERDICTS)
    seen = found.sha256 if chance.random() < 0.8 else "e" * 64
    try:
        store.decide_approval(found.id, seen, verdict, by=Author(Actor.OPERATOR, "ada"), at_ns=1)
    except Refused:
        return 1
    assert seen == found.sha256
    return 1


# ── ticks ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def ticks(url: str, workers: str, count: str) -> dict[str, Any]:
    """Workers that all begin every tick of two schedules, every second one dying with its first; what went wrong.

    The others start when the first of those has begun one, so that somebody dies however late they come.
    """
    schedules = ("s0", "s1")
    with opened(url) as store:
        for name in schedules:
            store.add_schedule(Schedule(name, "agent", "* * * * *", "UTC", text("agent", 1)))
    gate, ready, begun, lines = Gate(), Gate(), Gate(), Lines()

    def work(who: int) -> None:
        with opened(url) as store:
            ready.open(1)
            (gate if who % 2 else begun).wait()
            _begin(store, who, list(itertools.product(schedules, range(int(count)))), lines.tell, begun)

    children = [fork(lambda who=who: work(who)) for who in range(int(workers))]  # type: ignore[misc]
    for _ in children:
        ready.wait()
    gate.open(len(children))
    statuses = [ended(child) for child in children]
    mine = Counter((name, tick) for name, tick in lines)
    with opened(url) as store:
        kept = {(run.schedule_id, run.tick_ns) for name in schedules for run in store.runs(name, 10**6)}
    problems = [f"{tick} was begun {times} times" for tick, times in mine.items() if times > 1]
    problems += [f"{tick} was begun, and not kept" for tick in mine.keys() - kept]
    silent = len(kept - mine.keys())  # begun by who died before it could tell
    deaths = sum(status == -signal.SIGKILL for status in statuses)
    return {"wrong": problems[:20], "kept": len(kept), "silent": silent, "deaths": deaths, "statuses": statuses}


def _begin(
    store: SqlStore, who: int, every: list[tuple[str, int]], tell: Callable[[object], None], begun: Gate
) -> None:
    """Begins every tick it can, from either end; who is first says so. Those who die before they say it begin in the
    middle."""
    half = len(every) // 2
    ordered = every[half:] + every[:half] if who % 2 else every if who % 3 else every[::-1]
    for schedule, tick in ordered:
        if store.begin_run(schedule, tick, at_ns=tick):
            if who % 2:
                begun.open(len(every))
                die()
            tell((schedule, tick))


if __name__ == "__main__":
    answer({"versions": versions, "messages": messages, "approvals": approvals, "ticks": ticks})
