"""The real small model answers, streams, calls, caches and overflows as a provider must; and it says nothing aloud."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
from datetime import UTC, datetime
from urllib.error import HTTPError
from urllib.parse import urlsplit
from urllib.request import urlopen

import pytest

from charter import Incoming, load
from charter.core.assemble import Assembly
from charter.core.dialogue import Reply
from charter.core.errors import ProviderOverflow
from charter.core.ports import ToolSpec
from charter.providers import embedded
from charter.providers.embedded import Embedded
from charter.testing import request_for, small_prompt

pytestmark = [pytest.mark.model, pytest.mark.requirement("N-16")]

TEXT = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
SAVE = ToolSpec("save_memory", "Keep something the user asked you to remember.", TEXT)


def ask(model: Embedded, assembly: Assembly, *, stream: bool = False, most: int = 32) -> tuple[Reply, list[str]]:
    """The reply, and the parts in which it was heard."""
    heard: list[str] = []
    request = request_for(model, assembly, stream=stream, max_tokens=most, timeout_s=300)
    return model.converse(request, heard.append), heard


def test_it_answers_as_its_system_prompt_says(embedded_model: Embedded) -> None:
    at = datetime(2026, 1, 1, 10, tzinfo=UTC)
    assembly = load("assistant").assemble(Incoming(channel="terminal", text="What is your name?", at=at))
    reply, heard = ask(embedded_model, assembly)
    assert "Ada" in reply.text
    assert (reply.stop, reply.calls, heard) == ("end", (), [])
    assert reply.usage.input > 500
    assert 0 < reply.usage.output < 32


def test_a_streamed_answer_is_the_whole_one_in_parts(embedded_model: Embedded) -> None:
    whole, unheard = ask(embedded_model, small_prompt("Say hello to Zoë — and to 你好."))
    streamed, parts = ask(embedded_model, small_prompt("Say hello to Zoë — and to 你好."), stream=True)
    assert whole.text == streamed.text == "".join(parts)
    assert "Zoë" in whole.text
    assert (len(parts) > 1, unheard) == (True, [])
    assert (streamed.usage.input, streamed.usage.output) == (whole.usage.input, whole.usage.output)


@pytest.mark.parametrize("stream", [False, True])
def test_told_to_remember_something_it_calls_save_memory(stream: bool, embedded_model: Embedded) -> None:
    reply, _ = ask(embedded_model, small_prompt("Remember that the garage code is 4471.", [SAVE]), stream=stream)
    (call,) = reply.calls
    assert (call.name, reply.stop) == ("save_memory", "tools")
    assert "4471" in json.loads(call.arguments)["text"]


def test_an_answer_that_is_cut_by_the_limit_says_so(embedded_model: Embedded) -> None:
    reply, _ = ask(embedded_model, small_prompt("Count from one to a thousand."), most=5)
    assert (reply.stop, reply.usage.output) == ("length", 5)


@pytest.mark.requirement("N-06")
def test_what_two_prompts_begin_with_comes_from_the_cache_and_is_counted(embedded_model: Embedded) -> None:
    embedded_model.close()  # its cache goes with it
    cold, _ = ask(embedded_model, small_prompt("Name one colour."), most=2)
    warm, _ = ask(embedded_model, small_prompt("Name one colour."), most=2)
    other, _ = ask(embedded_model, small_prompt("Please name two fruits."), most=2)
    assert cold.usage.cached == 0
    assert warm.usage.cached == warm.usage.input - 1
    assert other.usage.cached is not None
    assert other.usage.input - 16 <= other.usage.cached < other.usage.input


def test_a_prompt_longer_than_the_window_is_refused_and_never_cut(embedded_model: Embedded) -> None:
    with pytest.raises(ProviderOverflow, match="the prompt is longer than the window of embedded/qwen2"):
        ask(embedded_model, small_prompt("word " * embedded_model.window))
    assert ask(embedded_model, small_prompt("Name one colour."))[0].stop == "end"


def test_who_stops_listening_stops_the_model(embedded_model: Embedded) -> None:
    class Enough(Exception):
        pass

    def hear(part: str) -> None:
        raise Enough

    question = small_prompt("Count from one to a thousand.")
    request = request_for(embedded_model, question, stream=True, max_tokens=4000, timeout_s=300)
    with pytest.raises(Enough):
        embedded_model.converse(request, hear)
    assert ask(embedded_model, small_prompt("Name one colour."))[0].stop == "end"  # not a thousand numbers later


@pytest.mark.requirement("S1-07")
def test_neither_prompts_nor_replies_reach_stdout_or_stderr(
    embedded_model: Embedded, capfd: pytest.CaptureFixture[str]
) -> None:
    embedded_model.close()
    assert "CANARY" in ask(embedded_model, small_prompt("Say the word CANARY-7."), stream=True)[0].text
    ask(embedded_model, small_prompt("Remember CANARY-8.", [SAVE]))
    with pytest.raises(ProviderOverflow):
        ask(embedded_model, small_prompt("CANARY-9 " * embedded_model.window))
    embedded_model.close()
    assert capfd.readouterr() == ("", "")


def test_the_server_answers_nobody_without_its_secret_and_is_gone_after_close(embedded_model: Embedded) -> None:
    ask(embedded_model, small_prompt("Hello."), most=1)
    address = embedded._HERE[0].address
    place = urlsplit(address)
    assert place.hostname == "127.0.0.1"
    for path in ("/slots", "/props", "/metrics", "/v1/chat/completions"):
        with pytest.raises(HTTPError) as refused:
            urlopen(address + path, timeout=5)
        with refused.value as answer:
            assert answer.code in (401, 404)
    embedded_model.close()
    with pytest.raises(ConnectionRefusedError), socket.create_connection((place.hostname, place.port or 0), timeout=5):
        pass


# ── the process it runs in ────────────────────────────────────────────────────────────────────────────────────────

BEGIN = """
import signal, sys, threading
from charter import weights
from charter.core.errors import ProviderError
from charter.providers.embedded import Embedded
from charter.testing import request_for, small_prompt
signal.signal(signal.SIGINT, signal.default_int_handler)  # who runs the tests in the background may have it ignored
model = Embedded(sys.argv[1], weights=lambda: weights.verified(sys.argv[1]), options={"ignore_eos": True})
began = threading.Event()
def talk():
    try:
        model.converse(request_for(model, small_prompt(), stream=True, max_tokens=4000), lambda part: began.set())
    except ProviderError as error:
        print(error.code, flush=True)
speaker = threading.Thread(target=talk, daemon=True)
speaker.start()
assert began.wait(300)
"""
CUT_OFF = "PROVIDER_DOWN"
WAYS = {
    "by its end": ("", 0, ("", CUT_OFF)),  # who spoke may live just long enough to say so
    "after closing": ("model.close(); speaker.join()", 0, (CUT_OFF,)),
    "by a fork's end": ("import os; child = os.fork(); child and os.waitpid(child, 0)", 0, ("", CUT_OFF)),
    "by Ctrl-C": ("signal.raise_signal(signal.SIGINT)", -signal.SIGINT, ("", CUT_OFF)),
    "by SIGTERM": ("signal.raise_signal(signal.SIGTERM)", -signal.SIGTERM, ("",)),
}


@pytest.mark.parametrize("way", WAYS)
def test_a_process_that_leaves_in_the_middle_of_an_answer_ends_at_once(way: str, embedded_model: Embedded) -> None:
    embedded_model.close()  # one server at a time
    then, code, said = WAYS[way]
    command = [sys.executable, "-W", "ignore", "-c", BEGIN + then, embedded_model.model.removeprefix("embedded/")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == code
    assert done.stdout.strip() in said
    assert done.stderr == "" or "KeyboardInterrupt" in done.stderr.splitlines()


@pytest.mark.deep
def test_the_larger_model_answers_too_once_the_small_one_is_stopped(larger_model: Embedded) -> None:
    assert ask(larger_model, small_prompt("Name one colour."))[0].stop == "end"


def test_the_fixture_refuses_to_run_beside_other_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    import models

    monkeypatch.setenv("PYTEST_XDIST_WORKER", "gw0")
    with pytest.raises(pytest.fail.Exception, match="tests with a model run in one process: pytest -m model"):
        models.opened(models.SMALL)
