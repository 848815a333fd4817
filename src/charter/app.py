"""The composition root: where the database, the keys and the charters of this installation come together."""

from __future__ import annotations

import contextlib
import getpass
import os
import secrets
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import home
from .core.errors import ConfigError, FileRefused, Refused, StoreOutdated
from .core.keyring import KeyRing, key_id
from .core.policy import Actor, ToolPolicy
from .core.ports import Tool
from .core.records import Author, Decision, Proposal

if TYPE_CHECKING:
    from .acting import InTurn
    from .agent import Agent, Parsed
    from .core.dialogue import Reply
    from .core.ports import Approver, Provider
    from .folder import Charter
    from .stores.store import SqlStore
    from .tools import Toolmaker
    from .tools.mcp import Connection, Server

DATABASE_VARIABLE = "CHARTER_DATABASE"
KEYS = "secret.keys"


def now_ns() -> int:
    """The time, asked here and handed down."""
    return time.time_ns()


def operator() -> Author:
    """Who is at this machine: a person with a login."""
    try:
        name = getpass.getuser()
    except (KeyError, OSError, ImportError):
        name = f"uid-{os.getuid()}"
    return Author(Actor.OPERATOR, name)


# ── the database ──────────────────────────────────────────────────────────────────────────────────────────────────


def database(named: str = "") -> str:
    """The address of the store: as named, else CHARTER_DATABASE, else the embedded one."""
    return named or os.environ.get(DATABASE_VARIABLE, "") or embedded()


def lasting(named: str = "") -> bool:
    """Whether the store at this address is still there when this process has ended."""
    from . import stores

    address = database(named)
    return not address.startswith("sqlite:") or stores.sqlite_path(address) is not None


def embedded() -> str:
    return f"sqlite:///{home.home() / 'charter.db'}"


def open_store(named: str = "") -> SqlStore:
    """The store of this installation; the embedded one is made, and brought up to date, by itself on first use."""
    from . import stores

    url = database(named)
    try:
        return stores.open(url, keys=keys())
    except StoreOutdated:
        if url != embedded():
            raise
    from .stores.migrate import upgrade

    upgrade(url)
    return stores.open(url, keys=keys())


# ── the keys ──────────────────────────────────────────────────────────────────────────────────────────────────────


def keys_file() -> Path:
    return home.home() / KEYS


def keys() -> KeyRing:
    """The installation's keys, made on first use and kept where only their owner reads (N-01)."""
    path = keys_file()
    try:
        return read_keys(_kept(path), str(path))
    except OSError as error:
        raise FileRefused(str(path), f"{error.strerror}; check that folder, or set CHARTER_HOME") from None


def _kept(path: Path) -> bytes:
    with contextlib.suppress(FileNotFoundError):
        return home.read_private(path)
    with contextlib.suppress(FileExistsError):  # another process was first
        home.write_private(path, _lines(KeyRing((_new_key(),))))
    return home.read_private(path)


def signing_key() -> bytes:
    """The newest key, for what this installation signs itself."""
    return keys().current[1] or b""


def rotate_keys() -> KeyRing:
    """A new key for what comes; the old ones stay, to prove what they made."""
    ring = KeyRing((*keys().keys, _new_key()))
    home.replace_private(keys_file(), _lines(ring))
    return ring


def read_keys(data: bytes, where: str) -> KeyRing:
    """Keys from their file: a line each, oldest first, its id and its 32 bytes in hex."""
    found = []
    for number, line in enumerate(data.decode("ascii", "replace").splitlines(), 1):
        name, _, text = line.partition(" ")
        try:
            key = bytes.fromhex(text)
        except ValueError:
            key = b""
        if len(key) != 32 or name != key_id(key):
            raise ConfigError(f"{where}:{number}", "not a key; restore this file from a backup, never edit it")
        found.append((name, key))
    if not found:
        raise ConfigError(where, "no key in it; restore this file from a backup")
    return KeyRing(tuple(found))


def _new_key() -> tuple[str, bytes]:
    key = secrets.token_bytes(32)
    return key_id(key), key


def _lines(ring: KeyRing) -> bytes:
    return "".join(f"{name} {key.hex()}\n" for name, key in ring.keys).encode()


# ── agents ────────────────────────────────────────────────────────────────────────────────────────────────────────


@contextmanager
def running(
    target: str = "assistant",
    *,
    agent: str = "",
    database: str = "",
    model: str = "",
    approver: Approver | None = None,
    tools: Sequence[Toolmaker | Tool] = (),
    **world: Any,
) -> Iterator[Agent]:
    """An agent of this installation, ready to take turns: its charter, its store, the model that was chosen, its tools.

    Keywords beyond these say where the charter's layers read (`workspace=`, `data_dir=` …).
    """
    from .choice import choose, open_chosen
    from .folder import load

    charter = load(target, **world)
    with contextlib.ExitStack() as open_parts:
        provider = open_parts.enter_context(contextlib.closing(open_chosen(choose(model))))
        store = open_parts.enter_context(open_store(database))
        others = [open_parts.enter_context(connected(server)) for server in servers(charter.name)]
        tools = [*tools, *(tool for one in others for tool in one.tools)]
        yield make_agent(charter, store, provider, name=agent, approver=approver, tools=tools)


def servers(charter: str) -> list[Server]:
    """The MCP servers that config.toml names for agents of this charter."""
    from .choice import CONFIG, read_config

    rows = read_config(home.home() / CONFIG).mcp
    wanted = {name: row for name, row in rows.items() if not row.charters or charter in row.charters}
    if not wanted:
        return []
    from .tools.mcp import Server

    return [
        Server(
            name, row.command, row.url, kinds=row.kinds,
            headers={header: os.environ.get(variable, "") for header, variable in row.headers.items()},
        )
        for name, row in wanted.items()
    ]  # fmt: skip


def connected(server: Server) -> Connection:
    from .tools.mcp import connect

    return connect(server)


def make_agent(
    charter: Charter,
    store: SqlStore,
    provider: Provider,
    *,
    name: str = "",
    approver: Approver | None = None,
    tools: Sequence[Toolmaker | Tool] = (),
) -> Agent:
    """An agent from parts that are open already; its layers are seeded on first use (S0-03)."""
    from .agent import Agent, Nobody, read_plainly
    from .amend import seed_all
    from .logs import note
    from .tokens import counter

    key = keys().current[1]
    charter = replace(charter, key=key, counter=counter("estimate"))
    named = charter.agent(name)
    seed_all(store, charter, named, now_ns())
    return Agent(
        named, charter, store, provider,
        tools=toolbox(charter, tools),
        approver=approver or Nobody(),
        read_calls=read_plainly if provider.native_tools else read_written,
        skills=lambda skill: charter.skill(skill, named),
        note=note,
        key=key,
    )  # fmt: skip


def read_written(reply: Reply, names: Sequence[str]) -> Parsed:
    """The calls a model without tool calling wrote into its words (S3-09)."""
    from .agent import Parsed
    from .tools.fallback import ask_again, parse

    found = parse(reply.text, names)
    return Parsed(found.text, found.calls, found.problem or "", ask_again(found.problem) if found.problem else "")


def toolbox(charter: Charter, tools: Sequence[Toolmaker | Tool] = ()) -> Callable[[InTurn], Mapping[str, Tool]]:
    """What makes the tools of a turn: the built-in ones the charter names, and those given; its rows govern all."""
    from .tools import built_in, ruled
    from .tools.built_in import KINDS

    given = {maker.spec.name: maker for maker in tools}
    rows = [spec.name for spec in charter.home.tools]
    names = [name for name in dict.fromkeys([*rows, *charter.agent_tools]) if name in KINDS]
    if nobody := [name for name in rows if name not in KINDS and name not in given]:
        raise ConfigError(
            f"{charter.name}/charter.toml", f"nobody provides the tool {nobody[0]!r}; hand it in as tools="
        )
    labels = {layer.label: layer.id for layer in charter.stack.layers}
    specs = charter.home.tools
    # What a charter names needs no person's yes (S1-08); its rows may say otherwise.
    named = {name: ToolPolicy(name, KINDS[name], approval=False) for name in names}
    policies = {**named, **charter.tool_policies}

    def make(acting: InTurn) -> Mapping[str, Tool]:
        own = ruled((one if isinstance(one, Tool) else one(acting) for one in given.values()), specs, policies)
        return built_in(acting, names, layers=labels, specs=specs, policies=policies) | own if names else own

    return make


# ── approvers ─────────────────────────────────────────────────────────────────────────────────────────────────────


def authorizer(charter: Charter) -> Callable[[Proposal, Decision], None]:
    """Where a charter lists approvers, a decision needs the signature of one of them; else a login is enough."""
    from .seal import proposal_statement, read_approvers

    approvers = read_approvers(charter.approvers, charter.name)

    def authorize(proposal: Proposal, decision: Decision) -> None:
        if not approvers:
            return
        from .keys import verify

        message = proposal_statement(
            proposal.place.agent, proposal.id, layer_id=proposal.place.layer_id, sha256=proposal.sha256,
            base_version=proposal.base_version, decision="approve",
        )  # fmt: skip
        if not any(verify(approver.key, message, decision.signature) for approver in approvers):
            raise Refused(
                "APPROVER_NOT_LISTED",
                "this charter lists approvers; sign with the key of one: charter approve PROPOSAL --key NAME",
            )

    return authorize
