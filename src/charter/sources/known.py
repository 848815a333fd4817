"""What was read from a file is used again while it, and every folder on the way to it, is the same and unchanged."""

from __future__ import annotations

import os
import re
import stat
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final, NamedTuple, TypeVar

from .files import MAX_BYTES, FileText
from .files import read_file as read_anew

SETTLED_NS: Final = 2 * 10**9  # a change within one tick of a file system's clock leaves its time as it was
MOST: Final = 512

_PLAIN: Final = re.compile(r"\w[\w.-]*(?:/\w[\w.-]*)*", re.ASCII)  # any other name is looked at by who may refuse it

Sign = tuple[tuple[int, int, int, int, int], ...]
MISSING: Final[Sign] = ()
Made = TypeVar("Made")


class Kept(NamedTuple):
    """A file's text, and the signs by which it is known again."""

    signs: Sign
    text: FileText


_kept: dict[tuple[str, str, int], Kept] = {}


def read_file(root: Path, name: str, *, max_bytes: int = MAX_BYTES) -> FileText | None:
    """As `files.read_file`, which does the reading; a file that did not change since is not opened again."""
    key = (os.fspath(root), name, max_bytes)
    signs = _signs(key[0], name)
    if signs is MISSING and _PLAIN.fullmatch(name):
        return None
    kept = _kept.get(key)
    if kept is not None and signs is not None and kept.signs == signs:
        return kept.text
    found = read_anew(root, name, max_bytes=max_bytes)
    if found is None or not signs or _fresh(signs):
        _kept.pop(key, None)
    elif signs == _signs(key[0], name):  # it did not change while it was read
        if len(_kept) >= MOST:
            _kept.clear()
        _kept[key] = Kept(signs, found)
    return found


_made: dict[tuple[str, str], tuple[Sign, dict[str, Sign], object]] = {}


def made_of(root: Path, folder: str, file: str, make: Callable[[], tuple[Made, Sequence[str]]]) -> Made:
    """What was made of the files `folder/*/file`, used again while the folder and those files are as they were.

    `make` gives it anew, with the names of the folders it looked into.
    """
    base = os.fspath(root)
    key, now = (base, f"{folder}/*/{file}"), _signs(base, folder)
    kept = _made.get(key)
    if kept and kept[0] == now and all(_signs(base, name) == signs for name, signs in kept[1].items()):
        return kept[2]  # type: ignore[return-value]
    made, names = make()
    signs = {name: _signs(base, name) for name in (f"{folder}/{one}/{file}" for one in names)}
    if not now or not all(signs.values()) or now != _signs(base, folder) or _fresh(now, *signs.values()):
        _made.pop(key, None)
    else:
        if len(_made) >= MOST:
            _made.clear()
        _made[key] = now, signs, made  # type: ignore[assignment]
    return made


def _fresh(*found: Sign | None) -> bool:
    return time.time_ns() - max(max(signs[-1][2:4]) for signs in found if signs) < SETTLED_NS


def _signs(root: str, name: str) -> Sign | None:
    """Which file this is and how it is now, folder by folder; None when a link leads to it, or nobody can tell."""
    path = root
    try:
        found = [os.stat(root)]
        for part in name.split("/"):
            path = f"{path}/{part}"
            found.append(os.lstat(path))
            if stat.S_ISLNK(found[-1].st_mode):
                return None
    except FileNotFoundError:
        return MISSING
    except (OSError, ValueError):
        return None
    return tuple((one.st_dev, one.st_ino, one.st_mtime_ns, one.st_ctime_ns, one.st_size) for one in found)
