"""A user's token, walked over every route: nothing of a layer, of another person or of the house comes back."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from fastapi import FastAPI

from charter.app import now_ns
from charter.core.errors import NotAllowed
from charter.core.policy import Actor
from charter.core.records import Approval, Author, ConversationEntry, Head, InboxMessage, Place
from charter.web.api import approvals, inbox, own, proposals
from charter.web.api.common import owned
from charter.web.who import Caller, make_token

from .rooms import Person, house, person, served
from .walking import steps, take

pytestmark = pytest.mark.requirement("S0-10", "S0-11", "S4-07", "N-04")
MO, OTTO = Author(Actor.OPERATOR, "mo"), Author(Actor.USER, "otto")
AGENTS = ("assistant", "sovereign")
CANARY = "c4n4ry"


def planted(app: FastAPI) -> dict[str, list[str]]:
    """Canaries in every place that is not Mira's, and the names of all of it; one of her own in what is hers."""
    store, now = app.state.house.store, now_ns()
    mo = person(app, "operator", "mo")
    for agent, layer in (("assistant", "soul"), ("sovereign", "decision_loop"), ("sovereign", "inbox")):
        version = next(row["version"] for row in mo.get(f"/api/agents/{agent}/layers") if row["id"] == layer)
        body = {"content": f"Be kind and say {CANARY}-{layer}.", "expected_version": version}
        assert mo("PUT", f"/api/agents/{agent}/layers/{layer}", body).status_code == 200
    place = Place("assistant", "soul", "", Head.SOUL)
    theirs = Place("assistant", "instructions", "otto", Head.INSTRUCTIONS)
    wishes = [
        store.propose(where, f"{CANARY}-proposal", base_version=1, by=by, reason=f"{CANARY}-reason", at_ns=now,
                      expires_at_ns=now * 2)
        for where, by in ((place, MO), (theirs, OTTO))
    ]  # fmt: skip
    notes = []
    for agent in AGENTS:
        store.stage(agent, InboxMessage(owned("otto", "his"), "otto", f"{CANARY}-inbox", now, "web", "otto"))
        entry = ConversationEntry("m1", f"{CANARY}-said", f"{CANARY}-answered", "t1", now)
        store.append_conversation(agent, "otto", entry)
        notes += [store.remember(agent, "otto", f"{CANARY}-note rain", day="2026-01-01", at_ns=now).id]
        notes += [store.remember(agent, "", f"{CANARY}-own rain", day="2026-01-01", at_ns=now).id]
    for user, name in (("otto", "call-otto"), ("", "call-nobody")):
        store.request_approval(
            Approval(name, "assistant", "t1", "pay", f'{{"to": "{CANARY}-call"}}', "a" * 64, now, now * 2, user)
        )
    store.set_timezone("otto", "Pacific/Auckland")
    token, _ = make_token(store, "operator", f"{CANARY}-operator")
    turn = person(app, "user", "otto")("POST", "/api/agents/assistant/chat", {"text": f"{CANARY}-chat"}).json()["turn"]
    mira = person(app, "user", "mira")
    put = {"instructions": "Mine alone: be short.", "expected_version": 0}
    assert mira("PUT", "/api/agents/assistant/instructions", put).status_code == 200
    store.remember("assistant", "mira", "Mine alone: rain.", day="2026-01-01", at_ns=now)
    return {
        "agent": list(AGENTS), "layer": ["soul", "decision_loop", "constitution"], "version": ["1", "2"],
        "sender": ["otto"], "user": ["otto", ""], "q": ["rain"], "state": ["open"], "message": ["his", "m1"],
        "turn": [turn], "first": [turn], "second": [turn], "proposal": [one.id for one in wishes],
        "approval": ["call-otto", "call-nobody"], "note": notes, "token": [token.id],
    }  # fmt: skip


def hidden(app: FastAPI) -> list[str]:
    """What no answer to Mira may hold: the canaries, the sealed texts line by line, hashes of other's texts."""
    sealed = [
        line
        for agent in app.state.house.agents.values()
        for section in agent.charter.fixed.values()
        for line in section.layer.template.text.splitlines()
        if len(line) > 40
    ]
    return [CANARY, "Pacific/Auckland", hashlib.sha256(f"{CANARY}-proposal".encode()).hexdigest(), *sealed]


def found_by(app: FastAPI, who: Person, names: dict[str, list[str]]) -> Iterator[str]:
    """The routes whose answers hold what is hidden from this person."""
    secrets = hidden(app)
    assert len(secrets) > 10
    for step in steps(app, names):
        answer = take(who, step)
        assert answer.status_code < 500, step
        said = answer.text + str(answer.headers)
        if any(secret in said for secret in secrets):
            yield step.route


def scene() -> tuple[FastAPI, dict[str, list[str]]]:
    app = served(house(charters=AGENTS))
    return app, planted(app)


@pytest.mark.parametrize("role", ["user", "sender"])
def test_an_end_users_token_gets_nothing_that_is_not_theirs_from_any_route(role: Any) -> None:
    app, names = scene()
    mira = person(app, role, "mira")
    assert list(found_by(app, mira, names)) == []


def test_a_user_gets_what_is_their_own() -> None:
    app, _ = scene()
    mira = person(app, "user", "mira")
    assert mira.get("/api/agents/assistant/instructions")["instructions"] == "Mine alone: be short."
    assert [note["text"] for note in mira.get("/api/agents/assistant/memory")] == ["Mine alone: rain."]
    assert [note["text"] for note in mira.get("/api/agents/assistant/memory?q=rain")] == ["Mine alone: rain."]


def test_the_walk_finds_what_an_operator_may_see() -> None:
    app, names = scene()
    found = set(found_by(app, person(app, "operator", "mo"), names))
    assert {
        "/api/agents/{agent}/layers", "/api/agents/{agent}/layers/{layer}/history/{version}",
        "/api/agents/{agent}/snapshot", "/api/agents/{agent}/preview",
        "/api/agents/{agent}/conversations/{sender}", "/api/agents/{agent}/proposals/{proposal}",
        "/api/agents/{agent}/approvals", "/api/agents/{agent}/memory", "/api/tokens",
    } <= found  # fmt: skip


def _allow(self: Caller, *_: str) -> Caller:
    return self


def _all(*_: Any) -> bool:
    return True


def _as_asked(here: Any, user: str | None) -> str:
    return here.caller.name if user is None else user


def _anybody(here: Any, named: str) -> str:
    return named or "otto"


TWINS: list[tuple[Any, str, Callable[..., Any], str]] = [
    (Caller, "must_be", _allow, "/api/agents/{agent}/layers"),
    (proposals, "_theirs", _all, "/api/agents/{agent}/proposals/{proposal}"),
    (approvals, "_theirs", _all, "/api/agents/{agent}/approvals"),
    (own, "_whose", _as_asked, "/api/agents/{agent}/memory"),
]


@pytest.mark.parametrize(
    ("where", "name", "without", "route"), TWINS, ids=["roles", "proposals", "approvals", "people"]
)
def test_without_any_one_check_the_walk_finds_a_canary(
    where: Any, name: str, without: Callable[..., Any], route: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    app, names = scene()
    monkeypatch.setattr(where, name, without)
    assert route in set(found_by(app, person(app, "user", "mira"), names))


def test_a_message_of_another_is_not_there_and_would_be_if_its_owner_were_not_in_its_key(
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    app, _ = scene()
    mira = person(app, "sender", "mira")
    path = "/api/agents/assistant/inbox/his"
    assert [mira("GET", path).status_code, mira("GET", f"{path}?sender=otto").status_code] == [404, 403]
    monkeypatch.setattr(inbox, "_sender", _anybody)
    assert mira("GET", path).status_code == 200


# ── tokens that are bound ─────────────────────────────────────────────────────────────────────────────────────────


def test_a_token_that_is_bound_to_an_agent_reaches_no_other() -> None:
    app, names = scene()
    bound = person(app, "operator", "ada", agent="assistant")
    for step in steps(app, {**names, "agent": ["sovereign"]}):
        if "{agent}" in step.route:
            assert take(bound, step).status_code == 403, step
    assert [row["name"] for row in bound.get("/api/agents")] == ["assistant"]
    for method, path in (
        ("GET", "/api/tokens"),
        ("POST", "/api/tokens"),
        ("DELETE", f"/api/tokens/{names['token'][0]}"),
    ):
        answer = bound(method, path, {"role": "operator", "name": "eve"} if method == "POST" else None)
        assert answer.status_code == 403


def test_without_the_binding_a_token_would_reach_another_agent(monkeypatch: pytest.MonkeyPatch) -> None:
    app = served(house(charters=AGENTS))
    bound = person(app, "operator", "ada", agent="assistant")
    assert bound("GET", "/api/agents/sovereign/layers").status_code == 403
    monkeypatch.setattr(Caller, "may_reach", lambda *_: None)
    assert bound("GET", "/api/agents/sovereign/layers").status_code == 200
    monkeypatch.undo()
    with pytest.raises(NotAllowed):
        Caller("operator", "ada", "assistant").may_reach("sovereign")


def test_an_approver_sees_what_waits_and_nothing_else() -> None:
    app, names = scene()
    al = person(app, "approver", "al")
    open_to_al = {step.route for step in steps(app, names) if take(al, step).status_code not in (401, 403)}
    assert open_to_al == {
        "/api/me", "/api/agents", "/api/agents/{agent}",
        "/api/agents/{agent}/proposals", "/api/agents/{agent}/proposals/{proposal}",
        "/api/agents/{agent}/proposals/{proposal}/approve", "/api/agents/{agent}/proposals/{proposal}/reject",
        "/api/agents/{agent}/approvals", "/api/agents/{agent}/approvals/{approval}",
    }  # fmt: skip
