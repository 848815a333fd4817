"""The inbox over the API: a message is left once, by who the token or the signature says, and read by its sender."""

from __future__ import annotations

import sys
import time
from typing import Any

import pytest
from eth_hash.auto import keccak
from eth_keys.datatypes import PrivateKey

from charter.channels.inbox import Postman
from charter.web.api import inbox
from charter.web.ethereum import GRACE_SECONDS, Signed, recovered

from .rooms import Person, code, house, model, person, served

pytestmark = pytest.mark.requirement("S0-10", "S0-12")
PATH = "/api/agents/assistant/inbox"
KEY, OTHER = PrivateKey(b"\x01" * 32), PrivateKey(b"\x02" * 32)
MIRA = KEY.public_key.to_address()


def personal_sign(key: PrivateKey, text: str) -> str:
    """What a wallet does."""
    data = text.encode()
    digest = keccak(b"\x19Ethereum Signed Message:\n" + str(len(data)).encode() + data)
    signature = key.sign_msg_hash(digest).to_bytes()
    return "0x" + (signature[:64] + bytes([signature[64] + 27])).hex()


def letter(key: PrivateKey = KEY, **more: Any) -> dict[str, Any]:
    """A signed message; what is changed after it was signed is in `more`."""
    text, at = "Is it going to rain?", int(time.time())
    body = {"text": text, "id": "m-1", "sender": MIRA, "at": at}
    signed = Signed("message", "assistant", "m-1", MIRA, at, text)
    return {**body, "signature": personal_sign(key, signed.statement), **more}


def reading(message: str = "m-1", key: PrivateKey = KEY) -> dict[str, str]:
    now = int(time.time())
    signed = Signed("reading", "assistant", message, MIRA, now)
    return {
        "x-charter-sender": MIRA, "x-charter-at": str(now),
        "x-charter-signature": personal_sign(key, signed.statement),
    }  # fmt: skip


# ── with a token ──────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_message_is_left_answered_by_the_postman_and_read_by_its_sender() -> None:
    found = house("It will not.")
    app = served(found)
    zoe, mo, otto = person(app, "sender", "zoe"), person(app, "operator", "mo"), person(app, "sender", "otto")
    left = zoe("POST", PATH, {"text": "Is it going to rain?", "id": "one"})
    assert (left.status_code, left.json()) == (202, {"id": "one", "state": "waits", "new": True})
    assert zoe.get(f"{PATH}/one") == {"id": "one", "state": "waits", "reply": []}
    Postman(found).answer("assistant", "zoe")
    assert len(found.store.unsent("assistant")) == 1
    assert mo.get(f"{PATH}/one?sender=zoe")["reply"] == ["It will not."]
    assert len(found.store.unsent("assistant")) == 1
    assert zoe.get(f"{PATH}/one") == {"id": "one", "state": "answered", "reply": ["It will not."]}
    assert found.store.unsent("assistant") == []
    assert code(otto("GET", f"{PATH}/one")) == (404, "NOT_STORED")
    assert code(otto("GET", f"{PATH}/one?sender=zoe")) == (403, "ACCESS_DENIED")


def test_the_same_id_again_is_the_same_message_and_another_senders_is_another() -> None:
    found = house()
    app = served(found)
    zoe, otto = person(app, "sender", "zoe"), person(app, "sender", "otto")
    assert zoe("POST", PATH, {"text": "One.", "id": "a"}).json()["new"] is True
    assert zoe("POST", PATH, {"text": "Two.", "id": "a"}).json()["new"] is False
    assert otto("POST", PATH, {"text": "Three.", "id": "a"}).json()["new"] is True
    waiting = found.store.staged("assistant")
    assert [(one.sender, one.body, one.channel, one.user) for one in waiting] == [
        ("zoe", "One.", "inbox", ""), ("otto", "Three.", "inbox", ""),
    ]  # fmt: skip


def test_a_token_says_who_sends_and_an_operator_may_say_another() -> None:
    found = house()
    app = served(found)
    zoe, mo, mira = person(app, "sender", "zoe"), person(app, "operator", "mo"), person(app, "user", "mira")
    assert code(zoe("POST", PATH, {"text": "Hello", "sender": "otto"})) == (403, "ACCESS_DENIED")
    assert zoe("POST", PATH, {"text": "Hello", "sender": "zoe"}).status_code == 202
    assert mo("POST", PATH, {"text": "Hello", "sender": "otto"}).status_code == 202
    assert mira("POST", PATH, {"text": "Hello"}).status_code == 202
    assert [(one.sender, one.user) for one in found.store.staged("assistant")] == [
        ("zoe", ""), ("otto", ""), ("mira", "mira"),
    ]  # fmt: skip


def test_a_message_comes_by_the_channel_of_its_token() -> None:
    found = house()
    app = served(found)
    person(app, "sender", "zoe", channel="external_email")("POST", PATH, {"text": "Hello"})
    assert [one.channel for one in found.store.staged("assistant")] == ["external_email"]


def test_a_paused_agents_inbox_still_takes_messages() -> None:
    found = house()
    app = served(found)
    person(app, "operator", "mo")("POST", "/api/agents/assistant/pause")
    assert person(app, "sender", "zoe")("POST", PATH, {"text": "Hello"}).status_code == 202
    assert (len(found.store.staged("assistant")), model(found).requests) == (1, [])


# ── signed ────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_an_ethereum_sender_signs_what_they_say_and_what_they_read() -> None:
    found = house("It will not.")
    nobody = Person(served(found))
    left = nobody("POST", PATH, letter())
    assert (left.status_code, left.json()) == (202, {"id": "m-1", "state": "waits", "new": True})
    assert [one.sender for one in found.store.staged("assistant")] == [MIRA]
    Postman(found).answer("assistant", MIRA)
    assert nobody.get(f"{PATH}/m-1", headers=reading())["reply"] == ["It will not."]
    assert code(nobody("GET", f"{PATH}/m-1")) == (401, "ACCESS_UNKNOWN")
    assert code(nobody("GET", f"{PATH}/m-1", headers=reading(key=OTHER))) == (401, "ACCESS_UNKNOWN")
    assert code(nobody("GET", f"{PATH}/m-2", headers=reading())) == (401, "ACCESS_UNKNOWN")


def test_a_signature_is_good_for_one_message() -> None:
    found = house()
    nobody = Person(served(found))
    body = letter()
    assert [nobody("POST", PATH, body).json()["new"] for _ in range(3)] == [True, False, False]
    Postman(found).answer("assistant", MIRA)
    assert nobody("POST", PATH, body).json() == {"id": "m-1", "state": "answered", "new": False}
    assert (len(model(found).requests), found.store.staged("assistant")) == (1, [])


CHANGED: dict[str, dict[str, Any]] = {
    "the text": {"text": "Send me everything."},
    "the id": {"id": "m-2"},
    "the sender": {"sender": OTHER.public_key.to_address()},
    "no address": {"sender": "zoe"},
    "nobody": {"sender": ""},
    "no time": {"at": 0},
    "zeros": {"signature": "0x" + "0" * 130},
    "ones": {"signature": "0x" + "f" * 130},
}


@pytest.mark.parametrize("what", CHANGED)
def test_a_message_that_was_not_signed_as_it_is_is_refused(what: str) -> None:
    found = house()
    body = letter(**CHANGED[what])
    answer = Person(served(found))("POST", PATH, body)
    assert code(answer) == (401, "ACCESS_UNKNOWN")
    assert found.store.staged("assistant") == []
    assert body["text"] not in answer.text


def test_a_message_signed_with_another_key_or_at_another_time_is_refused() -> None:
    nobody = Person(served(house()))
    body = letter()
    assert code(nobody("POST", PATH, letter(OTHER))) == (401, "ACCESS_UNKNOWN")
    assert code(nobody("POST", PATH, {**body, "at": body["at"] + 1})) == (401, "ACCESS_UNKNOWN")
    assert nobody("POST", PATH, body).status_code == 202


@pytest.mark.parametrize(("seconds", "status"), [(-GRACE_SECONDS - 5, 401), (-200, 202), (200, 202), (400, 401)])
def test_a_signature_holds_for_five_minutes(seconds: int, status: int) -> None:
    at = int(time.time()) + seconds
    signed = Signed("message", "assistant", "m-1", MIRA, at, "Hello")
    body = {"text": "Hello", "id": "m-1", "sender": MIRA, "at": at, "signature": personal_sign(KEY, signed.statement)}
    assert Person(served(house()))("POST", PATH, body).status_code == status


def test_a_signature_for_one_agent_is_not_one_for_another() -> None:
    nobody = Person(served(house(charters=("assistant", "sovereign"))))
    assert code(nobody("POST", "/api/agents/sovereign/inbox", letter())) == (401, "ACCESS_UNKNOWN")
    assert code(nobody("POST", PATH, letter(signature="0x12"))) == (400, "BAD_VALUE")
    assert code(nobody("POST", PATH, letter(id=""))) == (400, "BAD_VALUE")


def test_the_address_is_recovered_as_a_wallet_of_the_standard_would_sign() -> None:
    # The first example of the web3.js page on `accounts.recover`: a message and a signature that others made.
    signature = (
        "0xb91467e570a6466aa9e9876cbcd013baba02900b8979d43fe208a4a4f339f5fd"
        "6007e74cd82e037b800186422fc2da167c747ef045e5d18a5f5d4300f8e1a0291c"
    )  # fmt: skip
    assert recovered("Some data", signature) == "0x2c7536e3605d9c16a7a3d7b1898e529396a65c23"
    assert recovered("Some date", signature) != "0x2c7536e3605d9c16a7a3d7b1898e529396a65c23"
    assert recovered("Some data", signature[:-2] + "1d") == ""


def test_without_the_part_that_checks_signatures_nobody_is_believed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "eth_keys.datatypes", None)
    answer = Person(served(house()))("POST", PATH, letter())
    assert code(answer) == (501, "MISSING_EXTRA")
    assert "charter[evm]" in answer.text


def test_without_the_look_at_the_signature_a_forged_message_would_be_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    nobody = Person(served(house()))
    assert nobody("POST", PATH, letter(OTHER)).status_code == 401
    monkeypatch.setattr(inbox, "known", lambda signed, signature, at_ns: signed.sender)
    assert nobody("POST", PATH, letter(OTHER)).status_code == 202
