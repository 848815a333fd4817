"""Contracts of the change log: whatever happens is a row, rows only follow, no person is named in one (N-03, N-20)."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from random import Random

from ..core.errors import CharterError
from ..core.ports import Store
from ..core.records import Approval, LogRow, Place, Provenance
from .check import Contract, alike, must, same
from .parts import (
    AGENT,
    DAY,
    OPERATOR,
    RULES,
    agent_in,
    decision,
    entry,
    failed,
    message,
    put,
    run,
    stage,
    take,
    turn,
    user,
    verified,
    wishes,
)

PERSON = "maximiliane.musterfrau@example.org"
KNOWN = Provenance(said_by=PERSON, channel="web", source_class="user", source=f"user:{PERSON}")


def every_change_is_one_row_of_its_chain(store: Store) -> None:
    put(store, RULES, "one")
    store.set_label(RULES, "prod", 1, by=OPERATOR, at_ns=2)
    store.refuse(RULES, "LAYER_EMPTY", by=agent_in("t1"), at_ns=3)
    waits = store.propose(RULES, "two", base_version=1, by=agent_in("t1"), reason="", at_ns=4, expires_at_ns=99)
    store.apply(decision(waits.id, waits.sha256))
    note = store.remember(AGENT, "", "tea", day=DAY)
    store.forget_note(AGENT, "", note.id, by=OPERATOR, at_ns=6)
    run(store, turn("t1"))
    rows = store.log(AGENT)
    kinds = ["amend", "label", "refuse", "propose", "amend", "applied", "remember", "revoke", "turn"]
    alike([row.kind for row in rows], kinds, "the rows, in the order of what happened")
    alike([row.seq for row in rows], range(1, 10), "their numbers")
    same((rows[2].detail, rows[2].actor, rows[2].place), ("LAYER_EMPTY", "t1", "rules"), "the refusal")
    same([row.content_sha256 for row in rows if row.version], _hashes(store), "the hashes of what was written")
    alike(store.chains(), [AGENT], "the chains")
    verified(store)


def _hashes(store: Store) -> list[str]:
    one, two = (row.sha256 for row in store.history(RULES))
    return [one, "", two, two, two]


def a_chain_can_be_read_from_any_row_on(store: Store) -> None:
    for number in range(5):
        store.refuse(RULES, f"CODE_{number}", by=OPERATOR, at_ns=number)
    whole = list(store.log(AGENT))
    for after in range(6):
        alike(store.log(AGENT, after), whole[after:], f"the rows after {after}")
    alike(store.log("nobody"), [], "the rows of a chain that is not there")


def the_log_follows_and_only_grows_whatever_is_done(store: Store) -> None:
    seen: dict[str, list[LogRow]] = {}
    for seed in range(3):
        chance = Random(seed)
        for step in range(60):
            with suppress(CharterError):  # what is refused is refused; the log must stand either way
                chance.choice(_DEEDS)(store, chance, seed * 1000 + step)
            if step % 10 == 9:
                verified(store)
                for chain, before in seen.items():
                    alike(store.log(chain)[: len(before)], before, "the rows that were there before")
                seen = {chain: list(store.log(chain)) for chain in store.chains()}
    same(len(seen), 6, "the chains: of two agents, and of two people with each")


def no_row_of_the_log_names_a_person(store: Store) -> None:
    place = wishes(PERSON)
    put(store, place, "be brief", by=user(PERSON))
    put(store, place, "be brief, please", by=OPERATOR)
    store.refuse(place, "LAYER_TOO_LONG", by=user(PERSON), at_ns=3)
    store.refuse(RULES, "LAYER_NOT_WRITABLE", by=user(PERSON), at_ns=3)
    for act in (store.apply, lambda what: store.close_proposal(what, "rejected")):
        base = store.history(place)[-1].version
        waits = store.propose(place, "x", base_version=base, by=user(PERSON), reason=PERSON, at_ns=4, expires_at_ns=99)
        act(decision(waits.id, waits.sha256, by=user(PERSON)))
    put(store, RULES, "one", by=user(PERSON))
    store.set_label(RULES, "prod", 1, by=user(PERSON), at_ns=3)
    note = store.remember(AGENT, PERSON, "tea", day=DAY, provenance=KNOWN)
    store.forget_note(AGENT, PERSON, note.id, by=user(PERSON), at_ns=5)
    store.remember(AGENT, PERSON, "coffee", day=DAY, provenance=KNOWN)
    store.revoke(AGENT, KNOWN.source, by=user(PERSON), at_ns=6)
    store.request_approval(Approval("a-1", AGENT, "t1", "mail", PERSON, "f" * 64, 3, 99, PERSON))
    store.decide_approval("a-1", "f" * 64, "approved", by=user(PERSON), at_ns=4)
    store.use_approval(AGENT, PERSON, "mail", "f" * 64, "t1", 5)
    store.pause(AGENT, by=user(PERSON), at_ns=4, reason=PERSON)
    store.resume(AGENT, by=user(PERSON), at_ns=5)
    stage(store, message(1, PERSON))
    run(store, turn("t1", sender=PERSON, user=PERSON), lane=PERSON, reply=PERSON)
    store.append_conversation(AGENT, PERSON, entry(1))
    take(store, "t2", lane=PERSON)
    store.fail(failed("t2", sender=PERSON))
    rows = [row for chain in store.chains() for row in store.log(chain)]
    must(len(rows) > 12, "every change should be in the log")
    named = [row for row in rows if PERSON in "\n".join(map(str, _fields(row)))]
    alike(named, [], "the rows with a person's name in them")
    verified(store)


def a_person_has_the_same_chain_every_time_and_no_other_one(store: Store) -> None:
    for name in ("ana", "bob", "ana"):
        put(store, wishes(name), f"of {name}", by=user(name))
        store.remember(AGENT, name, "tea", day=DAY)
    put(store, wishes("ana", "bob"), "elsewhere", by=user("ana"))
    same(sorted(len(store.log(chain)) for chain in store.chains()), [1, 2, 4], "the rows of each chain")
    must(all(chain.startswith((f"{AGENT}/", "bob/")) for chain in store.chains()), "a chain begins with its agent")


def _fields(row: LogRow) -> tuple[object, ...]:
    return row.chain, row.kind, row.place, row.actor, row.detail


# ── anything that can be done ─────────────────────────────────────────────────────────────────────────────────────

Deed = Callable[[Store, Random, int], object]


def _place(chance: Random) -> Place:
    agent = chance.choice(("ada", "bob"))
    return chance.choice((Place(agent, "rules"), Place(agent, "tone"), wishes(chance.choice(("ana", "ben")), agent)))


def _write(store: Store, chance: Random, step: int) -> None:
    put(store, _place(chance), f"text {step}", by=chance.choice((OPERATOR, agent_in("t"), user("ana"))), at_ns=step)


def _label(store: Store, chance: Random, step: int) -> None:
    store.set_label(Place("ada", "rules"), chance.choice("ab"), chance.randint(1, 9), by=OPERATOR, at_ns=step)


def _refuse(store: Store, chance: Random, step: int) -> None:
    store.refuse(_place(chance), "LAYER_EMPTY", by=user("ana"), at_ns=step)


def _propose(store: Store, chance: Random, step: int) -> None:
    place = _place(chance)
    head = store.head(place)
    base, by = head.version if head else 0, agent_in("t")
    store.propose(place, f"p{step}", base_version=base, by=by, reason="r", at_ns=step, expires_at_ns=step + 30)


def _decide(store: Store, chance: Random, step: int) -> None:
    found = store.proposals(state="open") or store.proposals()
    if not found:
        return
    waits = chance.choice(found)
    what = decision(waits.id, waits.sha256, at_ns=step)
    store.apply(what) if chance.random() < 0.7 else store.close_proposal(what, "rejected")


def _expire(store: Store, chance: Random, step: int) -> None:
    store.expire(step)


def _remember(store: Store, chance: Random, step: int) -> None:
    source = Provenance(source=f"s{chance.randint(1, 3)}")
    who = chance.choice(("", "ana", "ben"))
    store.remember(chance.choice(("ada", "bob")), who, f"note {step}", day=DAY, at_ns=step, provenance=source)


def _revoke(store: Store, chance: Random, step: int) -> None:
    store.revoke(chance.choice(("ada", "bob")), f"s{chance.randint(1, 3)}", by=OPERATOR, at_ns=step)


def _call(store: Store, chance: Random, step: int) -> None:
    agent, name, number = chance.choice(("ada", "bob")), chance.choice(("", "ana", "ben")), chance.randint(1, 3)
    call = Approval(f"a-{step}", agent, "t1", "mail", "{}", f"{number}" * 64, step, step + 30, name)
    waits = store.request_approval(call)
    if chance.random() < 0.6:
        by = chance.choice((OPERATOR, user("ana")))
        store.decide_approval(waits.id, waits.sha256, chance.choice(("approved", "denied")), by=by, at_ns=step)
    store.use_approval(agent, name, "mail", waits.sha256, "t2", step)


def _switch(store: Store, chance: Random, step: int) -> None:
    agent = chance.choice(("ada", "bob"))
    store.pause(agent, by=OPERATOR, at_ns=step, reason="why")
    store.limit(agent, by=OPERATOR, at_ns=step, tokens_per_day=step, turns_per_day=None)
    store.resume(agent, by=user("ana"), at_ns=step)


def _turn(store: Store, chance: Random, step: int) -> None:
    agent, sender = chance.choice(("ada", "bob")), chance.choice(("ana", "ben"))
    name = f"t{step // 2}"
    take(store, name, agent=agent, lane=sender)
    store.fail(failed(name, agent=agent, sender=sender, at_ns=step))


_DEEDS: tuple[Deed, ...] = (
    _write, _write, _label, _refuse, _propose, _decide, _expire, _remember, _revoke, _turn, _call, _call, _switch,
)  # fmt: skip

CONTRACTS: tuple[Contract, ...] = (
    every_change_is_one_row_of_its_chain,
    a_chain_can_be_read_from_any_row_on,
    the_log_follows_and_only_grows_whatever_is_done,
    no_row_of_the_log_names_a_person,
    a_person_has_the_same_chain_every_time_and_no_other_one,
)
