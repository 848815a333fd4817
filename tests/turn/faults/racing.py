"""Workers that take turns for the same senders, are told of the same messages, and die; run as a program."""

from __future__ import annotations

import itertools
import os
import random
import signal
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any, Final

from charter import stores
from charter.agent import LEASE_NS
from charter.core.errors import Answered, Busy, OverLimit
from charter.core.incoming import Incoming
from charter.folder import load
from charter.stores.store import SqlStore
from charter.turn import take_turn
from faults.processes import Lines, answer, die, fork
from faults.racing import Clock

from ..places import AT, from_ana, said
from .rooms import KEYS, NOW, agent_in

NAME: Final = "racing"
LOOK_NS: Final = LEASE_NS // 400  # what a look at the clock takes, for all workers together


def messages(url: str, charter: str, workers: str, senders: str, each: str, seed: str) -> dict[str, Any]:
    """Workers answer until every message was answered; who dies is replaced. What was wrong."""
    with stores.open(url, keys=KEYS) as store:
        agent_in(store, charter=charter, name=NAME)
    clock, lines, numbers = Clock(), Lines(), itertools.count()
    mail = [(f"s{who}", f"s{who}-{number}") for number in range(int(each)) for who in range(int(senders))]

    def worker() -> int:
        chance = random.Random(f"{seed} {next(numbers)}")
        return fork(lambda: serve(url, charter, mail, clock, chance=chance, tell=lines.tell))

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
    with stores.open(url, keys=KEYS) as store:
        lane = (lambda _: "") if load(charter).one_at_a_time else str
        problems += [*answered_once(store, mail), *in_order(store, mail), *alone(told, lane)]
    outcomes = Counter(what for what, *_ in told)
    return {"deaths": deaths, "wrong": problems[:20], "told": outcomes}


def serve(
    url: str, charter: str, mail: list[tuple[str, str]], clock: Clock, *, chance: random.Random,
    tell: Callable[[object], None],
) -> None:  # fmt: skip
    """Delivers what was not delivered yet, as others do too, and answers whatever waits, until nothing is left."""
    with stores.open(url, keys=KEYS) as store:
        turn = iter(range(10**6))

        def model(request: Any) -> Any:
            name = f"{os.getpid()}-{next(turn)}"
            text = request.payload["messages"][-1]["content"]
            sender = text.split("-")[0]
            tell(("begun", sender, name))
            if chance.random() < 0.08:
                tell(("died", sender, name))
                die()
            tell(("ended", sender, name))
            return said(text)

        agent = agent_in(
            store, *[model] * 10_000, charter=charter, name=NAME, clock=lambda: NOW + clock.tick() * LOOK_NS
        )
        while waiting := unanswered(store, mail):
            # Who sent it does not know that it came, and sends it again: so is found what a worker died with.
            incoming = from_mail(*chance.choice(waiting[:3])) if chance.random() < 0.6 else nobody()
            if not incoming.text and not store.waiting(NAME):
                continue
            with suppress(Busy, Answered, OverLimit):
                take_turn(agent, incoming)


def from_mail(sender: str, name: str) -> Incoming:
    return from_ana(name, sender=sender, user=sender, id=name)


def nobody() -> Incoming:
    return Incoming("inbox", at=AT)


def unanswered(store: SqlStore, mail: list[tuple[str, str]]) -> list[tuple[str, str]]:
    rows = store.db.read("SELECT message_id FROM inbox_messages WHERE agent_name = ? AND state = 'done'", NAME)
    done = {row[0] for row in rows}
    return [one for one in mail if one[1] not in done]


# ── what must hold ────────────────────────────────────────────────────────────────────────────────────────────────


def answered_once(store: SqlStore, mail: list[tuple[str, str]]) -> Iterator[str]:
    """Every message is in exactly one reply, and that reply went to who sent it."""
    told: Counter[tuple[str, str]] = Counter()
    for _, reply in store.unsent(NAME):
        told.update((reply.recipient, name) for name in reply.body.split("\n\n"))
    for one in mail:
        if told[one] != 1:
            yield f"{one[1]} was answered {told[one]} times"
    yield from (f"{recipient} got {name}" for recipient, name in told if (recipient, name) not in set(mail))


def in_order(store: SqlStore, mail: list[tuple[str, str]]) -> Iterator[str]:
    """What a sender said was answered in the order it came, over all workers."""
    arrived: dict[str, list[str]] = defaultdict(list)
    for sender, name in store.db.read(
        "SELECT sender, message_id FROM inbox_messages WHERE agent_name = ? ORDER BY seq", NAME
    ):
        arrived[sender].append(name)
    for sender in dict(mail):
        log = store.conversation(NAME, sender)
        heard = [entry.inbox_message_id for entry in log.entries] if log else []
        if heard != arrived[sender][-len(heard) or None :] or len(heard) != min(len(arrived[sender]), 20):
            yield f"{sender}: {heard} were answered, {arrived[sender]} arrived"


def alone(told: list[Any], lane: Callable[[str], str]) -> Iterator[str]:
    """In each lane a turn that has begun ends, or its worker dies, before the next one begins."""
    now: dict[str, str] = {}
    for what, sender, name in told:
        if what == "begun" and now.get(lane(sender)):
            yield f"{name} began for {sender} while {now[lane(sender)]} was under way"
        now[lane(sender)] = name if what == "begun" else ""


if __name__ == "__main__":
    answer({"messages": messages})
