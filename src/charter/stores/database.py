"""The seam under the store: one way to read, one to write; the same SQL on both databases, `?` for values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

from ..core.errors import BadValue
from ..core.keyring import KeyRing

Row = tuple[Any, ...]
MOST = 2**63
LEAST = -MOST
MOST_BYTES = 1000  # of a name: PostgreSQL's indexes take 2,704 bytes of three names together


class Read(Protocol):
    """Runs one statement and gives its rows."""

    def __call__(self, sql: str, *values: Any) -> list[Row]: ...


class Run(Read, Protocol):
    """The same inside a transaction; `changed` says how many rows a write touched, which costs less than to give them
    back."""

    def changed(self, sql: str, *values: Any) -> int: ...


class Stream(Protocol):
    """Runs one statement and gives its rows one by one, however many they are."""

    def __call__(self, sql: str, *values: Any) -> Iterator[Row]: ...


class Database(Protocol):
    """Connections, transactions and what their failures are called."""

    @property
    def keys(self) -> KeyRing: ...

    @property
    def kind(self) -> str: ...

    def read(self, sql: str, *values: Any) -> list[Row]:
        """One statement outside any transaction of ours: it sees one committed state."""

    def snapshot(self) -> AbstractContextManager[Stream]:
        """Several statements that see one committed state, whoever writes meanwhile."""

    def writing(self, *locks: str) -> AbstractContextManager[Run]:
        """A transaction: all of it or nothing. Who names the same lock waits; SQLite has one writer anyway."""

    def shred(self) -> None:
        """After an erasure: nothing of it stays in a file of ours."""

    def close(self) -> None: ...


def marks(count: int) -> str:
    """Placeholders for this many values."""
    return ", ".join("?" * count)


def storable(field: str, text: str) -> str:
    """Text that both databases keep as it is; a NUL or half a character is an error before anything is written."""
    if "\0" in text:
        raise BadValue(field, f"a NUL character at {text.index(chr(0))}; a text cannot hold it")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise BadValue(field, f"half a character (surrogate) at {error.start}; a text cannot hold it") from None
    return text


def is_storable(text: str) -> bool:
    """Whether both databases keep this text as it is."""
    try:
        storable("text", text)
    except BadValue:
        return False
    return True


def fit(values: Sequence[Any]) -> Sequence[Any]:
    """Values that both databases take; whatever the caller did not look at is refused here, before it is run."""
    for value in values:
        if type(value) is str or isinstance(value, str):  # the first is what it nearly always is, and costs less
            if "\0" in value or not value.isascii():
                storable("value", value)
        elif isinstance(value, int) and not LEAST <= value < MOST:
            raise BadValue("value", "a number between -2^63 and 2^63")
    return values


def named(field: str, text: str, *, limit: int = 200, empty: bool = False) -> str:
    """A name used as a key: storable, one line, not endless."""
    if not text and not empty:
        raise BadValue(field, "must not be empty")
    if len(text) > limit or not text.isprintable() or len(text.encode()) > MOST_BYTES:
        raise BadValue(field, f"one printable line of at most {limit} characters; this one has {len(text)}")
    return text


def when(field: str, at_ns: int) -> int:
    """A time as the tables keep it."""
    if not 0 <= at_ns < MOST:
        raise BadValue(field, "nanoseconds since 1970, between 0 and 2^63")
    return at_ns


def one(rows: Sequence[Row]) -> Row | None:
    return rows[0] if rows else None
