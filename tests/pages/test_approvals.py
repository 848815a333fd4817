"""A call that needs a person is shown to them in full, and is made once they say yes, and only then (S1-08)."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import expect

from charter.core.incoming import Incoming
from charter.core.policy import Actor
from charter.core.records import Author

from .conftest import Visit
from .place import call, said, sending, serving
from .test_chat import say

pytestmark = pytest.mark.requirement("S1-08", "S4-10")
MAIL = '{"to": "roth@example.org", "body": "The rent leaves on Friday.\\u202e\\nAna"}'


def test_a_yes_lets_the_call_be_made_and_the_answer_goes_on(visit: Visit) -> None:
    done: list[Any] = []
    script = said("", call("send_mail", MAIL)), said("The mail is on its way.")
    with serving(*script, tools=sending(done)) as place:
        page = visit(place, place.token("ana"))
        say(page, "Write to the landlord.")
        card = page.locator("[data-card]")
        expect(card.get_by_role("heading")).to_have_text("assistant wants to use send_mail")
        expect(card.get_by_label("The arguments, in full")).to_contain_text('"to": "roth@example.org"')
        expect(card.get_by_label("The arguments, in full")).to_contain_text("Friday.⟨U+202E⟩\\nAna")
        assert done == []
        card.get_by_role("button", name="Approve").click()
        expect(card.get_by_role("status")).to_have_text("Approved")
        expect(page.get_by_text("The mail is on its way.")).to_be_visible()
        expect(page.locator(".call")).to_have_text("used send_mail")
        assert [mail["to"] for mail in done] == ["roth@example.org"]


def test_a_no_is_told_to_the_model_and_nothing_is_done(visit: Visit) -> None:
    done: list[Any] = []
    with serving(said("", call("send_mail", MAIL)), said("Then I will not."), tools=sending(done)) as place:
        page = visit(place, place.token("ana"))
        say(page, "Write to the landlord.")
        page.get_by_role("button", name="Deny").click()
        expect(page.get_by_text("Then I will not.")).to_be_visible()
        expect(page.locator(".call.deny")).to_have_text("was not allowed send_mail")
        assert done == []


def test_a_call_that_still_waits_is_there_after_a_reload_for_its_own_person_alone(visit: Visit) -> None:
    done: list[Any] = []
    with serving(said("", call("send_mail", MAIL)), said("It waits for you."), tools=sending(done)) as place:
        place.house.ask("assistant", Incoming(channel="web", sender="ana", user="ana", text="Write."))
        [waiting] = place.store.approvals("assistant", "open")
        page = visit(place, place.token("ana"))
        expect(page.locator("[data-card]")).to_have_count(1)
        other = visit(place, place.token("bo"), but=("404",))
        expect(other.locator("[data-card]")).to_have_count(0)
        assert other.request.get(f"{place.address}/chat/assistant/calls/{waiting.id}").status == 404
        page.get_by_role("button", name="Approve").click()
        expect(page.get_by_role("status").filter(has_text="Approved")).to_be_visible()
        assert place.store.approval(waiting.id).decided_by == "user:ana"


def test_a_call_that_was_decided_elsewhere_says_so(visit: Visit) -> None:
    with serving(said("", call("send_mail", MAIL)), said("It waits."), tools=sending([])) as place:
        place.house.ask("assistant", Incoming(channel="web", sender="ana", user="ana", text="Write."))
        [waiting] = place.store.approvals("assistant", "open")
        page = visit(place, place.token("ana"), but=("409", "404"))
        mo = Author(Actor.OPERATOR, "mo")
        place.store.decide_approval(waiting.id, waiting.sha256, "denied", by=mo, at_ns=waiting.at_ns + 1)
        page.get_by_role("button", name="Approve").click()
        expect(page.locator("[data-card]").get_by_role("alert")).to_contain_text("denied")
        assert place.store.approval(waiting.id).state == "denied"
