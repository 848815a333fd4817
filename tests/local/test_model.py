"""The real small model answers, streams, calls, caches and overflows as a provider must; and it says nothing aloud."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from urllib.error import HTTPError
from urllib.parse import urlsplit
from urllib.request import urlopen

import pytest

from charter import Incoming, load
from charter.core.assemble import Assembly
from charter.core.dialogue import NO_TALK, Reply, Said, Talk, ToolCall
from charter.core.errors import ProviderOverflow
from charter.core.ports import Request
from charter.providers import embedded
from charter.providers.embedded import Embedded

pytestmark = [pytest.mark.model, pytest.mark.requirement("N-16")]

TESTS = str(Path(__file__).parent.parent)
AT = datetime(2026, 1, 1, 10, tzinfo=UTC)


def prompt(text: str, charter: str = "assistant") -> Assembly:
    return load(charter).assemble(Incoming(channel="terminal", text=text, at=AT, sender="zoe"))


def ask(
    model: Embedded, assembly: Assembly, *, talk: Talk = NO_TALK, stream: bool = False, most: int = 48
) -> tuple[Reply, list[str]]:
    """The reply, and the parts in which it was heard."""
    options = model.options(stream=stream, max_tokens=most)
    body = assembly.payload("openai", model=model.model, talk=talk, options=options)
    heard: list[str] = []
    request = Request(body, assembly.expected("openai", body, talk), timeout_s=300, stream=stream)
    return model.converse(request, heard.append), heard


def test_it_answers_as_its_system_prompt_says(embedded_model: Embedded) -> None:
    reply, heard = ask(embedded_model, prompt("What is your name?"))
    assert "Ada" in reply.text
    assert (reply.stop, reply.calls, heard) == ("end", (), [])
    assert reply.usage.input > 500
    assert 0 < reply.usage.output < 48


def test_a_streamed_answer_is_the_whole_one_in_parts(embedded_model: Embedded) -> None:
    question = prompt("Say hello to Zoë — and to 你好.")
    whole, _ = ask(embedded_model, question)
    streamed, parts = ask(embedded_model, question, stream=True)
    assert streamed.text == whole.text == "".join(parts)
    assert len(parts) > 1
    assert (streamed.usage.input, streamed.usage.output) == (whole.usage.input, whole.usage.output)


def test_told_to_save_something_it_calls_save_memory_streamed_or_not(embedded_model: Embedded) -> None:
    told = prompt("Save this: my shoe size is 43.")
    for stream in (False, True):
        reply, _ = ask(embedded_model, told, stream=stream)
        (call,) = reply.calls
        assert (call.name, reply.stop) == ("save_memory", "tools")
        assert "43" in json.loads(call.arguments)["text"]


def test_it_reads_what_a_tool_answered(embedded_model: Embedded) -> None:
    call = ToolCall("call_1", "read_memory", '{"query": "dog"}')
    talk = Talk(after=(Said("assistant", "", (call,)), Said("tool", "The dog is called Rex.", call_id="call_1")))
    reply, _ = ask(embedded_model, prompt("What is my dog called?"), talk=talk)
    assert "Rex" in reply.text


@pytest.mark.requirement("N-06")
def test_what_two_prompts_begin_with_comes_from_the_cache_and_is_counted(embedded_model: Embedded) -> None:
    first, again, other = prompt("Name one colour."), prompt("Name one colour."), prompt("Name two fruits, please.")
    ask(embedded_model, prompt("Entirely another.", "contract"))
    cold, _ = ask(embedded_model, first, most=4)
    warm, _ = ask(embedded_model, again, most=4)
    shared, _ = ask(embedded_model, other, most=4)
    assert cold.usage.cached is not None
    assert cold.usage.cached < cold.usage.input / 10
    assert warm.usage.cached == warm.usage.input - 1
    assert shared.usage.cached is not None
    assert shared.usage.input - 20 < shared.usage.cached < shared.usage.input


def test_a_prompt_longer_than_the_window_is_refused_and_never_cut(embedded_model: Embedded) -> None:
    long = prompt("word " * (embedded_model.window + 100))
    with pytest.raises(ProviderOverflow, match="the prompt is longer than the window of embedded/qwen2"):
        ask(embedded_model, long)
    assert ask(embedded_model, prompt("What is your name?"))[0].text


def test_who_stops_listening_stops_the_model(embedded_model: Embedded) -> None:
    class Enough(Exception):
        pass

    def hear(part: str) -> None:
        raise Enough

    question = prompt("Count from one to a thousand.")
    body = question.payload(
        "openai", model=embedded_model.model, options=embedded_model.options(stream=True, max_tokens=4000)
    )
    with pytest.raises(Enough):
        embedded_model.converse(Request(body, question.expected("openai", body), 300, stream=True), hear)
    assert ask(embedded_model, prompt("What is your name?"))[0].stop == "end"  # at once, not a thousand numbers later


@pytest.mark.requirement("S1-07")
def test_neither_prompts_nor_replies_reach_stdout_or_stderr(
    embedded_model: Embedded, capfd: pytest.CaptureFixture[str]
) -> None:
    embedded_model.close()
    ask(embedded_model, prompt("Say CANARY-7."), stream=True)
    ask(embedded_model, prompt("Save this: CANARY-8."))
    with pytest.raises(ProviderOverflow):
        ask(embedded_model, prompt("CANARY-9 " * embedded_model.window))
    embedded_model.close()
    assert capfd.readouterr() == ("", "")


def test_the_server_answers_nobody_without_its_secret_and_is_gone_after_close(embedded_model: Embedded) -> None:
    ask(embedded_model, prompt("Hello."), most=2)
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


LEAVE = """
import sys, threading
from charter import weights
from charter.providers.embedded import Embedded
sys.path.insert(0, {tests!r})
from local.engine import request, silent
model = Embedded({name!r}, weights=lambda: weights.verified({name!r}), options={{"ignore_eos": True}})
began = threading.Event()
asked = request(model, "Tell me everything.", stream=True, most=4000)
threading.Thread(target=model.converse, args=(asked, lambda part: began.set()), daemon=True).start()
assert began.wait(300)
{then}
print("left", flush=True)
"""
WAYS = {
    "without closing": "",
    "after closing": "model.close()",
    "in a child of a fork": "import os; os.fork() and os.wait()",
}


@pytest.mark.parametrize("way", WAYS)
def test_a_process_that_leaves_in_the_middle_of_an_answer_ends_at_once(way: str, embedded_model: Embedded) -> None:
    embedded_model.close()  # one server at a time
    script = LEAVE.format(tests=TESTS, name=embedded_model.model.removeprefix("embedded/"), then=WAYS[way])
    command = [sys.executable, "-W", "ignore", "-c", script]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stderr) == (0, "")
    assert set(done.stdout.split()) == {"left"}


SIGNALLED = """
import signal, sys
from charter import weights
from charter.providers.embedded import Embedded
sys.path.insert(0, {tests!r})
from local.engine import request, silent
model = Embedded({name!r}, weights=lambda: weights.verified({name!r}))
model.converse(request(model, most=1), silent)
try:
    signal.raise_signal(signal.SIGINT)
except KeyboardInterrupt:
    print(model.converse(request(model, most=1), silent).stop, flush=True)
signal.raise_signal(signal.SIGTERM)
"""


def test_a_signal_is_for_the_process_and_not_for_the_model(embedded_model: Embedded) -> None:
    embedded_model.close()  # one server at a time
    name = embedded_model.model.removeprefix("embedded/")
    command = [sys.executable, "-c", SIGNALLED.format(tests=TESTS, name=name)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout, done.stderr) == (-signal.SIGTERM, "length\n", "")


@pytest.mark.deep
def test_the_larger_model_answers_too_once_the_small_one_is_stopped(larger_model: Embedded) -> None:
    reply, _ = ask(larger_model, prompt("What is your name?"))
    assert "Ada" in reply.text
