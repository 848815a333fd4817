"""A chat over the API: an answer at once or part by part, a call that waits for its person, silence, and a stop."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Mapping
from typing import Any

import pytest

from charter.channels.web import Parts
from charter.core.errors import ProviderDown
from charter.core.records import OutboxMessage
from charter.web.api import chat

from .rooms import Listening, calls, code, events, house, model, person, served, tool

pytestmark = pytest.mark.requirement("N-19", "S1-08", "N-17")
PATH = "/api/agents/assistant/chat"
STREAM = {"accept": "text/event-stream"}


def test_a_message_is_answered_and_kept() -> None:
    found = house("Hello, Mira.")
    app = served(found)
    mira = person(app, "user", "mira")
    answer = mira("POST", PATH, {"text": "Hello", "id": "one"}).json()
    assert (answer["id"], answer["outcome"], answer["code"], answer["reply"]) == ("one", "done", "OK", "Hello, Mira.")
    assert (answer["parts"], answer["usage"]["cached"], answer["approvals"]) == (["Hello, Mira."], None, [])
    record = found.store.turn("assistant", answer["turn"])
    assert (record.channel, record.sender, record.user) == ("web", "mira", "mira")
    said = mira.get("/api/agents/assistant/conversation")
    assert [(one["turn"], one["text"], one["reply"]) for one in said] == [(answer["turn"], "Hello", "Hello, Mira.")]
    assert said[0]["at_ns"] == record.at_ns
    assert found.store.unsent("assistant") == []


def test_the_same_id_again_is_answered_once_and_told_again() -> None:
    found = house("Hello, Mira.")
    app = served(found)
    mira = person(app, "user", "mira")
    first, again = (mira("POST", PATH, {"text": "Hello", "id": "one"}).json() for _ in range(2))
    assert (again["outcome"], again["code"], again["reply"], again["turn"], again["usage"]) == (
        "answered", "TURN_ALREADY_ANSWERED", "Hello, Mira.", first["turn"], None
    )  # fmt: skip
    assert len(model(found).requests) == 1
    otto = person(app, "user", "otto")("POST", PATH, {"text": "Hello", "id": "one"}).json()
    assert (otto["outcome"], len(model(found).requests)) == ("done", 2)


def test_words_leave_as_they_come_and_the_whole_comes_last() -> None:
    app = served(house("It is sunny today."))
    answer = person(app, "user", "mira")("POST", PATH, {"text": "Hello"}, headers=STREAM)
    assert answer.headers["content-type"].startswith("text/event-stream")
    assert answer.headers["cache-control"] == "no-store"
    *words, (kind, done) = events(answer)
    assert [one for one, _ in words] == ["text"] * 4
    assert "".join(data["text"] for _, data in words) == "It is sunny today." == done["reply"]
    assert (kind, done["outcome"]) == ("done", "done")


@pytest.mark.parametrize("headers", [{}, STREAM])
def test_silence_is_an_answer_without_words(headers: dict[str, str]) -> None:
    found = house(load_silence())
    app = served(found)
    answer = person(app, "user", "mira")("POST", PATH, {"text": "Hello"}, headers=headers)
    said = events(answer) if headers else [("done", answer.json())]
    assert [kind for kind, _ in said] == ["done"]
    assert (said[0][1]["outcome"], said[0][1]["reply"], said[0][1]["parts"]) == ("silent", "", [])


def load_silence() -> str:
    from charter.folder import load

    return load("assistant").silence


def test_a_model_that_fails_is_an_error_in_either_form_and_says_nothing_of_the_message() -> None:
    down = ProviderDown("scripted", "out of reach", "try again")
    app = served(house(down, down))
    mira = person(app, "user", "mira")
    whole = mira("POST", PATH, {"text": "my secret word"})
    assert code(whole) == (502, "PROVIDER_DOWN")
    stream = mira("POST", PATH, {"text": "my secret word"}, headers=STREAM)
    assert events(stream) == [
        ("error", {"error": {"code": "PROVIDER_DOWN", "message": "scripted: out of reach; try again"}, "status": 502})
    ]
    assert "secret" not in whole.text + stream.text


def test_a_strangers_error_says_nothing_but_that_it_happened() -> None:
    app = served(house(ValueError("my secret word"), ValueError("my secret word")))
    mira = person(app, "user", "mira")
    assert code(mira("POST", PATH, {"text": "Hello"})) == (500, "INTERNAL_ERROR")
    ((kind, data),) = events(mira("POST", PATH, {"text": "Hello"}, headers=STREAM))
    assert (kind, data["status"], "secret" in str(data)) == ("error", 500, False)


# ── a call that waits for its person ──────────────────────────────────────────────────────────────────────────────


def paying(done: list[Any]) -> Any:
    def pay(arguments: Mapping[str, Any]) -> str:
        done.append(dict(arguments))
        return "paid"

    return tool("pay", pay)


@pytest.mark.parametrize(("decision", "made"), [("approve", [{"to": "otto"}]), ("deny", [])])
def test_a_call_is_shown_waits_for_its_person_and_goes_on(decision: str, made: list[Any]) -> None:
    done: list[Any] = []
    app = served(house(calls("pay", '{"to": "otto"}'), "Very well.", tools=[paying(done)]))
    mira, otto = person(app, "user", "mira"), person(app, "user", "otto")

    async def talk() -> list[tuple[str, dict[str, Any]]]:
        listening = Listening(mira, PATH, {"text": "Pay Otto."})
        assert await listening.start() == 200
        kind, wanted = await listening.event()
        assert (kind, wanted["tool"], wanted["arguments"]) == ("approval", "pay", '{"to": "otto"}')
        path = f"/api/agents/assistant/approvals/{wanted['id']}"
        body = {"decision": decision, "sha256": wanted["sha256"]}
        assert (await otto.asking("POST", path, body)).status_code == 404
        assert code(await mira.asking("POST", path, {**body, "sha256": "0" * 64})) == (409, "APPROVAL_SWAPPED")
        assert done == []
        assert (await mira.asking("POST", path, body)).status_code == 200
        assert (await mira.asking("POST", path, body)).status_code == 409
        return await listening.rest()

    said = asyncio.run(talk())
    assert done == made
    assert [kind for kind, _ in said] == ["call", "text", "text", "done"]
    allowed = ("allow", "TOOL_APPROVED") if made else ("deny", "TOOL_NOT_APPROVED")
    assert (said[0][1]["decision"], said[0][1]["code"]) == allowed
    assert said[-1][1]["reply"] == "Very well."


def test_without_a_stream_a_call_waits_and_its_answer_says_so() -> None:
    done: list[Any] = []
    again = calls("pay", '{"to": "otto"}')
    app = served(house(again, "It waits for you.", again, "Paid.", tools=[paying(done)]))
    mira = person(app, "user", "mira")
    answer = mira("POST", PATH, {"text": "Pay Otto."}).json()
    (wanted,) = mira.get("/api/agents/assistant/approvals?state=open")
    assert (answer["approvals"], wanted["turn"], done) == ([wanted["id"]], answer["turn"], [])
    body = {"decision": "approve", "sha256": wanted["sha256"]}
    assert mira("POST", f"/api/agents/assistant/approvals/{wanted['id']}", body).json()["state"] == "approved"
    mira("POST", PATH, {"text": "Now, please."})
    assert done == [{"to": "otto"}]


# ── who goes away, and who stops it ───────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("accept", ["text/event-stream", "application/json"])
def test_who_goes_away_stops_the_turn(accept: str, monkeypatch: pytest.MonkeyPatch) -> None:
    asked, stopped, go_on = threading.Event(), threading.Event(), threading.Event()
    stop = Parts.stop

    def stopping(parts: Parts) -> None:
        stop(parts)
        stopped.set()

    monkeypatch.setattr(Parts, "stop", stopping)

    def slow(_: Any) -> tuple[str, ...]:
        asked.set()
        assert go_on.wait(20)
        return ("Hello, ", "Mira.")

    found = house(slow)
    app = served(found)
    mira = person(app, "user", "mira")

    async def leave() -> None:
        listening = Listening(mira, PATH, {"text": "Hello"}, accept)
        await asyncio.to_thread(asked.wait, 20)
        listening.go_away()
        await asyncio.to_thread(stopped.wait, 20)
        go_on.set()
        await asyncio.gather(*chat._under_way, return_exceptions=True)

    asyncio.run(leave())
    (record,) = found.store.turns("assistant")
    assert (record.outcome, record.code) == ("failed", "TURN_CANCELLED")
    assert mira.get("/api/agents/assistant/conversation") == []


def test_pausing_stops_at_once_and_resuming_goes_on() -> None:
    found = house()
    app = served(found)
    mo, mira = person(app, "operator", "mo"), person(app, "user", "mira")
    paused = mo("POST", "/api/agents/assistant/pause", {"reason": "look at this"}).json()
    assert (paused["paused"], paused["by"], paused["reason"]) == (True, "admin:mo", "look at this")
    assert code(mira("POST", PATH, {"text": "Hello"})) == (503, "AGENT_PAUSED")
    assert events(mira("POST", PATH, {"text": "Hello"}, headers=STREAM))[0][1]["error"]["code"] == "AGENT_PAUSED"
    assert "look at this" not in mira("POST", PATH, {"text": "Hello"}).text
    assert model(found).requests == []
    assert mo("POST", "/api/agents/assistant/resume").json()["paused"] is False
    assert mira("POST", PATH, {"text": "Hello"}).status_code == 200


def test_a_turn_under_way_ends_at_its_next_step_when_it_is_paused() -> None:
    done: list[Any] = []
    app = served(house(calls("pay", "{}"), "Paid.", tools=[paying(done)]))
    mo, mira = person(app, "operator", "mo"), person(app, "user", "mira")

    async def stop() -> list[tuple[str, dict[str, Any]]]:
        listening = Listening(mira, PATH, {"text": "Pay."})
        assert await listening.start() == 200
        _, wanted = await listening.event()
        assert (await mo.asking("POST", "/api/agents/assistant/pause")).status_code == 200
        body = {"decision": "approve", "sha256": wanted["sha256"]}
        await mira.asking("POST", f"/api/agents/assistant/approvals/{wanted['id']}", body)
        return await listening.rest()

    ((kind, data),) = asyncio.run(stop())
    assert (kind, data["error"]["code"], done) == ("error", "AGENT_PAUSED", [])


def test_a_day_that_is_spent_is_said_so() -> None:
    app = served(house())
    mo, mira = person(app, "operator", "mo"), person(app, "user", "mira")
    body = {"tokens_per_day": None, "turns_per_day": 1}
    assert mo("PUT", "/api/agents/assistant/limit", body).json()["turns_per_day"] == 1
    assert mira("POST", PATH, {"text": "Hello"}).status_code == 200
    assert code(mira("POST", PATH, {"text": "Hello"})) == (429, "AGENT_OVER_SPEND")
    assert mo.get("/api/agents/assistant/control")["turns_today"] == 1


def test_a_chat_that_begins_anew_is_not_told_what_was_said_before() -> None:
    found = house()
    app = served(found)
    mira = person(app, "user", "mira")
    mira("POST", PATH, {"text": "My cat is Zanzibar."})
    mira("POST", PATH, {"text": "Hello"})
    assert "Zanzibar" in str(model(found).payloads[-1])
    assert mira("POST", f"{PATH}/fresh").status_code == 204
    mira("POST", PATH, {"text": "Hello"})
    assert "Zanzibar" not in str(model(found).payloads[-1])
    assert [one["text"] for one in mira.get("/api/agents/assistant/conversation")] == ["Hello"]


def test_an_operators_words_may_change_what_a_users_may_not() -> None:
    found = house(charters=("sovereign",))
    app = served(found)
    for role, name in (("operator", "mo"), ("user", "mira")):
        person(app, role, name)("POST", "/api/agents/sovereign/chat", {"text": "Hello"})  # type: ignore[arg-type]
    asked = [record.detail for record in found.store.turns("sovereign")]
    assert sorted('"operator":true' in detail for detail in asked) == [False, True]


def test_a_slow_model_is_not_taken_for_a_dead_one(monkeypatch: pytest.MonkeyPatch) -> None:
    go_on = threading.Event()
    monkeypatch.setattr(chat, "PING_SECONDS", 0.001)
    app = served(house(lambda _: "Hello." if go_on.wait(20) else ""))
    mira = person(app, "user", "mira")

    async def wait() -> tuple[bytes, list[tuple[str, dict[str, Any]]]]:
        listening = Listening(mira, PATH, {"text": "Hello"})
        assert await listening.start() == 200
        ping = await listening.ping()
        go_on.set()
        return ping, await listening.rest()

    ping, said = asyncio.run(wait())
    assert ping == chat.PING
    assert said[-1][0] == "done"


def test_a_reply_that_left_is_not_sent_twice() -> None:
    found = house("Hello.")
    app = served(found)
    answer = person(app, "user", "mira")("POST", PATH, {"text": "Hello"}).json()
    reply = OutboxMessage("mira", "Hello.", "web")
    assert found.store.mark_sent("assistant", answer["turn"], reply, 5) is False


@pytest.mark.parametrize(("headers", "replies"), [({}, ["Again."]), (STREAM, [])], ids=["whole", "streamed"])
def test_a_turn_that_lost_its_lane_does_not_say_its_words_twice(headers: dict[str, str], replies: list[str]) -> None:
    """As when this process slept too long. Where nobody heard a word yet the message is answered here all the same."""
    store: Any = None

    def late(_: Any) -> str:
        [(until,)] = store.db.read("SELECT until_ns FROM turn_leases")
        assert store.lapse("assistant", until) == 1
        return "Too late."

    found = house(late, "Again.")
    app, store = served(found), found.store
    answer = person(app, "user", "mira")("POST", PATH, {"text": "Hello", "id": "a"}, headers=headers)
    assert [reply.body for _, reply in store.replies("assistant", "mira")] == replies
    assert len(model(found).requests) == 2 - bool(headers)
    if headers:
        kind, last = events(answer)[-1]
        assert (kind, last["error"]["code"], found_text(answer)) == ("error", "TURN_CANCELLED", "Too late.")
        assert len(store.staged("assistant")) == 1  # it waits, and the postman answers it
    else:
        assert answer.json()["reply"] == "Again."


def found_text(answer: Any) -> str:
    """The words of an answer in either form."""
    if "event-stream" not in answer.headers["content-type"]:
        return str(answer.json()["reply"])
    return "".join(data["text"] for kind, data in events(answer) if kind == "text")
