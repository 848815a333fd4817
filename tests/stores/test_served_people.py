"""Tokens, schedules and peers of a person: taken along without secrets, forgotten with the rest, pruned (N-20)."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from pathlib import Path
from threading import Thread

import pytest

from charter.core.errors import BadValue
from charter.core.records import ConversationEntry, OutboxMessage, Settled
from charter.core.served import Schedule, Token
from charter.stores import people, prune, theirs
from charter.stores.audit import audit
from charter.stores.backup import backup, restore
from charter.stores.memory import MemoryStore
from charter.stores.people import export, forget
from charter.stores.store import SqlStore
from charter.stores.tables import schema_tables

from . import databases
from .databases import KINDS
from .filled import ADA, LATER, LEASE, OLGA, filled, new, record, text_of, user

pytestmark = pytest.mark.requirement("N-20", "S4-10")
DAILY = Schedule("s1", ADA, "0 7 * * *", "UTC", "marzipan", at_ns=5)


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


@pytest.mark.parametrize("kind", KINDS)
def test_no_hash_of_a_secret_is_in_an_export(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:  # fmt: skip
    url, store = filled(kind, tmp_path)
    sql = "SELECT sha256 FROM api_tokens UNION SELECT code_sha256 FROM channel_pairings"
    secrets = [row[0] for row in databases.run(url, sql)]
    with store:
        told = export(store.db, "mira")
        assert len(secrets) == 5
        assert [secret for secret in secrets if secret in json.dumps(told)] == []
        assert [(row["role"], row["name"]) for row in told["tables"]["api_tokens"]] == [("user", "mira")]
        assert {row["user_id"] for row in told["tables"]["channel_pairings"]} == {"mira"}
        assert [row["tick_ns"] for row in told["tables"]["schedule_runs"]] == [72, 72]
        monkeypatch.setattr(people, "_SECRETS", set())
        assert any(secret in json.dumps(export(store.db, "mira")) for secret in secrets)


@pytest.mark.parametrize("kind", KINDS)
def test_who_is_forgotten_has_no_token_no_schedule_and_is_a_stranger_on_every_channel(
    kind: str, tmp_path: Path
) -> None:
    url, store = filled(kind, tmp_path)
    with store:
        secret = databases.run(url, "SELECT sha256 FROM api_tokens WHERE name = 'mira'")[0][0]
        code = databases.run(url, "SELECT code_sha256 FROM channel_pairings WHERE user_id = 'mira'")[0][0]
        counts = forget(store.db, "mira", by=OLGA, at_ns=99)
        served = ("api_tokens", "schedules", "schedule_runs", "channel_peers", "channel_pairings")
        assert [counts[table] for table in served] == [1, 2, 2, 1, 1]
        assert store.token_of(secret) is None
        assert store.pair(ADA, "telegram", "99", code, at_ns=80) is None
        assert (store.peer(ADA, "telegram", "peer of mira"), len(store.runs("marzipan-1-ada"))) == (None, 0)
        assert [(peer.peer, peer.user) for peer in store.peers()] == [("peer of bob", "bob")]
        assert [token.name for token in store.tokens()] == ["bob", "olga"]
        assert [made.id for made in store.schedules()] == ["celery-1-ada", "celery-2-ada", "s-agent"]
        assert [run.tick_ns for run in store.runs("celery-1-ada")] == [72]


@pytest.mark.parametrize("kind", KINDS)
def test_where_they_made_something_for_another_their_name_goes_and_it_stays(kind: str, tmp_path: Path) -> None:
    url, store = new(kind, tmp_path)
    with store:
        store.add_token(Token("k1", "user", "bob", by="user:mira"), digest("k1"))
        store.revoke_token("k1", by=user("mira"), at_ns=6)
        for code in (digest("1"), digest("2")):
            store.add_pairing(
                code, agent=ADA, channel="telegram", user="bob", by=user("mira"), at_ns=5, expires_at_ns=99
            )
        store.pair(ADA, "telegram", "77", digest("1"), at_ns=6)
        assert set(export(store.db, "mira")["tables"]) == {"api_tokens", "channel_peers", "channel_pairings"}
        assert set(forget(store.db, "mira", by=OLGA, at_ns=9)) == {"api_tokens", "channel_peers", "channel_pairings"}
        assert "mira" not in text_of(url)
        assert ([one.by for one in store.tokens()], [one.by for one in store.peers()]) == (["erased"], ["erased"])
        assert databases.run(url, "SELECT revoked_by FROM api_tokens") == [("erased",)]
        paired = store.pair(ADA, "telegram", "78", digest("2"), at_ns=7)
        assert paired is not None
        assert (paired.user, paired.by) == ("bob", "erased")


@pytest.mark.parametrize("kind", KINDS)
def test_a_text_that_they_had_run_for_another_goes_since_it_is_their_text(kind: str, tmp_path: Path) -> None:
    url, store = new(kind, tmp_path)
    with store:
        store.add_schedule(replace(DAILY, recipient="bob", by="user:mira"))
        store.add_schedule(replace(DAILY, id="s2", text="celery", recipient="bob", by="admin:mira"))
        assert forget(store.db, "mira", by=OLGA, at_ns=9) == {"schedules": 1}
        assert "marzipan" not in text_of(url)
        assert [made.id for made in store.schedules()] == ["s2"]


@pytest.mark.parametrize("kind", KINDS)
def test_with_a_user_go_their_chats_on_a_channel_and_their_sessions_and_nobody_elses(kind: str, tmp_path: Path) -> None:
    """A bot knows somebody by a number, and a client of the gateway may speak in sessions: it is one person's talk."""
    url, store = new(kind, tmp_path)
    with store:
        for who, chat in (("mira", "5"), ("bob", "55")):
            store.add_pairing(digest(who), agent=ADA, channel="telegram", user=who, by=OLGA, at_ns=5, expires_at_ns=99)
            store.pair(ADA, "telegram", chat, digest(who), at_ns=6)
        talks = {
            "telegram:5": "mira", "mira:one": "mira", "telegram:55": "bob", "mira:two": "mira:two",
            "miranda": "miranda",
        }  # fmt: skip
        for number, (sender, who) in enumerate(talks.items()):
            text = "marzipan" if who == "mira" else "celery"
            store.take(ADA, f"t{number}", lane=sender, at_ns=7, lease_ns=LEASE)
            said = [(sender, ConversationEntry(f"m{number}", text, text, f"t{number}", 8))]
            sent = [OutboxMessage(sender, text, "telegram", 0)]
            store.settle(Settled(record(ADA, f"t{number}", 8, sender=sender, user=who), sent, said))
        assert "marzipan" in json.dumps(export(store.db, "mira"))
        assert "celery" not in json.dumps(export(store.db, "mira"))
        forget(store.db, "mira", by=OLGA, at_ns=9)
        left = text_of(url)
        assert [word for word in ("marzipan", "mira:one", 'telegram:5"') if word in left] == []
        assert sorted(talk.sender for talk in store.conversations(ADA)) == ["mira:two", "miranda", "telegram:55"]
        assert len(store.unsent(ADA)) == 3
        assert audit(store.db).problems == ()


def test_every_column_of_the_new_tables_that_can_name_a_person_is_looked_at() -> None:
    """A name is written into each column that takes any text; all but ids and codes must be found."""
    looked = {(column.table, column.name) for column in theirs.NAMES}
    plain = {"token_id", "schedule_id", "sha256", "code_sha256", "role", "agent_name", "channel", "cron", "timezone"}
    plain |= {"body", "catch_up", "state", "turn_id", "code"}
    for table in ("api_tokens", "schedules", "schedule_runs", "channel_peers", "channel_pairings"):
        names = {name for name in schema_tables()[table] if name not in plain and not name.endswith("_ns")}
        assert {(table, name) for name in names} == {pair for pair in looked if pair[0] == table}


@pytest.mark.parametrize("kind", KINDS)
def test_forgetting_while_their_ticks_begin_leaves_no_run(kind: str, tmp_path: Path) -> None:
    url, store = new(kind, tmp_path)
    with store:
        for number in range(3):
            store.add_schedule(replace(DAILY, id=f"s{number}", user="mira"))

        def tick(number: int) -> None:
            for at in range(40):
                store.begin_run(f"s{number}", at, at_ns=at)

        workers = [Thread(target=tick, args=(number,)) for number in range(3)]
        for worker in workers:
            worker.start()
        forget(store.db, "mira", by=OLGA, at_ns=9)
        for worker in workers:
            worker.join()
        assert databases.run(url, "SELECT count(*) FROM schedule_runs") == [(0,)]


# ── retention ─────────────────────────────────────────────────────────────────────────────────────────────────────


def ticked(store: SqlStore, *, ticks: int) -> None:
    """Two schedules; the first has so many runs, one a nanosecond."""
    for name in ("s1", "s2"):
        store.add_schedule(replace(DAILY, id=name))
        store.begin_run(name, 0, at_ns=0)
    for tick in range(1, ticks):
        store.begin_run("s1", tick, at_ns=tick)


@pytest.mark.parametrize("kind", KINDS)
def test_old_runs_go_with_old_turns_but_the_newest_of_each_schedule_stay(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert prune.RUNS_KEPT == 1_000
    monkeypatch.setattr(prune, "RUNS_KEPT", 5)
    _, store = new(kind, tmp_path)
    with store:
        ticked(store, ticks=12)
        assert prune.prune(store.db, inbox_before_ns=LATER, at_ns=99) == {}
        assert prune.prune(store.db, turns_before_ns=3, at_ns=99) == {"schedule_runs": 3}
        assert prune.prune(store.db, turns_before_ns=LATER, at_ns=99) == {"schedule_runs": 4}
        assert prune.prune(store.db, turns_before_ns=LATER, at_ns=99) == {}
        assert [run.tick_ns for run in store.runs("s1")] == [11, 10, 9, 8, 7]
        assert len(store.runs("s2")) == 1
        assert [(row.kind, row.place, row.detail) for row in store.log(ADA)] == [
            ("prune", "runs", "3 before 3"), ("prune", "runs", f"4 before {LATER}")
        ]  # fmt: skip
        assert store.begin_run("s1", 11, at_ns=99) is False
        assert audit(store.db).problems == ()


@pytest.mark.parametrize("kind", KINDS)
def test_a_token_a_tick_and_a_peer_are_after_a_restore_what_they_were(kind: str, tmp_path: Path) -> None:
    _, store = filled(kind, tmp_path / "from")
    _, copy = new(kind, tmp_path / "to")
    with store, copy:
        backup(store.db, tmp_path / "one", at_ns=7)
        restore(copy.db, tmp_path / "one")
        for made in (store, copy):
            assert made.begin_run("marzipan-1-ada", 72, at_ns=99) is False
        assert (copy.tokens(), copy.schedules(), copy.peers()) == (store.tokens(), store.schedules(), store.peers())
        assert copy.runs("celery-2-ada") == store.runs("celery-2-ada") != []
        assert copy.begin_run("s-agent", 73, at_ns=99) is True


def test_a_secret_is_not_kept_in_place_of_its_hash_and_not_said_again() -> None:
    with MemoryStore() as store:
        said = r"^hash: the SHA-256 of a secret in 64 hex digits, not the secret$"
        with pytest.raises(BadValue, match=said):
            store.add_token(Token("k1", "operator", "olga"), "ch_hunter2")
        with pytest.raises(BadValue, match=said):
            store.add_pairing("123456", agent=ADA, channel="web", user="bob", by=OLGA, at_ns=1, expires_at_ns=2)
