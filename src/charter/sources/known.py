"""What was read from a file is used again while it, and every folder on the way to it, is the same and unchanged."""

from __future__ import annotations

import os
import stat
import time
from pathlib import Path
from typing import Final, NamedTuple

from .files import MAX_BYTES, FileText
from .files import read_file as read_anew

SETTLED_NS: Final = 2 * 10**9  # a change within one tick of a file system's clock leaves its time as it was
MOST: Final = 512

Sign = tuple[tuple[int, int, int, int, int], ...]


class Kept(NamedTuple):
    """A file's text, and the signs by which it is known again."""

    signs: Sign
    text: FileText


_kept: dict[tuple[str, str, int], Kept] = {}


def read_file(root: Path, name: str, *, max_bytes: int = MAX_BYTES) -> FileText | None:
    """As `files.read_file`, which does the reading; a file that did not change since is not opened again."""
    key = (os.fspath(root), name, max_bytes)
    signs = _signs(key[0], name)
    kept = _kept.get(key)
    if kept is not None and signs is not None and kept.signs == signs:
        return kept.text
    found = read_anew(root, name, max_bytes=max_bytes)
    if found is None or signs is None or time.time_ns() - max(signs[-1][2:4]) < SETTLED_NS:
        _kept.pop(key, None)
    elif signs == _signs(key[0], name):  # it did not change while it was read
        if len(_kept) >= MOST:
            _kept.clear()
        _kept[key] = Kept(signs, found)
    return found


def _signs(root: str, name: str) -> Sign | None:
    """Which file this is and how it is now, folder by folder; None when it is missing or a link leads to it."""
    path = root
    try:
        found = [os.stat(root)]
        for part in name.split("/"):
            path = f"{path}/{part}"
            found.append(os.lstat(path))
    except (OSError, ValueError):
        return None
    if any(stat.S_ISLNK(one.st_mode) for one in found):
        return None
    return tuple((one.st_dev, one.st_ino, one.st_mtime_ns, one.st_ctime_ns, one.st_size) for one in found)
