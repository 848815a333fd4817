"""S1-07: the clients' loggers and tracers, however loud they are set, never tell what is said to a model."""

from __future__ import annotations

import logging
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import opentelemetry.trace
import pytest

from charter.core.dialogue import Reply, ToolCall, Usage
from charter.core.errors import ProviderError
from charter.core.ports import Provider, ToolSpec
from charter.providers import quiet
from charter.testing import FAULTS, request_for, small_prompt

from .rigs import MAKERS, SocketRig

pytestmark = pytest.mark.requirement("S1-07")

SAID, ANSWERED, ARGUED, DESCRIBED = "canary-message", "canary-reply", "canary-argument", "canary-tool"
CANARIES = (SAID, ANSWERED, ARGUED, DESCRIBED, "canary-7f3a", "Never lie about a tide", "sk-canary")
LOGGERS = (*quiet.QUIET, "openai._base_client", "anthropic._base_client", "anthropic._response", "httpcore2.http11")


class Capturing(logging.Handler):
    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.told: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.told.append(f"{record.name} {record.getMessage()} {record.args} {record.exc_info}")


@pytest.fixture
def loud() -> Iterator[Capturing]:
    """Everything at DEBUG into one handler: on the root, and on each client's own logger."""
    handler, before = Capturing(), {}
    for name in ("", *LOGGERS):
        logger = logging.getLogger(name)
        before[name] = (logger.level, logger.disabled, logger.propagate, list(logger.handlers))
        logger.setLevel(logging.DEBUG)
        logger.disabled, logger.propagate = False, True
        logger.addHandler(handler)
    yield handler
    for name, (level, disabled, propagate, handlers) in before.items():
        logger = logging.getLogger(name)
        logger.setLevel(level)
        logger.disabled, logger.propagate, logger.handlers[:] = disabled, propagate, handlers


def talk(rig: SocketRig) -> None:
    """A reply, a stream, calls, and every way to fail."""
    provider: Provider = rig.provider
    tools = (ToolSpec("note", DESCRIBED),) if provider.native_tools else ()
    calls = (ToolCall("c", "note", f'{{"text": "{ARGUED}"}}'),) if provider.native_tools else ()
    said = Reply(ANSWERED, calls, Usage(300, 1), "tools" if calls else "end")
    for stream in (False, True):
        for answer in (said, *(fault for fault in FAULTS if fault not in ("slow", "endless"))):
            rig.answer(answer)
            request = request_for(provider, small_prompt(SAID, tools), stream=stream)
            with suppress(ProviderError):
                provider.converse(request, lambda part: None)


@pytest.mark.parametrize("dialect", MAKERS)
def test_nothing_is_logged_of_what_is_said_whatever_level_the_loggers_have(dialect: str, loud: Capturing) -> None:
    rig = SocketRig(dialect, api_key="sk-canary")
    try:
        for name in LOGGERS:  # turned on again after the provider was made
            logging.getLogger(name).disabled = False
            logging.getLogger(name).propagate = True
        talk(rig)
        assert len(rig.stub.bodies) > 10
        assert [line for line in loud.told if any(canary in line for canary in CANARIES)] == []
        assert [line for line in loud.told if line.startswith(quiet.QUIET)] == []
    finally:
        rig.close()


def test_without_the_silence_a_client_does_log_the_prompt(loud: Capturing, monkeypatch: pytest.MonkeyPatch) -> None:
    for place in ("charter.providers.line.hush", "charter.providers.quiet.hush"):
        monkeypatch.setattr(place, lambda: None)
    rig = SocketRig("anthropic")
    try:
        rig.answer(Reply(ANSWERED, usage=Usage(300, 1)))
        rig.provider.converse(request_for(rig.provider, small_prompt(SAID)), lambda part: None)
    finally:
        rig.close()
    assert any(SAID in line and "Never lie about a tide" in line for line in loud.told)


def test_a_logger_that_is_made_later_reaches_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    handler = Capturing()
    monkeypatch.setattr(logging.root, "handlers", [handler])
    quiet.hush()
    for name in ("openai.made.later", "httpx2.made.later", "anthropic", "charter.test"):
        logging.getLogger(name).warning(SAID)
    assert [line.split()[0] for line in handler.told] == ["charter.test"]


@pytest.mark.parametrize("variable", ["OPENAI_LOG", "ANTHROPIC_LOG"])
def test_the_clients_own_variables_for_debugging_print_nothing(variable: str) -> None:
    kind = "openai" if variable.startswith("OPENAI") else "anthropic"
    script = f"""
import json, httpx2
from charter.providers import open_provider
from charter.testing import request_for, small_prompt
from charter.providers.{"openai_chat" if kind == "openai" else "anthropic"} import *
answer = httpx2.MockTransport(lambda request: httpx2.Response(200, json={{}}))
made = {"OpenAIChat" if kind == "openai" else "AnthropicMessages"}("m", base_url="http://m.test", transport=answer)
try:
    made.converse(request_for(made, small_prompt("{SAID}")), print)
except Exception as error:
    print(type(error).__name__)
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, env={variable: "debug", "PATH": ""}
    )
    assert (done.stdout, done.stderr) == ("ProviderNonsense\n", "")


class Tracer:
    """Takes note of every span and what is written on it."""

    def __init__(self) -> None:
        self.noted: list[str] = []

    def start_span(self, *given: Any, **named: Any) -> Any:
        self.noted.append(f"{given} {named}")
        return opentelemetry.trace.INVALID_SPAN


@pytest.mark.parametrize("ours", [True, False])
def test_no_span_is_made_of_a_call_even_when_the_environment_asks_for_its_content(
    ours: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    tracer = Tracer()
    monkeypatch.setattr(opentelemetry.trace, "get_tracer", lambda *given, **named: tracer)
    monkeypatch.setenv("ANTHROPIC_OPEN_TELEMETRY_TRACES_CONTENT_MODE", "content")
    if not ours:  # the twin: a client that nobody told to trace nothing
        import anthropic

        real = anthropic.Anthropic
        monkeypatch.setattr(anthropic, "Anthropic", lambda open_telemetry, **given: real(**given))
    rig = SocketRig("anthropic")
    try:
        rig.answer(Reply(ANSWERED, usage=Usage(300, 1)))
        if not ours:  # a call of the client's own kind is the one that has a name for its span
            monkeypatch.setattr(rig.made._client, "post", _named(rig.made._client.post))
        rig.provider.converse(request_for(rig.provider, small_prompt(SAID)), lambda part: None)
    finally:
        rig.close()
    assert bool(tracer.noted) is not ours


def _named(post: Any) -> Any:
    def call(path: str, *, options: dict[str, Any], **given: Any) -> Any:
        return post(path, options={**options, "span_name": "anthropic.messages.create"}, **given)

    return call
