"""An installation's secret keys: the newest makes hashes and seals, the older ones still prove theirs."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from functools import lru_cache

from .chain import pseudonym, row_seal
from .manifest import content_hash


@dataclass(frozen=True, slots=True)
class KeyRing:
    """Keys by id, oldest first; without any, hashes are plain and rows have no seal."""

    keys: tuple[tuple[str, bytes], ...] = field(default=(), repr=False)

    @property
    def current(self) -> tuple[str, bytes | None]:
        """The key for new hashes and its id."""
        return self.keys[-1] if self.keys else ("", None)

    def text_hash(self, text: str, *, personal: bool) -> tuple[str, str]:
        """The hash of a text and the id of its key; only a person's text is keyed (N-01)."""
        key_id, key = self.current if personal else ("", None)
        return content_hash(text.encode(), key), key_id

    def proves(self, text: str, sha256: str, key_id: str) -> bool | None:
        """Whether this text has that hash; None when the key is not on the ring."""
        if not key_id:
            return content_hash(text.encode(), None) == sha256
        key = dict(self.keys).get(key_id)
        return None if key is None else content_hash(text.encode(), key) == sha256

    def seal(self, sha256: str) -> tuple[str, str]:
        """The seal of a log row and the id of its key."""
        key_id, key = self.current
        return ("", "") if key is None else (row_seal(sha256, key), key_id)

    def person(self, name: str) -> str:
        """A person's pseudonym; by the oldest key, so that it stays when keys are rotated."""
        return pseudonym(name, self.keys[0][1] if self.keys else None)


NO_KEYS = KeyRing()


@lru_cache(maxsize=16)
def key_id(key: bytes) -> str:
    """A key's name: says nothing of the key."""
    return hashlib.sha256(b"charter-key-1:" + key).hexdigest()[:8]
