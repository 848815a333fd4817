"""The scripted provider: a public double that says its script and is as strict about the wire as the real ones."""

from __future__ import annotations

import subprocess
import sys

import pytest

from charter.core.dialogue import Reply, Said, Talk, ToolCall, Usage
from charter.core.errors import ProviderDown, WireMismatch
from charter.core.payload import DIALECTS
from charter.core.ports import Provider, Request
from charter.testing import CutOff, ScriptedProvider, request_for, small_prompt

pytestmark = pytest.mark.requirement("S1-03")


def heard(provider: ScriptedProvider, *, stream: bool = True) -> tuple[Reply, list[str]]:
    parts: list[str] = []
    return provider.converse(request_for(provider, small_prompt(), stream=stream), parts.append), parts


def test_it_says_its_script_line_by_line_and_keeps_what_it_was_sent() -> None:
    def look(request: Request) -> Reply:
        return Reply(f"{len(request.payload['messages'])} messages", usage=Usage(3, 2))

    call = ToolCall("c1", "note", "{}")
    model: Provider = ScriptedProvider(["Hello there.", ("Hel", "lo"), Reply(calls=(call,), stop="tools"), look])
    assert isinstance(model, ScriptedProvider)
    assert heard(model) == (Reply("Hello there."), ["Hello ", "there."])
    assert heard(model) == (Reply("Hello"), ["Hel", "lo"])
    assert heard(model) == (Reply(calls=(call,), stop="tools"), [])
    assert heard(model, stream=False) == (Reply("2 messages", usage=Usage(3, 2)), [])
    assert [request.stream for request in model.requests] == [True, True, True, False]
    assert model.payloads == [request.payload for request in model.requests]
    assert repr(model) == "ScriptedProvider('openai', 4 of 4 lines said)"
    with pytest.raises(AssertionError, match=r"^the script has 4 lines and was asked for one more$"):
        heard(model)
    assert len(model.requests) == 4
    model.close()


def test_it_fails_as_the_script_says_at_once_or_half_way() -> None:
    down = ProviderDown("scripted", "down", "wait")
    model = ScriptedProvider([down, CutOff(("so ", "far"), down), CutOff(("so ",), down), KeyboardInterrupt()])
    parts: list[str] = []
    for stream, wanted in ((True, []), (True, ["so ", "far"]), (False, ["so ", "far"])):
        with pytest.raises(ProviderDown, match="down; wait"):
            model.converse(request_for(model, small_prompt(), stream=stream), parts.append)
        assert parts == wanted
    with pytest.raises(KeyboardInterrupt):
        heard(model)
    assert "so " not in repr(CutOff(("so ",), down))


@pytest.mark.parametrize("dialect", DIALECTS)
def test_it_speaks_every_dialect_and_refuses_what_was_not_assembled(dialect: str) -> None:
    model = ScriptedProvider(["yes"] * 2, dialect=dialect, options={"seed": 1})
    talk = Talk((Said("user", "before"), Said("assistant", "yes")))
    request = request_for(model, small_prompt(), talk=talk)
    assert request.payload["seed"] == 1
    assert model.converse(request, print).text == "yes"
    with pytest.raises(WireMismatch, match=r"^scripted: the body was changed after it was assembled"):
        model.converse(Request({**request.payload, "seed": 2}, request.expected), print)
    assert len(model.requests) == 1


def test_it_needs_none_of_the_clients() -> None:
    script = (
        "import sys; from charter.testing import *; model = ScriptedProvider(['hi'])\n"
        "print(model.converse(request_for(model, small_prompt()), print).text)\n"
        "print(sorted({'openai', 'anthropic', 'httpx2', 'msgspec', 'minijinja'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "hi\n[]\n"
