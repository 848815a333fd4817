"""Notices between workers on PostgreSQL: what changed is told by its agent's name, an ordinary turn tells nothing."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Event, Thread
from typing import Any

import psycopg
import pytest

from charter.core.errors import BadValue, Busy, Conflict, MissingExtra
from charter.core.records import Change, Decision, InboxMessage, Note, OutboxMessage, Settled
from charter.stores import notices
from charter.stores.notices import CHANNEL, listen
from charter.stores.store import SqlStore

from . import databases
from .filled import ADA, DAY, LATER, LEASE, OLGA, RULES, ask_for_calls, new, put, record, user, wishes

pytestmark = pytest.mark.requirement("N-17")
END = "the end"
LISTENERS = f"FROM pg_stat_activity WHERE datname = current_database() AND query = 'LISTEN {CHANNEL}'"


@pytest.fixture
def place(tmp_path: Path) -> Iterator[tuple[str, SqlStore]]:
    url, store = new("postgres", tmp_path)
    with store:
        yield url, store


def told(url: str, store: SqlStore, act: Callable[[], object]) -> list[str]:
    """The names that are told when something is done; the last notice is of an agent of our own."""
    with listen(url) as names:
        assert next(names) == ""
        act()
        store.pause(END, by=OLGA, at_ns=1)
        return list(iter(lambda: next(names), END))


def take(store: SqlStore, name: str, *, message: str = "", at_ns: int = 1) -> object:
    sent = InboxMessage(message, "mira", "marzipan") if message else None
    return store.take(ADA, name, lane="mira", message=sent, at_ns=at_ns, lease_ns=LEASE)


def proposal(store: SqlStore) -> Decision:
    made = store.propose(RULES, "marzipan", base_version=0, by=OLGA, reason="", at_ns=1, expires_at_ns=LATER)
    return Decision(made.id, made.sha256, OLGA, 2)


def busy(store: SqlStore) -> None:
    take(store, "t1", message="m1")
    with pytest.raises(Busy):
        take(store, "t2", message="m2")


def turn_that_amends(store: SqlStore) -> None:
    take(store, "t1")
    store.settle(Settled(record(ADA, "t1", 2), changes=[Change(RULES, "marzipan", 0, OLGA, 2)]))


def ordinary_turns(store: SqlStore) -> None:
    for name in ("t1", "t2"):
        take(store, name, message=f"m-{name}")
        store.renew(ADA, name, until_ns=9)
        reply = OutboxMessage("mira", "marzipan")
        if name == "t1":
            store.settle(Settled(record(ADA, name, 2), [reply], notes=[Note("mira", "marzipan", DAY)]))
            store.mark_sent(ADA, name, reply, 3)
        else:
            store.fail(record(ADA, name, 2, outcome="failed", code="X"))
    take(store, "t3")


def nothing_new(store: SqlStore) -> None:
    with pytest.raises(Conflict):
        store.commit(Change(RULES, "marzipan", 7, OLGA, 2))
    store.remember(ADA, "mira", "marzipan", day=DAY)
    store.set_timezone("mira", "UTC")


TOLD: dict[str, Callable[[SqlStore], object]] = {
    "a message that waits": lambda store: store.stage(ADA, InboxMessage("m1", "mira", "marzipan")),
    "a message for a lane that another turn has": busy,
    "a layer": lambda store: put(store, RULES, "marzipan"),
    "instructions": lambda store: put(store, wishes("mira"), "marzipan", user("mira")),
    "a proposal that is applied": lambda store: store.apply(proposal(store)),
    "a turn that amends": turn_that_amends,
    "a pause": lambda store: store.pause(ADA, by=OLGA, at_ns=1, reason="marzipan"),
    "a resumption": lambda store: store.resume(ADA, by=OLGA, at_ns=1),
}


@pytest.mark.parametrize("what", TOLD)
def test_what_others_may_wait_for_is_told_by_the_name_of_its_agent(place: tuple[str, SqlStore], what: str) -> None:
    assert told(*place, lambda: TOLD[what](place[1])) == [ADA]


@pytest.mark.requirement("S1-08")
def test_a_decision_about_a_call_is_told(place: tuple[str, SqlStore]) -> None:
    assert told(*place, lambda: ask_for_calls(place[1], "mira", "marzipan")) == [ADA] * 3


@pytest.mark.parametrize("act", [ordinary_turns, nothing_new])
def test_an_ordinary_turn_and_what_is_not_kept_tell_nothing(
    place: tuple[str, SqlStore], act: Callable[[SqlStore], None]
) -> None:
    assert told(*place, lambda: act(place[1])) == []


def test_a_message_that_is_there_already_is_told_once(place: tuple[str, SqlStore]) -> None:
    def stage() -> None:
        for _ in range(3):
            place[1].stage(ADA, InboxMessage("m1", "mira", "marzipan"))

    assert told(*place, stage) == [ADA]


def test_a_notice_has_no_word_of_anyone_in_it(place: tuple[str, SqlStore]) -> None:
    url, store = place
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f"LISTEN {CHANNEL}")
        ask_for_calls(store, "mira", "marzipan")
        for what in ("a message that waits", "a layer", "instructions", "a pause"):
            TOLD[what](store)
        assert [notice.payload for notice in connection.notifies(timeout=20, stop_after=7)] == [ADA] * 7


# ── listening ─────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_connection_that_was_lost_is_made_anew_and_says_that_something_may_have_been_missed(
    place: tuple[str, SqlStore],
) -> None:
    url, store = place
    with listen(url) as names:
        assert next(names) == ""
        for _ in range(2):
            assert databases.run(url, f"SELECT pg_terminate_backend(pid) {LISTENERS}") == [(True,)]
            store.pause("unheard", by=OLGA, at_ns=1)
            heard = [next(names)]
            store.pause(ADA, by=OLGA, at_ns=1)
            heard += iter(lambda: next(names), ADA)
            assert heard[0] == ""


def in_a_thread(names: notices.Notices) -> tuple[Thread, list[str], Event]:
    """Somebody who listens until there is no more to hear."""
    heard: list[str] = []
    begun = Event()

    def hear() -> None:
        for name in names:
            heard.append(name)
            begun.set()

    thread = Thread(target=hear)
    thread.start()
    return thread, heard, begun


def test_who_waits_for_a_notice_is_let_go_when_another_thread_closes(place: tuple[str, SqlStore]) -> None:
    names = listen(place[0])
    thread, heard, begun = in_a_thread(names)
    assert begun.wait(20)
    names.close()
    thread.join(20)
    assert (thread.is_alive(), heard) == (False, [""])
    names.close()
    assert (list(names), repr(names)) == ([], "Notices()")


def test_a_listener_that_nobody_reads_to_its_end_is_closed_with_its_connection(
    place: tuple[str, SqlStore], monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[psycopg.Connection[Any]] = []
    connect = psycopg.connect

    def remembered(*given: Any, **more: Any) -> Any:
        made.append(connect(*given, **more))
        return made[-1]

    monkeypatch.setattr(psycopg, "connect", remembered)
    with listen(place[0]) as names:
        assert next(names) == ""
        assert [connection.closed for connection in made] == [False]
    assert [connection.closed for connection in made] == [True]
    assert (list(names), names._woken.fileno()) == ([], -1)


def test_who_waits_for_a_server_that_is_gone_is_let_go_too() -> None:
    with listen("postgresql://tim:hunter2@127.0.0.1:1/none") as names:
        thread, heard, _ = in_a_thread(names)
        names.close()
        thread.join(20)
        assert (thread.is_alive(), heard) == (False, [])


def test_a_pause_between_attempts_grows_and_ends_when_there_is_a_connection(
    place: tuple[str, SqlStore], monkeypatch: pytest.MonkeyPatch
) -> None:
    pauses: list[float | None] = []
    connect, fails = psycopg.connect, iter([True] * 9)

    def sometimes(*given: Any, **more: Any) -> Any:
        if next(fails, False):
            raise psycopg.OperationalError("gone")
        return connect(*given, **more)

    monkeypatch.setattr(psycopg, "connect", sometimes)
    with listen(place[0]) as names:
        monkeypatch.setattr(names, "_wait", lambda seconds, *_: pauses.append(seconds))
        assert next(names) == ""
    assert pauses == [0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 10.0, 10.0]


def test_on_sqlite_there_is_nothing_to_hear() -> None:
    for url in ("sqlite://", "sqlite:///charter.db"):
        with listen(url) as names:
            assert list(names) == []


def test_one_that_was_closed_before_it_began_hears_nothing_and_leaves_nothing_open() -> None:
    with listen("postgresql://127.0.0.1:1/none") as names:
        pass
    assert list(names) == []
    assert names._woken.fileno() == names._waker.fileno() == -1


def test_an_address_that_is_none_is_refused_without_showing_it() -> None:
    with listen("postgresql://u:p%zz@h/db") as names, pytest.raises(BadValue) as raised:
        next(names)
    assert "p%zz" not in str(raised.value)
    assert raised.value.__suppress_context__


def test_without_the_driver_the_command_to_get_it_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with listen("postgresql://h/db") as names, pytest.raises(MissingExtra, match=r"charter\[postgres\]"):
        next(names)
