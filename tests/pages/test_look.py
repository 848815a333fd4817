"""The pages can be read and used by anyone: contrast, labels, focus, small screens, and no script or style inline."""

from __future__ import annotations

import re
from hashlib import sha256
from html.parser import HTMLParser
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

import charter.web
from charter.core.incoming import Incoming

from .conftest import Visit
from .place import Place, call, said, sending, serving

WEB = Path(charter.web.__file__).parent
CSS = (WEB / "static" / "page.css").read_text()
TEMPLATES = sorted((WEB / "templates").glob("*.html"))
HTMX = "e484d9171a9db30a39c8f16e3d709d4137f3211c659f8e6125816635033d593f"  # htmx.org 4.0.0, dist/htmx.min.js

pytestmark = pytest.mark.requirement("S4-10", "S0-17")

# ── colours ───────────────────────────────────────────────────────────────────────────────────────────────────────

GROUNDS = ("paper", "raised", "sunken")
WORDS = [(ink, ground) for ink in ("ink", "soft", "accent", "bad", "ask", "warn") for ground in GROUNDS] + [
    ("on-accent", "accent"), ("ink", "accent-wash"), ("accent", "accent-wash"), ("soft", "accent-wash"),
    ("ink", "warn-wash"), ("warn", "warn-wash"), ("ink", "bad-wash"), ("bad", "bad-wash"), ("ask", "ask-wash"),
]  # fmt: skip


def scheme(name: str) -> dict[str, str]:
    """The colours of one scheme, by their names."""
    light, dark = CSS.split("@media (prefers-color-scheme: dark)", 1)
    rows = light if name == "light" else dark.split("/* ── ground", 1)[0]
    return dict(re.findall(r"--([a-z-]+): (#[0-9a-f]{6});", rows))


def brightness(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    low, high = sorted((brightness(one), brightness(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("name", ["light", "dark"])
def test_every_word_has_enough_contrast_in_both_schemes(name: str) -> None:
    colours = scheme(name)
    poor = [(ink, on) for ink, on in WORDS if contrast(colours[ink], colours[on]) < 4.5]
    assert poor == []
    edges = [(line, on) for line in ("edge", "accent") for on in GROUNDS if contrast(colours[line], colours[on]) < 3]
    assert edges == []


def test_a_colour_is_named_once_for_each_scheme_and_used_by_its_name() -> None:
    assert set(scheme("dark")) == set(scheme("light"))
    below = CSS.split("/* ── ground", 1)[1]
    assert re.findall(r"#[0-9a-fA-F]{3,8}\b|rgba?\(|hsla?\(", below) == []


# ── in a browser ──────────────────────────────────────────────────────────────────────────────────────────────────

PLACES = ("/chat/assistant", "/agents", "/agents/assistant", "/agents/assistant/conversations?with=ana", "/waiting")
NAMELESS = """() => [...document.querySelectorAll("a, button, input:not([type=hidden]), textarea, summary")]
  .filter((one) => !(one.labels?.length || one.getAttribute("aria-label") || one.textContent.trim()))
  .map((one) => one.outerHTML)"""
SMALL = """() => [...document.querySelectorAll("button, .top a, .agents a, textarea, summary")]
  .filter((one) => one.checkVisibility() && one.getBoundingClientRect().height < 40).map((one) => one.outerHTML)"""


def lived_in(place: Place) -> None:
    place.house.ask("assistant", Incoming(channel="web", sender="ana", user="ana", text="When? " + "tide" * 60))
    place.house.ask("assistant", Incoming(channel="web", sender="ana", user="ana", text="Write."))


SCRIPT = (
    said("| a | b |\n|---|---|\n| " + "long " * 60 + "| y |\n\n```\n" + "wide " * 80 + "\n```"),
    said("", call("send_mail", '{"to": "' + "x" * 300 + '"}')), said("It waits."),
)  # fmt: skip


@pytest.mark.parametrize("width", [320, 390, 1280])
def test_no_page_scrolls_sideways_and_everything_is_big_enough_to_touch(visit: Visit, width: int) -> None:
    with serving(*SCRIPT, tools=sending([])) as place:
        lived_in(place)
        page = visit(place, place.token("ana", "operator"), viewport={"width": width, "height": 800})
        for path in PLACES:
            page.goto(f"{place.address}{path}")
            for folded in page.locator("main summary").all():
                folded.click()
            assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), path
            assert page.evaluate(SMALL) == [], path


def test_every_page_has_a_title_one_heading_and_a_name_for_everything_one_can_use(visit: Visit) -> None:
    with serving(*SCRIPT, tools=sending([])) as place:
        lived_in(place)
        page = visit(place, place.token("ana", "operator"))
        for path in (*PLACES, "/enter"):
            page.goto(f"{place.address}{path}")
            assert page.title() not in ("", "Charter")
            assert page.locator("html").get_attribute("lang") == "en"
            expect(page.get_by_role("heading", level=1)).to_have_count(1)
            expect(page.get_by_role("main")).to_have_count(1)
            assert page.evaluate(NAMELESS) == [], path
            assert page.locator("img:not([alt])").count() == 0


def test_a_keyboard_reaches_everything_and_shows_where_it_is(visit: Visit) -> None:
    with serving() as place:
        page = visit(place, place.token("mo", "operator"))
        page.goto(f"{place.address}/agents/assistant")
        page.keyboard.press("Tab")
        skip = page.get_by_role("link", name="Skip to the content")
        expect(skip).to_be_focused()
        expect(skip).to_be_in_viewport()
        page.keyboard.press("Enter")
        expect(page.locator("#main")).to_be_focused()
        reached = [focused(page) for _ in range(4)]
        assert reached == ["Agents", "Pause", "1 Identity", "2 Soul"]


def focused(page: Page) -> str:
    """The name of what the next Tab reaches; its outline can be seen."""
    page.keyboard.press("Tab")
    style, width = page.evaluate(
        "() => { const s = getComputedStyle(document.activeElement); return [s.outlineStyle, s.outlineWidth]; }"
    )
    assert style == "solid"
    assert float(width.removesuffix("px")) >= 2
    words = str(page.evaluate("document.activeElement.innerText")).split()
    return " ".join(words[:2]) if words[0].isdigit() else words[0]


@pytest.mark.parametrize("colours", ["light", "dark"])
def test_the_scheme_is_the_readers(visit: Visit, colours: str) -> None:
    with serving() as place:
        page = visit(place, color_scheme=colours)
        paper = page.evaluate("getComputedStyle(document.body).backgroundColor")
        named = scheme(colours)["paper"]
        assert paper == f"rgb({int(named[1:3], 16)}, {int(named[3:5], 16)}, {int(named[5:7], 16)})"


# ── what pages are made of ────────────────────────────────────────────────────────────────────────────────────────


class Inline(HTMLParser):
    """Finds what a strict policy would refuse, and what would load something from elsewhere."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag == "style" or (tag == "script" and "src" not in given):
            self.found.append(tag)
        self.found += [name for name in given if name.startswith(("on", "hx-on")) or name == "style"]
        self.found += [str(value) for value in given.values() if re.match(r"(https?:)?//", str(value))]


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.name)
def test_a_template_escapes_everything_and_has_nothing_inline(path: Path) -> None:
    text = path.read_text()
    assert re.findall(r"\|\s*safe\b|autoescape|Markup", text) == []
    inline = Inline()
    inline.feed(text)
    assert inline.found == []


def test_take_the_care_away_and_the_look_at_templates_notices() -> None:
    inline = Inline()
    inline.feed('<p style="x" onclick="y"><script>z</script><img src="https://e.example/x">')
    assert inline.found == ["style", "onclick", "script", "https://e.example/x"]


def test_the_script_of_others_is_the_one_that_was_published_and_its_licence_is_beside_it() -> None:
    assert sha256((WEB / "static" / "htmx.min.js").read_bytes()).hexdigest() == HTMX
    assert "Zero-Clause BSD" in (WEB / "static" / "htmx.LICENSE").read_text()


def test_our_own_scripts_make_no_code_of_text() -> None:
    own = [path for path in (WEB / "static").glob("*.js") if path.name != "htmx.min.js"]
    assert [path.name for path in own if re.search(r"eval|new Function|document\.write", path.read_text())] == []
    assert sum(path.read_text().count(".innerHTML") for path in own) == 1  # what the server drew, into a template
    assert sum(len(path.read_text().splitlines()) for path in own) < 300


def test_a_file_is_kept_for_ever_under_its_hash_and_asked_for_again_without() -> None:
    with serving() as place:
        answer = place.ask("GET", "/static/page.css")
        assert (answer.status, answer.headers["cache-control"]) == (200, "no-cache")
        digest = answer.headers["etag"].strip('"')
        named = place.ask("GET", f"/static/page.css?{digest}")
        assert "immutable" in named.headers["cache-control"]
        assert place.ask("GET", "/static/..%2fserver.py").status == 404
        page = place.ask("GET", "/chat/assistant", headers={"cookie": place.cookie("ana")})
        assert page.headers["cache-control"] == "no-store"
