"""The composition root: where the database, the keys and the charters of this installation come together."""

from __future__ import annotations

import contextlib
import getpass
import os
import secrets
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from . import home
from .core.errors import ConfigError, FileRefused, Refused, StoreOutdated
from .core.keyring import KeyRing, key_id
from .core.policy import Actor
from .core.records import Author, Decision, Proposal

if TYPE_CHECKING:
    from .folder import Charter
    from .stores.store import SqlStore

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
