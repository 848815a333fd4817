"""What is known of a text is remembered by its digest: the text itself is not kept, and no texts make it large.

Of single words it is remembered as well; that is looked up as in a table, since every word of a text is.
"""

from __future__ import annotations

from collections.abc import Callable
from hashlib import blake2b
from typing import Final, Generic, Protocol, TypeVar

ROOM: Final = 8_192  # things that are known of all texts together, each text being one more


class Counted(Protocol):
    """What is known of a text; `size` is how many things that are."""

    @property
    def size(self) -> int: ...


Known = TypeVar("Known", bound=Counted)
Found = TypeVar("Found")


class Met(dict[str, Found]):
    """Words that were met, and what was found out about them; it begins anew before it grows large."""

    def __init__(self, find_out: Callable[[str], Found], most: int) -> None:
        self._find_out, self._most = find_out, most

    def __missing__(self, word: str) -> Found:
        found = self._find_out(word)
        if len(self) >= self._most:
            self.clear()
        self[word] = found
        return found


class Kept(Generic[Known]):
    """What was found out about texts, for the next time they come: in a chat every text comes again each turn."""

    def __init__(self) -> None:
        self._known: dict[bytes, Known] = {}
        self._size = 0

    def of(self, text: str, find_out: Callable[[str], Known]) -> Known:
        """What is known of a text; found out now if it is not known yet."""
        key = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
        found = self._known.get(key)
        if found is None:
            found = find_out(text)
            if self._size >= ROOM:
                self._known.clear()
                self._size = 0
            self._known[key] = found
            self._size += 1 + found.size
        return found
