"""A real Chromium for the tests of pages, and an eye on everything that should not happen in it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Dialog, Page, Request, sync_playwright

from charter.web.server import warm

sys.path.insert(0, str(Path(__file__).parents[2] / "tools"))

import browser as chromium

PATIENCE_MS = 10_000
WATCH = """
window.broken = [];
document.addEventListener("securitypolicyviolation", (event) => window.broken.push(event.violatedDirective));
"""
Visit = Callable[..., Page]


@pytest.fixture(scope="session")
def browser_type_launch_args() -> dict[str, Any]:
    return {"executable_path": str(chromium.find()), "args": list(chromium.FLAGS)}


@pytest.fixture(scope="package")
def browser(browser_type_launch_args: dict[str, Any]) -> Iterator[Browser]:
    """One browser for these tests, gone before others run: while it lives, a loop runs in this thread."""
    with sync_playwright() as playwright:
        made = playwright.chromium.launch(**browser_type_launch_args)
        yield made
        made.close()


@pytest.fixture(scope="session", autouse=True)
def _warm() -> None:
    """The guards' tables are read once, not while a browser waits."""
    warm()


class Watched:
    """What happened in a browser that should not: words on the console, dialogs, requests to somewhere else."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.wrong: list[str] = []
        self.expected: set[str] = set()

    def look(self, page: Page) -> None:
        page.on("console", self._said)
        page.on("pageerror", lambda error: self.wrong.append(str(error)))
        page.on("dialog", self._asked)
        page.on("request", self._sent)

    def _said(self, line: ConsoleMessage) -> None:
        if line.type in ("error", "warning"):
            self.wrong.append(line.text)

    def _asked(self, dialog: Dialog) -> None:
        self.wrong.append("dialog")
        dialog.dismiss()

    def _sent(self, request: Request) -> None:
        if not request.url.startswith(f"{self.address}/") or "pwned" in request.url:
            self.wrong.append(request.url)

    def judged(self, context: BrowserContext) -> list[str]:
        found = [
            page.evaluate("[...(window.broken || []), ...('pwned' in window ? ['a script ran'] : [])]")
            for page in context.pages
        ]
        broken = [one for row in found for one in row]
        return [line for line in [*self.wrong, *broken] if not any(part in line for part in self.expected)]


@pytest.fixture
def visit(browser: Browser) -> Iterator[Visit]:
    """Someone comes in with a token, by the link, in a browser of their own; at the end nothing must have gone wrong.

    `but` are parts of console lines that this test brings about on purpose.
    """
    visits: list[tuple[BrowserContext, Watched]] = []

    def come(place: Any, token: str = "", *, but: tuple[str, ...] = (), **context: Any) -> Page:
        made = browser.new_context(**context)
        made.set_default_timeout(PATIENCE_MS)
        made.add_init_script(WATCH)
        watched = Watched(place.address)
        watched.expected = set(but)
        made.on("page", watched.look)
        visits.append((made, watched))
        page = made.new_page()
        page.goto(f"{place.address}/enter#{token}" if token else f"{place.address}/enter")
        if token:
            page.wait_for_url(lambda url: "/enter" not in url)
        return page

    yield come
    wrong = [line for context, watched in visits for line in watched.judged(context)]
    for context, _ in visits:
        context.close()
    assert wrong == []
