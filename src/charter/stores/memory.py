"""A store that lives in memory: SQLite without a file, so its limits and its order are those of every store."""

from __future__ import annotations

import contextlib

from ..core.errors import Conflict
from ..core.keyring import NO_KEYS, KeyRing
from ..core.policy import Actor
from ..core.records import INIT, Author, Change, Head, Place, StoredLayer
from .sqlite import Sqlite
from .store import SqlStore


class MemoryStore(SqlStore):
    """Nothing is kept when the process ends."""

    def __init__(self, keys: KeyRing = NO_KEYS) -> None:
        super().__init__(Sqlite(None, keys))

    def __repr__(self) -> str:
        return "MemoryStore()"

    # Writes without a gate, for demonstrations and tests; everything else goes through `amend`.

    def seed_layer(self, agent: str, layer_id: str, content: str, *, at_ns: int = 0) -> None:
        """Version 1 by `init`; one that is there stays (S0-03)."""
        with contextlib.suppress(Conflict):
            self.commit(Change(Place(agent, layer_id), content, 0, INIT, at_ns, "seed"))

    def put_layer(self, agent: str, layer_id: str, content: str, *, by: str, at_ns: int = 0) -> StoredLayer:
        """The next version of a layer, by a turn of the agent's."""
        return self._put(Place(agent, layer_id), content, Author(Actor.AGENT, turn=by), at_ns)

    def set_instructions(self, agent: str, user: str, text: str) -> None:
        """Replaces the text of this user with this agent; empty clears it."""
        self._put(Place(agent, "instructions", user, Head.INSTRUCTIONS), text, Author(Actor.USER, user), 0)

    def _put(self, place: Place, content: str, by: Author, at_ns: int) -> StoredLayer:
        while True:
            before = self.head(place)
            with contextlib.suppress(Conflict):
                return self.commit(Change(place, content, before.version if before else 0, by, at_ns))
