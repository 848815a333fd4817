"""The log itself: cut off, rewritten, stripped of its seals, under a key that is gone or that came later."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from charter import stores
from charter.core.errors import BadValue
from charter.core.keyring import NO_KEYS, KeyRing, key_id
from charter.stores import migrate
from charter.stores.audit import Audit, audit
from charter.stores.memory import MemoryStore
from charter.stores.people import forget
from charter.stores.prune import prune
from charter.stores.store import SqlStore

from . import databases
from .databases import KINDS
from .filled import (
    ADA,
    DAY,
    KEYS,
    LATER,
    OLD_KEYS,
    OLGA,
    RULES,
    SOUL,
    fill,
    fill_agent,
    fill_person,
    filled,
    new,
    put,
    user,
    wishes,
)
from .tampering import Hand, hand, rewrite

MIRA = f"{ADA}/{KEYS.person('mira')}"
BOB = f"{ADA}/{KEYS.person('bob')}"
ELSE = KeyRing((("other", b"3" * 32),))


@contextmanager
def both(kind: str, folder: Path) -> Iterator[tuple[SqlStore, Hand]]:
    url, store = filled(kind, folder)
    with store, hand(url) as mine:
        yield store, mine


def said(found: Audit, *words: str) -> bool:
    """Whether one problem has all these words."""
    return any(all(word in problem for word in words) for problem in found.problems)


# ── ends and starts ───────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.requirement("N-03")
@pytest.mark.parametrize("kind", KINDS)
def test_the_end_of_a_chain_that_was_cut_off_is_found_by_its_head(kind: str, tmp_path: Path) -> None:
    with both(kind, tmp_path) as (store, mine):
        last = len(store.log(MIRA))
        mine.run("DELETE FROM change_log WHERE chain = ? AND seq > ?", MIRA, last - 3)
        assert said(audit(store.db), MIRA, f"ends with entry {last - 3}", f"its head is at {last}")


@pytest.mark.requirement("N-03")
@pytest.mark.parametrize("kind", KINDS)
def test_the_end_cut_off_with_its_head_is_found_by_the_rows_it_told_of(kind: str, tmp_path: Path) -> None:
    with both(kind, tmp_path) as (store, mine):
        rows = store.log(MIRA)
        mine.run("DELETE FROM change_log WHERE chain = ? AND seq = ?", MIRA, rows[-1].seq)
        mine.run("UPDATE chain_heads SET seq = ?, sha256 = ? WHERE chain = ?", rows[-2].seq, rows[-2].sha256, MIRA)
        found = audit(store.db)
        assert said(found, f"{MIRA} turn {rows[-1].place}", "the log has no entry of it")


@pytest.mark.requirement("N-03")
@pytest.mark.parametrize("kind", KINDS)
def test_a_state_of_before_put_back_whole_is_found_by_the_anchor_alone(kind: str, tmp_path: Path) -> None:
    with both(kind, tmp_path) as (store, mine):
        before = audit(store.db)
        put(store, RULES, "One more version.")
        anchor = audit(store.db).heads
        for table, column in (("layer_versions", "version"), ("change_log", "seq")):
            mine.run(f"DELETE FROM {table} WHERE {column} = (SELECT max({column}) FROM {table} WHERE {_OF[table]})"
                     f" AND {_OF[table]}")  # fmt: skip
        old = store.history(RULES)[-1]
        mine.run(
            "UPDATE prompt_layers SET content = ?, version = ?, updated_at_ns = ?, updated_by_turn = ?"
            " WHERE agent_name = 'ada' AND layer_id = 'rules'",
            old.content, old.version, old.at_ns, old.by,
        )  # fmt: skip
        mine.run("UPDATE chain_heads SET seq = seq - 1, sha256 = ? WHERE chain = ?", before.heads[ADA], ADA)
        assert audit(store.db).problems == ()
        assert audit(store.db, heads=before.heads).problems == ()
        assert audit(store.db, heads=anchor).problems == (
            f"{ADA}: does not hold the entry of the anchor: it was cut off or rewritten since",
        )


_OF = {"layer_versions": "agent_name = 'ada' AND layer_id = 'rules'", "change_log": "chain = 'ada'"}


@pytest.mark.requirement("N-03")
@pytest.mark.parametrize("kind", KINDS)
def test_a_chain_that_is_gone_whole_is_found(kind: str, tmp_path: Path) -> None:
    with both(kind, tmp_path) as (store, mine):
        mine.run("DELETE FROM change_log WHERE chain = ?", BOB)
        assert said(audit(store.db), BOB, "all its entries are gone")
        mine.run("DELETE FROM chain_heads WHERE chain = ?", BOB)
        assert said(audit(store.db), f"{BOB} instructions@1", "the log has no entry of it")


def test_an_anchor_holds_as_long_as_chains_only_grow(tmp_path: Path) -> None:
    with both("sqlite", tmp_path) as (store, _):
        anchor = audit(store.db).heads
        fill_person(store, "zoe", "zucchinis")
        forget(store.db, "bob", by=OLGA, at_ns=LATER)
        prune(store.db, turns_before_ns=LATER, at_ns=LATER)
        assert audit(store.db, heads=anchor).problems == ()
        assert said(audit(store.db, heads={**anchor, "nobody": "0" * 64}), "nobody", "anchor")


# ── rewritten ─────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.requirement("N-03")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("chain", ["agent", "person"])
def test_a_chain_rewritten_without_the_key_is_found_by_its_seals(kind: str, chain: str, tmp_path: Path) -> None:
    with both(kind, tmp_path) as (store, mine):
        name = {"agent": ADA, "person": MIRA}[chain]
        mine.run("UPDATE change_log SET at_ns = 77 WHERE chain = ? AND kind = 'refuse'", name)
        mine.run("UPDATE change_log SET detail = 'OTHER' WHERE chain = ? AND seq = 1", name)
        rewrite(mine, name)
        assert said(audit(store.db), f"{name} entry 1: its seal is not by the key it names")
        rewrite(mine, name, seal=lambda sha256: ELSE.seal(sha256))
        assert said(audit(store.db), f"{name}: ", "sealed with a key that is not here (other)")


@pytest.mark.requirement("N-03")
def test_entries_that_lost_their_seals_are_found_unless_all_of_a_chain_did(tmp_path: Path) -> None:
    url, store = new("sqlite", tmp_path)
    with store, hand(url) as mine:
        for number in range(4):
            put(store, RULES, f"text {number}")
        mine.run("UPDATE change_log SET seal = '', key_id = '' WHERE seq = 3")
        assert said(audit(store.db), f"{ADA} entry 3: has no seal, though entries before it have")
        mine.run("UPDATE change_log SET seal = '', key_id = ''")
        found = audit(store.db)
        assert found.problems == ()
        assert [notice for notice in found.notices if "no entry is sealed" in notice and ADA in notice]


def test_a_persons_chain_cannot_lose_its_seals_unseen(tmp_path: Path) -> None:
    with both("sqlite", tmp_path) as (store, mine):
        mine.run("UPDATE change_log SET seal = '', key_id = '' WHERE chain = ?", MIRA)
        assert said(audit(store.db), f"{MIRA} instructions@1", "key_id")


def test_who_has_the_key_rewrites_history_and_only_the_anchor_tells(tmp_path: Path) -> None:
    with both("sqlite", tmp_path) as (store, mine):
        anchor = audit(store.db).heads
        mine.run("UPDATE change_log SET detail = 'OTHER' WHERE kind = 'refuse'")
        rewrite(mine, ADA, seal=lambda sha256: KEYS.seal(sha256))
        assert audit(store.db).problems == ()
        assert said(audit(store.db, heads=anchor), ADA, "anchor")


# ── keys ──────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.requirement("N-20", "N-01")
@pytest.mark.parametrize("kind", KINDS)
def test_a_store_whose_keys_came_later_and_were_rotated_is_clean(kind: str, tmp_path: Path) -> None:
    url, store = new(kind, tmp_path, NO_KEYS)
    with store:
        fill(store)
        waits = store.propose(wishes("bob"), "x", base_version=9, by=user("bob"), reason="", at_ns=5, expires_at_ns=70)
    for ring in (OLD_KEYS, KEYS):
        with stores.open(url, keys=ring) as store:
            put(store, wishes("bob"), f"with {len(ring.keys)} keys", user("bob"))
            put(store, SOUL, f"with {len(ring.keys)} keys")
            store.remember(ADA, "bob", "tea again", day=DAY)
            store.expire(80)
            assert store.proposal(waits.id).state == "expired"
            assert audit(store.db).problems == ()
    with stores.open(url, keys=KEYS) as store:
        assert any("no entry is sealed" in notice for notice in audit(store.db).notices)
        for name in ("bob", "mira", "bob"):
            forget(store.db, name, by=OLGA, at_ns=99)
            assert audit(store.db).problems == ()


@pytest.mark.requirement("N-20")
def test_a_key_that_is_gone_is_said_to_be_and_what_it_proved_is_noted(tmp_path: Path) -> None:
    url, store = filled("sqlite", tmp_path)
    store.close()
    for ring in (KeyRing(KEYS.keys[:1]), KeyRing((("new", b"9" * 32),)), NO_KEYS):
        with stores.open(url, keys=ring) as store:
            found = audit(store.db)
        assert said(found, f"{MIRA}: ", f"sealed with a key that is not here ({key_id(b'2' * 32)})")
        assert any("cannot be proved: its key is gone" in notice for notice in found.notices)
        assert not said(found, "does not have the hash")


# ── what came from elsewhere ──────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.requirement("N-03", "N-20", "S4-08")
@pytest.mark.parametrize("kind", KINDS)
def test_what_was_migrated_is_clean_goes_on_and_can_be_forgotten(kind: str, tmp_path: Path) -> None:
    url = databases.old(kind, tmp_path)
    migrate.upgrade(url)
    person = databases.run(url, "SELECT user_id FROM user_agent_prompt_customizations ORDER BY user_id")[0][0]
    with stores.open(url, keys=KEYS) as store:
        first = audit(store.db)
        assert (first.problems, first.versions > 5, first.notes > 3) == ((), True, True)
        fill_person(store, person, "pomegranates", "assistant")
        assert audit(store.db, heads=first.heads).problems == ()
        gone = forget(store.db, person, by=OLGA, at_ns=99)
        assert gone["legacy_user_agent_prompt_customizations"] > 0
        assert audit(store.db, heads=first.heads).problems == ()
    assert person not in repr(databases.contents(url))
    with hand(url) as mine, stores.open(url, keys=KEYS) as store:
        mine.run("UPDATE agent_long_term_memory SET said_by = 'eve' WHERE source_class = 'import'")
        assert said(audit(store.db), "memory:", "origin")


# ── what should be gone ───────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.requirement("N-20")
@pytest.mark.parametrize(
    "table", ["layer_versions", "agent_long_term_memory", "proposals", "turn_records", "tool_approvals"]
)
def test_what_was_forgotten_or_pruned_and_is_back_is_found(table: str, tmp_path: Path) -> None:
    with both("sqlite", tmp_path) as (store, mine):
        kept = mine.rows(table)
        forget(store.db, "mira", by=OLGA, at_ns=99)
        prune(store.db, turns_before_ns=62, at_ns=99)
        assert audit(store.db).problems == ()
        mine.run(f"DELETE FROM {table}")
        for row in kept:
            mine.run(f"INSERT INTO {table} VALUES ({', '.join('?' * len(row))})", *row)
        assert len(audit(store.db).problems) >= 2


def test_a_name_may_not_look_like_one_that_was_erased() -> None:
    with MemoryStore(KEYS) as store:
        fill_agent(store)
        with pytest.raises(BadValue, match="kept for those who were forgotten"):
            put(store, wishes(f"erased:{KEYS.person('bob')}:1"), "I was never here.")
        assert audit(store.db).problems == ()
