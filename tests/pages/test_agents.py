"""The operator's view: every layer with its badge, version and author; the conversations, read by a click (S0-17)."""

from __future__ import annotations

import time

import pytest
from playwright.sync_api import Page, expect

from charter.amend import Edit, amend
from charter.core.policy import Actor
from charter.core.records import Author, ConversationEntry

from .conftest import Visit
from .place import Place, said, serving
from .test_chat import heard

pytestmark = pytest.mark.requirement("S0-17")
HOUR = 3600 * 10**9


def amended(place: Place, text: str) -> None:
    charter = place.house.agents["sovereign"].charter
    edit = Edit("inbox", text, 1, "sovereign")
    amend(place.store, charter, edit, by=place.operator, at_ns=time.time_ns())


def spoke(place: Place, sender: str, words: str, at_ns: int) -> None:
    entry = ConversationEntry(f"m-{sender}", words, "I **hear** you.", "18c1f7aa01", at_ns)
    place.store.append_conversation("sovereign", sender, entry)


def opened(visit: Visit, place: Place, path: str) -> Page:
    page = visit(place, place.token("mo", "operator"))
    page.goto(f"{place.address}{path}")
    return page


def test_every_layer_stands_in_order_with_badge_version_author_size_and_hash(visit: Visit) -> None:
    with serving(names=("sovereign",)) as place:
        amended(place, "Answer people in the order they came.")
        page = opened(visit, place, "/agents/sovereign")
        rows = page.locator(".layer")
        ids = [layer.id for layer in place.house.agents["sovereign"].charter.stack.layers]  # type: ignore[attr-defined]
        assert [row.get_attribute("id") for row in rows.all()] == [f"layer-{name}" for name in ids]
        badges = rows.locator(".badge").all_inner_texts()
        assert badges == ["immutable · sealed"] * 6 + ["mutable · agent"] * 4 + ["mutable · turn"]
        inbox = page.locator("#layer-inbox")
        expect(inbox.locator(".facts")).to_contain_text("version 2")
        expect(inbox.locator(".facts")).to_contain_text("by admin:mo")
        expect(inbox.locator(".facts")).to_contain_text("37 characters")
        expect(page.locator("#layer-memory .facts")).to_contain_text("by init")
        expect(page.locator("#layer-constitution .facts")).to_contain_text("by charter")
        text = inbox.get_by_text("Answer people in the order they came.")
        expect(text).to_be_hidden()
        inbox.locator("summary").click()
        expect(text).to_be_visible()


@pytest.mark.requirement("S0-11")
def test_conversations_are_listed_newest_first_and_read_by_a_click(visit: Visit) -> None:
    with serving(names=("sovereign",)) as place:
        spoke(place, "bo", "hello from bo", 1 * HOUR)
        spoke(place, "0x71c7656ec7ab88b098defb751b7401b5f6d8976f", "hello from a chain", 2 * HOUR)
        page = opened(visit, place, "/agents/sovereign")
        assert page.locator(".talks .sender").all_inner_texts() == ["0x71c7656ec7ab88b098defb751b7401b5f6d8976f", "bo"]
        page.get_by_role("link", name="bo").click()
        expect(page.locator("#reading")).to_contain_text("hello from bo")
        expect(page.locator("#reading strong")).to_have_text("hear")
        assert page.url == f"{place.address}/agents/sovereign"
        expect(page.locator("#layer-inbox")).to_be_visible()


def test_without_a_script_a_conversation_is_a_page(visit: Visit) -> None:
    with serving(names=("sovereign",)) as place:
        spoke(place, "../a/b?c=d#e&f", "hello from a strange name", HOUR)
        page = visit(place, java_script_enabled=False)
        page.get_by_label("Your token").fill(place.token("mo", "operator"))
        page.get_by_role("button", name="Come in").click()
        page.goto(f"{place.address}/agents/sovereign")
        page.locator(".talks a").click()
        expect(page.locator("#reading")).to_contain_text("hello from a strange name")
        assert "/conversations?with=" in page.url


def test_recent_turns_show_how_they_ended_and_what_they_cost(visit: Visit) -> None:
    with serving(said("At noon."), said("")) as place:
        heard(place, "When?")
        heard(place, "FYI")
        page = opened(visit, place, "/agents/assistant")
        rows = page.locator("tbody tr")
        assert [row.locator(".badge").inner_text() for row in rows.all()] == ["silent", "done"]
        assert rows.nth(1).locator(".number").all_inner_texts() == ["100", "10", "60 %"]
        assert rows.nth(1).locator(".sender").inner_text() == "ana"


@pytest.mark.requirement("N-19")
def test_an_agent_is_paused_and_resumed_by_a_button(visit: Visit) -> None:
    with serving() as place:
        page = opened(visit, place, "/agents/assistant")
        page.get_by_role("button", name="Pause").click()
        expect(page.get_by_text("Paused by admin:mo")).to_be_visible()
        assert place.store.control("assistant", "2026-01-01").paused
        page.get_by_role("button", name="Resume").click()
        expect(page.get_by_role("button", name="Pause")).to_be_visible()
        assert not place.store.control("assistant", "2026-01-01").paused


@pytest.mark.requirement("N-04")
@pytest.mark.parametrize(("button", "state", "version"), [("Approve", "applied", 2), ("Reject", "rejected", 1)])
def test_a_proposal_is_decided_over_what_is_shown(visit: Visit, button: str, state: str, version: int) -> None:
    with serving(names=("sovereign",)) as place:
        at = time.time_ns()
        _, where = place.house.agents["sovereign"].charter.stored("memory", agent="sovereign")
        made = place.store.propose(
            where, "Keep notes short.", base_version=1, by=Author(Actor.AGENT, turn="18c1f7aa01"),
            reason="They grew.", at_ns=at, expires_at_ns=at + HOUR,
        )  # fmt: skip
        page = opened(visit, place, "/agents/sovereign")
        expect(page.get_by_label("The proposed text")).to_have_text("Keep notes short.")
        page.get_by_role("button", name=button).click()
        expect(page.locator("[data-card]").get_by_role("status")).to_be_visible()
        assert place.store.proposal(made.id).state == state
        assert place.store.proposal(made.id).decided_by == "admin:mo"
        head = place.store.head(where)
        assert head is not None
        assert head.version == version


def test_an_approver_decides_what_waits_and_sees_nothing_else(visit: Visit) -> None:
    with serving(names=("sovereign",)) as place:
        at = time.time_ns()
        _, where = place.house.agents["sovereign"].charter.stored("memory", agent="sovereign")
        place.store.propose(
            where, "Keep notes short.", base_version=1, by=Author(Actor.AGENT, turn="18c1f7aa01"), reason="",
            at_ns=at, expires_at_ns=at + HOUR,
        )  # fmt: skip
        page = visit(place, place.token("vera", "approver"), but=("403",))
        assert page.url == f"{place.address}/waiting"
        expect(page.get_by_label("The proposed text")).to_have_text("Keep notes short.")
        for path in ("/agents", "/agents/sovereign", "/chat/sovereign"):
            page.goto(f"{place.address}{path}")
            expect(page.get_by_role("heading", name="Not with this token")).to_be_visible()


@pytest.mark.parametrize("role", ["user", "sender", "approver"])
def test_the_view_is_for_operators_alone(role: str) -> None:
    with serving(said("At noon."), names=("sovereign",)) as place:
        heard(place, "When?", agent="sovereign")
        headers = {"cookie": place.cookie("ana", role)}  # type: ignore[arg-type]
        for path in ("/agents", "/agents/sovereign", "/agents/sovereign/conversations?with=ana"):
            answer = place.ask("GET", path, headers=headers)
            body = answer.read().decode()
            assert answer.status == 403
            assert "Constitution" not in body
            assert "noon" not in body


def test_an_agent_nobody_serves_is_a_page_that_says_so(visit: Visit) -> None:
    with serving() as place:
        page = visit(place, place.token("mo", "operator"), but=("404",))
        for path in ("/agents/nobody", "/chat/nobody", "/agents/assistant/conversations?with=nobody"):
            page.goto(f"{place.address}{path}")
            expect(page.get_by_role("heading", name="There is nothing here")).to_be_visible()


def test_a_persons_own_text_that_waits_is_shown_to_them_and_not_to_operators(visit: Visit) -> None:
    with serving() as place:
        at = time.time_ns()
        charter = place.house.agents["assistant"].charter
        _, where = charter.stored("instructions", agent="assistant", user="ana")
        place.store.propose(
            where, "Call me Captain.", base_version=0, by=Author(Actor.AGENT, turn="18c1f7aa01"), reason="",
            at_ns=at, expires_at_ns=at + HOUR,
        )  # fmt: skip
        operator = opened(visit, place, "/agents/assistant")
        assert "Captain" not in operator.content()
        page = visit(place, place.token("ana"))
        page.get_by_role("button", name="Approve").click()
        expect(page.get_by_role("status").filter(has_text="Approved")).to_be_visible()
        assert place.store.instructions("assistant", "ana") == "Call me Captain."
