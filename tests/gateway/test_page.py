"""docs/gateway.md is true: its examples run, and its table of errors is what the gateway answers."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from charter.core import errors
from charter.core.dialogue import ToolCall
from charter.web.gateway.errors import anthropic_error, openai_error, problem_of

from .doors import house_of, said, served

pytestmark = pytest.mark.requirement("N-13")
PAGE = (Path(__file__).parents[2] / "docs" / "gateway.md").read_text()
EXAMPLES = re.findall(r"^```(python|sh)\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
ERROR: dict[str, BaseException] = {
    "BAD_VALUE": errors.BadValue("n", "is wrong"),
    "UNKNOWN_CHANNEL": errors.UnknownChannel("channel", "pigeon", ("web",)),
    "TURN_OVER_LIMIT": errors.OverLimit("too long"),
    "context_length_exceeded": errors.ProviderOverflow("p", "too long"),
    "PROVIDER_REFUSED": errors.ProviderRefused("p", "no"),
    "invalid_api_key": errors.NotKnown("no key"),
    "ACCESS_DENIED": errors.NotAllowed("not yours"),
    "model_not_found": errors.UnknownAgent("model", "x", ()),
    "BUSY": errors.Busy("wait"),
    "ACCESS_TOO_MANY": errors.TooMany("too many", retry_after=1),
    "AGENT_OVER_SPEND": errors.OverSpend("spent"),
    "PROVIDER_RATE": errors.ProviderRate("p", "too many"),
    "TURN_CANCELLED": errors.Cancelled("gone"),
    "INTERNAL_ERROR": ValueError("x"),
    "PROVIDER_AUTH": errors.ProviderAuth("p", "no key"),
    "PROVIDER_DOWN": errors.ProviderDown("p", "away"),
    "AGENT_PAUSED": errors.Paused("paused"),
    "STORE_UNAVAILABLE": errors.StoreUnavailable("away"),
}  # fmt: skip


def model(request: Any) -> Any:
    """Asks the caller's tool when there is one without an answer; else says something."""
    asks = "tide" in str(request.payload.get("tools")) and request.payload["messages"][-1]["role"] != "tool"
    return said("", ToolCall("call_1", "tide", '{"harbor": "Porto"}')) if asks else said("At six.")


def test_there_is_an_example_for_each_client_and_for_none() -> None:
    assert [language for language, _ in EXAMPLES] == ["python", "python", "python", "sh"]


@pytest.mark.parametrize("number", range(len(EXAMPLES)))
def test_an_example_of_the_page_runs_as_it_stands(number: int) -> None:
    language, script = EXAMPLES[number]
    command = [sys.executable, "-c", script] if language == "python" else ["sh", "-ec", script]
    with served(house_of(*[model] * 6)) as door:
        env = {
            **os.environ, "OPENAI_BASE_URL": f"{door.base}/v1", "ANTHROPIC_BASE_URL": door.base,
            "OPENAI_API_KEY": door.key("user", "ana"), "ANTHROPIC_API_KEY": door.key("user", "ana"),
        }  # fmt: skip
        done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=60)
        asked = len(door.bodies)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.count("At six.") == {0: 3, 1: 2, 2: 1, 3: 2}[number]
    assert asked == {0: 3, 1: 2, 2: 2, 3: 2}[number]


def test_the_table_of_errors_is_what_is_answered() -> None:
    rows = re.findall(r"^\| (\d+) \| `(\w+)` \| .* \| `(\w+)` \| `(\w+)` \|$", PAGE, re.MULTILINE)
    assert {code for _, code, *_ in rows} == set(ERROR)
    for status, code, openai, anthropic in rows:
        found = problem_of(ERROR[code], late=status == "504")
        assert (str(found.status), found.code) == (status, code)
        assert openai_error(*found[:4])["error"]["type"] == openai, code
        assert anthropic_error(*found[:4])["error"]["type"] == anthropic, code
