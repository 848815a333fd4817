"""Contracts of peers: whoever writes on a channel is a stranger until a code says who they are, once (S4-10)."""

from __future__ import annotations

from typing import Any

from ..core.errors import BadValue, NotStored
from ..core.ports import Store
from ..core.served import Peer
from .bad import BAD_NAMES, BAD_TEXTS, BAD_TIMES, bad_authors_and_times
from .check import Contract, alike, at_once, of, refused, same
from .parts import AGENT, OPERATOR, untouched, user

CODE, OTHER = "c" * 64, "d" * 64
MIRA = Peer(AGENT, "telegram", "77", "mira", "admin:olga", 5)


def code(store: Store, sha256: str = CODE, name: str = "mira", **given: Any) -> None:
    """A code by which somebody on a channel becomes a user."""
    made: dict[str, Any] = {"agent": AGENT, "channel": "telegram", "user": name, "by": OPERATOR}
    made |= {"at_ns": 1, "expires_at_ns": 9}
    store.add_pairing(sha256, **made | given)


def a_peer_is_a_stranger_until_a_code_says_who_they_are(store: Store) -> None:
    same((store.peer(AGENT, "telegram", "77"), list(store.peers())), (None, []), "who a stranger is")
    code(store)
    same(store.pair(AGENT, "telegram", "77", OTHER, at_ns=5), None, "who a peer is by a code that nobody made")
    same(store.peer(AGENT, "telegram", "77"), None, "who a stranger is")
    same(store.pair(AGENT, "telegram", "77", CODE, at_ns=5), MIRA, "who a peer is by a code")
    same(store.peer(AGENT, "telegram", "77"), MIRA, "who the peer is")
    for agent, channel, name in ((AGENT, "telegram", "7"), (AGENT, "web", "77"), ("bob", "telegram", "77")):
        same(store.peer(agent, channel, name), None, "who a peer of another agent, channel or id is")


def a_code_is_used_once(store: Store) -> None:
    code(store)
    same(store.pair(AGENT, "telegram", "77", CODE, at_ns=5), MIRA, "who a peer is by a code")
    for name in ("78", "77"):
        same(store.pair(AGENT, "telegram", name, CODE, at_ns=5), None, "who a peer is by a code that was used")
    alike(store.peers(), [MIRA], "the peers")
    code(store, name="ana", by=user("ana"))
    again = Peer(AGENT, "telegram", "77", "ana", "user:ana", 6)
    same(store.pair(AGENT, "telegram", "77", CODE, at_ns=6), again, "who a peer is by another code")
    alike(store.peers(), [again], "the peers")


def a_code_is_good_for_its_agent_its_channel_and_its_time(store: Store) -> None:
    code(store)
    for agent, channel, at_ns in (("bob", "telegram", 5), (AGENT, "web", 5), (AGENT, "telegram", 9)):
        same(store.pair(agent, channel, "77", CODE, at_ns=at_ns), None, "who a peer is by a code that does not fit")
    alike(store.peers(), [], "the peers")
    refused(BadValue, code, store, name="ana")
    same(store.pair(AGENT, "telegram", "77", CODE, at_ns=8), Peer(AGENT, "telegram", "77", "mira", "admin:olga", 8))
    code(store, OTHER)
    code(store, OTHER, "ana", at_ns=9, expires_at_ns=20)
    found = store.pair(AGENT, "telegram", "77", OTHER, at_ns=10)
    same(found, Peer(AGENT, "telegram", "77", "ana", "admin:olga", 10), "a code that is made again when it is late")


def peers_are_listed_and_become_strangers_again(store: Store) -> None:
    places = (("bob", "web", "1"), (AGENT, "web", "1"), (AGENT, "telegram", "2"), (AGENT, "telegram", "1"))
    for agent, channel, name in places:
        code(store, agent=agent, channel=channel)
        store.pair(agent, channel, name, CODE, at_ns=5)
    made = [Peer(*place, "mira", "admin:olga", 5) for place in sorted(places)]
    alike(store.peers(), made, "every peer")
    alike(store.peers(AGENT), made[:3], "those of an agent")
    alike(store.peers(channel="web"), made[2:], "those of a channel")
    alike(store.peers(AGENT, "web"), made[2:3], "those of both")
    same(store.remove_peer(AGENT, "telegram", "1"), made[0], "who was sent away")
    same(store.peer(AGENT, "telegram", "1"), None, "who they are now")
    alike(store.peers(), made[1:], "the others")
    with untouched(store):
        refused(NotStored, store.remove_peer, AGENT, "telegram", "1")


def of_many_peers_that_use_one_code_one_is_paired(store: Store) -> None:
    for turn in range(3):
        code(store)
        ends = at_once(8, lambda number, t=turn: store.pair(AGENT, "web", f"{t}.{number}", CODE, at_ns=5))  # type: ignore[misc]
        alike(of(Peer, ends), [], "who was paired on another channel")
        ends = at_once(8, lambda number, t=turn: store.pair(AGENT, "telegram", f"{t}.{number}", CODE, at_ns=5))  # type: ignore[misc]
        (won,) = of(Peer, ends)
        same(store.peer(AGENT, "telegram", won.peer), won, "who was paired")
        same(len(store.peers()), turn + 1, "how many peers there are")


def a_peer_or_code_with_a_bad_value_is_refused(store: Store) -> None:
    code(store)
    with untouched(store):
        for text in ("", "123456", "C" * 64, "c" * 63, *BAD_TEXTS):
            refused(BadValue, code, store, text)
        for name in BAD_NAMES:
            for field in ("agent", "channel", "name"):
                refused(BadValue, code, store, OTHER, **{field: name})
            for place in ((name, "telegram", "77"), (AGENT, name, "77"), (AGENT, "telegram", name)):
                refused(BadValue, store.pair, *place, CODE, at_ns=5)
        for time in BAD_TIMES:
            refused(BadValue, code, store, OTHER, expires_at_ns=time)
            refused(BadValue, store.pair, AGENT, "telegram", "77", CODE, at_ns=time)
        for wrong in bad_authors_and_times():
            refused(BadValue, code, store, OTHER, **wrong)
        for text in BAD_TEXTS:
            refused(BadValue, store.pair, AGENT, "telegram", "77", text, at_ns=5)
            refused(BadValue, store.peers, text)
            refused(BadValue, store.peers, AGENT, text)
            for place in ((text, "telegram", "77"), (AGENT, text, "77"), (AGENT, "telegram", text)):
                refused(BadValue, store.peer, *place)
                refused(BadValue, store.remove_peer, *place)
    same(store.pair(AGENT, "telegram", "77", CODE, at_ns=5), MIRA, "who a peer is after all this")


def a_peer_whose_names_are_at_their_longest_is_kept(store: Store) -> None:
    wide = "".join(chr(0x1F300 + n) for n in range(250))  # four bytes each
    agent, channel, name, who = wide[:200], wide[10:210], wide[25:225], wide[50:]
    code(store, agent=agent, channel=channel, name=who)
    made = Peer(agent, channel, name, who, "admin:olga", 5)
    same(store.pair(agent, channel, name, CODE, at_ns=5), made, "who the peer is by a code")
    alike(store.peers(agent, channel), [made], "the peers")


CONTRACTS: tuple[Contract, ...] = (
    a_peer_is_a_stranger_until_a_code_says_who_they_are,
    a_code_is_used_once,
    a_code_is_good_for_its_agent_its_channel_and_its_time,
    peers_are_listed_and_become_strangers_again,
    of_many_peers_that_use_one_code_one_is_paired,
    a_peer_or_code_with_a_bad_value_is_refused,
    a_peer_whose_names_are_at_their_longest_is_kept,
)
