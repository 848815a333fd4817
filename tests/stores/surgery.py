"""Takes one control out of a store, so that its contracts can be seen to fail."""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Callable
from typing import Any

import pytest

from charter.stores.memory import MemoryStore

Patch = pytest.MonkeyPatch
Make = Callable[[], MemoryStore]
Twins = dict[str, tuple[Callable[[Patch], Make], str]]


def without(patch: Patch, owner: Any, name: str, line: str, instead: str) -> None:
    """Puts a twin in the place of a function: the same but for one line."""
    function = getattr(owner, name)
    source = textwrap.dedent(inspect.getsource(function))
    assert source.count(line) == 1, f"{name} has changed; it should have once: {line}"
    made: dict[str, Any] = {}
    exec(source.replace(line, instead), function.__globals__, made)
    patch.setattr(owner, name, made[name])


def of(store: type[MemoryStore]) -> Callable[[Patch], Make]:
    """A twin that is a store of its own."""
    return lambda patch: store
