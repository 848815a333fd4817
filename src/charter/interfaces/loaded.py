"""The built-in charters, each loaded once."""

from __future__ import annotations

from functools import cache

from ..folder import Charter, load


@cache
def loaded(name: str) -> Charter:
    return load(name)
