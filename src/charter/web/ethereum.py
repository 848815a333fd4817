"""A sender with an Ethereum address says who they are by signing what they say (EIP-191); recovery tells their address.

What is signed is a text of these lines, each ended by a newline but the last, so that a wallet shows what it signs:

    Charter inbox message            (or: Charter inbox reading, to read the reply)
    agent: <the agent's name>
    message: <the message's id>
    sender: <the address, small letters>
    sha256: <the SHA-256 of the message's UTF-8 bytes; of nothing to read>
    at: <seconds since 1970>

A signature holds for five minutes before and after its time, and for one message: the same id again does nothing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Final, Literal

from ..core.errors import BadValue, MissingExtra, NotKnown

GRACE_SECONDS: Final = 300
ADDRESS: Final = re.compile(r"0[xX][0-9a-fA-F]{40}")
SIGNATURE: Final = re.compile(r"0x[0-9a-fA-F]{130}")
_V: Final = {0: 0, 1: 1, 27: 0, 28: 1}


@dataclass(frozen=True, slots=True)
class Signed:
    """What a sender put their name to."""

    what: Literal["message", "reading"]
    agent: str
    message: str
    sender: str
    at: int
    text: str = field(default="", repr=False)

    @property
    def statement(self) -> str:
        """The text that is signed."""
        return "\n".join(
            (
                f"Charter inbox {self.what}",
                f"agent: {self.agent}",
                f"message: {self.message}",
                f"sender: {self.sender.lower()}",
                f"sha256: {sha256(self.text.encode(errors='surrogatepass')).hexdigest()}",
                f"at: {self.at}",
            )
        )


def known(signed: Signed, signature: str, *, at_ns: int) -> str:
    """The sender's address, small letters, when this is their signature and its time is now; else NotKnown."""
    if not ADDRESS.fullmatch(signed.sender):
        raise NotKnown("only an Ethereum address signs: 0x and 40 hex digits; others need a token")
    if not signed.message:
        raise BadValue("id", "a signed message names its id, so that it is taken once")
    if abs(at_ns // 10**9 - signed.at) > GRACE_SECONDS:
        raise NotKnown(f"the signature's time is more than {GRACE_SECONDS} s from now; sign again")
    if recovered(signed.statement, signature) != signed.sender.lower():
        raise NotKnown("the signature is not the sender's over this message; sign the statement that docs/api.md names")
    return signed.sender.lower()


def recovered(statement: str, signature: str) -> str:
    """The address whose key signed this text with `personal_sign`; empty when that is nobody's signature."""
    if not SIGNATURE.fullmatch(signature):
        raise BadValue("signature", "0x and 130 hex digits: r, s and v")
    try:
        from eth_hash.auto import keccak
        from eth_keys.datatypes import Signature
        from eth_keys.exceptions import BadSignature
        from eth_utils.exceptions import ValidationError
    except ImportError:
        raise MissingExtra("evm", "a signed message") from None
    data = bytes.fromhex(signature[2:])
    message = statement.encode()
    digest = keccak(b"\x19Ethereum Signed Message:\n" + str(len(message)).encode() + message)
    r, s, v = int.from_bytes(data[:32], "big"), int.from_bytes(data[32:64], "big"), _V.get(data[64])
    if v is None:
        return ""
    try:
        return str(Signature(vrs=(v, r, s)).recover_public_key_from_msg_hash(digest).to_address())
    except (BadSignature, ValidationError, ValueError):
        return ""
