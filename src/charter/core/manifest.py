"""The manifest of a prompt: hashes and counts, never text. Its canonical form is a contract.

Contract 1. `stack_sha256` is the SHA-256 of the UTF-8 lines

    {layer}:{id}:{sha256}\\n

one per layer sent, in order, where `layer` is the layer's label and `sha256` covers the section's bytes as sent: the
heading included, the joiner excluded. A section that holds a person's text has, where the installation has a key, its
HMAC-SHA256 in place of the plain hash, because a plain hash of a short message can be guessed; `notes` names those.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, Literal

KNOWN_CHARS: Final = 1024  # of a text, and bytes of a layer, whose hash is known; so what is known stays small
KNOWN_BYTES: Final = 16_384

Disposition = Literal["whole", "truncated", "summary", "dropped", "blocked"]


def stack_hash(lines: Iterable[tuple[str, str, str]]) -> str:
    """The stack hash of `(layer, id, sha256)` triples in order."""
    return hash_lines("".join(f"{layer}:{name}:{digest}\n" for layer, name, digest in lines))


def hash_lines(lines: str) -> str:
    """The stack hash of lines that are written already."""
    return hashlib.sha256(lines.encode()).hexdigest()


def content_hash(data: bytes, key: bytes | None) -> str:
    """The hash of a section's or piece's bytes; keyed where a key is given."""
    if key is None:
        return hashlib.sha256(data).hexdigest()
    started, finishing = _halves(key)
    inner, outer = started.copy(), finishing.copy()
    inner.update(data)
    outer.update(inner.digest())
    return outer.hexdigest()


def text_hash(text: str, key: bytes | None) -> str:
    """The hash of a piece's text; a note or a line is recalled again and again, and then its hash is known."""
    return (_known if len(text) <= KNOWN_CHARS else _text_hash)(text, key)


def layer_hash(data: bytes) -> str:
    """The plain hash of a layer's bytes as they leave; most leave in every turn."""
    return (_layer if len(data) <= KNOWN_BYTES else _hash)(data)


def _hash(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


_layer: Final = lru_cache(maxsize=256)(_hash)


def _text_hash(text: str, key: bytes | None) -> str:
    return content_hash(text.encode(errors="surrogatepass"), key)


_known: Final = lru_cache(maxsize=4096)(_text_hash)


@lru_cache(maxsize=16)
def _halves(key: bytes) -> tuple[hashlib._Hash, hashlib._Hash]:
    """HMAC-SHA256 under this key (RFC 2104) with nothing in it yet: to go on from here costs half of a new one."""
    block = (hashlib.sha256(key).digest() if len(key) > 64 else key).ljust(64, b"\0")
    return hashlib.sha256(bytes(byte ^ 0x36 for byte in block)), hashlib.sha256(bytes(byte ^ 0x5C for byte in block))


@dataclass(frozen=True, slots=True)
class PieceEntry:
    """A text inside a section that came from somewhere of its own."""

    origin: str
    sha256: str

    def to_dict(self) -> dict[str, Any]:
        return {"origin": self.origin, "sha256": self.sha256}


@dataclass(frozen=True, slots=True)
class Entry:
    """One layer as it was sent."""

    layer: str
    id: str
    file: str
    sha256: str
    bytes: int
    tokens_est: int
    source: str
    version: str
    owner: str
    origin: str
    disposition: Disposition
    reason: str
    keyed: bool
    pieces: tuple[PieceEntry, ...]

    def to_dict(self) -> dict[str, Any]:
        return {
            "layer": self.layer,
            "id": self.id,
            "file": self.file,
            "sha256": self.sha256,
            "bytes": self.bytes,
            "tokens_est": self.tokens_est,
            "source": self.source,
            "version": self.version,
            "owner": self.owner,
            "origin": self.origin,
            "disposition": self.disposition,
            "reason": self.reason,
            "pieces": [piece.to_dict() for piece in self.pieces],
        }


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A layer that was not sent, and why."""

    layer: str
    id: str
    disposition: Disposition
    reason: str

    def to_dict(self) -> dict[str, Any]:
        return {"layer": self.layer, "id": self.id, "disposition": self.disposition, "reason": self.reason}


@dataclass(frozen=True, slots=True)
class Manifest:
    """Everything that may be kept of a prompt."""

    charter: str
    version: str
    mode: str
    stack: tuple[Entry, ...]
    left_out: tuple[LeftOut, ...]
    stack_sha256: str
    tools_sha256: str | None
    tools_tokens: int
    counter: str
    joint_bytes: int
    joint_tokens: int

    @property
    def bytes(self) -> int:
        """Everything sent: the layers and what joins them."""
        return sum([entry.bytes for entry in self.stack]) + self.joint_bytes

    @property
    def tokens_est(self) -> int:
        """Everything paid for: the layers, what joins them, the tool schemas."""
        return sum([entry.tokens_est for entry in self.stack]) + self.joint_tokens + self.tools_tokens

    @property
    def notes(self) -> tuple[str, ...]:
        keyed = [entry.layer for entry in self.stack if entry.keyed]
        return (f"tokens: {self.counter}", *([f"hmac-sha256: {', '.join(keyed)}"] if keyed else ()))

    def to_dict(self, stack: Sequence[Any] | None = None) -> dict[str, Any]:
        """Meets the shipped JSON Schema; the contract charter's also meets the seed's. `stack` is what stands for the
        entries, where they are written already."""
        return {
            "version": self.version,
            "charter": self.charter,
            "mode": self.mode,
            "stack": [entry.to_dict() for entry in self.stack] if stack is None else stack,
            "left_out": [left.to_dict() for left in self.left_out],
            "stack_sha256": self.stack_sha256,
            "tools": None
            if self.tools_sha256 is None
            else {"sha256": self.tools_sha256, "tokens_est": self.tools_tokens},
            "bytes": self.bytes,
            "tokens_est": self.tokens_est,
            "notes": list(self.notes),
        }
