"""Whatever anyone writes, wherever it is shown, is text: nothing runs, nothing is loaded, nothing breaks out."""

from __future__ import annotations

import time

import pytest
from playwright.sync_api import Page, expect

from charter.core.incoming import Incoming
from charter.core.policy import Actor
from charter.core.records import Author, ConversationEntry
from charter.stores.memory import MemoryStore
from charter.web.outside import CONTENT_POLICY

from .conftest import Visit
from .place import Place, call, said, sending, serving
from .test_chat import say

pytestmark = pytest.mark.requirement("S0-17", "S4-10")
BODIES = (
    "<script>window.pwned = 1</script>",
    "<img src=x onerror='window.pwned = 1'><svg onload=window.pwned=1>",
    "[a prize](javascript:window.pwned=1) [b](data:text/html,<script>window.pwned=1</script>)",
    "![pixel](https://evil.example/pwned.png) <https://evil.example/pwned>",
    "</textarea></pre></details></main><iframe src='https://evil.example/pwned'></iframe>",
    "<a hx-get='/static/icon.svg?pwned' hx-trigger='load' hx-on:load='window.pwned=1'>x</a>",
    "\"><b onmouseover=window.pwned=1 autofocus onfocus=window.pwned=1 tabindex=0>",
    "{{ 7 * 7 }}{% include '/etc/passwd' %}{{ cycler.__init__.__globals__ }}",
    "\x1b]0;title\x07\x1b[31mred \u202egnp.exe\u202c zero\u200bwidth \U000e0041",
    "<style>*{display:none}</style><link rel=stylesheet href=https://evil.example/pwned.css>",
    "<meta http-equiv=refresh content='0;url=/pwned'><base href=https://evil.example/pwned>",
)  # fmt: skip
ALL = "\n\n".join(BODIES)
FORBIDDEN = (
    "script:not([src^='/static/']), iframe, svg, style, object, embed, [onerror], [onload], [onfocus], [hx-on\\:load]"
)


def nothing_broke_out(page: Page) -> None:
    inside = page.locator("#main")
    assert inside.locator(FORBIDDEN).count() == 0
    assert inside.locator("img:not([src^='/static/'])").count() == 0
    assert page.locator("a[href^='javascript'], a[href^='data']").count() == 0
    assert page.locator("main").count() == 1
    assert "\u202e" not in page.content()
    assert "\x1b" not in page.content()


def test_a_chat_full_of_them_is_text_while_it_streams_and_when_it_is_drawn(visit: Visit) -> None:
    with serving(said(ALL)) as place:
        page = visit(place, place.token("<script>window.pwned=1</script>"))
        say(page, ALL)
        expect(page.locator(".theirs div.words")).to_contain_text("{{ 7 * 7 }}")
        nothing_broke_out_of_text(page)
        page.reload()
        expect(page.locator(".mine")).to_contain_text("</textarea></pre></details></main>")
        expect(page.locator(".mine")).to_contain_text("⟨U+202E⟩gnp.exe")
        expect(page.locator(".theirs")).to_contain_text("[picture: pixel]")
        link = page.locator(".theirs a")
        assert link.get_attribute("rel") == "noopener noreferrer nofollow"
        nothing_broke_out(page)


def nothing_broke_out_of_text(page: Page) -> None:
    """The page as a script made it: the person's own words are as they typed them, in a text node."""
    assert page.locator(".mine").locator(FORBIDDEN).count() == 0
    assert page.locator(".mine .as-written").evaluate("node => node.childElementCount") == 0


def planted(place: Place) -> None:
    """Every text an operator sees is hostile."""
    store, at = place.store, time.time_ns()
    assert isinstance(store, MemoryStore)
    store.put_layer("sovereign", "inbox", ALL, by=BODIES[0], at_ns=at)
    _, where = place.house.agents["sovereign"].charter.stored("memory", agent="sovereign")
    store.propose(
        where, ALL, base_version=1, by=Author(Actor.AGENT, turn=BODIES[1]), reason=ALL, at_ns=at,
        expires_at_ns=at + 10**13,
    )  # fmt: skip
    store.append_conversation("sovereign", BODIES[1], ConversationEntry("m1", ALL[:500], BODIES[2], BODIES[0], at))
    store.append_conversation("sovereign", BODIES[6], ConversationEntry("m2", ALL[-500:], BODIES[3], BODIES[5], at))
    store.pause("sovereign", by=Author(Actor.OPERATOR, BODIES[0]), at_ns=at, reason=ALL)


def test_an_operators_view_full_of_them_is_text(visit: Visit) -> None:
    with serving(names=("sovereign",)) as place:
        planted(place)
        page = visit(place, place.token(BODIES[1], "operator"), but=("conversations?with=",))
        for path in ("/agents", "/waiting", "/agents/sovereign"):
            page.goto(f"{place.address}{path}")
            nothing_broke_out(page)
        page.locator("#layer-inbox summary").click()
        expect(page.locator("#layer-inbox pre")).to_contain_text("<script>window.pwned = 1</script>")
        for link in page.locator(".talks a").all():
            link.click()
            expect(page.locator("#reading .mine")).to_be_visible()
            nothing_broke_out(page)
            page.goto(f"{place.address}{link.get_attribute('href')}")
            nothing_broke_out(page)
            page.goto(f"{place.address}/agents/sovereign")


def test_arguments_of_a_call_are_text(visit: Visit) -> None:
    arguments = '{"to": "%s"}' % "<img src=x onerror=window.pwned=1></pre>\\u202e\\u200d"  # noqa: UP031
    with serving(said("", call("send_mail", arguments)), said("It waits."), tools=sending([])) as place:
        place.house.ask("assistant", Incoming(channel="web", sender="ana", user="ana", text="Write."))
        page = visit(place, place.token("ana"))
        expect(page.get_by_label("The arguments, in full")).to_contain_text("</pre>⟨U+202E⟩⟨U+200D⟩")
        nothing_broke_out(page)


def test_a_hundred_thousand_characters_fit_the_page(visit: Visit) -> None:
    with serving(said("y" * 100_000)) as place:
        page = visit(place, place.token("ana"), viewport={"width": 390, "height": 800})
        say(page, "x" * 100_000)
        expect(page.locator(".theirs div.words")).to_contain_text("yyyy")
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


def test_take_the_escaping_away_and_the_policy_still_stands_and_these_tests_notice(
    visit: Visit, monkeypatch: pytest.MonkeyPatch
) -> None:
    from markupsafe import Markup

    from charter.web.pages import drawn

    monkeypatch.setitem(drawn._environment().filters, "calm", Markup)
    with serving() as place:
        place.store.append_conversation("assistant", "ana", ConversationEntry("m1", BODIES[1], "Hm.", "t1", 1))
        page = visit(place, place.token("ana"), but=("script-src", "Content Security Policy", "404", "img"))
        assert "script-src 'self'" in CONTENT_POLICY
        with pytest.raises(AssertionError):
            nothing_broke_out(page)
        assert page.evaluate("'pwned' in window") is False
