"""Every failure in our words: its kind by status, name or phrase, how long to wait, and what to do next."""

from __future__ import annotations

from dataclasses import replace

import pytest

from charter.core.errors import (
    ProviderAuth,
    ProviderDown,
    ProviderOverflow,
    ProviderRate,
    ProviderRefused,
    WireMismatch,
)
from charter.providers.failures import About, Told, kind_of, retry_after, told_in
from charter.providers.openai_chat import OpenAIChat
from charter.testing import request_for, small_prompt

from .rigs import MAKERS

pytestmark = pytest.mark.requirement("S1-07")

ABOUT = About("openai", "m-1", "api.test", "OPENAI_API_KEY", "check the address and the network")

SET_KEY = "set OPENAI_API_KEY, or choose another model: 'charter model'"
SHORTEN = "shorten the conversation or the layers (charter.toml [budget]), or choose a model with a larger window"


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        (400, None, "refused"),
        (400, {"error": {"code": "context_length_exceeded"}}, "overflow"),
        (400, {"code": "context_length_exceeded", "message": "as the client hands it on"}, "overflow"),
        (400, {"error": {"code": 400, "type": "exceed_context_size_error"}}, "overflow"),
        (400, {"error": {"message": "prompt is too long: 9 tokens > 8 maximum"}}, "overflow"),
        (400, {"error": {"message": "This model's maximum context length is 8 tokens"}}, "overflow"),
        (500, {"error": "the request exceeds the available context size"}, "overflow"),
        (413, None, "overflow"),
        (413, "<html>too large</html>", "overflow"),
        (401, {"error": {"message": "prompt is too long"}}, "auth"),
        (401, None, "auth"),
        (403, "<html>context window</html>", "auth"),
        (403, {"error": {"type": "billing_error"}}, "quota"),
        (402, None, "quota"),
        (429, None, "rate"),
        (429, {"error": {"code": "insufficient_quota"}}, "quota"),
        (429, {"type": "rate_limit_error", "details": {"error_code": "enforced_spend_limit_reached"}}, "quota"),
        (429, {"error": {"message": "the context length makes too many tokens a minute"}}, "rate"),
        (400, {"error": {"message": "Your credit balance is too low"}}, "quota"),
        (404, {"error": {"type": "not_found_error"}}, "refused"),
        (307, None, "refused"),
        (408, None, "down"),
        (409, None, "refused"),
        (500, None, "down"),
        (529, {"error": {"type": "overloaded_error"}}, "down"),
        (200, {"error": {"type": "overloaded_error"}}, "down"),
        (200, {"error": {"code": "rate_limit_exceeded"}}, "rate"),
        (200, {"error": {"code": 429}}, "rate"),
        (200, {"error": {"code": 503}}, "down"),
        (200, {"error": {"code": 7}}, "nonsense"),
        (200, {"error": {"type": "authentication_error"}}, "auth"),
        (200, {"error": {"code": "invalid_prompt"}}, "refused"),
        (200, {"error": {"type": ["odd"], "message": {"odd": 1}, "details": "odd"}}, "nonsense"),
        (200, {"error": "something"}, "nonsense"),
        (200, ["odd"], "nonsense"),
    ],
)  # fmt: skip
def test_the_kind_of_a_failure(status: int, body: object, kind: str) -> None:
    assert kind_of(status, told_in(body)) == kind


def test_what_a_server_said_does_not_show() -> None:
    told = told_in({"error": {"message": "SECRET", "code": "SECRET", "type": "SECRET"}})
    assert told == Told(("SECRET", "SECRET"), "secret", None)
    assert "secret" not in repr(told).lower()


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "12"}, 12.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after-ms": "250", "retry-after": "1"}, 0.25),
        ({"retry-after-ms": "soon", "retry-after": "1"}, 1.0),
        ({"retry-after": "-3"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "Mon, 16 Nov 2026 10:00:30 GMT", "date": "Mon, 16 Nov 2026 10:00:00 GMT"}, 30.0),
        ({"retry-after": "Mon, 16 Nov 2026 09:00:30 GMT", "date": "Mon, 16 Nov 2026 10:00:00 GMT"}, 0.0),
        ({"retry-after": "Mon, 16 Nov 2020 10:00:30 GMT"}, 0.0),
        ({"retry-after": "Mon, 16 Nov 2026 10:00:30 GMT", "date": "yesterday"}, None),
    ],
)
def test_how_long_to_wait_is_read_from_the_headers(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(headers) == seconds


@pytest.mark.parametrize(
    ("status", "body", "error", "message"),
    [
        (
            401,
            None,
            ProviderAuth,
            f"openai: the key is wrong, or may not use this model (401); {SET_KEY}",
        ),
        (429, None, ProviderRate, "openai: too many requests (429); try again in 12 s"),
        (
            429,
            {"error": {"code": "insufficient_quota"}},
            ProviderRate,
            "openai: there is no credit left (429); add credit to the account, or choose another model",
        ),
        (
            413,
            None,
            ProviderOverflow,
            f"openai: the prompt is longer than the window of m-1; {SHORTEN}",
        ),
        (
            404,
            None,
            ProviderRefused,
            "openai: the request was refused (404); check the base URL api.test and the model m-1",
        ),
        (
            422,
            None,
            ProviderRefused,
            "openai: the request was refused (422); check the options and tools sent with it",
        ),
        (503, None, ProviderDown, "openai: an error on the provider's side (503); try again later"),
    ],
)
def test_an_error_says_what_happened_and_what_to_do_next(
    status: int, body: object, error: type[Exception], message: str
) -> None:
    made = ABOUT.failed(status, told_in(body), {"retry-after": "12"})
    assert (type(made), str(made)) == (error, message)


def test_no_one_at_the_address_says_where_it_was_looked_for() -> None:
    for dialect, make in MAKERS.items():
        made = make("m-1", base_url="http://someone:secret@127.0.0.1:9/v1", api_key="k")
        hint = "start it with 'ollama serve'" if dialect == "ollama" else "check the address and the network"
        with pytest.raises(ProviderDown, match=rf"^{dialect}: cannot be reached at 127\.0\.0\.1:9; {hint}") as told:
            made.converse(request_for(made, small_prompt()), lambda part: None)
        assert told.value.__context__ is None
        assert "secret" not in f"{told.value} {made!r}"
        made.close()


def test_a_body_that_cannot_be_written_as_json_is_never_sent_and_its_text_not_told() -> None:
    made = OpenAIChat("m-1", base_url="http://127.0.0.1:9/v1")
    good = request_for(made, small_prompt())
    odd_ones = {"UnicodeEncodeError": "lone \ud800 half", "ValueError": float("nan"), "TypeError": object()}
    for kind, odd in odd_ones.items():
        request = replace(good, payload={**good.payload, "user": odd})
        told = rf"^openai: the request cannot be written \({kind}\); nothing was sent$"
        with pytest.raises(WireMismatch, match=told) as caught:
            made.converse(request, lambda part: None)
        assert caught.value.__context__ is None
    made.close()
