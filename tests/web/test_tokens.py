"""Tokens: a secret is shown once, known by its hash, and opens nothing once it is late or revoked."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from fastapi import FastAPI

from charter import stores
from charter.app import keys, make_agent
from charter.folder import load
from charter.house import House
from charter.testing.scripted import ScriptedProvider
from charter.web.who import Door, hash_of, make_token

from .rooms import Person, code, house, person, served

pytestmark = pytest.mark.requirement("S0-10")


def made(app: FastAPI, mo: Person, **more: object) -> dict[str, str]:
    answer = mo("POST", "/api/tokens", {"role": "user", "name": "mira", **more})
    assert answer.status_code == 201
    return answer.json()  # type: ignore[no-any-return]


def test_an_operator_makes_a_token_whose_secret_is_shown_once() -> None:
    app = served(house())
    mo = person(app, "operator", "mo")
    token = made(app, mo, agent="assistant", channel="web", days=1)
    mira = Person(app, token["secret"])
    assert mira.get("/api/me") == {
        "role": "user", "name": "mira", "agent": "assistant", "channel": "web", "token": token["id"],
    }  # fmt: skip
    listed = mo("GET", "/api/tokens")
    assert [row["id"] for row in listed.json()] == [mo.get("/api/me")["token"], token["id"]]
    assert (listed.json()[1]["by"], "secret" in listed.json()[1]) == ("admin:mo", False)
    assert token["secret"] not in listed.text


def test_no_secret_is_in_the_database(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'house.db'}"
    from charter.stores.migrate import upgrade

    upgrade(url)
    with stores.open(url, keys=keys()) as store:
        agent = make_agent(load("assistant"), store, ScriptedProvider([]), name="assistant")
        app = served(House(store, {"assistant": agent}))
        mo = person(app, "operator", "mo")
        secret = made(app, mo)["secret"]
        assert Person(app, secret)("GET", "/api/me").status_code == 200
        dump = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    for one in (secret, mo.secret):
        assert one.encode() not in dump
        assert one.removeprefix("chk_").encode() not in dump
        assert hash_of(one).encode() in dump


def test_a_revoked_token_opens_nothing_from_then_on() -> None:
    app = served(house())
    mo = person(app, "operator", "mo")
    token = made(app, mo)
    mira = Person(app, token["secret"])
    cookie = {"cookie": f"charter={app.state.door.cookie(token['secret'])}"}
    assert [mira("GET", "/api/me").status_code, Person(app, headers=cookie)("GET", "/api/me").status_code] == [200, 200]
    assert mo("DELETE", f"/api/tokens/{token['id']}").json()["revoked_at_ns"] > 0
    assert code(mira("GET", "/api/me")) == (401, "ACCESS_UNKNOWN")
    assert code(Person(app, headers=cookie)("GET", "/api/me")) == (401, "ACCESS_UNKNOWN")
    assert code(mo("DELETE", "/api/tokens/nobody")) == (404, "NOT_STORED")


def test_a_token_and_a_cookie_end_when_their_time_is_over() -> None:
    app = served(house())
    _, secret = make_token(app.state.house.store, "user", "mira", days=1)
    mira, cookie = Person(app, secret), {"cookie": f"charter={app.state.door.cookie(secret)}"}
    assert mira("GET", "/api/me").status_code == 200
    later = time.time_ns() + 2 * 86_400 * 10**9
    app.state.door._clock = lambda: later
    assert code(mira("GET", "/api/me")) == (401, "ACCESS_UNKNOWN")
    _, lasting = make_token(app.state.house.store, "user", "mira")
    app.state.door._clock = time.time_ns
    kept = {"cookie": f"charter={app.state.door.cookie(lasting)}"}
    assert Person(app, headers=kept)("GET", "/api/me").status_code == 200
    app.state.door._clock = lambda: time.time_ns() + 31 * 86_400 * 10**9
    for one in (cookie, kept):
        assert code(Person(app, headers=one)("GET", "/api/me")) == (401, "ACCESS_UNKNOWN")


@pytest.mark.parametrize("header", ["Basic {0}", "Bearer", "bearer {0}x", "{0}", "Bearer {0} {0}"])
def test_a_token_is_taken_in_one_form(header: str) -> None:
    app = served(house())
    _, secret = make_token(app.state.house.store, "user", "mira")
    assert Person(app, headers={"authorization": header.format(secret)})("GET", "/api/me").status_code == 401
    assert Person(app, headers={"x-api-key": secret})("GET", "/api/me").status_code == 200


def test_a_cookie_of_another_installation_opens_nothing() -> None:
    app = served(house())
    _, secret = make_token(app.state.house.store, "user", "mira")
    other = Door(app.state.house.store, b"another key of thirty-two bytes.").cookie(secret)
    assert Person(app, headers={"cookie": f"charter={other}"})("GET", "/api/me").status_code == 401


def test_a_token_is_for_an_agent_and_a_channel_that_there_are() -> None:
    app = served(house())
    mo = person(app, "operator", "mo")
    for body, status in (({"agent": "nobody"}, 404), ({"channel": "pigeon"}, 404), ({"name": ""}, 422),
                         ({"role": "king"}, 422), ({"days": -1}, 422)):  # fmt: skip
        assert mo("POST", "/api/tokens", {"role": "user", "name": "mira", **body}).status_code == status


@pytest.mark.parametrize("name", ["telegram:4711", "schedule:s1", "ana:work", ":"])
def test_nobody_is_called_like_a_chat_or_a_session_of_somebody_else(name: str) -> None:
    """Who had such a name would be answered out of that chat, and read it as their own."""
    app = served(house())
    mo = person(app, "operator", "mo")
    assert code(mo("POST", "/api/tokens", {"role": "user", "name": name})) == (400, "BAD_VALUE")
    assert [token.name for token in app.state.house.store.tokens()] == ["mo"]
