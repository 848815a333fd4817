"""Providers are opened by kind, know what is known of them, and cost nothing until they are used."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from charter.core.errors import BadValue, MissingExtra, ProviderAuth, UnknownDialect
from charter.core.payload import DIALECTS, MAX_BREAKPOINTS
from charter.core.ports import Provider
from charter.providers import KINDS, open_provider
from charter.providers.facts import all_facts, facts_of
from charter.testing import ScriptedProvider, small_prompt

from .rigs import MAKERS

pytestmark = pytest.mark.requirement("S1-03", "N-16")


def opened(kind: str, **given: Any) -> Provider:
    return open_provider(kind, **{"model": "m-1", "base_url": "http://model.test/v1", "api_key": "k", **given})


def test_every_dialect_has_a_provider_and_facts_and_nothing_else_has() -> None:
    assert list(KINDS) == list(DIALECTS) == list(all_facts()) == list(MAKERS)
    for kind in KINDS:
        made = opened(kind)
        assert (made.name, made.dialect, made.model, made.window) == (kind, kind, "m-1", facts_of(kind).window("m-1"))
        assert made.native_tools is (kind != "completion")
        assert repr(made) == f"{type(made).__name__}('m-1', at='model.test')"
        assert repr(made._line) == f"Line('{kind}', 'm-1', at='model.test')"  # type: ignore[attr-defined]
        made.close()


@pytest.mark.parametrize("name", ["gpt", "OpenAI", "", "embedded"])
def test_a_kind_nobody_knows_is_an_error_that_lists_the_known(name: str) -> None:
    with pytest.raises(UnknownDialect, match=r"known: openai, openai-responses, anthropic, ollama, completion$"):
        open_provider(name, model="m")
    with pytest.raises(UnknownDialect, match=r"^unknown provider "):
        facts_of(name)


@pytest.mark.parametrize(
    ("kind", "stream", "fields"),
    [
        ("openai", False, {"stream": False, "max_tokens": 9}),
        ("openai", True, {"stream": True, "stream_options": {"include_usage": True}, "max_tokens": 9}),
        (
            "openai-responses",
            True,
            {"stream": True, "max_output_tokens": 9, "store": False, "truncation": "disabled"},
        ),
        ("anthropic", True, {"stream": True, "max_tokens": 9}),
        ("completion", True, {"stream": True, "stream_options": {"include_usage": True}, "max_tokens": 9}),
    ],
)
def test_the_fields_a_provider_adds(kind: str, stream: bool, fields: dict[str, Any]) -> None:
    made = opened(kind, options={"temperature": 0.5})
    assert made.options(stream=stream, max_tokens=9) == {**fields, "temperature": 0.5}
    made.close()


def test_openai_itself_is_told_the_limit_in_its_new_words() -> None:
    made = open_provider("openai", api_key="sk-x")
    assert made.options(stream=False, max_tokens=9) == {"stream": False, "max_completion_tokens": 9}
    made.close()


@pytest.mark.parametrize(("kind", "variable"), [("openai", "OPENAI_API_KEY"), ("anthropic", "ANTHROPIC_API_KEY")])
def test_a_hosted_model_without_a_key_is_refused_before_anything_else(
    kind: str, variable: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, "sk-from-the-environment")  # choosing is done elsewhere; nothing is picked up here
    with pytest.raises(ProviderAuth, match=rf"^{kind}: there is no key; set {variable}, or choose another model"):
        open_provider(kind)


def test_a_server_of_ones_own_needs_no_key() -> None:
    for kind in KINDS:
        opened(kind, api_key="").close()


@pytest.mark.parametrize("key", ["sk a", "sk-\nx", "sk-ключ", "sk\x00"])
def test_a_key_that_cannot_be_one_is_told_so_without_showing_it(key: str) -> None:
    with pytest.raises(BadValue, match=r"^api_key: a key has no spaces, line ends or letters beyond ASCII; copy it"):
        opened("openai", api_key=key)


@pytest.mark.parametrize(
    "url", ["model.test", "ftp://model.test", "http://", "http://[::1", "http://h:port/", "file:///x"]
)
def test_an_address_that_is_none_is_refused(url: str) -> None:
    with pytest.raises(BadValue, match=r"^base_url: an address is http://host:port/path or https://host/path$"):
        opened("openai", base_url=url)


@pytest.mark.parametrize(
    ("kind", "module", "extra"),
    [
        ("openai", "openai", "openai"),
        ("openai-responses", "openai", "openai"),
        ("completion", "openai", "openai"),
        ("anthropic", "anthropic", "anthropic"),
        ("ollama", "httpx2", "http"),
        ("openai", "httpx2", "openai"),
    ],
)
def test_a_part_that_is_not_installed_is_named_with_the_command(
    kind: str, module: str, extra: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    told = rf"^the provider {kind} needs an optional part: pip install 'charter\[{extra}\]'$"
    with pytest.raises(MissingExtra, match=told) as caught:
        opened(kind)
    assert caught.value.__suppress_context__


def test_nothing_heavy_is_imported_before_a_provider_is_opened() -> None:
    heavy = "{'openai', 'anthropic', 'httpx2', 'httpcore2', 'pydantic'}"
    script = f"import sys, charter.providers.openai_chat, charter.testing; print(sorted({heavy} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


# ── facts ─────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.requirement("N-06")
@pytest.mark.parametrize(
    ("kind", "model", "window", "cached_from"),
    [
        ("openai", "gpt-5.4-mini", 400_000, 1_024),
        ("openai", "gpt-5.4-2026-03-05", 1_050_000, 1_024),
        ("openai", "gpt-4o-mini", 128_000, 1_024),
        ("openai-responses", "gpt-4.1-mini", 1_047_576, 1_024),
        ("openai", "someone-elses", None, 1_024),
        ("anthropic", "claude-sonnet-5-5", 1_000_000, 1_024),
        ("anthropic", "claude-opus-5", 1_000_000, 512),
        ("anthropic", "claude-haiku-4-5-20251001", 200_000, 4_096),
        ("anthropic", "claude-opus-4-7", 200_000, 2_048),
        ("anthropic", "claude-3-5-haiku-20241022", 200_000, 2_048),
        ("ollama", "anything", 8_192, 1),
        ("completion", "anything", None, 1),
    ],
)
def test_windows_and_cached_prefixes_go_by_the_name_of_the_model(
    kind: str, model: str, window: int | None, cached_from: int
) -> None:
    facts = facts_of(kind)
    assert (facts.window(model), facts.cacheable_from(model)) == (window, cached_from)


@pytest.mark.requirement("N-06")
def test_only_anthropic_has_breakpoints_and_the_tools_first() -> None:
    assert {kind: (row.breakpoints, row.tools_first) for kind, row in all_facts().items() if row.breakpoints} == {
        "anthropic": (MAX_BREAKPOINTS, True)
    }
    assert not any(row.tools_first for kind, row in all_facts().items() if kind != "anthropic")


def test_the_default_models_have_a_window() -> None:
    assert all(row.window(row.model) for row in all_facts().values() if row.model)


def test_a_window_that_is_given_wins() -> None:
    made = opened("ollama", window=32_768)
    assert made.window == 32_768
    made.close()
    assert ScriptedProvider([], window=7).window == 7
    assert small_prompt().manifest.charter == ""
