"""A manifest as a record keeps it, in JSON; the entry of a layer that is used again is written once."""

from __future__ import annotations

import json
from typing import Any, Final

import msgspec

from .core.manifest import Entry, Manifest

MOST: Final = 1024  # entries

_sorted: Final = msgspec.json.Encoder(order="sorted")
_written: Final[dict[int, tuple[Entry, msgspec.Raw]]] = {}  # an entry never changes, so it is known by what it is


def as_json(value: dict[str, Any]) -> str:
    """JSON with its keys sorted: the quick way, unless a name holds half a character, which that cannot write."""
    try:
        return _sorted.encode(value).decode()
    except UnicodeEncodeError:
        return json.dumps(value, sort_keys=True, default=_read)


def told(manifest: Manifest) -> dict[str, Any]:
    """A manifest as `as_json` takes it, its entries written already."""
    return manifest.to_dict([_row(entry) for entry in manifest.stack])


def _read(row: msgspec.Raw) -> Any:
    return json.loads(bytes(row))


def _row(entry: Entry) -> msgspec.Raw:
    known = _written.get(id(entry))
    if known is None or known[0] is not entry:
        if len(_written) >= MOST:
            _written.clear()
        known = _written[id(entry)] = entry, msgspec.Raw(as_json(entry.to_dict()))
    return known[1]
