"""charter telegram: codes are made, people listed and removed; the token comes from where only its owner reads."""

from __future__ import annotations

import builtins
import json
import re
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from charter.channels.telegram_door import code_hash
from charter.channels.telegram_wire import Wire, checked_api
from charter.commands import telegram
from charter.core.errors import BadValue, ConfigError, FileRefused, MissingExtra, UnknownAgent
from charter.stores import open as open_store
from charter.stores.migrate import upgrade

from .stub import TOKEN

pytestmark = pytest.mark.requirement("S4-10")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CHARTER_HOME", str(tmp_path))
    monkeypatch.delenv("CHARTER_TELEGRAM_TOKEN", raising=False)
    return tmp_path


def run(*words: str) -> str:
    done = CliRunner().invoke(telegram.app, list(words))
    if done.exception is not None:
        raise done.exception
    return done.output


def test_a_code_is_printed_once_and_only_its_hash_is_kept(home: Path) -> None:
    out = run("pair", "--user", "ana")
    code = out.splitlines()[0]
    assert re.fullmatch(r"\w{4}(-\w{4}){3}", code)
    assert "Send this to the bot of assistant by " in out
    assert code.encode() not in b"".join(path.read_bytes() for path in home.iterdir() if path.is_file())


def test_people_are_listed_and_removed(home: Path) -> None:
    assert run("list") == "nobody may write; let one in with: charter telegram pair --user NAME\n"
    code = json.loads(run("pair", "--user", "ana", "--json"))["code"]
    from charter.app import now_ns
    from charter.app import open_store as of_this_home

    with of_this_home() as store:
        assert store.pair("assistant", "telegram", "1001", code_hash(code), at_ns=now_ns())
    assert run("list").startswith("assistant  1001  ana  since ")
    assert [row["chat"] for row in json.loads(run("list", "--json"))] == ["1001"]
    assert run("remove", "ana") == "removed: chat 1001, who was ana\n"
    assert json.loads(run("list", "--json")) == []
    with pytest.raises(BadValue, match="nobody of this chat or name is paired"):
        run("remove", "ana")


def test_the_token_comes_from_the_environment_or_from_a_private_file(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(ConfigError, match="CHARTER_TELEGRAM_TOKEN: no bot's token; ask @BotFather for one"):
        telegram.bot_token()
    path = home / "telegram.token"
    path.write_text(f"{TOKEN}\n")
    path.chmod(0o644)
    with pytest.raises(FileRefused, match="others may read this secret"):
        telegram.bot_token()
    path.chmod(0o600)
    assert telegram.bot_token() == TOKEN
    monkeypatch.setenv("CHARTER_TELEGRAM_TOKEN", TOKEN.replace("4711", "1"))
    assert telegram.bot_token() == TOKEN.replace("4711", "1")


def test_what_is_no_token_is_not_shown(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHARTER_TELEGRAM_TOKEN", "canary-token")
    with pytest.raises(ConfigError, match=r"not a bot's token \(12 characters\)") as caught:
        telegram.bot_token()
    assert "canary" not in str(caught.value)


def test_no_command_takes_a_token() -> None:
    for name in ("run", "pair", "list", "remove"):
        assert "token" not in re.sub(r"The token: .*\n(.*\n)?", "", run(name, "--help")).lower()


@pytest.mark.parametrize("url", ["http://api.example.org", "ftp://127.0.0.1", ""])
def test_a_token_does_not_travel_in_the_clear(url: str) -> None:
    with pytest.raises(BadValue, match="the Bot API's address"):
        checked_api(url)


def test_an_agent_nobody_serves_is_an_error_that_names_those_who_are(home: Path) -> None:
    with pytest.raises(UnknownAgent, match=r"unknown agent 'nobody'; known: .*assistant"):
        run("run", "--agent", "nobody")


def test_without_the_library_the_command_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without(name: str, *given: Any, **named: Any) -> Any:
        if name.partition(".")[0] == "telegram":
            raise ImportError(name)
        return real(name, *given, **named)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(MissingExtra, match=r"pip install 'charter\[telegram\]'"):
        Wire(TOKEN)


def test_a_code_is_for_one_agent(home: Path) -> None:
    address = f"sqlite:///{home / 'charter.db'}"
    upgrade(address)
    code = json.loads(run("pair", "--user", "ana", "--agent", "gateway", "--database", address, "--json"))["code"]
    from charter.app import keys, now_ns

    with open_store(address, keys=keys()) as store:
        assert store.pair("assistant", "telegram", "1001", code_hash(code), at_ns=now_ns()) is None
