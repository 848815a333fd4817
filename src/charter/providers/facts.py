"""What is known of each provider is data, in facts.toml: addresses, variables, windows and how it caches."""

from __future__ import annotations

import tomllib
from fnmatch import fnmatchcase
from functools import cache
from importlib.resources import files

import msgspec

from ..core.errors import UnknownDialect


class Facts(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A row of facts.toml; an empty text is something only whoever runs it can know."""

    extra: str
    base_url: str
    key: str
    model: str
    cached_from_tokens: int
    breakpoints: int
    tools_first: bool
    windows: dict[str, int] = {}
    cached_from: dict[str, int] = {}
    same_windows_as: str = ""
    when_down: str = "check the address and the network"

    def window(self, model: str) -> int | None:
        """The tokens a model can hold, None when nobody knows."""
        windows = facts_of(self.same_windows_as).windows if self.same_windows_as else self.windows
        return _first_fit(windows, model)

    def cacheable_from(self, model: str) -> int:
        """How long a prefix must be, in tokens, before the provider caches it."""
        return _first_fit(self.cached_from, model) or self.cached_from_tokens


def _first_fit(table: dict[str, int], model: str) -> int | None:
    return next((value for pattern, value in table.items() if fnmatchcase(model, pattern)), None)


@cache
def all_facts() -> dict[str, Facts]:
    """Every provider's row, by kind."""
    data = tomllib.loads((files(__package__) / "facts.toml").read_text(encoding="utf-8"))
    return msgspec.convert(data, dict[str, Facts])


def facts_of(kind: str) -> Facts:
    """The row of this kind."""
    rows = all_facts()
    if kind not in rows:
        raise UnknownDialect("provider", kind, tuple(rows))
    return rows[kind]
