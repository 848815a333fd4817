"""Stores: where what changes is kept; `open` gives one, and all pass the same suite."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ..core.errors import BadValue
from ..core.keyring import NO_KEYS, KeyRing

if TYPE_CHECKING:
    from .store import SqlStore

__all__ = ["open", "sqlite_path"]


def open(url: str, *, keys: KeyRing = NO_KEYS) -> SqlStore:  # noqa: A001 - read as stores.open
    """The store at this address: `sqlite:///path`, `sqlite://` (in memory, gone at the end) or `postgresql://…`."""
    from .store import SqlStore

    if url.startswith("sqlite:"):
        from .sqlite import Sqlite

        return SqlStore(Sqlite(sqlite_path(url), keys))
    if url.startswith(("postgresql://", "postgres://")):
        from .postgres import Postgres

        return SqlStore(Postgres(url, keys))
    raise BadValue("database", "an address is sqlite:///path, sqlite:// or postgresql://user@host/name")


def sqlite_path(url: str) -> Path | None:
    """The file of a sqlite address; None for one in memory."""
    if url in ("sqlite://", "sqlite:///:memory:"):
        return None
    if not url.startswith("sqlite:///") or len(url) <= len("sqlite:///"):
        raise BadValue("database", "an SQLite address is sqlite:///relative/path or sqlite:////absolute/path")
    return Path(url.removeprefix("sqlite:///")).expanduser()
