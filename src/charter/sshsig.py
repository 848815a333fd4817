"""An SSH signature taken apart, byte for byte as OpenSSH's PROTOCOL.sshsig has it; any other form is a ValueError.

Reading one needs no ssh-keygen; what it must cover is `SshSignature.signed`, and `keys.py` checks that it does.
"""

from __future__ import annotations

import base64
import hashlib
import re
from dataclasses import dataclass
from typing import Final

MAX_CHARS: Final = 16_384  # of a key or signature; one of Ed25519 is far below 1,000
_ARMOUR: Final = re.compile(r"-----BEGIN SSH SIGNATURE-----\n([A-Za-z0-9+/=\n]+)\n-----END SSH SIGNATURE-----\n?")
_MAGIC: Final = b"SSHSIG"
_VERSION_1: Final = b"\0\0\0\1"
_HASHES: Final = ("sha256", "sha512")


@dataclass(frozen=True, slots=True)
class SshSignature:
    """What is inside: the key's kind and parts, what it was made for, the hash it was made over, and the signature."""

    kind: str
    key: tuple[bytes, ...]
    namespace: str
    algorithm: str
    signature: bytes

    def signed(self, message: bytes) -> bytes:
        """The bytes this signature must cover to be one of this message."""
        digest = hashlib.new(self.algorithm, message).digest()
        return _MAGIC + join(self.namespace.encode(), b"", self.algorithm.encode(), digest)


def read_signature(text: str) -> SshSignature:
    """The signature in this armour."""
    found = _ARMOUR.fullmatch(text) if len(text) <= MAX_CHARS else None
    data = unbase64(found.group(1).replace("\n", "")) if found else b""
    if not data.startswith(_MAGIC + _VERSION_1):
        raise ValueError("not an SSH signature of version 1")
    public, namespace, reserved, algorithm, wrapped = split(data.removeprefix(_MAGIC + _VERSION_1))
    kind, *key = split(public)
    form, signature = split(wrapped)
    # An RSA key signs in a form of another name; for the keys we take, the two names are one.
    if kind == b"ssh-ed25519" != form:
        raise ValueError("a signature of another form than its key")
    # OpenSSH leaves `reserved` out of what is signed, so anything in it could be changed unseen.
    if reserved or algorithm.decode() not in _HASHES:
        raise ValueError("reserved bytes, or a hash that is not taken")
    return SshSignature(kind.decode(), tuple(key), namespace.decode(), algorithm.decode(), signature)


def to_base64(data: bytes) -> str:
    """The one spelling of these bytes."""
    return base64.b64encode(data).decode()


def unbase64(text: str) -> bytes:
    """The bytes of exactly that spelling, so that no changed character can mean the same."""
    data = base64.b64decode(text, validate=True)
    if to_base64(data) != text:
        raise ValueError("another spelling of the same bytes")
    return data


def join(*parts: bytes) -> bytes:
    """These parts, each after its length."""
    return b"".join(len(part).to_bytes(4, "big") + part for part in parts)


def split(data: bytes) -> list[bytes]:
    """The parts these bytes are made of, to the last byte."""
    parts = []
    while data:
        end = 4 + int.from_bytes(data[:4], "big")
        if end > len(data):
            raise ValueError("cut short")
        parts.append(data[4:end])
        data = data[end:]
    return parts
