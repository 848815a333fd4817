"""Work beside a turn: a thread is used again when it is free, and nothing of one work is found by the next."""

from __future__ import annotations

import threading
from contextvars import ContextVar

from charter.beside import beside

WAIT = 10.0


def test_work_is_done_beside_the_caller_in_a_thread_of_that_name() -> None:
    where: list[threading.Thread] = []

    assert beside(lambda: where.append(threading.current_thread()), "tool tide").acquire(timeout=WAIT)

    assert where[0] is not threading.current_thread()
    assert where[0].daemon


def test_a_thread_that_is_done_is_used_again_and_one_that_hangs_is_not() -> None:
    hangs, goes_on = threading.Event(), threading.Event()
    threads: list[int] = []

    def hang() -> None:
        threads.append(threading.get_ident())
        hangs.set()
        goes_on.wait(WAIT)

    first = beside(hang, "tool slow")
    assert hangs.wait(WAIT)
    for _ in range(2):
        assert beside(lambda: threads.append(threading.get_ident()), "tool quick").acquire(timeout=WAIT)
    goes_on.set()

    assert first.acquire(timeout=WAIT)
    assert threads[0] != threads[1] == threads[2]


def test_what_one_work_has_set_in_its_context_the_next_does_not_find() -> None:
    word = ContextVar("word", default="nothing")
    found: list[str] = []

    def work() -> None:
        found.append(word.get())
        word.set("something")

    for _ in range(2):
        assert beside(work, "tool words").acquire(timeout=WAIT)

    assert found == ["nothing", "nothing"]
