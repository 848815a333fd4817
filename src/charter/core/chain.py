"""The change log is a chain over hashes, so text can be erased and history still proved. Its form is a contract.

Contract 1. A row's `sha256` is the SHA-256 of the UTF-8 JSON array, without spaces and with non-ASCII escaped,

    ["charter-log-1", prev_sha256, chain, seq, kind, place, version, content_sha256, actor, at_ns, detail]

where `prev_sha256` is the row before it in the same chain (64 zeros for the first, whose `seq` is 1). A chain belongs
to an agent, or to one person with an agent; a person's name in it is a keyed pseudonym. `seal` is the HMAC-SHA256 of
that hash under the installation's key, so that who can write the database but lacks the key cannot rewrite history.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Final

from .manifest import content_hash
from .records import LogRow

START = "0" * 64


_WRITTEN: Final = json.JSONEncoder(separators=(",", ":")).encode


def row_hash(row: LogRow) -> str:
    """The hash this row must have."""
    return link_hash(
        row.prev_sha256, row.chain, row.seq, row.kind, row.place, row.version, row.content_sha256, row.actor,
        row.at_ns, row.detail,
    )  # fmt: skip


def written(fields: Sequence[str | int]) -> bytes:
    """The array that is hashed."""
    return _WRITTEN(fields).encode()


def link_hash(*fields: str | int, write: Callable[[Sequence[str | int]], bytes] = written) -> str:
    """The hash of a row's fields, from `prev_sha256` on, in the order of the contract; `write` gives the bytes that
    `written` gives."""
    return hashlib.sha256(write(("charter-log-1", *fields))).hexdigest()


def row_seal(sha256: str, key: bytes) -> str:
    """The seal of a row's hash under a key."""
    return content_hash(bytes.fromhex(sha256), key)


@lru_cache(maxsize=1024)
def pseudonym(name: str, key: bytes | None) -> str:
    """A person's name as a chain may keep it: without the key nobody can tell whose it is."""
    return content_hash(b"charter-person-1:" + name.encode(), key)[:32]


def broken(rows: Iterable[LogRow]) -> Iterator[tuple[int, str]]:
    """What is wrong with one chain, as (seq, words); rows come in the order of their `seq`."""
    expected, prev = 1, START
    for row in rows:
        if row.seq != expected:
            yield row.seq, f"entry {expected} is missing" if row.seq > expected else "an entry stands twice"
        elif row.prev_sha256 != prev:
            yield row.seq, "does not follow from the entry before it"
        if row_hash(row) != row.sha256:
            yield row.seq, "was changed after it was written"
        expected, prev = row.seq + 1, row.sha256
