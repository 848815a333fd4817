"""The migrations by name, oldest first; known without importing what runs them."""

from __future__ import annotations

from typing import Final

from ..core.errors import StoreOutdated, StoreTooNew

REVISIONS: Final = ("0001", "0002", "0003", "0004")
HEAD: Final = REVISIONS[-1]


def refuse_revision(where: str, found: str) -> None:
    """Says what to do when a database is older or newer than the code."""
    if found in REVISIONS[:-1]:
        raise StoreOutdated(f"{where}: at revision {found}, this Charter needs {HEAD}; run: charter db upgrade")
    if found != HEAD:
        raise StoreTooNew(f"{where}: at revision {found!r}, this Charter knows up to {HEAD}; install a newer Charter")
