"""Forgetting while others write, and what a disk remembers of who was forgotten (N-20)."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from random import Random
from threading import Thread

import pytest

from charter.core.errors import Busy, StoreUnavailable
from charter.core.records import Approval, ConversationEntry, InboxMessage, OutboxMessage, Provenance, Settled
from charter.stores import sqlite_path
from charter.stores.audit import audit
from charter.stores.people import forget
from charter.stores.sqlite import Sqlite
from charter.stores.store import SqlStore

from .databases import KINDS
from .filled import ADA, DAY, KEYS, LEASE, OLGA, files_of, fill_agent, filled, new, record, text_of

pytestmark = pytest.mark.requirement("N-20")


# ── while others go on ────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("lane", ["", "mira"])
def test_a_turn_that_has_their_message_in_hand_is_not_kept_and_other_messages_wait_again(
    kind: str, lane: str, tmp_path: Path
) -> None:
    url, store = new(kind, tmp_path)
    with store:
        for name in ("mira", "bob") if not lane else ("mira",):
            store.stage(ADA, InboxMessage(f"m-{name[0]}", name, f"hello from {name}"))
        store.take(ADA, "t1", lane=lane, at_ns=1, lease_ns=LEASE)
        forget(store.db, "mira", by=OLGA, at_ns=2)
        late = Settled(
            record(ADA, "t1", 3, sender="mira"), [OutboxMessage("mira", "hi")],
            [("mira", ConversationEntry("m-m", "hello", "hi", "t1", 3))],
        )  # fmt: skip
        with pytest.raises(Busy, match="has no lease any more"):
            store.settle(late)
        assert "mira" not in text_of(url)
        taken = store.take(ADA, "t2", lane=lane, at_ns=4, lease_ns=LEASE)
        assert [message.id for message in taken] == ([] if lane else ["m-b"])
        assert audit(store.db).problems == ()


@pytest.mark.parametrize("kind", KINDS)
def test_forgetting_while_they_write_leaves_a_clean_store_and_then_nothing(kind: str, tmp_path: Path) -> None:
    url, store = new(kind, tmp_path)
    with store:
        fill_agent(store)

        def write(number: int) -> None:
            for step in range(12):
                store.remember(ADA, "mira", f"marzipan {number} {step}", day=DAY, provenance=Provenance("mira"))
                store.remember(ADA, "", "heard", day=DAY, provenance=Provenance("mira", source="user:mira"))
                store.stage(ADA, InboxMessage(f"m{number}.{step}", "mira", "marzipan"))
                call = Approval(f"a{number}.{step}", ADA, "t", "mail", "marzipan", f"{step % 3}" * 64, 1, 99, "mira")
                store.request_approval(call)

        writers = [Thread(target=write, args=(number,)) for number in range(3)]
        for thread in writers:
            thread.start()
        while any(thread.is_alive() for thread in writers):
            forget(store.db, "mira", by=OLGA, at_ns=99)
        assert audit(store.db).problems == ()
        forget(store.db, "mira", by=OLGA, at_ns=100)
        assert (audit(store.db).problems, "mira" in text_of(url), "marzipan" in text_of(url)) == ((), False, False)


# ── what a disk remembers ─────────────────────────────────────────────────────────────────────────────────────────


def words(store: SqlStore, chance: Random) -> None:
    """Terms of several people, in no order: the pages that find notes split and move."""
    for _ in range(120):
        name = chance.choice(("marzipan", "bob", "zoe"))
        stem = "marzipan" if name == "marzipan" else "celery"
        said = " ".join(f"{stem}{chance.randrange(10**6)}" for _ in range(chance.randint(1, 40)))
        store.remember(ADA, name, said, day=DAY)


def senders(store: SqlStore, chance: Random) -> None:
    """Messages of several senders, their names of every length: the pages that find senders split and move."""
    for number in range(600):
        name = chance.choice(("marzipan", "bob" * chance.randint(1, 60), "zoe"))
        store.stage(ADA, InboxMessage(f"m{number}", name, "x"))


@pytest.mark.parametrize("write", [words, senders])
def test_no_copy_stays_in_pages_that_were_split_on_the_way(
    write: Callable[[SqlStore, Random], None], tmp_path: Path
) -> None:
    url, store = new("sqlite", tmp_path)
    with store:
        write(store, Random(3))  # a seed by which deleting alone leaves copies
        forget(store.db, "marzipan", by=OLGA, at_ns=99)
        assert b"marzipan" not in files_of(url)
        assert audit(store.db).problems == ()


def test_a_reader_that_keeps_the_old_pages_is_named_and_forgetting_again_finishes(tmp_path: Path) -> None:
    url, store = filled("sqlite", tmp_path)
    store.close()
    path = sqlite_path(url)
    assert path is not None
    impatient = SqlStore(Sqlite(path, KEYS, wait=0.0))
    with impatient, closing(sqlite3.connect(path, isolation_level=None)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM change_log").fetchall()
        with pytest.raises(StoreUnavailable, match="a reader holds the old pages"):
            forget(impatient.db, "mira", by=OLGA, at_ns=99)
        reader.execute("ROLLBACK")
        assert b"marzipan" in files_of(url)
        assert forget(impatient.db, "mira", by=OLGA, at_ns=99) == {}
        assert b"marzipan" not in files_of(url)
