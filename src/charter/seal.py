"""An approver signs a charter's lock, and so every file of it; what nobody listed has signed does not verify.

What is signed is a contract; anyone may check it without us. It is the RFC 8785 canonical JSON, in UTF-8, of

    {"contract": "charter-approval-1", "charter": NAME, "version": VERSION, "lock_sha256": HASH}

NAME is `name` in charter.toml, VERSION is `version` in charter.lock, HASH is the SHA-256 of charter.lock's bytes in
lower-case hex. A decision about a proposal is the same form with other members; see `proposal_statement`. How a key
signs these bytes is in `keys.py`.

The limit of it: the list of approvers is in charter.toml, so whoever can write the folder can list a key of their own,
lock and approve. Nothing inside a folder can prevent that. Keep the keys you trust elsewhere, in your CI's settings
say, and verify with `charter verify --approver KEY`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final, Literal

import msgspec

from . import keys
from .config import CharterConfig, parse, read_config
from .core.errors import ApprovalRefused, BadValue, ConfigError, KeyRefused
from .folder import CONFIG, find, read_files
from .lock import APPROVALS, LOCK, Lock, read_lock, verify_files, write_whole
from .sources.files import read_file

MAX_BYTES: Final = 262_144


@dataclass(frozen=True, slots=True)
class Approver:
    """One of charter.toml's `approvers`; `key` is the public key's line."""

    name: str
    key: str


class Approval(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One [[approval]] of charter.approvals: who signed which lock."""

    by: Annotated[str, msgspec.Meta(pattern=rf"\A{keys.NAME}\Z")]
    version: Annotated[str, msgspec.Meta(pattern=r"\A[0-9.]{1,64}\Z")]
    lock_sha256: Annotated[str, msgspec.Meta(pattern=r"\A[0-9a-f]{64}\Z")]
    signature: str


class _File(msgspec.Struct, forbid_unknown_fields=True):
    approval: list[Approval] = []


# ── what is signed ────────────────────────────────────────────────────────────────────────────────────────────────


def statement(charter: str, version: str, *, lock_sha256: str) -> bytes:
    """What an approver of this lock signs."""
    return _canonical(
        {"contract": "charter-approval-1", "charter": charter, "version": version, "lock_sha256": lock_sha256}
    )


def proposal_statement(
    agent: str,
    proposal_id: str,
    *,
    layer_id: str,
    sha256: str,
    base_version: int,
    decision: Literal["approve", "reject"],
) -> bytes:
    """What a person signs who decides about a proposal: which, the hash of its content, the version it was made on."""
    return _canonical(
        {
            "contract": "charter-proposal-1",
            "agent": agent,
            "proposal_id": proposal_id,
            "layer_id": layer_id,
            "sha256": sha256,
            "base_version": base_version,
            "decision": decision,
        }
    )


def _canonical(members: Mapping[str, str | int]) -> bytes:
    with keys.sign_extra():
        import rfc8785
    try:
        return rfc8785.dumps(dict(members))
    except ValueError:
        raise BadValue("statement", "holds a number or characters that JSON cannot carry") from None


# ── who may sign, who did ─────────────────────────────────────────────────────────────────────────────────────────


def read_approvers(lines: Sequence[str], where: str = CONFIG) -> tuple[Approver, ...]:
    """Charter.toml's `approvers`, each "NAME KEY"; ConfigError when one is malformed or listed twice."""
    found: list[Approver] = []
    names, raw_keys = set(), set()
    for number, line in enumerate(lines, 1):
        name, _, rest = line.partition(" ")
        if not re.fullmatch(keys.NAME, name):
            raise ConfigError(where, f"approver {number} is not a name and a public key, such as 'alice ed25519:…'")
        try:
            key = keys.read_public(rest, name)
        except KeyRefused as problem:
            raise ConfigError(where, f"approver {name!r}: {problem}") from None
        if name.lower() in names or key.raw in raw_keys:
            same = "name" if name.lower() in names else "key"
            raise ConfigError(where, f"approver {name!r}: a second one with this {same}; keep one of them")
        names.add(name.lower())
        raw_keys.add(key.raw)
        found.append(Approver(name, key.line))
    return tuple(found)


def read_approvals(root: Path) -> list[Approval] | None:
    """What charter.approvals says; None when there is no such file."""
    found = read_file(root, APPROVALS, max_bytes=MAX_BYTES)
    if found is None:
        return None
    approvals = parse(found.text, APPROVALS, _File).approval
    if len({approval.by for approval in approvals}) < len(approvals):
        raise ConfigError(APPROVALS, "two approvals by one person; delete the file and approve anew")
    return approvals


def _write_approvals(root: Path, approvals: Sequence[Approval]) -> None:
    lines = ["# Made by 'charter approve': who signed charter.lock as it is. Locking a change makes these void."]
    for row in approvals:
        quotes = "'''" if "\n" in row.signature else '"'
        lines += ["", "[[approval]]", f'by = "{row.by}"', f'version = "{row.version}"']
        lines += [f'lock_sha256 = "{row.lock_sha256}"', f"signature = {quotes}{row.signature}{quotes}"]
    write_whole(root / APPROVALS, ("\n".join(lines) + "\n").encode())


# ── approving ─────────────────────────────────────────────────────────────────────────────────────────────────────


def approve(target: str, *, key_name: str = "", ssh_key: str | os.PathLike[str] | None = None) -> Approval:
    """Signs the lock of a charter with a key of ours or an SSH key, and keeps the signature beside the lock.

    A second approval by one person takes the place of the first; what does not count, as one of an old lock, goes.
    """
    if bool(key_name) == bool(ssh_key):
        raise BadValue("key", "name one key: one of ours ('charter key list'), or the file of an SSH key")
    root = find(target)
    config, lock = _approvable(root, target)
    listed = read_approvers(config.approvers)
    kept = [one for one in read_approvals(root) or () if not _problem(one, config, lock, listed)]
    said = statement(config.name, lock.version, lock_sha256=lock.sha256)
    signature = keys.sign_ssh(ssh_key, said) if ssh_key else keys.sign(key_name, said)
    by = next((one.name for one in listed if keys.verify(one.key, said, signature)), None)
    if by is None:
        raise ApprovalRefused(
            f"this key is none of the approvers that {CONFIG} lists ({_names(listed)}); sign with one of theirs, "
            "or list yours ('charter key show NAME' has the line), bump the version and lock again"
        )
    made = Approval(by, lock.version, lock.sha256, signature)
    _write_approvals(root, sorted([made, *(one for one in kept if one.by != by)], key=lambda one: one.by))
    return made


def _approvable(root: Path, target: str) -> tuple[CharterConfig, Lock]:
    """Configuration and lock of a charter that is as locked and lists approvers."""
    lock = read_lock(root)
    if lock is None:
        raise ApprovalRefused(f"{root.name} has no {LOCK}; run 'charter lock {target}' first")
    files = read_files(root, verified=False)
    verify_files(root, lock, files)
    config = read_config(files[CONFIG].text, CONFIG)
    if not config.approvers:
        raise ApprovalRefused(
            f'{CONFIG} lists no approvers; put approvers = ["NAME KEY"] at its top, bump the version and lock again'
        )
    return config, lock


# ── checking ──────────────────────────────────────────────────────────────────────────────────────────────────────


def check(root: Path, config: CharterConfig, lock: Lock) -> list[str]:
    """What stands against this lock being approved, in words; nothing when a listed approver signed it."""
    listed = read_approvers(config.approvers)
    approvals = read_approvals(root)
    if not listed and approvals is not None:  # emptying the list must not look like never having had one
        return [
            f"{APPROVALS} is here, but {CONFIG} lists no approvers; list them, or delete {APPROVALS} if that is meant"
        ]
    if not listed:
        return []
    problems = [_problem(approval, config, lock, listed) for approval in approvals or ()]
    if "" in problems:
        return []
    missing = f"not approved by any of {_names(listed)}; one of them runs 'charter approve {root} --key NAME'"
    return [missing, *problems]


def _problem(approval: Approval, config: CharterConfig, lock: Lock, listed: Sequence[Approver]) -> str:
    """Why this approval does not count; empty when it does."""
    who = f"the approval by {approval.by}"
    key = next((one.key for one in listed if one.name == approval.by), None)
    if key is None:
        return f"{who}: not an approver that {CONFIG} lists"
    if approval.lock_sha256 != lock.sha256:
        return f"{who}: of another {LOCK}, {approval.lock_sha256[:12]}…; this one is {lock.sha256[:12]}…"
    if approval.version != lock.version:
        return f"{who}: of version {approval.version}, the lock says {lock.version}"
    said = statement(config.name, lock.version, lock_sha256=lock.sha256)
    return "" if keys.verify(key, said, approval.signature) else f"{who}: not a signature of this lock by their key"


def check_keys(root: Path, config: CharterConfig, lock: Lock, pinned: Sequence[keys.PublicKey]) -> list[str]:
    """What stands against one of these very keys having signed this lock, whatever the folder says of approvers."""
    if not pinned:
        return []
    said = statement(config.name, lock.version, lock_sha256=lock.sha256)
    signatures = [approval.signature for approval in read_approvals(root) or ()]
    if any(keys.verify(key.line, said, signature) for key in pinned for signature in signatures):
        return []
    return [f"not signed by any of the keys that were asked for ({len(pinned)})"]


def _names(listed: Sequence[Approver]) -> str:
    return ", ".join(one.name for one in listed)
