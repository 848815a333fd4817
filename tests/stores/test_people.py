"""A person's data leaves with them: all of it can be taken along, and nothing of it stays that could be read (N-20)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from charter import stores
from charter.core.errors import BadValue
from charter.core.records import Approval, Author, Provenance, Settled
from charter.stores.audit import audit
from charter.stores.memory import MemoryStore
from charter.stores.people import export, forget
from charter.stores.tables import schema_tables

from . import databases
from .databases import KINDS
from .filled import (
    ADA,
    DAY,
    KEYS,
    LEASE,
    OLGA,
    RULES,
    files_of,
    fill_agent,
    fill_person,
    filled,
    new,
    put,
    record,
    take_turns,
    text_of,
    user,
    wishes,
)

pytestmark = pytest.mark.requirement("N-20")
ADDRESS = "0xAbCdEf0000000000000000000000000000001234"
WITH_ROWS = {
    "layer_versions", "proposals", "user_agent_prompt_customizations", "user_settings", "inbox_messages",
    "outbox_messages", "turn_leases", "conversations", "conversation_entries", "agent_long_term_memory", "turn_records",
    "tool_approvals", "api_tokens", "schedules", "schedule_runs", "channel_peers", "channel_pairings",
}  # fmt: skip


def cells_of(url: str, but: str) -> Iterator[str]:
    """The rows that do not tell of somebody, but for the log and for what counts rows of all."""
    for table, rows in databases.contents(url).items():
        if table not in ("change_log", "chain_heads"):
            yield from (f"{table} {row!r}" for row in rows if but not in repr(row))


# ── taking along ──────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("kind", KINDS)
def test_an_export_has_every_text_of_theirs_and_no_text_of_another(kind: str, tmp_path: Path) -> None:
    url, store = filled(kind, tmp_path)
    with store:
        fill_person(store, "mira", "marzipan", "second")
        found = export(store.db, "mira")
    told = json.dumps(found)
    assert set(found["tables"]) == WITH_ROWS
    assert {row["agent_name"] for row in found["tables"]["layer_versions"]} == {ADA, "second"}
    assert [row["content"] for row in found["tables"]["layer_versions"]].count("Wish 0: marzipan") == 2
    terms = databases.run(url, "SELECT count(*) FROM memory_terms WHERE term = 'marzipan'")[0][0]
    assert told.count("marzipan") == text_of(url).count("marzipan") - terms > 50
    assert "celery" not in told
    assert json.loads(told) == found


@pytest.mark.parametrize("kind", KINDS)
def test_an_export_has_what_an_old_assistant_kept_with_every_column(kind: str, tmp_path: Path) -> None:
    url = databases.old(kind, tmp_path)
    stores.migrate.upgrade(url)
    ask = "SELECT DISTINCT CAST(user_id AS TEXT) FROM legacy_user_agent_prompt_customizations ORDER BY 1"
    person, other = (row[0] for row in databases.run(url, ask)[:2])
    with stores.open(url) as store:
        told = export(store.db, person)["tables"]
    old = told["legacy_user_agent_prompt_customizations"]
    assert old
    assert {row["user_id"] for row in old} == {person}
    assert {"content", "is_active", "updated_at"} <= set(old[0])
    assert other not in json.dumps(told)


def test_an_export_of_somebody_unknown_is_empty() -> None:
    with MemoryStore() as store:
        fill_agent(store)
        assert export(store.db, "nobody") == {"format": "charter-person-1", "person": "nobody", "tables": {}}


# ── forgetting ────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("kind", KINDS)
def test_who_is_forgotten_leaves_no_name_and_no_text_and_the_log_still_proves(kind: str, tmp_path: Path) -> None:
    url, store = filled(kind, tmp_path)
    with store:
        anchor = audit(store.db).heads
        counts = forget(store.db, "mira", by=OLGA, at_ns=99)
        assert set(counts) == WITH_ROWS | {"memory_owners"}
        assert counts["layer_versions"] == 5
        assert [word for word in ("mira", "marzipan") if word in text_of(url)] == []
        if kind == "sqlite":
            assert [word for word in (b"mira", b"marzipan") if word in files_of(url)] == []
        found = audit(store.db, heads=anchor)
        assert (found.problems, found.versions, found.turns) == ((), 17, 6)
        told = store.log(f"{ADA}/{KEYS.person('mira')}")[-1]
        assert (told.kind, told.place, told.actor) == ("forget", "person", "operator")
        assert "layer_versions 5" in told.detail


@pytest.mark.parametrize("kind", KINDS)
def test_rows_of_others_stay_to_the_byte(kind: str, tmp_path: Path) -> None:
    url, store = filled(kind, tmp_path)
    with store:
        before = [row for row in cells_of(url, "mira") if "marzipan" not in row and "memory_" not in row]
        forget(store.db, "mira", by=OLGA, at_ns=99)
        after = set(cells_of(url, "erased"))
        assert [row for row in before if row not in after] == []
        notes = [note.text for note in store.recall(ADA, "bob", "tea", 9)]
        assert notes == ["Note two, celery tea tea", "Note one, celery and tea"]
        assert store.instructions(ADA, "bob") == "Proposed 0: celery"


@pytest.mark.parametrize("kind", KINDS)
def test_forgetting_again_or_somebody_unknown_does_nothing(kind: str, tmp_path: Path) -> None:
    url, store = filled(kind, tmp_path)
    with store:
        forget(store.db, "mira", by=OLGA, at_ns=99)
        before = databases.contents(url)
        for name in ("mira", "nobody", "erased", "", " "):
            if name.strip():
                assert forget(store.db, name, by=OLGA, at_ns=100) == {}
            else:
                with pytest.raises(BadValue, match="must not be empty"):
                    forget(store.db, name, by=OLGA, at_ns=100)
        assert databases.contents(url) == before


@pytest.mark.parametrize("kind", KINDS)
def test_who_was_forgotten_can_come_back_and_be_forgotten_again_at_the_same_moment(kind: str, tmp_path: Path) -> None:
    url, store = filled(kind, tmp_path)
    with store:
        for _ in range(3):
            forget(store.db, "mira", by=user("mira"), at_ns=99)
            assert export(store.db, "mira")["tables"] == {}
            assert store.history(wishes("mira")) == []
            written = put(store, wishes("mira"), "I am back with marzipan", user("mira"))
            store.remember(ADA, "mira", "marzipan again", day=DAY)
            assert (written.version, audit(store.db).problems) == (1, ())
        forget(store.db, "mira", by=OLGA, at_ns=99)
        assert (audit(store.db).problems, "marzipan" in text_of(url)) == ((), False)


@pytest.mark.parametrize("kind", KINDS)
def test_what_they_said_goes_from_the_notes_of_others_with_what_was_made_of_it(kind: str, tmp_path: Path) -> None:
    _, store = new(kind, tmp_path)
    with store:
        told = Provenance("mira", "web", "sender", "sender:mira")
        for owner in ("", "bob"):
            first = store.remember(ADA, owner, f"tea, mira says to {owner}", day=DAY, provenance=told)
            made = store.remember(ADA, owner, "tea is liked", day=DAY, provenance=Provenance(derived_from=(first.id,)))
            store.remember(
                ADA, owner, "tea too", day=DAY, provenance=Provenance(source="user:mira", derived_from=(made.id,))
            )
            store.remember(ADA, owner, "tea is hot", day=DAY, provenance=Provenance("bob", source="user:bob"))
        assert forget(store.db, "mira", by=OLGA, at_ns=99) == {"agent_long_term_memory": 6}
        for owner in ("", "bob"):
            assert [note.text for note in store.recall(ADA, owner, "tea", 9)] == ["tea is hot"]
        assert (audit(store.db).problems, store.sources(ADA)) == ((), [("user:bob", 2)])


@pytest.mark.parametrize("kind", KINDS)
def test_a_name_is_one_person_as_user_sender_recipient_and_author(kind: str, tmp_path: Path) -> None:
    url, store = new(kind, tmp_path)
    with store:
        put(store, wishes(ADDRESS), "by address", user(ADDRESS))
        put(store, wishes("bob"), "by another", user(ADDRESS))
        put(store, RULES, "rules by a user", user(ADDRESS))
        store.set_label(RULES, "prod", 1, by=user(ADDRESS), at_ns=5)
        made = store.propose(RULES, "more", base_version=1, by=user(ADDRESS), reason="mine", at_ns=5, expires_at_ns=99)
        take_turns(store, ADDRESS, "words")
        store.take(ADA, "t-bob", lane="bob", at_ns=70, lease_ns=LEASE)
        store.settle(Settled(record(ADA, "t-bob", 71, sender=ADDRESS, user="bob")))
        counts = forget(store.db, ADDRESS.upper().replace("0X", "0x"), by=OLGA, at_ns=99)
        assert (counts["layer_labels"], counts["proposals"], counts["turn_records"]) == (1, 1, 4)
        assert ADDRESS[2:].lower() not in text_of(url).lower()
        assert audit(store.db).problems == ()
        assert store.instructions(ADA, "bob") == "by another"
        assert store.turn(ADA, "t-bob").user == "bob"
        assert store.proposal(made.id).state == "expired"


@pytest.mark.requirement("S1-08", "N-19")
@pytest.mark.parametrize("kind", KINDS)
def test_who_decided_about_a_call_of_another_or_stopped_an_agent_is_no_longer_named_there(
    kind: str, tmp_path: Path
) -> None:
    url, store = new(kind, tmp_path)
    with store:
        for number, name in enumerate(("bob", "")):
            call = Approval(f"a-{number}", ADA, "t1", "mail", "to zoe", "f" * 64, 5, 99, name)
            store.request_approval(call)
            store.decide_approval(call.id, call.sha256, "approved", by=user("mira"), at_ns=6)
        store.pause("second", by=user("mira"), at_ns=7, reason="marzipan")
        assert set(export(store.db, "mira")["tables"]) == {"tool_approvals", "agent_controls"}
        assert forget(store.db, "mira", by=OLGA, at_ns=99) == {"tool_approvals": 2, "agent_controls": 1}
        assert [word for word in ("mira", "marzipan") if word in text_of(url)] == []
        assert [(found.decided_by, found.arguments) for found in store.approvals()] == [("erased", "to zoe")] * 2
        assert store.use_approval(ADA, "bob", "mail", "f" * 64, "t2", 8) is not None
        control = store.control("second", "1970-01-01")
        assert (control.paused, control.by, control.reason) == (True, "erased", "")
        assert audit(store.db).problems == ()


@pytest.mark.requirement("S1-08")
@pytest.mark.parametrize("kind", KINDS)
def test_a_call_of_who_was_forgotten_is_not_made_and_nobody_can_use_their_approval(kind: str, tmp_path: Path) -> None:
    _, store = filled(kind, tmp_path)
    with store:
        given = [found for found in store.approvals(ADA, "approved") if found.user == "mira"]
        forget(store.db, "mira", by=OLGA, at_ns=99)
        for found in given:
            for name in ("mira", "", "erased"):
                assert store.use_approval(ADA, name, found.tool, found.sha256, "t9", 54) is None
            assert (store.approval(found.id).state, store.approval(found.id).arguments) == ("expired", None)
        assert len(given) == 1
        assert [found.user for found in store.approvals(ADA, "approved")] == ["", "bob"]


def test_names_that_differ_by_a_blank_are_two_people_but_a_blank_that_nobody_has_is_overlooked() -> None:
    with MemoryStore(KEYS) as store:
        for name in ("mira", "mira "):
            put(store, wishes(name), f"wish of {name!r}", user(name))
        assert forget(store.db, "mira ", by=OLGA, at_ns=99)["layer_versions"] == 1
        assert store.instructions(ADA, "mira") == "wish of 'mira'"
        assert forget(store.db, " mira  ", by=OLGA, at_ns=99)["layer_versions"] == 1
        assert audit(store.db).problems == ()


def test_every_table_has_its_end_in_an_erasure() -> None:
    """A new table is either erased, kept without names, or holds nothing of people."""
    with MemoryStore() as store:
        fill_agent(store)
        fill_person(store, "mira", "marzipan")
        gone = set(forget(store.db, "mira", by=Author("init"), at_ns=9))
    nobody = {"prompt_layers", "layer_labels", "agent_configurations", "change_log", "chain_heads", "agent_spend"}
    nobody |= {"agent_controls"}
    index = {"memory_owners", "memory_terms", "memory_sources"}
    old = {table for table in schema_tables() if table.startswith("legacy_")}
    assert set(schema_tables()) == gone | nobody | index | old
