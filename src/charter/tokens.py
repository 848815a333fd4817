"""Counters of tokens: an estimate that needs nothing, or exact byte-pair encoding with the `tokens` extra."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, lru_cache
from typing import Any

from .core.assemble import ESTIMATE
from .core.errors import MissingExtra, RequestError
from .core.ports import Counter

KEPT_BYTES = 32_768
EXACT = ("o200k_base", "cl100k_base")


class Exact:
    """Tokens of one vocabulary."""

    __slots__ = ("_count", "_kept", "name")

    def __init__(self, name: str, encode: Callable[[str], list[int]]) -> None:
        self.name = name

        def count(data: bytes) -> int:
            return len(encode(data.decode()))

        self._count = count
        self._kept = lru_cache(maxsize=4096)(count)  # layers and past messages are counted again in every turn

    def __call__(self, data: bytes) -> int:
        return self._kept(data) if len(data) <= KEPT_BYTES else self._count(data)


@cache
def counter(name: str) -> Counter:
    """The counter of this name; the same one every time."""
    if name == "estimate":
        return ESTIMATE
    if name not in EXACT:
        raise RequestError("counter", name, ("estimate", *EXACT))
    try:
        import splintr
    except ImportError:
        raise MissingExtra("tokens", "exact token counts") from None
    tokenizer: Any = splintr.Tokenizer.from_pretrained(name)
    return Exact(name, tokenizer.encode)
