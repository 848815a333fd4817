"""Every route that changes something refuses who is not known, a foreign page, a foreign name, and a bad body."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest
from fastapi import FastAPI

from charter.web import outside
from charter.web.api import common
from charter.web.outside import Limits
from charter.web.server import Settings
from charter.web.who import hash_of

from .rooms import HOST, ORIGIN, QUICK, Person, code, house, person, served
from .walking import BODIES, Step, changing, steps, take

pytestmark = pytest.mark.requirement("S0-10", "N-19", "N-04")
NAMES = {
    name: ["x"] for name in ("layer", "proposal", "approval", "token", "message", "turn", "first", "second", "version")
} | {"agent": ["assistant"], "note": ["1"], "sender": [], "user": [], "q": [], "state": []}  # fmt: skip


def small_app() -> FastAPI:
    limits = replace(QUICK, body_bytes=2000)
    return served(house(), Settings(hosts=frozenset({HOST}), limits=limits))


def walk(app: FastAPI) -> list[Step]:
    return [step for step in steps(app, NAMES) if step.method != "get"]


def test_the_walk_knows_a_body_for_every_route_that_changes_something() -> None:
    app = small_app()
    assert sorted(changing(app)) == sorted(BODIES)
    assert {(step.method, step.route) for step in walk(app)} == set(BODIES)


def test_who_has_no_token_is_refused_everywhere() -> None:
    app = small_app()
    for step in steps(app, NAMES):
        assert code(take(Person(app), step)) == (401, "ACCESS_UNKNOWN"), step
        assert code(take(Person(app, "chk_nobody"), step))[0] in (401, 429), step


def test_who_has_no_token_is_refused_before_a_word_of_theirs_is_read() -> None:
    app = small_app()
    for step in walk(app):
        if step.route != "/api/agents/{agent}/inbox":  # a message may be signed, and then it is its own token
            assert code(take(Person(app), replace(step, body=b"{"))) == (401, "ACCESS_UNKNOWN"), step


@pytest.mark.parametrize(
    "headers",
    [{"origin": "https://evil.test"}, {"origin": "null"}, {"origin": f"https://{HOST}.evil.test"},
     {"sec-fetch-site": "cross-site"}, {"sec-fetch-site": "same-site"}],
    ids=str,
)  # fmt: skip
def test_a_page_of_another_origin_is_refused_whatever_token_it_has(headers: dict[str, str]) -> None:
    app = small_app()
    mo = person(app, "operator", "mo")
    for step in walk(app):
        assert code(take(mo, step, headers=headers)) == (403, "ORIGIN_FOREIGN"), step


def test_a_name_that_is_not_the_servers_is_refused() -> None:
    app = small_app()
    mo = person(app, "operator", "mo")
    for step in steps(app, NAMES):
        assert code(take(mo, step, headers={"host": "evil.test"})) == (421, "HOST_UNKNOWN"), step


def test_a_body_that_is_too_large_is_refused_with_its_length_and_without() -> None:
    app = small_app()
    mo = person(app, "operator", "mo")
    large = b'{"text": "' + b"x" * 2000 + b'"}'

    async def in_chunks() -> AsyncIterator[bytes]:
        for start in range(0, len(large), 500):
            yield large[start : start + 500]

    for step in walk(app):
        assert code(take(mo, replace(step, body=large))) == (413, "BODY_TOO_LARGE"), step
        json = {"content-type": "application/json"}
        chunked = mo(step.method.upper(), step.path, content=in_chunks(), headers=json)
        assert code(chunked) == (413, "BODY_TOO_LARGE"), step


@pytest.mark.parametrize(
    ("body", "kind", "statuses"),
    [
        (b"{", "application/json", {422}),
        (b"\xff\xfe", "application/json", {400, 422}),
        (b"[" * 1900, "application/json", {400, 422}),
        (b"text=hi", "application/x-www-form-urlencoded", {415}),
        (b'{"text": "hi"}', "text/plain", {415}),
        (b'{"text": "hi"}', "", {415}),
    ],
    ids=["half", "not UTF-8", "deep", "a form", "plain text", "no type"],
)
def test_a_body_that_is_not_json_is_refused(body: bytes, kind: str, statuses: set[int]) -> None:
    app = small_app()
    mo = person(app, "operator", "mo")
    for step in walk(app):
        answer = take(mo, replace(step, body=body), headers={"content-type": kind} if kind else {})
        assert code(answer)[0] in statuses, (step, answer.text)


def test_a_body_with_a_field_nobody_knows_or_of_another_type_is_refused() -> None:
    app = small_app()
    mo = person(app, "operator", "mo")
    for step in walk(app):
        if isinstance(step.body, dict):
            more = take(mo, replace(step, body={**step.body, "surprise_of_mine": 1}))
            assert code(more) == (422, "REQUEST_MALFORMED"), step
            assert "surprise_of_mine" not in more.text
            assert code(take(mo, replace(step, body=[step.body]))) == (422, "REQUEST_MALFORMED"), step


@pytest.mark.parametrize(("text", "status"), [("a\\u0000b", 400), ("a\\ud800b", 400), (" ", 422), ("", 422)])
def test_a_text_that_cannot_be_kept_is_refused(text: str, status: int) -> None:
    app = small_app()
    mira = person(app, "user", "mira")
    body = f'{{"text": "{text}"}}'.encode()
    for path in ("/api/agents/assistant/chat", "/api/agents/assistant/inbox"):
        assert code(mira("POST", path, body, headers={"content-type": "application/json"}))[0] == status


def test_a_text_is_as_long_as_it_may_be_and_no_longer() -> None:
    app = served(house())
    mira = person(app, "user", "mira")
    for count, status in ((100_000, 202), (100_001, 422)):
        assert mira("POST", "/api/agents/assistant/inbox", {"text": "x" * count}).status_code == status


def test_a_cookie_speaks_only_for_a_page_of_ours() -> None:
    app = small_app()
    mira = person(app, "user", "mira")
    cookie = {"cookie": f"charter={app.state.door.cookie(mira.secret)}"}
    body, path = {"timezone": "Europe/Berlin"}, "/api/timezone"
    assert code(Person(app, headers=cookie)("PUT", path, body)) == (403, "ORIGIN_FOREIGN")
    assert Person(app, headers=cookie | ORIGIN)("PUT", path, body).json() == body
    assert Person(app, headers=cookie).get(path) == body
    forged = {"cookie": cookie["cookie"][:-1] + ("0" if cookie["cookie"][-1] != "0" else "1")}
    assert code(Person(app, headers=forged | ORIGIN)("PUT", path, body)) == (401, "ACCESS_UNKNOWN")


def test_no_page_of_another_origin_may_read_an_answer() -> None:
    app = small_app()
    mo = person(app, "operator", "mo")
    answer = mo("GET", "/api/me", headers={"origin": "https://evil.test"})
    assert not [name for name in answer.headers if name.startswith("access-control")]
    assert mo("OPTIONS", "/api/me", headers={"origin": "https://evil.test"}).status_code == 405
    assert "frame-ancestors 'none'" in answer.headers["content-security-policy"]
    assert answer.headers["x-content-type-options"] == "nosniff"


def test_who_asks_too_often_is_told_when_to_come_back() -> None:
    app = served(house(), Settings(hosts=frozenset({HOST}), limits=Limits(per_second=0.5, burst=2)))
    mo, mira = person(app, "operator", "mo"), person(app, "user", "mira")
    assert [mo("GET", "/api/me").status_code for _ in range(2)] == [200, 200]
    late = mo("GET", "/api/me")
    assert code(late) == (429, "ACCESS_TOO_MANY")
    assert int(late.headers["retry-after"]) in (2, 3)
    assert mira("GET", "/api/me").status_code == 200


def test_a_tokens_pace_is_its_own_in_whatever_form_it_comes() -> None:
    app = served(house(), Settings(hosts=frozenset({HOST}), limits=Limits(per_second=0.1, burst=3)))
    secret = person(app, "operator", "mo").secret
    cookies = [app.state.door._signed(f"{hash_of(secret)}.{2**33 + number}") for number in range(3)]
    forms: list[dict[str, str]] = [
        {"authorization": f"Bearer {secret}"}, {"x-api-key": secret},
        {"authorization": "Basic 1", "x-api-key": secret}, {"authorization": "Basic 2", "x-api-key": secret},
        {"authorization": f"bearer  {secret}", "cookie": "a=1"},
        {"authorization": f"BEARER {secret}", "x-api-key": "1"},
        *({"cookie": f"a={number}; charter={one}"} for number, one in enumerate(cookies)),
    ]  # fmt: skip
    found = [Person(app, headers=headers)("GET", "/api/me").status_code for headers in forms]
    assert found == [200] * 3 + [429] * 6


def test_a_cookie_beside_another_way_in_is_not_looked_at() -> None:
    """Where a header says who calls, nothing a browser sends by itself does: the look at the origin rests on that."""
    app = small_app()
    cookie = f"charter={app.state.door.cookie(person(app, 'user', 'mira').secret)}"
    for scheme in ("Basic bWlyYTo=", "Bearer", "Negotiate x"):
        both = Person(app, headers={"cookie": cookie, "authorization": scheme})
        assert code(both("PUT", "/api/timezone", {"timezone": "Europe/Berlin"})) == (401, "ACCESS_UNKNOWN")


def test_one_caller_does_not_hold_every_thread() -> None:
    """Who waits for a model holds a thread; one that asks again and again is told to wait, and others are heard."""
    go = threading.Event()

    def slow(_: Any) -> Any:
        go.wait(30)
        return "Done."

    app = served(house(slow), Settings(hosts=frozenset({HOST}), limits=replace(QUICK, at_once=3)))
    mira, otto = person(app, "user", "mira"), person(app, "user", "otto")

    async def several() -> tuple[list[int], int, list[int]]:
        path, body = "/api/agents/assistant/chat", {"text": "Hello"}
        first = [asyncio.create_task(mira.asking("POST", path, body)) for _ in range(3)]
        while not app.state.house.under_way:
            await asyncio.sleep(0.01)
        late = [(await mira.asking("POST", path, body)).status_code for _ in range(2)]
        other = (await otto.asking("GET", "/api/me")).status_code
        go.set()
        return late, other, [(await one).status_code for one in first]

    assert asyncio.run(several()) == ([429, 429], 200, [200, 200, 200])
    assert mira("GET", "/api/me").status_code == 200


def test_who_guesses_tokens_is_slowed_down_and_who_has_none_is_not() -> None:
    app = served(house())
    assert {Person(app)("GET", "/api/me").status_code for _ in range(30)} == {401}
    guesses = [Person(app, f"chk_{number}")("GET", "/api/me").status_code for number in range(22)]
    assert guesses[:20] == [401] * 20
    assert guesses[-1] == 429


# ── take a check away, and the walk says so ───────────────────────────────────────────────────────────────────────


async def _anything(*_: Any, **__: Any) -> None: ...


TWINS: dict[str, tuple[Any, str, Any, dict[str, str], bytes | None, int]] = {
    "origin": (outside, "_foreign", lambda *_: "", {"origin": "https://evil.test"}, None, 403),
    "host": (outside.Outside, "_refuse", lambda *_: None, {"host": "evil.test"}, None, 421),
    "type": (common, "_json_alone", _anything, {"content-type": "text/plain"}, b'{"text": "hi"}', 415),
}


@pytest.mark.parametrize("what", TWINS)
def test_without_the_check_the_walk_would_get_through(what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    where, name, without, headers, body, status = TWINS[what]
    app = small_app()
    mo = person(app, "operator", "mo")
    step = next(step for step in walk(app) if step.route == "/api/agents/{agent}/inbox")
    step = step if body is None else replace(step, body=body)
    assert take(mo, step, headers=headers).status_code == status
    monkeypatch.setattr(where, name, without)
    assert take(mo, step, headers=headers).status_code != status


def test_without_a_cap_a_body_of_any_size_would_be_read(monkeypatch: pytest.MonkeyPatch) -> None:
    app = served(house())
    mira = person(app, "user", "mira")
    monkeypatch.setattr(outside._Capped, "__call__", lambda capped: capped._receive())

    async def in_chunks() -> AsyncIterator[bytes]:
        for _ in range(3):
            yield b"[" * 500_000

    json = {"content-type": "application/json"}
    answer = mira("POST", "/api/agents/assistant/inbox", content=in_chunks(), headers=json)
    assert answer.status_code in (400, 422)
