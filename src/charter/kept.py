"""A turn's record, read back: what its manifest and its detail say, by name."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from .core.errors import StoreDamaged
from .core.ports import Counter
from .core.records import TurnRecord
from .tokens import EXACT, counter

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_KEYED = "hmac-sha256: "
_COUNTER = "tokens: "


@dataclass(frozen=True, slots=True)
class Kept:
    """What is kept of one turn: hashes, codes and counts."""

    record: TurnRecord
    manifest: Mapping[str, Any] = field(repr=False)
    detail: Mapping[str, Any] = field(repr=False)

    @property
    def stack(self) -> Sequence[Mapping[str, Any]]:
        """The layers that were sent, in order; none when the turn ended before its prompt was made."""
        return list(self.manifest.get("stack", ()))

    @property
    def system(self) -> Sequence[Mapping[str, Any]]:
        """The layers without the user's, which is sent among the messages."""
        return self.stack[:-1] if self.detail.get("user_layer") else self.stack

    def entry(self, layer_id: str) -> Mapping[str, Any] | None:
        return next((entry for entry in self.stack if entry["id"] == layer_id), None)

    @property
    def keyed(self) -> frozenset[str]:
        """Labels of the layers whose hash is keyed."""
        return frozenset(self._note(_KEYED).split(", ")) - {""}

    @property
    def counter(self) -> str:
        """What counted the tokens."""
        return self._note(_COUNTER)

    def _note(self, start: str) -> str:
        found = (note.removeprefix(start) for note in self.manifest.get("notes", ()) if note.startswith(start))
        return next(found, "")

    @property
    def joint(self) -> tuple[int, int]:
        """Bytes and tokens of what stands between two layers."""
        between = len(self.stack) - 1
        if between < 1:
            return 0, 0
        size = self.manifest["bytes"] - sum(entry["bytes"] for entry in self.stack)
        tokens = self.manifest["tokens_est"] - sum(entry["tokens_est"] for entry in self.stack) - self.tools_tokens
        return size // between, tokens // between

    @property
    def tools_tokens(self) -> int:
        return int((self.manifest.get("tools") or {}).get("tokens_est", 0))

    @property
    def steps(self) -> Sequence[Mapping[str, Any]]:
        """The calls of the model."""
        return list(self.detail.get("steps", ()))

    @property
    def beside(self) -> Sequence[Sequence[Any]]:
        """The messages beside the system's layers: role, hash, tokens."""
        return list(self.detail.get("beside", ()))

    @property
    def carried(self) -> bool:
        """Whether the caller kept its chat, and of what it handed in only hashes are kept."""
        return bool(self.detail.get("carried"))

    @property
    def at(self) -> datetime:
        """The time of the message, as the turn had it."""
        return EPOCH + timedelta(microseconds=self.record.at_ns // 1000)

    @property
    def read_ns(self) -> int:
        """When the turn read the store; a message may be older than the turn that answers it."""
        return max(self.record.at_ns, int(self.detail.get("started_ns", 0)))

    @property
    def wrote(self) -> Mapping[str, int]:
        """The layers the turn itself changed, with the version it wrote."""
        return dict(self.detail.get("wrote", {}).get("layers", {}))


def read_back(record: TurnRecord) -> Kept:
    """The record with its JSON read; an error when it is not what a turn writes."""
    try:
        manifest, detail = json.loads(record.manifest), json.loads(record.detail)
    except ValueError:
        manifest = None
    if not isinstance(manifest, dict) or not isinstance(detail, dict):
        raise StoreDamaged(f"the record of turn {record.id} cannot be read; look at it with: charter db verify")
    return Kept(record, manifest, detail)


def counted_by(kept: Kept) -> Counter:
    """What counted the tokens of this turn."""
    return counter(kept.counter if kept.counter in EXACT else "estimate")
