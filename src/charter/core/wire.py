"""The last look at what leaves: a request's body is read back and must be, layer by layer, what the manifest says."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple, Protocol

from .errors import WireMismatch
from .manifest import Entry, content_hash, layer_hash


class Write(Protocol):
    """Gives the bytes of `canonical`, quicker or not; `known` are those of the body this one should be."""

    def __call__(self, body: Mapping[str, Any], known: bytes = b"", /) -> bytes: ...


def canonical(body: Mapping[str, Any], _: bytes = b"", /) -> bytes:
    """A body in the one form that is hashed: JSON, keys sorted, no spaces, UTF-8."""
    return _CANONICAL(body).encode(errors="surrogatepass")


_CANONICAL: Final = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode


class Hashed(NamedTuple):
    """A body's canonical bytes, the key they were hashed under, and their hash."""

    data: bytes
    key: bytes | None
    sha256: str

    def __repr__(self) -> str:
        return f"Hashed({len(self.data)} bytes)"


NOTHING: Final = Hashed(b"", None, "")


@dataclass(frozen=True, slots=True)
class Expected:
    """What a body must hold: these layers in this order, joined like this, and nothing else of a prompt.

    `user` says that the last layer goes in the user's role; `before` counts the messages that stand between, and
    `lead` the characters they take in plain text. `write` gives the bytes that are hashed: those of `canonical`; and
    `hashed` is what was hashed already.
    """

    dialect: str
    entries: tuple[Entry, ...]
    joiner: str
    payload_sha256: str
    user: bool = False
    before: int = 0
    lead: int = 0
    key: bytes | None = field(default=None, repr=False)
    write: Write = field(default=canonical, repr=False)
    hashed: Hashed = field(default=NOTHING, repr=False)


def payload_hash(body: Mapping[str, Any], key: bytes | None, write: Write = canonical) -> str:
    """The hash of a request, keyed where there is a key: it holds a person's words."""
    return content_hash(write(body), key)


def check(body: Mapping[str, Any], expected: Expected, provider: str = "wire") -> None:
    """Returns when this body is what was assembled; else WireMismatch names the layer, and nothing may leave."""
    try:
        system, user = _READ_BACK[expected.dialect](body, expected)
    except (KeyError, IndexError, TypeError, AttributeError):
        raise WireMismatch(provider, f"the body is not a {expected.dialect} request; nothing was sent") from None
    _layers(system, user, expected, provider)
    data = expected.write(body, expected.hashed.data)
    known = expected.hashed == (data, expected.key, expected.payload_sha256)
    if not known and content_hash(data, expected.key) != expected.payload_sha256:
        raise WireMismatch(provider, "the body was changed after it was assembled; nothing was sent")


def _layers(system: str, user: str, expected: Expected, provider: str) -> None:
    """Cuts the texts at the lengths the manifest gives and hashes each; every byte must belong to a layer."""
    joiner = expected.joiner.encode()
    entries = expected.entries[:-1] if expected.user else expected.entries
    data, at = system.encode(errors="surrogatepass"), 0
    for number, entry in enumerate(entries):
        if number:
            at = _after(data, at, joiner, entry, provider)
        at = _match(data, at, entry, expected.key, provider)
    if expected.user:
        last = expected.entries[-1]
        at = _after(data, at, joiner, last, provider) if entries else at
        said = user.encode(errors="surrogatepass")
        if (left := len(said) - _match(said, 0, last, expected.key, provider)) > 0:
            raise WireMismatch(provider, f"{left:,} bytes stand after the layer {last.id}; nothing was sent")
    if (left := len(data) - at) > 0:
        raise WireMismatch(provider, f"{left:,} bytes stand after the last layer; nothing was sent")


def _after(data: bytes, at: int, joiner: bytes, entry: Entry, provider: str) -> int:
    """Where the layer begins."""
    if not data.startswith(joiner, at):
        raise WireMismatch(provider, f"the layer {entry.id} is not where it should be; nothing was sent")
    return at + len(joiner)


def _match(data: bytes, at: int, entry: Entry, key: bytes | None, provider: str) -> int:
    """Where the layer ends."""
    end = at + entry.bytes
    layer = data[at:end]
    if (content_hash(layer, key) if entry.keyed else layer_hash(layer)) != entry.sha256:
        raise WireMismatch(provider, f"the layer {entry.id} is not what was assembled; nothing was sent")
    return end


# ── reading a body back: the system text, and the text of the user's layer ────────────────────────────────────────


def _chat(body: Mapping[str, Any], expected: Expected) -> tuple[str, str]:
    messages = body["messages"]
    _role(messages[0], "system")
    return messages[0]["content"], _user(messages[1 + expected.before])["content"] if expected.user else ""


def _responses(body: Mapping[str, Any], expected: Expected) -> tuple[str, str]:
    user = _texts(_user(body["input"][expected.before])["content"]) if expected.user else ""
    return body["instructions"], user


def _anthropic(body: Mapping[str, Any], expected: Expected) -> tuple[str, str]:
    user = _texts(_user(body["messages"][expected.before])["content"]) if expected.user else ""
    return _texts(body["system"]), user


def _completion(body: Mapping[str, Any], expected: Expected) -> tuple[str, str]:
    """Plain text: the layers stand at its start; the user's layer follows what was said before."""
    data = body["prompt"].encode(errors="surrogatepass")
    joiner = len(expected.joiner.encode())
    system = expected.entries[:-1] if expected.user else expected.entries
    size = sum(entry.bytes for entry in system) + joiner * (len(system) - 1 + (expected.user and bool(system)))
    user = data[size + expected.lead :][: expected.entries[-1].bytes] if expected.user else b""
    return data[:size].decode(errors="surrogatepass"), user.decode(errors="surrogatepass")


def _texts(parts: Sequence[Mapping[str, Any]]) -> str:
    return "".join([part["text"] for part in parts])


def _user(message: Mapping[str, Any]) -> Mapping[str, Any]:
    return _role(message, "user")


def _role(message: Mapping[str, Any], role: str) -> Mapping[str, Any]:
    if message["role"] != role:
        raise KeyError(role)
    return message


_READ_BACK = {
    "openai": _chat,
    "ollama": _chat,
    "openai-responses": _responses,
    "anthropic": _anthropic,
    "completion": _completion,
}
