"""An agent of this installation is put together from what is here: charter, store, keys, model, tools."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from charter import app, choice, home
from charter.core.errors import ConfigError
from charter.core.incoming import Incoming
from charter.core.records import Place
from charter.folder import load
from charter.stores.memory import MemoryStore
from charter.testing import ScriptedProvider
from charter.turn import take_turn

SERVER = Path(__file__).parent / "tools" / "mcp_server.py"


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(home.HOME_VARIABLE, str(tmp_path / "home"))
    return tmp_path / "home"


def speaking(monkeypatch: pytest.MonkeyPatch, *lines: str, **options: bool) -> ScriptedProvider:
    """The model that is chosen says these lines."""
    model = ScriptedProvider(lines, model="scripted-70b", **options)  # type: ignore[arg-type]
    monkeypatch.setattr(choice, "choose", lambda named: named)
    monkeypatch.setattr(choice, "open_chosen", lambda chosen: model)
    return model


@pytest.mark.requirement("S0-03", "N-16")
def test_an_agent_is_ready_with_its_layers_seeded_and_a_key(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    speaking(monkeypatch, "Hello.")
    with app.running("sovereign") as agent:
        assert [version.by for version in agent.store.history(Place("automaton", "inbox"))] == ["init"]
        turn = take_turn(agent, Incoming(channel="terminal", sender="root", user="root", operator=True, text="hi"))
        assert turn.reply == "Hello."
        assert agent.key == app.keys().current[1]
    with app.open_store() as store:
        assert store.turn("automaton", turn.id).outcome == "done"


@pytest.mark.requirement("S3-09")
def test_a_model_without_tool_calling_is_told_the_format_and_its_written_calls_are_read(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = '```tool_call\n{"tool": "save_memory", "arguments": {"text": "Bees."}}\n```'
    model = speaking(monkeypatch, f"I keep it.\n\n{written}", "Kept.", native_tools=False)
    with app.running("gateway") as agent:
        turn = take_turn(agent, Incoming(channel="web", sender="ana", user="ana", text="Remember bees"))
        assert [note.text for note in agent.store.recent(agent.name, "ana", 5)] == ["Bees."]
    assert "```tool_call" in model.payloads[0]["messages"][0]["content"]
    assert "tools" not in model.payloads[0]
    assert turn.reply == "I keep it.\n\nKept."
    assert model.payloads[1]["messages"][-1]["role"] == "user"


@pytest.mark.requirement("S3-09")
def test_a_written_call_that_cannot_be_read_is_asked_for_once_more(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = '```tool_call\n{"tool": "save_memory", "arguments": {"text": \n```'
    model = speaking(monkeypatch, broken, "I leave it then.", native_tools=False)
    with app.running("gateway") as agent:
        turn = take_turn(agent, Incoming(channel="web", sender="ana", user="ana", text="Remember bees"))
    assert turn.reply == "I leave it then."
    assert len(model.requests) == 2
    assert "Nothing was run" in model.payloads[1]["messages"][-1]["content"]


@pytest.mark.requirement("S1-08", "N-07")
def test_tools_of_an_mcp_server_join_through_the_same_gate(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place.mkdir(mode=0o700)
    command = f'command = ["{sys.executable}", "{SERVER}"]'
    (place / "config.toml").write_text(f'[mcp.sea]\n{command}\ncharters = ["assistant"]\n')
    model = speaking(monkeypatch, "ok")
    with app.running("assistant") as agent:
        take_turn(agent, Incoming(channel="web", sender="ana", user="ana", text="hi"))
    names = [row["function"]["name"] for row in model.payloads[0]["tools"]]
    assert {"read_memory", "save_memory", "update_instructions"} < set(names)
    assert any(name.startswith("sea__") for name in names)
    assert app.servers("contract") == []


def test_a_config_with_an_unknown_key_is_an_error_with_its_line(place: Path) -> None:
    place.mkdir(mode=0o700)
    (place / "config.toml").write_text('[mcp.sea]\ncommand = ["x"]\nshell = true\n')
    with pytest.raises(ConfigError, match=r"config\.toml:3: unknown key 'shell'"):
        app.servers("assistant")


def test_read_skill_gives_an_agent_its_own_skills_whole() -> None:
    charter = load("workspace")
    agent = app.make_agent(charter, MemoryStore(), ScriptedProvider([]))
    assert "plan" in (agent.skills("plan-a-task") or "").lower()
    assert agent.skills("no-such-skill") is None
