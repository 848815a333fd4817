"""What an operator watches: turns and their manifests, what changed between two, and counts that name nobody."""

from __future__ import annotations

import asyncio
import gc
import json
from pathlib import Path
from typing import Any

import pytest

from .rooms import Person, code, house, person, served
from .walking import routes

TURNS = "/api/agents/sovereign/turns"


def talked() -> tuple[Any, Person, list[str]]:
    found = house(charters=("sovereign",))
    app = served(found)
    mo, mira = person(app, "operator", "mo"), person(app, "user", "mira")
    ids = [mira("POST", "/api/agents/sovereign/chat", {"text": "my secret word"}).json()["turn"]]
    mo("PUT", "/api/agents/sovereign/layers/decision_loop", {"content": "Rest first.", "expected_version": 1})
    ids.append(mira("POST", "/api/agents/sovereign/chat", {"text": "my secret word"}).json()["turn"])
    return found, mo, ids


@pytest.mark.requirement("N-01", "S0-17")
def test_a_turn_is_told_by_hashes_codes_and_counts_and_no_word_of_it() -> None:
    found, mo, ids = talked()
    assert [row["id"] for row in mo.get(TURNS)] == ids[::-1]
    assert [row["id"] for row in mo.get(f"{TURNS}?limit=1")] == ids[1:]
    told = mo.get(f"{TURNS}/{ids[0]}")
    record = found.store.turn("sovereign", ids[0])
    assert (told["stack_sha256"], told["counts"]) == (record.stack_sha256, dict(record.counts))
    assert told["detail"] == json.loads(record.detail)
    assert mo.get(f"{TURNS}/{ids[0]}/manifest") == json.loads(record.manifest)
    for path in (TURNS, f"{TURNS}/{ids[0]}", f"{TURNS}/{ids[0]}/manifest"):
        assert "secret" not in mo("GET", path).text


@pytest.mark.requirement("N-01")
def test_what_changed_between_two_turns_names_who_changed_it() -> None:
    _, mo, (first, second) = talked()
    told = mo.get(f"{TURNS}/{first}/diff/{second}")
    (row,) = [row for row in told["layers"] if row["id"] == "decision_loop"]
    assert (row["how"], row["first"], row["second"]) == ("changed", "1", "2")
    assert [(one["version"], one["by"]) for one in row["written"]] == [(2, "admin:mo")]


@pytest.mark.requirement("N-01")
@pytest.mark.parametrize("turn", ["nothing", "00", "%00", "ffffffffffff"])
def test_a_turn_that_is_not_there_is_not_found(turn: str) -> None:
    _, mo, _ = talked()
    assert code(mo("GET", f"{TURNS}/{turn}")) == (404, "NOT_STORED")


def test_a_turn_of_another_agent_is_not_found() -> None:
    app = served(house(charters=("assistant", "sovereign")))
    turn = person(app, "user", "mira")("POST", "/api/agents/assistant/chat", {"text": "Hello"}).json()["turn"]
    mo = person(app, "operator", "mo")
    assert mo("GET", f"/api/agents/assistant/turns/{turn}").status_code == 200
    assert code(mo("GET", f"/api/agents/sovereign/turns/{turn}")) == (404, "NOT_STORED")


@pytest.mark.requirement("S1-07", "S0-17")
def test_the_counts_of_a_server_name_routes_and_nobody() -> None:
    _, mo, ids = talked()
    mo("GET", "/api/agents/sovereign/conversations/mira")
    mo("GET", "/secret-place")
    for method, path in (("POST", "/v1/messages"), ("GET", "/v1/messages"), ("GET", "/v1/models/secret")):
        mo(method, path)
    text = mo("GET", "/metrics").text
    for route, status in (("/v1/messages", 400), ("/v1/messages", 405), ("/v1/models/{name:path}", 404), ("none", 404)):
        assert f'charter_requests_total{{route="{route}",status="{status}"}} 1\n' in text
    assert 'charter_requests_total{route="/api/agents/{agent}/chat",status="200"} 2' in text
    for word in ("mira", "secret", 'mo"', "sovereign", ids[0], mo.secret):
        assert word not in text
    assert person(mo.app, "user", "mira")("GET", "/metrics").status_code == 403
    assert Person(mo.app)("GET", "/metrics").status_code == 401
    assert [Person(mo.app)("GET", path).text for path in ("/healthz", "/readyz")] == ["ok\n", "ok\n"]


@pytest.mark.requirement("S0-10", "S0-11")
def test_one_is_told_who_one_is_and_which_agents_there_are() -> None:
    app = served(house(charters=("assistant", "sovereign")))
    mo, mira = person(app, "operator", "mo"), person(app, "user", "mira")
    assert [row["name"] for row in mira.get("/api/agents")] == ["assistant", "sovereign"]
    short, whole = mira.get("/api/agents/assistant"), mo.get("/api/agents/assistant")
    assert (short["model"], short["layers"], short["version"]) == (None, None, None)
    assert (whole["model"], whole["layers"][:2], whole["waiting"]) == ("scripted", ["identity", "soul"], 0)
    assert code(mira("GET", "/api/agents/nobody")) == (404, "UNKNOWN_AGENT")


@pytest.mark.requirement("S0-10")
def test_every_route_says_who_may_call_it_and_how_it_fails() -> None:
    app = served(house())
    for method, path, row in routes(app):
        assert set(row["x-roles"]) <= {"operator", "approver", "user", "sender", "signer"}, path
        assert row["x-roles"], path
        wanted = {"400", "401", "403", "421", "422", "429"} | ({"413", "415"} if method != "get" else set())
        assert wanted <= set(row["responses"]), (method, path)
        for status, answer in row["responses"].items():
            if int(status) >= 400:
                schema = answer["content"]["application/json"]["schema"]
                assert schema == {"$ref": "#/components/schemas/Problem"}, (path, status)
        assert row["description"], path


def test_the_page_of_the_api_names_every_route_who_may_call_it_and_what_for() -> None:
    page = (Path(__file__).parents[2] / "docs" / "api.md").read_text()
    rows = [
        f"| `{method.upper()} {path.replace('/api/agents/{agent}', '…')}` | {', '.join(row['x-roles'])} "
        f"| {row['description']} |"
        for method, path, row in routes(served(house()))
    ]
    assert [line for line in page.splitlines() if line.startswith(("| `GET", "| `P", "| `DELETE"))] == rows


def test_what_is_there_when_a_server_begins_is_not_looked_through_again_while_it_serves() -> None:
    """The collector of garbage went through every word table again and again, and a request in a hundred waited."""
    app = served(house())

    async def live() -> int:
        async with app.router.lifespan_context(app):
            return gc.get_freeze_count()

    assert asyncio.run(live()) > 100_000
    assert gc.get_freeze_count() == 0
