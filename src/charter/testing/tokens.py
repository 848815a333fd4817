"""Contracts of tokens: a secret is known by its hash alone, and one that was revoked opens nothing (S0-10)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ..core.errors import BadValue, NotStored
from ..core.ports import Store
from ..core.served import Token
from .bad import BAD_KEYS, BAD_NAMES, BAD_TEXTS, BAD_TIMES, bad_authors_and_times
from .check import Contract, alike, at_once, must, of, refused, same
from .parts import AGENT, OPERATOR, untouched

FIRST, SECOND, THIRD = ("1" * 64, "2" * 64, "3" * 64)
OLGA = Token("t1", "operator", "olga", at_ns=7)
ANA = Token("t2", "user", "ana", AGENT, "web", "admin:olga", 5, 99)
BAD_HASHES = ("", "secret", "1" * 63, "1" * 65, "A" * 64, "g" * 64, "１" * 64, *BAD_TEXTS)


def a_token_is_found_by_the_hash_of_its_secret_alone(store: Store) -> None:
    store.add_token(OLGA, FIRST)
    store.add_token(ANA, SECOND)
    same((store.token_of(FIRST), store.token_of(SECOND)), (OLGA, ANA), "whose the tokens are")
    for other in (THIRD, "", FIRST[:-1], FIRST + "1", "t1", "olga", "%", "1%"):
        same(store.token_of(other), None, "whose a token is that nobody made")
    alike(store.tokens(), [ANA, OLGA], "the tokens, oldest first")
    must(FIRST not in repr(store.tokens()), "a hash should not show when tokens are printed")


def a_token_that_was_revoked_opens_nothing(store: Store) -> None:
    store.add_token(OLGA, FIRST)
    store.add_token(ANA, SECOND)
    gone = replace(ANA, revoked_at_ns=20)
    same(store.revoke_token("t2", by=OPERATOR, at_ns=20), gone, "the token that was revoked")
    same((store.token_of(SECOND), store.token_of(FIRST)), (None, OLGA), "whose the tokens are")
    same(store.revoke_token("t2", by=OPERATOR, at_ns=30), gone, "a token that is revoked again")
    alike(store.tokens(), [gone, OLGA], "the tokens")
    must(store.revoke_token("t1", by=OPERATOR, at_ns=0).revoked_at_ns, "a token is revoked at whatever time")
    same(store.token_of(FIRST), None, "whose the token is")
    refused(BadValue, store.add_token, replace(ANA, id="t3"), SECOND)


def a_token_has_an_id_and_a_secret_of_its_own(store: Store) -> None:
    store.add_token(OLGA, FIRST)
    with untouched(store):
        refused(BadValue, store.add_token, replace(ANA, id="t1"), SECOND)
        refused(BadValue, store.add_token, ANA, FIRST)
    same((store.token_of(FIRST), store.token_of(SECOND)), (OLGA, None), "whose the tokens are")


def a_token_that_is_not_there_cannot_be_revoked(store: Store) -> None:
    store.add_token(OLGA, FIRST)
    with untouched(store):
        for name in ("", "t2", "olga", FIRST):
            refused(NotStored, store.revoke_token, name, by=OPERATOR, at_ns=5)


def of_many_who_make_a_token_of_one_secret_one_does(store: Store) -> None:
    ends = at_once(8, lambda number: store.add_token(replace(ANA, id=f"t{number}"), FIRST))
    same(len(of(BadValue, ends)), 7, "how many were refused")
    (made,) = store.tokens()
    same(store.token_of(FIRST), made, "whose the token is")
    same(ends[int(made.id[1:])], None, "what its maker was told")


def a_token_with_a_bad_value_is_refused(store: Store) -> None:
    store.add_token(OLGA, FIRST)
    bad: list[dict[str, Any]] = [{"id": name} for name in BAD_NAMES]
    bad += [{"role": role} for role in ("", "root", "Operator", *BAD_TEXTS)]
    bad += [{"name": name} for name in ("", "x" * 501, "two\nlines", *BAD_TEXTS)]
    bad += [{field: name} for name in BAD_KEYS for field in ("agent", "channel")]
    bad += [{"by": text} for text in BAD_TEXTS]
    bad += [{field: time} for time in BAD_TIMES for field in ("at_ns", "expires_at_ns", "revoked_at_ns")]
    with untouched(store):
        for given in bad:
            refused(BadValue, store.add_token, replace(ANA, **given), SECOND)
        for text in BAD_HASHES:
            refused(BadValue, store.add_token, ANA, text)
        for wrong in bad_authors_and_times():
            refused(BadValue, store.revoke_token, "t1", **{"by": OPERATOR, "at_ns": 5} | wrong)
        for text in BAD_TEXTS:
            refused(BadValue, store.token_of, text)
            refused(BadValue, store.revoke_token, text, by=OPERATOR, at_ns=5)


CONTRACTS: tuple[Contract, ...] = (
    a_token_is_found_by_the_hash_of_its_secret_alone,
    a_token_that_was_revoked_opens_nothing,
    a_token_has_an_id_and_a_secret_of_its_own,
    a_token_that_is_not_there_cannot_be_revoked,
    of_many_who_make_a_token_of_one_secret_one_does,
    a_token_with_a_bad_value_is_refused,
)
