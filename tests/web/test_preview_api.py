"""A preview over the API: byte for byte what a live turn would send, of every charter, and what differs of two."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from charter.folder import BUILT_IN

from .rooms import Person, code, house, model, person, served, whole_house

pytestmark = pytest.mark.requirement("N-11")
AT = 1_772_116_200 * 10**9
WHEN = "2026-02-26T14:30:00+00:00"
PATH = "/api/agents/assistant/preview"


@pytest.mark.parametrize("name", BUILT_IN)
def test_a_preview_is_byte_for_byte_what_the_live_turn_after_it_sends(name: str) -> None:
    found = whole_house()
    found.agents[name] = replace(found.agents[name], clock=lambda: AT)
    app = served(found)
    mo, mira = person(app, "operator", "mo"), person(app, "user", "mira")
    mira("POST", f"/api/agents/{name}/chat", {"text": "Hello"})
    view = {"sender": "mira", "user": "mira", "message": "What is the weather like?", "at": WHEN}
    shown = mo("POST", f"/api/agents/{name}/preview", view).json()
    assert len(model(found).requests) == 1
    turn = mira("POST", f"/api/agents/{name}/chat", {"text": "What is the weather like?"}).json()["turn"]
    assert {**shown["payload"], "stream": True} == model(found).payloads[-1]
    manifest = mo.get(f"/api/agents/{name}/turns/{turn}/manifest")
    assert shown["stack_sha256"] == manifest["stack_sha256"]
    assert [(row["id"], row["sha256"]) for row in shown["layers"]] == [
        (row["id"], row["sha256"]) for row in manifest["stack"]
    ]


def mo_of(**more: Any) -> Person:
    return person(served(house(**more)), "operator", "mo")


def test_a_preview_shows_every_layer_and_the_payload_holds_them() -> None:
    shown = mo_of()("POST", PATH, {"message": "Hello", "user": "mira", "channel": "telegram"}).json()
    system = shown["payload"]["messages"][0]["content"]
    assert [row["label"] for row in shown["layers"]] == sorted(row["label"] for row in shown["layers"])
    for row in shown["layers"]:
        assert row["text"] in system
        assert (row["disposition"], row["bytes"]) == ("whole", len(row["text"].encode()))
    assert shown["payload"]["messages"][-1] == {"role": "user", "content": "Hello"}


@pytest.mark.parametrize("dialect", ["openai", "openai-responses", "anthropic", "ollama", "completion"])
def test_a_preview_speaks_every_dialect(dialect: str) -> None:
    shown = mo_of()("POST", PATH, {"message": "Hello", "provider": dialect, "model": "some-model"}).json()
    assert (shown["dialect"], shown["payload"]["model"]) == (dialect, "some-model")


def test_two_views_differ_where_they_do_and_nowhere_else() -> None:
    mo = mo_of()
    view = {"message": "Hello", "user": "mira", "at": WHEN}
    told = mo("POST", f"{PATH}/diff", {"a": view, "b": {**view, "channel": "telegram"}}).json()
    assert [row["id"] for row in told["layers"] if row["how"] != "same"] == ["channel"]
    assert told["a"] != told["b"]
    (row,) = [row for row in told["layers"] if row["how"] == "changed"]
    assert any(line.startswith("+") for line in row["diff"])
    same = mo("POST", f"{PATH}/diff", {"a": view, "b": view}).json()
    assert (same["a"], {row["how"] for row in same["layers"]}) == (same["b"], {"same"})


def test_a_layer_that_only_one_view_shows_is_told() -> None:
    mo = mo_of(charters=("workspace",))
    view = {"message": "Hello", "at": WHEN}
    body = {"a": view, "b": {**view, "mode": "none"}}
    told = mo("POST", "/api/agents/workspace/preview/diff", body).json()
    assert {row["id"]: row["how"] for row in told["layers"]}["soul"] == "only in a"


@pytest.mark.parametrize(
    ("more", "status", "why"),
    [
        ({"channel": "pigeon"}, 404, "UNKNOWN_CHANNEL"),
        ({"mode": "loud"}, 404, "UNKNOWN_MODE"),
        ({"at": "yesterday"}, 400, "BAD_VALUE"),
        ({"at": "0001-01-01T00:00:00"}, 400, "BAD_VALUE"),
        ({"sender": "0x12"}, 400, "BAD_VALUE"),
        ({"provider": "telex"}, 422, "REQUEST_MALFORMED"),
    ],
)
def test_a_view_of_what_is_not_there_is_refused(more: dict[str, str], status: int, why: str) -> None:
    assert code(mo_of()("POST", PATH, {"message": "Hello", **more})) == (status, why)


def test_a_preview_keeps_nothing_and_asks_no_model() -> None:
    found = house()
    app = served(found)
    before = list(found.store.log("assistant"))
    person(app, "operator", "mo")("POST", PATH, {"message": "Hello", "user": "mira"})
    assert (model(found).requests, found.store.turns("assistant"), found.store.staged("assistant")) == ([], [], [])
    assert list(found.store.log("assistant")) == before
