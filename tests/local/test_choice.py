"""Which model is used: what was said, then keys, then this machine; always with a reason, never a second try."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from charter import choice, weights
from charter.choice import Choice, choose, open_chosen
from charter.core.errors import CharterError, ConfigError, FileRefused, ProviderAuth, ProviderDown

from .hub import serving

pytestmark = pytest.mark.requirement("N-16")

KEYS = {"OPENAI_API_KEY": "sk-o", "ANTHROPIC_API_KEY": "sk-a"}
OPENAI, ANTHROPIC = "https://api.openai.com/v1", "https://api.anthropic.com"
HERE = "http://127.0.0.1:11434"


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home without a config, and a models folder with the small model: a hollow file, for nobody loads it."""
    row = weights.weights_of(weights.DEFAULT)
    with (tmp_path / row.file).open("wb") as file:
        file.truncate(row.bytes)
    monkeypatch.setattr(weights, "models_folder", lambda env=None: tmp_path)
    monkeypatch.setenv("CHARTER_HOME", str(tmp_path / "home"))
    return tmp_path


def chosen(
    named: str = "", env: dict[str, str] | None = None, *, ollama: tuple[str, ...] = (), config: Path | None = None
) -> Choice:
    return choose(named, env=env or {}, config=config, ollama=lambda: ollama)


# What was asked for, the environment, Ollama's models; the choice, where it is, its key, and why.
BOTH = "OPENAI_API_KEY and ANTHROPIC_API_KEY are set, and openai comes first; for the other: CHARTER_PROVIDER=anthropic"
NOBODY = "no key is set and no Ollama answers"
CHOICES = f"""
                   | O                                  |                 | openai/gpt-5.4-mini         | {OPENAI} | sk-o | OPENAI_API_KEY is set
                   | A                                  | x               | anthropic/claude-sonnet-5-5 | {ANTHROPIC} | sk-a | ANTHROPIC_API_KEY is set
                   | O A                                |                 | openai/gpt-5.4-mini         | {OPENAI} | sk-o | {BOTH}
gpt-9              | O A                                |                 | openai/gpt-9                | {OPENAI} | sk-o | {BOTH}
                   | O A PROVIDER=anthropic             |                 | anthropic/claude-sonnet-5-5 | {ANTHROPIC} | sk-a | CHARTER_PROVIDER is set
                   | O A MODEL=openai-responses/gpt-9   |                 | openai-responses/gpt-9      | {OPENAI} | sk-o | CHARTER_MODEL says so
anthropic/c        | O A MODEL=gpt-9 PROVIDER=openai    |                 | anthropic/c                 | {ANTHROPIC} | sk-a | --model says so
                   | O OPENAI_BASE_URL=http://proxy     |                 | openai/gpt-5.4-mini         | http://proxy | sk-o | OPENAI_API_KEY is set
                   | O PROVIDER=openai OPENAI_BASE_URL=http://proxy |     | openai/gpt-5.4-mini         | http://proxy | sk-o | CHARTER_PROVIDER is set
                   |                                    | llama3:latest b | ollama/llama3:latest        | {HERE} | | no key is set, and an Ollama answers on this machine
llama3             |                                    | b llama3:latest | ollama/llama3               | {HERE} | | no key is set, and an Ollama answers on this machine
                   | O PROVIDER=ollama                  | b               | ollama/b                    | {HERE} | | CHARTER_PROVIDER is set
ollama/c           | O                                  |                 | ollama/c                    | {HERE} | | --model says so
                   |                                    |                 | embedded/qwen2.5-coder-0.5b | | | {NOBODY}, and its weights are here
qwen2.5-coder-0.5b | O A                                | b               | embedded/qwen2.5-coder-0.5b | | | --model says so
                   | O MODEL=embedded/qwen2.5-coder-0.5b |                | embedded/qwen2.5-coder-0.5b | | | CHARTER_MODEL says so
                   | O PROVIDER=embedded                |                 | embedded/qwen2.5-coder-0.5b | | | CHARTER_PROVIDER is set
openai/gpt-9       | O BASE_URL=http://own/v1           |                 | openai/openai/gpt-9         | http://own/v1 | | CHARTER_BASE_URL is set
m                  | BASE_URL=http://own API_KEY=k PROVIDER=completion |  | completion/m                | http://own | k | CHARTER_BASE_URL is set
"""  # noqa: E501
REFUSALS = f"""
qwen2.5-coder-1.5b | O                     |   | ProviderDown | embedded/qwen2.5-coder-1.5b: its weights are not here; run: charter model fetch qwen2.5-coder-1.5b
embedded/big       |                       |   | RequestError | unknown embedded model 'embedded/big'; known: qwen2.5-coder-0.5b, qwen2.5-coder-1.5b
anthropic/c        | O                     | b | ProviderAuth | anthropic: there is no key (--model says so); set ANTHROPIC_API_KEY
                   | PROVIDER=anthropic API_KEY=k | | ProviderAuth | anthropic: there is no key (CHARTER_PROVIDER is set); set ANTHROPIC_API_KEY
                   | PROVIDER=ollama       |   | ProviderDown | ollama: no Ollama with a model answers on this machine (CHARTER_PROVIDER is set); run: ollama serve
                   | PROVIDER=hal          |   | RequestError | unknown provider 'hal'; known: openai, openai-responses, anthropic, ollama, completion, embedded
                   | PROVIDER=completion   |   | BadValue | CHARTER_BASE_URL: not set, and completion has no usual address (CHARTER_PROVIDER is set); set it
                   | O BASE_URL=http://own |   | BadValue | CHARTER_MODEL: not set, and only you know what runs there (CHARTER_BASE_URL is set); set it
gpt-9              |                       |   | ProviderDown | model: {NOBODY}, so nobody here has the one asked for; set a key, or CHARTER_BASE_URL
gpt-9              |                       | b | RequestError | unknown model of the Ollama on this machine 'gpt-9'; known: b
"""  # noqa: E501


def rows(table: str) -> list[list[str]]:
    return [[cell.strip() for cell in line.split("|")] for line in table.strip("\n").split("\n")]


def environment(text: str) -> dict[str, str]:
    """O and A are the two keys; a name without a prefix of its own is one of ours."""
    short = {"O": "OPENAI_API_KEY=sk-o", "A": "ANTHROPIC_API_KEY=sk-a"}
    pairs = [short.get(word, word).partition("=") for word in text.split()]
    return {name if name.startswith(("OPENAI", "ANTHROPIC")) else f"CHARTER_{name}": value for name, _, value in pairs}


@pytest.mark.parametrize("row", rows(CHOICES), ids=lambda row: "-".join(row[:3]))
def test_the_table_of_choices(row: list[str], place: Path) -> None:
    named, env, ollama, *expected = row
    found = chosen(named, environment(env), ollama=tuple(ollama.split()))
    assert [found.name, found.base_url, found.key, found.why] == expected


@pytest.mark.parametrize("row", rows(REFUSALS), ids=lambda row: "-".join(row[:3]))
def test_what_cannot_be_had_is_an_error_and_nothing_else_is_taken_for_it(row: list[str], place: Path) -> None:
    named, env, ollama, error, said = row
    with pytest.raises(CharterError) as caught:
        chosen(named, environment(env), ollama=tuple(ollama.split()))
    assert (type(caught.value).__name__, str(caught.value)) == (error, said)


def test_with_nothing_at_all_the_error_says_what_to_run(place: Path) -> None:
    for path in place.glob("*.gguf"):
        path.unlink()
    with pytest.raises(ProviderDown) as caught:
        chosen()
    assert str(caught.value) == (
        "embedded/qwen2.5-coder-0.5b: no key is set and no Ollama answers, and its weights are not here; "
        "run: charter model fetch qwen2.5-coder-0.5b"
    )


def test_of_two_embedded_models_the_larger_is_used_unless_one_is_named(place: Path) -> None:
    row = weights.weights_of("qwen2.5-coder-1.5b")
    with (place / row.file).open("wb") as file:
        file.truncate(row.bytes)
    assert chosen().model == row.name
    assert chosen().why.endswith("and its weights are here; it is the largest that is")
    assert chosen("qwen2.5-coder-0.5b").model == "qwen2.5-coder-0.5b"


# ── config.toml ───────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("text", "named", "expected"),
    [
        ('provider = "anthropic"', "", ("anthropic", "claude-sonnet-5-5", ANTHROPIC, "sk-a")),
        ('provider = "anthropic"\nname = "c"', "", ("anthropic", "c", ANTHROPIC, "sk-a")),
        ('provider = "anthropic"\nname = "c"', "d", ("anthropic", "d", ANTHROPIC, "sk-a")),
        ('provider = "anthropic"\nname = "c"', "openai/d", ("openai", "d", OPENAI, "sk-o")),
        ('name = "anthropic/c"', "", ("anthropic", "c", ANTHROPIC, "sk-a")),
        ('name = "gpt-9"', "", ("openai", "gpt-9", OPENAI, "sk-o")),
        ('name = "qwen2.5-coder-0.5b"', "", ("embedded", "qwen2.5-coder-0.5b", "", "")),
        ('base_url = "http://own"\nname = "openai/m"', "", ("openai", "openai/m", "http://own", "")),
        ('base_url = "http://own"\nname = "m"\nkey_variable = "MINE"', "", ("openai", "m", "http://own", "sk-m")),
    ],
)
def test_the_file_says_which_model_and_a_name_on_the_command_line_says_it_again(
    text: str, named: str, expected: tuple[str, ...], place: Path
) -> None:
    path = place / "config.toml"
    path.write_text(f"[model]\n{text}\n")
    found = chosen(named, {**KEYS, "MINE": "sk-m"}, config=path)
    assert (found.kind, found.model, found.base_url, found.key) == expected


def test_the_environment_comes_before_the_file(place: Path) -> None:
    path = place / "config.toml"
    path.write_text('[model]\nprovider = "anthropic"\nname = "c"\n')
    assert chosen("", {**KEYS, "CHARTER_PROVIDER": "openai"}, config=path).kind == "openai"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[model]\nname = 'x'\nkey = 'sk-secret'\n", ":3: unknown key 'key' (at model.key)"),
        ("[model]\n\nprovider = 'hal'\n", ":3: Invalid enum value 'hal' (at model.provider)"),
        ("[models]\n", ":1: unknown key 'models' (at models)"),
        ("[model\n", ":1: not TOML: Expected ']' at the end of a table declaration"),
    ],
)
def test_a_mistake_in_the_file_is_named_with_its_line(text: str, said: str, place: Path) -> None:
    path = place / "config.toml"
    path.write_text(text)
    with pytest.raises(ConfigError) as caught:
        chosen(config=path)
    assert str(caught.value) == f"{path}{said}"


def test_a_key_variable_that_is_not_set_and_a_file_that_cannot_be_read_are_errors(place: Path) -> None:
    path = place / "config.toml"
    path.write_text('[model]\nbase_url = "http://own"\nname = "m"\nkey_variable = "MINE"\n')
    with pytest.raises(ProviderAuth, match=re.escape(f"openai: there is no key ({path} says so); set MINE")):
        chosen(config=path)
    path.write_bytes(b"\xff")
    with pytest.raises(ConfigError, match=r"config\.toml: not UTF-8"):
        chosen(config=path)
    with pytest.raises(FileRefused, match="Is a directory; check that file, or set CHARTER_HOME"):
        chosen(config=place)


# ── keys, Ollama, opening ─────────────────────────────────────────────────────────────────────────────────────────


def test_keys_and_addresses_never_show(place: Path) -> None:
    found = chosen("m", {"CHARTER_BASE_URL": "http://me:pass@own", "CHARTER_API_KEY": "sk-secret"})
    assert repr(found) == "Choice(kind='openai', model='m', why='CHARTER_BASE_URL is set')"


def test_the_key_of_a_host_is_never_given_to_another(place: Path) -> None:
    env = {**KEYS, "CHARTER_BASE_URL": "http://own"}
    assert [chosen("m", {**env, "CHARTER_PROVIDER": kind}).key for kind in ("openai", "anthropic")] == ["", ""]
    assert chosen("m", {**KEYS, "CHARTER_PROVIDER": "openai", "CHARTER_API_KEY": "own"}).key == "sk-o"


@pytest.mark.parametrize(
    ("status", "body", "expected"),
    [
        (200, b'{"models": [{"name": "nomic-embed-text"}, {"name": "b"}, {"name": "a"}]}', ("b", "a")),
        (200, b'{"models": []}', ()),
        (200, b'{"models": [{}]}', ()),
        (200, b"[]", ()),
        (200, b"<html>", ()),
        (500, b'{"models": [{"name": "b"}]}', ()),
    ],
)
def test_an_ollama_is_asked_for_its_models_and_whatever_else_answers_is_none(
    status: int, body: bytes, expected: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving(body) as hub:
        hub.status = status
        monkeypatch.setattr(choice, "OLLAMA", ("127.0.0.1", int(hub.url.split(":")[2].split("/")[0])))
        assert choice.ollama_models() == expected


def test_an_ollama_that_does_not_answer_at_once_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    assert choice.OLLAMA[0] == "127.0.0.1"
    with serving(b"{}") as hub:
        hub.open.clear()
        monkeypatch.setattr(choice, "OLLAMA", ("127.0.0.1", int(hub.url.split(":")[2].split("/")[0])))
        assert choice.ollama_models() == ()


@pytest.mark.requirement("S0-08")
def test_a_choice_opens_its_provider_and_a_small_model_is_given_the_compact_prompt(place: Path) -> None:
    from charter import Incoming, load

    small = open_chosen(chosen())
    assert (small.name, small.dialect, small.model, small.window) == (
        "embedded", "openai", "embedded/qwen2.5-coder-0.5b", 8192,
    )  # fmt: skip
    hosted = open_chosen(chosen("", KEYS))
    assert (hosted.name, hosted.model) == ("openai", "gpt-5.4-mini")
    modes = [load("sovereign").choose_mode(Incoming(channel="inbox", model=m.model)) for m in (small, hosted)]
    assert modes == ["compact", "full"]
