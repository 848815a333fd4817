"""A page waits for a store or a model in a thread, and for a model in none that others need."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import anyio.to_thread
import pytest

from .rooms import ORIGIN, house, person, served

pytestmark = pytest.mark.requirement("S4-10")
FORM = {"content-type": "application/x-www-form-urlencoded", **ORIGIN}


@pytest.mark.parametrize(("path", "form"), [("/chat/assistant", b"text=+"), ("/enter", b"token=chk_x")])
def test_a_form_asks_the_store_beside_the_loop(path: str, form: bytes) -> None:
    """A store that is slow or away must not hold up every stream of the process."""
    app = served(house())
    mira = person(app, "user", "mira")
    asked: list[threading.Thread] = []
    known = app.state.who

    def who(request: Any) -> Any:
        asked.append(threading.current_thread())
        return known(request)

    app.state.who = who
    assert mira("POST", path, form, headers=FORM).status_code in (200, 401)
    assert asked
    assert threading.main_thread() not in asked


def test_forms_that_wait_for_a_model_keep_nobody_from_coming_in() -> None:
    begun, go = threading.Event(), threading.Event()

    def slow(_: Any) -> Any:
        begun.set()
        go.wait(30)
        return "At last."

    app = served(house(slow))
    mira, otto = person(app, "user", "mira"), person(app, "user", "otto")

    async def both() -> tuple[int, int]:
        anyio.to_thread.current_default_thread_limiter().total_tokens = 1
        form = asyncio.create_task(mira.asking("POST", "/chat/assistant", b"text=Hello", headers=FORM))
        while not begun.is_set():
            await asyncio.sleep(0.01)
        try:
            other = await asyncio.wait_for(otto.asking("GET", "/api/me"), 5)
        finally:
            go.set()
        return other.status_code, (await form).status_code

    assert asyncio.run(both()) == (200, 200)
