"""A private key signs and stays in its file; a public key is one line of text; only a key's own signature verifies.

| | our own keys | SSH keys |
|---|---|---|
| public | `ed25519:` and base64 of 32 bytes | `ssh-ed25519 AAAA… [comment]`, no other kind |
| signature | `ed25519:` and base64 of 64 bytes | what `ssh-keygen -Y sign -n charter` writes |

A key takes signatures of its own column alone: an SSH key also signs logins, and none of those may pass for ours.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

from .core.errors import BadValue, KeyRefused, MissingExtra
from .home import home, private_folder, read_private, write_private
from .sshsig import MAX_CHARS, SshSignature, join, read_signature, split, to_base64, unbase64

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

NAME: Final = r"[A-Za-z0-9_@-][A-Za-z0-9._@-]{0,63}"
NAMESPACE: Final = "charter"
PATIENCE: Final = 120  # seconds for an agent whose owner has to confirm by hand

_OURS: Final = "ed25519"
_SSH: Final = "ssh-ed25519"

# The points of small order, by their y: a "key" there verifies signatures that anybody can make up.
_PRIME: Final = 2**255 - 19
_ORDER_8: Final = 0x7A03AC9277FDC74EC6CC392CFA53202A0F67100D760B3CBA4FD84D3D706A17C7
_WEAK: Final = frozenset({0, 1, _PRIME - 1, _ORDER_8, _PRIME - _ORDER_8})


@dataclass(frozen=True, slots=True)
class PublicKey:
    """A key that verifies; `name` is what its owner calls it."""

    name: str
    kind: Literal["ed25519", "ssh-ed25519"]
    raw: bytes

    @property
    def line(self) -> str:
        """The one way this key is written."""
        if self.kind == _OURS:
            return f"{_OURS}:{to_base64(self.raw)}"
        return f"{_SSH} {to_base64(join(_SSH.encode(), self.raw))}"


def read_public(text: str, name: str = "") -> PublicKey:
    """The public key in this line; KeyRefused when it is none, or of a kind we do not take."""
    text = text.strip()
    if len(text) > MAX_CHARS or len(text.splitlines()) != 1:
        raise KeyRefused("a public key is one line: ed25519:… or ssh-ed25519 AAAA…")
    ours = text.startswith(f"{_OURS}:")
    first, *rest = text.split(":", 1) if ours else text.split()
    try:
        if ours:
            return PublicKey(name, "ed25519", _strong(unbase64("".join(rest))))
        if first == _SSH:
            return PublicKey(name, "ssh-ed25519", _strong(_ssh_raw(unbase64("".join(rest[:1])))))
    except ValueError:
        raise KeyRefused(f"not an {first} public key: it is damaged, or a weak one that anybody can sign for") from None
    raise KeyRefused(f"only ed25519 and ssh-ed25519 keys are taken, this is {_kind_in_words(first)}")


def _kind_in_words(kind: str) -> str:
    """The kind by its name; anything else may be a secret that was pasted here, and is not repeated."""
    return kind if re.fullmatch(r"(sk-)?(ssh|ecdsa)-[a-z0-9-]{1,24}(@openssh\.com)?", kind) else "something else"


def _ssh_raw(blob: bytes) -> bytes:
    kind, raw = split(blob)
    if kind != _SSH.encode():
        raise ValueError("another kind inside than outside")
    return raw


def _strong(raw: bytes) -> bytes:
    y = int.from_bytes(raw, "little") & (2**255 - 1)
    if len(raw) != 32 or y >= _PRIME or y in _WEAK:
        raise ValueError("not a point, or a weak one")
    return raw


# ── our own keys ──────────────────────────────────────────────────────────────────────────────────────────────────


def new_key(name: str) -> PublicKey:
    """Makes a key pair; its private half is in `key_file(name)`. A name that is taken is refused, never overwritten."""
    path = key_file(name)
    with sign_extra():
        from cryptography.hazmat.primitives import serialization as form
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    private = Ed25519PrivateKey.generate()
    pem = private.private_bytes(form.Encoding.PEM, form.PrivateFormat.PKCS8, form.NoEncryption())
    try:
        private_folder(home())
        write_private(path, pem)
    except OSError as problem:
        if path.exists():
            raise KeyRefused(f"a key named {name!r} is there already; choose another name") from None
        raise KeyRefused(f"cannot write {path}: {problem.strerror}; check that folder, or set CHARTER_HOME") from None
    return _public(name, private)


def key_file(name: str) -> Path:
    """Where the private key of this name is, or would be."""
    if not re.fullmatch(NAME, name):
        raise BadValue("key name", "takes 1 to 64 of A-Z a-z 0-9 . _ @ - and starts with no dot")
    return home() / "keys" / f"{name}.key"


def public_key(name: str) -> PublicKey:
    """The public half of a key of ours."""
    return _public(name, _private(name))


def list_keys() -> list[PublicKey]:
    """The public half of every key of ours, by name; one that cannot be read is an error, not a gap."""
    names = (path.name.removesuffix(".key") for path in (home() / "keys").glob("*.key"))
    return [public_key(name) for name in sorted(names) if re.fullmatch(NAME, name)]


def sign(name: str, message: bytes) -> str:
    """The signature of this message by a key of ours."""
    return f"{_OURS}:{to_base64(_private(name).sign(message))}"


def _private(name: str) -> Ed25519PrivateKey:
    path = key_file(name)
    with sign_extra():
        from cryptography.exceptions import UnsupportedAlgorithm
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
        from cryptography.hazmat.primitives.serialization import load_pem_private_key
    try:
        found = load_pem_private_key(read_private(path), password=None)
    except FileNotFoundError:
        raise KeyRefused(f"no key named {name!r}; see 'charter key list', or run 'charter key new {name}'") from None
    except OSError as problem:
        raise KeyRefused(f"cannot read {path}: {problem.strerror}") from None
    except (ValueError, TypeError, UnsupportedAlgorithm):
        found = None
    if not isinstance(found, Ed25519PrivateKey):
        raise KeyRefused(f"{path} is not one of our keys (Ed25519, PKCS8 PEM, no passphrase); put the right file there")
    return found


def _public(name: str, private: Ed25519PrivateKey) -> PublicKey:
    return PublicKey(name, "ed25519", private.public_key().public_bytes_raw())


# ── SSH keys ──────────────────────────────────────────────────────────────────────────────────────────────────────

_GIVE_FILE: Final = "give the file of an SSH key, or its .pub file when an agent holds the key"
# What ssh-keygen says, and what that means; the first that fits.
_REASONS: Final = (
    (b"passphrase", "a passphrase locks it; run 'ssh-add' with this file, then again: the agent signs without asking"),
    (b"UNPROTECTED", "others may read this private key; run 'chmod 600' on it"),
    (b"No private key found", "its private key is not here and no agent holds it; run 'ssh-add' with the private key"),
    (b"load public key", f"not an SSH key; {_GIVE_FILE}"),
)


def sign_ssh(key_file: str | os.PathLike[str], message: bytes, namespace: str = NAMESPACE) -> str:
    """The signature of this message by an SSH key, made by ssh-keygen or the agent it asks; nobody is prompted."""
    path = Path(key_file).expanduser()
    if not path.is_file():
        raise KeyRefused(f"{path.name}: no such file; {_GIVE_FILE}")
    # A prompt would wait for ever, or eat the message: no terminal to ask at, and a program that knows no passphrase.
    quiet = {**os.environ, "SSH_ASKPASS": "false", "SSH_ASKPASS_REQUIRE": "force", "LC_ALL": "C"}
    command = ["ssh-keygen", "-Y", "sign", "-n", namespace, "-f", str(path)]
    try:
        done = subprocess.run(
            command, input=message, capture_output=True, timeout=PATIENCE, env=quiet, start_new_session=True
        )
    except OSError:
        raise KeyRefused("ssh-keygen cannot be run; install OpenSSH's client, or sign with a key of ours") from None
    except subprocess.TimeoutExpired:
        raise KeyRefused(f"{path.name}: no signature after {PATIENCE} seconds; is the agent waiting for you?") from None
    if done.returncode:
        why = next((words for said, words in _REASONS if said in done.stderr), "ssh-keygen could not sign with it")
        raise KeyRefused(f"{path.name}: {why}")
    return _as_promised(done.stdout.decode("ascii", "replace").strip(), message, namespace, path.name)


def _as_promised(signature: str, message: bytes, namespace: str, file: str) -> str:
    """This signature, if it is one by an Ed25519 key over exactly this message."""
    try:
        made = read_signature(signature)
    except ValueError:
        raise KeyRefused(f"{file}: ssh-keygen gave something that is not a signature") from None
    if made.kind != _SSH:
        raise KeyRefused(f"{file}: only ssh-ed25519 keys are taken, this is {_kind_in_words(made.kind)}")
    if not _is_by(b"".join(made.key), message, made, namespace):
        raise KeyRefused(f"{file}: ssh-keygen gave a signature of something else")
    return signature


# ── verifying ─────────────────────────────────────────────────────────────────────────────────────────────────────


def verify(public: str, message: bytes, signature: str) -> bool:
    """Whether this key signed this message for us; what is malformed did not."""
    try:
        key = read_public(public)
        if key.kind == _SSH:
            return _is_by(key.raw, message, read_signature(signature), NAMESPACE)
        form, _, rest = signature.partition(":")
        return form == _OURS and _is_signature(key.raw, message, unbase64(rest))
    except (KeyRefused, ValueError):
        return False


def _is_by(raw: bytes, message: bytes, signature: SshSignature, namespace: str) -> bool:
    named = (signature.kind, signature.key, signature.namespace) == (_SSH, (raw,), namespace)
    return named and _is_signature(raw, signature.signed(message), signature.signature)


def _is_signature(raw: bytes, message: bytes, signature: bytes) -> bool:
    with sign_extra():
        from cryptography.exceptions import InvalidSignature
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    try:
        Ed25519PublicKey.from_public_bytes(raw).verify(signature, message)
    except (InvalidSignature, ValueError):
        return False
    return True


@contextmanager
def sign_extra() -> Iterator[None]:
    """Around an import of what the extra `sign` brings: when that is missing, says so."""
    try:
        yield
    except ImportError:
        raise MissingExtra("sign", "signing and verifying signatures") from None
