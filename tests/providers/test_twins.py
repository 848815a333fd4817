"""The contracts can fail: of a provider with one control taken out, they name the promise it breaks."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from threading import Barrier
from typing import Any, Final

import pytest

from charter.core.dialogue import Reply, Usage
from charter.core.errors import ProviderError, ProviderRefused
from charter.core.ports import Request
from charter.providers import failures, guarded, heard, line, openai_chat
from charter.testing import PROVIDER_CONTRACTS, Rig, ScriptedProvider, check_provider

from .rigs import RIGS, ScriptedRig, SocketRig

pytestmark = pytest.mark.requirement("S1-03", "S1-07")

CONTRACTS: Final = {contract.__name__: contract for contract in PROVIDER_CONTRACTS}
Twin = Callable[[pytest.MonkeyPatch], Callable[[], Rig]]


def chat() -> Rig:
    return SocketRig("openai")


# ── controls of the real ones ─────────────────────────────────────────────────────────────────────────────────────


def no_guard(monkeypatch: pytest.MonkeyPatch) -> Callable[[], Rig]:
    monkeypatch.setattr(guarded, "check", lambda *given: None)
    return chat


def any_dialect(monkeypatch: pytest.MonkeyPatch) -> Callable[[], Rig]:
    real = line.listen

    def listen(where: Any, form: Any, request: Request, *given: Any, **named: Any) -> Reply:
        return real(where, form._replace(dialect=request.expected.dialect), request, *given, **named)

    monkeypatch.setattr(openai_chat, "listen", listen)
    return chat


def tries_again(monkeypatch: pytest.MonkeyPatch) -> Callable[[], Rig]:
    monkeypatch.setattr(guarded, "_look", lambda request, call: None)

    def make() -> Rig:
        rig = SocketRig("openai")
        monkeypatch.setattr(rig.made._client, "max_retries", 1)
        monkeypatch.setattr(rig.made._client, "_sleep_for_retry", lambda **given: rig.stub.answers.append("too many"))
        return rig

    return make


def one_call_for_all_threads(monkeypatch: pytest.MonkeyPatch) -> Callable[[], Rig]:
    class Shared:
        def __init__(self) -> None:
            self.all_set = Barrier(8)
            self.call: Any = None
            self.waited = 0

        def get(self) -> Any:
            return self.call

        def set(self, call: Any) -> None:
            self.call, self.waited = call, self.waited + 1
            if self.waited <= 8:
                self.all_set.wait()

        def reset(self, token: None) -> None:
            pass

    monkeypatch.setattr(guarded, "_UNDER_WAY", Shared())
    return chat


def half_replies(monkeypatch: pytest.MonkeyPatch) -> Callable[[], Rig]:
    monkeypatch.setattr(heard.Heard, "end", lambda self: "")
    return chat


def theirs_behind_ours(monkeypatch: pytest.MonkeyPatch) -> Callable[[], Rig]:
    def in_their_words(parts: Any, about: Any, call: Any, errors: Any) -> Any:
        try:
            yield from parts
        except Exception as error:
            raise line._failure(error, about, call, errors) from error

    monkeypatch.setattr(line, "_in_our_words", in_their_words)
    return chat


def says_what_the_server_said(monkeypatch: pytest.MonkeyPatch) -> Callable[[], Rig]:
    def failed(self: Any, status: int, told: failures.Told, headers: Any) -> ProviderError:
        made = real(self, status, told, headers)
        return type(made)(self.name, f"{told.words}; try again")

    real = failures.About.failed
    monkeypatch.setattr(failures.About, "failed", failed)
    return chat


def never_says_when(monkeypatch: pytest.MonkeyPatch) -> Callable[[], Rig]:
    monkeypatch.setattr(failures, "retry_after", lambda headers: None)
    return chat


def all_errors_alike(monkeypatch: pytest.MonkeyPatch) -> Callable[[], Rig]:
    monkeypatch.setattr(failures, "kind_of", lambda status, told: "refused")
    return chat


def leaves_it_open(monkeypatch: pytest.MonkeyPatch) -> Callable[[], Rig]:
    monkeypatch.setattr(line, "closing", nullcontext)

    def make() -> Rig:
        rig = SocketRig("openai")
        rig.patience = 0.2
        return rig

    return make


def leaves_ids_empty(monkeypatch: pytest.MonkeyPatch) -> Callable[[], Rig]:
    monkeypatch.setattr(heard, "numbered", lambda calls, before: tuple(calls))
    return chat


def loses_pieces(monkeypatch: pytest.MonkeyPatch) -> Callable[[], Rig]:
    real = heard.Heard.call
    monkeypatch.setattr(
        heard.Heard,
        "call",
        lambda self, key, **named: real(self, key, **{**named, "arguments": named["arguments"][:3]}),
    )
    return chat


def asks_for_json(monkeypatch: pytest.MonkeyPatch) -> Callable[[], Rig]:
    import json

    monkeypatch.setattr(openai_chat, "arguments", lambda value: json.dumps(json.loads(value)) if value else "")
    return chat


def counts_no_cache(monkeypatch: pytest.MonkeyPatch) -> Callable[[], Rig]:
    monkeypatch.setattr(openai_chat, "_usage", lambda usage, body: Usage(usage["prompt_tokens"], 7))
    return chat


def knows_one_end(monkeypatch: pytest.MonkeyPatch) -> Callable[[], Rig]:
    monkeypatch.setattr(openai_chat, "stop_of", lambda value, known: "end")
    return chat


# ── controls of any ───────────────────────────────────────────────────────────────────────────────────────────────


def scripted(converse: Callable[[ScriptedProvider, Request, Any], Reply]) -> Twin:
    """A scripted provider that converses like this."""

    def twin(monkeypatch: pytest.MonkeyPatch) -> Callable[[], Rig]:
        monkeypatch.setattr(ScriptedProvider, "converse", converse)
        return lambda: ScriptedRig("openai")

    return twin


_real = ScriptedProvider.converse


def _swallows(self: ScriptedProvider, request: Request, hear: Any) -> Reply:
    def safe(part: str) -> None:
        try:
            hear(part)
        except Exception:
            return

    return _real(self, request, safe)


def _changes(self: ScriptedProvider, request: Request, hear: Any) -> Reply:
    reply = _real(self, request, hear)
    self.requests[-1] = replace(request, payload={**request.payload, "metadata": {}})
    return reply


def _shows(monkeypatch: pytest.MonkeyPatch) -> Callable[[], Rig]:
    monkeypatch.setattr(ScriptedProvider, "__repr__", lambda self: f"{self.payloads}")
    return lambda: ScriptedRig("openai")


def _refuses_silence(self: ScriptedProvider, request: Request, hear: Any) -> Reply:
    reply = _real(self, request, hear)
    if not reply.text and not reply.calls:
        raise ProviderRefused("scripted", "nothing was said")
    return reply


TWINS: Final[dict[str, tuple[Twin, str]]] = {
    "no guard": (no_guard, "swapped_layers_are_refused_before_anything_is_sent"),
    "no hash": (no_guard, "a_body_that_was_changed_after_it_was_assembled_is_refused"),
    "any dialect": (any_dialect, "a_body_of_another_dialect_is_refused"),
    "tries again": (tries_again, "every_fault_is_an_error_of_its_kind_told_once_and_without_content"),
    "one call for all threads": (one_call_for_all_threads, "requests_of_many_threads_pass_each_with_its_own_body"),
    "half replies": (half_replies, "half_a_stream_is_no_reply_whatever_was_heard_of_it"),
    "theirs behind ours": (
        theirs_behind_ours,
        "every_fault_is_an_error_of_its_kind_told_once_and_without_content",
    ),
    "says what the server said": (
        says_what_the_server_said,
        "every_fault_is_an_error_of_its_kind_told_once_and_without_content",
    ),
    "all errors alike": (
        all_errors_alike,
        "every_fault_is_an_error_of_its_kind_told_once_and_without_content",
    ),
    "never says when": (never_says_when, "too_many_requests_say_how_long_to_wait_and_no_credit_says_so"),
    "leaves it open": (leaves_it_open, "whoever_listens_can_stop_it_and_the_connection_is_closed"),
    "leaves ids empty": (leaves_ids_empty, "a_call_without_an_id_is_numbered_on_from_the_calls_before"),
    "loses pieces": (loses_pieces, "calls_are_handed_on_one_or_several_beside_a_text_or_alone"),
    "asks for json": (asks_for_json, "arguments_that_are_no_json_are_handed_on_as_they_are"),
    "counts no cache": (counts_no_cache, "usage_is_told_with_what_came_from_a_cache"),
    "knows one end": (knows_one_end, "why_a_model_stopped_is_told"),
    "swallows": (scripted(_swallows), "whoever_listens_can_stop_it_and_the_connection_is_closed"),
    "tells those who did not ask": (
        scripted(lambda self, request, hear: _real(self, replace(request, stream=True), hear)),
        "a_text_comes_back_whole_and_nobody_hears_its_parts",
    ),
    "tells a stream to nobody": (
        scripted(lambda self, request, hear: _real(self, replace(request, stream=True), hear)),
        "a_stream_nobody_listens_to_gives_the_same_reply",
    ),
    "streams in one part": (
        scripted(lambda self, request, hear: _real(self, replace(request, stream=False), hear)),
        "a_streamed_text_is_heard_in_parts_that_are_the_whole",
    ),
    "refuses silence": (scripted(_refuses_silence), "an_empty_text_is_a_reply_too"),
    "changes the body": (scripted(_changes), "the_body_that_arrives_is_the_body_that_was_assembled"),
    "shows it": (_shows, "nothing_that_was_said_shows_in_a_repr"),
}


@pytest.mark.parametrize("twin", TWINS)
def test_a_provider_without_one_control_breaks_the_contract_of_it(twin: str, monkeypatch: pytest.MonkeyPatch) -> None:
    take_out, name = TWINS[twin]
    make = take_out(monkeypatch)
    told = f"the provider breaks a contract: {name.replace('_', ' ')} ("
    with pytest.raises(AssertionError) as caught:
        check_provider(make, contracts=[CONTRACTS[name]])
    assert str(caught.value).startswith(told)


def test_every_contract_has_a_twin_that_breaks_it() -> None:
    assert {name for _, name in TWINS.values()} == set(CONTRACTS)


def test_with_every_control_the_contracts_hold() -> None:
    check_provider(RIGS["scripted-openai"])
