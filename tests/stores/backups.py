"""Backups as files: their lines, and files like them that are not quite right."""

from __future__ import annotations

import gzip
import hashlib
import json
from pathlib import Path
from typing import Any


def lines(path: Path) -> list[Any]:
    return [json.loads(line) for line in gzip.decompress(path.read_bytes()).splitlines()]


def write(path: Path, values: list[Any], **trailer: Any) -> Path:
    """A file of these lines under a trailer that fits, but for what is given."""
    data = b"".join(json.dumps(value, separators=(",", ":")).encode() + b"\n" for value in values)
    counts: dict[str, int] = {}
    table = ""
    for value in values:
        if isinstance(value, list):
            counts[table] = counts.get(table, 0) + 1
        elif "table" in value:
            table = value["table"]
            counts[table] = 0
    end = {"rows": counts, "sha256": hashlib.sha256(data).hexdigest(), **trailer}
    path.write_bytes(gzip.compress(data + json.dumps(end).encode() + b"\n"))
    return path
