"""Which model is used and why, decided once: what was said comes first, then keys, then what runs on this machine."""

from __future__ import annotations

import http.client
import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

import msgspec

from . import home, weights
from .config import parse
from .core.errors import BadValue, ConfigError, FileRefused, ProviderAuth, ProviderDown, RequestError
from .providers.facts import all_facts, facts_of

if TYPE_CHECKING:
    from .core.ports import Provider

Kind = Literal["openai", "openai-responses", "anthropic", "ollama", "completion", "embedded"]

CONFIG: Final = "config.toml"
HOSTED: Final = ("openai", "anthropic")  # in this order when there are keys for both
OLLAMA: Final = ("127.0.0.1", 11434)
OLLAMA_SECONDS: Final = 0.3


@dataclass(frozen=True, slots=True)
class Choice:
    """A model, where it is, and why this one; key and address never show, for an address may have a password in it."""

    kind: str
    model: str
    why: str
    base_url: str = field(default="", repr=False)
    key: str = field(default="", repr=False)

    @property
    def name(self) -> str:
        """The model with its provider before it, as `--model` takes it."""
        return f"{self.kind}/{self.model}"


class ModelConfig(msgspec.Struct, forbid_unknown_fields=True):
    """[model]; a key is named by the variable that holds it, never written down."""

    provider: Kind | Literal[""] = ""
    name: str = ""
    base_url: str = ""
    key_variable: str = ""


class McpConfig(msgspec.Struct, forbid_unknown_fields=True):
    """[mcp.NAME]: a server whose tools join every agent here; a header is named by the variable that holds it."""

    command: tuple[str, ...] = ()
    url: str = ""
    headers: dict[str, str] = {}
    kinds: dict[str, Literal["READ", "DRAFT", "WRITE", "EXECUTE"]] = {}
    charters: tuple[str, ...] = ()


class AgentConfig(msgspec.Struct, forbid_unknown_fields=True):
    """[agents.NAME]: an agent that is served: its charter, and the folders its layers read."""

    charter: str
    workspace: str = ""
    data_dir: str = ""
    project_dir: str = ""
    skills_dir: str = ""


class HomeConfig(msgspec.Struct, forbid_unknown_fields=True):
    """config.toml of this installation."""

    model: ModelConfig = msgspec.field(default_factory=ModelConfig)
    mcp: dict[str, McpConfig] = {}
    agents: dict[str, AgentConfig] = {}


@dataclass(frozen=True, slots=True)
class _Said:
    """What someone wrote down, in the environment or in the file, and where."""

    where: str
    provider: str = ""
    model: str = ""
    base_url: str = ""
    key_variable: str = ""


def choose(
    named: str = "",
    *,
    env: Mapping[str, str] = os.environ,
    config: Path | None = None,
    ollama: Callable[[], tuple[str, ...]] | None = None,
) -> Choice:
    """The model to use. What was chosen and then fails is an error: nothing else is tried in its place."""
    path = config or home.home() / CONFIG
    written = read_config(path).model
    names = ((named, "--model"), (env.get("CHARTER_MODEL", ""), "CHARTER_MODEL"), (written.name, str(path)))
    wanted, where = next(((name, place) for name, place in names if name), ("", ""))
    if wanted.startswith(weights.PREFIX) or wanted in weights.known():
        return _embedded(wanted, f"{where} says so", env)
    answering = ollama or ollama_models
    own = bool(env.get("CHARTER_BASE_URL") or written.base_url)
    said = (None if own else _in_name(wanted, where)) or _in_environment(wanted, env) or _in_file(wanted, written, path)
    if said is not None:
        return _as_said(said, env, answering)
    return _hosted(wanted, env) or _local(wanted, env, answering)


def read_config(path: Path) -> HomeConfig:
    """The installation's config.toml; an empty one when there is none."""
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return HomeConfig()
    except OSError as error:
        raise FileRefused(str(path), f"{error.strerror}; check that file, or set CHARTER_HOME") from None
    except UnicodeDecodeError:
        raise ConfigError(str(path), "not UTF-8; save it as UTF-8") from None
    return parse(text, str(path), HomeConfig)


def open_chosen(choice: Choice, *, options: Mapping[str, Any] | None = None) -> Provider:
    """The provider of a choice; nothing is sent, loaded or started before its first request."""
    if choice.kind == "embedded":
        from .providers.embedded import Embedded

        return Embedded(choice.model, weights=lambda: weights.verified(choice.model), options=options)
    from .providers import open_provider

    return open_provider(choice.kind, model=choice.model, base_url=choice.base_url, api_key=choice.key, options=options)


# ── what was said ─────────────────────────────────────────────────────────────────────────────────────────────────


def _in_name(wanted: str, where: str) -> _Said | None:
    """The provider that stands before the model's name."""
    kind, slash, model = wanted.partition("/")
    return _Said(f"{where} says so", kind, model) if slash and kind in all_facts() else None


def _in_environment(wanted: str, env: Mapping[str, str]) -> _Said | None:
    provider, base_url = env.get("CHARTER_PROVIDER", ""), env.get("CHARTER_BASE_URL", "")
    if not provider and not base_url:
        return None
    variable = "CHARTER_BASE_URL" if base_url else "CHARTER_PROVIDER"
    # A key of its own, which the endpoint may not want; CHARTER_API_KEY is never sent to anyone else.
    key = "CHARTER_API_KEY" if base_url and env.get("CHARTER_API_KEY") else ""
    return _Said(f"{variable} is set", provider, wanted, base_url, key)


def _in_file(wanted: str, written: ModelConfig, path: Path) -> _Said | None:
    if not written.provider and not written.base_url:
        return None
    return _Said(f"{path} says so", written.provider, wanted, written.base_url, written.key_variable)


def _as_said(said: _Said, env: Mapping[str, str], answering: Callable[[], tuple[str, ...]]) -> Choice:
    kind = said.provider or "openai"
    if kind == "embedded":
        return _embedded(said.model, said.where, env)
    if kind not in all_facts():
        raise RequestError("provider", kind, (*all_facts(), "embedded"))
    base_url, own = said.base_url or _address(kind, env), bool(said.base_url)
    if not base_url:
        raise BadValue("CHARTER_BASE_URL", f"not set, and {kind} has no usual address ({said.where}); set it")
    model = said.model or ("" if own else facts_of(kind).model)
    if kind == "ollama" and not model and not own:
        model = _first(answering(), said.where)
    if not model:
        raise BadValue("CHARTER_MODEL", f"not set, and only you know what runs there ({said.where}); set it")
    # The key of one host is never sent to another: an endpoint of one's own gets the key that was named for it.
    variable = said.key_variable or ("" if own else facts_of(kind).key)
    if variable and not env.get(variable):
        raise ProviderAuth(kind, f"there is no key ({said.where})", f"set {variable}")
    return Choice(kind, model, said.where, base_url, env.get(variable, ""))


def _address(kind: str, env: Mapping[str, str]) -> str:
    """A provider's usual address, or the one its own clients would take from the environment, for its key is for it."""
    facts = facts_of(kind)
    variable = facts.key.removesuffix("_API_KEY") + "_BASE_URL" if facts.key else ""
    return env.get(variable, "") or facts.base_url


# ── what is there ─────────────────────────────────────────────────────────────────────────────────────────────────


def _hosted(wanted: str, env: Mapping[str, str]) -> Choice | None:
    """The first provider there is a key for."""
    keys = [(kind, facts_of(kind).key) for kind in HOSTED if env.get(facts_of(kind).key)]
    if not keys:
        return None
    kind, variable = keys[0]
    why = f"{variable} is set"
    if len(keys) > 1:
        why = f"{' and '.join(name for _, name in keys)} are set, and {kind} comes first; "
        why += f"for the other: CHARTER_PROVIDER={keys[1][0]}"
    return Choice(kind, wanted or facts_of(kind).model, why, _address(kind, env), env[variable])


def _local(wanted: str, env: Mapping[str, str], answering: Callable[[], tuple[str, ...]]) -> Choice:
    """What runs on this machine: an Ollama that answers, else the embedded model."""
    models = answering()
    if models:
        if wanted and not {wanted, f"{wanted}:latest"} & set(models):
            raise RequestError("model of the Ollama on this machine", wanted, models)
        why = "no key is set, and an Ollama answers on this machine"
        return Choice("ollama", wanted or models[0], why, facts_of("ollama").base_url)
    nobody = "no key is set and no Ollama answers"
    if wanted:
        raise ProviderDown("model", f"{nobody}, so nobody here has the one asked for", "set a key, or CHARTER_BASE_URL")
    return _embedded("", f"{nobody}, and its weights are here", env, missing=f"{nobody}, and its weights are not here")


def _embedded(wanted: str, why: str, env: Mapping[str, str], missing: str = "its weights are not here") -> Choice:
    """The embedded model that was named, else the largest that is here."""
    folder = weights.models_folder(env)
    here = [row for row in weights.known().values() if weights.present(row.name, folder=folder)]
    if wanted:
        row = weights.weights_of(wanted)
    else:
        row = here[-1] if here else weights.known()[weights.DEFAULT]
        why += "; it is the largest that is" if len(here) > 1 else ""
    if row not in here:
        raise ProviderDown(f"{weights.PREFIX}{row.name}", missing, f"run: charter model fetch {row.name}")
    return Choice("embedded", row.name, why)


def _first(models: tuple[str, ...], where: str) -> str:
    if not models:
        raise ProviderDown("ollama", f"no Ollama with a model answers on this machine ({where})", "run: ollama serve")
    return models[0]


def ollama_models() -> tuple[str, ...]:
    """The models of an Ollama at its usual place on this machine, in its order; none when none answers at once."""
    connection = http.client.HTTPConnection(*OLLAMA, timeout=OLLAMA_SECONDS)
    try:
        connection.request("GET", "/api/tags")
        answer = connection.getresponse()
        found = json.loads(answer.read(1 << 20)) if answer.status == 200 else {}
        names = [str(row["name"]) for row in found.get("models", ())]
    except (OSError, http.client.HTTPException, ValueError, TypeError, KeyError, AttributeError):
        return ()
    finally:
        connection.close()
    return tuple(name for name in names if "embed" not in name)  # those only turn text into numbers
