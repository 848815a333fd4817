"""A bot that is killed, wherever it is, loses no message and no reply, and answers nothing twice but in one window."""

from __future__ import annotations

import signal
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from .room import ANA, Room, room, url
from .stub import Stub

pytestmark = pytest.mark.requirement("S4-10")
THREE = "\n\n".join(str(number) * 3000 for number in (1, 2, 3))
CHILD = Path(__file__).parent / "child.py"


@contextmanager
def started(stub: Stub, folder: Path, *replies: str) -> Iterator[subprocess.Popen[str]]:
    """A bot of another process, over the same database."""
    child = subprocess.Popen(
        [sys.executable, str(CHILD), url(folder), stub.url, *replies], stdout=subprocess.PIPE, text=True
    )
    with child:
        try:
            assert child.stdout is not None
            assert "answers as @charter_test_bot" in child.stdout.readline()
            yield child
        finally:
            child.kill()


def killed(stub: Stub, folder: Path, *replies: str, when: Callable[[], object]) -> None:
    """A bot that is killed -9 at this moment."""
    with started(stub, folder, *replies) as child:
        stub.says("hello")
        stub.wait(when)
        child.send_signal(signal.SIGKILL)
        assert child.wait() == -signal.SIGKILL


@pytest.fixture
def folder(stub: Stub, tmp_path: Path) -> Path:
    """A database in which ana is paired."""
    with room(stub, tmp_path, []) as here:
        here.paired()
    return tmp_path


def digits(stub: Stub) -> str:
    return "".join(text[0] for text in stub.texts())


def marked(folder: Path) -> int:
    """How many parts are marked as sent."""
    with closing(sqlite3.connect(folder / "charter.db")) as connection:
        return int(connection.execute("SELECT count(*) FROM outbox_messages WHERE sent_at_ns > 0").fetchone()[0])


def lives_on(here: Room, ready: Callable[[], object]) -> None:
    """The next process; it comes when the lease of the one that died is over."""
    here.later_ns = 60 * 10**9
    here.until(ready)
    assert here.store.waiting("assistant") == 0
    assert here.store.unsent("assistant") == []


def test_killed_while_the_model_thinks_the_message_is_answered_once_by_the_next_process(
    stub: Stub, folder: Path
) -> None:
    killed(stub, folder, "hang", when=lambda: stub.typing and stub.offsets[-1])
    assert stub.updates == []  # Telegram was told, because it was kept
    with room(stub, folder, ["here I am"]) as here:
        lives_on(here, lambda: stub.sent)
    assert stub.texts() == ["here I am"]


def test_killed_before_telegram_was_told_a_message_comes_again_and_is_answered_once(stub: Stub, folder: Path) -> None:
    stub.faults["getUpdates"] = [None, "hold"]
    killed(stub, folder, "answer", when=lambda: marked(folder) and stub.calls.count("getUpdates") == 2)
    assert len(stub.updates) == 1
    with room(stub, folder, []) as here:
        lives_on(here, lambda: not stub.updates)
    assert stub.texts() == ["answer"]


def test_killed_while_it_waits_until_it_may_send_every_part_arrives_once(stub: Stub, folder: Path) -> None:
    stub.faults["sendMessage"] = [("wait", 3600)]
    killed(stub, folder, THREE, when=lambda: "sendMessage" in stub.calls)
    assert stub.sent == []
    with room(stub, folder, []) as here:
        lives_on(here, lambda: len(stub.sent) == 3)
    assert digits(stub) == "123"


def test_killed_between_two_parts_the_others_follow_and_none_comes_twice(stub: Stub, folder: Path) -> None:
    stub.faults["sendMessage"] = [None, None, "hold"]
    killed(stub, folder, THREE, when=lambda: stub.calls.count("sendMessage") == 3)
    assert digits(stub) == "12"
    with room(stub, folder, []) as here:
        lives_on(here, lambda: len(stub.sent) == 3)
    assert digits(stub) == "123"


def test_killed_after_telegram_accepted_a_part_and_before_that_was_written_down_this_one_part_comes_twice(
    stub: Stub, folder: Path
) -> None:
    dead = threading.Event()
    stub.accepted = lambda text: None if text[0] != "2" or dead.is_set() else (dead.wait(30), None)[1]
    killed(stub, folder, THREE, when=lambda: digits(stub) == "12")
    dead.set()
    with room(stub, folder, []) as here:
        lives_on(here, lambda: len(stub.sent) == 4)
    assert digits(stub) == "1223"


def test_a_bot_that_is_told_to_stop_stops_in_order_and_the_next_one_goes_on(stub: Stub, folder: Path) -> None:
    with started(stub, folder, "one") as child:
        stub.says("hello")
        stub.wait(lambda: stub.sent)
        child.send_signal(signal.SIGINT)
        assert child.wait(30) == 0
    stub.says("while you were away")
    with room(stub, folder, ["two"]) as here:
        lives_on(here, lambda: len(stub.sent) == 2)
    assert stub.sent == [(ANA, "one"), (ANA, "two")]
