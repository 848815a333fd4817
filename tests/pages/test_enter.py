"""Coming in: a token becomes a cookie that no script reads, and nobody is let in without one."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from .conftest import Visit
from .place import serving

pytestmark = pytest.mark.requirement("S4-10")


def test_the_link_lets_one_in_and_the_token_leaves_the_address(visit: Visit) -> None:
    with serving() as place:
        token = place.token("ana")
        page = visit(place, token)
        assert page.url == f"{place.address}/chat/assistant"
        assert page.evaluate("document.cookie") == ""
        page.go_back()
        assert "chk_" not in page.url
        [cookie] = page.context.cookies()
        assert (cookie["name"], cookie["httpOnly"], cookie["sameSite"]) == ("charter", True, "Strict")
        assert token not in cookie["value"]


def test_a_link_that_is_opened_where_the_door_is_open_already_lets_one_in_too(visit: Visit) -> None:
    with serving() as place:
        page = visit(place)
        page.goto(f"{place.address}/enter#{place.token('ana')}")
        page.wait_for_url("**/chat/assistant")


def test_a_link_for_somebody_else_does_not_change_who_is_in_unasked(visit: Visit) -> None:
    """Who follows a link of a stranger's must not go on writing under the stranger's name, where that one reads it."""
    with serving() as place:
        page = visit(place, place.token("ana"))
        page.goto("about:blank")
        page.goto(f"{place.address}/enter#{place.token('eve')}")
        expect(page.get_by_text("this link is for somebody else")).to_be_visible()
        assert "chk_" not in page.url
        page.get_by_role("link", name="go on").last.click()
        expect(page.locator("header")).to_contain_text("ana")
        page.goto(f"{place.address}/enter#{place.token('eve')}")
        page.get_by_role("button", name="Come in").click()
        page.wait_for_url("**/chat/assistant")
        expect(page.locator("header")).to_contain_text("eve")


def test_a_link_of_ones_own_leads_in_however_often(visit: Visit) -> None:
    with serving() as place:
        token = place.token("ana")
        page = visit(place, token)
        page.goto("about:blank")
        page.goto(f"{place.address}/enter#{token}")
        page.wait_for_url("**/chat/assistant")


@pytest.mark.parametrize("path", ["/", "/chat/assistant", "/agents", "/agents/assistant", "/waiting"])
def test_a_page_without_a_cookie_leads_to_the_door_which_says_where_a_token_is(visit: Visit, path: str) -> None:
    with serving() as place:
        page = visit(place)
        page.goto(f"{place.address}{path}")
        assert page.url == f"{place.address}/enter"
        page.get_by_text("Where do I find it?").click()
        expect(page.get_by_text("charter token add --name NAME")).to_be_visible()


def test_a_token_that_opens_nothing_is_refused_with_a_word_of_what_to_do(visit: Visit) -> None:
    with serving() as place:
        page = visit(place, but=("401",))
        page.get_by_label("Your token").fill("chk_wrong")
        page.get_by_role("button", name="Come in").click()
        expect(page.get_by_role("alert")).to_contain_text("Ask for a new one.")
        assert page.context.cookies() == []


def test_a_revoked_token_closes_the_pages_at_once(visit: Visit) -> None:
    with serving() as place:
        page = visit(place, place.token("ana"))
        [token] = place.store.tokens()
        place.store.revoke_token(token.id, by=place.operator, at_ns=1)
        page.reload()
        assert page.url == f"{place.address}/enter"


def test_leaving_drops_the_cookie(visit: Visit) -> None:
    with serving() as place:
        page = visit(place, place.token("ana"))
        page.get_by_role("button", name="Leave").click()
        page.wait_for_url("**/enter")
        assert page.context.cookies() == []


def test_behind_tls_the_cookie_travels_over_https_alone() -> None:
    with serving(secure=True) as place:
        headers = {"content-type": "application/x-www-form-urlencoded", "origin": place.address}
        answer = place.ask("POST", "/enter", f"token={place.token('ana')}", headers)
        assert answer.status == 303
        assert "; secure" in answer.headers["set-cookie"].lower()


@pytest.mark.parametrize(
    ("headers", "status"),
    [({"origin": "https://evil.example"}, 403), ({"origin": "null"}, 403), ({}, 403)],
    ids=["another origin", "a hidden origin", "no origin"],
)
def test_a_form_of_a_foreign_page_is_refused(headers: dict[str, str], status: int) -> None:
    with serving() as place:
        cookie = place.cookie("ana")
        form = {"content-type": "application/x-www-form-urlencoded", "cookie": cookie, **headers}
        for path in ("/chat/assistant", "/chat/assistant/fresh", "/leave"):
            assert place.ask("POST", path, "text=hi", form).status == status
        assert place.store.turns("assistant") == []


@pytest.mark.parametrize(
    ("body", "kind"),
    [("text=hi", "text/plain"), ("text=%ff", "application/x-www-form-urlencoded"),
     ("&".join(f"a{n}=1" for n in range(20)), "application/x-www-form-urlencoded"),
     ("text=" + "x" * 100_001, "application/x-www-form-urlencoded")],
    ids=["another kind", "not UTF-8", "too many fields", "too long"],
)  # fmt: skip
def test_a_form_that_cannot_be_read_is_a_page_that_says_so(body: str, kind: str) -> None:
    with serving() as place:
        headers = {"content-type": kind, "cookie": place.cookie("ana"), "origin": place.address}
        answer = place.ask("POST", "/chat/assistant", body, headers)
        assert answer.status == 400
        assert b"That cannot be read" in answer.read()
