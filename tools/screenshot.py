"""Draws docs/img: the chat and the operator's view of an agent, in a real browser, with a model that says its lines.

python tools/screenshot.py [--look FOLDER]     with a folder: every page, also dark and on a phone, to look at
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, Final

from playwright.sync_api import Browser, Page, sync_playwright

ROOT: Final = Path(__file__).parent.parent
IMAGES: Final = ROOT / "docs" / "img"
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tools")]

import browser as chromium  # noqa: E402

from charter.amend import Edit, amend  # noqa: E402
from charter.core.incoming import Incoming  # noqa: E402
from charter.core.policy import Actor  # noqa: E402
from charter.core.records import Author  # noqa: E402
from charter.folder import BUILT_IN  # noqa: E402
from charter.testing import ScriptedProvider  # noqa: E402
from charter.web.server import warm  # noqa: E402
from pages.place import Place, call, said, serving  # noqa: E402

WIDE: Final = {"width": 1280, "height": 800}
PHONE: Final = {"width": 390, "height": 844}
NOW_NS: Final = 1_795_000_000 * 10**9
FACT: Final = "Ana takes the 7:40 train to Porto every Tuesday and is back by six."
ASKS: Final = (
    "I take the 7:40 to Porto every Tuesday and I'm back by six. Please remember that.",
    "Dinner with Rui on Tuesday, or on Wednesday?",
)
PLAN: Final = """**Wednesday.** On Tuesdays you are on the train home until six, so a dinner would start late.

- Book for 19:30; there is nothing else in your notes for that evening.
- If it has to be Tuesday, ask Rui for 20:00, near the station.

Shall I draft a message to Rui?"""
LINES: Final = (
    said("Good morning. Nothing in your notes is due today.\n"),
    said("", call("save_memory", f'{{"text": "{FACT}"}}')),
    said("Noted: Tuesdays, the 7:40 to Porto, back by six. I will have it in mind when you plan a week."),
    said("", call("read_memory", '{"query": "Tuesday evening"}')),
    said(PLAN),
)
OPERATOR: Final = Author(Actor.OPERATOR, "mo")


def main(folder: Path | None) -> None:
    warm()
    names: tuple[str, ...] = ("assistant", *(name for name in BUILT_IN if name != "assistant"))
    with (
        serving(provider=ScriptedProvider(LINES, model="stub-70b"), names=names) as place,
        sync_playwright() as playwright,
    ):
        lived_in(place)
        browser = playwright.chromium.launch(executable_path=str(chromium.find()), args=list(chromium.FLAGS))
        ana = entered(browser, place, place.token("ana"))
        for words in ASKS:
            say(ana, words)
        operator = entered(browser, place, place.token("mo", "operator"))
        operator.goto(f"{place.address}/agents/assistant")
        operator.locator("#layer-soul summary").click()
        operator.mouse.move(0, 0)
        if folder is None:
            draw(ana, IMAGES / "chat.png")
            draw(operator, IMAGES / "agents.png")
        else:
            look(browser, place, folder, ana)
        browser.close()


def lived_in(place: Place) -> None:
    """Someone else spoke before, and an operator wrote a layer."""
    place.house.ask("assistant", Incoming(channel="telegram", sender="telegram:4711", user="rui", text="Good morning"))
    agent = place.house.agent("assistant")
    soul = "Calm, exact and kind. Say what you know, say what you do not know, and keep it short."
    amend(place.store, agent.charter, Edit("soul", soul, expected_version=0), by=OPERATOR, at_ns=NOW_NS)


def entered(browser: Browser, place: Place, token: str, **more: Any) -> Page:
    page = browser.new_context(**{"viewport": WIDE, "color_scheme": "light", **more}).new_page()
    page.goto(f"{place.address}/enter#{token}")
    page.wait_for_url(lambda url: "/enter" not in url)
    return page


def say(page: Page, words: str) -> None:
    """A message, and the whole of its answer."""
    before = page.locator(".theirs").count()
    page.get_by_label("Your message").fill(words)
    page.keyboard.press("Enter")
    page.locator("#send").wait_for(state="visible")
    page.locator(".theirs").nth(before).wait_for()
    page.locator("#log[aria-busy=false]").wait_for()


def draw(page: Page, path: Path, *, whole: bool = False) -> None:
    page.wait_for_load_state("networkidle")
    path.parent.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=path, full_page=whole, animations="disabled", caret="hide")
    print(path.relative_to(ROOT) if path.is_relative_to(ROOT) else path, f"{path.stat().st_size:,} bytes")


def look(browser: Browser, place: Place, folder: Path, ana: Page) -> None:
    """Every page in both schemes and on both screens."""
    draw(ana, folder / "chat-live.png")
    operator, person = place.token("mo", "operator"), place.token("ana")
    for name, size in (("wide", WIDE), ("phone", PHONE)):
        for scheme in ("light", "dark"):
            for who, token, paths in (
                ("ana", person, ("/chat/assistant", "/chat/contract")),
                ("mo", operator, ("/agents", "/agents/assistant", "/waiting",
                                  "/agents/assistant/conversations?with=ana")),
            ):  # fmt: skip
                page = entered(browser, place, token, viewport=size, color_scheme=scheme)
                for path in paths:
                    page.goto(place.address + path)
                    short = path.strip("/").replace("/", "-").partition("?")[0]
                    draw(page, folder / f"{name}-{scheme}-{who}-{short}.png")
            page = browser.new_context(viewport=size, color_scheme=scheme).new_page()  # type: ignore[arg-type]
            page.goto(f"{place.address}/enter")
            draw(page, folder / f"{name}-{scheme}-enter.png")


if __name__ == "__main__":
    main(Path(sys.argv[2]) if sys.argv[1:2] == ["--look"] else None)
